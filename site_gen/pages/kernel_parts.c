/* Below the table of a kernel page: how the backends compare within each family of problems, and
 * for GEMM by the aspect of the matrices. */
#include <math.h>

#include "base/base.h"
#include "site_gen/charts/charts.h"
#include "site_gen/model/model.h"
#include "site_gen/model/sweeps.h"
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

/* tie: times that differ by less share the first place. */
static void add_problem(
        struct group *g, const struct tk_kernel_problem *p, size_t count, double tie)
{
	g->problems++;
	g->contested += p->known > 1;
	for (size_t c = 0; p->known > 1 && c < count; c++) {
		double ratio = tk_series_newest_value(p->of[c]) / p->best_ns;
		if (!isfinite(ratio))
			continue;
		g->log_ratio[c] += log(ratio);
		g->wins[c] += ratio <= 1 + tie;
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
	for (size_t i = 0; columns->count > 1 && i < count; i++) {
		const struct tk_problem_row *p = problems[i].row;
		struct group *of[] = {find_group(&groups, "family", p->family),
		        find_group(&groups, "aspect", find_aspect(p))};
		for (size_t k = 0; k < sizeof of / sizeof *of; k++)
			if (of[k])
				add_problem(
				        of[k], &problems[i], columns->count, site->options->tie);
	}
	if (groups.count < 2)
		return;
	qsort(groups.at, groups.count, sizeof *groups.at, compare_groups);
	for (size_t i = 0; i < groups.count; i++)
		if (groups.at[i].contested)
			add_row(site, rows, &groups.at[i], columns->count);
}
