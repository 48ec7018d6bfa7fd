/* Triage of alerts: an append-only history, and the state that follows from it. */
#include "base/try.h"
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

/* Rows about the same alert or group, or about one of a group and that group: of those the last one
 * counts. */
int tk_store_append_triage(
        struct tk_store *s, const struct tk_triage_row *row, struct tk_error *err)
{
	struct tk_triage_row copy = *row;
	int64_t newest_s;

	TRY(tk_store_select_int(s,
	        "SELECT max(at_s) FROM triage t WHERE alert_uid=?1 OR EXISTS (SELECT 1 FROM alert a"
	        " WHERE (a.uid=?1 AND a.group_uid=t.alert_uid)"
	        " OR (a.uid=t.alert_uid AND a.group_uid=?1))",
	        TK_ARGS(row->alert_uid), INT64_MIN, &newest_s, err));
	if (copy.at_s <= newest_s)
		copy.at_s = newest_s + 1;
	return tk_store_put(s, TK_TABLE_triage, &copy, NULL, err);
}
