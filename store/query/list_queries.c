/* The reading half of store.h: a table with one row per list, and other queries. */
#include "base/archive.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/try.h"
#include "core/night.h"
#include "store/db/internal.h"
#include "store/kernel_report.h"
#include <stdlib.h>
#include <string.h>

#define LIST_ALL(function, table, tail) \
	int tk_store_list_##function( \
	        struct tk_store *s, struct tk_rows *out, struct tk_error *err) \
	{ \
		return tk_rows_select(s, TK_TABLE_##table, tail, NULL, 0, out, err); \
	}
LIST_ALL(machines, machine, "ORDER BY name")
LIST_ALL(devices, device, "ORDER BY machine_id, slug")
LIST_ALL(environments, environment, "ORDER BY id")
LIST_ALL(upstreams, upstream, "ORDER BY name")
LIST_ALL(revisions, revision, "ORDER BY upstream_id, position, commit_time_s, id")
LIST_ALL(builds, build, "ORDER BY id")
LIST_ALL(problems, problem, "ORDER BY text")
LIST_ALL(series, series, "ORDER BY slug")
LIST_ALL(nights, night, "ORDER BY started_s DESC, id DESC")
LIST_ALL(bisections, bisection, "ORDER BY finished_s, uid")
LIST_ALL(tunings, tuning, "ORDER BY started_s DESC, id DESC")
LIST_ALL(kernel_reports, kernel_report, "ORDER BY started_s DESC, id DESC")
LIST_ALL(triage, triage, "ORDER BY at_s, uid")
LIST_ALL(notifications, notification, "ORDER BY sent_s, alert_uid, sink, target")

#define LIST_OF(function, table, owner, tail) \
	int tk_store_list_##function( \
	        struct tk_store *s, int64_t owner, struct tk_rows *out, struct tk_error *err) \
	{ \
		return tk_rows_select(s, TK_TABLE_##table, \
		        "WHERE " #table "." #owner "=?1 ORDER BY " tail, &owner, 1, out, err); \
	}
LIST_OF(kernels, kernel, build_id, "backend, name")
/* Several stages begin within one second: then in the order of a night. */
#define STAGE_WORD(id, word, meaning) word " "
LIST_OF(stages, stage, night_id, "started_s, instr('" TK_STAGES(STAGE_WORD) "', name), name")
LIST_OF(resolutions, resolution, night_id, "upstream_id")
LIST_OF(night_runs, run, night_id, "seq")
LIST_OF(series_runs, run, series_id, "as_of_s, id")
LIST_OF(verdicts, verdict, night_id, "series_id")

int tk_store_find_verdict(struct tk_store *s, int64_t night_id, int64_t series_id,
        struct tk_rows *out, struct tk_error *err)
{
	const int64_t values[] = {night_id, series_id};

	return tk_rows_select(
	        s, TK_TABLE_verdict, "WHERE night_id=?1 AND series_id=?2", values, 2, out, err);
}

int tk_store_list_unsuccessful_runs(
        struct tk_store *s, int64_t night_id, struct tk_rows *out, struct tk_error *err)
{
	return tk_rows_select(s, TK_TABLE_run, "WHERE night_id=?1 AND outcome<>'ok' ORDER BY seq",
	        &night_id, 1, out, err);
}

int tk_store_list_series_runs_at(struct tk_store *s, int64_t series_id, int64_t as_of_s,
        struct tk_rows *out, struct tk_error *err)
{
	const int64_t values[] = {series_id, as_of_s};

	return tk_rows_select(s, TK_TABLE_run, "WHERE series_id=?1 AND as_of_s=?2 ORDER BY id",
	        values, 2, out, err);
}

int tk_store_list_series_unsuccessful_runs(struct tk_store *s, int64_t series_id, int64_t from_s,
        struct tk_rows *out, struct tk_error *err)
{
	const int64_t values[] = {series_id, from_s};

	return tk_rows_select(s, TK_TABLE_run,
	        "WHERE series_id=?1 AND as_of_s>=?2 AND outcome<>'ok' ORDER BY as_of_s, id", values,
	        2, out, err);
}

int tk_store_list_run_points(
        struct tk_store *s, const struct tk_run_row *run, struct tk_rows *out, struct tk_error *err)
{
	const int64_t values[] = {run->series_id, run->as_of_s, run->id};

	return tk_rows_select(s, TK_TABLE_measurement,
	        "WHERE series_id=?1 AND as_of_s=?2 AND run_id=?3", values, 3, out, err);
}

int tk_store_list_jobs(struct tk_store *s, int64_t night_id, bool open_only, struct tk_rows *out,
        struct tk_error *err)
{
	const char *tail = open_only ? "WHERE night_id=?1 AND run_id IS NULL ORDER BY seq"
	                             : "WHERE night_id=?1 ORDER BY seq";

	return tk_rows_select(s, TK_TABLE_job, tail, &night_id, 1, out, err);
}

static const char *const count_sql[] = {
        [TK_COUNT_OUTCOMES] =
                "SELECT outcome, count(*) FROM run WHERE night_id=?1 GROUP BY 1 ORDER BY 2 DESC, 1",
        [TK_COUNT_VERDICTS] = "SELECT status, count(*) FROM verdict WHERE night_id=?1 GROUP BY 1 "
                              "ORDER BY 2 DESC, 1",
        [TK_COUNT_RESOLUTIONS] = "SELECT status, count(*) FROM resolution WHERE night_id=?1 GROUP "
                                 "BY 1 ORDER BY 2 DESC, 1",
        [TK_COUNT_OPEN_JOBS] =
                "SELECT 'open', count(*) FROM job WHERE night_id=?1 AND run_id IS NULL",
        [TK_COUNT_RUNS] = "SELECT 'runs', count(*) FROM run WHERE night_id=?1",
};

int tk_store_list_night_counts(struct tk_store *s, int64_t night_id, enum tk_night_count what,
        struct tk_rows *out, struct tk_error *err)
{
	struct tk_rows rows = {0};
	struct tk_rows_builder list = {&rows, sizeof(struct tk_group_count), 0};
	sqlite3_stmt *stmt;
	int rc, status = tk_db_prepare_cached(
	                s, TK_TABLE_COUNT, count_sql[what], &night_id, 1, &stmt, err);

	if (status)
		return status;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && !status) {
		struct tk_group_count *row = tk_rows_add(&list);

		if (row)
			row->word =
			        tk_rows_add_text(&list, (const char *)sqlite3_column_text(stmt, 0),
			                (size_t)sqlite3_column_bytes(stmt, 0));
		if (row && row->word)
			row->count = sqlite3_column_int64(stmt, 1);
		else
			status = tk_fail(err, TK_ENOMEM, "out of memory");
	}
	if (!status && rc != SQLITE_DONE)
		status = tk_db_fail(s, rc, err, "cannot count what a night has");
	sqlite3_reset(stmt);
	if (status) {
		tk_rows_free(&rows);
		return status;
	}
	*out = rows;
	return 0;
}

