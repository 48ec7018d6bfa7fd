/* Reads the points of a package's series, and keeps the newest of each version. */
#include "site_gen/model/versions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"
#include "base/version.h"
#include "core/upstream_kind.h"
#include "site_gen/model/model.h"

static bool follows(const struct tk_site_series *s, const struct tk_upstream_row *u)
{
	return s->upstream == u && tk_series_is_ranked(s);
}

bool tk_upstream_has_versions(const struct tk_model *m, const struct tk_upstream_row *u)
{
	enum tk_upstream_kind kind;
	bool any = false;

	if (tk_upstream_kind_parse(u->kind, &kind) || kind != TK_UPSTREAM_PACKAGE)
		return false;
	for (size_t i = 0; !any && i < m->series_count; i++)
		any = follows(&m->series[i], u);
	return any;
}

/* ---- the versions ---- */

static int compare_versions(const void *a, const void *b)
{
	const struct tk_revision_row *x = *(const struct tk_revision_row *const *)a,
	                             *y = *(const struct tk_revision_row *const *)b;
	struct tk_version vx, vy;
	int d = 0;
	if (tk_version_parse(x->rev, &vx) && tk_version_parse(y->rev, &vy))
		d = tk_version_compare(&vx, &vy);
	if (!d)
		d = (x->position > y->position) - (x->position < y->position);
	return d ? d : strcmp(x->rev, y->rev);
}

static size_t list_revisions(
        const struct tk_model *m, int64_t upstream_id, const struct tk_revision_row **out)
{
	size_t count = 0;
	for (size_t i = 0; i < m->revision_rows.count; i++) {
		const struct tk_revision_row *r =
		        TK_ROWS_AT(&m->revision_rows, struct tk_revision_row, i);
		if (r->upstream_id == upstream_id)
			out[count++] = r;
	}
	qsort(out, count, sizeof *out, compare_versions);
	return count;
}

/* ---- points ---- */

static size_t find_version(const struct tk_versions *v, const struct tk_revision_row *r)
{
	size_t i = 0;
	while (i < v->count && v->at[i] != r)
		i++;
	return i;
}

/* Sets the newest point of each version; `at` has v->count points. */
static int read_points(const struct tk_model *m, const struct tk_versions *v, int64_t series_id,
        struct tk_point *at, struct tk_error *err)
{
	AUTO(tk_rows) points = {0};
	int64_t build_id = 0;
	size_t version = v->count;
	TRY(tk_store_list_points_between(m->store, series_id, INT64_MIN, INT64_MAX, &points, err));
	for (size_t i = 0; i < v->count; i++)
		at[i].value = NAN;
	for (size_t i = 0; i < points.count; i++) {
		const struct tk_point *p = TK_ROWS_AT(&points, struct tk_point, i);
		if (p->build_id != build_id)
			version = find_version(v, tk_model_find_build_revision(m, p->build_id));
		build_id = p->build_id;
		if (version < v->count && p->value > 0)
			at[version] = *p;
	}
	return TK_OK;
}

static bool is_compile_time_of(const struct tk_site_series *c, const struct tk_site_series *s)
{
	return c->metric == TK_METRIC_COMPILE && c->device == s->device &&
	       c->upstream == s->upstream && !strcmp(c->row->backend, s->row->backend) &&
	       !strcmp(c->row->config, s->row->config) && !strcmp(c->row->mode, s->row->mode);
}

static const struct tk_site_series *first_of_problem(
        const struct tk_model *m, const struct tk_site_series *s)
{
	while (s > m->series && s[-1].problem == s->problem)
		s--;
	return s;
}

#define FOR_SAME_PROBLEM(m, s, other) \
	for (const struct tk_site_series *other = first_of_problem(m, s); \
	        other < (m)->series + (m)->series_count && other->problem == (s)->problem; \
	        other++)

static int read_compile_times(const struct tk_model *m, const struct tk_versions *v,
        const struct tk_version_series *s, struct tk_error *err)
{
	const struct tk_site_series *found = NULL;
	for (size_t i = 0; i < v->count; i++)
		s->compile_ns[i] = NAN;
	FOR_SAME_PROBLEM(m, s->series, c)
	found = is_compile_time_of(c, s->series) ? c : found;
	if (!found)
		return 0;
	struct tk_point *at = tk_calloc(v->count + 1, sizeof *at);
	int status = read_points(m, v, found->row->id, at, err);
	for (size_t i = 0; !status && i < v->count; i++)
		s->compile_ns[i] = at[i].value;
	free(at);
	return status;
}

/* ---- leaving out what was not measured ---- */

static bool is_measured(const struct tk_versions *v, size_t version)
{
	for (size_t i = 0; i < v->series_count; i++)
		if (isfinite(v->series[i].at[version].value))
			return true;
	return false;
}

