/* Points of a series as columns. No tree is built: a million points go through here. */
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/format.h"
#include "base/memory.h"
#include "site_gen/data/shard.h"
#include "site_gen/data/shard_internal.h"
#include "site_gen/model/model.h"

/* The points whose columns are written. */
struct columns {
	const struct tk_point *points;
	size_t count;
	double factor;
	int64_t *steps, *row; /* values in steps; the current column */
};

static void add_column(struct tk_buf *out, const char *name, const struct columns *s)
{
	tk_shard_begin_column(out, name);
	tk_buf_add_ints(out, s->row, s->count);
	tk_buf_add_char(out, ']');
}

/* The runs of equal values in s->row: [[index, value], ...]. */
static void add_runs(struct tk_buf *out, const char *name, const struct columns *s,
        int64_t (*shown)(const struct tk_model *m, int64_t value), const struct tk_model *m)
{
	int64_t raw = 0, before = 0;
	bool first = true;
	tk_shard_begin_column(out, name);
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

static int64_t identity(const struct tk_model *m, int64_t id)
{
	return id;
}

static void fill_row(const struct columns *s, size_t field)
{
	for (size_t i = 0; i < s->count; i++)
		s->row[i] = tk_point_int(&s->points[i], field);
}

static void add_deltas(struct tk_buf *out, const char *name, const struct columns *s, size_t field)
{
	int64_t before = 0;
	for (size_t i = 0; i < s->count; i++) {
		int64_t v = tk_point_int(&s->points[i], field);
		s->row[i] = v - before;
		before = v;
	}
	add_column(out, name, s);
}

/* Distances from the median in its steps; -1: unknown. A column without any value is left out. */
static void add_distances(
        struct tk_buf *out, const char *name, const struct columns *s, size_t field)
{
	bool any = false;
	for (size_t i = 0; i < s->count; i++) {
		double v = tk_point_real(&s->points[i], field);
		bool known = isfinite(v);
		s->row[i] = known ? llabs(tk_shard_quantise(v, s->factor) - s->steps[i]) : -1;
		any = any || known;
	}
	if (any)
		add_column(out, name, s);
}

static void add_values(struct tk_buf *out, struct columns *s, bool recent)
{
	int exponent = tk_shard_exponent(s->points, s->count, recent ? 5 : 4);
	s->factor = pow(10, -exponent);
	int64_t before = 0;
	tk_buf_add_str(out, "\"exp\":");
	tk_buf_add_int(out, exponent);
	for (size_t i = 0; i < s->count; i++) {
		s->steps[i] = tk_shard_quantise(s->points[i].value, s->factor);
		s->row[i] = s->steps[i] - before;
		before = s->steps[i];
	}
	add_column(out, "value", s);
	add_distances(out, "lo", s, TK_POINT_FIELD(lo));
	add_distances(out, "hi", s, TK_POINT_FIELD(hi));
	add_distances(out, "p95", s, TK_POINT_FIELD(p95));
	if (!recent)
		return;
	add_distances(out, "min", s, TK_POINT_FIELD(min));
	add_distances(out, "q25", s, TK_POINT_FIELD(q25));
	add_distances(out, "q75", s, TK_POINT_FIELD(q75));
}

/* Times are written only where they are not those of the nights. */
static bool is_of_its_night(const struct tk_model *m, const struct tk_point *points, size_t count)
{
	const struct tk_row_index_entry *all = m->nights_by_id.entries;
	size_t at = 0; /* both are in order, so that the next night is near */
	for (size_t i = 0; i < count; i++) {
		const struct tk_night_row *night;
		while (at + 1 < m->nights_by_id.count && all[at + 1].id <= points[i].night_id)
			at++;
		night = at < m->nights_by_id.count && all[at].id == points[i].night_id
		                ? all[at].row
		                : tk_row_index_find(&m->nights_by_id, points[i].night_id);
		if (!night || night->as_of_s != points[i].as_of_s)
			return false;
	}
	return true;
}

void tk_shard_add_points(struct tk_buf *out, const struct tk_model *m,
        const struct tk_site_series *series, const struct tk_point *points, size_t count,
        bool recent)
{
	int64_t *buffer = tk_calloc(count + 1, 2 * sizeof *buffer);
	if (!buffer) {
		out->status = TK_ENOMEM;
		return;
	}
	struct columns s = {
	        .points = points, .count = count, .steps = buffer, .row = buffer + count};
	tk_shard_begin(out, series->row->slug);
	add_values(out, &s, recent);
	add_deltas(out, "night", &s, TK_POINT_FIELD(night_id));
	if (!is_of_its_night(m, points, count))
		add_deltas(out, "time", &s, TK_POINT_FIELD(as_of_s));
	if (recent) {
		add_deltas(out, "run", &s, TK_POINT_FIELD(run_id));
		add_deltas(out, "n", &s, TK_POINT_FIELD(n));
	}
	fill_row(&s, TK_POINT_FIELD(build_id));
	add_runs(out, "revision", &s, tk_model_find_build_revision_id, m);
	fill_row(&s, TK_POINT_FIELD(environment_id));
	add_runs(out, "environment", &s, identity, m);
	for (size_t i = 0; i < count; i++)
		s.row[i] = points[i].flags;
	add_runs(out, "flags", &s, identity, m);
	tk_buf_add_str(out, "});\n");
	free(buffer);
}
