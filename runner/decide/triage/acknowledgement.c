/* Acknowledgements: in the history of an alert, or in a file that is reviewed with the code
 * (acks.yml). */
#include <string.h>

#include "decide/triage/triage.h"

const struct tk_alert_row *tk_catalog_find_alert(const struct tk_catalog *c, const char *uid)
{
	for (size_t i = 0; i < c->alerts.count; i++)
		if (strcmp(TK_ROWS_AT(&c->alerts, struct tk_alert_row, i)->uid, uid) == 0)
			return TK_ROWS_AT(&c->alerts, struct tk_alert_row, i);
	return NULL;
}

void tk_series_case_make_alert_uids(const struct tk_analysis *c, const struct tk_series_case *k,
        enum tk_verdict_status status, const struct tk_diff_row *row, char uid[TK_ALERT_UID_SIZE],
        char group_uid[TK_ALERT_UID_SIZE])
{
	bool failure = status == TK_VERDICT_NEWLY_FAILED;
	const struct tk_alert_row *known;

	tk_alert_uid_hash(
	        (const char *const[]){failure ? "failure" : "alert", k->series->uid, row->bad_rev},
	        3, uid);
	known = tk_catalog_find_alert(&c->catalog, uid);
	if (known && strlen(known->group_uid) < TK_ALERT_UID_SIZE)
		strcpy(group_uid, known->group_uid);
	else
		tk_commit_groups_find_uid(c, k, failure, row, group_uid);
}

static bool is_bad_news(enum tk_verdict_status s)
{
	return s == TK_VERDICT_REGRESSED || s == TK_VERDICT_NEWLY_FAILED || s == TK_VERDICT_MISSING;
}

const struct tk_ack_rule *tk_ack_rule_find(const struct tk_detect_options *options,
        const struct tk_filter_fields *fields, const struct tk_diff_row *row)
{
	for (size_t i = 0; i < options->ack_count; i++) {
		const struct tk_ack_rule *rule = &options->acks[i];

		if (rule->until_s && options->now_s >= rule->until_s)
			continue;
		if (rule->rev && (!*row->bad_rev ||
		                         strncmp(row->bad_rev, rule->rev, strlen(rule->rev)) != 0))
			continue;
		if (tk_filter_match(rule->filters, fields))
			return rule;
	}
	return NULL;
}

void tk_diff_row_apply_ack_rules(const struct tk_detect_options *options,
        const struct tk_filter_fields *fields, struct tk_diff_row *row)
{
	const bool is_open = row->verdict.status != TK_VERDICT_ACKED &&
	                     is_bad_news(row->verdict.status_before_ack);
	const struct tk_ack_rule *rule = is_open ? tk_ack_rule_find(options, fields, row) : NULL;
	enum tk_triage_state state = TK_TRIAGE_ACKED;

	if (!rule)
		return;
	tk_triage_action_state(rule->action, &state);
	tk_verdict_accept(&row->verdict, state, rule->author, rule->note);
	row->state = TK_STATE_ACKNOWLEDGED;
}

void tk_series_case_apply_ack(
        const struct tk_analysis *c, const struct tk_series_case *k, struct tk_diff_row *row)
{
	const enum tk_verdict_status status = row->verdict.status_before_ack;
	char uid[TK_ALERT_UID_SIZE], group_uid[TK_ALERT_UID_SIZE];

	if (!is_bad_news(status))
		return;
	tk_series_case_make_alert_uids(c, k, status, row, uid, group_uid);

	const struct tk_alert_triage triage =
	        tk_alert_compute_triage(&c->catalog.triage, uid, group_uid);

	if (triage.decision) {
		tk_verdict_accept(&row->verdict, triage.state, triage.decision->author,
		        triage.decision->note);
		row->state = TK_STATE_ACKNOWLEDGED;
	} else {
		const struct tk_filter_fields fields = tk_series_case_filter_fields(k);

		tk_diff_row_apply_ack_rules(&c->options, &fields, row);
	}
}
