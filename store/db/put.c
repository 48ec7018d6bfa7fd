/* The writing half of store.h: functions that put several rows, or that make a name. */
#include "base/base.h"
#include "store/db/internal.h"

/* ---- one row --------------------------------------------------------------------------------- */

static int put_machine(
        struct tk_store *s, const struct tk_machine_row *row, int64_t *id, struct tk_error *err)
{
	struct tk_machine_row copy = *row;
	AUTO(tk_rows) known = {0};

	TRY(tk_store_list(s, TK_TABLE_machine, "name=?1", TK_ARGS(row->name), &known, err));
	if (known.count)
		copy.uid = TK_ROWS_AT(&known, struct tk_machine_row, 0)->uid;
	return tk_row_put(s, TK_TABLE_machine, &copy, id, NULL, err);
}

/* A device or a series that is there keeps its slug. */
static int put_device(
        struct tk_store *s, const struct tk_device_row *row, int64_t *id, struct tk_error *err)
{
	struct tk_device_row copy = *row;
	bool is_new;

	if (!copy.uuid || !*copy.uuid)
		copy.uuid = copy.slug;
	TRY(tk_row_put(s, TK_TABLE_device, &copy, id, &is_new, err));
	return is_new ? tk_slug_set_device(s, *id, err) : 0;
}

static int put_series(
        struct tk_store *s, const struct tk_series_row *row, int64_t *id, struct tk_error *err)
{
	struct tk_series_row copy = *row;
	bool is_new;

	copy.slug = "";
	TRY(tk_row_put(s, TK_TABLE_series, &copy, id, &is_new, err));
	return is_new ? tk_slug_set_series(s, *id, err) : 0;
}

/* A revision that the history does not have yet becomes a row. */
static int resolve_rev(struct tk_store *s, const struct tk_alert_row *row, const char *rev,
        int64_t *revision_id, struct tk_error *err)
{
	struct tk_revision_row revision = {.rev = rev, .upstream_id = row->upstream_id};

	if (*revision_id || !rev || !*rev)
		return 0;
	if (!row->upstream_id)
		TRY(tk_store_select_int(s, "SELECT upstream_id FROM series WHERE id=?1",
		        TK_ARGS(row->series_id), 0, &revision.upstream_id, err));
	return revision.upstream_id
	               ? tk_store_put(s, TK_TABLE_revision, &revision, revision_id, err)
	               : 0;
}

static int put_alert(struct tk_store *s, const struct tk_alert_row *alert, struct tk_error *err)
{
	struct tk_alert_row row = *alert;

	TRY(resolve_rev(s, &row, row.good_rev, &row.good_revision_id, err));
	TRY(resolve_rev(s, &row, row.bad_rev, &row.bad_revision_id, err));
	TRY(tk_row_put(s, TK_TABLE_alert, &row, NULL, NULL, err));
	return row.group_uid ? 0
	                     : tk_store_run(s, "UPDATE alert SET group_uid=uid WHERE group_uid=''",
	                               TK_NO_ARGS, err);
}

static int put_row(struct tk_store *s, enum tk_table_id table, const void *row, int64_t *id,
        struct tk_error *err)
{
	switch (table) {
	case TK_TABLE_machine:
		return put_machine(s, row, id, err);
	case TK_TABLE_device:
		return put_device(s, row, id, err);
	case TK_TABLE_series:
		return put_series(s, row, id, err);
	default:
		return put_alert(s, row, err);
	}
}

int tk_store_put(struct tk_store *s, enum tk_table_id table, const void *row, int64_t *id,
        struct tk_error *err)
{
	int64_t unused;

	if (table != TK_TABLE_machine && table != TK_TABLE_device && table != TK_TABLE_series &&
	        table != TK_TABLE_alert)
		return tk_row_put(s, table, row, id, NULL, err);
	TRY(tk_store_begin(s, err));
	return tk_store_end(s, put_row(s, table, row, id ? id : &unused, err), err);
}

/* ---- nights ---------------------------------------------------------------------------------- */

static int begin_night(
        struct tk_store *s, const struct tk_night_row *row, int64_t *id, struct tk_error *err)
{
	struct tk_night_row copy = *row;

	for (bool fresh = false; !fresh; copy.started_s++)
		TRY(tk_row_put(s, TK_TABLE_night, &copy, id, &fresh, err));
	return 0;
}

int tk_store_begin_night(
        struct tk_store *s, const struct tk_night_row *row, int64_t *id, struct tk_error *err)
{
	TRY(tk_store_begin(s, err));
	return tk_store_end(s, begin_night(s, row, id, err), err);
}

int tk_store_finish_night(struct tk_store *s, int64_t night_id, enum tk_night_status night_status,
        const char *summary, int64_t finished_s, struct tk_error *err)
{
	AUTO(tk_buf) text = {0};

	TRY(tk_db_check_writable(s, err));
	tk_buf_add_utf8(&text, summary ? summary : "{}", strlen(summary ? summary : "{}"));
	TRY(tk_store_run(s, "UPDATE night SET finished_s=?2, status=?3, summary=?4 WHERE id=?1",
	        TK_ARGS(night_id, finished_s, tk_night_status_name(night_status),
	                tk_buf_cstr(&text)),
	        err));
	return sqlite3_changes(s->db)
	               ? 0
	               : tk_fail(err, TK_EDATA, "%s: there is no night with the id %lld", s->path,
	                         (long long)night_id);
}

