/* Writing the scripts. No tree is built for points: a million of them go through here. */
#include "site_gen/data/shard.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "site_gen/model/ceilings.h"
#include "site_gen/model/links.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"
#include "site_gen/render/format.h"
#include "stats/summary/summary.h"

#define SUBJECT_BYTES 140
#define REV_BYTES 40
#define SAMPLES_SHOWN 100

static void add_text(struct tk_buf *out, const char *text, size_t max)
{
	tk_escape_json(out, text, tk_utf8_clip_len(text, max));
}

void tk_shard_add_number(struct tk_buf *out, double v)
{
	char text[TK_FORMAT_SIZE];
	tk_buf_add_str(out, isfinite(v) ? tk_format_digits(v, 6, text) : "null");
}

static void add_start(struct tk_buf *out, const char *id)
{
	tk_buf_add_str(out, "tracker.data.add(");
	tk_escape_json(out, id, strlen(id));
	tk_buf_add_str(out, ",{");
}

/* The power of ten that leaves the smallest value so many digits: four (0.05 %) where a value is long past. */
static int exponent_of(const struct tk_point *points, size_t count, int digits)
{
	double least = INFINITY;
	for (size_t i = 0; i < count; i++)
		if (points[i].value > 0)
			least = fmin(least, points[i].value);
	return isfinite(least) ? (int)floor(log10(least)) + 1 - digits : 0;
}

/* As llround does, to the same digit. */
static int64_t quantise(double v, double factor)
{
	double q = v * factor;
	if (!(fabs(q) < 9e15))
		return 0;
	int64_t whole = (int64_t)q;
	double rest = q - (double)whole;
	return whole + (rest >= 0.5) - (rest <= -0.5);
}

/* A field of a point, by its place in it. */
#define FIELD(name) offsetof(struct tk_point, name)

static double real_at(const struct tk_point *p, size_t field)
{
	double v;
	memcpy(&v, (const char *)p + field, sizeof v);
	return v;
}

static int64_t int_at(const struct tk_point *p, size_t field)
{
	int64_t v;
	memcpy(&v, (const char *)p + field, sizeof v);
	return v;
}

static void begin_column(struct tk_buf *out, const char *name)
{
	tk_buf_add_str(out, ",\"");
	tk_buf_add_str(out, name);
	tk_buf_add_str(out, "\":[");
}

/* What the columns of a stretch of points are made from. */
struct stretch {
	const struct tk_point *points;
	size_t count;
	double factor;
	int64_t *steps, *row; /* the values in steps; the column in hand */
};

static void put_column(struct tk_buf *out, const char *name, const struct stretch *s)
{
	begin_column(out, name);
	tk_buf_add_ints(out, s->row, s->count);
	tk_buf_add_char(out, ']');
}

/* Of s->row: where it changes, and to what. */
static void add_changes_of(struct tk_buf *out, const char *name, const struct stretch *s,
        int64_t (*shown)(const struct tk_model *m, int64_t value), const struct tk_model *m)
{
	int64_t raw = 0, before = 0;
	bool first = true;
	begin_column(out, name);
	for (size_t i = 0; i < s->count; i++) {
		int64_t v = s->row[i];
		if (v == raw)
			continue;
		raw = v;
		if ((v = shown(m, raw)) == before)
			continue;
		tk_buf_add_str(out, first ? "[" : ",[");
		tk_buf_add_int(out, (int64_t)i);
		tk_buf_add_char(out, ',');
		tk_buf_add_int(out, v);
		tk_buf_add_char(out, ']');
		before = v;
		first = false;
	}
	tk_buf_add_char(out, ']');
}

static int64_t revision_of_build(const struct tk_model *m, int64_t id)
{
	const struct tk_build_row *build = tk_index_find(&m->builds_by_id, id);
	return build ? build->revision_id : 0;
}

static int64_t itself(const struct tk_model *m, int64_t id)
{
	return id;
}

static void fill_row(const struct stretch *s, size_t field)
{
	for (size_t i = 0; i < s->count; i++)
		s->row[i] = int_at(&s->points[i], field);
}

static void add_deltas(struct tk_buf *out, const char *name, const struct stretch *s, size_t field)
{
	int64_t before = 0;
	for (size_t i = 0; i < s->count; i++) {
		int64_t v = int_at(&s->points[i], field);
		s->row[i] = v - before;
		before = v;
	}
	put_column(out, name, s);
}

