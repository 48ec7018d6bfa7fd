/* Alerts as text: the list, and one in full. */
#include "cli/triage/alert.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/format.h"
#include "base/text.h"
#include "cli/table.h"
#include "detect/rules/ab_result.h"

#define SENTENCE_SIZE \
	(TK_KERNEL_CHANGE_SIZE > TK_CODE_CHANGE_SIZE ? TK_KERNEL_CHANGE_SIZE : TK_CODE_CHANGE_SIZE)

const char *tk_alert_upstream_name(const struct tk_alerts *a, const struct tk_alert_group *g)
{
	const struct tk_upstream_row *u = tk_lookup_upstream(&a->names, g->alerts[0]->upstream_id);

	return u ? u->name : "";
}

static const char *format_range(const struct tk_alert_row *alert, char *out, size_t size)
{
	snprintf(out, size, "%.12s%s%.12s", alert->good_rev, *alert->good_rev ? ".." : "",
	        alert->bad_rev);
	return out;
}

static const struct tk_column group_columns[] = {
        {"ID", 0},
        {"STATE", 0},
        {"OPENED", 0},
        {"WHAT", TK_COLUMN_WRAP},
        {"MACHINES", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(3)},
        {"UPSTREAM", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2)},
        {"FIRST BAD", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1)},
        {"NOTE", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL},
        {0},
};

static const char *state_color(enum tk_triage_state state)
{
	return state == TK_TRIAGE_NEW ? "red" : state == TK_TRIAGE_ACKED ? "yellow" : "halfbright";
}

static void group_row(struct tk_table *t, const struct tk_alerts *a, const struct tk_alert_group *g)
{
	char text[1024], day[TK_TIME_ISO_SIZE];

	tk_table_add_row(t);
	tk_table_set_cell(t, "ID", "%.8s", g->uid);
	tk_table_set_cell(t, "STATE", "%s", tk_triage_state_name(g->state));
	tk_table_set_color(t, "STATE", state_color(g->state));
	tk_table_set_cell(t, "OPENED", "%s", tk_time_format_day(g->opened_s, day));
	tk_table_set_cell(t, "WHAT", "%s", tk_alert_group_title(g, text, sizeof text));
	tk_table_set_cell(t, "MACHINES", "%s", tk_alert_group_machines(a, g, text, sizeof text));
	tk_table_set_cell(t, "UPSTREAM", "%s", tk_alert_upstream_name(a, g));
	tk_table_set_cell(t, "FIRST BAD", "%s", format_range(g->alerts[0], text, sizeof text));
	if (g->decision)
		tk_table_set_cell(t, "NOTE", "%s%s%s", g->decision->author,
		        *g->decision->note ? ": " : "", g->decision->note);
}

static bool is_listed(const struct tk_alert_options *o, const struct tk_alert_group *g)
{
	if (o->state >= 0)
		return o->state == (int)g->state;
	return o->all || (g->open && (g->state == TK_TRIAGE_NEW || g->state == TK_TRIAGE_ACKED));
}

int tk_alert_list(const struct tk_globals *g, const struct tk_alert_options *o,
        const struct tk_alerts *a, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, group_columns);
	json_t *array = json_array();
	size_t shown = 0;
	int status;

	for (size_t i = 0; i < a->count; i++) {
		if (!is_listed(o, &a->groups[i]))
			continue;
		shown++;
		if (o->json)
			json_array_append_new(array, tk_alert_group_json(a, &a->groups[i]));
		else
			group_row(t, a, &a->groups[i]);
	}
	status = o->json ? tk_command_print_json(json_incref(array), err)
	                 : tk_table_print(t, stdout, err);
	if (!shown && !o->json)
		puts(a->count ? "No open alerts (--all lists the others)." : "No alerts yet.");
	json_decref(array);
	tk_table_free(t);
	return status;
}

static const struct tk_column member_columns[] = {
        {"ALERT", 0},
        {"STATE", 0},
        {"CHANGE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL},
        {"PAIRS", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1)},
        {"SERIES", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL},
        {"MACHINE", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(4)},
        {"FIRST BAD", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(3)},
        {"OPENED", 0},
        {"CLOSED", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2)},
        {0},
};

static void member_row(
        struct tk_table *t, const struct tk_alerts *a, const struct tk_alert_row *alert)
{
	const struct tk_series_row *series = tk_lookup_series(&a->names, alert->series_id);
	const struct tk_machine_row *machine = tk_lookup_machine(&a->names, alert->machine_id);
	char text[TK_AB_RESULT_TEXT_SIZE > 64 ? TK_AB_RESULT_TEXT_SIZE : 64];
	struct tk_ab_result ab;

	tk_table_add_row(t);
	tk_table_set_cell(t, "ALERT", "%.8s", alert->uid);
	if (!tk_alert_load_ab_result(a, alert, &ab, NULL) && ab.decision != TK_AB_NONE)
		tk_table_set_cell(t, "PAIRS", "%s", tk_ab_result_format(&ab, text));
	tk_table_set_cell(
	        t, "STATE", "%s", tk_triage_state_name(tk_alert_compute_state(&a->triage, alert)));
	if (alert->kind == TK_ALERT_CHANGE)
		tk_table_set_cell(t, "CHANGE", "%+.1f %%", 100 * alert->change);
	tk_table_set_cell(t, "SERIES", "%s", series ? series->slug : "");
	tk_table_set_cell(t, "MACHINE", "%s", machine ? machine->name : "");
	tk_table_set_cell(t, "FIRST BAD", "%s", format_range(alert, text, sizeof text));
	tk_table_set_cell(t, "OPENED", "%s", tk_time_format_day(alert->opened_s, text));
	if (alert->closed_s)
		tk_table_set_cell(t, "CLOSED", "%s", tk_time_format_day(alert->closed_s, text));
}