static void keep_measured(struct tk_versions *v)
{
	size_t measured = 0, skip, kept = 0;
	for (size_t i = 0; i < v->count; i++)
		measured += is_measured(v, i);
	skip = measured > TK_VERSIONS_SHOWN ? measured - TK_VERSIONS_SHOWN : 0;
	v->is_cut = skip > 0;
	for (size_t i = 0; i < v->count; i++) {
		if (!is_measured(v, i) || (skip && skip--))
			continue;
		for (size_t k = 0; k < v->series_count; k++) {
			v->series[k].at[kept] = v->series[k].at[i];
			v->series[k].compile_ns[kept] = v->series[k].compile_ns[i];
		}
		v->at[kept++] = v->at[i];
	}
	v->count = kept;
}

/* ---- problems ---- */

static void find_vendor(const struct tk_model *m, struct tk_version_problem *p)
{
	const struct tk_site_series *s = p->series->series;
	p->vendor_ns = NAN;
	FOR_SAME_PROBLEM(m, s, other)
	{
		const struct tk_point *last = tk_series_last_point(other);
		if (other->device != s->device || other->upstream == s->upstream || !last ||
		        !tk_series_is_ranked(other) || !tk_series_is_vendor(other) ||
		        !(last->value > 0))
			continue;
		if (!p->vendor || last->value < p->vendor_ns) {
			p->vendor = other;
			p->vendor_ns = last->value;
		}
	}
}

static void join_problems(
        const struct tk_model *m, struct tk_versions *v, const struct tk_version_series **best)
{
	for (size_t i = 0; i < v->series_count; i++) {
		const struct tk_version_series *s = &v->series[i];
		struct tk_version_problem *p =
		        v->problem_count ? &v->problems[v->problem_count - 1] : NULL;
		bool same = p && p->series->series->problem == s->series->problem &&
		            p->series->series->device == s->series->device;
		if (!same) {
			p = &v->problems[v->problem_count];
			*p = (struct tk_version_problem){
			        .series = s, .best = best + v->problem_count++ * v->count};
			find_vendor(m, p);
		}
		p->count++;
		for (size_t k = 0; k < v->count; k++)
			if (isfinite(s->at[k].value) &&
			        (!p->best[k] || s->at[k].value < p->best[k]->at[k].value))
				p->best[k] = s;
	}
}

/* ---- all ---- */

static void allocate(
        const struct tk_model *m, const struct tk_upstream_row *u, struct tk_versions *v)
{
	v->at = tk_calloc(m->revision_rows.count + 1, sizeof *v->at);
	v->series = tk_calloc(m->series_count + 1, sizeof *v->series);
	v->problems = tk_calloc(m->series_count + 1, sizeof *v->problems);
	v->count = list_revisions(m, u->id, v->at);
	for (size_t i = 0; i < m->series_count; i++)
		if (follows(&m->series[i], u))
			v->series[v->series_count++].series = &m->series[i];
	size_t cells = v->series_count * v->count + 1;
	struct tk_point *points = v->memory[0] = tk_calloc(cells, sizeof *points);
	double *compile_ns = v->memory[1] = tk_calloc(cells, sizeof *compile_ns);
	v->memory[2] = tk_calloc(cells, sizeof(struct tk_version_series *));
	v->configs = tk_calloc(cells, sizeof *v->configs);
	v->config_count = cells;
	for (size_t i = 0; i < v->series_count; i++) {
		v->series[i].at = points + i * v->count;
		v->series[i].compile_ns = compile_ns + i * v->count;
		v->series[i].configs = v->configs + i * v->count;
	}
}

int tk_versions_load(const struct tk_model *m, const struct tk_upstream_row *u,
        struct tk_versions *out, struct tk_error *err)
{
	*out = (struct tk_versions){.upstream = u};
	allocate(m, u, out);
	int status = 0;
	for (size_t i = 0; !status && i < out->series_count; i++)
		status =
		        read_points(m, out, out->series[i].series->row->id, out->series[i].at, err);
	for (size_t i = 0; !status && i < out->series_count; i++)
		status = read_compile_times(m, out, &out->series[i], err);
	if (status) {
		tk_versions_free(out);
		return status;
	}
	keep_measured(out);
	join_problems(m, out, out->memory[2]);
	return 0;
}

void tk_versions_free(struct tk_versions *v)
{
	for (size_t i = 0; i < v->config_count; i++)
		free(v->configs[i]);
	free(v->configs);
	for (size_t i = 0; i < sizeof v->memory / sizeof *v->memory; i++)
		free(v->memory[i]);
	free(v->problems);
	free(v->series);
	free(v->at);
	*v = (struct tk_versions){0};
}

/* ---- questions ---- */

double tk_version_time_ns(const struct tk_version_problem *p, size_t version)
{
	return p->best[version] ? p->best[version]->at[version].value : NAN;
}

size_t tk_version_before(const struct tk_version_problem *p, size_t version)
{
	while (version-- > 0)
		if (p->best[version])
			return version;
	return SIZE_MAX;
}

bool tk_version_is_step(
        const struct tk_version_problem *p, size_t before, size_t version, double tie)
{
	if (before == SIZE_MAX || !p->best[version])
		return false;
	const struct tk_point *a = &p->best[before]->at[before],
	                      *b = &p->best[version]->at[version];
	return (a->hi < b->lo || b->hi < a->lo) && fabs(log(b->value / a->value)) >= log1p(tie);
}
