/* traces/: the timelines of the kernels of a launch on one multiprocessor, as `tracker trace`
 * stored them: drawn, and as data. What is not of its form is left out. */
#include "base/base.h"
#include "site_gen/data/data.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"

#define TIMELINES_MAX 16
#define LANES_MAX 64
#define REGIONS_MAX 64
#define NS_MAX INT64_C(1000000000000000)
#define NAME_BYTES 60

/* Kinds of regions; a name that is none of them is a wait. */
static const struct kind {
	const char *name, *class;
} kinds[] = {{"matrix products", "tensor"}, {"compute", "compute"}, {"store", "store"},
        {"load", "load"}, {"outside of regions", "other"}, {"no block", "idle"}, {"wait", "wait"}};

/* Times are ns from the begin of the launch. */
struct group {
	int64_t block, begin_ns, end_ns; /* end_ns < 0: it is not of its form */
	size_t lane;
};
struct span {
	int64_t group, region, begin_ns, end_ns, is_async; /* async: beside what the group does */
};

struct timeline {
	const char *regions[REGIONS_MAX];
	const struct kind *kinds[REGIONS_MAX];
	size_t region_count;
	/* a lane holds groups of one name, one after the other */
	char lanes[LANES_MAX][64];
	size_t lane_count;
	struct group *groups;
	size_t group_count;
	struct span *spans; /* by begin */
	size_t span_count;
};

/* ---- reading ---- */

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

static void read_regions(const json_t *list, struct timeline *t)
{
	for (size_t i = 0; i < json_array_size(list) && i < REGIONS_MAX; i++) {
		const json_t *o = json_array_get(list, i);
		const char *kind = get_text(json_object_get(o, "kind"));
		size_t k = 0;
		while (k + 1 < sizeof kinds / sizeof *kinds && strcmp(kinds[k].name, kind))
			k++;
		t->regions[i] = get_text(json_object_get(o, "name"));
		t->kinds[i] = &kinds[k];
		t->region_count = i + 1;
	}
}

/* The first lane of the name that is free; a new one where there is none. Where there are too many
 * the last one takes what remains. */
static size_t find_lane(struct timeline *t, int64_t begin_ns, int64_t lane_names[],
        const int64_t free_ns[], int64_t name, const char *text)
{
	size_t same = 1;
	for (size_t i = 0; i < t->lane_count; i++) {
		if (lane_names[i] != name)
			continue;
		if (free_ns[i] <= begin_ns)
			return i;
		same++;
	}
	if (t->lane_count == LANES_MAX)
		return LANES_MAX - 1;
	char number[24] = "";
	if (same > 1)
		snprintf(number, sizeof number, " %zu", same);
	snprintf(t->lanes[t->lane_count], sizeof t->lanes[0], "%.*s%s",
	        (int)tk_utf8_clip_len(text, 40), text, number);
	lane_names[t->lane_count] = name;
	return t->lane_count++;
}

/* All groups are kept, so that spans find theirs by number. */
static void read_groups(const json_t *list, const json_t *names, struct timeline *t)
{
	int64_t lane_names[LANES_MAX], free_ns[LANES_MAX] = {0}, name;
	t->group_count = json_array_size(list);
	t->groups = tk_calloc(t->group_count + 1, sizeof *t->groups);
	for (size_t i = 0; i < t->group_count; i++) {
		const json_t *o = json_array_get(list, i);
		struct group *g = &t->groups[i];
		if (!read_integer(json_array_get(o, 0), UINT32_MAX, &g->block) ||
		        !read_integer(json_array_get(o, 1), UINT32_MAX, &name) ||
		        !read_integer(json_array_get(o, 2), NS_MAX, &g->begin_ns) ||
		        !read_integer(json_array_get(o, 3), NS_MAX, &g->end_ns) ||
		        g->end_ns < g->begin_ns) {
			*g = (struct group){.end_ns = -1};
			continue;
		}
		g->lane = find_lane(t, g->begin_ns, lane_names, free_ns, name,
		        get_text(json_array_get(names, (size_t)name)));
		free_ns[g->lane] = g->end_ns > free_ns[g->lane] ? g->end_ns : free_ns[g->lane];
	}
}

