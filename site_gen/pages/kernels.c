/* kernels/OP.html and kernels/OP@DEVICE.html: the rows of their tables. Their cells are queries. */
#include "site_gen/pages/kernels.h"

#include <math.h>

#define ROWS_MAX 96 /* of a table on the page of an operation */

/* Of a problem, then the next one: the series of each column. */
static int add_series(void *user, const struct tk_query_row *row, struct tk_error *err)
{
	struct tk_kernel_table *t = user;
	size_t c = (size_t)row->values[1].i;
	const struct tk_site_series *s = tk_model_find_series(t->model, row->values[2].i);
	double time = tk_series_newest_value(s);
	const char *unit;
	(void)err;
	if (!t->count || t->problems[t->count - 1].key != row->values[0].i) {
		t->problems = tk_reallocarray(t->problems, t->count + 1, sizeof *t->problems);
		struct tk_kernel_problem *p = &t->problems[t->count];
		*p = (struct tk_kernel_problem){.key = row->values[0].i,
		        .row = s->problem,
		        .place = t->count++,
		        .shown = true};
		for (size_t i = 0; i < TK_KERNEL_COLUMNS_MAX; i++)
			p->rates[i] = NAN;
		tk_axes_from_problem(s->problem, &p->at);
	}
	struct tk_kernel_problem *p = &t->problems[t->count - 1];
	p->rates[c] = tk_series_rate(s, time, &unit);
	p->known += isfinite(time);
	t->device = s->device;
	t->is_default = tk_series_is_ranked(s);
	t->columns[c] = s;
	t->column_count = c < t->column_count ? t->column_count : c + 1;
	return 0;
}

static int compare_by_place(const void *a, const void *b)
{
	const struct tk_kernel_problem *x = a, *y = b;
	return (x->place > y->place) - (x->place < y->place);
}

static int compare_by_sweep(const void *a, const void *b)
{
	const struct tk_kernel_problem *x = a, *y = b;
	int d = strcmp(x->at.sweep, y->at.sweep);
	return d ? d : compare_by_place(a, b);
}

static int compare_by_sweep_size(const void *a, const void *b)
{
	const struct tk_kernel_problem *x = a, *y = b;
	int d = (x->sweep_size < y->sweep_size) - (x->sweep_size > y->sweep_size);
	return d ? d : compare_by_sweep(a, b);
}

/* Keeps the problems of the longest sweeps, because charts need whole sweeps. */
static void choose_rows(struct tk_kernel_problem *all, size_t count)
{
	tk_sort(all, count, sizeof *all, compare_by_sweep);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && !strcmp(all[i].at.sweep, all[end].at.sweep);)
			end++;
		for (size_t k = i; k < end; k++)
			all[k].sweep_size = end - i;
	}
	tk_sort(all, count, sizeof *all, compare_by_sweep_size);
	for (size_t i = 0; i < count; i++)
		all[i].shown = i < ROWS_MAX;
	tk_sort(all, count, sizeof *all, compare_by_place);
}

static void add_rows(struct tk_value *o, const struct tk_kernel_table *t)
{
	struct tk_value *rows = tk_value_add_list(o, "rows");
	for (size_t i = 0; i < t->count; i++) {
		const struct tk_kernel_problem *p = &t->problems[i];
		if (!p->shown)
			continue;
		struct tk_value *row = tk_value_append(rows);
		row->id = p->key;
		tk_value_set_clip(row, "problem", p->row->title, 110);
		tk_value_set_clip(row, "family", p->row->family, 60);
		tk_value_set_fmt(row, "x", *p->sweeps ? "%.9g" : "", p->at.x);
		tk_value_set_fmt(row, "batch", p->over_batch ? "%.9g" : "", p->at.column_order);
		tk_value_set(row, "sweeps", p->sweeps);
	}
}

static int fill_table(struct tk_site *site, struct tk_value *o, struct tk_kernel_table *t,
        bool is_whole, struct tk_error *err)
{
	const struct tk_axes_names *names = tk_axes_names(t->op);
	bool is_cut = !is_whole && t->count > ROWS_MAX;
	if (is_cut)
		choose_rows(t->problems, t->count);
	tk_value_set_flag(o, "swept", names && !is_whole);
	tk_value_set(o, "x_name", names ? names->x : "");
	if (names && !is_whole)
		tk_kernel_set_sweeps(site, o, t);
	if (names && !is_whole && t->is_default)
		tk_kernel_set_maps(o, t);
	add_rows(o, t);
	tk_value_set_flag(o, "dispatch", false);
	return t->is_default ? tk_kernel_set_dispatch(site, o, t, !is_whole, !is_cut, err) : 0;
}

int tk_page_add_kernel(
        struct tk_site *site, struct tk_value *page, int64_t op_id, struct tk_error *err)
{
	const char *op = site->model.series[op_id].problem->op;
	int64_t device_id = page->id;
	struct tk_value *o = tk_value_find_list(page, "devices")->first;
	for (; o; o = o->next) {
		struct tk_kernel_table t = {.model = &site->model, .op = op};
		int status = tk_store_query(site->model.store,
		        "SELECT x.problem_key, x.c, x.id FROM page_kernel_problem p"
		        " JOIN page_kernel_cell x USING (problem_key) WHERE p.table_id = ?1"
		        " ORDER BY p.rowid, x.c",
		        TK_ARGS(o->id), add_series, &t, err);
		if (!status)
			status = fill_table(site, o, &t, device_id != 0, err);
		free(t.problems);
		TRY(status);
	}
	return tk_page_add_sql(site, page, "kernel_cells",
	        TK_ARGS(op_id, !device_id && tk_axes_names(op), device_id), err);
}
