/* compare.html and its data: any two backends, devices, nights or revisions over their problems. */
#include <math.h>

#include "base/base.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"

#define DAY_S 86400

/* How far back a side can be, in days; the page offers the same ages. */
static const int ages[] = {0, 7, 30};
#define AGE_COUNT (sizeof ages / sizeof *ages)
#define DIGITS 5 /* of times */

/* Where the times of a series are: its contender, a backend on a device, and that one's file. */
struct place {
	int64_t contender, part;
	bool takes_part;
};

static int set_place(void *user, const struct tk_query_row *row, struct tk_error *err)
{
	struct place *places = user;
	places[row->values[0].i] = (struct place){row->values[1].i, row->values[2].i, true};
	return 0;
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

/* times: [problem, contender, series, group, file or 0 where it is the series, exponent, then for
 * each age 0 or [value, below, above], or [value] where nothing is known of its interval; of the
 * newest [value, below, above, 1] where that is wider than asked */
static int write_part(
        struct tk_site *site, int64_t part, const struct place *places, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	struct tk_buf *out = &site->page;
	char path[64];
	bool first = true;
	size_t problem = 0;
	tk_buf_clear(out);
	tk_buf_add_printf(out, "tracker.data.add(\"compare-%lld\",{\"times\":[", (long long)part);
	for (size_t i = 0; i < m->series_count; i++) {
		const struct tk_site_series *s = &m->series[i];
		problem += i && s->problem != s[-1].problem;
		if (!places[i].takes_part || places[i].part != part)
			continue;
		tk_buf_add_str(out, first ? "\n[" : ",\n[");
		tk_buf_add_int(out, (int64_t)problem);
		tk_buf_add_char(out, ',');
		tk_buf_add_int(out, places[i].contender);
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
	snprintf(path, sizeof path, "data/compare-%lld.js", (long long)part);
	return tk_output_put(site->out, path, out, err);
}

/* Opens an array with two texts. */
static void add_pair(struct tk_buf *out, const char *a, size_t a_max, const char *b, size_t b_max)
{
	tk_buf_add_str(out, "\n[");
	tk_escape_json(out, a, tk_utf8_clip_len(a, a_max));
	tk_buf_add_char(out, ',');
	tk_escape_json(out, b, tk_utf8_clip_len(b, b_max));
}

static int write_index(struct tk_site *site, const struct tk_value *page, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	struct tk_buf *out = &site->page;
	const struct tk_value *o = tk_value_find_list(page, "contenders")->first;
	tk_buf_clear(out);
	tk_buf_add_str(out, "tracker.data.add(\"compare\",{\"contenders\":[");
	for (bool first = true; o; o = o->next, first = false) {
		const char *part = tk_value_find_text(o, "part");
		tk_buf_add_str(out, first ? "" : ",");
		add_pair(out, tk_value_find_text(o, "variant"), 60, tk_value_find_text(o, "device"),
		        60);
		tk_buf_add_printf(out,
		        ",\"data/revisions-%s.js\",\"compare-%s\",\"data/compare-%s.js\"]",
		        tk_value_find_text(o, "upstream_id"), part, part);
	}
	tk_buf_add_printf(out,
	        "],\"tie\":%g,\"pair\":[%s],\"manifest\":\"data/manifest.js\",\"problems\":[",
	        site->options->tie, tk_value_find_text(page, "pair"));
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

int tk_page_add_compare(
        struct tk_site *site, struct tk_value *page, int64_t unused, struct tk_error *err)
{
	struct place *places = tk_calloc(site->model.series_count + 1, sizeof *places);
	struct tk_value *o = tk_value_find_list(page, "contenders")->first;
	int status = tk_store_query(site->model.store, "SELECT place, i, part FROM page_compared",
	        TK_NO_ARGS, set_place, places, err);
	if (!status)
		status = write_index(site, page, err);
	for (int64_t part = -1; !status && o; o = o->next)
		if (o->id != part)
			status = write_part(site, part = o->id, places, err);
	free(places);
	return status;
}
