/* Triage of alerts: an append-only history, and the state that follows from it. */
#include "store/db/internal.h"
#include <string.h>

struct tk_alert_triage tk_alert_compute_triage(
        const struct tk_rows *triage, const char *alert_uid, const char *group_uid)
{
	struct tk_alert_triage result = {.state = TK_TRIAGE_NEW};

	for (size_t i = 0; i < triage->count; i++) { /* in the order of time */
		const struct tk_triage_row *t = TK_ROWS_AT(triage, struct tk_triage_row, i);

		if (strcmp(t->alert_uid, alert_uid) != 0 &&
		        (!group_uid || strcmp(t->alert_uid, group_uid) != 0))
			continue;
		if (tk_triage_action_state(t->action, &result.state))
			result.decision = result.state != TK_TRIAGE_NEW ? t : NULL;
		if (t->action == TK_ACTION_LINK)
			result.link = t;
	}
	return result;
}

enum tk_triage_state tk_alert_compute_state(
        const struct tk_rows *triage, const struct tk_alert_row *alert)
{
	enum tk_triage_state state =
	        tk_alert_compute_triage(triage, alert->uid, alert->group_uid).state;
	bool settled = state == TK_TRIAGE_EXPECTED || state == TK_TRIAGE_IGNORED;

	return alert->status == TK_ALERT_CLOSED && !settled ? TK_TRIAGE_RECOVERED : state;
}

/* The same alert or group, or one of a group and that group: of those the last word counts. */
static bool is_about_the_same(const struct tk_rows *alerts, const char *one, const char *other)
{
	bool same = strcmp(one, other) == 0;

	for (size_t i = 0; !same && i < alerts->count; i++) {
		const struct tk_alert_row *a = TK_ROWS_AT(alerts, struct tk_alert_row, i);

		same = (strcmp(a->uid, one) == 0 && strcmp(a->group_uid, other) == 0) ||
		       (strcmp(a->uid, other) == 0 && strcmp(a->group_uid, one) == 0);
	}
	return same;
}

int tk_store_append_triage(
        struct tk_store *s, const struct tk_triage_row *row, struct tk_error *err)
{
	struct tk_triage_row copy = *row;
	struct tk_rows triage_rows = {0}, alerts = {0};
	int64_t id;
	int status = tk_store_list(s, TK_TABLE_triage, NULL, TK_NO_ARGS, &triage_rows, err);

	if (!status)
		status = tk_store_list_alerts(s, &alerts, err);
	for (size_t i = 0; !status && i < triage_rows.count; i++) { /* in the order of time */
		const struct tk_triage_row *t = TK_ROWS_AT(&triage_rows, struct tk_triage_row, i);

		if (t->at_s >= copy.at_s &&
		        is_about_the_same(&alerts, t->alert_uid, row->alert_uid))
			copy.at_s = t->at_s + 1;
	}
	tk_rows_free(&triage_rows);
	tk_rows_free(&alerts);
	return status ? status : tk_store_put(s, TK_TABLE_triage, &copy, &id, err);
}
