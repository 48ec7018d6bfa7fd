/* What people accepted: in the history of an alert, or in a file that is reviewed with the code (acks.yml). */
#include <string.h>

#include "detect/case.h"

void tk_case_alert_uids(const struct tk_case *k, enum tk_diff_status status, const char *bad_rev,
        char uid[TK_ALERT_UID_SIZE], char group_uid[TK_ALERT_UID_SIZE])
{
	const char *kind = status == TK_DIFF_NEWLY_FAILED ? "failure" : "alert";
	const char *const own[] = {kind, k->series->slug, bad_rev};
	const char *const group[] = {"group", kind, k->upstream->name, bad_rev, k->device->kind, k->device->name};

	tk_alert_uid_of(own, sizeof own / sizeof *own, uid);
	tk_alert_uid_of(group, sizeof group / sizeof *group, group_uid);
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
	tk_case_alert_uids(k, row->status, row->bad_rev, uid, group_uid);

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
