/* What nights decided: verdicts and alerts, each with what other tables add (views.sql), and what
 * people made of them. */
#include "core/verdict.h"
#include "store/db/internal.h"
#include <math.h>

int tk_store_list_verdicts(
        struct tk_store *s, int64_t night_id, struct tk_rows *out, struct tk_error *err)
{
	return tk_store_select(s, "SELECT * FROM verdict_v WHERE night_id=?1 ORDER BY series_id",
	        TK_ARGS(night_id), &tk_verdict_v_type, out, err);
}

int tk_store_find_verdict(struct tk_store *s, int64_t night_id, int64_t series_id,
        struct tk_rows *out, struct tk_error *err)
{
	return tk_store_select(s, "SELECT * FROM verdict_v WHERE night_id=?1 AND series_id=?2",
	        TK_ARGS(night_id, series_id), &tk_verdict_v_type, out, err);
}

int tk_store_list_alerts(struct tk_store *s, struct tk_rows *out, struct tk_error *err)
{
	return tk_store_select(s, "SELECT * FROM alert_v ORDER BY opened_s DESC, uid", TK_NO_ARGS,
	        &tk_alert_v_type, out, err);
}

int tk_store_find_alert_levels(struct tk_store *s, const char *uid, int64_t before_s,
        double *before_value, double *change, struct tk_error *err)
{
	struct levels {
		double before_value, change;
	};
	static const struct tk_db_column columns[] = {
	        TK_MEMBER(struct levels, before_value), TK_MEMBER(struct levels, change)};
	static const struct tk_row_type type = TK_ROW_TYPE(struct levels, columns);
	struct tk_rows rows;
	TRY(tk_store_select(s,
	        "SELECT v.before_value, v.change FROM verdict v JOIN night n ON n.id=v.night_id"
	        " WHERE v.alert_uid=?1 AND v.alert_uid<>'' AND v.status='regressed'"
	        " AND n.as_of_s<?2 ORDER BY n.as_of_s DESC, n.id DESC LIMIT 1",
	        TK_ARGS(uid, before_s), &type, &rows, err));
	const struct levels *found = rows.rows;

	*before_value = rows.count ? found->before_value : NAN;
	*change = rows.count ? found->change : NAN;
	tk_rows_free(&rows);
	return TK_OK;
}

/* ---- facts ---- */

void tk_verdict_row_read_facts(const struct tk_verdict_row *row, struct tk_verdict *v)
{
	enum tk_triage_action action;
	enum tk_triage_state state = TK_TRIAGE_ACKED;

	tk_verdict_facts_read(row->facts, v);
	v->status_before_ack = row->status_before_ack;
	v->status = row->status;
	if (row->status == row->status_before_ack || !*row->ack_author)
		return;
	if (!tk_triage_action_parse(row->ack_action, &action))
		tk_triage_action_state(action, &state);
	tk_verdict_accept(v, state, row->ack_author, row->ack_note);
}

/* verdict_reason(facts, status, ack_action, ack_author, ack_note): the sentence that the facts of a
 * verdict make. */
static void reason_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	const char *text[5];
	struct tk_verdict_row row = {0};
	struct tk_verdict v;
	char reason[TK_REASON_SIZE];

	for (int i = 0; i < count; i++) {
		text[i] = (const char *)sqlite3_value_text(values[i]);
		text[i] = text[i] ? text[i] : "";
	}
	row.facts = text[0];
	tk_verdict_status_parse(text[1], &row.status_before_ack);
	row.ack_action = text[2], row.ack_author = text[3], row.ack_note = text[4];
	row.status = *row.ack_action && strcmp(row.ack_action, "reopen") != 0
	                     ? TK_VERDICT_ACKED
	                     : row.status_before_ack;
	tk_verdict_init(&v);
	tk_verdict_row_read_facts(&row, &v);
	sqlite3_result_text(context, tk_verdict_format_reason(&v, reason), -1, SQLITE_TRANSIENT);
}

int tk_verdict_reason_register(struct tk_store *s, struct tk_error *err)
{
	int code = sqlite3_create_function_v2(s->db, "verdict_reason", 5,
	        SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL, reason_function, NULL,
	        NULL, NULL);

	return code == SQLITE_OK ? TK_OK
	                         : tk_db_fail(s, code, err, "cannot register verdict_reason");
}

/* ---- triage: an append-only history, and the state that follows from it ---------------------- */

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
