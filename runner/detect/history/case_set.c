/* Reads the history and prepares a case for every series of the range. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "detect/history/series_case.h"

#define SAID_LATE_MAX 64 /* points: a small step in much noise takes weeks to show */
#define REACH_S \
	(120 * INT64_C(86400)) /* before a step that is looked at: what its level is made of */
#define INTERVAL_TO_SE 3.92    /* a 95 % interval is 2 * 1.96 standard errors wide */

static const struct tk_night_row *night_of(const struct tk_catalog *c, int64_t id)
{
	return tk_id_table_find(&c->nights, id);
}

static int resolve_nights(struct tk_case_set *c, const struct tk_diff_range *range,
        int64_t *machine_id, struct tk_error *err)
{
	const struct tk_night_row *base = night_of(&c->catalog, range->base_night_id),
	                          *head = night_of(&c->catalog, range->head_night_id);

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
	int rc = tk_filter_check(range->filters, err);

	if (!rc)
		rc = tk_filter_check(range->ignored, err);
	for (size_t i = 0; i < machines->count && !known; i++)
		known = strcmp(TK_ROWS_AT(machines, struct tk_machine_row, i)->name,
		                range->machine) == 0;
	return rc || known ? rc
	                   : tk_fail(err, TK_EUSAGE, "no machine \"%s\" in the history",
	                             range->machine);
}

static const char *text(const char *s)
{
	return s ? s : "";
}

struct tk_filter_fields tk_series_case_filter_fields(const struct tk_series_case *k)
{
	return (struct tk_filter_fields){
	        .backend = text(k->series->backend),
	        .problem = text(k->problem->text),
	        .title = text(k->problem->title),
	        .op = text(k->problem->op),
	        .dtype = text(k->problem->dtype),
	        .device = text(k->device->slug),
	        .device_name = text(k->device->name),
	        .machine = text(k->machine->name),
	        .upstream = text(k->upstream->name),
	        .metric = text(k->series->metric),
	        .mode = text(k->series->mode),
	        .config = text(k->series->config),
	        .role = text(k->series->role),
	        .series = text(k->series->slug),
	};
}

const struct tk_series_case *tk_case_set_find(const struct tk_case_set *c, int64_t series_id)
{
	size_t from = 0, to = c->count;

	while (from < to) { /* cases are in the order of the windows: by series */
		size_t middle = from + (to - from) / 2;

		if (c->at[middle].series->id < series_id)
			from = middle + 1;
		else
			to = middle;
	}
	return from < c->count && c->at[from].series->id == series_id ? &c->at[from] : NULL;
}

static bool is_meant(
        const struct tk_series_case *k, const struct tk_diff_range *range, int64_t machine_id)
{
	if (machine_id && k->machine->id != machine_id)
		return false;
	return !range->machine || strcmp(range->machine, k->machine->name) == 0;
}

/* Which series are shown says nothing of what happened to them: machines are judged whole. */
static bool is_shown(const struct tk_series_case *k, const struct tk_diff_range *range)
{
	const struct tk_filter_fields subject = tk_series_case_filter_fields(k);

	return tk_filter_match(range->filters, &subject) &&
	       !tk_filter_match_any(range->ignored, &subject);
}

void tk_case_set_filter(struct tk_case_set *c, const struct tk_diff_range *range)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++)
		if (is_shown(&c->at[i], range))
			c->at[kept++] = c->at[i];
		else
			free(c->at[i].owned_points);
	c->count = kept;
}

static bool look_up(
        const struct tk_catalog *c, const struct tk_history_window *w, struct tk_series_case *k)
{
	k->window = w;
	k->series = tk_id_table_find(&c->series, w->series_id);
	k->device = k->series ? tk_id_table_find(&c->devices, k->series->device_id) : NULL;
	k->machine = k->device ? tk_id_table_find(&c->machines, k->device->machine_id) : NULL;
	k->upstream = k->series ? tk_id_table_find(&c->upstreams, k->series->upstream_id) : NULL;
	k->problem = k->series ? tk_id_table_find(&c->problems, k->series->problem_id) : NULL;
	return k->machine && k->upstream && k->problem;
}

