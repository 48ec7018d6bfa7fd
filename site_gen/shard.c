/* Writing the scripts. No tree is built for points: a million of them go through here. */
#include "site_gen/shard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "site_gen/escape.h"
#include "site_gen/format.h"
#include "site_gen/links.h"
#include "site_gen/model.h"

#define SUBJECT_BYTES 140
#define REV_BYTES 40

static void add_text(struct tk_buf *out, const char *text, size_t max)
{
	tk_escape_json(out, text, tk_utf8_clip(text, max));
}

void tk_shard_number(struct tk_buf *out, double v)
{
	if (isfinite(v))
		tk_buf_printf(out, "%.6g", v);
	else
		tk_buf_str(out, "null");
}

static void add_start(struct tk_buf *out, const char *id)
{
	tk_buf_str(out, "KD.add(");
	tk_escape_json(out, id, strlen(id));
	tk_buf_str(out, ",{");
}

/* The power of ten that leaves the smallest value five digits. */
static int exponent_of(const struct tk_point *points, size_t count)
{
	double least = INFINITY;
	for (size_t i = 0; i < count; i++)
		if (points[i].value > 0)
			least = fmin(least, points[i].value);
	return isfinite(least) ? (int)floor(log10(least)) - 4 : 0;
}

static int64_t quantise(double v, double factor)
{
	double q = v * factor;
	return isfinite(q) && fabs(q) < 9e15 ? llround(q) : 0;
}

static void add_changes_of(struct tk_buf *out, const char *name, const struct tk_point *points, size_t count,
        int64_t (*of)(const struct tk_model *m, const struct tk_point *p), const struct tk_model *m, int64_t start)
{
	int64_t before = start;
	bool first = true;
	tk_buf_printf(out, ",\"%s\":[", name);
	for (size_t i = 0; i < count; i++) {
		int64_t v = of(m, &points[i]);
		if (v == before)
			continue;
		tk_buf_str(out, first ? "[" : ",[");
		tk_buf_int(out, (int64_t)i);
		tk_buf_char(out, ',');
		tk_buf_int(out, v);
		tk_buf_char(out, ']');
		before = v;
		first = false;
	}
	tk_buf_char(out, ']');
}

static int64_t revision_id(const struct tk_model *m, const struct tk_point *p)
{
	const struct tk_build_row *build = tk_index_find(&m->builds_by_id, p->build_id);
	return build ? build->revision_id : 0;
}

static int64_t environment_id(const struct tk_model *m, const struct tk_point *p)
{
	return p->environment_id;
}

static int64_t flags_of(const struct tk_model *m, const struct tk_point *p)
{
	return p->flags;
}

static int64_t night_of(const struct tk_point *p)
{
	return p->night_id;
}

static int64_t time_of(const struct tk_point *p)
{
	return p->as_of_s;
}

static void add_deltas(struct tk_buf *out, const char *name, const struct tk_point *points, size_t count,
        int64_t (*of)(const struct tk_point *p))
{
	int64_t before = 0;
	tk_buf_printf(out, ",\"%s\":[", name);
	for (size_t i = 0; i < count; i++) {
		if (i)
			tk_buf_char(out, ',');
		tk_buf_int(out, of(&points[i]) - before);
		before = of(&points[i]);
	}
	tk_buf_char(out, ']');
}

static void add_values(struct tk_buf *out, const struct tk_point *points, size_t count)
{
	int exponent = exponent_of(points, count);
	double factor = pow(10, -exponent);
	int64_t before = 0;
	tk_buf_printf(out, "\"exp\":%d,\"value\":[", exponent);
	for (size_t i = 0; i < count; i++) {
		int64_t v = quantise(points[i].value, factor);
		if (i)
			tk_buf_char(out, ',');
		tk_buf_int(out, v - before);
		before = v;
	}
	for (int side = 0; side < 2; side++) {
		tk_buf_str(out, side ? "],\"hi\":[" : "],\"lo\":[");
		for (size_t i = 0; i < count; i++) {
			if (i)
				tk_buf_char(out, ',');
			tk_buf_int(out, llabs(quantise(side ? points[i].hi : points[i].lo, factor) -
			                        quantise(points[i].value, factor)));
		}
	}
	tk_buf_char(out, ']');
}

