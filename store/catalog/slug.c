/* Slugs: names of series that people can read, type and put into a URL. They contain the slug of
 * the device. */
#include "base/buf.h"
#include "core/metric.h"
#include "store/db/internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SLUG_MAX TK_SLUG_MAX_LEN
#define TAIL_LEN \
	(TK_SLUG_TAIL_LEN - 1) /* hex digits of the uid where a slug was cut or is taken \
	                                 */

bool tk_slug_is_valid(const char *slug)
{
	size_t len = strlen(slug);

	return len && len <= TK_SLUG_MAX_LEN + TK_SLUG_TAIL_LEN && slug[0] != '.' &&
	       slug[0] != '-' && slug[len - 1] != '.' &&
	       strspn(slug, "abcdefghijklmnopqrstuvwxyz0123456789._-") == len &&
	       !strstr(slug, "..");
}

/* Lower case; every run of characters other than [a-z0-9_] becomes one '-', none at the ends. '.'
 * only separates parts. */
static void add_part(struct tk_buf *b, const char *text)
{
	size_t start;

	if (b->len)
		tk_buf_add_char(b, '.');
	start = b->len;
	for (const char *p = text; *p; p++) {
		char c = *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p;

		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')
			tk_buf_add_char(b, c);
		else if (b->len > start && b->data[b->len - 1] != '-')
			tk_buf_add_char(b, '-');
	}
	if (b->len > start && b->data[b->len - 1] == '-')
		b->data[--b->len] = '\0';
	if (b->len == start)
		tk_buf_add_char(b, 'x');
}

/* Cuts to the length that is left for the end of the uid, and puts that there. */
static void add_tail(struct tk_buf *b, const char *uid)
{
	if (b->len > SLUG_MAX - TAIL_LEN - 1)
		b->len = SLUG_MAX - TAIL_LEN - 1;
	while (b->len && strchr(".-", b->data[b->len - 1]))
		b->len--;
	tk_buf_add_printf(b, "-%.*s", TAIL_LEN, uid);
}

/* The statements of one table: whether another row holds the slug (its uid), and giving that one a
 * tail. */
struct slug_sql {
	const char *holder, *rename;
};

static int give_tail(struct tk_store *s, const char *sql, const char *slug, const char *uid,
        struct tk_error *err)
{
	struct tk_buf b = TK_BUF_INIT;
	sqlite3_stmt *stmt;
	int rc, status;

	tk_buf_add_str(&b, slug);
	add_tail(&b, uid);
	status = tk_buf_status(&b, err);
	if (!status)
		status = tk_db_prepare_args(s, sql, TK_NO_ARGS, &stmt, err);
	if (!status) {
		sqlite3_bind_text(stmt, 1, b.data, -1, SQLITE_STATIC);
		sqlite3_bind_text(stmt, 2, uid, -1, SQLITE_STATIC);
		rc = sqlite3_step(stmt);
		if (rc != SQLITE_DONE)
			status = tk_db_fail(s, rc, err, "cannot rename a row");
		sqlite3_reset(stmt);
		sqlite3_clear_bindings(stmt);
	}
	tk_buf_free(&b);
	return status;
}

/* Of the rows with the same name the one with the smallest uid gets it without a suffix, so that a
 * name depends on the content of a history, not on the order of insertion. *clash: this row needs a
 * suffix. */
static int settle(struct tk_store *s, const struct slug_sql *sql, const char *slug, const char *uid,
        int64_t parent, bool *clash, struct tk_error *err)
{
	char holder[TK_UID_SIZE] = "";
	sqlite3_stmt *stmt;
	int rc, status = tk_db_prepare_args(s, sql->holder, TK_ARGS(parent), &stmt, err);

	if (status)
		return status;
	sqlite3_bind_text(stmt, 2, slug, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 3, uid, -1, SQLITE_STATIC);
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		snprintf(holder, sizeof(holder), "%s", (const char *)sqlite3_column_text(stmt, 0));
	else if (rc != SQLITE_DONE)
		status = tk_db_fail(s, rc, err, "cannot look for a name");
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	*clash = *holder && strcmp(holder, uid) < 0;
	if (!status && *holder && !*clash)
		status = give_tail(s, sql->rename, slug, holder, err);
	return status;
}

static char *unique(struct tk_store *s, const struct slug_sql *sql, struct tk_buf *b,
        const char *uid, int64_t parent, struct tk_error *err)
{
	bool clash = false;
	int status = tk_buf_status(b, err);

	if (!status && b->len > SLUG_MAX)
		add_tail(b, uid);
	else if (!status && !(status = settle(s, sql, b->data, uid, parent, &clash, err)) && clash)
		add_tail(b, uid);
	char *slug = status ? NULL : tk_buf_detach(b, err);

	tk_buf_free(b);
	return slug;
}

#define SERIES_PARTS \
	"SELECT m.name, d.slug, u.name, CASE p.title WHEN '' THEN p.text ELSE p.title END " \
	"FROM device d, upstream u, problem p JOIN machine m ON m.id=d.machine_id WHERE d.id=?1 " \
	"AND u.id=?2 AND " \
	"p.id=?3"

