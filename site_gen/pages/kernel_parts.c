/* Below the table of a kernel page: how the backends compare within each family of problems, and
 * for GEMM by the aspect of the matrices; and the dispatch table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/present.h"
#include "site_gen/charts/charts.h"
#include "site_gen/model/model.h"
#include "site_gen/model/sweeps.h"
#include "site_gen/pages/dispatch_files.h"
#include "site_gen/pages/kernels.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"

/* ---- groups ---- */

#define GROUPS_MAX 24
#define SKINNY_MAX 128 /* rows or columns of the result; fewer fill no tile of a large GPU */
#define DEEP_RATIO 2   /* of k to the larger of m and n */

struct group {
	const char *kind, *name;
	size_t problems, contested;
	size_t shared[TK_KERNEL_COLUMNS_MAX], wins[TK_KERNEL_COLUMNS_MAX];
	double log_ratio[TK_KERNEL_COLUMNS_MAX];
};

struct groups {
	struct group at[GROUPS_MAX];
	size_t count;
};

/* ---- which group ---- */

/* The aspect of a GEMM; "" for other kernels. */
static const char *find_aspect(const struct tk_problem_row *p)
{
	double m = tk_problem_text_number(p->text, "m"), n = tk_problem_text_number(p->text, "n"),
	       k = tk_problem_text_number(p->text, "k");
	if (strcmp(p->op, "gemm") || !(m > 0 && n > 0 && k > 0))
		return "";
	if (m == n && n == k)
		return "square";
	if (fmin(m, n) <= SKINNY_MAX)
		return "skinny";
	return k >= DEEP_RATIO * fmax(m, n) ? "deep k" : "other";
}

static struct group *find_group(struct groups *groups, const char *kind, const char *name)
{
	for (size_t i = 0; i < groups->count; i++)
		if (!strcmp(groups->at[i].kind, kind) && !strcmp(groups->at[i].name, name))
			return &groups->at[i];
	if (!*name || groups->count == GROUPS_MAX)
		return NULL;
	groups->at[groups->count] = (struct group){.kind = kind, .name = name};
	return &groups->at[groups->count++];
}

static int compare_groups(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	int d = -strcmp(x->kind, y->kind); /* families before aspects */
	return d ? d : strcmp(x->name, y->name);
}

/* ---- numbers ---- */

/* The newest time of a problem in each column; NAN: none. Returns how many are known. */
static size_t read_values(const struct tk_model *m, const struct tk_kernel_columns *columns,
        const struct tk_kernel_problem *problem, double values[TK_KERNEL_COLUMNS_MAX], double *best)
{
	size_t known = 0;
	*best = INFINITY;
	for (size_t c = 0; c < columns->count; c++)
		values[c] = NAN;
	for (size_t i = problem->first; i < problem->end; i++) {
		const struct tk_site_series *s = &m->series[i];
		double value = tk_kernel_is_contender(columns, s) ? tk_series_newest_value(s) : NAN;
		for (size_t c = 0; isfinite(value) && c < columns->count; c++)
			if (!strcmp(columns->labels[c], s->variant)) {
				values[c] = value;
				*best = fmin(*best, value);
				known++;
			}
	}
	return known;
}

/* tie: times that differ by less share the first place. */
static void add_problem(struct group *g, const double values[TK_KERNEL_COLUMNS_MAX], size_t count,
        size_t known, double best, double tie)
{
	g->problems++;
	g->contested += known > 1;
	for (size_t c = 0; known > 1 && c < count; c++) {
		if (!isfinite(values[c]))
			continue;
		g->log_ratio[c] += log(values[c] / best);
		g->wins[c] += values[c] <= best * (1 + tie);
		g->shared[c]++;
	}
}

/* ---- the table ---- */

static double mean_ratio(const struct group *g, size_t c)
{
	return g->shared[c] ? exp(g->log_ratio[c] / (double)g->shared[c]) : NAN;
}

/* Of the backends that have every contested problem of a group, the one that is faster than all
 * others by more than a tie; their number: none. */
static size_t find_fastest(const struct group *g, size_t count, double tie)
{
	size_t best = count;
	bool clear = true;
	for (size_t c = 0; c < count; c++)
		if (g->shared[c] == g->contested && g->contested &&
		        (best == count || g->log_ratio[c] < g->log_ratio[best]))
			best = c;
	for (size_t c = 0; best < count && c < count; c++)
		clear = clear && (c == best || !g->shared[c] ||
		                         mean_ratio(g, c) > mean_ratio(g, best) * (1 + tie));
	return clear ? best : count;
}

static void add_row(
        struct tk_site *site, struct tk_value *rows, const struct group *g, size_t count)
{
	struct tk_value *row = tk_value_append(rows),
	                *cells = tk_value_add_list(row, "group_cells");
	size_t fastest = find_fastest(g, count, site->options->tie);
	tk_value_set(row, "group_kind", g->kind);
	tk_value_set_clip(row, "group_name", g->name, 60);
	tk_value_set_int(row, "group_problems", g->problems);
	for (size_t c = 0; c < count; c++) {
		struct tk_value *cell = tk_value_append(cells);
		tk_value_set_flag(cell, "group_known", g->shared[c] > 0);
		tk_value_set_flag(cell, "group_best", c == fastest);
		tk_value_set_fmt(cell, "group_ratio", "%.2f×", mean_ratio(g, c));
		tk_value_set_int(cell, "group_wins", g->wins[c]);
		tk_value_set_int(cell, "group_shared", g->shared[c]);
	}
}