/* Keeps what has a logarithm. Where nothing is from before the range, its own first night is what
 * the rest is compared with. */
static void take_points(struct tk_case_set *c, struct tk_series_case *k)
{
	struct tk_point *p = (struct tk_point *)c->points.rows + k->window->first;
	size_t total = k->window->before + k->window->within;

	k->points = p;
	for (size_t i = 0; i < total; i++)
		if (isfinite(p[i].value) && p[i].value > 0) {
			k->earlier += i < k->window->before;
			p[k->count++] = p[i];
		}
	k->range = k->earlier;
	if (!k->range)
		while (k->range < k->count && p[k->range].as_of_s == p[0].as_of_s)
			k->range++;
	if (k->range == k->count)
		k->range = 0;
}

void tk_series_case_compute_logs(struct tk_series_case *k)
{
	for (size_t i = 0; i < k->count; i++) {
		const struct tk_point *p = &k->points[i];

		k->net[i] = k->y[i] = log(p->value);
		k->se[i] = p->lo > 0 && p->hi >= p->lo && isfinite(p->hi)
		                   ? log(p->hi / p->lo) / INTERVAL_TO_SE
		                   : 0;
	}
}

/* Nothing is from the range or from before it: then it came later, or was never measured at all. */
static int came_later(struct tk_store *s, const struct tk_case_set *c,
        const struct tk_history_window *w, bool *out, struct tk_error *err)
{
	struct tk_rows points;
	int rc;

	*out = false;
	if (c->open_ended || w->last_before.run_id || w->last_within.run_id)
		return TK_OK;
	rc = tk_store_has_executed_run(s, w->series_id, c->until_s + 1, out, err);
	if (rc || *out)
		return rc;
	rc = tk_store_list_points(s, w->series_id, c->until_s + 1, 1, &points,
	        err); /* an import has no run of its own */
	if (rc)
		return rc;
	*out = points.count > 0;
	tk_rows_free(&points);
	return TK_OK;
}

static int add_case(struct tk_store *s, struct tk_case_set *c, const struct tk_history_window *w,
        const struct tk_diff_range *range, int64_t machine_id, struct tk_error *err)
{
	struct tk_series_case k = {.q = NAN, .alert_baseline = NAN, .level = NAN};
	double *at;
	bool later;
	int rc;

	if (!look_up(&c->catalog, w, &k) || !is_meant(&k, range, machine_id))
		return TK_OK;
	if (c->scope.touched_only &&
	        !(w->last_within.run_id && w->last_within.night_id == c->scope.night_id))
		return TK_OK;
	rc = came_later(s, c, w, &later, err);
	if (rc || later)
		return rc;
	take_points(c, &k);
	at = c->memory + 3 * w->first;
	k.y = at;
	k.net = at + k.count;
	k.se = at + 2 * k.count;
	tk_series_case_compute_logs(&k);
	c->at[c->count++] = k;
	if (k.range && c->options.baseline != TK_BASELINE_WINDOW)
		return tk_series_case_set_baseline(c, &c->at[c->count - 1], err);
	return k.range && tk_level_find_baseline(k.y, k.range, &c->at[c->count - 1].base)
	               ? tk_fail(err, TK_ENOMEM, "out of memory while judging a series")
	               : TK_OK;
}

int tk_series_case_extend_history(
        struct tk_case_set *c, struct tk_series_case *k, int64_t at_s, struct tk_error *err)
{
	struct tk_rows points;
	struct tk_point *own;
	size_t count = 0;
	int64_t last_s = k->count ? k->points[k->count - 1].as_of_s : 0,
	        range_s = k->range ? k->points[k->range].as_of_s : 0;
	int rc;

