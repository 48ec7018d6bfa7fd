/* Computes performance indices from the traces of the series. */
#include "site_gen/model/perf_index.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "site_gen/model/model.h"

#define DAY_S 86400

/* The change of one series into one night. */
struct step {
	int64_t as_of_s;
	double log_speedup;
};

static int compare_steps(const void *a, const void *b)
{
	const struct step *x = a, *y = b;
	return (x->as_of_s > y->as_of_s) - (x->as_of_s < y->as_of_s);
}

static size_t add_steps(const struct tk_site_series *s, struct step *out, double *total)
{
	size_t count = 0;
	*total = 0;
	for (size_t i = 1; s->trace && i < s->trace->count; i++) {
		const struct tk_trace_point *p = &s->trace->at[i];
		if (!(p->value > 0) || !(p[-1].value > 0))
			continue;
		out[count] = (struct step){p->as_of_s, log((double)p[-1].value / p->value)};
		*total += out[count++].log_speedup;
	}
	return count;
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

/* Steps by time; a night is one time. */
static void chain(
        struct tk_perf_index *out, const struct step *steps, size_t count, int64_t first_s)
{
	double level = 0;
	size_t nights = 0, skip;
	for (size_t i = 0; i < count; i++)
		nights += !i || steps[i].as_of_s != steps[i - 1].as_of_s;
	skip = nights + 1 > TK_PERF_INDEX_NIGHTS ? nights + 1 - TK_PERF_INDEX_NIGHTS : 0;
	if (!skip && count) {
		out->at[0].as_of_s = first_s;
		out->at[out->count++].value = 1;
	}
	for (size_t i = 0, end, night = 1; i < count; i = end, night++) {
		double sum = 0;
		for (end = i; end < count && steps[end].as_of_s == steps[i].as_of_s; end++)
			sum += steps[end].log_speedup;
		level = night > skip ? level + sum / (double)(end - i) : 0;
		if (night < skip)
			continue;
		out->at[out->count].as_of_s = steps[i].as_of_s;
		out->at[out->count++].value = exp(level);
	}
}

int tk_perf_index_load(const struct tk_model *m, const struct tk_site_device *device,
        const char *op, struct tk_perf_index *out, struct tk_error *err)
{
	struct step *steps = NULL;
	size_t count = 0, room = 0;
	double sum = 0, squares = 0;
	int64_t first_s = INT64_MAX;
	*out = (struct tk_perf_index){.lo = NAN, .hi = NAN};
	for (size_t i = 0; i < m->series_count; i++) {
		const struct tk_site_series *s = &m->series[i];
		if (s->device != device || !tk_series_is_ranked(s) || strcmp(s->problem->op, op))
			continue;
		if (count + TK_SITE_WINDOW_POINTS > room) {
			room = 2 * room + TK_SITE_WINDOW_POINTS;
			struct step *more = realloc(steps, room * sizeof *steps);
			if (!more) {
				free(steps);
				return tk_fail(err, TK_ENOMEM, "out of memory");
			}
			steps = more;
		}
		double total;
		size_t added = add_steps(s, steps + count, &total);
		if (!added)
			continue;
		first_s = s->trace->at[0].as_of_s < first_s ? s->trace->at[0].as_of_s : first_s;
		count += added;
		out->series++;
		sum += total;
		squares += total * total;
	}
	if (count)
		qsort(steps, count, sizeof *steps, compare_steps);
	chain(out, steps, count, first_s);
	set_interval(out, sum, squares);
	free(steps);
	return 0;
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