static bool read_span(const json_t *o, const struct timeline *t, struct span *s)
{
	if (!read_integer(json_array_get(o, 0), (int64_t)t->group_count - 1, &s->group) ||
	        !read_integer(json_array_get(o, 1), (int64_t)t->region_count - 1, &s->region) ||
	        !read_integer(json_array_get(o, 2), NS_MAX, &s->begin_ns) ||
	        !read_integer(json_array_get(o, 3), NS_MAX, &s->end_ns) ||
	        s->end_ns < s->begin_ns || t->groups[s->group].end_ns < 0)
		return false;
	read_integer(json_array_get(o, 4), 1, &s->is_async);
	return true;
}

static int compare_begins(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->group != y->group ? (x->group > y->group) - (x->group < y->group)
	                            : (x->region > y->region) - (x->region < y->region);
}

static void read_timeline(const json_t *stored, struct timeline *t)
{
	const json_t *spans = json_object_get(stored, "spans");
	*t = (struct timeline){.spans = tk_calloc(json_array_size(spans) + 1, sizeof *t->spans)};
	read_regions(json_object_get(stored, "regions"), t);
	read_groups(json_object_get(stored, "groups"), json_object_get(stored, "group_names"), t);
	for (size_t i = 0; i < json_array_size(spans); i++) {
		struct span span = {0};
		if (read_span(json_array_get(spans, i), t, &span))
			t->spans[t->span_count++] = span;
	}
	tk_sort(t->spans, t->span_count, sizeof *t->spans, compare_begins);
}

/* ---- drawing ---- */

#define SPANS_MAX 300
#define WIDTH 960
#define LABEL_WIDTH 120
#define LANE_HEIGHT 30
#define SPAN_HEIGHT 13 /* of what a group does, and below it of what goes on beside */

static double span_x(int64_t ns, int64_t end_ns)
{
	return LABEL_WIDTH +
	       (double)(ns < end_ns ? ns : end_ns) / (double)end_ns * (WIDTH - LABEL_WIDTH);
}

/* The lanes from the begin. Returns the time to which they are drawn, 0 for nothing: with many
 * spans, only the first are. */
static int64_t draw_timeline(struct tk_buf *out, const struct timeline *t, int64_t duration_ns)
{
	size_t count = t->span_count < SPANS_MAX ? t->span_count : SPANS_MAX;
	int64_t end_ns = count < t->span_count ? t->spans[count].begin_ns : duration_ns;
	if (!count || end_ns <= 0)
		return 0;
	tk_buf_add_printf(out,
	        "<svg class=\"timeline\" viewBox=\"0 0 %d %zu\" aria-hidden=\"true\">", WIDTH,
	        t->lane_count * LANE_HEIGHT);
	for (size_t i = 0; i < t->lane_count; i++) {
		tk_buf_add_printf(out, "<text x=\"0\" y=\"%zu\">", i * LANE_HEIGHT + 18);
		tk_escape_html(out, t->lanes[i], tk_utf8_clip_len(t->lanes[i], 18));
		tk_buf_add_str(out, "</text>");
	}
	for (const struct span *s = t->spans; s < t->spans + count; s++) {
		double x = span_x(s->begin_ns, end_ns), width = span_x(s->end_ns, end_ns) - x;
		size_t y = t->groups[s->group].lane * LANE_HEIGHT +
		           (s->is_async ? SPAN_HEIGHT + 1 : 0);
		tk_buf_add_printf(out,
		        "<rect class=\"does-%s\" x=\"%.1f\" y=\"%zu\" width=\"%.1f\" "
		        "height=\"%d\"/>",
		        t->kinds[s->region]->class, x, y + 1, width > 0.4 ? width : 0.4,
		        SPAN_HEIGHT);
	}
	tk_buf_add_str(out, "</svg>");
	return end_ns;
}

/* ---- data ---- */

