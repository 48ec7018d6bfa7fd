/* Alerts as JSON. */
#include "cli/triage/alert.h"

#include <string.h>

#include "cli/markup.h"
#include "detect/rules/ab_result.h"

static json_t *triage_json(const struct tk_triage_row *t)
{
	return t ? json_pack("{s:s,s:s,s:I,s:s}", "action", tk_triage_action_name(t->action),
	                   "author", t->author, "at_s", (json_int_t)t->at_s, "note", t->note)
	         : json_null();
}

/* The same members as in `tracker diff`. */
static json_t *bisection_json(const struct tk_bisection_row *c)
{
	return c ? json_pack("{s:s,s:s,s:s,s:I,s:o,s:o}", "rev", c->first_bad_rev, "subject",
	                   c->subject, "author", c->author, "author_time_s",
	                   (json_int_t)c->author_time_s, "change", tk_json_number(c->change),
	                   "confidence", tk_json_number(c->confidence))
	         : json_null();
}

static json_t *ab_test_json(const struct tk_alerts *a, const struct tk_alert_row *alert)
{
	struct tk_ab_result p;

	if (tk_alert_load_ab_result(a, alert, &p, NULL) || p.decision == TK_AB_NONE)
		return json_null();
	return json_pack("{s:s,s:I,s:I,s:s,s:o,s:o,s:o}", "decision",
	        tk_ab_decision_name(p.decision), "count", (json_int_t)p.count, "failed",
	        (json_int_t)p.failed, "statistic", tk_ab_result_statistic_name(&p), "change",
	        tk_json_number(p.change), "lo", tk_json_number(p.lo), "hi", tk_json_number(p.hi));
}

static json_t *regions_json(const struct tk_alerts *a, const struct tk_alert_row *alert)
{
	char text[TK_KERNEL_CHANGE_SIZE];

	return tk_alert_summarize_regions(a, alert, text, NULL) ? json_null() : tk_json_text(text);
}

static json_t *code_json(const struct tk_alerts *a, const struct tk_alert_row *alert)
{
	char text[TK_CODE_CHANGE_SIZE];

	return tk_alert_describe_code(a, alert, text, NULL) ? json_null() : tk_json_text(text);
}

static json_t *alert_json(const struct tk_alerts *a, const struct tk_alert_row *alert)
{
	const struct tk_series_row *series = tk_lookup_series(&a->names, alert->series_id);
	const struct tk_machine_row *machine = tk_lookup_machine(&a->names, alert->machine_id);

	return json_pack("{s:s,s:s,s:s,s:s,s:s?,s:s?,s:f,s:s,s:s,s:s,s:I,s:o,s:o,s:o,s:o,s:o}",
	        "uid", alert->uid, "state",
	        tk_triage_state_name(tk_alert_compute_state(&a->triage, alert)), "status",
	        tk_alert_status_name(alert->status), "title", alert->title, "series",
	        series ? series->slug : NULL, "machine", machine ? machine->name : NULL, "change",
	        alert->change, "cause", tk_cause_name(alert->cause), "good_rev", alert->good_rev,
	        "bad_rev", alert->bad_rev, "opened_s", (json_int_t)alert->opened_s, "closed_s",
	        alert->closed_s ? json_integer(alert->closed_s) : json_null(), "first_bad_commit",
	        bisection_json(tk_alert_find_first_bad(a, alert)), "ab_test",
	        ab_test_json(a, alert), "regions", regions_json(a, alert), "code_change",
	        code_json(a, alert));
}

json_t *tk_alert_group_json(const struct tk_alerts *a, const struct tk_alert_group *g)
{
	char title[1024];
	json_t *alerts = json_array(), *history = json_array();

	for (size_t i = 0; i < g->count; i++)
		json_array_append_new(alerts, alert_json(a, g->alerts[i]));
	for (size_t i = 0; i < a->triage.count; i++) {
		const struct tk_triage_row *t = TK_ROWS_AT(&a->triage, struct tk_triage_row, i);
		bool is_of_group = strcmp(t->alert_uid, g->uid) == 0;

		for (size_t k = 0; k < g->count && !is_of_group; k++)
			is_of_group = strcmp(t->alert_uid, g->alerts[k]->uid) == 0;
		if (is_of_group)
			json_array_append_new(history, triage_json(t));
	}
	return json_pack("{s:s,s:s,s:s,s:b,s:s,s:s,s:I,s:s?,s:o,s:o}", "id", g->uid, "kind",
	        tk_alert_kind_name(g->alerts[0]->kind), "state", tk_triage_state_name(g->state),
	        "open", g->open, "title", tk_alert_group_title(g, title, sizeof title), "upstream",
	        tk_alert_upstream_name(a, g), "opened_s", (json_int_t)g->opened_s, "link",
	        g->link ? g->link->note : NULL, "history", history, "alerts", alerts);
}
