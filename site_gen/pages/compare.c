/* compare.html and its data: any two backends, devices, nights or revisions over their problems. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/present.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"

#define DAY_S 86400

/* How far back a side can be, in days; the page offers the same ages. */
static const int ages[] = {0, 7, 30};
#define AGE_COUNT (sizeof ages / sizeof *ages)
#define DIGITS 5 /* of times */

/* A contender: one backend on one device. */
struct contender {
	const struct tk_site_device *device;
	const char *variant;
	const struct tk_upstream_row *upstream;
	size_t series, part; /* number of its series; the file with its times */
};

#define SERIES_IN_PART 250 /* a file ends after the contender that reaches this */
#define PAIRED_MAX 60      /* the default pair is chosen among these */

static int contender_order(const void *a, const void *b)
{
	const struct contender *x = a, *y = b;
	int d = strcmp(x->device->name, y->device->name);
	return d ? d : strcmp(x->variant, y->variant);
}

static bool takes_part(const struct tk_site_series *s)
{
	return tk_series_is_ranked(s) && s->newest_count;
}

static size_t find_contenders(const struct tk_model *m, struct contender *out)
{
	size_t all = 0, count = 0;
	for (size_t i = 0; i < m->series_count; i++)
		if (takes_part(&m->series[i]))
			out[all++] = (struct contender){m->series[i].device, m->series[i].variant,
			        m->series[i].upstream, 0, 0};
	if (all)
		qsort(out, all, sizeof *out, contender_order);
	for (size_t i = 0; i < all; i++) {
		if (!count || contender_order(&out[count - 1], &out[i]))
			out[count++] = out[i];
		out[count - 1].series++;
	}
	for (size_t i = 0, part = 0, series = 0; i < count; i++) {
		out[i].part = part;
		series += out[i].series;
		part += series >= SERIES_IN_PART;
		series = series >= SERIES_IN_PART ? 0 : series;
	}
	return count;
}

/* The newest point that is at least this old, but not older than twice that plus a week: nothing
 * fills a larger gap. */
static const struct tk_sparkline_point *point_of_age(const struct tk_site_series *s, int days)
{
	const struct tk_sparkline_point *points = s->sparkline.at;
	size_t count = s->sparkline.count;
	if (!days)
		return s->failure || !count ? NULL : &points[count - 1];
	for (size_t i = count; i-- > 0;) {
		int64_t age = (int64_t)points[count - 1].as_of_s - points[i].as_of_s;
		if (age > (int64_t)(2 * days + 7) * DAY_S)
			return NULL;
		if (age >= (int64_t)days * DAY_S - DAY_S / 2)
			return &points[i];
	}
	return NULL;
}

/* The power of ten that leaves all times five digits; 0 without times. */
static int choose_exponent(const struct tk_sparkline_point *const *points, size_t count)
{
	double least = INFINITY;
	for (size_t i = 0; i < count; i++)
		least = points[i] ? fmin(least, points[i]->value) : least;
	return isfinite(least) ? (int)floor(log10(least)) - DIGITS + 1 : 0;
}

/* In steps of 10^exponent: medians as differences to the age before, ends of the interval, if there
 * is one, as distances from the median. */
static void add_times(struct tk_buf *out, const struct tk_site_series *s)
{
	const struct tk_sparkline_point *points[AGE_COUNT];
	for (size_t i = 0; i < AGE_COUNT; i++) {
		points[i] = point_of_age(s, ages[i]);
		points[i] = points[i] && points[i]->value > 0 ? points[i] : NULL;
	}
	int exponent = choose_exponent(points, AGE_COUNT);
	double scale = pow(10, -exponent);
	long long before = 0;
	tk_buf_add_char(out, ',');
	tk_buf_add_int(out, exponent);
	for (size_t i = 0; i < AGE_COUNT; i++) {
		const struct tk_sparkline_point *p = points[i];
		if (!p) {
			tk_buf_add_str(out, ",0");
			continue;
		}
		long long value = llround(p->value * scale);
		tk_buf_add_str(out, ",[");
		tk_buf_add_int(out, value - before);
		if (isfinite(p->lo) && isfinite(p->hi)) {
			tk_buf_add_char(out, ',');
			tk_buf_add_int(out, value - llround(p->lo * scale));
			tk_buf_add_char(out, ',');
			tk_buf_add_int(out, llround(p->hi * scale) - value);
			if (!ages[i] && s->newest[s->newest_count - 1].flags & TK_POINT_UNSTABLE)
				tk_buf_add_str(out, ",1");
		}
		tk_buf_add_char(out, ']');
		before = value;
	}
}

static size_t find_place(
        const struct tk_site_series *s, const struct contender *contenders, size_t count)
{
	struct contender key = {s->device, s->variant, s->upstream, 0, 0};
	const struct contender *c = bsearch(&key, contenders, count, sizeof key, contender_order);
	return (size_t)(c - contenders);
}

static void part_path(char path[64], size_t part)
{
	snprintf(path, 64, "data/compare-%zu.js", part);
}

/* times: [problem, contender, series, group, file or 0 where it is the series, exponent, then for
 * each age 0 or [value, below, above], or [value] where nothing is known of its interval; of the
 * newest [value, below, above, 1] where that is wider than asked */
