/* What data files contain of a series: name, change points, points and samples. No tree is built: a
 * million points go through here. */
#include <math.h>

#include "base/base.h"
#include "site_gen/data/data.h"
#include "site_gen/model/model.h"
#include "site_gen/render/escape.h"
#include "stats/summary.h"

#define SAMPLES_SHOWN 100

/* ---- what all data files share ---- */

void tk_data_add_text(struct tk_buf *out, const char *text, size_t max)
{
	tk_escape_json(out, text, tk_utf8_clip_len(text, max));
}

void tk_data_add_number(struct tk_buf *out, double v)
{
	char text[TK_FORMAT_SIZE];
	tk_buf_add_str(out, isfinite(v) ? tk_format_digits(v, 6, text) : "null");
}

void tk_data_begin(struct tk_buf *out, const char *id)
{
	tk_buf_add_str(out, "tracker.data.add(");
	tk_escape_json(out, id, strlen(id));
	tk_buf_add_str(out, ",{");
}

static void begin_column(struct tk_buf *out, const char *name)
{
	tk_buf_add_str(out, ",\"");
	tk_buf_add_str(out, name);
	tk_buf_add_str(out, "\":[");
}

/* ---- points ---- */

/* A field of a point, as an offset for real_field() and int_field(). */
#define FIELD(name) offsetof(struct tk_point, name)
static double real_field(const struct tk_point *p, size_t field)
{
	double v;
	memcpy(&v, (const char *)p + field, sizeof v);
	return v;
}

static int64_t int_field(const struct tk_point *p, size_t field)
{
	int64_t v;
	memcpy(&v, (const char *)p + field, sizeof v);
	return v;
}

/* llround(v * factor), faster */
static int64_t quantise(double v, double factor)
{
	double q = v * factor;
	if (!(fabs(q) < 9e15))
		return 0;
	int64_t whole = (int64_t)q;
	double rest = q - (double)whole;
	return whole + (rest >= 0.5) - (rest <= -0.5);
}

/* Values are stored in steps of a power of ten: the one that leaves the smallest value `digits`
 * digits. Four (0.05 %) are used for older points, five for recent ones. */
static int choose_exponent(const struct tk_point *points, size_t count, int digits)
{
	double least = INFINITY;
	for (size_t i = 0; i < count; i++)
		if (points[i].value > 0 && points[i].value < least)
			least = points[i].value;
	return isfinite(least) ? (int)floor(log10(least)) + 1 - digits : 0;
}

/* The points whose columns are written. */
struct columns {
	const struct tk_point *points;
	size_t count;
	double factor;
	int64_t *steps, *row; /* values in steps; the current column */
};

static void add_column(struct tk_buf *out, const char *name, const struct columns *s)
{
	begin_column(out, name);
	tk_buf_add_ints(out, s->row, s->count);
	tk_buf_add_char(out, ']');
}

