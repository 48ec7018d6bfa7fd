/* What a format of `tracker diff` shows: selection, order, groups. */
#include "cli/diff/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define ROW(name, everything, write) {name, everything, write},
const struct tk_diff_format tk_diff_formats[] = {TK_DIFF_FORMATS(ROW, ROW){0}};

/* Other statuses are counted in the last line, not listed. */
static bool is_news(enum tk_verdict_status s)
{
	return s != TK_VERDICT_SAME && s != TK_VERDICT_NEW && s != TK_VERDICT_FAILING &&
	       s != TK_VERDICT_UNSUPPORTED && s != TK_VERDICT_STALE;
}

const char *tk_diff_group_name(
        const struct tk_diff_view *v, const struct tk_diff_row *row, char out[TK_DIFF_GROUP_SIZE])
{
	switch (v->group) {
	case TK_DIFF_GROUP_MACHINE:
		return row->machine;
	case TK_DIFF_GROUP_BACKEND:
		return row->backend;
	case TK_DIFF_GROUP_UPSTREAM:
		return row->upstream;
	case TK_DIFF_GROUP_REVISION:
		return *row->bad_rev ? row->bad_rev : "no revision";
	case TK_DIFF_GROUP_KERNEL:
		snprintf(out, TK_DIFF_GROUP_SIZE, "%s %s", row->backend, row->op);
		return out;
	default:
		return "";
	}
}

struct tk_diff_group_totals tk_diff_group_totals(const struct tk_diff_view *v, const char *group)
{
	struct tk_diff_group_totals s = {.mean = {.change = NAN}};
	char name[TK_DIFF_GROUP_SIZE];

	for (size_t i = 0; i < v->report->count; i++) {
		const struct tk_diff_row *r = &v->report->rows[i];

		if (strcmp(tk_diff_group_name(v, r, name), group) != 0)
			continue;
		s.series++;
		s.compared += tk_diff_row_is_compared(r);
		tk_diff_mean_add(&s.mean, r);
	}
	return s;
}

static double descending(double a, double b)
{
	double x = isnan(a) ? -1 : a, y = isnan(b) ? -1 : b;

	return (x < y) - (x > y);
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct tk_diff_row *x = *(const struct tk_diff_row *const *)a,
	                         *y = *(const struct tk_diff_row *const *)b;
	const struct tk_diff_view *v = arg;
	char gx[TK_DIFF_GROUP_SIZE], gy[TK_DIFF_GROUP_SIZE];
	int order = strcmp(tk_diff_group_name(v, x, gx), tk_diff_group_name(v, y, gy));

	if (!order && v->sort == TK_DIFF_SORT_PERCENT)
		order = (int)descending(
		        fabs(x->verdict.change.value), fabs(y->verdict.change.value));
	if (!order && v->sort == TK_DIFF_SORT_ABSOLUTE)
		order = (int)descending(fabs(x->verdict.after.value - x->verdict.before.value),
		        fabs(y->verdict.after.value - y->verdict.before.value));
	if (!order && v->sort == TK_DIFF_SORT_NAME)
		order = strcmp(x->series, y->series);
	if (!order)
		order = (x > y) - (x < y); /* the report has the most severe first */
	return order;
}

static bool is_shared_backend(const struct tk_diff_view *v, const char *backend)
{
	for (size_t i = 0; i < v->shared_backend_count; i++)
		if (!strcmp(v->shared_backends[i], backend))
			return true;
	return false;
}

/* Compares each row with the first one of its backend: there are few backends and many rows. */
static void find_shared_backends(struct tk_diff_view *v)
{
	const struct tk_diff_row *firsts[64], *rows = v->report->rows;
	size_t known = 0;

	for (size_t i = 0; i < v->report->count; i++) {
		size_t k = 0;

		while (k < known && strcmp(firsts[k]->backend, rows[i].backend) != 0)
			k++;
		if (k == known && known < sizeof firsts / sizeof *firsts)
			firsts[known++] = &rows[i];
		if (k < known && strcmp(firsts[k]->upstream, rows[i].upstream) != 0 &&
		        !is_shared_backend(v, rows[i].backend) &&
		        v->shared_backend_count < TK_DIFF_SHARED_BACKENDS_MAX)
			v->shared_backends[v->shared_backend_count++] = rows[i].backend;
	}
}

const char *tk_diff_describe_backend(
        const struct tk_diff_view *v, const struct tk_diff_row *row, char *out, size_t size)
{
	bool shared = is_shared_backend(v, row->backend);

	snprintf(out, size, "%s%s%s%s%s%s", row->backend, shared ? " (" : "",
	        shared ? row->upstream : "", shared ? ")" : "", *row->mode ? ", " : "", row->mode);
	return out;
}

int tk_diff_view_init(struct tk_diff_view *v, bool everything, struct tk_error *err)
{
	if (!v->explicit_statuses)
		for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
			v->chosen[i] = everything || is_news((enum tk_verdict_status)i);
	v->shared_backend_count = 0;
	find_shared_backends(v);
	v->count = 0;
	v->rows = tk_calloc(v->report->count + 1, sizeof *v->rows);
	for (size_t i = 0; i < v->report->count; i++)
		if (v->chosen[v->report->rows[i].verdict.status])
			v->rows[v->count++] = &v->report->rows[i];
	if (v->count)
		qsort_r(v->rows, v->count, sizeof *v->rows, compare, v);
	return TK_OK;
}

void tk_diff_view_free(struct tk_diff_view *v)
{
	free(v->rows);
	v->rows = NULL;
}

size_t tk_diff_shown_count(const struct tk_diff_view *v)
{
	return v->limit && v->limit < v->count ? v->limit : v->count;
}

bool tk_diff_has_fail_on(const struct tk_diff_view *v)
{
	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
		if (v->fail_on[i] && v->report->by_status[i])
			return true;
	return false;
}