/* How far it is from the median, in its steps; -1: unknown. A column of which nothing is known is left out. */
static void add_distances(
        struct tk_buf *out, const char *name, const struct stretch *s, size_t field)
{
	bool any = false;
	for (size_t i = 0; i < s->count; i++) {
		double v = real_at(&s->points[i], field);
		bool known = isfinite(v);
		s->row[i] = known ? llabs(quantise(v, s->factor) - s->steps[i]) : -1;
		any = any || known;
	}
	if (any)
		put_column(out, name, s);
}

static void add_values(struct tk_buf *out, struct stretch *s, bool recent)
{
	int exponent = exponent_of(s->points, s->count, recent ? 5 : 4);
	s->factor = pow(10, -exponent);
	int64_t before = 0;
	tk_buf_add_str(out, "\"exp\":");
	tk_buf_add_int(out, exponent);
	for (size_t i = 0; i < s->count; i++) {
		s->steps[i] = quantise(s->points[i].value, s->factor);
		s->row[i] = s->steps[i] - before;
		before = s->steps[i];
	}
	put_column(out, "value", s);
	add_distances(out, "lo", s, FIELD(lo));
	add_distances(out, "hi", s, FIELD(hi));
	add_distances(out, "p95", s, FIELD(p95));
	if (!recent)
		return;
	add_distances(out, "min", s, FIELD(min));
	add_distances(out, "q25", s, FIELD(q25));
	add_distances(out, "q75", s, FIELD(q75));
}

/* The page knows when the nights were; a point of another time says so. */
static bool is_of_its_night(const struct tk_model *m, const struct tk_point *points, size_t count)
{
	const struct tk_index_entry *all = m->nights_by_id.entries;
	size_t at = 0; /* nights and points are both in order: the next one is mostly near */
	for (size_t i = 0; i < count; i++) {
		const struct tk_night_row *night;
		while (at + 1 < m->nights_by_id.count && all[at + 1].id <= points[i].night_id)
			at++;
		night = at < m->nights_by_id.count && all[at].id == points[i].night_id
		                ? all[at].row
		                : tk_index_find(&m->nights_by_id, points[i].night_id);
		if (!night || night->as_of_s != points[i].as_of_s)
			return false;
	}
	return true;
}

void tk_shard_add_points(struct tk_buf *out, const struct tk_model *m,
        const struct tk_site_series *series, const struct tk_point *points, size_t count,
        bool recent)
{
	int64_t *room = calloc(count + 1, 2 * sizeof *room);
	if (!room) {
		out->status = TK_ENOMEM;
		return;
	}
	struct stretch s = {.points = points, .count = count, .steps = room, .row = room + count};
	add_start(out, series->row->slug);
	add_values(out, &s, recent);
	add_deltas(out, "night", &s, FIELD(night_id));
	if (!is_of_its_night(m, points, count))
		add_deltas(out, "time", &s, FIELD(as_of_s));
	if (recent) {
		add_deltas(out, "run", &s, FIELD(run_id));
		add_deltas(out, "n", &s, FIELD(n));
	}
	fill_row(&s, FIELD(build_id));
	add_changes_of(out, "revision", &s, revision_of_build, m);
	fill_row(&s, FIELD(environment_id));
	add_changes_of(out, "environment", &s, itself, m);
	for (size_t i = 0; i < count; i++)
		s.row[i] = points[i].flags;
	add_changes_of(out, "flags", &s, itself, m);
	tk_buf_add_str(out, "});\n");
	free(room);
}

/* ---- hot files ---- */

void tk_shard_begin_hot(struct tk_buf *out, size_t shard)
{
	add_start(out, "hot");
	tk_buf_add_printf(out, "\"shard\":%zu,\"ids\":[", shard);
}

void tk_shard_add_hot_id(struct tk_buf *out, const struct tk_site_series *s, size_t place)
{
	tk_buf_add_str(out, place ? ",\n" : "\n");
	tk_escape_json(out, s->row->slug, strlen(s->row->slug));
}

void tk_shard_end_hot(struct tk_buf *out)
{
	tk_buf_add_str(out, "]});\n");
}