	if (!k->range || k->owned_points || k->points[0].as_of_s <= at_s)
		return TK_OK;
	rc = tk_store_list_points(c->catalog.store, k->series->id, at_s - REACH_S, 0, &points, err);
	if (rc)
		return rc;
	own = malloc((points.count + 1) * (sizeof *own + 3 * sizeof *k->y));
	for (size_t i = 0; own && i < points.count; i++) {
		const struct tk_point *p = TK_ROWS_AT(&points, struct tk_point, i);

		if (isfinite(p->value) && p->value > 0 && p->as_of_s <= last_s)
			own[count++] = *p;
	}
	tk_rows_free(&points);
	if (!own)
		return tk_fail(err, TK_ENOMEM, "out of memory while reading the history");
	k->points = k->owned_points = own;
	k->y = (double *)(void *)(own + count);
	k->net = k->y + count;
	k->se = k->net + count;
	for (k->range = 0; own[k->range].as_of_s < range_s;)
		k->range++;
	k->earlier = k->range;
	k->count = count;
	tk_series_case_compute_logs(k);
	return tk_level_find_baseline(k->y, k->range, &k->base)
	               ? tk_fail(err, TK_ENOMEM, "out of memory while judging a series")
	               : TK_OK;
}

/* What happened from here on is what is looked for. */
static int64_t known_before(const struct tk_case_set *c)
{
	return c->scope.night_id ? c->scope.as_of_s : c->since_s;
}

/* The first point that measured the first bad revision; the night that said so may be later. */
static size_t first_bad(const struct tk_case_set *c, const struct tk_alert_row *a,
        const struct tk_rows *points, int64_t night_s)
{
	size_t said = 0, first;

	while (said < points->count && TK_ROWS_AT(points, struct tk_point, said)->as_of_s < night_s)
		said++;
	first = said;
	for (size_t i = said; *a->bad_rev && i-- > 0 && said - i <= SAID_LATE_MAX;) {
		const struct tk_revision_row *r = tk_catalog_find_revision(
		        &c->catalog, TK_ROWS_AT(points, struct tk_point, i)->build_id);

		first = r && strcmp(r->rev, a->bad_rev) == 0 ? i : first;
	}
	return first;
}

int tk_alert_read_baseline(const struct tk_case_set *c, const struct tk_alert_row *a, double *level,
        struct tk_error *err)
{
	const struct tk_night_row *night = night_of(&c->catalog, a->night_id);
	struct tk_rows points;
	double y[20];
	size_t n = 0;
	int rc;

	*level = NAN;
	if (!night)
		return TK_OK;
	rc = tk_store_list_points(c->catalog.store, a->series_id, INT64_MIN, 0, &points, err);
	if (rc)
		return rc;
	for (size_t i = first_bad(c, a, &points, night->as_of_s);
	        i-- > 0 && n < sizeof y / sizeof *y;)
		if (TK_ROWS_AT(&points, struct tk_point, i)->value > 0)
			y[n++] = log(TK_ROWS_AT(&points, struct tk_point, i)->value);
	if (n)
		*level = tk_level_estimate(y, n);
	tk_rows_free(&points);
	return TK_OK;
}

/* The alert that a series came into the range with, and the level it had before it. */
static int add_alert(struct tk_case_set *c, const struct tk_alert_row *a, struct tk_error *err)
{
	const struct tk_night_row *night = night_of(&c->catalog, a->night_id);
	struct tk_series_case *k = (struct tk_series_case *)tk_case_set_find(c, a->series_id);

	if (strcmp(a->kind, "change") != 0 || c->options.baseline != TK_BASELINE_WINDOW || !k ||
	        !k->range || !night || night->as_of_s >= known_before(c))
		return TK_OK;
	if ((strcmp(a->status, "open") != 0 && a->closed_s < known_before(c)) ||
	        (k->alert && k->alert->opened_s >= a->opened_s))
		return TK_OK;
	k->alert = a;
	return tk_alert_read_baseline(c, a, &k->alert_baseline, err);
}

