/* The alert that a series came into the range with, and the level it had before that alert. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/try.h"
#include "detect/history/alert_levels.h"
#include "detect/history/case_set.h"

#define DETECTION_DELAY_MAX 64 /* points: a small step in much noise takes weeks to be found */
#define BASELINE_POINTS 20

/* The first point of the first bad revision, of the points before the night that opened the alert:
 * it may be later. */
static size_t find_first_bad(
        const struct tk_case_set *c, const struct tk_alert_row *a, const struct tk_rows *points)
{
	const size_t opened = points->count;
	size_t first = opened;

	for (size_t i = opened; *a->bad_rev && i-- > 0 && opened - i <= DETECTION_DELAY_MAX;) {
		const struct tk_revision_row *r = tk_catalog_find_revision(
		        &c->catalog, TK_ROWS_AT(points, struct tk_point, i)->build_id);

		first = r && strcmp(r->rev, a->bad_rev) == 0 ? i : first;
	}
	return first;
}

int tk_alert_read_baseline(const struct tk_case_set *c, const struct tk_alert_row *a, double *level,
        struct tk_error *err)
{
	const struct tk_night_row *night = tk_id_table_find(&c->catalog.nights, a->night_id);
	struct tk_rows points;
	double y[BASELINE_POINTS];
	size_t n = 0;

	*level = NAN;
	if (!night)
		return TK_OK;
	TRY(tk_store_list_last_points(c->catalog.store, a->series_id, night->as_of_s - 1, 0,
	        DETECTION_DELAY_MAX + BASELINE_POINTS, &points, err));
	for (size_t i = find_first_bad(c, a, &points); i-- > 0 && n < BASELINE_POINTS;)
		y[n++] = log(TK_ROWS_AT(&points, struct tk_point, i)->value);
	if (n)
		*level = tk_level_estimate(y, n);
	tk_rows_free(&points);
	return TK_OK;
}

/* An alert about a change that was open, or not closed yet, when the range began. */
static bool is_relevant(const struct tk_case_set *c, const struct tk_series_case *k,
        const struct tk_alert_row *a, int64_t known_before_s)
{
	const struct tk_night_row *night = tk_id_table_find(&c->catalog.nights, a->night_id);

	if (a->kind != TK_ALERT_CHANGE || c->options.baseline != TK_BASELINE_WINDOW || !k->range)
		return false;
	if (!night || night->as_of_s >= known_before_s)
		return false;
	return a->status == TK_ALERT_OPEN || a->closed_s >= known_before_s;
}

static int find_baseline(const struct tk_case_set *c, const struct tk_alert_row *a, double *level,
        struct tk_error *err)
{
	int status;

	if (tk_alert_levels_find(c->scope.alert_levels, a, level))
		return TK_OK;
	status = tk_alert_read_baseline(c, a, level, err);
	if (!status && c->scope.alert_levels &&
	        tk_alert_levels_put(c->scope.alert_levels, a, *level))
		status = tk_fail(err, TK_ENOMEM, "out of memory while reading the alerts");
	return status;
}

int tk_case_set_add_alerts(struct tk_case_set *c, int64_t known_before_s, struct tk_error *err)
{
	int status = TK_OK;

	for (size_t i = 0; i < c->catalog.alerts.count; i++) {
		const struct tk_alert_row *a =
		        TK_ROWS_AT(&c->catalog.alerts, struct tk_alert_row, i);
		struct tk_series_case *k =
		        (struct tk_series_case *)tk_case_set_find(c, a->series_id);

		if (k && is_relevant(c, k, a, known_before_s) &&
		        (!k->alert || k->alert->opened_s < a->opened_s))
			k->alert = a;
	}
	for (size_t i = 0; !status && i < c->count; i++)
		if (c->at[i].alert)
			status = find_baseline(c, c->at[i].alert, &c->at[i].alert_baseline, err);
	return status;
}