#define FOUND_MAX 8

int tk_store_find_runs(
        struct tk_store *s, const char *text, struct tk_rows *out, struct tk_error *err)
{
	size_t len = strlen(text);
	bool hex = len && len < TK_UID_SIZE && strspn(text, "0123456789abcdef") == len;
	bool number = len && len < 19 && strspn(text, "0123456789") == len;
	int64_t ids[FOUND_MAX] = {number ? strtoll(text, NULL, 10) : -1};
	int status, n = 1;
	sqlite3_stmt *stmt;

	TRY(tk_db_prepare_cached(s, TK_TABLE_COUNT,
	        "SELECT id FROM run WHERE uid>=?1 AND uid<?1||'g' ORDER BY uid LIMIT 7", NULL, 0,
	        &stmt, err));
	sqlite3_bind_text(stmt, 1, hex ? text : "x", -1, SQLITE_STATIC);
	/* A number is an id first, and the start of a uid only where no run has that id. */
	while (n < FOUND_MAX && sqlite3_step(stmt) == SQLITE_ROW)
		ids[n++] = sqlite3_column_int64(stmt, 0);
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	while (n < FOUND_MAX)
		ids[n++] = -1;
	status = tk_rows_select(s, TK_TABLE_run, "WHERE id=?1", ids, 1, out, err);
	if (!status && out->count == 0)
		status = tk_rows_select(s, TK_TABLE_run,
		        "WHERE id IN (?1,?2,?3,?4,?5,?6,?7,?8) ORDER BY uid", ids, FOUND_MAX, out,
		        err);
	return status;
}

