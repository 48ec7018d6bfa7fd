/* What tools recorded: traces, profiles and machine code of kernels, and A/B pairs. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include "site_gen/model/model.h"
#include "site_gen/model/model_internal.h"
#include "site_gen/model/records.h"
#include "site_gen/render/escape.h"
#include "stats/compare.h"
#include "store/kernel_report.h"

const char *const tk_profiled_level_names[TK_PROFILED_LEVELS] = {"DRAM", "L2", "L1"};

#define NS_MAX INT64_C(1000000000000000)

const char *const tk_does_names[TK_DOES_COUNT] = {
#define DOES_NAME(id, name) name,
        TK_DOES(DOES_NAME)
#undef DOES_NAME
};

enum tk_does tk_does_from_name(const char *name)
{
	for (int i = 0; name && i < TK_DOES_COUNT; i++)
		if (!strcmp(tk_does_names[i], name))
			return (enum tk_does)i;
	return TK_DOES_WAIT;
}

static const char *get_text(const json_t *o)
{
	const char *text = json_string_value(o);
	return text ? text : "";
}

/* false: not an integer from 0 to max. */
static bool read_integer(const json_t *o, int64_t max, int64_t *out)
{
	int64_t v = json_integer_value(o);
	if (!json_is_integer(o) || v < 0 || v > max)
		return false;
	*out = v;
	return true;
}

static int64_t get_integer(const json_t *o, const char *key)
{
	int64_t v = 0;
	read_integer(json_object_get(o, key), NS_MAX, &v);
	return v;
}

static void read_regions(const json_t *list, struct tk_timeline *t)
{
	for (size_t i = 0; i < json_array_size(list) && i < TK_TIMELINE_REGIONS_MAX; i++) {
		const json_t *o = json_array_get(list, i);
		t->regions[i] = get_text(json_object_get(o, "name"));
		t->does[i] = tk_does_from_name(get_text(json_object_get(o, "kind")));
		t->region_count = i + 1;
	}
}

/* The first lane of the name that is free; a new one where there is none. Where there are too many
 * the last one takes what remains. */
static size_t find_lane(struct tk_timeline *t, const struct tk_timeline_group *g,
        size_t lane_names[], int64_t free_ns[], const char *name)
{
	size_t same = 1;
	for (size_t i = 0; i < t->lane_count; i++) {
		if (lane_names[i] != g->name)
			continue;
		if (free_ns[i] <= g->begin_ns)
			return i;
		same++;
	}
	if (t->lane_count == TK_TIMELINE_LANES_MAX)
		return TK_TIMELINE_LANES_MAX - 1;
	char number[24] = "";
	if (same > 1)
		snprintf(number, sizeof number, " %zu", same);
	snprintf(t->lanes[t->lane_count], sizeof t->lanes[0], "%.*s%s",
	        (int)tk_utf8_clip_len(name, 40), name, number);
	lane_names[t->lane_count] = g->name;
	return t->lane_count++;
}

/* All groups are kept, so that spans find theirs by number: one that is not of its form is empty.
 */
static void read_groups(const json_t *list, const json_t *names, struct tk_timeline *t)
{
	size_t lane_names[TK_TIMELINE_LANES_MAX];
	int64_t free_ns[TK_TIMELINE_LANES_MAX] = {0}, name;
	t->group_count = json_array_size(list);
	t->groups = tk_calloc(t->group_count + 1, sizeof *t->groups);
	for (size_t i = 0; i < t->group_count; i++) {
		const json_t *o = json_array_get(list, i);
		struct tk_timeline_group *g = &t->groups[i];
		if (!read_integer(json_array_get(o, 0), UINT32_MAX, &g->block) ||
		        !read_integer(json_array_get(o, 1), UINT32_MAX, &name) ||
		        !read_integer(json_array_get(o, 2), NS_MAX, &g->begin_ns) ||
		        !read_integer(json_array_get(o, 3), NS_MAX, &g->end_ns) ||
		        g->end_ns < g->begin_ns) {
			*g = (struct tk_timeline_group){.end_ns = -1};
			continue;
		}
		g->name = (size_t)name;
		g->lane = find_lane(
		        t, g, lane_names, free_ns, get_text(json_array_get(names, g->name)));
		free_ns[g->lane] = g->end_ns > free_ns[g->lane] ? g->end_ns : free_ns[g->lane];
	}
}

static bool read_span(const json_t *o, const struct tk_timeline *t, struct tk_timeline_span *out)
{
	int64_t group, region, is_async = 0;
	if (!read_integer(json_array_get(o, 0), (int64_t)t->group_count - 1, &group) ||
	        !read_integer(json_array_get(o, 1), (int64_t)t->region_count - 1, &region) ||
	        !read_integer(json_array_get(o, 2), NS_MAX, &out->begin_ns) ||
	        !read_integer(json_array_get(o, 3), NS_MAX, &out->end_ns) ||
	        out->end_ns < out->begin_ns || t->groups[group].end_ns < 0)
		return false;
	read_integer(json_array_get(o, 4), 1, &is_async);
	out->group = (size_t)group;
	out->region = (size_t)region;
	out->is_async = is_async;
	return true;
}

static int compare_begins(const void *a, const void *b)
{
	const struct tk_timeline_span *x = a, *y = b;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->group != y->group ? (x->group > y->group) - (x->group < y->group)
	                            : (x->region > y->region) - (x->region < y->region);
}