void tk_kernel_set_groups(struct tk_site *site, struct tk_value *o,
        const struct tk_kernel_columns *columns, const struct tk_kernel_problem *problems,
        size_t count)
{
	struct groups groups = {.count = 0};
	struct tk_value *rows = tk_value_add_list(o, "group_rows");
	double values[TK_KERNEL_COLUMNS_MAX], best;
	for (size_t i = 0; columns->count > 1 && i < count; i++) {
		const struct tk_problem_row *p = site->model.series[problems[i].first].problem;
		size_t known = read_values(&site->model, columns, &problems[i], values, &best);
		struct group *of[] = {find_group(&groups, "family", p->family),
		        find_group(&groups, "aspect", find_aspect(p))};
		for (size_t k = 0; k < sizeof of / sizeof *of; k++)
			if (of[k])
				add_problem(of[k], values, columns->count, known, best,
				        site->options->tie);
	}
	if (groups.count < 2)
		return;
	qsort(groups.at, groups.count, sizeof *groups.at, compare_groups);
	for (size_t i = 0; i < groups.count; i++)
		if (groups.at[i].contested)
			add_row(site, rows, &groups.at[i], columns->count);
}

/* ---- dispatch ---- */

#define TIED_SHOWN 3

static void set_tied(struct tk_value *o, const struct tk_dispatch_row *row)
{
	struct tk_buf tied = TK_BUF_INIT;
	size_t count = 0;
	for (size_t i = 0; i < row->standing.first_count; i++) {
		const struct tk_site_series *s = row->standing.at[i];
		if (s == row->chosen || ++count > TIED_SHOWN)
			continue;
		tk_buf_add_printf(&tied, "%s%.*s", count > 1 ? ", " : "",
		        (int)tk_utf8_clip_len(s->variant, 40), s->variant);
	}
	if (count > TIED_SHOWN)
		tk_buf_add_printf(&tied, " and %zu more", count - TIED_SHOWN);
	tk_value_set(o, "tied", tk_buf_cstr(&tied));
	tk_buf_free(&tied);
}

/* "5 % slower", "58× slower"; "" for NAN */
static void set_slower(struct tk_value *o, const char *key, double change)
{
	tk_value_set_fmt(o, key,
	        isnan(change)  ? ""
	        : change < 0.1 ? "%.1f %% slower"
	        : change < 1   ? "%.0f %% slower"
	                       : "%.2g× slower",
	        change < 1 ? 100 * change : change + 1);
}

static void add_choice(struct tk_site *site, struct tk_value *rows,
        const struct tk_dispatch_row *row, const struct tk_ceiling_set *ceilings)
{
	struct tk_value *o = tk_value_append(rows);
	const struct tk_site_series *s = row->chosen, *next = tk_dispatch_next(row);
	const char *unit;
	double value = tk_series_last_point(s)->value, rate = tk_series_rate(s, value, &unit),
	       lead = tk_dispatch_lead(row),
	       share = tk_ceiling_set_efficiency_by_source(
	               ceilings, TK_CEILING_DATASHEET, s, value);
	tk_value_set_clip(o, "problem", s->problem->title, 110);
	tk_value_set_clip(o, "backend", s->variant, 60);
	tk_value_set_fmt(o, "href", "../series/%s.html", s->file);
	tk_mark_draw_key(&site->markup, s->style);
	tk_page_set_markup(site, o, "mark_markup");
	tk_value_set_quantity(o, "value", value, s->row->unit, "–");
	tk_value_set_quantity(o, "rate", rate, unit, "–");
	tk_value_set_percent(o, "share", share, "–");
	set_tied(o, row);
	tk_value_set_clip(o, "next", next ? next->variant : "", 40);
	set_slower(o, "lead", next ? lead - 1 : NAN);
	tk_value_set_flag(o, "alone", row->standing.count == 1);
}

static void set_summary(struct tk_value *o, const struct tk_dispatch *d)
{
	tk_value_set_int(o, "dispatch_problems", d->count);
	tk_value_set_flag(o, "dispatch_several", d->used > 1);
	tk_value_set_clip(o, "single", d->single->variant, 60);
	tk_value_set_int(o, "single_count", d->single_count);
	tk_value_set_fmt(o, "single_cost", "%.1f %%", 100 * (d->single_ratio - 1));
	tk_value_set_flag(o, "dispatch_only", d->count == 1);
}

int tk_kernel_set_dispatch(struct tk_site *site, struct tk_value *o,
        const struct tk_site_device *device, const struct tk_kernel_page *kernel, bool has_rows,
        struct tk_error *err)
{
	struct tk_dispatch d;
	int status = 0;
	tk_dispatch_load(&site->model, device, kernel->op, site->options->tie, &d);
	tk_value_set_flag(o, "dispatch", d.contested > 0);
	if (d.contested) {
		struct tk_ceiling_set ceilings;
		char path[TK_DISPATCH_PATH_SIZE];
		struct tk_value *rows = tk_value_add_list(o, "dispatch_rows");
		tk_ceiling_set_load(&site->model, device, &ceilings);
		tk_dispatch_path(&d, kernel->file, path);
		tk_value_set_fmt(o, "dispatch_href", "../%s", path);
		set_summary(o, &d);
		for (size_t i = 0; has_rows && i < d.count; i++)
			add_choice(site, rows, &d.at[i], &ceilings);
		if (!kernel->whole)
			status = tk_dispatch_write_files(site, &d, kernel->file, err);
	}
	tk_dispatch_free(&d);
	return status;
}
