/* Hot files: one line for each night, with a column for each quantity. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/format.h"
#include "base/memory.h"
#include "site_gen/data/shard.h"
#include "site_gen/data/shard_internal.h"
#include "site_gen/model/model.h"
#include "site_gen/render/escape.h"

void tk_shard_begin_hot(struct tk_buf *out, size_t shard)
{
	tk_shard_begin(out, "hot");
	tk_buf_add_printf(out, "\"shard\":%zu,\"ids\":[", shard);
}

void tk_shard_add_hot_id(struct tk_buf *out, const struct tk_site_series *s, size_t place)
{
	tk_buf_add_str(out, place ? ",\n" : "\n");
	tk_escape_json(out, s->row->slug, strlen(s->row->slug));
}

void tk_shard_end_hot(struct tk_buf *out)
{
	tk_buf_add_str(out, "]});\n");
}

static void hot_numbers(struct tk_buf *out, const char *name, const struct tk_point *const *points,
        size_t count, size_t field)
{
	int64_t before = 0;
	tk_shard_begin_column(out, name);
	for (size_t i = 0; i < count; i++) {
		if (i)
			tk_buf_add_char(out, ',');
		tk_buf_add_int(out, tk_point_int(points[i], field) - before);
		before = tk_point_int(points[i], field);
	}
	tk_buf_add_char(out, ']');
}

static void hot_distances(struct tk_buf *out, const char *name,
        const struct tk_point *const *points, size_t count, const double *factors, size_t field)
{
	bool any = false;
	for (size_t i = 0; i < count; i++)
		any = any || isfinite(tk_point_real(points[i], field));
	if (!any)
		return;
	tk_shard_begin_column(out, name);
	for (size_t i = 0; i < count; i++) {
		double v = tk_point_real(points[i], field);
		if (i)
			tk_buf_add_char(out, ',');
		tk_buf_add_int(
		        out, isfinite(v) ? llabs(tk_shard_quantise(v, factors[i]) -
		                                   tk_shard_quantise(points[i]->value, factors[i]))
		                         : -1);
	}
	tk_buf_add_char(out, ']');
}

static void hot_flags(struct tk_buf *out, const struct tk_point *const *points, size_t count)
{
	tk_shard_begin_column(out, "flags");
	for (size_t i = 0; i < count; i++) {
		if (i)
			tk_buf_add_char(out, ',');
		tk_buf_add_int(out, points[i]->flags);
	}
	tk_buf_add_char(out, ']');
}

static void hot_values(
        struct tk_buf *out, const struct tk_point *const *points, size_t count, double *factors)
{
	tk_shard_begin_column(out, "exp");
	for (size_t i = 0; i < count; i++) {
		int exponent = tk_shard_exponent(points[i], 1, 5);
		factors[i] = pow(10, -exponent);
		if (i)
			tk_buf_add_char(out, ',');
		tk_buf_add_int(out, exponent);
	}
	tk_buf_add_char(out, ']');
	tk_shard_begin_column(out, "value");
	for (size_t i = 0; i < count; i++) {
		if (i)
			tk_buf_add_char(out, ',');
		tk_buf_add_int(out, tk_shard_quantise(points[i]->value, factors[i]));
	}
	tk_buf_add_char(out, ']');
}

static void hot_revisions(struct tk_buf *out, const struct tk_model *m,
        const struct tk_point *const *points, size_t count)
{
	tk_shard_begin_column(out, "revision");
	for (size_t i = 0; i < count; i++) {
		if (i)
			tk_buf_add_char(out, ',');
		tk_buf_add_int(out, tk_model_find_build_revision_id(m, points[i]->build_id));
	}
	tk_buf_add_char(out, ']');
}

void tk_shard_add_hot_night(struct tk_buf *out, const struct tk_model *m, size_t shard,
        const struct tk_point *const *points, const size_t *places, size_t count)
{
	double *factors = tk_calloc(count + 1, sizeof *factors);
	const struct tk_night_row *night = tk_row_index_find(&m->nights_by_id, points[0]->night_id);
	if (!factors) {
		out->status = TK_ENOMEM;
		return;
	}
	tk_shard_begin(out, "hot");
	tk_buf_add_printf(
	        out, "\"shard\":%zu,\"night\":%lld", shard, (long long)points[0]->night_id);
	if (!night || night->as_of_s != points[0]->as_of_s) /* all points have one time */
		tk_buf_add_printf(out, ",\"time\":%lld", (long long)points[0]->as_of_s);
	tk_shard_begin_column(out, "places");
	for (size_t i = 0; i < count; i++) {
		if (i)
			tk_buf_add_char(out, ',');
		tk_buf_add_int(out, (int64_t)(places[i] - (i ? places[i - 1] : 0)));
	}
	tk_buf_add_char(out, ']');
	hot_values(out, points, count, factors);
	hot_distances(out, "lo", points, count, factors, TK_POINT_FIELD(lo));
	hot_distances(out, "hi", points, count, factors, TK_POINT_FIELD(hi));
	hot_distances(out, "p95", points, count, factors, TK_POINT_FIELD(p95));
	hot_distances(out, "min", points, count, factors, TK_POINT_FIELD(min));
	hot_distances(out, "q25", points, count, factors, TK_POINT_FIELD(q25));
	hot_distances(out, "q75", points, count, factors, TK_POINT_FIELD(q75));
	hot_numbers(out, "run", points, count, TK_POINT_FIELD(run_id));
	hot_numbers(out, "n", points, count, TK_POINT_FIELD(n));
	hot_revisions(out, m, points, count);
	hot_numbers(out, "environment", points, count, TK_POINT_FIELD(environment_id));
	hot_flags(out, points, count);
	tk_buf_add_str(out, "});\n");
	free(factors);
}
