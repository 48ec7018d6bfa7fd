/* Sums the changes of series by night, and makes an index of the sums. */
#include "site_gen/data/data.h"

#include <math.h>

#include "base/base.h"
#include "site_gen/model/model.h"
#include "stats/summary.h"

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
	tk_sort(members, count, sizeof *members, compare_members);
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
	const size_t lo = TK_FIND_FIRST(t->count, i, t->nights[i].as_of_s < as_of_s);
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

static void merge(const struct tk_total *parts, size_t count, struct tk_total *out)
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

double tk_trend_change(const struct tk_trend *t, int days)
{
	size_t count = t->all.count;
	if (count < 2)
		return NAN;
	int64_t since_s = t->all.nights[count - 1].as_of_s - (int64_t)days * DAY_S;
	if (!days)
		return expm1(t->levels[count - 1] - t->levels[0]);
	for (size_t i = count; i-- > 0;)
		if (t->all.nights[i].as_of_s <= since_s + DAY_S / 4)
			return expm1(t->levels[count - 1] - t->levels[i]);
	return NAN;
}

static double find_noise(const struct tk_total *t)
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

void tk_trend_load(const struct tk_total *parts, size_t count, struct tk_trend *out)
{
	*out = (struct tk_trend){.parts = parts, .count = count};
	merge(parts, count, &out->all);
	out->levels = tk_malloc((out->all.count + 1) * sizeof *out->levels);
	out->noise = find_noise(&out->all);
	tk_total_levels(&out->all, out->levels);
}

void tk_trend_free(struct tk_trend *t)
{
	free(t->all.nights);
	free(t->levels);
}

static bool is_same_trend(const struct tk_total *a, const struct tk_total *b)
{
	return a->example->device == b->example->device &&
	       a->example->op_file == b->example->op_file;
}

size_t tk_totals_find(const struct tk_totals *t, const struct tk_site_device *device,
        const char *op, const struct tk_total **parts)
{
	for (size_t i = 0, end; i < t->count; i = end) {
		for (end = i + 1; end < t->count && is_same_trend(&t->at[i], &t->at[end]); end++)
			;
		*parts = &t->at[i];
		if (t->at[i].example->device == device &&
		        !strcmp(t->at[i].example->problem->op, op))
			return end - i;
	}
	return 0;
}