/* The runs of equal values in s->row: [[index, value], ...]. */
static void add_runs(struct tk_buf *out, const char *name, const struct columns *s,
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

static int64_t identity(const struct tk_model *m, int64_t id)
{
	return id;
}

static void fill_row(const struct columns *s, size_t field)
{
	for (size_t i = 0; i < s->count; i++)
		s->row[i] = int_field(&s->points[i], field);
}

static void add_deltas(struct tk_buf *out, const char *name, const struct columns *s, size_t field)
{
	int64_t before = 0;
	for (size_t i = 0; i < s->count; i++) {
		int64_t v = int_field(&s->points[i], field);
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
		double v = real_field(&s->points[i], field);
		bool known = isfinite(v);
		s->row[i] = known ? llabs(quantise(v, s->factor) - s->steps[i]) : -1;
		any = any || known;
	}
	if (any)
		add_column(out, name, s);
}

static void add_values(struct tk_buf *out, struct columns *s, bool recent)
{
	int exponent = choose_exponent(s->points, s->count, recent ? 5 : 4);
	s->factor = pow(10, -exponent);
	int64_t before = 0;
	tk_buf_add_str(out, "\"exp\":");
	tk_buf_add_int(out, exponent);
	for (size_t i = 0; i < s->count; i++) {
		s->steps[i] = quantise(s->points[i].value, s->factor);
		s->row[i] = s->steps[i] - before;
		before = s->steps[i];
	}
	add_column(out, "value", s);
	add_distances(out, "lo", s, FIELD(lo));
	add_distances(out, "hi", s, FIELD(hi));
	add_distances(out, "p95", s, FIELD(p95));
	if (!recent)
		return;
	add_distances(out, "min", s, FIELD(min));
	add_distances(out, "q25", s, FIELD(q25));
	add_distances(out, "q75", s, FIELD(q75));
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

void tk_data_add_points(struct tk_buf *out, const struct tk_model *m,
        const struct tk_site_series *series, const struct tk_point *points, size_t count,
        bool recent)
{
	int64_t *buffer = tk_calloc(count + 1, 2 * sizeof *buffer);
	struct columns s = {
	        .points = points, .count = count, .steps = buffer, .row = buffer + count};
	tk_data_begin(out, series->row->slug);
	add_values(out, &s, recent);
	add_deltas(out, "night", &s, FIELD(night_id));
	if (!is_of_its_night(m, points, count))
		add_deltas(out, "time", &s, FIELD(as_of_s));
	if (recent) {
		add_deltas(out, "run", &s, FIELD(run_id));
		add_deltas(out, "n", &s, FIELD(n));
	}
	fill_row(&s, FIELD(build_id));
	add_runs(out, "revision", &s, tk_model_find_build_revision_id, m);
	fill_row(&s, FIELD(environment_id));
	add_runs(out, "environment", &s, identity, m);
	for (size_t i = 0; i < count; i++)
		s.row[i] = points[i].flags;
	add_runs(out, "flags", &s, identity, m);
	tk_buf_add_str(out, "});\n");
	free(buffer);
}

/* ---- names, change points, samples ---- */

/* The times that the ceiling of the problem and the peak of the datasheet allow, in the series'
 * unit; NAN: unknown, or not a time. */
static void find_limits(
        const struct tk_model *m, const struct tk_site_series *s, double *ceiling, double *peak)
{
	struct tk_ceiling_set ceilings;
	*ceiling = *peak = NAN;
	if (s->metric != TK_METRIC_TIME || s->unit != TK_UNIT_NS || !(s->problem->flops > 0) ||
	        !(s->problem->bytes > 0))
		return;
	tk_ceiling_set_load(m, s->device, &ceilings);
	double limit = tk_ceiling_set_attainable(
	        &ceilings, s->problem->dtype, s->problem->flops / s->problem->bytes);
	*ceiling = limit > 0 ? s->problem->flops / limit : NAN;
	*peak = tk_ceiling_set_efficiency_by_source(&ceilings, TK_CEILING_DATASHEET, s, 1);
}

/* "work":[amount,unit]: amount over a time is the rate; nothing for what is no time. */
static void add_work(struct tk_buf *out, const struct tk_site_series *s)
{
	const char *unit;
	double amount = tk_series_rate(s, 1, &unit);
	if (!isfinite(amount))
		return;
	tk_buf_add_str(out, ",\"work\":[");
	tk_data_add_number(out, amount);
	tk_buf_add_printf(out, ",\"%s\"]", unit);
}

void tk_data_add_about(struct tk_buf *out, const struct tk_model *m, const struct tk_site_series *s)
{
	double ceiling, peak;
	find_limits(m, s, &ceiling, &peak);
	tk_data_begin(out, s->row->slug);
	tk_buf_add_str(out, "\"title\":");
	tk_data_add_text(out, s->problem->title, 120);
	tk_buf_add_str(out, ",\"label\":");
	tk_data_add_text(out, s->label, 80);
	tk_buf_add_str(out, ",\"unit\":");
	tk_data_add_text(out, s->row->unit, 24);
	tk_buf_add_str(out, ",\"ceiling\":");
	tk_data_add_number(out, ceiling);
	tk_buf_add_str(out, ",\"peak\":");
	tk_data_add_number(out, peak);
	add_work(out, s);
	tk_buf_add_printf(out, ",\"lower_is_better\":%s,\"changes\":[",
	        s->row->better != TK_BETTER_LOWER ? "false" : "true");
	for (size_t i = 0; i < s->change_count; i++) {
		const struct tk_site_change *c = &s->changes[i];
		tk_buf_add_printf(
		        out, "%s{\"time\":%lld,\"before\":", i ? "," : "", (long long)c->as_of_s);
		tk_data_add_number(out, c->before);
		tk_buf_add_str(out, ",\"after\":");
		tk_data_add_number(out, c->after);
		tk_buf_add_str(out, ",\"cause\":");
		tk_data_add_text(out, tk_cause_name(c->cause), 40);
		tk_buf_add_char(out, '}');
	}
	tk_buf_add_str(out, "]});\n");
}

/* At most SAMPLES_SHOWN, evenly by rank, with the smallest and the largest. */
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

int tk_data_add_samples(struct tk_buf *out, const struct tk_model *m,
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
				tk_data_begin(out, s->row->slug);
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
