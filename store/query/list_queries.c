/* The reading half of store.h that needs more than a condition (see store/select.h for the rest),
 * and the state of the monitor after the newest night. That is valid for this history file only:
 * the monitor replays the nights if it is missing or belongs to another history. */
#include "base/base.h"
#include "store/db/internal.h"
#include "store/store.h"

/* ---- nights and runs ------------------------------------------------------------------------- */

int tk_store_find_runs(
        struct tk_store *s, const char *text, struct tk_rows *out, struct tk_error *err)
{
	size_t len = strlen(text);
	bool hex = len && len < TK_UID_SIZE && strspn(text, "0123456789abcdef") == len;
	bool number = len && len < 19 && strspn(text, "0123456789") == len;

	/* A number is an id first, and the start of a uid only where no run has that id. */
	TRY(tk_store_list(s, TK_TABLE_run, "id=?1", TK_ARGS(number ? strtoll(text, NULL, 10) : -1),
	        out, err));
	if (out->count)
		return 0;
	tk_rows_free(out);
	return tk_store_list(s, TK_TABLE_run, "uid>=?1 AND uid<?1||'g' ORDER BY uid LIMIT 8",
	        TK_ARGS(hex ? text : "x"), out, err);
}

int tk_store_list_ceilings(
        struct tk_store *s, int64_t night_id, struct tk_rows *out, struct tk_error *err)
{
	if (night_id)
		return tk_store_list(
		        s, TK_TABLE_ceiling, "night_id=?1", TK_ARGS(night_id), out, err);
	return tk_store_list(s, TK_TABLE_ceiling,
	        "(night_id, device_id, name, source) IN"
	        " (SELECT night_id, device_id, name, source FROM newest_ceiling_v)",
	        TK_NO_ARGS, out, err);
}

/* ---- A/B pairs and steps --------------------------------------------------------------------- */

int tk_store_list_ab_pairs(struct tk_store *s, int64_t series_id, int64_t since_s,
        struct tk_rows *out, struct tk_error *err)
{
#define SINCE "night_id IN (SELECT id FROM night WHERE as_of_s>=?1)"
	if (series_id)
		return tk_store_list(s, TK_TABLE_ab_pair, SINCE " AND series_id=?2",
		        TK_ARGS(since_s, series_id), out, err);
	return tk_store_list(s, TK_TABLE_ab_pair, SINCE, TK_ARGS(since_s), out, err);
}

/* ---- long texts and samples ------------------------------------------------------------------ */

int tk_store_has_comparisons(struct tk_store *s, bool *out, struct tk_error *err)
{
	int64_t exists;

	TRY(tk_store_select_int(s, "SELECT EXISTS(SELECT 1 FROM kernel_report WHERE base<>'')",
	        TK_NO_ARGS, 0, &exists, err));
	*out = exists;
	return 0;
}

int tk_store_find_comparison(struct tk_store *s, const struct tk_series_row *series,
        const char *upstream, const char *good_rev, const char *bad_rev, char **result,
        struct tk_error *err)
{
	AUTO(tk_rows) rows = {0};

	TRY(tk_store_list(s, TK_TABLE_kernel_report,
	        "device_id=?1 AND problem_id=?2 AND backend=?3 AND config=?4 AND mode=?5 AND"
	        " upstream=?6 AND base=?7 AND revision=?8 AND kind='trace'"
	        " ORDER BY started_s DESC, id DESC LIMIT 1",
	        TK_ARGS(series->device_id, series->problem_id, series->backend, series->config,
	                series->mode, upstream, good_rev, bad_rev),
	        &rows, err));
	*result = rows.count ? tk_strdup(TK_ROWS_AT(&rows, struct tk_kernel_report_row, 0)->result)
	                     : NULL;
	return 0;
}

int tk_samples_unpack(
        const struct tk_bytes *packed, double **samples, size_t *count, struct tk_error *err)
{
	AUTO(tk_buf) bytes = {0};

	TRY(tk_zstd_decompress(packed->data, packed->size, TK_SAMPLES_MAX, &bytes, err));
	if (bytes.len % sizeof(double))
		return tk_fail(err, TK_EDATA, "%zu bytes of samples are not a number of float64",
		        bytes.len);
	if (bytes.len) {
		*samples = tk_malloc(bytes.len);
		memcpy(*samples, bytes.data, bytes.len);
		*count = bytes.len / sizeof(double);
	}
	return 0;
}

