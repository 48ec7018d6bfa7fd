/* The charts of a package's versions: speed, speed against the vendor, and compile time. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "site_gen/charts/chart.h"
#include "site_gen/pages/versions.h"

#define LINES_MAX TK_STYLES

const double *tk_version_compile_ns(const struct tk_versions *v, const struct tk_version_problem *p)
{
	for (size_t k = v->count; k-- > 0;)
		if (p->best[k])
			return p->best[k]->compile_ns;
	return NULL;
}

/* ---- which problems are drawn ---- */

/* How much the time of a problem differs between versions; -1: too few of them. */
static double spread(const struct tk_versions *v, const struct tk_version_problem *p)
{
	double lo = INFINITY, hi = 0;
	size_t known = 0;
	for (size_t k = 0; k < v->count; k++) {
		lo = fmin(lo, tk_version_time_ns(p, k));
		hi = fmax(hi, tk_version_time_ns(p, k));
		known += p->best[k] != NULL;
	}
	return known > 1 ? log(hi / lo) : -1;
}

/* The problems that changed most, in their order. */
static size_t choose_lines(const struct tk_version_section *section,
        const struct tk_version_problem *out[LINES_MAX], double *spreads)
{
	size_t count = 0;
	for (size_t i = 0; i < section->count; i++)
		spreads[i] = spread(section->versions, section->problems[i]);
	for (size_t i = 0; i < section->count && count < LINES_MAX; i++) {
		size_t above = 0;
		for (size_t k = 0; k < section->count; k++)
			above += spreads[k] > spreads[i] || (spreads[k] == spreads[i] && k < i);
		if (spreads[i] >= 0 && above < LINES_MAX)
			out[count++] = section->problems[i];
	}
	return count;
}

/* ---- what is drawn of each ---- */

static double relative_speed(
        const struct tk_versions *v, const struct tk_version_problem *p, size_t version)
{
	size_t first = 0;
	while (first + 1 < v->count && !p->best[first])
		first++;
	return 100 * tk_version_time_ns(p, first) / tk_version_time_ns(p, version);
}

static double share_of_vendor(
        const struct tk_versions *v, const struct tk_version_problem *p, size_t version)
{
	(void)v;
	return 100 * p->vendor_ns / tk_version_time_ns(p, version);
}

static double compile_time(
        const struct tk_versions *v, const struct tk_version_problem *p, size_t version)
{
	const double *compile_ns = tk_version_compile_ns(v, p);
	return compile_ns ? compile_ns[version] : NAN;
}

static const struct chart {
	const char *caption, *y_title, *unit;
	double reference;
	double (*value)(
	        const struct tk_versions *v, const struct tk_version_problem *p, size_t version);
} charts[] = {
        {"Speed", "first version = 100", NULL, NAN, relative_speed},
        {"Speed against the vendor's library", "% of its speed", NULL, 100, share_of_vendor},
        {"Compile time", "compile time", "ns", NAN, compile_time},
};

static void add_chart(struct tk_site *site, struct tk_value *list, const struct chart *chart,
        const struct tk_versions *v, const struct tk_version_problem *const *problems, size_t count,
        const char *const *names, struct tk_chart_point *points)
{
	struct tk_chart_line lines[LINES_MAX];
	size_t used = 0;
	for (size_t i = 0; i < count; i++) {
		struct tk_chart_point *at = points + used * v->count;
		bool any = false;
		for (size_t k = 0; k < v->count; k++) {
			at[k] = (struct tk_chart_point){(double)k, chart->value(v, problems[i], k)};
			any = any || isfinite(at[k].y);
		}
		if (any)
			lines[used++] = (struct tk_chart_line){i, at, v->count};
	}
	tk_chart_draw(&site->markup, &(struct tk_chart){.kind = TK_CHART_VERSIONS,
	                                     .lines = lines,
	                                     .count = used,
	                                     .y_title = chart->y_title,
	                                     .unit = chart->unit,
	                                     .reference = chart->reference,
	                                     .versions = names,
	                                     .version_count = v->count});
	if (!site->markup.len)
		return;
	struct tk_value *o = tk_value_append(list);
	tk_value_set(o, "caption", chart->caption);
	tk_page_set_markup(site, o, "drawing_markup");
}

void tk_version_set_charts(
        struct tk_site *site, struct tk_value *o, const struct tk_version_section *section)
{
	const struct tk_versions *v = section->versions;
	const struct tk_version_problem *drawn[LINES_MAX];
	struct tk_value *list = tk_value_add_list(o, "charts"),
	                *keys = tk_value_add_list(o, "keys");
	const char **names = tk_calloc(v->count + 1, sizeof *names);
	double *spreads = tk_calloc(section->count + 1, sizeof *spreads);
	struct tk_chart_point *points = tk_calloc(LINES_MAX * v->count + 1, sizeof *points);
	size_t count = choose_lines(section, drawn, spreads);
	for (size_t k = 0; k < v->count; k++)
		names[k] = v->at[k]->rev;
	for (size_t i = 0; count && i < sizeof charts / sizeof *charts; i++)
		add_chart(site, list, &charts[i], v, drawn, count, names, points);
	for (size_t i = 0; i < count; i++) {
		const struct tk_site_series *s = drawn[i]->series->series;
		struct tk_value *key = tk_value_append(keys);
		tk_page_set_key(site, key, i, s->problem->title);
	}
	tk_value_set_flag(o, "charts_cut", count == LINES_MAX && count < section->count);
	free(names);
	free(spreads);
	free(points);
}