int tk_store_list_ceilings(
        struct tk_store *s, int64_t night_id, struct tk_rows *out, struct tk_error *err)
{
	if (night_id)
		return tk_rows_select(s, TK_TABLE_ceiling,
		        "WHERE night_id=?1 ORDER BY device_id, name, source", &night_id, 1, out,
		        err);
	/* the first of each device, name and source when the newest night comes first */
	return tk_rows_select(s, TK_TABLE_ceiling,
	        "WHERE (night_id, device_id, name, source) IN (SELECT night_id, device_id, name, "
	        "source FROM (SELECT "
	        "c.night_id, c.device_id,"
	        " c.name, c.source, row_number() OVER (PARTITION BY c.device_id, c.name, c.source "
	        "ORDER BY n.as_of_s "
	        "DESC, n.id DESC) AS age"
	        " FROM ceiling c JOIN night n ON n.id=c.night_id) WHERE age=1) ORDER BY device_id, "
	        "name, source",
	        NULL, 0, out, err);
}

int tk_store_list_ab_pairs(struct tk_store *s, int64_t series_id, int64_t since_s,
        struct tk_rows *out, struct tk_error *err)
{
	const int64_t args[] = {since_s, series_id};

#define SINCE "WHERE night_id IN (SELECT id FROM night WHERE as_of_s>=?1) "
#define BY_PAIR "ORDER BY series_id, good_build_id, bad_build_id, night_id, pair, id"
	if (series_id)
		return tk_rows_select(
		        s, TK_TABLE_ab_pair, SINCE "AND series_id=?2 " BY_PAIR, args, 2, out, err);
	return tk_rows_select(s, TK_TABLE_ab_pair, SINCE BY_PAIR, args, 1, out, err);
}

/* A build is equivalent to those of a revision if it is one of them, or its backend has the machine
 * code of one. */
#define LIKE(build, revision) \
	"(EXISTS (SELECT 1 FROM build b WHERE b.id=" build " AND b.revision_id=" revision \
	") OR EXISTS (SELECT 1 " \
	"FROM kernel k CROSS JOIN build b CROSS JOIN kernel o WHERE k.build_id=" build \
	" AND k.name='' AND " \
	"k.code_hash<>'' " \
	"AND k.backend=(SELECT backend FROM series WHERE id=?1) AND b.revision_id=" revision \
	" AND o.build_id=b.id AND o.backend=k.backend AND o.name='' AND o.code_hash=k.code_hash))"

int tk_store_list_ab_pairs_between(struct tk_store *s, int64_t series_id, int64_t good_revision_id,
        int64_t bad_revision_id, struct tk_rows *out, struct tk_error *err)
{
	const int64_t args[] = {series_id, good_revision_id, bad_revision_id};

	return tk_rows_select(s, TK_TABLE_ab_pair,
	        "WHERE series_id=?1 AND " LIKE("good_build_id", "?2") " AND " LIKE(
	                "bad_build_id", "?3") " " BY_PAIR,
	        args, 3, out, err);
}

int tk_store_list_change_points(
        struct tk_store *s, int64_t series_id, struct tk_rows *out, struct tk_error *err)
{
	if (!series_id)
		return tk_rows_select(s, TK_TABLE_change_point,
		        "ORDER BY series_id, as_of_s, run_id", NULL, 0, out, err);
	return tk_rows_select(s, TK_TABLE_change_point,
	        "WHERE series_id=?1 ORDER BY as_of_s, run_id", &series_id, 1, out, err);
}

/* The text of one row, with a NUL. `what` names the row in messages. */
static int read_text(struct tk_store *s, const char *sql, int64_t id, const char *what, char **text,
        struct tk_error *err)
{
	sqlite3_stmt *stmt;
	int rc, status = tk_db_prepare_cached(s, TK_TABLE_COUNT, sql, &id, 1, &stmt, err);

	if (status)
		return status;
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		char *copy = tk_strdup((const char *)sqlite3_column_text(stmt, 0));