static void print_action(const struct tk_triage_row *t, const char *of)
{
	char minute[TK_FORMAT_SIZE];

	printf("  %s  %s", tk_format_minute(t->at_s, minute), tk_triage_action_name(t->action));
	if (*of)
		printf(" (%.8s)", of);
	fputs(" by ", stdout);
	tk_text_write_sanitized(stdout, t->author, "");
	if (*t->note) {
		fputs(": ", stdout);
		tk_text_write_sanitized(stdout, t->note, "");
	}
	putchar('\n');
}

/* Each commit once: that of the alert that moved most. */
static void print_bisections(const struct tk_alerts *a, const struct tk_alert_group *g)
{
	for (size_t i = 0; i < g->count; i++) {
		const struct tk_bisection_row *c = tk_alert_find_first_bad(a, g->alerts[i]);
		char day[TK_TIME_ISO_SIZE];
		bool printed = !c;

		for (size_t k = 0; k < i && !printed; k++) {
			const struct tk_bisection_row *other =
			        tk_alert_find_first_bad(a, g->alerts[k]);

			printed = other && strcmp(other->first_bad_rev, c->first_bad_rev) == 0;
		}
		if (printed)
			continue;
		printf("\nFound by bisection: %.12s ", c->first_bad_rev);
		tk_text_write_sanitized(stdout, c->subject, "");
		fputs(", by ", stdout);
		tk_text_write_sanitized(stdout, c->author, "");
		printf(" (%s): %+.1f %% against its parent, %.1f %% confidence\n",
		        tk_time_format_day(c->author_time_s, day), 100 * c->change,
		        100 * c->confidence);
	}
}

/* A sentence about each alert, each once. */
static int print_sentences(const struct tk_alerts *a, const struct tk_alert_group *g,
        const char *title,
        int (*describe)(const struct tk_alerts *a, const struct tk_alert_row *alert, char *out,
                struct tk_error *err),
        struct tk_error *err)
{
	char text[SENTENCE_SIZE], before[SENTENCE_SIZE] = "";
	int status = TK_OK;

	for (size_t i = 0; !status && i < g->count; i++) {
		status = describe(a, g->alerts[i], text, err);
		if (status || !*text || !strcmp(text, before))
			continue;
		printf("\n%s: ", title);
		tk_text_write_sanitized(stdout, text, "");
		putchar('\n');
		memcpy(before, text, sizeof before);
	}
	return status;
}

static void print_history(const struct tk_alerts *a, const struct tk_alert_group *g)
{
	bool any = false;

	for (size_t i = 0; i < a->triage.count; i++) {
		const struct tk_triage_row *t = TK_ROWS_AT(&a->triage, struct tk_triage_row, i);
		const char *of = strcmp(t->alert_uid, g->uid) == 0 ? "" : NULL;

		for (size_t k = 0; k < g->count && !of; k++)
			if (strcmp(t->alert_uid, g->alerts[k]->uid) == 0)
				of = g->count > 1 ? t->alert_uid : "";
		if (!of)
			continue;
		if (!any)
			puts("\nHistory:");
		any = true;
		print_action(t, of);
	}
}

int tk_alert_show(const struct tk_globals *g, const struct tk_alert_options *o,
        const struct tk_alerts *a, struct tk_error *err)
{
	const struct tk_alert_group *group;
	const struct tk_alert_row *one;
	const struct tk_revision_row *bad = NULL;
	struct tk_alert_group of_one;
	struct tk_table *t;
	char title[1024];
	int status = o->ids.count == 1 ? tk_alert_find(a, o->ids.items[0], &group, &one, err)
	                               : tk_fail(err, TK_EUSAGE, "show: expected one id");

	if (status)
		return status;
	if (one) {
		of_one = tk_alert_group_from_one(a, &one);
		group = &of_one;
	}
	if (o->json)
		return tk_command_print_json(tk_alert_group_json(a, group), err);
	tk_text_write_sanitized(stdout, tk_alert_group_title(group, title, sizeof title), "");
	printf("\n%s since %s", tk_triage_state_name(group->state),
	        tk_time_format_day(group->opened_s, title));
	for (size_t i = 0; i < a->names.revisions.rows.count && !bad; i++) {
		const struct tk_revision_row *r =
		        TK_ROWS_AT(&a->names.revisions.rows, struct tk_revision_row, i);

		if (r->upstream_id == group->alerts[0]->upstream_id && *group->alerts[0]->bad_rev &&
		        strcmp(r->rev, group->alerts[0]->bad_rev) == 0)
			bad = r;
	}
	if (bad) {
		printf("; first bad %.12s ", bad->rev);
		tk_text_write_sanitized(stdout, bad->subject, "");
		fputs(*bad->author ? ", by " : "", stdout);
		tk_text_write_sanitized(stdout, bad->author, "");
	}
	puts("\n");
	t = tk_table_new(g, member_columns);
	for (size_t i = 0; i < group->count; i++)
		member_row(t, a, group->alerts[i]);
	status = tk_table_print(t, stdout, err);
	tk_table_free(t);
	print_bisections(a, group);
	if (!status)
		status = print_sentences(a, group, "Machine code", tk_alert_describe_code, err);
	if (!status)
		status = print_sentences(
		        a, group, "Inside the kernel", tk_alert_summarize_regions, err);
	print_history(a, group);
	return status;
}
