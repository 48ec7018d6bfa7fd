/* The alert that a series came into the range with, and the levels around it. */
#include <math.h>

#include "base/error.h"
#include "base/try.h"
#include "decide/history/analysis.h"

/* An alert about a change that was open, or not closed yet, when the range began. */
static bool is_relevant(const struct tk_analysis *c, const struct tk_series_case *k,
        const struct tk_alert_row *a, int64_t known_before_s)
{
	const struct tk_night_row *night = tk_id_table_find(&c->catalog.nights, a->night_id);

	if (a->kind != TK_ALERT_CHANGE || c->options.baseline != TK_BASELINE_WINDOW || !k->range)
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

int tk_analysis_add_alerts(struct tk_analysis *c, int64_t known_before_s, struct tk_error *err)
{
	for (size_t i = 0; i < c->catalog.alerts.count; i++) {
		const struct tk_alert_row *a =
		        TK_ROWS_AT(&c->catalog.alerts, struct tk_alert_row, i);
		struct tk_series_case *k =
		        (struct tk_series_case *)tk_analysis_find(c, a->series_id);

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
