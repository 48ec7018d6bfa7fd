/* Sums the changes of series by night, and makes an index of the sums. */
#include "site_gen/data/totals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "site_gen/model/model.h"
#include "stats/summary/summary.h"

#define DAY_S 86400
#define NOISE_STEPS_MIN 5
#define MAD_TO_SIGMA 1.4826 /* of a normal distribution */

/* What tells totals apart; fewer keys where there would be too many. */
enum level { BY_BACKEND, BY_TYPE, BY_KERNEL };

struct member {
	const struct tk_site_series *series;
	size_t index;
	enum level level;
};

static int compare_keys(const struct member *x, const struct member *y)
{
	const struct tk_site_series *a = x->series, *b = y->series;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	int d = strcmp(a->problem->op, b->problem->op);
	if (!d && x->level < BY_KERNEL)
		d = strcmp(a->problem->dtype, b->problem->dtype);
	if (!d && x->level < BY_TYPE)
		d = strcmp(a->variant, b->variant);
	return d;
}

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int d = compare_keys(x, y);
	return d ? d : (x->index > y->index) - (x->index < y->index);
}

static size_t sort_members(struct member *members, size_t count, enum level level)
{
	size_t totals = 0;
	for (size_t i = 0; i < count; i++)
		members[i].level = level;
	qsort(members, count, sizeof *members, compare_members);
	for (size_t i = 0; i < count; i++)
		totals += !i || compare_keys(&members[i - 1], &members[i]);
	return totals;
}

static void make_totals(
        const struct member *members, size_t count, size_t totals, struct tk_totals *out)
{
	out->at = tk_calloc(totals + 1, sizeof *out->at);
	for (size_t i = 0; i < count; i++) {
		const struct tk_site_series *s = members[i].series;
		if (!i || compare_keys(&members[i - 1], &members[i]))
			out->at[out->count++] = (struct tk_total){.example = s,
			        .dtype = members[i].level < BY_KERNEL ? s->problem->dtype : NULL,
			        .variant = members[i].level < BY_TYPE ? s->variant : NULL};
		out->at[out->count - 1].series_count++;
		out->total_of[members[i].index] = out->count - 1;
	}
}

void tk_totals_plan(const struct tk_model *m, struct tk_totals *out)
{
	struct member *members = tk_malloc((m->series_count + 1) * sizeof *members);
	size_t count = 0, totals = 0;
	*out = (struct tk_totals){
	        .total_of = tk_malloc((m->series_count + 1) * sizeof *out->total_of)};
	for (size_t i = 0; i < m->series_count; i++) {
		out->total_of[i] = TK_TOTAL_NONE;
		if (tk_series_is_ranked(&m->series[i]))
			members[count++] = (struct member){&m->series[i], i, BY_BACKEND};
	}
	for (int level = BY_BACKEND; count && level <= BY_KERNEL; level++) {
		totals = sort_members(members, count, (enum level)level);
		if (totals <= TK_TOTALS_MAX)
			break;
	}
	make_totals(members, count, totals, out);
	free(members);
}

void tk_totals_free(struct tk_totals *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->at[i].nights);
	free(t->at);
	free(t->total_of);
	*t = (struct tk_totals){0};
}

/* ---- points ---- */

static struct tk_total_night *insert_night(struct tk_total *t, size_t at, int64_t as_of_s)
{
	if (t->count == t->room) {
		size_t room = t->room ? 2 * t->room : 64;
		t->nights = tk_realloc(t->nights, room * sizeof *t->nights);
		t->room = room;
	}
	memmove(&t->nights[at + 1], &t->nights[at], (t->count - at) * sizeof *t->nights);
	t->nights[at] = (struct tk_total_night){.as_of_s = as_of_s};
	t->count++;
	t->last = at;
	return &t->nights[at];
}

/* The points of a series ascend, so that the next night is mostly the one after the last. */
static struct tk_total_night *find_night(struct tk_total *t, int64_t as_of_s)
{
	for (size_t i = t->last; i < t->count && i < t->last + 2; i++)
		if (t->nights[i].as_of_s == as_of_s) {
			t->last = i;
			return &t->nights[i];
		}
	size_t lo = 0, hi = t->count;
	while (lo < hi) {
		size_t middle = lo + (hi - lo) / 2;
		if (t->nights[middle].as_of_s < as_of_s)
			lo = middle + 1;
		else
			hi = middle;
	}
	if (lo == t->count || t->nights[lo].as_of_s != as_of_s)
		return insert_night(t, lo, as_of_s);
	t->last = lo;
	return &t->nights[lo];
}

void tk_totals_add_points(
        struct tk_totals *t, size_t series, const struct tk_point *points, size_t count)
{
	if (t->total_of[series] == TK_TOTAL_NONE)
		return;
	struct tk_total *total = &t->at[t->total_of[series]];
	for (size_t i = 0; i < count; i++) {
		struct tk_total_night *night = find_night(total, points[i].as_of_s);
		if (i && points[i - 1].value > 0 && points[i].value > 0) {
			night->log_sum += log(points[i - 1].value / points[i].value);
			night->count++;
		}
	}
}

/* ---- the index ---- */

void tk_totals_merge(const struct tk_total *parts, size_t count, struct tk_total *out)
{
	*out = (struct tk_total){.example = count ? parts[0].example : NULL};
	for (size_t i = 0; i < count; i++) {
		const struct tk_total *part = &parts[i];
		out->series_count += part->series_count;
		for (size_t k = 0; k < part->count; k++) {
			struct tk_total_night *night = find_night(out, part->nights[k].as_of_s);
			night->log_sum += part->nights[k].log_sum;
			night->count += part->nights[k].count;
		}
	}
}

void tk_total_levels(const struct tk_total *t, double *levels)
{
	double level = 0;
	for (size_t i = 0; i < t->count; i++) {
		const struct tk_total_night *n = &t->nights[i];
		/* two points of the first time, as of two backfills, are no change since it */
		level += i && n->count ? n->log_sum / (double)n->count : 0;
		levels[i] = level;
	}
}

double tk_total_change(const struct tk_total *t, const double *levels, int days)
{
	if (t->count < 2)
		return NAN;
	const double newest = levels[t->count - 1];
	int64_t since_s = t->nights[t->count - 1].as_of_s - (int64_t)days * DAY_S;
	if (!days)
		return expm1(newest - levels[0]);
	for (size_t i = t->count; i-- > 0;)
		if (t->nights[i].as_of_s <= since_s + DAY_S / 4)
			return expm1(newest - levels[i]);
	return NAN;
}

double tk_total_noise(const struct tk_total *t)
{
	double *steps = tk_malloc((t->count + 1) * sizeof *steps);
	size_t count = 0;
	for (size_t i = 0; i < t->count; i++)
		if (t->nights[i].count)
			steps[count++] = fabs(t->nights[i].log_sum / (double)t->nights[i].count);
	if (count)
		tk_sort_values(steps, count);
	double noise = count < NOISE_STEPS_MIN ? NAN : MAD_TO_SIGMA * steps[count / 2];
	free(steps);
	return noise;
}

/* ---- perf index ---- */

#define DAY_S 86400

/* Adds the changes of a series into its nights; returns all of them together, NAN: none. */
static double add_steps(const struct tk_site_series *s, struct tk_total *nights)
{
	double change = NAN;
	for (size_t i = 1; i < s->sparkline.count; i++) {
		const struct tk_sparkline_point *p = &s->sparkline.at[i];
		if (!(p->value > 0) || !(p[-1].value > 0))
			continue;
		struct tk_total_night *night = find_night(nights, p->as_of_s);
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
