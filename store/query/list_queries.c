/* The reading half of store.h that needs more than a condition: see store/select.h for the rest. */
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
	return tk_store_list(s, TK_TABLE_ab_pair,
	        "series_id=?1 AND " LIKE("base_build_id", "?2") " AND " LIKE("head_build_id", "?3"),
	        TK_ARGS(series_id, good_revision_id, bad_revision_id), out, err);
}

/* ---- long texts and samples ------------------------------------------------------------------ */

int tk_store_read_kernel_timeline(
        struct tk_store *s, int64_t report_id, char **timeline, struct tk_error *err)
{
	sqlite3_stmt *stmt;
	int status = 0;

	TRY(tk_db_prepare_args(s, "SELECT timeline FROM kernel_report WHERE id=?1",
	        TK_ARGS(report_id), &stmt, err));
	int code = sqlite3_step(stmt);

	if (code == SQLITE_ROW)
		*timeline = tk_strdup((const char *)sqlite3_column_text(stmt, 0));
	else if (code == SQLITE_DONE)
		status = tk_fail(err, TK_ENOTFOUND, "there is no kernel report with the id %lld",
		        (long long)report_id);
	else
		status = tk_db_fail(s, code, err, "cannot read a kernel report");
	sqlite3_reset(stmt);
	return status;
}

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

static int unpack_samples(
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
		status = unpack_samples(
		        &TK_ROWS_AT(&rows, struct tk_sample_row, 0)->data, samples, count, err);
	return status ? tk_error_add_context(
	                        err, "%s: samples of run %lld", s->path, (long long)run_id)
	              : 0;
}