static void add_integers(struct tk_buf *out, size_t i, const int64_t *values, size_t count)
{
	tk_buf_add_str(out, i ? ",[" : "[");
	tk_buf_add_ints(out, values, count);
	tk_buf_add_char(out, ']');
}

static void add_data(struct tk_buf *out, const struct timeline *t, const char *kernel,
        int64_t duration_ns, size_t index)
{
	tk_buf_add_printf(out, "tracker.data.add(\"timeline-%zu\",{\"kernel\":", index);
	tk_data_add_text(out, kernel, NAME_BYTES);
	tk_buf_add_printf(out, ",\"duration_ns\":%lld,\"regions\":[", (long long)duration_ns);
	for (size_t i = 0; i < t->region_count; i++) {
		tk_buf_add_str(out, i ? ",{\"name\":" : "{\"name\":");
		tk_data_add_text(out, t->regions[i], NAME_BYTES);
		tk_buf_add_printf(out, ",\"does\":\"%s\"}", t->kinds[i]->name);
	}
	tk_buf_add_str(out, "],\"lanes\":[");
	for (size_t i = 0; i < t->lane_count; i++) {
		tk_buf_add_str(out, i ? "," : "");
		tk_data_add_text(out, t->lanes[i], NAME_BYTES);
	}
	tk_buf_add_str(out, "],\n\"groups\":[");
	for (size_t i = 0; i < t->group_count; i++) {
		const struct group *g = &t->groups[i];
		add_integers(out, i,
		        (const int64_t[]){g->block, (int64_t)g->lane, g->begin_ns, g->end_ns}, 4);
	}
	tk_buf_add_str(out, "],\n\"spans\":[");
	for (size_t i = 0; i < t->span_count; i++)
		add_integers(out, i, &t->spans[i].group, t->spans[i].is_async ? 5 : 4);
	tk_buf_add_str(out, "]});\n");
}

/* ---- all ---- */

struct timelines {
	struct tk_site *site;
	struct tk_value *list;
};

static int add_timelines(void *user, const struct tk_query_row *row, struct tk_error *err)
{
	struct timelines *lines = user;
	struct tk_site *site = lines->site;
	json_auto_t *stored = json_loads(row->values[0].text, 0, NULL);
	char text[TK_FORMAT_SIZE];
	for (size_t i = 0; i < json_array_size(stored) && i < TIMELINES_MAX; i++) {
		const json_t *launch = json_array_get(stored, i);
		const char *kernel = get_text(json_object_get(launch, "kernel"));
		int64_t duration_ns = get_integer(launch, "duration_ns"),
		        left_out = get_integer(launch, "left_out");
		struct timeline t;
		read_timeline(launch, &t);
		if (t.span_count && duration_ns) {
			struct tk_value *o = tk_value_append(lines->list);
			int64_t end_ns = draw_timeline(&site->markup, &t, duration_ns);
			tk_page_set_markup(site, o, "timeline_markup");
			tk_value_set_clip(o, "name", kernel, 60);
			tk_value_set_flag(o, "timeline", end_ns > 0);
			tk_value_set_int(o, "index", (int64_t)i);
			tk_value_set_int(
			        o, "multiprocessor", get_integer(launch, "multiprocessor"));
			tk_value_set_quantity(o, "drawn_end", (double)end_ns, "ns", "");
			tk_value_set(
			        o, "left_out", left_out ? tk_format_count(left_out, text) : "");
			add_data(&site->page, &t, kernel, duration_ns, i);
		}
		free(t.groups);
		free(t.spans);
	}
	return 0;
}

int tk_page_add_timelines(
        struct tk_site *site, struct tk_value *page, int64_t id, struct tk_error *err)
{
	struct timelines lines = {site, tk_value_add_list(page, "timelines")};
	tk_buf_clear(&site->page);
	TRY(tk_store_query(site->model.store, "SELECT timeline FROM kernel_report WHERE id = ?1",
	        TK_ARGS(id), add_timelines, &lines, err));
	return tk_output_put(site->out, tk_value_find_text(page, "data"), &site->page, err);
}
