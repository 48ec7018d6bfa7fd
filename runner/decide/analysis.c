/* Reads the history and prepares a case for every series of the range. */
#include <math.h>

#include "base/base.h"
#include "core/night.h"
#include "decide/internal.h"
#include "store/store.h"

/* ---- the range ------------------------------------------------------------------------------- */

static int resolve_nights(struct tk_analysis *c, const struct tk_diff_range *range,
        int64_t *machine_id, struct tk_error *err)
{
	const struct tk_night_row *base = tk_id_table_find(
	                                  &c->catalog.nights, range->base_night_id),
	                          *head = tk_id_table_find(
	                                  &c->catalog.nights, range->head_night_id);

	if ((range->base_night_id && !base) || (range->head_night_id && !head))
		return tk_fail(err, TK_EUSAGE, "no night has the id %lld",
		        (long long)(base ? range->head_night_id : range->base_night_id));
	if (base && head && base->machine_id != head->machine_id)
		return tk_fail(err, TK_EUSAGE,
		        "the two nights are of different machines: their timings cannot be "
		        "compared");
	if (base && head && base->as_of_s >= head->as_of_s)
		return tk_fail(err, TK_EUSAGE, "the base night is not earlier than the head night");
	if (head) {
		c->since_s = base ? base->as_of_s + 1 : head->as_of_s;
		c->until_s = head->as_of_s;
		*machine_id = head->machine_id;
	} else if (base) {
		c->since_s = base->as_of_s + 1;
		*machine_id = base->machine_id;
	}
	return TK_OK;
}

int tk_diff_range_check(
        const struct tk_rows *machines, const struct tk_diff_range *range, struct tk_error *err)
{
	bool known = !range->machine;

	TRY(tk_filter_check(range->filters, err));
	TRY(tk_filter_check(range->ignored, err));
	for (size_t i = 0; i < machines->count && !known; i++)
		known = strcmp(TK_ROWS_AT(machines, struct tk_machine_row, i)->name,
		                range->machine) == 0;
	return known ? TK_OK
	             : tk_fail(err, TK_EUSAGE, "no machine \"%s\" in the history", range->machine);
}

/* Runs and alerts before this time are what was known before. */
static int64_t known_before(const struct tk_analysis *c)
{
	return c->scope.night_id ? c->scope.as_of_s : c->since_s;
}

/* The night completed; one that was killed may not have measured all its series. */
static bool has_ended(const struct tk_night_row *n)
{
	return n->status != TK_NIGHT_RUNNING;
}

/* ---- cases ----------------------------------------------------------------------------------- */

struct tk_series_case *tk_analysis_find(const struct tk_analysis *c, int64_t series_id)
{
	const size_t at = TK_FIND_FIRST(c->count, i, c->at[i].series->id < series_id);

	return at < c->count && c->at[at].series->id == series_id ? &c->at[at] : NULL;
}

static bool is_in_range(
        const struct tk_series_case *k, const struct tk_diff_range *range, int64_t machine_id)
{
	if (machine_id && k->machine->id != machine_id)
		return false;
	return !range->machine || strcmp(range->machine, k->machine->name) == 0;
}

void tk_analysis_filter(struct tk_analysis *c, const struct tk_diff_range *range)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++)
		if (tk_series_case_is_chosen(&c->at[i], range))
			c->at[kept++] = c->at[i];
		else
			free(c->at[i].owned_points);
	c->count = kept;
}

/* Moves those of the value 0 behind those with a positive one; others are dropped. */
static void part_zeros(struct tk_series_case *k, struct tk_point *p, size_t total)
{
	struct tk_point *zeros = tk_malloc((total + 1) * sizeof *zeros);

	for (size_t i = 0; i < total; i++) {
		const bool is_positive = isfinite(p[i].value) && p[i].value > 0;

		k->earlier += is_positive && i < k->window->before;
		if (is_positive)
			p[k->count++] = p[i];
		else if (p[i].value == 0)
			zeros[k->zero_count++] = p[i];
	}
	if (k->zero_count)
		memcpy(p + k->count, zeros, k->zero_count * sizeof *zeros);
	k->zeros = p + k->count;
	free(zeros);
}

