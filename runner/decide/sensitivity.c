/* What a device can tell apart: the noise between timings of equal code, for each mode of it, and
 * the smallest change that is worth reporting there. */
#include <math.h>

#include "base/base.h"
#include "decide/internal.h"
#include "stats/summary.h"

#define PAIRS_MIN 8      /* fewer say nothing */
#define PAIRS_MAX 256    /* other nights may have other noise */
#define NOISE_FACTOR 3.0 /* a change must exceed the noise of equal code so many times */
#define ONE_NIGHT 2.0    /* timings of one night differ less than those of several */
#define LEAST_NOISE 0.0005
#define MAD_TO_SD 1.4826
#define Q80_TO_SD 0.7803

double tk_detect_least_effect(const struct tk_detect_options *o)
{
	return isnan(o->min_effect) ? TK_MIN_EFFECT_LEAST : o->min_effect;
}

double tk_detect_usual_effect(double min_effect)
{
	return isnan(min_effect) ? TK_MIN_EFFECT_UNKNOWN : min_effect;
}

/* ---- pairs of equal code ---- */

/* A timing of one of the series that tell the noise of a device, in the order of time. */
struct timing {
	int64_t device_id, series_id, night_id, build_id, environment_id, started_s;
	const char *mode, *backend;
	double value;
};
static const struct tk_db_column timing_columns[] = {TK_MEMBER(struct timing, device_id),
        TK_MEMBER(struct timing, series_id), TK_MEMBER(struct timing, night_id),
        TK_MEMBER(struct timing, build_id), TK_MEMBER(struct timing, environment_id),
        TK_MEMBER(struct timing, started_s), TK_MEMBER(struct timing, mode),
        TK_MEMBER(struct timing, backend), TK_MEMBER(struct timing, value)};
static const struct tk_row_type timing_type = TK_ROW_TYPE(struct timing, timing_columns);

/* Of each device and mode, 64 series, controls first: they tell its noise as well as all do. A
 * night that stands for the past was measured when it started. */
#define TIMINGS \
	"WITH chosen AS (SELECT id, device_id, mode, backend FROM (SELECT *, row_number() OVER" \
	" (PARTITION BY device_id, mode ORDER BY role <> 'control', uid) AS place FROM series" \
	" WHERE metric = 'time') WHERE place <= 64)" \
	" SELECT device_id, c.id AS series_id, night_id, build_id, environment_id, started_s," \
	" mode, backend, value FROM chosen c CROSS JOIN measurement m ON m.series_id = c.id" \
	" JOIN night n ON n.id = night_id WHERE value > 0 ORDER BY c.id, m.as_of_s, run_id"

static int by_device_mode_time(const void *a, const void *b)
{
	const struct tk_code_pair *x = a, *y = b;

	if (x->device_id != y->device_id)
		return x->device_id < y->device_id ? -1 : 1;
	const int mode = strcmp(x->mode, y->mode);

	return mode ? mode : (x->started_s > y->started_s) - (x->started_s < y->started_s);
}

static void add_pair(struct tk_catalog *c, const struct timing *a, const struct timing *b)
{
	if (a->series_id != b->series_id || a->environment_id != b->environment_id ||
	        !tk_catalog_is_same_code(c, a->build_id, b->build_id, b->backend))
		return;
	c->pairs[c->pair_count++] = (struct tk_code_pair){.device_id = b->device_id,
	        .mode = b->mode,
	        .started_s = a->started_s > b->started_s ? a->started_s : b->started_s,
	        .difference = fabs(log(b->value / a->value)),
	        .is_one_night = a->night_id == b->night_id};
}

int tk_catalog_load_pairs(struct tk_catalog *c, struct tk_error *err)
{
	if (c->pairs)
		return TK_OK;
	TRY(tk_store_select(c->store, TIMINGS, TK_NO_ARGS, &timing_type, &c->timings, err));
	c->pairs = tk_calloc(c->timings.count + 1, sizeof *c->pairs);
	for (size_t i = 1; i < c->timings.count; i++)
		add_pair(c, TK_ROWS_AT(&c->timings, struct timing, i - 1),
		        TK_ROWS_AT(&c->timings, struct timing, i));
	tk_sort(c->pairs, c->pair_count, sizeof *c->pairs, by_device_mode_time);
	return TK_OK;
}

/* ---- noise ---- */

/* Of one timing, from absolute differences of two, which are reordered. The larger of two
 * quantiles: series of one device are not equally noisy. */
static double noise_of(double *d, size_t n)
{
	static const double parts[] = {0.5, 0.8};
	double at[2];

	tk_quantile_select_many(d, n, parts, 2, at);
	return fmax(LEAST_NOISE, fmax(MAD_TO_SD * at[0], Q80_TO_SD * at[1]) / M_SQRT2);
}

/* By those of pairs[0 .. count), which are of one device and mode, that were measured nearest to a
 * time: a night that is analysed again knows those after it too. NAN: too few. */
