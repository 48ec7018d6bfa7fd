/* The tables of a package's versions: the steps, and every problem with every version. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/present.h"
#include "base/memory.h"
#include "base/try.h"
#include "site_gen/model/ab_plot.h"
#include "site_gen/pages/versions.h"

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
	struct tk_ab_plot pairs;
	char text[TK_FORMAT_SIZE];
	tk_value_set(o, "ab_pairs", "");
	if (was != is)
		return 0;
	int status = tk_ab_plot_load(&site->model, is->series, v->at[step->before]->rev,
	        v->at[step->version]->rev, &pairs, err);
	if (status || !pairs.count) {
		if (!status)
			tk_ab_plot_free(&pairs);
		return status;
	}
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
	tk_ab_plot_free(&pairs);
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
	int status = tk_version_code_find(site, was, step->before, &before, err);
	if (!status)
		status = tk_version_code_find(site, is, step->version, &after, err);
	if (!status)
		tk_value_set_arrows(o, "code", tk_version_code_format_change(&before, &after, text),
		        TK_CODE_CHANGE_SIZE);
	return status ? status : set_ab_result(site, o, v, step, any_ab, err);
}

int tk_version_set_steps(struct tk_site *site, struct tk_value *o,
        const struct tk_version_section *section, struct tk_error *err)
{
	const struct tk_versions *v = section->versions;
	struct tk_value *list = tk_value_add_list(o, "steps");
	struct step *steps = tk_calloc(section->count * v->count + 1, sizeof *steps);
	size_t count = 0;
	bool any_ab = false;
	int status = steps ? 0 : tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; !status && i < section->count; i++)
		for (size_t k = 1; k < v->count; k++) {
			const struct tk_version_problem *p = section->problems[i];
			size_t before = tk_version_before(p, k);
			if (tk_version_is_step(p, before, k, site->options->tie))
				steps[count++] = (struct step){p, before, k,
				        log(tk_version_time_ns(p, k) /
				                tk_version_time_ns(p, before))};
		}
	if (!status)
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
	const double *compile_ns = tk_version_compile_ns(v, p);
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
	int status = 0;
	tk_value_set_clip(o, "title", p->series->series->problem->title, 110);
	tk_value_set_clip(o, "vendor", p->vendor ? p->vendor->variant : "", 60);
	tk_value_set_fmt(o, "vendor_href", "../series/%s.html", p->vendor ? p->vendor->file : "");
	tk_value_set_quantity(o, "vendor_time", p->vendor ? p->vendor_ns : NAN, "ns", "");
	struct tk_value *rows = tk_value_add_list(o, "rows");
	for (size_t k = 0; !status && k < v->count; k++)
		if (p->best[k])
			status = add_version(site, rows, v, p, k, &before, err);
	return status;
}

int tk_version_set_problems(struct tk_site *site, struct tk_value *o,
        const struct tk_version_section *section, struct tk_error *err)
{
	struct tk_value *list = tk_value_add_list(o, "problems");
	int status = 0;
	for (size_t i = 0; !status && i < section->count && i < PROBLEMS_MAX; i++)
		status = add_problem(site, list, section->versions, section->problems[i], err);
	tk_value_set_flag(o, "problems_cut", section->count > PROBLEMS_MAX);
	return status;
}