/* What is before the newest version of the benchmark cannot be compared. */
static void skip_old_versions(struct tk_series_case *k)
{
	size_t first = k->count ? k->count - 1 : 0;

	while (first &&
	        !tk_point_is_new_version(k->points[first - 1].flags, k->points[first].flags))
		first--;
	k->skipped = first;
	k->points += first;
	k->count -= first;
	k->earlier -= first < k->earlier ? first : k->earlier;
}

/* Keeps the points with a positive value; those of the reader have one. Without any from before the
 * range, its own first night is the baseline. */
static void take_points(const struct tk_analysis *c, struct tk_series_case *k)
{
	struct tk_point *p = (struct tk_point *)k->window->points;
	const size_t total = k->window->before + k->window->within;

	k->points = p;
	if (k->window->is_borrowed) {
		k->earlier = k->window->before;
		k->count = total;
	}
	if (!k->window->is_borrowed) {
		k->zero = tk_zero_step_find(p, total, k->window->before, c->options.window);
		part_zeros(k, p, total);
	}
	skip_old_versions(k);
	k->range = k->earlier;
	if (!k->range)
		while (k->range < k->count && k->points[k->range].as_of_s == k->points[0].as_of_s)
			k->range++;
	if (k->range == k->count)
		k->range = 0;
}

/* ---- the alert that a series came into the range with, and the levels around it -------------- */

/* An alert about a change that was open, or not closed yet, when the range began. */
static bool is_relevant(const struct tk_analysis *c, const struct tk_series_case *k,
        const struct tk_alert_row *a, int64_t known_before_s)
{
	const struct tk_night_row *night = tk_id_table_find(&c->catalog.nights, a->night_id);

	if (a->kind != TK_ALERT_CHANGE || c->options.baseline != TK_BASELINE_WINDOW ||
	        (!k->range && !k->zero.exists))
		return false;
	if (!night || night->as_of_s >= known_before_s)
		return false;
	return a->status == TK_ALERT_OPEN || a->closed_s >= known_before_s;
}

/* A range of several nights holds what they reported and took back. */
static bool is_ended(const struct tk_analysis *c, const struct tk_alert_row *a)
{
	return a->kind == TK_ALERT_CHANGE && !c->scope.night_id &&
	       c->options.baseline == TK_BASELINE_WINDOW && a->status == TK_ALERT_CLOSED &&
	       a->opened_s >= c->since_s && a->closed_s <= c->until_s;
}

int tk_alert_read_levels(const struct tk_analysis *c, const struct tk_alert_row *a,
        int64_t before_s, double *baseline, double *change, struct tk_error *err)
{
	double level;
	TRY(tk_store_find_alert_levels(c->catalog.store, a->uid, before_s, &level, change, err));

	*baseline = level > 0 ? log(level) : NAN;
	return TK_OK;
}

/* Gives each case the newest alert that was open, or not closed yet, at a time. */
static int add_alerts(struct tk_analysis *c, int64_t known_before_s, struct tk_error *err)
{
	for (size_t i = 0; i < c->catalog.alerts.count; i++) {
		const struct tk_alert_row *a =
		        TK_ROWS_AT(&c->catalog.alerts, struct tk_alert_row, i);
		struct tk_series_case *k = tk_analysis_find(c, a->series_id);

		if (k && is_relevant(c, k, a, known_before_s) &&
		        (!k->alert || k->alert->opened_s < a->opened_s))
			k->alert = a;
		if (k && is_ended(c, a) && (!k->ended || k->ended->opened_s < a->opened_s))
			k->ended = a;
	}
	for (size_t i = 0; i < c->count; i++)
		if (c->at[i].alert) {
			TRY(tk_alert_read_levels(c, c->at[i].alert, known_before_s,
			        &c->at[i].alert_baseline, &c->at[i].alert_change, err));
		}
	return TK_OK;
}
/* The series has no run up to the end of the range, and one after it. */
static int appeared_later(struct tk_store *s, const struct tk_analysis *c,
        const struct tk_history_window *w, bool *out, struct tk_error *err)
{
	AUTO(tk_rows) points = {0};

	*out = false;
	if (c->open_ended || w->last_before.run_id || w->last_within.run_id)
		return TK_OK;
	TRY(tk_store_has_executed_run(s, w->series_id, c->until_s + 1, out, err));
	if (*out)
		return TK_OK;
	/* Imported points have no run of their own. */
	TRY(tk_store_list_points(s, w->series_id, c->until_s + 1, 1, &points, err));
	*out = points.count > 0;
	return TK_OK;
}

