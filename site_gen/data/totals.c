/* Sums the changes of series by night. */
#include "site_gen/data/totals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "site_gen/model/model.h"

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

static int make_totals(const struct member *members, size_t count, size_t totals,
        struct tk_totals *out, struct tk_error *err)
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
	return 0;
}

int tk_totals_plan(const struct tk_model *m, struct tk_totals *out, struct tk_error *err)
{
	struct member *members = tk_malloc((m->series_count + 1) * sizeof *members);
	size_t count = 0, totals = 0;
	*out = (struct tk_totals){
	        .total_of = tk_malloc((m->series_count + 1) * sizeof *out->total_of)};
	int status = members && out->total_of ? 0 : tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; !status && i < m->series_count; i++) {
		out->total_of[i] = TK_TOTAL_NONE;
		if (tk_series_is_ranked(&m->series[i]))
			members[count++] = (struct member){&m->series[i], i, BY_BACKEND};
	}
	for (int level = BY_BACKEND; count && level <= BY_KERNEL; level++) {
		totals = sort_members(members, count, (enum level)level);
		if (totals <= TK_TOTALS_MAX)
			break;
	}
	if (!status)
		status = make_totals(members, count, totals, out, err);
	free(members);
	return status;
}

void tk_totals_clear(struct tk_totals *t)
{
	for (size_t i = 0; i < t->count; i++)
		t->at[i].count = t->at[i].last = 0;
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
struct tk_total_night *tk_total_find_night(struct tk_total *t, int64_t as_of_s)
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

int tk_totals_add_points(struct tk_totals *t, size_t series, float *previous,
        const struct tk_point *points, size_t count, struct tk_error *err)
{
	if (t->total_of[series] == TK_TOTAL_NONE)
		return 0;
	struct tk_total *total = &t->at[t->total_of[series]];
	for (size_t i = 0; i < count; i++) {
		struct tk_total_night *night = tk_total_find_night(total, points[i].as_of_s);
		float value = (float)points[i].value;
		if (!night)
			return tk_fail(err, TK_ENOMEM, "out of memory");
		if (*previous > 0 && value > 0) {
			night->log_sum += log((double)*previous / (double)value);
			night->count++;
		}
		*previous = value;
	}
	return 0;
}

int tk_totals_read_stale(const struct tk_model *m, struct tk_totals *t, struct tk_error *err)
{
	int status = 0;
	for (size_t i = 0; i < t->count; i++)
		if (t->at[i].is_stale)
			t->at[i].count = t->at[i].last = 0;
	for (size_t i = 0; !status && i < m->series_count; i++) {
		struct tk_rows points = {0};
		float previous = NAN;
		if (t->total_of[i] == TK_TOTAL_NONE || !t->at[t->total_of[i]].is_stale)
			continue;
		status = tk_store_list_points(
		        m->store, m->series[i].row->id, INT64_MIN, 0, &points, err);
		if (!status)
			status = tk_totals_add_points(
			        t, i, &previous, points.rows, points.count, err);
		tk_rows_free(&points);
	}
	for (size_t i = 0; i < t->count; i++)
		t->at[i].is_stale = false;
	return status;
}
