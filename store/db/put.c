/* The writing half of store.h: functions that put several rows, or that make a name. */
#include "base/archive.h"
#include "base/memory.h"
#include "base/try.h"
#include "store/db/internal.h"
#include <stdlib.h>
#include <string.h>

/* ---- one row each ---------------------------------------------------------------------------- */

#define PUT_WITH_ID(name, type) \
	int tk_store_put_##name( \
	        struct tk_store *s, const struct type *row, int64_t *id, struct tk_error *err) \
	{ \
		return tk_row_put(s, TK_TABLE_##name, row, id, NULL, err); \
	}
PUT_WITH_ID(machine, tk_machine_row)
PUT_WITH_ID(environment, tk_environment_row)
PUT_WITH_ID(upstream, tk_upstream_row)
PUT_WITH_ID(revision, tk_revision_row)
PUT_WITH_ID(build, tk_build_row)
PUT_WITH_ID(kernel, tk_kernel_row)
PUT_WITH_ID(problem, tk_problem_row)
PUT_WITH_ID(triage, tk_triage_row)

#define PUT_WITHOUT_ID(name, type) \
	int tk_store_put_##name(struct tk_store *s, const struct type *row, struct tk_error *err) \
	{ \
		return tk_row_put(s, TK_TABLE_##name, row, NULL, NULL, err); \
	}
PUT_WITHOUT_ID(stage, tk_stage_row)
PUT_WITHOUT_ID(resolution, tk_resolution_row)
PUT_WITHOUT_ID(ceiling, tk_ceiling_row)
PUT_WITHOUT_ID(notification, tk_notification_row)

int tk_store_put_ab_pair(
        struct tk_store *s, const struct tk_ab_pair_row *row, int64_t *id, struct tk_error *err)
{
	return tk_row_put(s, TK_TABLE_ab_pair, row, id, NULL, err);
}

int tk_store_put_tuning(
        struct tk_store *s, const struct tk_tuning_row *row, int64_t *id, struct tk_error *err)
{
	return tk_row_put(s, TK_TABLE_tuning, row, id, NULL, err);
}

int tk_store_put_kernel_report(struct tk_store *s, const struct tk_kernel_report_row *row,
        int64_t *id, struct tk_error *err)
{
	return tk_row_put(s, TK_TABLE_kernel_report, row, id, NULL, err);
}

int tk_store_put_bisection(
        struct tk_store *s, const struct tk_bisection_row *row, struct tk_error *err)
{
	return tk_row_put(s, TK_TABLE_bisection, row, NULL, NULL, err);
}

int tk_store_put_device(
        struct tk_store *s, const struct tk_device_row *row, int64_t *id, struct tk_error *err)
{
	struct tk_device_row copy = *row;
	char uid[TK_UID_SIZE], *slug;
	bool known;
	int status;

	if (!copy.uuid || !*copy.uuid)
		copy.uuid = copy.slug;
	TRY(tk_row_compute_uid(s, TK_TABLE_device, &copy, uid, err));
	TRY(tk_row_exists(s, TK_TABLE_device, uid, &known, err));
	/* One that is there keeps its name. */
	slug = known ? tk_strdup(uid) : tk_slug_make_device(s, &copy, uid, err);
	if (!slug)
		return err && err->status ? err->status : TK_EINTERNAL;
	copy.slug = slug;
	status = tk_row_put(s, TK_TABLE_device, &copy, id, NULL, err);
	free(slug);
	return status;
}

int tk_store_put_series(
        struct tk_store *s, const struct tk_series_row *row, int64_t *id, struct tk_error *err)
{
	struct tk_series_row copy = *row;
	char uid[TK_UID_SIZE], *slug;
	bool known;
	int status;

	if (!copy.backend)
		copy.backend = "";
	TRY(tk_row_compute_uid(s, TK_TABLE_series, &copy, uid, err));
	TRY(tk_row_exists(s, TK_TABLE_series, uid, &known, err));
	/* One that is there keeps its name. */
	slug = known ? tk_strdup(uid) : tk_slug_make_series(s, &copy, uid, err);
	if (!slug)
		return err && err->status ? err->status : TK_EINTERNAL;
	copy.slug = slug;
	status = tk_row_put(s, TK_TABLE_series, &copy, id, NULL, err);
	free(slug);
	return status;
}

/* ---- nights ---------------------------------------------------------------------------------- */

int tk_store_begin_night(
        struct tk_store *s, const struct tk_night_row *row, int64_t *id, struct tk_error *err)
{
	struct tk_night_row copy = *row;
	bool fresh = false;
	int status = tk_store_begin(s, err);

	if (status)
		return status;
	for (; !status && !fresh; copy.started_s++)
		status = tk_row_put(s, TK_TABLE_night, &copy, id, &fresh, err);
	return tk_db_end_transaction(s, status, err);
}

int tk_store_finish_night(struct tk_store *s, int64_t night_id, enum tk_night_status night_status,
        const char *summary, int64_t finished_s, struct tk_error *err)
{
	const int64_t args[] = {night_id, finished_s};
	bool failed = false;
	char *repaired = tk_text_repair_utf8(summary ? summary : "{}", &failed);
	sqlite3_stmt *stmt;
	int rc, status = failed ? tk_fail(err, TK_ENOMEM, "out of memory")
	                        : tk_db_check_writable(s, err);

	if (!status)
		status = tk_db_prepare_cached(s, TK_TABLE_COUNT,
		        "UPDATE night SET finished_s=?2, status=?3, summary=?4 WHERE id=?1", args,
		        2, &stmt, err);
	if (status)
		goto out;
	sqlite3_bind_text(stmt, 3, tk_night_status_name(night_status), -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 4,
	        repaired  ? repaired
	        : summary ? summary
	                  : "{}",
	        -1, SQLITE_STATIC);
	rc = sqlite3_step(stmt);
	if (rc != SQLITE_DONE)
		status = tk_db_fail(s, rc, err, "cannot finish the night");
	else if (sqlite3_changes(s->db) == 0)
		status = tk_fail(err, TK_EDATA, "%s: there is no night with the id %lld", s->path,
		        (long long)night_id);
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
out:
	free(repaired);
	return status;
}

/* ---- many rows, all or none ------------------------------------------------------------------ */

static int put_many(struct tk_store *s, enum tk_table_id table, const void *rows, size_t count,
        struct tk_error *err)
{
	const size_t size = tk_tables[table].row_size;
	int status = 0;

	for (size_t i = 0; i < count && !status; i++)
		status = tk_row_put(s, table, (const char *)rows + i * size, NULL, NULL, err);
	return status;
}

int tk_store_put_jobs(
        struct tk_store *s, const struct tk_job_row *rows, size_t count, struct tk_error *err)
{
	TRY(tk_store_begin(s, err));
	return tk_db_end_transaction(s, put_many(s, TK_TABLE_job, rows, count, err), err);
}

static int assign_job(struct tk_store *s, int64_t job_id, int64_t device_id, struct tk_error *err)
{
	const int64_t args[] = {job_id, device_id};
	int status = tk_db_run_cached(
	        s, "UPDATE job SET device_id=?2 WHERE id=?1 AND run_id IS NULL", args, 2, err);

	if (!status && sqlite3_changes(s->db) == 0)
		status = tk_fail(err, TK_EDATA, "%s: there is no job with the id %lld left to do",
		        s->path, (long long)job_id);
	return status;
}

int tk_store_assign_jobs(struct tk_store *s, const int64_t *job_ids, size_t count,
        int64_t device_id, struct tk_error *err)
{
	int status = tk_store_begin(s, err);

	if (status)
		return status;
	for (size_t i = 0; i < count && !status; i++)
		status = assign_job(s, job_ids[i], device_id, err);
	return tk_db_end_transaction(s, status, err);
}

static int replace_many(struct tk_store *s, enum tk_table_id table, const char *clear,
        int64_t owner, const void *rows, size_t count, struct tk_error *err)
{
	int status = tk_store_begin(s, err);

	if (status)
		return status;
	status = tk_db_run_cached(s, clear, &owner, 1, err);
	if (!status)
		status = put_many(s, table, rows, count, err);
	return tk_db_end_transaction(s, status, err);
}

int tk_store_replace_change_points(struct tk_store *s, int64_t series_id,
        const struct tk_change_point_row *rows, size_t count, struct tk_error *err)
{
	return replace_many(s, TK_TABLE_change_point, "DELETE FROM change_point WHERE series_id=?1",
	        series_id, rows, count, err);
}

int tk_store_replace_verdicts(struct tk_store *s, int64_t night_id,
        const struct tk_verdict_row *rows, size_t count, struct tk_error *err)
{
	int status = tk_store_begin(s, err);

	if (status)
		return status;
	status = replace_many(s, TK_TABLE_verdict, "DELETE FROM verdict WHERE night_id=?1",
	        night_id, rows, count, err);
	if (!status)
		status = tk_db_run_cached(s,
		        "INSERT INTO verdict_version(night_id, version) VALUES (?1,1)"
		        " ON CONFLICT DO UPDATE SET version=version+1",
		        &night_id, 1, err);
	return tk_db_end_transaction(s, status, err);
}

/* ---- a result -------------------------------------------------------------------------------- */

static int put_samples(struct tk_store *s, int64_t run_id, int64_t series_id, const double *samples,
        size_t count, struct tk_error *err)
{
	struct tk_buf packed = TK_BUF_INIT;
	int status;

	_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	        "samples are stored as little-endian float64");
	status = tk_zstd_compress(samples, count * sizeof(double), &packed, err);
	if (!status) {
		struct tk_sample_row row = {run_id, series_id, {packed.data, packed.len}};

		status = tk_row_put(s, TK_TABLE_sample, &row, NULL, NULL, err);
	}
	tk_buf_free(&packed);
	return status;
}

static int put_points(struct tk_store *s, const struct tk_run_row *run, int64_t run_id,
        const struct tk_point *points, const double *const *samples, const size_t *sample_counts,
        size_t count, struct tk_error *err)
{
	int status = 0;

	for (size_t i = 0; i < count && !status; i++) {
		struct tk_point point = points[i];

		point.as_of_s = run->as_of_s;
		point.run_id = run_id;
		point.night_id = run->night_id;
		point.build_id = run->build_id;
		point.environment_id = run->environment_id;
		status = tk_row_put(s, TK_TABLE_measurement, &point, NULL, NULL, err);
		if (!status && samples && sample_counts && samples[i] && sample_counts[i])
			status = put_samples(
			        s, run_id, point.series_id, samples[i], sample_counts[i], err);
	}
	return status;
}

int tk_store_put_run(struct tk_store *s, const struct tk_run_row *run,
        const struct tk_point *points, const double *const *samples, const size_t *sample_counts,
        size_t point_count, int64_t *id, struct tk_error *err)
{
	int64_t run_id = 0;
	bool fresh = false;
	int status = tk_store_begin(s, err);

	if (status)
		return status;
	status = tk_row_put(s, TK_TABLE_run, run, &run_id, &fresh, err);
	if (!status && fresh)
		status = put_points(
		        s, run, run_id, points, samples, sample_counts, point_count, err);
	if (!status) {
		const int64_t args[] = {
		        run->night_id, run->seq, run_id, run->series_id, run->build_id};

		status = tk_db_run_cached(s,
		        "UPDATE job SET run_id=?3 WHERE night_id=?1 AND seq=?2 AND build_id=?5 AND "
		        "(series_id=?4 OR device_id=(SELECT device_id FROM series WHERE id=?4))",
		        args, 5, err);
	}
	status = tk_db_end_transaction(s, status, err);
	if (!status && id)
		*id = run_id;
	return status;
}
