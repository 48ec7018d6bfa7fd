/* What people accepted: in the history of an alert, or in a file that is reviewed with the code (acks.yml). */
#include <string.h>

#include "detect/history/case.h"

const struct tk_alert_row *tk_alert_known(const struct tk_catalog *c, const char *uid)
{
	for (size_t i = 0; i < c->alerts.count; i++)
		if (strcmp(TK_ROWS_AT(&c->alerts, struct tk_alert_row, i)->uid, uid) == 0)
			return TK_ROWS_AT(&c->alerts, struct tk_alert_row, i);
	return NULL;
}

/* One that is known stays in its group, whatever else is known by now: people may have said something of it. */
void tk_case_alert_uids(const struct tk_cases *c, const struct tk_case *k, enum tk_diff_status status,
        const struct tk_diff_row *row, char uid[TK_ALERT_UID_SIZE], char group_uid[TK_ALERT_UID_SIZE])
{
	bool failure = status == TK_DIFF_NEWLY_FAILED;
	const char *const own[] = {failure ? "failure" : "alert", k->series->slug, row->bad_rev};
	const struct tk_alert_row *known;

	tk_alert_uid_of(own, sizeof own / sizeof *own, uid);
	known = tk_alert_known(&c->catalog, uid);
	if (known && strlen(known->group_uid) < TK_ALERT_UID_SIZE)
		strcpy(group_uid, known->group_uid);
	else
		tk_group_uid(c, k, failure, row->good_rev, row->bad_rev, group_uid);
}

static bool is_bad_news(enum tk_diff_status s)
{
	return s == TK_DIFF_REGRESSED || s == TK_DIFF_NEWLY_FAILED || s == TK_DIFF_MISSING;
}

const struct tk_ack_rule *tk_case_rule(const struct tk_cases *c, const struct tk_case *k, const struct tk_diff_row *row)
{
	const struct tk_filter_subject subject = tk_case_subject(k);

	for (size_t i = 0; i < c->options.ack_count; i++) {
		const struct tk_ack_rule *rule = &c->options.acks[i];

		if (rule->until_s && c->options.now_s >= rule->until_s)
			continue;
		if (rule->rev && (!*row->bad_rev || strncmp(row->bad_rev, rule->rev, strlen(rule->rev)) != 0))
			continue;
		if (tk_filter_match(rule->filters, &subject))
			return rule;
	}
	return NULL;
}

void tk_case_accept(const struct tk_cases *c, const struct tk_case *k, struct tk_diff_row *row)
{
	char uid[TK_ALERT_UID_SIZE], group_uid[TK_ALERT_UID_SIZE];
	const char *state, *author, *note;

	if (!is_bad_news(row->status))
		return;
	tk_case_alert_uids(c, k, row->status, row, uid, group_uid);

	const struct tk_alert_state said = tk_alert_state_of(&c->catalog.triage, uid, group_uid);
	const struct tk_ack_rule *rule = said.said ? NULL : tk_case_rule(c, k, row);

	if (!said.said && !rule)
		return;
	state = rule ? tk_triage_action_find(rule->action)->state : said.word;
	author = rule ? rule->author : said.said->author;
	note = rule ? rule->note : said.said->note;
	tk_row_say(row, "%s, %s by %.60s%s%.200s", tk_diff_status_word(row->status), state, author, *note ? ": " : "",
	        note);
	row->status = TK_DIFF_ACKED;
}