/* ---- many rows, all or none ------------------------------------------------------------------ */

static int put_many(struct tk_store *s, enum tk_table_id table, const void *rows, size_t count,
        struct tk_error *err)
{
	const size_t size = tk_tables[table].row_size;

	for (size_t i = 0; i < count; i++)
		TRY(tk_row_put(s, table, (const char *)rows + i * size, NULL, NULL, err));
	return 0;
}

int tk_store_put_jobs(
        struct tk_store *s, const struct tk_job_row *rows, size_t count, struct tk_error *err)
{
	TRY(tk_store_begin(s, err));
	return tk_store_end(s, put_many(s, TK_TABLE_job, rows, count, err), err);
}

static int assign_jobs(struct tk_store *s, const int64_t *job_ids, size_t count, int64_t device_id,
        struct tk_error *err)
{
	for (size_t i = 0; i < count; i++) {
		TRY(tk_store_run(s, "UPDATE job SET device_id=?2 WHERE id=?1 AND run_id IS NULL",
		        TK_ARGS(job_ids[i], device_id), err));
		if (sqlite3_changes(s->db) == 0)
			return tk_fail(err, TK_EDATA,
			        "%s: there is no job with the id %lld left to do", s->path,
			        (long long)job_ids[i]);
	}
	return 0;
}

int tk_store_assign_jobs(struct tk_store *s, const int64_t *job_ids, size_t count,
        int64_t device_id, struct tk_error *err)
{
	TRY(tk_store_begin(s, err));
	return tk_store_end(s, assign_jobs(s, job_ids, count, device_id, err), err);
}

static int replace_many(struct tk_store *s, enum tk_table_id table, const char *clear,
        int64_t owner, const void *rows, size_t count, struct tk_error *err)
{
	TRY(tk_store_begin(s, err));
	int status = tk_store_run(s, clear, TK_ARGS(owner), err);

	if (!status)
		status = put_many(s, table, rows, count, err);
	return tk_store_end(s, status, err);
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
	return replace_many(s, TK_TABLE_verdict, "DELETE FROM verdict WHERE night_id=?1", night_id,
	        rows, count, err);
}

/* ---- a result -------------------------------------------------------------------------------- */

int tk_samples_put(struct tk_store *s, int64_t run_id, int64_t series_id, const double *samples,
        size_t count, struct tk_error *err)
{
	AUTO(tk_buf) packed = {0};

	_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	        "samples are stored as little-endian float64");
	TRY(tk_zstd_compress(samples, count * sizeof(double), &packed, err));
	const struct tk_sample_row row = {run_id, series_id, {packed.data, packed.len}};

	return tk_row_put(s, TK_TABLE_sample, &row, NULL, NULL, err);
}

static int put_points(struct tk_store *s, const struct tk_run_row *run, int64_t run_id,
        const struct tk_point *points, const double *const *samples, const size_t *sample_counts,
        size_t count, struct tk_error *err)
{
	for (size_t i = 0; i < count; i++) {
		struct tk_point point = points[i];

		point.as_of_s = run->as_of_s;
		point.run_id = run_id;
		point.night_id = run->night_id;
		point.build_id = run->build_id;
		point.environment_id = run->environment_id;
		TRY(tk_row_put(s, TK_TABLE_measurement, &point, NULL, NULL, err));
		if (samples && sample_counts && samples[i] && sample_counts[i])
			TRY(tk_samples_put(
			        s, run_id, point.series_id, samples[i], sample_counts[i], err));
	}
	return 0;
}

static int put_run(struct tk_store *s, const struct tk_run_row *run, const struct tk_point *points,
        const double *const *samples, const size_t *sample_counts, size_t point_count, int64_t *id,
        struct tk_error *err)
{
	bool fresh;

	TRY(tk_row_put(s, TK_TABLE_run, run, id, &fresh, err));
	if (fresh)
		TRY(put_points(s, run, *id, points, samples, sample_counts, point_count, err));
	return tk_store_run(s,
	        "UPDATE job SET run_id=?3 WHERE night_id=?1 AND seq=?2 AND build_id=?5 AND "
	        "(series_id=?4 OR device_id=(SELECT device_id FROM series WHERE id=?4))",
	        TK_ARGS(run->night_id, run->seq, *id, run->series_id, run->build_id), err);
}

int tk_store_put_run(struct tk_store *s, const struct tk_run_row *run,
        const struct tk_point *points, const double *const *samples, const size_t *sample_counts,
        size_t point_count, int64_t *id, struct tk_error *err)
{
	int64_t run_id = 0;

	TRY(tk_store_begin(s, err));
	TRY(tk_store_end(s,
	        put_run(s, run, points, samples, sample_counts, point_count, &run_id, err), err));
	if (id)
		*id = run_id;
	return 0;
}