/* A backend that has declared its operations since then is no longer asked for this problem. */
static bool is_no_longer_planned(const struct tk_history_window *w)
{
	return !w->before && !w->within && !w->last_within.run_id && w->last_before.run_id &&
	       w->last_before.outcome == TK_OUTCOME_UNSUPPORTED;
}

/* No night measures it but backfills did: it belongs to the past that they stand for, and is not
 * expected today. */
static bool is_of_the_past(const struct tk_analysis *c, const struct tk_history_window *w)
{
	const bool is_within = w->last_within.run_id != 0;
	const struct tk_night_row *newest = tk_id_table_find(
	        &c->catalog.nights, is_within ? w->last_within.night_id : w->last_before.night_id);
	const bool is_expected = c->scope.night_id ? newest && newest->id == c->scope.night_id
	                                           : is_within || !c->open_ended;

	return !is_expected && newest && newest->kind == TK_NIGHT_BACKFILL;
}

static int add_case(struct tk_store *s, struct tk_analysis *c, const struct tk_history_window *w,
        const struct tk_diff_range *range, int64_t machine_id, struct tk_error *err)
{
	struct tk_series_case k = {
	        .window = w, .q = NAN, .alert_baseline = NAN, .alert_change = NAN, .level = NAN};
	const bool touched = w->last_within.run_id && w->last_within.night_id == c->scope.night_id;
	bool later;

	if (!tk_series_case_find_names(&c->catalog, w->series_id, &k) ||
	        !is_in_range(&k, range, machine_id) || is_no_longer_planned(w) ||
	        is_of_the_past(c, w))
		return TK_OK;
	if (c->scope.touched_only && !touched)
		return TK_OK;
	TRY(appeared_later(s, c, w, &later, err));
	if (later)
		return TK_OK;
	take_points(c, &k);
	k.y = c->memory + 3 * w->first;
	k.adjusted_y = k.y + k.count;
	k.se = k.adjusted_y + k.count;
	c->at[c->count++] = k;
	return TK_OK;
}

static int64_t newest_run_s(const struct tk_series_case *k)
{
	const struct tk_history_window *w = k->window;

	return w->last_within.run_id ? w->last_within.as_of_s : w->last_before.as_of_s;
}

/* It never had a timing, and its backend has run on the device since without being asked for it:
 * the night in which it failed could not know what the backend supports. */
static bool was_never_supported(const struct tk_analysis *c, const struct tk_series_case *k)
{
	if (k->count || k->series->rotate_nights > 1 || !newest_run_s(k))
		return false;
	for (size_t i = 0; i < c->count; i++) {
		const struct tk_series_case *other = &c->at[i];

		if (other->count && other->device == k->device && other->upstream == k->upstream &&
		        strcmp(other->series->backend, k->series->backend) == 0 &&
		        newest_run_s(other) > newest_run_s(k))
			return true;
	}
	return false;
}

static void drop_never_supported(struct tk_analysis *c)
{
	bool *drop = tk_calloc(c->count + 1, sizeof *drop);
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++)
		drop[i] = was_never_supported(c, &c->at[i]);
	for (size_t i = 0; i < c->count; i++)
		if (!drop[i])
			c->at[kept++] = c->at[i];
	c->count = kept;
	free(drop);
}