static int series_parts(
        struct tk_store *s, const struct tk_series_row *row, struct tk_buf *b, struct tk_error *err)
{
	const int64_t ids[] = {row->device_id, row->upstream_id, row->problem_id};
	sqlite3_stmt *stmt;
	int rc, status = tk_db_prepare_args(
	                s, SERIES_PARTS, TK_ARGS(ids[0], ids[1], ids[2]), &stmt, err);

	if (status)
		return status;
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		const char *upstream = (const char *)sqlite3_column_text(stmt, 2);

		add_part(b, (const char *)sqlite3_column_text(stmt, 0));
		add_part(b, (const char *)sqlite3_column_text(stmt, 1));
		add_part(b, upstream);
		if (strcasecmp(upstream, row->backend))
			add_part(b, row->backend);
		add_part(b, (const char *)sqlite3_column_text(stmt, 3));
	} else {
		status = rc == SQLITE_DONE
		                 ? tk_fail(err, TK_EDATA,
		                           "%s: a series names a device, an upstream or a problem "
		                           "that is not there",
		                           s->path)
		                 : tk_db_fail(s, rc, err, "cannot read the parts of a series");
	}
	sqlite3_reset(stmt);
	return status;
}

static const struct slug_sql series_sql = {
        "SELECT uid FROM series WHERE ?1=0 AND slug=?2 AND uid<>?3",
        "UPDATE series SET slug=?1 WHERE uid=?2"};

char *tk_slug_make_series(
        struct tk_store *s, const struct tk_series_row *row, const char *uid, struct tk_error *err)
{
	struct tk_buf b = TK_BUF_INIT;

	if (row->slug && *row->slug) {
		add_part(&b, row->slug);
	} else {
		if (series_parts(s, row, &b, err)) {
			tk_buf_free(&b);
			return NULL;
		}
		if (row->config && *row->config && strcmp(row->config, "default"))
			add_part(&b, row->config);
		add_part(&b, row->mode ? row->mode : "");
		if (tk_metric_from_name(row->metric) != TK_METRIC_TIME)
			add_part(&b, row->metric ? row->metric : "");
	}
	return unique(s, &series_sql, &b, uid, 0, err);
}

/* The length of a slug without the start of the uid, if it ends with it. */
static size_t root_length(const char *slug, const char *uid)
{
	size_t len = strlen(slug);

	if (len > TK_SLUG_TAIL_LEN && slug[len - TK_SLUG_TAIL_LEN] == '-' &&
	        strncmp(slug + len - TAIL_LEN, uid, TAIL_LEN) == 0)
		return len - TK_SLUG_TAIL_LEN;
	return len;
}

static int rename_series(struct tk_store *s, const struct tk_series_row *row, const char *old_name,
        const char *old_uid, struct tk_buf *out, struct tk_error *err)
{
	static const char sql[] = "SELECT m.name FROM device d JOIN machine m ON m.id=d.machine_id"
	                          " WHERE d.id=?1";
	struct tk_buf old_part = TK_BUF_INIT;
	size_t root = root_length(row->slug, old_uid);
	sqlite3_stmt *stmt = NULL;

	add_part(&old_part, old_name);
	int status = tk_buf_status(&old_part, err);

	if (!status && (strncmp(row->slug, old_part.data, old_part.len) != 0 ||
	                       row->slug[old_part.len] != '.'))
		tk_buf_add(out, row->slug, root); /* somebody chose it */
	else if (!status)
		status = tk_db_prepare_args(s, sql, TK_ARGS(row->device_id), &stmt, err);
	if (!status && stmt) {
		int code = sqlite3_step(stmt);

		if (code == SQLITE_ROW) {
			add_part(out, (const char *)sqlite3_column_text(stmt, 0));
			tk_buf_add(out, row->slug + old_part.len, root - old_part.len);
		} else {
			status = tk_db_fail(s, code, err, "cannot read the name of a machine");
		}
		sqlite3_reset(stmt);
	}
	tk_buf_free(&old_part);
	return status;
}

char *tk_slug_rename_series(struct tk_store *s, const struct tk_series_row *row,
        const char *old_name, const char *old_uid, struct tk_error *err)
{
	struct tk_buf b = TK_BUF_INIT;
	struct tk_series_row unnamed = *row;

	/* A slug that was cut has lost its end. */
	if (strlen(row->slug) > SLUG_MAX - TK_SLUG_TAIL_LEN) {
		unnamed.slug = NULL;
		return tk_slug_make_series(s, &unnamed, row->uid, err);
	}
	if (rename_series(s, row, old_name, old_uid, &b, err)) {
		tk_buf_free(&b);
		return NULL;
	}
	return unique(s, &series_sql, &b, row->uid, 0, err);
}

char *tk_slug_make_device(
        struct tk_store *s, const struct tk_device_row *row, const char *uid, struct tk_error *err)
{
	struct tk_buf b = TK_BUF_INIT;

	add_part(&b, row->slug ? row->slug : "");
	static const struct slug_sql sql = {
	        "SELECT uid FROM device WHERE machine_id=?1 AND slug=?2 AND uid<>?3",
	        "UPDATE device SET slug=?1 WHERE uid=?2"};

	return unique(s, &sql, &b, uid, row->machine_id, err);
}