static void read_spans(const json_t *list, struct tk_timeline *t)
{
	t->spans = tk_calloc(json_array_size(list) + 1, sizeof *t->spans);
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct tk_timeline_span span = {0};
		if (read_span(json_array_get(list, i), t, &span))
			t->spans[t->span_count++] = span;
	}
	qsort(t->spans, t->span_count, sizeof *t->spans, compare_begins);
}

void tk_timeline_read(const json_t *stored, struct tk_timeline *out)
{
	*out = (struct tk_timeline){.kernel = get_text(json_object_get(stored, "kernel")),
	        .multiprocessor = get_integer(stored, "multiprocessor"),
	        .duration_ns = get_integer(stored, "duration_ns"),
	        .left_out = get_integer(stored, "left_out")};
	read_regions(json_object_get(stored, "regions"), out);
	read_groups(json_object_get(stored, "groups"), json_object_get(stored, "group_names"), out);
	read_spans(json_object_get(stored, "spans"), out);
}

void tk_timeline_free(struct tk_timeline *t)
{
	free(t->groups);
	free(t->spans);
	*t = (struct tk_timeline){0};
}

struct tk_code_list {
	int64_t build_id;
	struct tk_rows rows;
};

static int load(
        struct tk_code_cache *codes, struct tk_store *store, int64_t build_id, struct tk_error *err)
{
	if (codes->count == codes->cap) {
		size_t cap = codes->cap ? codes->cap * 2 : 64;
		codes->lists = tk_realloc(codes->lists, cap * sizeof *codes->lists);
		codes->cap = cap;
	}
	struct tk_code_list *list = &codes->lists[codes->count];
	*list = (struct tk_code_list){.build_id = build_id};
	int status = tk_store_list(
	        store, TK_TABLE_kernel, "build_id=?1", TK_ARGS(build_id), &list->rows, err);
	codes->count += !status;
	return status;
}

static int order(const void *key, const void *row)
{
	const struct tk_kernel_row *a = key, *b = row;
	int d = strcmp(a->backend, b->backend);
	return d ? d : strcmp(a->name, b->name);
}

int tk_code_cache_list(struct tk_code_cache *codes, struct tk_store *store, int64_t build_id,
        const struct tk_rows **out, struct tk_error *err)
{
	size_t tried = 0, i = codes->last;
	for (; tried < codes->count; tried++, i++) {
		i = i < codes->count ? i : 0;
		if (codes->lists[i].build_id == build_id)
			break;
	}
	int status = 0;
	if (tried == codes->count) {
		i = codes->count;
		status = load(codes, store, build_id, err);
	}
	if (status)
		return status;
	codes->last = i;
	*out = &codes->lists[i].rows;
	return 0;
}

int tk_code_cache_find(struct tk_code_cache *codes, struct tk_store *store, int64_t build_id,
        const char *backend, const char *name, const struct tk_kernel_row **out,
        struct tk_error *err)
{
	const struct tk_rows *rows;
	TRY(tk_code_cache_list(codes, store, build_id, &rows, err));
	struct tk_kernel_row key = {.backend = backend, .name = name};
	*out = rows->count ? bsearch(&key, rows->rows, rows->count, sizeof key, order) : NULL;
	return 0;
}

void tk_code_cache_free(struct tk_code_cache *codes)
{
	for (size_t i = 0; i < codes->count; i++)
		tk_rows_free(&codes->lists[i].rows);
	free(codes->lists);
	*codes = (struct tk_code_cache){0};
}

#define CONFIDENCE 0.95

static void summarize(const double *d, size_t n, struct tk_ab_result_compare_level *out)
{
	struct tk_paired_shift p;
	if (n && !tk_paired_estimate(d, n, CONFIDENCE, &p))
		*out = (struct tk_ab_result_compare_level){
		        expm1(p.shift), expm1(p.lo), expm1(p.hi)};
}

int tk_ab_plot_load(const struct tk_model *m, const struct tk_site_series *s, const char *good_rev,
        const char *bad_rev, struct tk_ab_plot *out, struct tk_error *err)
{
	AUTO(tk_rows) rows = {0};
	*out = (struct tk_ab_plot){.median = {NAN, NAN, NAN}, .fastest = {NAN, NAN, NAN}};
	const struct tk_revision_row *good = tk_model_find_revision(m, s->upstream->id, good_rev),
	                             *bad = tk_model_find_revision(m, s->upstream->id, bad_rev);
	if (good && bad)
		TRY(tk_store_list_ab_pairs_between(
		        m->store, s->row->id, good->id, bad->id, &rows, err));
	double *fastest = tk_malloc((rows.count + 1) * sizeof *fastest);
	out->differences = tk_malloc((rows.count + 1) * sizeof *out->differences);
	size_t mins = 0;
	for (size_t i = 0; i < rows.count; i++) {
		const struct tk_ab_pair_row *row = TK_ROWS_AT(&rows, struct tk_ab_pair_row, i);
		if (!(row->base_median > 0) || !(row->head_median > 0)) {
			out->failed++;
			continue;
		}
		out->differences[out->count++] = log(row->head_median / row->base_median);
		if (row->base_min > 0 && row->head_min > 0)
			fastest[mins++] = log(row->head_min / row->base_min);
	}
	summarize(out->differences, out->count, &out->median);
	summarize(fastest, mins, &out->fastest);
	free(fastest);
	return 0;
}

void tk_ab_plot_free(struct tk_ab_plot *p)
{
	free(p->differences);
	p->differences = NULL;
}