/* The logarithms and baselines of all cases, found by several threads. */
static void find_baselines_of_part(void *arg, int64_t first, int64_t count)
{
	struct tk_analysis *c = arg;

	for (int64_t i = first; i < first + count; i++) {
		struct tk_series_case *k = &c->at[i];

		tk_series_case_compute_logs(k);
		if (k->range)
			tk_level_find_baseline(k->y, k->range, &k->base);
	}
}

static int find_baselines(struct tk_analysis *c, struct tk_error *err)
{
	if (c->options.baseline == TK_BASELINE_WINDOW) {
		tk_parallel_for((int64_t)c->count, TK_CASES_PER_PART, find_baselines_of_part, c);
		return TK_OK;
	}
	for (size_t i = 0; i < c->count; i++) {
		tk_series_case_compute_logs(&c->at[i]);
		if (c->at[i].range)
			TRY(tk_series_case_set_baseline(c, &c->at[i], err));
	}
	return TK_OK;
}

static size_t count_points(const struct tk_rows *windows)
{
	const struct tk_history_window *last =
	        windows->count ? TK_ROWS_AT(windows, struct tk_history_window, windows->count - 1)
	                       : NULL;

	return last ? last->first + last->before + last->within : 0;
}

static int load_series(struct tk_store *s, struct tk_analysis *c, const struct tk_diff_range *range,
        int64_t machine_id, struct tk_error *err)
{
	const size_t before = c->options.window > TK_HISTORY_POINTS_MIN ? c->options.window
	                                                                : TK_HISTORY_POINTS_MIN;
	const struct tk_window_query query = {.since_s = c->since_s,
	        .until_s = c->until_s,
	        .runs_s = known_before(c),
	        .before = before,
	        .reader = c->scope.memory ? c->scope.memory->reader : NULL};
	TRY(tk_store_list_windows(s, &query, &c->windows, &c->points, err));
	c->point_count = count_points(&c->windows);
	c->at = tk_calloc(c->windows.count + 1, sizeof *c->at);
	c->memory = tk_malloc((3 * c->point_count + 1) * sizeof *c->memory);
	for (size_t i = 0; i < c->windows.count; i++)
		TRY(add_case(s, c, TK_ROWS_AT(&c->windows, struct tk_history_window, i), range,
		        machine_id, err));
	drop_never_supported(c);
	TRY(add_alerts(c, known_before(c), err));
	return find_baselines(c, err);
}

/* ---- what each machine was expected to measure ----------------------------------------------- */

static bool is_whole_night(const struct tk_night_row *n)
{
	return has_ended(n) && n->status != TK_NIGHT_FAILED &&
	       (n->kind == TK_NIGHT_NIGHTLY || n->kind == TK_NIGHT_IMPORT);
}

static bool is_full_night(const struct tk_analysis *c, const struct tk_night_row *n)
{
	if (c->scope.night_id)
		return n->id == c->scope.night_id;
	return n->as_of_s >= c->since_s && n->as_of_s <= c->until_s && is_whole_night(n);
}

static const struct tk_night_row *newest_full_night(const struct tk_analysis *c, int64_t machine_id)
{
	const struct tk_rows *nights = &c->catalog.nights.rows;
	const struct tk_night_row *newest = NULL;

	for (size_t i = 0; i < nights->count; i++) {
		const struct tk_night_row *n = TK_ROWS_AT(nights, struct tk_night_row, i);

		if (n->machine_id == machine_id && is_full_night(c, n) &&
		        (!newest || n->as_of_s > newest->as_of_s))
			newest = n;
	}
	return newest;
}

static int load_expected(struct tk_analysis *c, struct tk_error *err)
{
	const struct tk_rows *machines = &c->catalog.machines.rows;

	c->expected = tk_calloc(machines->count + 1, sizeof *c->expected);
	for (size_t m = 0; m < machines->count; m++) {
		struct tk_expected_series *e = &c->expected[c->expected_count++];

		e->machine_id = TK_ROWS_AT(machines, struct tk_machine_row, m)->id;
		e->night = newest_full_night(c, e->machine_id);
		if (e->night)
			TRY(tk_store_list(c->catalog.store, TK_TABLE_resolution, "night_id=?1",
			        TK_ARGS(e->night->id), &e->resolutions, err));
	}
	return TK_OK;
}