		if (copy)
			*text = copy;
		else
			status = tk_fail(err, TK_ENOMEM, "out of memory");
	} else {
		status = rc == SQLITE_DONE
		                 ? tk_fail(err, TK_ENOTFOUND, "there is no %s with the id %lld",
		                           what, (long long)id)
		                 : tk_db_fail(s, rc, err, "cannot read a %s", what);
	}
	sqlite3_reset(stmt);
	return status;
}

int tk_store_read_build_log(struct tk_store *s, int64_t build_id, char **log, struct tk_error *err)
{
	return read_text(s, "SELECT log FROM build WHERE id=?1", build_id, "build", log, err);
}

int tk_store_has_comparisons(struct tk_store *s, bool *out, struct tk_error *err)
{
	int64_t exists = 0;
	int status = tk_db_get_int(
	        s, "SELECT EXISTS(SELECT 1 FROM kernel_report WHERE base<>'')", &exists, err);

	*out = exists;
	return status;
}

static bool compares(const struct tk_kernel_report_row *r, const struct tk_series_row *series,
        const char *upstream, const char *good_rev, const char *bad_rev)
{
	return r->kind == TK_KERNEL_REPORT_TRACE && !strcmp(r->base, good_rev) &&
	       !strcmp(r->revision, bad_rev) && !strcmp(r->upstream, upstream) &&
	       !strcmp(r->backend, series->backend) && !strcmp(r->config, series->config) &&
	       !strcmp(r->mode, series->mode);
}

int tk_store_find_comparison(struct tk_store *s, const struct tk_series_row *series,
        const char *upstream, const char *good_rev, const char *bad_rev, char **result,
        struct tk_error *err)
{
	const int64_t values[] = {series->device_id, series->problem_id};
	struct tk_rows rows = {0};
	char *found = NULL;
	int status = tk_rows_select(s, TK_TABLE_kernel_report,
	        "WHERE device_id=?1 AND problem_id=?2 AND base<>'' ORDER BY started_s DESC, id "
	        "DESC",
	        values, 2, &rows, err);
	for (size_t i = 0; !status && !found && i < rows.count; i++) {
		const struct tk_kernel_report_row *r =
		        TK_ROWS_AT(&rows, struct tk_kernel_report_row, i);
		if (compares(r, series, upstream, good_rev, bad_rev) &&
		        !(found = tk_strdup(r->result)))
			status = tk_fail(err, TK_ENOMEM, "out of memory");
	}
	tk_rows_free(&rows);
	if (!status)
		*result = found;
	return status;
}

int tk_store_read_kernel_timeline(
        struct tk_store *s, int64_t report_id, char **timeline, struct tk_error *err)
{
	return read_text(s, "SELECT timeline FROM kernel_report WHERE id=?1", report_id,
	        "kernel report", timeline, err);
}

static int unpack_samples(
        const struct tk_bytes *packed, double **samples, size_t *count, struct tk_error *err)
{
	struct tk_buf bytes = TK_BUF_INIT;
	int status = tk_zstd_decompress(packed->data, packed->size, TK_SAMPLES_MAX, &bytes, err);

	if (!status && bytes.len % sizeof(double))
		status = tk_fail(err, TK_EDATA, "%zu bytes of samples are not a number of float64",
		        bytes.len);
	if (!status && bytes.len) {
		*samples = tk_malloc(bytes.len);
		if (*samples) {
			memcpy(*samples, bytes.data, bytes.len);
			*count = bytes.len / sizeof(double);
		} else {
			status = tk_fail(err, TK_ENOMEM, "out of memory");
		}
	}
	tk_buf_free(&bytes);
	return status;
}

int tk_store_read_samples(struct tk_store *s, int64_t run_id, int64_t series_id, double **samples,
        size_t *count, struct tk_error *err)
{
	const int64_t args[] = {run_id, series_id};
	struct tk_rows rows;
	int status = tk_rows_select(
	        s, TK_TABLE_sample, "WHERE run_id=?1 AND series_id=?2", args, 2, &rows, err);

	if (status)
		return status;
	*samples = NULL;
	*count = 0;
	if (rows.count)
		status = unpack_samples(
		        &TK_ROWS_AT(&rows, struct tk_sample_row, 0)->data, samples, count, err);
	tk_rows_free(&rows);
	return status ? tk_error_add_context(
	                        err, "%s: samples of run %lld", s->path, (long long)run_id)
	              : 0;
}