int tk_store_read_samples(struct tk_store *s, int64_t run_id, int64_t series_id, double **samples,
        size_t *count, struct tk_error *err)
{
	AUTO(tk_rows) rows = {0};
	int status = 0;

	TRY(tk_store_list(s, TK_TABLE_sample, "run_id=?1 AND series_id=?2",
	        TK_ARGS(run_id, series_id), &rows, err));
	*samples = NULL;
	*count = 0;
	if (rows.count)
		status = tk_samples_unpack(
		        &TK_ROWS_AT(&rows, struct tk_sample_row, 0)->data, samples, count, err);
	return status ? tk_error_add_context(
	                        err, "%s: samples of run %lld", s->path, (long long)run_id)
	              : 0;
}

/* ---- the monitor ----------------------------------------------------------------------------- */

#define NUMBERS_MAX ((size_t)1 << 30) /* bytes */

int tk_store_put_monitor_state(
        struct tk_store *s, const struct tk_monitor_state_row *row, struct tk_error *err)
{
	AUTO(tk_buf) packed = {0};
	sqlite3_stmt *q;

	_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	        "numbers are stored as little-endian float64");
	TRY(tk_db_check_writable(s, err));
	TRY(tk_zstd_compress(row->numbers, row->count * sizeof *row->numbers, &packed, err));
	TRY(tk_db_prepare_args(s,
	        "INSERT OR REPLACE INTO monitor_state(device_id, as_of_s, night_count, options,"
	        " state) VALUES (?1,?2,?3,?4,?5)",
	        TK_ARGS(row->device_id, row->as_of_s, row->nights, row->options), &q, err));
	sqlite3_bind_blob64(q, 5, packed.data, packed.len, SQLITE_STATIC);
	int code = sqlite3_step(q);
	int status = code == SQLITE_DONE
	                     ? 0
	                     : tk_db_fail(s, code, err, "cannot store the state of the monitor");

	sqlite3_reset(q);
	sqlite3_clear_bindings(q);
	return status;
}

int tk_store_read_monitor_state(struct tk_store *s, int64_t device_id,
        struct tk_monitor_state_row *out, struct tk_error *err)
{
#define STATE(member) TK_MEMBER(struct stored_state, member)
	struct stored_state {
		int64_t as_of_s, night_count;
		const char *options;
		struct tk_bytes state;
	};
	static const struct tk_db_column columns[] = {STATE(as_of_s), STATE(night_count),
	        STATE(options),
	        {.name = "state",
	                .kind = TK_COL_BLOB,
	                .offset = offsetof(struct stored_state, state)}};
	static const struct tk_row_type type = TK_ROW_TYPE(struct stored_state, columns);
	AUTO(tk_rows) rows = {0};
	struct tk_buf numbers = TK_BUF_INIT;

	TRY(tk_store_select(s, "SELECT * FROM monitor_state WHERE device_id=?1", TK_ARGS(device_id),
	        &type, &rows, err));
	const struct stored_state *row = rows.rows;

	if (!row)
		return tk_fail(err, TK_ENOTFOUND, "the monitor has no state for this device");
	if (tk_zstd_decompress(row->state.data, row->state.size, NUMBERS_MAX, &numbers, NULL)) {
		tk_buf_free(&numbers);
		return tk_fail(err, TK_ENOTFOUND, "the state of the monitor cannot be read");
	}
	*out = (struct tk_monitor_state_row){device_id, row->as_of_s, row->night_count,
	        tk_strdup(row->options), (double *)(void *)numbers.data,
	        numbers.len / sizeof *out->numbers};
	return 0;
}

int tk_store_reset_monitor(
        struct tk_store *s, int64_t device_id, int64_t since_s, struct tk_error *err)
{
	TRY(tk_store_run(
	        s, "DELETE FROM monitor_state WHERE device_id=?1", TK_ARGS(device_id), err));
	TRY(tk_store_run(s,
	        "DELETE FROM monitor_event WHERE as_of_s>=?2"
	        " AND series_id IN (SELECT id FROM series WHERE device_id=?1)",
	        TK_ARGS(device_id, since_s), err));
	return tk_store_run(s,
	        "DELETE FROM monitored_night WHERE night_id IN (SELECT id FROM night"
	        " WHERE as_of_s>=?2 AND machine_id=(SELECT machine_id FROM device WHERE id=?1))",
	        TK_ARGS(device_id, since_s), err);
}