const struct tk_expected_series *tk_analysis_find_expected(
        const struct tk_analysis *c, int64_t machine_id)
{
	for (size_t i = 0; i < c->expected_count; i++)
		if (c->expected[i].machine_id == machine_id)
			return &c->expected[i];
	return NULL;
}

size_t tk_analysis_count_nights_since(
        const struct tk_analysis *c, int64_t machine_id, int64_t since_s)
{
	const struct tk_expected_series *e = tk_analysis_find_expected(c, machine_id);
	const struct tk_rows *nights = &c->catalog.nights.rows;
	struct tk_night_tally count = {0};

	if (!e || !e->night)
		return 0;
	for (size_t i = 0; i < nights->count; i++) {
		const struct tk_night_row *n = TK_ROWS_AT(nights, struct tk_night_row, i);

		if (n->machine_id == machine_id && n->as_of_s > since_s &&
		        n->as_of_s <= e->night->as_of_s &&
		        (n->id == e->night->id || is_whole_night(n)))
			tk_night_tally_add(&count, tk_night_read_coverage(n->summary));
	}
	return tk_night_tally_total(&count);
}

/* ---- loading --------------------------------------------------------------------------------- */

/* A catalog that is kept belongs to the analysis until that is freed. */
static int load_catalog(struct tk_store *s, struct tk_analysis *c, struct tk_error *err)
{
	int status;

	if (!c->scope.memory)
		return tk_catalog_load(s, &c->catalog, err);
	status = tk_catalog_reload_alerts(&c->scope.memory->catalog, err);
	c->catalog = c->scope.memory->catalog;
	return status;
}

int tk_analysis_load(struct tk_store *s, const struct tk_detect_options *o,
        const struct tk_diff_range *range, const struct tk_night_scope *scope,
        struct tk_analysis *out, struct tk_error *err)
{
	int64_t machine_id = 0;

	*out = (struct tk_analysis){.since_s = range->since_s,
	        .until_s = range->until_s,
	        .open_ended = range->until_s == INT64_MAX && !range->head_night_id,
	        .options = *o};
	if (scope)
		out->scope = *scope;
	TRY(load_catalog(s, out, err));
	TRY(tk_diff_range_check(&out->catalog.machines.rows, range, err));
	TRY(resolve_nights(out, range, &machine_id, err));
	tk_commit_groups_load(out);
	TRY(tk_store_list_ab_pairs(s, 0, out->since_s, &out->ab_pairs, err));
	TRY(tk_store_list(s, TK_TABLE_bisection, NULL, TK_NO_ARGS, &out->bisections, err));
	TRY(tk_store_has_comparisons(s, &out->has_comparisons, err));
	TRY(load_expected(out, err));
	TRY(tk_catalog_load_pairs(&out->catalog, err));
	TRY(load_series(s, out, range, machine_id, err));
	tk_analysis_estimate_sensitivity(out);
	return TK_OK;
}

void tk_analysis_free(struct tk_analysis *c)
{
	for (size_t i = 0; i < c->expected_count; i++)
		tk_rows_free(&c->expected[i].resolutions);
	for (size_t i = 0; i < c->count; i++)
		free(c->at[i].owned_points);
	free(c->expected);
	free(c->at);
	free(c->memory);
	free(c->shifts);
	free(c->sensitivity);
	tk_rows_free(&c->windows);
	tk_rows_free(&c->points);
	tk_rows_free(&c->ab_pairs);
	tk_rows_free(&c->bisections);
	tk_rows_free(&c->monitor_events);
	free(c->groups.at);
	if (c->scope.memory)
		c->scope.memory->catalog = c->catalog;
	else
		tk_catalog_free(&c->catalog);
	*c = (struct tk_analysis){0};
}