static void hot_numbers(struct tk_buf *out, const char *name, const struct tk_point *const *points,
        size_t count, size_t field)
{
	int64_t before = 0;
	begin_column(out, name);
	for (size_t i = 0; i < count; i++) {
		if (i)
			tk_buf_add_char(out, ',');
		tk_buf_add_int(out, int_at(points[i], field) - before);
		before = int_at(points[i], field);
	}
	tk_buf_add_char(out, ']');
}

static void hot_distances(struct tk_buf *out, const char *name,
        const struct tk_point *const *points, size_t count, const double *factors, size_t field)
{
	bool any = false;
	for (size_t i = 0; i < count; i++)
		any = any || isfinite(real_at(points[i], field));
	if (!any)
		return;
	begin_column(out, name);
	for (size_t i = 0; i < count; i++) {
		double v = real_at(points[i], field);
		if (i)
			tk_buf_add_char(out, ',');
		tk_buf_add_int(out, isfinite(v) ? llabs(quantise(v, factors[i]) -
		                                          quantise(points[i]->value, factors[i]))
		                                : -1);
	}
	tk_buf_add_char(out, ']');
}

static void hot_flags(struct tk_buf *out, const struct tk_point *const *points, size_t count)
{
	begin_column(out, "flags");
	for (size_t i = 0; i < count; i++) {
		if (i)
			tk_buf_add_char(out, ',');
		tk_buf_add_int(out, points[i]->flags);
	}
	tk_buf_add_char(out, ']');
}

static void hot_values(
        struct tk_buf *out, const struct tk_point *const *points, size_t count, double *factors)
{
	begin_column(out, "exp");
	for (size_t i = 0; i < count; i++) {
		int exponent = exponent_of(points[i], 1, 5);
		factors[i] = pow(10, -exponent);
		if (i)
			tk_buf_add_char(out, ',');
		tk_buf_add_int(out, exponent);
	}
	tk_buf_add_char(out, ']');
	begin_column(out, "value");
	for (size_t i = 0; i < count; i++) {
		if (i)
			tk_buf_add_char(out, ',');
		tk_buf_add_int(out, quantise(points[i]->value, factors[i]));
	}
	tk_buf_add_char(out, ']');
}

static void hot_revisions(struct tk_buf *out, const struct tk_model *m,
        const struct tk_point *const *points, size_t count)
{
	begin_column(out, "revision");
	for (size_t i = 0; i < count; i++) {
		if (i)
			tk_buf_add_char(out, ',');
		tk_buf_add_int(out, revision_of_build(m, points[i]->build_id));
	}
	tk_buf_add_char(out, ']');
}

void tk_shard_add_hot_night(struct tk_buf *out, const struct tk_model *m, size_t shard,
        const struct tk_point *const *points, const size_t *places, size_t count)
{
	double *factors = calloc(count + 1, sizeof *factors);
	const struct tk_night_row *night = tk_index_find(&m->nights_by_id, points[0]->night_id);
	if (!factors) {
		out->status = TK_ENOMEM;
		return;
	}
	add_start(out, "hot");
	tk_buf_add_printf(
	        out, "\"shard\":%zu,\"night\":%lld", shard, (long long)points[0]->night_id);
	if (!night ||
	        night->as_of_s != points[0]->as_of_s) /* one time for all: they were chosen so */
		tk_buf_add_printf(out, ",\"time\":%lld", (long long)points[0]->as_of_s);
	begin_column(out, "places");
	for (size_t i = 0; i < count; i++) {
		if (i)
			tk_buf_add_char(out, ',');
		tk_buf_add_int(out, (int64_t)(places[i] - (i ? places[i - 1] : 0)));
	}
	tk_buf_add_char(out, ']');
	hot_values(out, points, count, factors);
	hot_distances(out, "lo", points, count, factors, FIELD(lo));
	hot_distances(out, "hi", points, count, factors, FIELD(hi));
	hot_distances(out, "p95", points, count, factors, FIELD(p95));
	hot_distances(out, "min", points, count, factors, FIELD(min));
	hot_distances(out, "q25", points, count, factors, FIELD(q25));
	hot_distances(out, "q75", points, count, factors, FIELD(q75));
	hot_numbers(out, "run", points, count, FIELD(run_id));
	hot_numbers(out, "n", points, count, FIELD(n));
	hot_revisions(out, m, points, count);
	hot_numbers(out, "environment", points, count, FIELD(environment_id));
	hot_flags(out, points, count);
	tk_buf_add_str(out, "});\n");
	free(factors);
}

