/* What people say of alerts: an append-only history, and the state that follows from it. */
#include "store/db/internal.h"
#include <string.h>

static const struct tk_triage_action actions[] = {
#define TK_TRIAGE_ROW(word, state, meaning) {word, state, meaning},
        TK_TRIAGE_ACTIONS(TK_TRIAGE_ROW)
#undef TK_TRIAGE_ROW
};

const struct tk_triage_action *tk_triage_action_find(const char *word)
{
	for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
		if (strcmp(actions[i].word, word) == 0)
			return &actions[i];
	return NULL;
}

struct tk_alert_state tk_alert_state_compute(
        const struct tk_rows *triage, const char *alert_uid, const char *group_uid)
{
	struct tk_alert_state state = {.word = TK_TRIAGE_NEW};

	for (size_t i = 0; i < triage->count; i++) { /* in the order of time */
		const struct tk_triage_row *t = TK_ROWS_AT(triage, struct tk_triage_row, i);
		const struct tk_triage_action *action;

		if (strcmp(t->alert_uid, alert_uid) != 0 &&
		        (!group_uid || strcmp(t->alert_uid, group_uid) != 0))
			continue;
		action = tk_triage_action_find(t->action);
		if (action && *action->state) {
			state.word = action->state;
			state.said = strcmp(action->state, TK_TRIAGE_NEW) != 0 ? t : NULL;
		}
		if (strcmp(t->action, "link") == 0)
			state.link = t;
	}
	return state;
}

const char *tk_alert_state_name(const struct tk_rows *triage, const struct tk_alert_row *alert)
{
	struct tk_alert_state state = tk_alert_state_compute(triage, alert->uid, alert->group_uid);
	bool settled = strcmp(state.word, "expected") == 0 || strcmp(state.word, "ignored") == 0;

	return alert->status == TK_ALERT_CLOSED && !settled ? "recovered" : state.word;
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
	int status;

	if (!tk_triage_action_find(row->action))
		return tk_fail(err, TK_EUSAGE, "unknown action \"%.60s\" on an alert", row->action);
	status = tk_store_list_triage(s, &triage_rows, err);
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
	return status ? status : tk_store_put_triage(s, &copy, &id, err);
}
