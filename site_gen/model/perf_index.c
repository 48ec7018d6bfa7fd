/* Computes performance indices from the sparklines of the series. */
#include "site_gen/model/perf_index.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "site_gen/data/totals.h"
#include "site_gen/model/model.h"

#define DAY_S 86400

/* Adds the changes of a series into its nights; returns all of them together, NAN: none. */
static double add_steps(const struct tk_site_series *s, struct tk_total *nights)
{
	double change = NAN;
	for (size_t i = 1; i < s->sparkline.count; i++) {
		const struct tk_sparkline_point *p = &s->sparkline.at[i];
		if (!(p->value > 0) || !(p[-1].value > 0))
			continue;
		struct tk_total_night *night = tk_total_find_night(nights, p->as_of_s);
		double log_speedup = log((double)p[-1].value / p->value);
		night->log_sum += log_speedup;
		night->count++;
		change = isnan(change) ? log_speedup : change + log_speedup;
	}
	return change;
}

/* The interval over the series of their whole changes; the mean's is that of the index. */
static void set_interval(struct tk_perf_index *out, double sum, double squares)
{
	double n = (double)out->series,
	       variance = n > 1 ? (squares - sum * sum / n) / (n - 1) : NAN;
	double half = 1.96 * sqrt(fmax(variance, 0) / n),
	       newest = out->count ? out->at[out->count - 1].value : NAN;
	out->lo = n > 1 ? newest * exp(-half) : NAN;
	out->hi = n > 1 ? newest * exp(half) : NAN;
}

static void chain(struct tk_perf_index *out, const struct tk_total *nights, int64_t first_s)
{
	double level = 0;
	size_t count = nights->count,
	       skip = count + 1 > TK_PERF_INDEX_NIGHTS ? count + 1 - TK_PERF_INDEX_NIGHTS : 0;
	if (!skip && count) {
		out->at[0].as_of_s = first_s;
		out->at[out->count++].value = 1;
	}
	for (size_t i = 0; i < count; i++) {
		const struct tk_total_night *night = &nights->nights[i];
		level = i + 1 > skip ? level + night->log_sum / (double)night->count : 0;
		if (i + 1 < skip)
			continue;
		out->at[out->count].as_of_s = night->as_of_s;
		out->at[out->count++].value = exp(level);
	}
}

void tk_perf_index_load(const struct tk_model *m, const struct tk_site_device *device,
        const char *op, struct tk_perf_index *out)
{
	struct tk_total nights = {0};
	double sum = 0, squares = 0;
	int64_t first_s = INT64_MAX;
	*out = (struct tk_perf_index){.lo = NAN, .hi = NAN};
	for (size_t i = 0; i < m->series_count; i++) {
		const struct tk_site_series *s = &m->series[i];
		if (s->device != device || !tk_series_is_ranked(s) || strcmp(s->problem->op, op))
			continue;
		double change = add_steps(s, &nights);
		if (isnan(change))
			continue;
		first_s =
		        s->sparkline.at[0].as_of_s < first_s ? s->sparkline.at[0].as_of_s : first_s;
		out->series++;
		sum += change;
		squares += change * change;
	}
	chain(out, &nights, first_s);
	set_interval(out, sum, squares);
	free(nights.nights);
}

double tk_perf_index_change(const struct tk_perf_index *index, int days)
{
	if (index->count < 2)
		return NAN;
	int64_t since_s = index->at[index->count - 1].as_of_s - (int64_t)days * DAY_S;
	for (size_t i = index->count; i-- > 0;)
		if (index->at[i].as_of_s <= since_s + DAY_S / 4)
			return index->at[index->count - 1].value / index->at[i].value - 1;
	return NAN;
}
