/* Properties of a series. */
#include <math.h>
#include <string.h>

#include "core/outcome.h"
#include "site_gen/model/model.h"

const struct tk_point *tk_series_last_point(const struct tk_site_series *s)
{
	return s->newest_count ? &s->newest[s->newest_count - 1] : NULL;
}

double tk_series_newest_value(const struct tk_site_series *s)
{
	const struct tk_point *last = s ? tk_series_last_point(s) : NULL;
	return last && !s->failure && last->value > 0 ? last->value : NAN;
}

double tk_series_rate(const struct tk_site_series *s, double value, const char **unit)
{
	bool compute = s->problem->flops > 0;
	*unit = compute ? "gflop_per_s" : "gb_per_s";
	if (s->unit != TK_UNIT_NS || s->metric != TK_METRIC_TIME || !(value > 0))
		return NAN;
	double amount = compute ? s->problem->flops : s->problem->bytes;
	return amount > 0 ? amount / value : NAN; /* per ns = giga per second */
}

bool tk_series_is_unsupported(const struct tk_site_series *s)
{
	return s->failure && s->failure->outcome == TK_OUTCOME_UNSUPPORTED;
}

bool tk_series_is_skipped(const struct tk_site_series *s)
{
	return s->failure && s->failure->outcome == TK_OUTCOME_SKIPPED;
}

bool tk_series_has_result(const struct tk_site_series *s)
{
	return s->newest_count || (s->failure && !tk_series_is_unsupported(s));
}

enum tk_verdict_status tk_series_status(const struct tk_site_series *s)
{
	return s->verdict && !s->is_unplanned ? s->verdict->status : TK_VERDICT_STATUS_COUNT;
}

uint32_t tk_series_count_waiting_nights(const struct tk_model *m, const struct tk_site_series *s)
{
	const struct tk_point *last = tk_series_last_point(s);
	uint32_t count = 0;
	if (s->row->rotate_nights <= 1 || !last || s->failure)
		return 0;
	/* Sorted by their start; a backfill that started later may be of an earlier day. */
	for (size_t i = 0; i < m->night_count && m->nights[i].row->started_s > last->as_of_s; i++)
		count += m->nights[i].machine == s->device->machine && m->nights[i].is_turn &&
		         m->nights[i].row->as_of_s > last->as_of_s;
	return count < s->row->rotate_nights ? count : 0;
}

const char *tk_series_status_word(const struct tk_site_series *s)
{
	if (!s->verdict)
		return "";
	if (s->is_unplanned)
		return "not planned";
	return s->verdict->status == TK_VERDICT_MISSING && tk_series_is_skipped(s)
	               ? tk_outcome_name(TK_OUTCOME_SKIPPED)
	               : tk_verdict_status_name(s->verdict->status);
}

bool tk_series_has_change(const struct tk_site_series *s)
{
	return s->verdict && isfinite(s->verdict->before_value) &&
	       isfinite(s->verdict->after_value) && isfinite(s->verdict->change);
}

bool tk_series_is_suite_time(const struct tk_site_series *s)
{
	return s->row->role == TK_ROLE_SUITE && s->metric == TK_METRIC_TIME &&
	       s->unit == TK_UNIT_NS;
}

bool tk_series_is_ranked(const struct tk_site_series *s)
{
	return tk_series_is_suite_time(s) && !strcmp(s->row->mode, s->device->mode);
}

bool tk_series_are_comparable(const struct tk_site_series *a, const struct tk_site_series *b)
{
	bool defaults =
	        !strcmp(a->row->mode, a->device->mode) && !strcmp(b->row->mode, b->device->mode);
	return !strcmp(a->row->metric, b->row->metric) && !strcmp(a->row->unit, b->row->unit) &&
	       a->row->role == b->row->role && (defaults || !strcmp(a->row->mode, b->row->mode));
}
