/* One series of a shard: which points are new, and whether its page looks different. */
#include "site_gen/data/shard_member.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "site_gen/data/state.h"
#include "site_gen/model/kernel_reports.h"
#include "site_gen/model/tunings.h"
#include "site_gen/pages/page.h"
#include "store/kernel_report.h"
#include "store/tuning.h"

bool tk_shard_member_has_change(const struct tk_site_series *s)
{
	return tk_series_tone(s) != TK_TONE_QUIET;
}

/* A hash of what a page shows besides its points. The reason of an unchanged verdict is left out:
 * it contains the noise of the night. */
static uint64_t hash_appearance(const struct tk_site_series *s)
{
	uint64_t h = tk_fnv1a_add(
	        TK_FNV1A_INIT, s->verdict ? tk_verdict_status_name(s->verdict->status) : "");
	h = tk_fnv1a_add(h, tk_shard_member_has_change(s) ? s->verdict->reason : "");
	h = tk_fnv1a_add(h, s->failure ? tk_outcome_name(s->failure->outcome) : "");
	h = tk_fnv1a_add(h, s->failure ? s->failure->message : "");
	h = tk_fnv1a_add(h, s->newest_count ? "measured" : "");
	if (s->kernel_trace) /* else as before there were any */
		h = tk_fnv1a_add(h, s->kernel_trace->newest->uid);
	if (s->kernel_profile)
		h = tk_fnv1a_add(h, s->kernel_profile->uid);
	if (s->tuning) {
		h = tk_fnv1a_add(h, s->tuning->row->uid);
		h = tk_fnv1a_add(h, tk_tune_state_name(s->tuning->state));
	}
	for (size_t i = 0; i < s->change_count; i++) {
		const struct tk_change_point_row *c = s->changes[i];
		char step[64];
		/* rounded to 1 %: the level after a change point varies with every night */
		double size = c->before_value > 0 && c->after_value > 0
		                      ? log(c->after_value / c->before_value)
		                      : 0;
		snprintf(step, sizeof step, "%lld %.0f", (long long)c->as_of_s, size * 100);
		h = tk_fnv1a_add(tk_fnv1a_add(h, step), tk_cause_name(c->cause));
	}
	return h;
}

/* More than one point is new: reads from the last known one on. */
static int read_several_new_points(
        struct tk_site *site, struct tk_shard_member *member, struct tk_error *err)
{
	const struct tk_series_state *state = member->state;
	int status = tk_store_list_points(site->model.store, member->series->row->id, state->last_s,
	        0, &member->several, err);
	const struct tk_point *points = member->several.rows;
	for (size_t i = 0; !status && i < member->several.count; i++)
		if (points[i].run_id == state->last_run_id) {
			member->new_points = points + i + 1;
			member->new_point_count = member->several.count - i - 1;
			return 0;
		}
	member->needs_rebuild = true;
	return status;
}

int tk_shard_member_find_new_points(
        struct tk_site *site, struct tk_shard_member *member, struct tk_error *err)
{
	const struct tk_site_series *s = member->series;
	const struct tk_point *last = tk_series_last_point(s);
	int64_t known = member->state->last_run_id;
	member->has_new_appearance = member->state->look != hash_appearance(s);
	member->needs_rebuild =
	        site->reuse.backfilled && site->reuse.backfilled[s - site->model.series];
	if ((last ? last->run_id : 0) == known || member->needs_rebuild)
		return 0;
	if (!last) { /* its points were removed */
		member->needs_rebuild = true;
		return 0;
	}
	if ((s->newest_count == 2 ? s->newest[0].run_id : 0) != known)
		return read_several_new_points(site, member, err);
	member->new_points = last;
	member->new_point_count = 1;
	return 0;
}

void tk_shard_member_store_state(struct tk_site *site, struct tk_shard_member *member)
{
	const struct tk_point *last = tk_series_last_point(member->series);
	member->state->last_run_id = last ? last->run_id : 0;
	member->state->last_s = last ? last->as_of_s : 0;
	member->state->look = hash_appearance(member->series);
	site->state.is_changed = site->state.is_changed || member->new_point_count ||
	                         member->has_new_appearance || member->needs_rebuild;
}

/* Finds the years of the points before `cut_s`. This runs for all shards before any page is
 * written, because pages name the files of other shards. */
int tk_shard_member_find_years(struct tk_site *site, const struct tk_shard_member *member,
        int64_t cut_s, struct tk_error *err)
{
	uint64_t *years = &site->state.years[member->group];
	int status = 0;
	for (int bit = 0; !status && bit < TK_CHART_DATA_YEARS; bit++) {
		int64_t at_s = cut_s;
		if (*years >> bit & 1)
			continue;
		status = tk_store_get_first_time(site->model.store, member->series->row->id,
		        tk_chart_data_year_start(bit), cut_s, &at_s, err);
		if (status || at_s >= cut_s)
			break;
		bit = tk_chart_data_year_bit(at_s);
		*years |= UINT64_C(1) << bit;
	}
	return status;
}

int tk_shard_member_write_page(
        struct tk_site *site, struct tk_shard_member *member, struct tk_error *err)
{
	member->series->points = member->window;
	int status = tk_page_write_series(site, member->series, err);
	member->series->points = (struct tk_rows){0};
	return status;
}