/* ---- about ---- */

/* The time that a problem would take at its roof, in the series' unit; NAN: no roof, or not a time. */
static double time_at_roof(const struct tk_model *m, const struct tk_site_series *s)
{
	struct tk_site_ceilings roofs;
	if (strcmp(s->row->metric, "time") || strcmp(s->row->unit, "ns") ||
	        !(s->problem->flops > 0) || !(s->problem->bytes > 0))
		return NAN;
	tk_site_ceilings_find(m, s->device, &roofs);
	double limit = tk_site_ceilings_attainable(
	        &roofs, s->problem->dtype, s->problem->flops / s->problem->bytes);
	return limit > 0 ? s->problem->flops / limit : NAN;
}

void tk_shard_add_about(
        struct tk_buf *out, const struct tk_model *m, const struct tk_site_series *s)
{
	add_start(out, s->row->slug);
	tk_buf_add_str(out, "\"title\":");
	add_text(out, s->problem->title, 120);
	tk_buf_add_str(out, ",\"label\":");
	add_text(out, s->label, 80);
	tk_buf_add_str(out, ",\"unit\":");
	add_text(out, s->row->unit, 24);
	tk_buf_add_str(out, ",\"ceiling\":");
	tk_shard_add_number(out, time_at_roof(m, s));
	tk_buf_add_printf(out, ",\"lower_is_better\":%s,\"changes\":[",
	        strcmp(s->row->better, "lower") ? "false" : "true");
	for (size_t i = 0; i < s->change_count; i++) {
		const struct tk_change_point_row *c = s->changes[i];
		tk_buf_add_printf(
		        out, "%s{\"time\":%lld,\"before\":", i ? "," : "", (long long)c->as_of_s);
		tk_shard_add_number(out, c->before_value);
		tk_buf_add_str(out, ",\"after\":");
		tk_shard_add_number(out, c->after_value);
		tk_buf_add_str(out, ",\"cause\":");
		add_text(out, c->cause, 40);
		tk_buf_add_char(out, '}');
	}
	tk_buf_add_str(out, "]});\n");
}

/* At most SAMPLES_SHOWN of them, evenly over their ranks, the smallest and the largest among them. */
static void add_samples(struct tk_buf *out, double *samples, size_t count)
{
	size_t shown = count < SAMPLES_SHOWN ? count : SAMPLES_SHOWN;
	tk_sort_values(samples, count);
	int exponent = samples[0] > 0 ? (int)floor(log10(samples[0])) - 4 : 0;
	double factor = pow(10, -exponent);
	int64_t before = 0;
	tk_buf_add_printf(out, "[%d", exponent);
	for (size_t i = 0; i < shown; i++) {
		int64_t v =
		        quantise(samples[shown > 1 ? i * (count - 1) / (shown - 1) : 0], factor);
		tk_buf_add_char(out, ',');
		tk_buf_add_int(out, v - before);
		before = v;
	}
	tk_buf_add_char(out, ']');
}

int tk_shard_add_samples(struct tk_buf *out, const struct tk_model *m,
        const struct tk_site_series *s, const struct tk_point *points, size_t count,
        struct tk_error *err)
{
	int status = 0;
	bool any = false;
	for (size_t i = 0; !status && i < count; i++) {
		double *samples = NULL;
		size_t n = 0;
		status = tk_store_read_samples(
		        m->store, points[i].run_id, s->row->id, &samples, &n, err);
		if (!status && n > 1) {
			if (!any) {
				add_start(out, s->row->slug);
				tk_buf_add_str(out, "\"samples\":{");
			}
			tk_buf_add_printf(
			        out, "%s\"%lld\":", any ? "," : "", (long long)points[i].run_id);
			add_samples(out, samples, n);
			any = true;
		}
		free(samples);
	}
	if (any)
		tk_buf_add_str(out, "}});\n");
	return status;
}