static int write_part(struct tk_site *site, size_t part, const struct contender *contenders,
        size_t count, const size_t *places, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	struct tk_buf *out = &site->page;
	char path[64];
	bool first = true;
	size_t problem = 0;
	tk_buf_clear(out);
	tk_buf_add_printf(out, "tracker.data.add(\"compare-%zu\",{\"times\":[", part);
	for (size_t i = 0; i < m->series_count; i++) {
		const struct tk_site_series *s = &m->series[i];
		problem += i && s->problem != s[-1].problem;
		if (places[i] >= count || contenders[places[i]].part != part)
			continue;
		tk_buf_add_str(out, first ? "\n[" : ",\n[");
		tk_buf_add_int(out, (int64_t)problem);
		tk_buf_add_char(out, ',');
		tk_buf_add_int(out, (int64_t)places[i]);
		tk_buf_add_char(out, ',');
		tk_escape_json(out, s->row->slug, strlen(s->row->slug));
		tk_buf_add_char(out, ',');
		tk_buf_add_int(out, (int64_t)site->data.group_of[i]);
		tk_buf_add_char(out, ',');
		if (strcmp(s->file, s->row->slug))
			tk_buf_add_printf(out, "\"%s\"", s->file);
		else
			tk_buf_add_char(out, '0');
		add_times(out, s);
		tk_buf_add_char(out, ']');
		first = false;
	}
	tk_buf_add_str(out, "]});\n");
	part_path(path, part);
	return tk_output_put(site->out, path, out, err);
}

/* The two with the most common problems; the first of several. */
static void find_pair(const struct tk_model *m, const size_t *places, size_t count, size_t pair[2])
{
	size_t n = count < PAIRED_MAX ? count : PAIRED_MAX, best = 0;
	size_t *shared = tk_calloc(n * n + 1, sizeof *shared);
	for (size_t first = 0, end; first < m->series_count; first = end) {
		for (end = first + 1; end < m->series_count &&
		                      m->series[end].problem == m->series[first].problem;)
			end++;
		for (size_t i = first; i < end; i++)
			for (size_t k = first; k < end && places[i] < n; k++)
				if (places[i] < places[k] && places[k] < n &&
				        !m->series[i].failure && !m->series[k].failure)
					shared[places[i] * n + places[k]]++;
	}
	pair[0] = 0;
	pair[1] = count > 1;
	for (size_t i = 0; i < n * n; i++)
		if (shared[i] > best) {
			best = shared[i];
			pair[0] = i / n;
			pair[1] = i % n;
		}
	free(shared);
}

/* Opens an array with two texts. */
static void add_pair(struct tk_buf *out, const char *a, size_t a_max, const char *b, size_t b_max)
{
	tk_buf_add_str(out, "\n[");
	tk_escape_json(out, a, tk_utf8_clip_len(a, a_max));
	tk_buf_add_char(out, ',');
	tk_escape_json(out, b, tk_utf8_clip_len(b, b_max));
}

static int write_index(struct tk_site *site, const struct contender *contenders, size_t count,
        const size_t pair[2], struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	struct tk_buf *out = &site->page;
	tk_buf_clear(out);
	tk_buf_add_str(out, "tracker.data.add(\"compare\",{\"contenders\":[");
	for (size_t i = 0; i < count; i++) {
		char path[64];
		tk_buf_add_str(out, i ? "," : "");
		add_pair(out, contenders[i].variant, 60, contenders[i].device->name, 60);
		part_path(path, contenders[i].part);
		tk_buf_add_printf(out, ",\"data/revisions-%lld.js\",\"compare-%zu\",\"%s\"]",
		        (long long)contenders[i].upstream->id, contenders[i].part, path);
	}
	tk_buf_add_printf(out,
	        "],\"tie\":%g,\"pair\":[%zu,%zu],\"manifest\":\"data/manifest.js\",\"problems\":[",
	        site->options->tie, pair[0], pair[1]);
	for (size_t i = 0; i < m->series_count; i++) {
		const struct tk_problem_row *p = m->series[i].problem;
		if (i && p == m->series[i - 1].problem)
			continue;
		tk_buf_add_str(out, i ? "," : "");
		add_pair(out, tk_op_title(p->op), 40, p->title, 110);
		tk_buf_add_char(out, ',');
		tk_escape_json(out, p->dtype, tk_utf8_clip_len(p->dtype, 20));
		tk_buf_add_char(out, ']');
	}
	tk_buf_add_str(out, "]});\n");
	return tk_output_put(site->out, "data/compare.js", out, err);
}

static int write_data(struct tk_site *site, const struct contender *contenders, size_t count,
        struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	size_t *places = tk_malloc((m->series_count + 1) * sizeof *places), pair[2] = {0};
	int status;
	for (size_t i = 0; i < m->series_count; i++)
		places[i] = takes_part(&m->series[i]) ? find_place(&m->series[i], contenders, count)
		                                      : SIZE_MAX;
	find_pair(m, places, count, pair);
	status = write_index(site, contenders, count, pair, err);
	for (size_t i = 0; !status && i < count; i++)
		if (!i || contenders[i].part != contenders[i - 1].part)
			status = write_part(
			        site, contenders[i].part, contenders, count, places, err);
	free(places);
	return status;
}

int tk_page_add_compare(
        struct tk_site *site, struct tk_value *page, int64_t unused, struct tk_error *err)
{
	struct contender *contenders =
	        tk_malloc((site->model.series_count + 1) * sizeof *contenders);
	size_t count = find_contenders(&site->model, contenders);
	int status = write_data(site, contenders, count, err);
	free(contenders);
	tk_value_set_flag(page, "any", count > 0);
	return status;
}