static double noise_of_pairs(
        const struct tk_code_pair *pairs, size_t count, int64_t near_s, int64_t *used)
{
	double nights[PAIRS_MAX], within[PAIRS_MAX];
	size_t night_count = 0, within_count = 0, before = 0, after;

	while (before < count && pairs[before].started_s <= near_s)
		before++;
	after = before;
	while ((before > 0 || after < count) && night_count < PAIRS_MAX) {
		const bool take_before =
		        after == count || (before > 0 && near_s - pairs[before - 1].started_s <=
		                                                 pairs[after].started_s - near_s);
		const struct tk_code_pair *p = take_before ? &pairs[--before] : &pairs[after++];

		if (!p->is_one_night)
			nights[night_count++] = p->difference;
		else if (within_count < PAIRS_MAX)
			within[within_count++] = p->difference;
	}
	*used = (int64_t)(night_count + within_count);
	if (night_count >= PAIRS_MIN)
		return noise_of(nights, night_count);
	return within_count >= PAIRS_MIN ? ONE_NIGHT * noise_of(within, within_count) : NAN;
}

/* ---- devices and modes ---- */

static size_t count_before(const struct tk_catalog *c, const struct tk_code_pair *key)
{
	return TK_FIND_FIRST(c->pair_count, i, by_device_mode_time(&c->pairs[i], key) < 0);
}

static struct tk_sensitivity_row sensitivity_of(
        const struct tk_analysis *c, const struct tk_series_case *k)
{
	const struct tk_night_row *night = tk_id_table_find(&c->catalog.nights, c->scope.night_id);
	const int64_t near_s = night ? night->started_s : c->options.now_s;
	struct tk_code_pair key = {.device_id = k->device->id, .mode = k->series->mode};
	struct tk_sensitivity_row row = {.device_id = key.device_id, .mode = key.mode};

	key.started_s = INT64_MIN;
	const size_t from = count_before(&c->catalog, &key);
	key.started_s = INT64_MAX;
	const size_t to = count_before(&c->catalog, &key);
	row.noise = noise_of_pairs(c->catalog.pairs + from, to - from, near_s, &row.pair_count);
	row.min_effect = !isnan(c->options.min_effect) ? c->options.min_effect
	                 : isnan(row.noise)
	                         ? TK_MIN_EFFECT_UNKNOWN
	                         : fmin(fmax(NOISE_FACTOR * row.noise, TK_MIN_EFFECT_LEAST),
	                                   TK_MIN_EFFECT_UNKNOWN);
	return row;
}

/* Devices and modes are few. */
static size_t find(const struct tk_analysis *c, const struct tk_series_case *k)
{
	size_t i = 0;

	while (i < c->sensitivity_count && (c->sensitivity[i].device_id != k->device->id ||
	                                           strcmp(c->sensitivity[i].mode, k->series->mode)))
		i++;
	return i;
}

void tk_analysis_estimate_sensitivity(struct tk_analysis *c)
{
	for (size_t i = 0; i < c->count; i++) {
		const size_t at = find(c, &c->at[i]);

		c->at[i].sensitivity = at;
		if (at < c->sensitivity_count)
			continue;
		c->sensitivity = tk_reallocarray(c->sensitivity, at + 1, sizeof *c->sensitivity);
		c->sensitivity[c->sensitivity_count++] = sensitivity_of(c, &c->at[i]);
	}
}

const struct tk_sensitivity_row *tk_series_case_sensitivity(
        const struct tk_analysis *c, const struct tk_series_case *k)
{
	return &c->sensitivity[k->sensitivity];
}

double tk_analysis_find_min_effect(const struct tk_analysis *c, int64_t series_id)
{
	const struct tk_series_case *k = tk_analysis_find(c, series_id);

	return k ? tk_series_case_sensitivity(c, k)->min_effect
	         : tk_detect_usual_effect(c->options.min_effect);
}

bool tk_monitor_event_is_reported(const struct tk_analysis *c, const struct tk_monitor_event_row *e)
{
	return fabs(log(e->after_value / e->before_value)) >
	       log1p(tk_analysis_find_min_effect(c, e->series_id));
}

/* ---- stored ---- */

int tk_analysis_store_sensitivity(
        const struct tk_analysis *c, struct tk_store *s, int64_t night_id, struct tk_error *err)
{
	for (size_t i = 0; i < c->sensitivity_count; i++) {
		struct tk_sensitivity_row row = c->sensitivity[i];

		row.night_id = night_id;
		if (!isnan(row.noise))
			TRY(tk_store_put(s, TK_TABLE_sensitivity, &row, NULL, err));
	}
	return TK_OK;
}

struct effect {
	double min_effect;
};
static const struct tk_db_column effect_columns[] = {TK_MEMBER(struct effect, min_effect)};
static const struct tk_row_type effect_type = TK_ROW_TYPE(struct effect, effect_columns);

int tk_detect_use_stored_sensitivity(struct tk_store *s, const char *machine, const char *device,
        const char *mode, struct tk_detect_options *options, struct tk_error *err)
{
	AUTO(tk_rows) rows = {0};

	if (!isnan(options->min_effect))
		return TK_OK;
	TRY(tk_store_select(s,
	        "SELECT min_effect FROM sensitivity JOIN night n ON n.id=night_id"
	        " JOIN device d ON d.id=device_id JOIN machine m ON m.id=d.machine_id"
	        " WHERE m.name=?1 AND d.slug=?2 AND mode=?3 ORDER BY n.as_of_s DESC LIMIT 1",
	        TK_ARGS(machine, device, mode), &effect_type, &rows, err));
	options->min_effect = rows.count ? TK_ROWS_AT(&rows, struct effect, 0)->min_effect
	                                 : TK_MIN_EFFECT_UNKNOWN;
	return TK_OK;
}
