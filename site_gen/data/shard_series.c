/* What data files contain of a series besides its points: names, change points, samples. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/format.h"
#include "site_gen/data/shard.h"
#include "site_gen/data/shard_internal.h"
#include "site_gen/model/ceilings.h"
#include "site_gen/model/model.h"
#include "stats/summary/summary.h"

#define SAMPLES_SHOWN 100

/* The times that the ceiling of the problem and the peak of the datasheet allow, in the series'
 * unit; NAN: unknown, or not a time. */
static void find_limits(
        const struct tk_model *m, const struct tk_site_series *s, double *ceiling, double *peak)
{
	struct tk_ceiling_set ceilings;
	*ceiling = *peak = NAN;
	if (s->metric != TK_METRIC_TIME || s->unit != TK_UNIT_NS || !(s->problem->flops > 0) ||
	        !(s->problem->bytes > 0))
		return;
	tk_ceiling_set_load(m, s->device, &ceilings);
	double limit = tk_ceiling_set_attainable(
	        &ceilings, s->problem->dtype, s->problem->flops / s->problem->bytes);
	*ceiling = limit > 0 ? s->problem->flops / limit : NAN;
	*peak = tk_ceiling_set_efficiency_by_source(&ceilings, TK_CEILING_DATASHEET, s, 1);
}

/* "work":[amount,unit]: amount over a time is the rate; nothing for what is no time. */
static void add_work(struct tk_buf *out, const struct tk_site_series *s)
{
	const char *unit;
	double amount = tk_series_rate(s, 1, &unit);
	if (!isfinite(amount))
		return;
	tk_buf_add_str(out, ",\"work\":[");
	tk_shard_add_number(out, amount);
	tk_buf_add_printf(out, ",\"%s\"]", unit);
}

void tk_shard_add_about(
        struct tk_buf *out, const struct tk_model *m, const struct tk_site_series *s)
{
	double ceiling, peak;
	find_limits(m, s, &ceiling, &peak);
	tk_shard_begin(out, s->row->slug);
	tk_buf_add_str(out, "\"title\":");
	tk_shard_add_text(out, s->problem->title, 120);
	tk_buf_add_str(out, ",\"label\":");
	tk_shard_add_text(out, s->label, 80);
	tk_buf_add_str(out, ",\"unit\":");
	tk_shard_add_text(out, s->row->unit, 24);
	tk_buf_add_str(out, ",\"ceiling\":");
	tk_shard_add_number(out, ceiling);
	tk_buf_add_str(out, ",\"peak\":");
	tk_shard_add_number(out, peak);
	add_work(out, s);
	tk_buf_add_printf(out, ",\"lower_is_better\":%s,\"changes\":[",
	        s->row->better != TK_BETTER_LOWER ? "false" : "true");
	for (size_t i = 0; i < s->change_count; i++) {
		const struct tk_change_point_row *c = s->changes[i];
		tk_buf_add_printf(
		        out, "%s{\"time\":%lld,\"before\":", i ? "," : "", (long long)c->as_of_s);
		tk_shard_add_number(out, c->before_value);
		tk_buf_add_str(out, ",\"after\":");
		tk_shard_add_number(out, c->after_value);
		tk_buf_add_str(out, ",\"cause\":");
		tk_shard_add_text(out, tk_cause_name(c->cause), 40);
		tk_buf_add_char(out, '}');
	}
	tk_buf_add_str(out, "]});\n");
}

/* At most SAMPLES_SHOWN, evenly by rank, with the smallest and the largest. */
static void add_samples(struct tk_buf *out, double *samples, size_t count)
{
	size_t shown = count < SAMPLES_SHOWN ? count : SAMPLES_SHOWN;
	tk_sort_values(samples, count);
	int exponent = samples[0] > 0 ? (int)floor(log10(samples[0])) - 4 : 0;
	double factor = pow(10, -exponent);
	int64_t before = 0;
	tk_buf_add_printf(out, "[%d", exponent);
	for (size_t i = 0; i < shown; i++) {
		int64_t v = tk_shard_quantise(
		        samples[shown > 1 ? i * (count - 1) / (shown - 1) : 0], factor);
		tk_buf_add_char(out, ',');
		tk_buf_add_int(out, v - before);
		before = v;
	}
	tk_buf_add_char(out, ']');
}

int tk_shard_add_samples(struct tk_buf *out, const struct tk_model *m,
        const struct tk_site_series *s, const struct tk_point *points, size_t count,
        struct tk_error *err)
{
	int status = 0;
	bool any = false;
	for (size_t i = 0; !status && i < count; i++) {
		double *samples = NULL;
		size_t n = 0;
		status = tk_store_read_samples(
		        m->store, points[i].run_id, s->row->id, &samples, &n, err);
		if (!status && n > 1) {
			if (!any) {
				tk_shard_begin(out, s->row->slug);
				tk_buf_add_str(out, "\"samples\":{");
			}
			tk_buf_add_printf(
			        out, "%s\"%lld\":", any ? "," : "", (long long)points[i].run_id);
			add_samples(out, samples, n);
			any = true;
		}
		free(samples);
	}
	if (any)
		tk_buf_add_str(out, "}});\n");
	return status;
}