void tk_shard_points(struct tk_buf *out, const struct tk_model *m, const struct tk_site_series *s,
        const struct tk_point *points, size_t count)
{
	add_start(out, s->row->slug);
	add_values(out, points, count);
	add_deltas(out, "time", points, count, time_of);
	add_deltas(out, "night", points, count, night_of);
	add_changes_of(out, "revision", points, count, revision_id, m, 0);
	add_changes_of(out, "environment", points, count, environment_id, m, 0);
	add_changes_of(out, "flags", points, count, flags_of, m, 0);
	tk_buf_str(out, "});\n");
}

void tk_shard_about(struct tk_buf *out, const struct tk_site_series *s)
{
	add_start(out, s->row->slug);
	tk_buf_str(out, "\"title\":");
	add_text(out, s->problem->title, 120);
	tk_buf_str(out, ",\"label\":");
	add_text(out, s->label, 80);
	tk_buf_str(out, ",\"unit\":");
	add_text(out, s->row->unit, 24);
	tk_buf_printf(out, ",\"lower\":%s,\"changes\":[", strcmp(s->row->better, "lower") ? "false" : "true");
	for (size_t i = 0; i < s->change_count; i++) {
		const struct tk_change_point_row *c = s->changes[i];
		tk_buf_printf(out, "%s{\"time\":%lld,\"before\":", i ? "," : "", (long long)c->as_of_s);
		tk_shard_number(out, c->before_value);
		tk_buf_str(out, ",\"after\":");
		tk_shard_number(out, c->after_value);
		tk_buf_str(out, ",\"cause\":");
		add_text(out, c->cause, 40);
		tk_buf_char(out, '}');
	}
	tk_buf_str(out, "]});\n");
}

void tk_shard_revisions(struct tk_buf *out, const struct tk_model *m, const struct tk_upstream_row *upstream)
{
	bool first = true;
	add_start(out, "revisions");
	for (size_t i = 0; i < m->revision_rows.count; i++) {
		const struct tk_revision_row *r = TK_ROWS_AT(&m->revision_rows, struct tk_revision_row, i);
		if (r->upstream_id != upstream->id)
			continue;
		tk_buf_printf(out, "%s\"%lld\":[", first ? "\n" : ",\n", (long long)r->id);
		add_text(out, r->rev, REV_BYTES);
		tk_buf_char(out, ',');
		add_text(out, r->subject, SUBJECT_BYTES);
		char link[TK_LINK_SIZE];
		tk_buf_char(out, ',');
		add_text(out, tk_link_commit(upstream->url, r->rev, link), TK_LINK_SIZE);
		tk_buf_char(out, ']');
		first = false;
	}
	tk_buf_str(out, "});\n");
}

void tk_shard_nights(struct tk_buf *out, const struct tk_model *m)
{
	bool first = true;
	add_start(out, "nights");
	for (size_t i = 0; i < m->night_count; i++) {
		if (!m->nights[i].file)
			continue;
		tk_buf_printf(out, "%s\"%lld\":\"nights/%s.html\"", first ? "\n" : ",\n",
		        (long long)m->nights[i].row->id, m->nights[i].file);
		first = false;
	}
	tk_buf_str(out, "});\n");
}

void tk_shard_environments(struct tk_buf *out, const struct tk_model *m)
{
	bool first = true;
	add_start(out, "environments");
	for (size_t i = 0; i < m->environment_rows.count; i++) {
		const struct tk_environment_row *e = TK_ROWS_AT(&m->environment_rows, struct tk_environment_row, i);
		const struct tk_environment_row *before = tk_environment_before(m, e);
		struct tk_buf text = TK_BUF_INIT;
		if (before)
			tk_environment_difference(&text, before->attributes, e->attributes);
		tk_buf_printf(out, "%s\"%lld\":", first ? "\n" : ",\n", (long long)e->id);
		add_text(out, tk_buf_cstr(&text), 200);
		tk_buf_free(&text);
		first = false;
	}
	tk_buf_str(out, "});\n");
}

void tk_shard_manifest(struct tk_buf *out, const struct tk_model *m)
{
	add_start(out, "manifest");
	tk_buf_str(out, "\"format\":1,\"series\":[");
	for (size_t i = 0; i < m->series_count; i++) {
		const struct tk_site_series *s = &m->series[i];
		tk_buf_str(out, i ? ",\n{\"id\":" : "\n{\"id\":");
		add_text(out, s->row->slug, 200);
		tk_buf_printf(out, ",\"page\":\"series/%s.html\",\"data\":[", s->file);
		if (s->has_cold)
			tk_buf_printf(out, "\"data/%s.past.js\",", s->file);
		tk_buf_printf(out, "\"data/%s.recent.js\"]}", s->file);
	}
	tk_buf_str(out, "]});\n");
}
