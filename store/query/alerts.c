/* Alerts. They refer to revisions by id; readers also get the names of the revisions. */
#include "store/db/internal.h"
#include <string.h>

/* ---- writing --------------------------------------------------------------------------------- */

static int find_upstream(struct tk_store *s, const struct tk_alert_row *row, int64_t *upstream_id,
        struct tk_error *err)
{
	bool found;

	*upstream_id = row->upstream_id;
	if (row->upstream_id || !row->series_id)
		return 0;
	return tk_db_select_ints(s, "SELECT upstream_id FROM series WHERE id=?1", &row->series_id,
	        1, upstream_id, 1, &found, err);
}

/* A revision that the history does not have yet becomes a row. */
static int resolve_rev(struct tk_store *s, const struct tk_alert_row *row, const char *rev,
        int64_t *revision_id, struct tk_error *err)
{
	struct tk_revision_row revision = {.rev = rev};

	if (*revision_id || !rev || !*rev)
		return 0;
	int status = find_upstream(s, row, &revision.upstream_id, err);

	if (status || !revision.upstream_id)
		return status;
	return tk_store_put_revision(s, &revision, revision_id, err);
}

static int put_alert(struct tk_store *s, const struct tk_alert_row *alert, struct tk_error *err)
{
	struct tk_alert_row row = *alert;
	char uid[TK_UID_SIZE];
	int status = resolve_rev(s, &row, row.good_rev, &row.good_revision_id, err);

	if (!status)
		status = resolve_rev(s, &row, row.bad_rev, &row.bad_revision_id, err);
	if (!status && (!row.uid || !*row.uid)) {
		status = tk_row_compute_uid(s, TK_TABLE_alert, &row, uid, err);
		row.uid = uid;
	}
	if (status)
		return status;
	if (!row.group_uid)
		row.group_uid = row.uid;
	return tk_row_put(s, TK_TABLE_alert, &row, NULL, NULL, err);
}

int tk_store_put_alert(struct tk_store *s, const struct tk_alert_row *row, struct tk_error *err)
{
	int status = tk_store_begin(s, err);

	return status ? status : tk_db_end_transaction(s, put_alert(s, row, err), err);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The names of revisions that were looked up: many alerts share theirs. Direct-mapped by id. */
#define KNOWN_REVS 1024

struct known_rev {
	int64_t id;
	const char *rev;
};

struct alert_list {
	struct tk_store *s;
	struct tk_rows_builder builder;
	struct known_rev known[KNOWN_REVS];
};

/* *rev: a text of the list; "" if there is no such revision. */
static int read_rev(
        struct alert_list *l, int64_t revision_id, const char **rev, struct tk_error *err)
{
	sqlite3_stmt *stmt;
	int status = tk_db_prepare_cached(l->s, TK_TABLE_COUNT,
	        "SELECT rev FROM revision WHERE id=?1", &revision_id, 1, &stmt, err);

	*rev = "";
	if (status)
		return status;
	int code = sqlite3_step(stmt);

	if (code == SQLITE_ROW)
		*rev = tk_rows_add_text(&l->builder, (const char *)sqlite3_column_text(stmt, 0),
		        (size_t)sqlite3_column_bytes(stmt, 0));
	else if (code != SQLITE_DONE)
		status = tk_db_fail(l->s, code, err, "cannot read a revision");
	if (code == SQLITE_ROW && !*rev)
		status = tk_fail(err, TK_ENOMEM, "out of memory while reading the alerts");
	sqlite3_reset(stmt);
	return status;
}

static int find_rev(
        struct alert_list *l, int64_t revision_id, const char **rev, struct tk_error *err)
{
	struct known_rev *known = &l->known[(uint64_t)revision_id % KNOWN_REVS];
	int status = TK_OK;

	if (known->id != revision_id) {
		status = read_rev(l, revision_id, &known->rev, err);
		known->id = status ? 0 : revision_id;
	}
	*rev = revision_id && !status ? known->rev : "";
	return status;
}

int tk_store_list_alerts(struct tk_store *s, struct tk_rows *out, struct tk_error *err)
{
	struct tk_rows rows = {0};
	struct alert_list l = {.s = s, .builder = {&rows, sizeof(struct tk_alert_row), 0}};
	int status = tk_rows_select(
	        s, TK_TABLE_alert, "ORDER BY opened_s DESC, uid", NULL, 0, &rows, err);

	for (size_t i = 0; i < rows.count && !status; i++) {
		struct tk_alert_row *alert = (struct tk_alert_row *)rows.rows + i;

		status = find_rev(&l, alert->good_revision_id, &alert->good_rev, err);
		if (!status)
			status = find_rev(&l, alert->bad_revision_id, &alert->bad_rev, err);
	}
	if (status) {
		tk_rows_free(&rows);
		return status;
	}
	*out = rows;
	return 0;
}
