/* versions/: how each version of a package performs, on an axis of versions instead of dates. */
#include "site_gen/pages/versions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/present.h"
#include "base/memory.h"
#include "site_gen/model/standings.h"
#include "site_gen/render/escape.h"

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
	const double *compile_ns = tk_version_compile_ns(v, p);
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
	int status = tk_version_code_find(site, p->best[before], before, &was, err);
	if (!status)
		status = tk_version_code_find(site, p->best[version], version, &now, err);
	if (!status && was.count && now.count) {
		sum->code_known++;
		sum->code_changed += tk_version_code_differs(&was, &now);
	}
	return status;
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
static int set_versions(struct tk_site *site, struct tk_value *o,
        const struct tk_version_section *section, struct tk_error *err)
{
	const struct tk_versions *v = section->versions;
	struct tk_value *list = tk_value_add_list(o, "versions");
	bool has_vendor = false, has_compile = false, has_code = false;
	int status = 0;
	for (size_t k = v->count; !status && k-- > 0;) {
		struct summary sum = {.measured = 0};
		for (size_t i = 0; !status && i < section->count; i++)
			status = add_to_summary(site, &sum, v, section->problems[i], k, err);
		if (status || !sum.measured)
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
	return status;
}

/* ---- one kernel on one device ---- */

static int add_section(struct tk_site *site, struct tk_value *list,
        const struct tk_version_section *section, struct tk_error *err)
{
	const struct tk_site_series *s = section->problems[0]->series->series;
	struct tk_value *o = tk_value_append(list);
	tk_value_set_fmt(o, "anchor", "%.80s-%.80s", s->op_file, s->device->file);
	tk_value_set_clip(o, "op", tk_op_title(s->problem->op), 60);
	tk_value_set_clip(o, "device", s->device->name, 60);
	tk_value_set_clip(o, "device_name", s->device->row->name, 60);
	tk_version_set_charts(site, o, section);
	int status = set_versions(site, o, section, err);
	if (!status)
		status = tk_version_set_steps(site, o, section, err);
	return status ? status : tk_version_set_problems(site, o, section, err);
}

static int add_device(struct tk_site *site, struct tk_value *list, const struct tk_versions *v,
        const struct tk_site_device *device, const struct tk_version_problem **problems,
        struct tk_error *err)
{
	struct tk_version_section section = {v, problems, 0};
	int status = 0;
	for (size_t i = 0; !status && i < v->problem_count; i++) {
		const struct tk_site_series *s = v->problems[i].series->series;
		if (s->device != device)
			continue;
		if (section.count && problems[0]->series->series->op_file != s->op_file) {
			status = add_section(site, list, &section, err);
			section.count = 0;
		}
		problems[section.count++] = &v->problems[i];
	}
	return status || !section.count ? status : add_section(site, list, &section, err);
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
	int status = 0;
	for (size_t i = 0; !status && i < site->model.upstream_rows.count; i++) {
		const struct tk_upstream_row *u =
		        TK_ROWS_AT(&site->model.upstream_rows, struct tk_upstream_row, i);
		struct tk_versions versions;
		if (!tk_upstream_has_versions(&site->model, u))
			continue;
		status = tk_versions_load(&site->model, u, &versions, err);
		if (status)
			break;
		status = write_page(site, &versions, err);
		tk_versions_free(&versions);
	}
	return status;
}
