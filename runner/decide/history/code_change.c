/* How the machine code of a series differs between two builds, in words of the compiler. */
#include "decide/history/code_change.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/try.h"
#include "core/measurement_fields.h"
#include "core/tune.h"
#include "decide/history/catalog.h"

/* ---- code change ---- */

/* The configuration that a run chose; without it, that of the series. */
static int read_config(struct tk_catalog *c, const struct tk_series_row *series, int64_t run_id,
        char *out, size_t size, struct tk_error *err)
{
	struct tk_rows runs = {0};
	char id[32];

	snprintf(id, sizeof id, "%" PRId64, run_id);
	TRY(tk_store_find_runs(c->store, id, &runs, err));
	snprintf(out, size, "%s", series->config);
	for (size_t i = 0; i < runs.count; i++) {
		const struct tk_run_row *run = TK_ROWS_AT(&runs, struct tk_run_row, i);
		json_t *a = run->id == run_id ? json_loads(run->attributes, 0, NULL) : NULL;
		const json_t *plan = tk_measurement_get_field(a, TK_MEASUREMENT_PLAN);
		const char *chosen = json_string_value(
		        tk_measurement_get_field(plan, TK_MEASUREMENT_PLAN_ALGORITHM));

		if (chosen)
			snprintf(out, size, "%s", chosen);
		json_decref(a);
	}
	tk_rows_free(&runs);
	return TK_OK;
}

/* The kernels of one side of the comparison. */
struct side {
	const struct tk_rows *rows;
	struct tk_kernel_use use;
	char config[200];
	size_t count;
	const struct tk_kernel_row *first;
};

static const struct tk_kernel_row *find_kernel(const struct side *s, const char *name)
{
	const struct tk_kernel_row *k;

	for (size_t i = 0; (k = tk_kernel_rows_next(s->rows, &s->use, &i));)
		if (!strcmp(k->name, name))
			return k;
	return NULL;
}

static int load_side(struct tk_catalog *c, const struct tk_series_row *series, int64_t build_id,
        int64_t run_id, struct side *out, struct tk_error *err)
{
	const struct tk_problem_row *problem = tk_id_table_find(&c->problems, series->problem_id);

	out->use =
	        (struct tk_kernel_use){series->backend, problem ? problem->text : "", out->config};
	int status = tk_catalog_find_kernels(c, build_id, &out->rows, err);
	if (!status)
		status = read_config(c, series, run_id, out->config, sizeof out->config, err);
	if (status)
		return status;
	const struct tk_kernel_row *k;
	for (size_t i = 0; (k = tk_kernel_rows_next(out->rows, &out->use, &i)); out->count++)
		out->first = out->count ? out->first : k;
	return TK_OK;
}

/* One kernel on each side may have another name. Of several, exactly one must have changed: which
 * of them ran is not known. */
static void compare_sides(
        const struct side *before, const struct side *after, char out[TK_CODE_CHANGE_SIZE])
{
	size_t changed = 0;

	out[0] = '\0';
	if (before->count == 1 && after->count == 1) {
		tk_kernel_row_format_change(before->first, after->first, out);
		return;
	}
	const struct tk_kernel_row *k;
	for (size_t i = 0; (k = tk_kernel_rows_next(after->rows, &after->use, &i));) {
		const struct tk_kernel_row *was = find_kernel(before, k->name);

		if (was && strcmp(was->code_hash, k->code_hash) && !changed++)
			tk_kernel_row_format_change(was, k, out);
	}
	if (changed > 1)
		out[0] = '\0';
}

/* Whether both builds have any: most histories have none, and runs are slow to read. */
static int has_kernels(
        struct tk_catalog *c, const struct tk_verdict *v, bool *out, struct tk_error *err)
{
	const struct tk_rows *rows;
	int status = tk_catalog_find_kernels(c, v->good_build_id, &rows, err);

	*out = !status && rows->count;
	if (!status)
		status = tk_catalog_find_kernels(c, v->bad_build_id, &rows, err);
	*out = *out && !status && rows->count;
	return status;
}

int tk_code_change_describe(struct tk_catalog *c, const struct tk_series_row *series,
        const struct tk_verdict *v, char out[TK_CODE_CHANGE_SIZE], struct tk_error *err)
{
	struct side before = {0}, after = {0};
	bool is_known = false;

	out[0] = '\0';
	if (!v->good_build_id || !v->bad_build_id || v->good_build_id == v->bad_build_id)
		return TK_OK;
	int status = has_kernels(c, v, &is_known, err);
	if (status || !is_known)
		return status;
	status = load_side(c, series, v->good_build_id, v->last_good_run_id, &before, err);
	if (!status)
		status = load_side(c, series, v->bad_build_id, v->first_bad_run_id, &after, err);
	if (!status)
		compare_sides(&before, &after, out);
	return status;
}

/* ---- config change ---- */

/* *found: the run exists and has attributes. */
static int read_stored_config(struct tk_catalog *c, int64_t run_id, char *out, size_t size,
        bool *found, struct tk_error *err)
{
	struct tk_rows runs = {0};
	char id[32];

	*found = false;
	snprintf(id, sizeof id, "%" PRId64, run_id);
	int status = tk_store_find_runs(c->store, id, &runs, err);
	for (size_t i = 0; !status && i < runs.count; i++) {
		const struct tk_run_row *run = TK_ROWS_AT(&runs, struct tk_run_row, i);
		json_t *a = run->id == run_id ? json_loads(run->attributes, 0, NULL) : NULL;
		const char *config = json_string_value(json_object_get(a, TK_RUN_CONFIG));

		if (a) {
			snprintf(out, size, "%s", config ? config : "default");
			*found = true;
		}
		json_decref(a);
	}
	tk_rows_free(&runs);
	return status;
}

int tk_config_change_describe(struct tk_catalog *c, const struct tk_series_row *series,
        const struct tk_verdict *v, char out[TK_CONFIG_CHANGE_SIZE], struct tk_error *err)
{
	char before[128], after[128];
	bool is_known = false, is_new_known = false;

	out[0] = '\0';
	if (strcmp(series->config, TK_TUNE_CONFIG) || !v->last_good_run_id || !v->first_bad_run_id)
		return TK_OK;
	int status =
	        read_stored_config(c, v->last_good_run_id, before, sizeof before, &is_known, err);
	if (!status)
		status = read_stored_config(
		        c, v->first_bad_run_id, after, sizeof after, &is_new_known, err);
	if (!status && is_known && is_new_known && strcmp(before, after))
		snprintf(out, TK_CONFIG_CHANGE_SIZE, "%s -> %s", before, after);
	return status;
}