void tk_shard_add_revisions(
        struct tk_buf *out, const struct tk_model *m, const struct tk_upstream_row *upstream)
{
	bool first = true;
	add_start(out, "revisions");
	for (size_t i = 0; i < m->revision_rows.count; i++) {
		const struct tk_revision_row *r =
		        TK_ROWS_AT(&m->revision_rows, struct tk_revision_row, i);
		if (r->upstream_id != upstream->id)
			continue;
		tk_buf_add_printf(out, "%s\"%lld\":[", first ? "\n" : ",\n", (long long)r->id);
		add_text(out, r->rev, REV_BYTES);
		tk_buf_add_char(out, ',');
		add_text(out, r->subject, SUBJECT_BYTES);
		char link[TK_LINK_SIZE];
		tk_buf_add_char(out, ',');
		add_text(out, tk_link_commit(upstream->url, r->rev, link), TK_LINK_SIZE);
		if (m->moves.revisions[i].file)
			tk_buf_add_printf(
			        out, ",\"revisions/%s.html\"", m->moves.revisions[i].file);
		tk_buf_add_char(out, ']');
		first = false;
	}
	tk_buf_add_str(out, "});\n");
	/* which of all revisions are this upstream's, oldest first */
	tk_buf_add_printf(out, "tracker.data.add(\"data/revisions-%lld.js\",{\"ids\":[",
	        (long long)upstream->id);
	first = true;
	for (size_t i = 0; i < m->revision_rows.count; i++) {
		const struct tk_revision_row *r =
		        TK_ROWS_AT(&m->revision_rows, struct tk_revision_row, i);
		if (r->upstream_id == upstream->id)
			tk_buf_add_printf(out, first ? "%lld" : ",%lld", (long long)r->id),
			        first = false;
	}
	tk_buf_add_str(out, "]});\n");
}

/* Ids and times of all nights as differences; pages by id, so far as there are any. */
void tk_shard_add_nights(struct tk_buf *out, const struct tk_model *m)
{
	int64_t before = 0;
	add_start(out, "nights");
	for (int column = 0; column < 2; column++) {
		tk_buf_add_str(out, column ? "],\"time\":[" : "\"id\":[");
		before = 0;
		for (size_t i = 0; i < m->nights_by_id.count; i++) {
			const struct tk_night_row *n = m->nights_by_id.entries[i].row;
			int64_t v = column ? n->as_of_s : n->id;
			if (i)
				tk_buf_add_char(out, ',');
			tk_buf_add_int(out, v - before);
			before = v;
		}
	}
	tk_buf_add_str(out, "],\"page\":{");
	bool first = true;
	for (size_t i = 0; i < m->night_count; i++) {
		if (!m->nights[i].file)
			continue;
		tk_buf_add_printf(out, "%s\"%lld\":\"nights/%s.html\"", first ? "\n" : ",\n",
		        (long long)m->nights[i].row->id, m->nights[i].file);
		first = false;
	}
	tk_buf_add_str(out, "}});\n");
}

void tk_shard_add_environments(struct tk_buf *out, const struct tk_model *m)
{
	bool first = true;
	add_start(out, "environments");
	for (size_t i = 0; i < m->environment_rows.count; i++) {
		const struct tk_environment_row *e =
		        TK_ROWS_AT(&m->environment_rows, struct tk_environment_row, i);
		const struct tk_environment_row *before = tk_environment_find_previous(m, e);
		struct tk_buf text = TK_BUF_INIT;
		if (before)
			tk_environment_add_diff(&text, before->attributes, e->attributes);
		tk_buf_add_printf(out, "%s\"%lld\":", first ? "\n" : ",\n", (long long)e->id);
		add_text(out, tk_buf_cstr(&text), 200);
		tk_buf_free(&text);
		first = false;
	}
	tk_buf_add_str(out, "});\n");
}

void tk_shard_add_manifest(struct tk_buf *out, const struct tk_site *site)
{
	const struct tk_model *m = &site->model;
	const struct tk_chart_data *data = &site->data;
	add_start(out, "manifest");
	tk_buf_add_str(out, "\"format\":4,\"groups\":[");
	for (size_t i = 0; i < data->group_count; i++) {
		tk_buf_add_str(out, i ? ",\n" : "\n");
		tk_chart_data_add_files_json(out, site, i);
	}
	tk_buf_add_str(out, "],\"series\":[");
	for (size_t i = 0; i < m->series_count; i++) {
		const struct tk_site_series *s = &m->series[i];
		tk_buf_add_str(out, i ? ",\n{\"id\":" : "\n{\"id\":");
		add_text(out, s->row->slug, 200);
		tk_buf_add_printf(out, ",\"page\":\"series/%s.html\",\"group\":%zu}", s->file,
		        data->group_of[i]);
	}
	tk_buf_add_str(out, "]});\n");
}