static int load_series(struct tk_store *s, struct tk_case_set *c, const struct tk_diff_range *range,
        int64_t machine_id, struct tk_error *err)
{
	size_t before = c->options.window > TK_HISTORY_POINTS_MIN ? c->options.window
	                                                          : TK_HISTORY_POINTS_MIN;
	int rc = tk_store_list_windows(
	        s, c->since_s, c->until_s, known_before(c), before, &c->windows, &c->points, err);

	if (rc)
		return rc;
	c->at = calloc(c->windows.count + 1, sizeof *c->at);
	c->memory = malloc((3 * c->points.count + 1) * sizeof *c->memory);
	if (!c->at || !c->memory)
		return tk_fail(err, TK_ENOMEM, "out of memory while reading the history");
	for (size_t i = 0; i < c->windows.count; i++) {
		rc = add_case(s, c, TK_ROWS_AT(&c->windows, struct tk_history_window, i), range,
		        machine_id, err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; !rc && i < c->catalog.alerts.count; i++)
		rc = add_alert(c, TK_ROWS_AT(&c->catalog.alerts, struct tk_alert_row, i), err);
	return rc;
}

bool tk_night_has_ended(const struct tk_night_row *n)
{
	return strcmp(n->status, "running") != 0;
}

static bool measures_everything(const struct tk_case_set *c, const struct tk_night_row *n)
{
	if (c->scope.night_id)
		return n->id == c->scope.night_id;
	return n->as_of_s >= c->since_s && n->as_of_s <= c->until_s && tk_night_has_ended(n) &&
	       strcmp(n->status, "failed") != 0 &&
	       (strcmp(n->kind, "nightly") == 0 || strcmp(n->kind, "import") == 0);
}

/* What was not measured in the newest of these nights is missing. */
static int load_due(struct tk_case_set *c, struct tk_error *err)
{
	size_t machines = c->catalog.machines.rows.count;
	int rc = TK_OK;

	c->due = calloc(machines + 1, sizeof *c->due);
	if (!c->due)
		return tk_fail(err, TK_ENOMEM, "out of memory while reading the nights");
	for (size_t m = 0; !rc && m < machines; m++) {
		struct tk_expected_series *d = &c->due[m];

		d->machine_id = TK_ROWS_AT(&c->catalog.machines.rows, struct tk_machine_row, m)->id;
		for (size_t i = 0; i < c->catalog.nights.rows.count; i++) {
			const struct tk_night_row *n =
			        TK_ROWS_AT(&c->catalog.nights.rows, struct tk_night_row, i);

			if (n->machine_id == d->machine_id && measures_everything(c, n) &&
			        (!d->night || n->as_of_s > d->night->as_of_s))
				d->night = n;
		}
		if (d->night)
			rc = tk_store_list_resolutions(
			        c->catalog.store, d->night->id, &d->resolutions, err);
	}
	return rc;
}

int tk_case_set_load(struct tk_store *s, const struct tk_detect_options *o,
        const struct tk_diff_range *range, const struct tk_night_scope *scope,
        struct tk_case_set *out, struct tk_error *err)
{
	int64_t machine_id = 0;
	int rc;

	*out = (struct tk_case_set){
	        .since_s = range->since_s, .until_s = range->until_s, .options = *o};
	if (scope)
		out->scope = *scope;
	out->open_ended =
	        (range->until_s == INT64_MAX && !range->head_night_id) || out->scope.open_ended;
	rc = tk_catalog_load(s, &out->catalog, err);
	if (!rc)
		rc = tk_diff_range_check(&out->catalog.machines.rows, range, err);
	if (!rc)
		rc = resolve_nights(out, range, &machine_id, err);
	if (!rc)
		rc = tk_commit_groups_load(out, err);
	if (!rc)
		rc = tk_store_list_ab_pairs(s, 0, out->since_s, &out->confirmations, err);
	if (!rc)
		rc = tk_store_list_bisections(s, &out->culprits, err);
	if (!rc)
		rc = load_due(out, err);
	return rc ? rc : load_series(s, out, range, machine_id, err);
}

void tk_case_set_free(struct tk_case_set *c)
{
	for (size_t m = 0; c->due && m < c->catalog.machines.rows.count; m++)
		tk_rows_free(&c->due[m].resolutions);
	for (size_t i = 0; i < c->count; i++)
		free(c->at[i].owned_points);
	free(c->due);
	free(c->at);
	free(c->memory);
	free(c->shifts);
	tk_rows_free(&c->windows);
	tk_rows_free(&c->points);
	tk_rows_free(&c->confirmations);
	tk_rows_free(&c->culprits);
	tk_rows_free(&c->alarms);
	tk_commit_groups_free(&c->groups);
	tk_catalog_free(&c->catalog);
	*c = (struct tk_case_set){0};
}
