/* Alerts about missing data: open while it is missing, closed when data arrives again. */
#include <string.h>

#include "base/error.h"
#include "decide/triage/missing_data_search.h"

static const struct tk_missing_data *find(const struct tk_missing_data_list *list, const char *uid)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->at[i].uid, uid) == 0)
			return &list->at[i];
	return NULL;
}

static const struct tk_alert_row *find_alert(const struct tk_rows *alerts, const char *uid)
{
	for (size_t i = 0; i < alerts->count; i++)
		if (strcmp(TK_ROWS_AT(alerts, struct tk_alert_row, i)->uid, uid) == 0)
			return TK_ROWS_AT(alerts, struct tk_alert_row, i);
	return NULL;
}

static bool is_machine_silent(const struct tk_missing_data_list *list, int64_t machine_id)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->at[i].machine_id == machine_id && !list->at[i].upstream_id)
			return true;
	return false;
}

/* While the whole machine reports nothing, the state of its parts is unknown: their alerts stay
 * open. */
static bool is_over(const struct tk_alert_row *a, const struct tk_missing_data_list *list)
{
	return a->kind == TK_ALERT_MISSING_DATA && a->status == TK_ALERT_OPEN &&
	       !find(list, a->uid) && !(a->upstream_id && is_machine_silent(list, a->machine_id));
}

static int close_alerts(struct tk_store *s, const struct tk_rows *alerts,
        const struct tk_missing_data_list *list, int64_t now_s, struct tk_error *err)
{
	int status = TK_OK;

	for (size_t i = 0; !status && i < alerts->count; i++) {
		struct tk_alert_row a = *TK_ROWS_AT(alerts, struct tk_alert_row, i);

		if (!is_over(&a, list))
			continue;
		a.status = TK_ALERT_CLOSED;
		a.closed_s = now_s;
		status = tk_store_put(s, TK_TABLE_alert, &a, NULL, err);
	}
	return status;
}

static int open_alert(struct tk_store *s, const struct tk_missing_data *m,
        const struct tk_alert_row *known, int64_t now_s, struct tk_error *err)
{
	const struct tk_alert_row a = {.uid = m->uid,
	        .kind = TK_ALERT_MISSING_DATA,
	        .group_uid = m->group_uid,
	        .machine_id = m->machine_id,
	        .upstream_id = m->upstream_id,
	        .series_id = m->series_id,
	        .night_id = m->night_id,
	        .status = TK_ALERT_OPEN,
	        .opened_s = known ? known->opened_s : now_s,
	        .cause = TK_CAUSE_MISSING_DATA,
	        .good_rev = "",
	        .bad_rev = "",
	        .title = m->title};

	if (!known && tk_missing_data_is_history(m, now_s))
		return TK_OK;
	return tk_store_put(s, TK_TABLE_alert, &a, NULL, err);
}

static int update(struct tk_store *s, const struct tk_rows *alerts,
        const struct tk_missing_data_list *list, int64_t now_s, struct tk_error *err)
{
	int status = tk_store_begin(s, err);

	if (status)
		return status;
	status = close_alerts(s, alerts, list, now_s, err);
	for (size_t i = 0; !status && i < list->count; i++)
		status = open_alert(
		        s, &list->at[i], find_alert(alerts, list->at[i].uid), now_s, err);
	if (!status)
		return tk_store_commit(s, err);
	tk_store_rollback(s);
	return status;
}

int tk_missing_data_update_alerts(struct tk_store *s, const struct tk_detect_options *options,
        int64_t night_id, struct tk_error *err)
{
	struct tk_missing_data_list list = {0};
	struct tk_rows alerts = {0};
	int status = tk_missing_data_find_all(s, options, night_id, &list, err);

	if (!status)
		status = tk_store_list_alerts(s, &alerts, err);
	if (!status)
		status = update(s, &alerts, &list, options->now_s, err);
	tk_rows_free(&alerts);
	tk_missing_data_list_free(&list);
	return status;
}
