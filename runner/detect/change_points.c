/* Change points of the whole history of a series, with what caused them as far as is known. */
#include <stdlib.h>

#include "base/error.h"
#include "detect/detect_night.h"
#include "stats/changepoint/changepoint.h"

#define DAY_S 86400

static int out_of_memory(struct tk_error *err)
{
	return tk_fail(err, TK_ENOMEM, "out of memory while searching change points");
}

static int find_cause(struct tk_catalog *c, const struct tk_point *good, const struct tk_point *bad,
        const char *backend, enum tk_cause *cause, struct tk_error *err)
{
	const bool environment = good->environment_id != bad->environment_id;
	bool same;
	int status = tk_catalog_is_same_code(c, good->build_id, bad->build_id, backend, &same, err);

	if (!status && same)
		*cause = environment ? TK_CAUSE_ENVIRONMENT : TK_CAUSE_UNKNOWN;
	else if (!status)
		*cause = environment ? TK_CAUSE_CODE_OR_ENVIRONMENT : TK_CAUSE_CODE;
	return status;
}

static int store(struct tk_store *s, struct tk_catalog *c, const struct tk_series_row *series,
        const struct tk_rows *points, const struct tk_changepoint *found, size_t count,
        struct tk_error *err)
{
	struct tk_change_point_row *rows = calloc(count + 1, sizeof *rows);
	int status = rows ? TK_OK : out_of_memory(err);

	for (size_t i = 0; !status && i < count; i++) {
		const struct tk_point *bad = TK_ROWS_AT(points, struct tk_point, found[i].index),
		                      *good = bad - 1;
		enum tk_cause cause = TK_CAUSE_UNKNOWN;

		status = find_cause(c, good, bad, series->backend, &cause, err);
		rows[i] = (struct tk_change_point_row){.series_id = series->id,
		        .as_of_s = bad->as_of_s,
		        .run_id = bad->run_id,
		        .previous_run_id = good->run_id,
		        .before_value = found[i].before,
		        .after_value = found[i].after,
		        .change_lo = found[i].lo,
		        .change_hi = found[i].hi,
		        .p = found[i].p,
		        .cause = cause,
		        .confidence = 1 - found[i].p,
		        .detail = "{}"};
	}
	if (!status)
		status = tk_store_replace_change_points(s, series->id, rows, count, err);
	free(rows);
	return status;
}

static int search(const struct tk_rows *points, double min_effect, struct tk_changepoint **found,
        size_t *count, struct tk_error *err)
{
	struct tk_changepoint_options o = tk_changepoint_defaults;
	double *values = calloc(points->count + 1, sizeof *values);
	int64_t *days = calloc(points->count + 1, sizeof *days);
	int status = TK_OK;

	o.min_effect = min_effect;
	for (size_t i = 0; values && days && i < points->count; i++) {
		values[i] = TK_ROWS_AT(points, struct tk_point, i)->value;
		days[i] = TK_ROWS_AT(points, struct tk_point, i)->as_of_s / DAY_S;
	}
	if (!values || !days || tk_changepoint_find(values, days, points->count, &o, found, count))
		status = out_of_memory(err);
	free(days);
	free(values);
	return status;
}

int tk_detect_change_points(struct tk_store *s, struct tk_catalog *c,
        const struct tk_series_row *series, double min_effect, struct tk_error *err)
{
	struct tk_changepoint *found = NULL;
	struct tk_rows points;
	size_t count = 0;
	int status = tk_store_list_points(s, series->id, INT64_MIN, 0, &points, err);

	if (status)
		return status;
	status = search(&points, min_effect, &found, &count, err);
	if (!status)
		status = store(s, c, series, &points, found, count, err);
	free(found);
	tk_rows_free(&points);
	return status;
}
