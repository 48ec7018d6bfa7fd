/* versions/: how each version of a package performs, on an axis of versions instead of dates. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/present.h"
#include "base/try.h"
#include "site_gen/charts/charts.h"
#include "site_gen/model/model.h"
#include "site_gen/model/records.h"
#include "site_gen/pages/version_code.h"
#include "site_gen/render/escape.h"

/* The problems of one kernel on one device. */
struct section {
	const struct tk_versions *versions;
	const struct tk_version_problem *const *problems;
	size_t count;
};

/* ---- charts ---- */

#define LINES_MAX TK_STYLES

static const double *find_compile_ns(
        const struct tk_versions *v, const struct tk_version_problem *p)
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
static size_t choose_lines(const struct section *section,
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
	const double *compile_ns = find_compile_ns(v, p);
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

static void set_charts(struct tk_site *site, struct tk_value *o, const struct section *section)
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

/* ---- tables ---- */

#define STEPS_MAX 60
#define PROBLEMS_MAX 32 /* of a section */

static void set_time(struct tk_value *o, const char *key, double time_ns)
{
	tk_value_set_quantity(o, key, time_ns, "ns", "");
}

/* ---- steps ---- */

struct step {
	const struct tk_version_problem *problem;
	size_t before, version;
	double log_ratio;
};

static int step_order(const void *a, const void *b)
{
	const struct step *x = a, *y = b;
	if (x->version != y->version)
		return x->version < y->version ? 1 : -1;
	double dx = fabs(x->log_ratio), dy = fabs(y->log_ratio);
	if (dx != dy)
		return dx < dy ? 1 : -1;
	return (x->problem > y->problem) - (x->problem < y->problem);
}

/* The detector found a change point of the series at this version. */
static bool is_change_point(const struct tk_site_series *s, const struct tk_revision_row *r)
{
	for (size_t i = 0; i < s->change_count; i++)
		if (s->changes[i].is_of_commit && s->changes[i].bad == r)
			return true;
	return false;
}

/* ab_change, ab_interval, ab_pairs, ab_tone: the A/B runs of both versions by the configuration of
 * the step; empty where there are none, or where the fastest configuration changed with it. */
static int set_ab_result(struct tk_site *site, struct tk_value *o, const struct tk_versions *v,
        const struct step *step, bool *any, struct tk_error *err)
{
	const struct tk_version_series *was = step->problem->best[step->before],
	                               *is = step->problem->best[step->version];
	AUTO(tk_ab_plot) pairs = {0};
	char text[TK_FORMAT_SIZE];
	tk_value_set(o, "ab_pairs", "");
	if (was != is)
		return 0;
	TRY(tk_ab_plot_load(&site->model, is->series, v->at[step->before]->rev,
	        v->at[step->version]->rev, &pairs, err));
	if (!pairs.count)
		return 0;
	const struct tk_ab_result_compare_level *m = &pairs.median;
	*any = true;
	tk_value_set_fmt(o, "ab_pairs", "%zu", pairs.count);
	tk_value_set_change(o, "ab_change", m->change, "–");
	tk_value_set(o, "ab_interval", tk_format_change_range(m->change, m->lo, m->hi, text));
	tk_value_set_flag(o, "ab_open", !(m->lo > 0 || m->hi < 0));
	tk_tone_set(o, "ab_tone",
	        m->lo > 0   ? TK_TONE_BAD
	        : m->hi < 0 ? TK_TONE_GOOD
	                    : TK_TONE_QUIET);
	return 0;
}

static int add_step(struct tk_site *site, struct tk_value *list, const struct tk_versions *v,
        const struct step *step, bool *any_ab, struct tk_error *err)
{
	const struct tk_version_series *was = step->problem->best[step->before],
	                               *is = step->problem->best[step->version];
	const struct tk_site_series *s = is->series;
	struct tk_version_code before, after;
	char text[TK_CODE_CHANGE_SIZE], config[200];
	struct tk_value *o = tk_value_append(list);
	tk_value_set_clip(o, "version_name", v->at[step->version]->rev, 40);
	tk_value_set_clip(o, "older", v->at[step->before]->rev, 40);
	tk_value_set_fmt(o, "href", "../series/%s.html", s->file);
	tk_value_set_clip(o, "title", s->problem->title, 110);
	snprintf(config, sizeof config, was == is ? "%.90s" : "%.90s, before %.90s", s->variant,
	        was->series->variant);
	tk_value_set(o, "label", config);
	tk_page_set_change(o, s, expm1(step->log_ratio));
	tk_tone_set(o, "tone", step->log_ratio > 0 ? TK_TONE_BAD : TK_TONE_GOOD);
	set_time(o, "before", was->at[step->before].value);
	set_time(o, "after", is->at[step->version].value);
	tk_value_set_flag(o, "environment",
	        was->at[step->before].environment_id != is->at[step->version].environment_id);
	tk_value_set_flag(o, "change_point", is_change_point(s, v->at[step->version]));
	TRY(tk_version_code_find(site, was, step->before, &before, err));
	TRY(tk_version_code_find(site, is, step->version, &after, err));
	tk_value_set_arrows(o, "code", tk_version_code_format_change(&before, &after, text),
	        TK_CODE_CHANGE_SIZE);
	return set_ab_result(site, o, v, step, any_ab, err);
}

static int set_steps(struct tk_site *site, struct tk_value *o, const struct section *section,
        struct tk_error *err)
{
	const struct tk_versions *v = section->versions;
	struct tk_value *list = tk_value_add_list(o, "steps");
	struct step *steps = tk_calloc(section->count * v->count + 1, sizeof *steps);
	size_t count = 0;
	bool any_ab = false;
	int status = 0;
	for (size_t i = 0; i < section->count; i++)
		for (size_t k = 1; k < v->count; k++) {
			const struct tk_version_problem *p = section->problems[i];
			size_t before = tk_version_before(p, k);
			if (tk_version_is_step(p, before, k, site->options->tie))
				steps[count++] = (struct step){p, before, k,
				        log(tk_version_time_ns(p, k) /
				                tk_version_time_ns(p, before))};
		}
	qsort(steps, count, sizeof *steps, step_order);
	for (size_t i = 0; !status && i < count && i < STEPS_MAX; i++)
		status = add_step(site, list, v, &steps[i], &any_ab, err);
	tk_value_set_flag(o, "has_ab", any_ab);
	tk_value_set_fmt(o, "steps_more", count > STEPS_MAX ? "%zu" : "", count - STEPS_MAX);
	free(steps);
	return status;
}

/* ---- every problem ---- */

static void set_count(struct tk_value *o, const char *key, int64_t value)
{
	char text[TK_FORMAT_SIZE];
	tk_value_set(o, key, value < 0 ? "–" : tk_format_count(value, text));
}

static void set_code(struct tk_value *o, const struct tk_version_code *before,
        const struct tk_version_code *code)
{
	set_count(o, "registers", code->registers);
	set_count(o, "spills", code->spill_bytes);
	set_count(o, "shared", code->shared_bytes);
	set_count(o, "instructions", code->instructions);
	tk_value_set(o, "code",
	        !before->count || !code->count          ? ""
	        : tk_version_code_differs(before, code) ? "changed"
	                                                : "same");
}

static void set_change(struct tk_site *site, struct tk_value *o, const struct tk_version_problem *p,
        size_t before, size_t version)
{
	double ratio = before == SIZE_MAX
	                       ? NAN
	                       : tk_version_time_ns(p, version) / tk_version_time_ns(p, before);
	bool step = tk_version_is_step(p, before, version, site->options->tie);
	tk_value_set_change(o, "change", isfinite(ratio) ? ratio - 1 : NAN, "–");
	tk_tone_set(o, "tone", !step ? TK_TONE_QUIET : ratio > 1 ? TK_TONE_BAD : TK_TONE_GOOD);
}

static int add_version(struct tk_site *site, struct tk_value *list, const struct tk_versions *v,
        const struct tk_version_problem *p, size_t version, struct tk_version_code *before,
        struct tk_error *err)
{
	const struct tk_version_series *s = p->best[version];
	const double *compile_ns = find_compile_ns(v, p);
	const struct tk_point *at = &s->at[version];
	struct tk_value *o = tk_value_append(list);
	struct tk_version_code code;
	const char *unit;
	char text[TK_FORMAT_SIZE];
	double rate = tk_series_rate(s->series, at->value, &unit);
	tk_value_set_clip(o, "version_name", v->at[version]->rev, 40);
	set_time(o, "time", at->value);
	bool has_interval = isfinite(at->lo) && isfinite(at->hi);
	tk_value_set(o, "half",
	        has_interval ? tk_format_half_width(at->value, at->lo, at->hi, text) : "");
	tk_value_set_quantity(o, "rate", rate, unit, "");
	set_change(site, o, p, tk_version_before(p, version), version);
	tk_value_set_percent(
	        o, "of_vendor", isfinite(p->vendor_ns) ? p->vendor_ns / at->value : NAN, "");
	set_time(o, "compile", compile_ns ? compile_ns[version] : NAN);
	tk_value_set_clip(o, "label", s->series->variant, 60);
	TRY(tk_version_code_find(site, s, version, &code, err));
	set_code(o, before, &code);
	*before = code;
	return 0;
}

static int add_problem(struct tk_site *site, struct tk_value *list, const struct tk_versions *v,
        const struct tk_version_problem *p, struct tk_error *err)
{
	struct tk_value *o = tk_value_append(list);
	struct tk_version_code before = {.count = 0};
	tk_value_set_clip(o, "title", p->series->series->problem->title, 110);
	tk_value_set_clip(o, "vendor", p->vendor ? p->vendor->variant : "", 60);
	tk_value_set_fmt(o, "vendor_href", "../series/%s.html", p->vendor ? p->vendor->file : "");
	tk_value_set_quantity(o, "vendor_time", p->vendor ? p->vendor_ns : NAN, "ns", "");
	struct tk_value *rows = tk_value_add_list(o, "rows");
	for (size_t k = 0; k < v->count; k++)
		if (p->best[k])
			TRY(add_version(site, rows, v, p, k, &before, err));
	return 0;
}

static int set_problems(struct tk_site *site, struct tk_value *o, const struct section *section,
        struct tk_error *err)
{
	struct tk_value *list = tk_value_add_list(o, "problems");
	for (size_t i = 0; i < section->count && i < PROBLEMS_MAX; i++)
		TRY(add_problem(site, list, section->versions, section->problems[i], err));
	tk_value_set_flag(o, "problems_cut", section->count > PROBLEMS_MAX);
	return 0;
}

/* ---- the page ---- */

/* ---- one row for each version ---- */

/* The geometric mean of ratios. */
struct mean {
	double sum;
	size_t count;
};

static void mean_add(struct mean *mean, double ratio)
{
	if (!isfinite(ratio) || !(ratio > 0))
		return;
	mean->sum += log(ratio);
	mean->count++;
}

static double mean_get(const struct mean *mean)
{
	return mean->count ? exp(mean->sum / (double)mean->count) : NAN;
}

struct summary {
	struct mean change, of_vendor, compile_ns;
	size_t measured, slower, faster, code_known, code_changed;
};

static int add_to_summary(struct tk_site *site, struct summary *sum, const struct tk_versions *v,
        const struct tk_version_problem *p, size_t version, struct tk_error *err)
{
	const double time_ns = tk_version_time_ns(p, version);
	const double *compile_ns = find_compile_ns(v, p);
	struct tk_version_code now, was;
	if (!p->best[version])
		return 0;
	sum->measured++;
	mean_add(&sum->of_vendor, p->vendor_ns / time_ns);
	mean_add(&sum->compile_ns, compile_ns[version]);
	size_t before = tk_version_before(p, version);
	if (before == SIZE_MAX)
		return 0;
	double ratio = time_ns / tk_version_time_ns(p, before);
	mean_add(&sum->change, ratio);
	if (tk_version_is_step(p, before, version, site->options->tie))
		*(ratio > 1 ? &sum->slower : &sum->faster) += 1;
	TRY(tk_version_code_find(site, p->best[before], before, &was, err));
	TRY(tk_version_code_find(site, p->best[version], version, &now, err));
	if (was.count && now.count) {
		sum->code_known++;
		sum->code_changed += tk_version_code_differs(&was, &now);
	}
	return 0;
}

static void set_summary(struct tk_site *site, struct tk_value *o, const struct summary *sum)
{
	double change = mean_get(&sum->change) - 1, of_vendor = mean_get(&sum->of_vendor),
	       compile_ns = mean_get(&sum->compile_ns);
	bool even = !isfinite(change) || fabs(change) < site->options->tie;
	tk_value_set_int(o, "measured", sum->measured);
	tk_value_set_change(o, "change", change, "–");
	tk_tone_set(o, "tone", even ? TK_TONE_QUIET : change > 0 ? TK_TONE_BAD : TK_TONE_GOOD);
	tk_value_set_int(o, "slower", sum->slower);
	tk_value_set_int(o, "faster", sum->faster);
	tk_value_set_percent(o, "of_vendor", of_vendor, "–");
	tk_value_set_quantity(o, "compile", compile_ns, "ns", "–");
	tk_value_set_fmt(o, "code", sum->code_known ? "%zu of %zu" : "–", sum->code_changed,
	        sum->code_known);
}

/* versions: the newest first; has_vendor, has_compile, has_code: some of them has that. */
static int set_versions(struct tk_site *site, struct tk_value *o, const struct section *section,
        struct tk_error *err)
{
	const struct tk_versions *v = section->versions;
	struct tk_value *list = tk_value_add_list(o, "versions");
	bool has_vendor = false, has_compile = false, has_code = false;
	for (size_t k = v->count; k-- > 0;) {
		struct summary sum = {.measured = 0};
		for (size_t i = 0; i < section->count; i++)
			TRY(add_to_summary(site, &sum, v, section->problems[i], k, err));
		if (!sum.measured)
			continue;
		struct tk_value *row = tk_value_append(list);
		tk_page_set_revision(site, row, v->at[k]);
		tk_value_set_clip(row, "version_name", v->at[k]->rev, 40);
		tk_value_set_time(row, "released", v->at[k]->commit_time_s);
		set_summary(site, row, &sum);
		has_vendor = has_vendor || sum.of_vendor.count;
		has_compile = has_compile || sum.compile_ns.count;
		has_code = has_code || sum.code_known;
	}
	tk_value_set_flag(o, "has_vendor", has_vendor);
	tk_value_set_flag(o, "has_compile", has_compile);
	tk_value_set_flag(o, "has_code", has_code);
	return 0;
}

/* ---- one kernel on one device ---- */

static int add_section(struct tk_site *site, struct tk_value *list, const struct section *section,
        struct tk_error *err)
{
	const struct tk_site_series *s = section->problems[0]->series->series;
	struct tk_value *o = tk_value_append(list);
	tk_value_set_fmt(o, "anchor", "%.80s-%.80s", s->op_file, s->device->file);
	tk_value_set_clip(o, "op", tk_op_title(s->problem->op), 60);
	tk_value_set_clip(o, "device", s->device->name, 60);
	tk_value_set_clip(o, "device_name", s->device->row->name, 60);
	set_charts(site, o, section);
	TRY(set_versions(site, o, section, err));
	TRY(set_steps(site, o, section, err));
	return set_problems(site, o, section, err);
}

static int add_device(struct tk_site *site, struct tk_value *list, const struct tk_versions *v,
        const struct tk_site_device *device, const struct tk_version_problem **problems,
        struct tk_error *err)
{
	struct section section = {v, problems, 0};
	for (size_t i = 0; i < v->problem_count; i++) {
		const struct tk_site_series *s = v->problems[i].series->series;
		if (s->device != device)
			continue;
		if (section.count && problems[0]->series->series->op_file != s->op_file) {
			TRY(add_section(site, list, &section, err));
			section.count = 0;
		}
		problems[section.count++] = &v->problems[i];
	}
	return section.count ? add_section(site, list, &section, err) : 0;
}

/* ---- the page ---- */

static int write_page(struct tk_site *site, const struct tk_versions *v, struct tk_error *err)
{
	char path[TK_PAGE_PATH_SIZE], up[TK_PAGE_PATH_SIZE], title[140];
	const struct tk_version_problem **problems =
	        tk_calloc(v->problem_count + 1, sizeof *problems);
	int status = 0;
	tk_page_upstream_path(v->upstream, "versions/", path);
	tk_page_upstream_path(v->upstream, "../upstreams/", up);
	snprintf(title, sizeof title, "%.*s: versions",
	        (int)tk_utf8_clip_len(v->upstream->name, 90), v->upstream->name);
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_UPSTREAMS);
	tk_value_set_clip(page, "upstream", v->upstream->name, 60);
	tk_value_set(page, "upstream_href", up);
	tk_value_set_int(page, "count", v->count);
	tk_value_set_flag(page, "cut", v->is_cut);
	tk_value_set_fmt(page, "description",
	        "How fast the kernels are with each of %zu versions of %.60s, and what changed in "
	        "their machine code.",
	        v->count, v->upstream->name);
	struct tk_value *list = tk_value_add_list(page, "sections");
	for (size_t d = 0; !status && d < site->model.device_count; d++)
		status = add_device(
		        site, list, v, tk_model_ordered_device(&site->model, d), problems, err);
	free(problems);
	return status ? status : tk_page_finish(site, "version", path, err);
}

int tk_page_write_versions(struct tk_site *site, struct tk_error *err)
{
	for (size_t i = 0; i < site->model.upstream_rows.count; i++) {
		const struct tk_upstream_row *u =
		        TK_ROWS_AT(&site->model.upstream_rows, struct tk_upstream_row, i);
		AUTO(tk_versions) versions = {0};
		if (!tk_upstream_has_versions(&site->model, u))
			continue;
		TRY(tk_versions_load(&site->model, u, &versions, err));
		TRY(write_page(site, &versions, err));
	}
	return 0;
}
