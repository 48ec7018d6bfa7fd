/* The word of one case: every series gets exactly one, with a reason that a person can check. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "detect/history/series_case.h"
#include "detect/rules/ab_result.h"
#include "stats/monitor/level_monitor.h"

#define UNSURE_P 0.01 /* suggestive, but the others of the night say that it may be chance */
#define PAIRS_THAT_TELL 12
#define LASTING_NIGHTS \
	3 /* so long at another level, with the same code, is the machine and not chance */
#define NIGHTS_OF_ONE_BUILD 3
#define TOO_NOISY 0.25 /* a series on which only larger changes would show is not "same" */

struct ruling {
	const struct tk_case_set *c;
	const struct tk_series_case *k;
	struct tk_diff_row *row;
	double sign;      /* +1 where more is worse */
	double threshold; /* logarithm */
	bool by_model;  /* the step is what the model of the noise said, not what these nights show
	                   by themselves */
	bool same_step; /* the first night at the new level had the machine code of before; a later
	                   one may not */
};

bool tk_series_case_has_timing(const struct tk_series_case *k, const struct tk_run_summary *m)
{
	for (size_t i = k->count; m->run_id && i-- > 0;)
		if (k->points[i].run_id == m->run_id)
			return true;
	return false;
}

static bool failed(const struct tk_series_case *k, const struct tk_run_summary *m)
{
	return m->run_id && !tk_series_case_has_timing(k, m);
}

/* How it ended before: before the range, or on its first night where the range is all there is. */
static const struct tk_run_summary *previous(const struct tk_series_case *k)
{
	const struct tk_history_window *w = k->window;

	return w->last_before.run_id || w->first_within.run_id == w->last_within.run_id
	               ? &w->last_before
	               : &w->first_within;
}

static bool not_its_turn(const struct tk_run_summary *m)
{
	return strcmp(m->outcome, "skipped") == 0 || strcmp(m->outcome, "no_device") == 0;
}

static bool is_old(const struct tk_case_set *c, int64_t newest_s)
{
	return c->open_ended && c->options.stale_days &&
	       c->options.now_s - newest_s > (int64_t)c->options.stale_days * 86400;
}

/* The newest night of the machine that measures everything had this upstream, and not this series.
 */
static bool was_left_out(const struct tk_case_set *c, const struct tk_series_case *k)
{
	const struct tk_expected_series *d = c->due;
	bool asked;

	while (d->machine_id != k->machine->id)
		d++;
	if (!d->night || (k->window->last_within.run_id &&
	                         k->window->last_within.as_of_s >= d->night->as_of_s))
		return false;
	asked = d->resolutions.count == 0;
	for (size_t i = 0; i < d->resolutions.count; i++)
		asked |= TK_ROWS_AT(&d->resolutions, struct tk_resolution_row, i)->upstream_id ==
		         k->upstream->id;
	return asked;
}

static const char *age(const struct tk_case_set *c, int64_t then_s, char out[64])
{
	return tk_duration_format((double)(c->options.now_s - then_s), out, 64);
}

static void last_level(struct ruling *r)
{
	const struct tk_series_case *k = r->k;

	if (k->count) {
		const struct tk_point *p = &k->points[k->count - 1];

		r->row->before = p->value;
		r->row->before_lo = p->lo;
		r->row->before_hi = p->hi;
	}
}

static enum tk_verdict_status absent(struct ruling *r)
{
	const struct tk_history_window *w = r->k->window;
	const struct tk_run_summary *last =
	        w->last_within.run_id ? &w->last_within : &w->last_before;
	char day[TK_TIME_ISO_SIZE], old[64];

	last_level(r);
	if (!last->run_id) {
		tk_diff_row_add_reason(r->row, "not measured yet");
		return TK_VERDICT_NEW;
	}
	/* who never had a timing cannot miss one */
	if (!r->k->count && strcmp(last->outcome, "unsupported") == 0) {
		tk_diff_row_add_reason(r->row, "unsupported when it was last asked");
		return TK_VERDICT_UNSUPPORTED;
	}
	if (!is_old(r->c, last->as_of_s) && was_left_out(r->c, r->k)) {
		tk_diff_row_add_reason(r->row, "last measured %s, not since",
		        tk_time_format_day(last->as_of_s, day));
		return TK_VERDICT_MISSING;
	}
	tk_diff_row_add_reason(r->row, "newest data is %s old", age(r->c, last->as_of_s, old));
	return TK_VERDICT_STALE;
}

/* It worked for a while between two failures. */
static bool timed_since(const struct tk_series_case *k)
{
	return k->count && k->points[k->count - 1].as_of_s > previous(k)->as_of_s;
}

/* What a backend never did, or no longer does, is no failure. */
static enum tk_verdict_status still_failing(const struct ruling *r)
{
	return strcmp(r->k->window->last_within.outcome, "unsupported") == 0
	               ? TK_VERDICT_UNSUPPORTED
	               : TK_VERDICT_FAILING;
}

static enum tk_verdict_status without_timing(struct ruling *r)
{
	const struct tk_history_window *w = r->k->window;

	last_level(r);
	tk_diff_row_add_outcome(r->row, "", &w->last_within);
	if (not_its_turn(&w->last_within)) {
		if (r->k->count)
			return TK_VERDICT_MISSING;
		tk_diff_row_add_reason(r->row, "no timing yet");
		return TK_VERDICT_NEW;
	}
	if (failed(r->k, previous(r->k)) && !not_its_turn(previous(r->k)) && !timed_since(r->k))
		return still_failing(r);
	if (!r->k->count) {
		tk_diff_row_add_reason(r->row, "never had a timing");
		return still_failing(r);
	}
	r->row->last_good_run_id = r->k->points[r->k->count - 1].run_id;
	r->row->first_bad_run_id = w->last_within.run_id;
	tk_diff_row_set_revisions(
	        r->c, r->k->points[r->k->count - 1].build_id, w->last_within.build_id, r->row);
	return TK_VERDICT_NEWLY_FAILED;
}

static enum tk_verdict_status without_baseline(struct ruling *r)
{
	const struct tk_point *p = &r->k->points[r->k->count - 1];

	r->row->after = p->value;
	r->row->after_lo = p->lo;
	r->row->after_hi = p->hi;
	r->row->n_after = (uint32_t)p->n;
	if (failed(r->k, previous(r->k))) {
		tk_diff_row_add_outcome(r->row, "no timing before: ", previous(r->k));
		return TK_VERDICT_FIXED;
	}
	return TK_VERDICT_NEW;
}

/* Smaller changes are never reported. */
static bool exceeds(const struct ruling *r, double before, double after)
{
	if (strcmp(r->row->unit, "ns") == 0 && fabs(after - before) < r->c->options.min_effect_ns)
		return false;
	return fabs(log(after / before)) > log1p(r->c->options.min_effect);
}

static bool is_large(const struct ruling *r, const struct tk_level_change *e)
{
	return exceeds(r, exp(e->before), exp(e->after)) &&
	       fabs(e->after - e->before) > TK_NOISE_STANDARD_ERRORS * e->se;
}

static const char *worse(const struct ruling *r, double change)
{
	return r->sign * change > 0 ? "slower" : "faster";
}

static void say_common(struct ruling *r, const struct tk_level_change *e)
{
	const struct tk_common_mode_shift *s =
	        tk_case_set_find_shift(r->c, r->k->device->id, r->k->points[e->split].night_id);

	double own; /* what is left of the same nights */

	if (!s || !s->significant)
		return;
	own = tk_level_estimate(r->k->net + e->split, r->k->count - e->split) -
	      tk_level_estimate(r->k->net + e->base, e->split - e->base);
	tk_diff_row_add_reason(r->row,
	        "%zu series of this device with unchanged code%s moved %+.1f %% that night; "
	        "without that %+.1f %%",
	        s->series, s->controls ? ", the control among them," : "", 100 * expm1(s->shift),
	        100 * expm1(own));
}

/* The environment's part in the step: what changed between the last good and the first bad run. */
static bool say_environment(struct ruling *r, const struct tk_level_change *e, bool *hard)
{
	char changed[300];

	tk_catalog_diff_environments(&r->c->catalog, r->k->points[e->split - 1].environment_id,
	        r->k->points[e->split].environment_id, changed, sizeof changed, hard);
	if (*changed)
		tk_diff_row_add_reason(r->row, "environment changed: %s", changed);
	return *changed;
}

static bool can_separate(const struct ruling *r, const struct tk_level_change *e)
{
	const struct tk_common_mode_shift *s =
	        tk_case_set_find_shift(r->c, r->k->device->id, r->k->points[e->split].night_id);

	return s && (s->controls || s->series >= 5);
}

static enum tk_verdict_status got_worse(struct ruling *r, const struct tk_level_change *e)
{
	const struct tk_series_case *k = r->k;
	char day[TK_TIME_ISO_SIZE];

	bool is_later = r->by_model && k->alert && k->points[e->split].as_of_s > k->alert->opened_s;

	if (k->alert && !is_later && isfinite(k->alert_baseline) &&
	        r->sign * (e->after - k->alert_baseline - log1p(k->alert->change)) <=
	                r->threshold) {
		tk_diff_row_add_reason(r->row, TK_REASON_STILL_AT_ALERT " of %s (%.40s)",
		        tk_time_format_day(k->alert->opened_s, day), k->alert->bad_rev);
		return TK_VERDICT_SAME;
	}
	return TK_VERDICT_REGRESSED;
}

/* The model of its noise, where there is one, does not see it at the level of the alert (any more).
 * Where that is not at hand: the night that closed the alert has. */
static bool is_model_back(const struct ruling *r)
{
	const struct tk_series_case *k = r->k;

	if (!k->watched || !k->alert)
		return true;
	if (isnan(k->level))
		return strcmp(k->alert->status, "closed") == 0;
	return r->sign * (log(k->level) - k->alert_baseline) <= r->threshold;
}

static bool is_recovered(struct ruling *r, double after)
{
	const struct tk_alert_row *a = r->k->alert;
	char day[TK_TIME_ISO_SIZE];

	if (!a || !isfinite(r->k->alert_baseline) ||
	        r->sign * (after - r->k->alert_baseline) > r->threshold)
		return false;
	/* a change below the threshold would have recovered before anything happened */
	if (fabs(log1p(a->change)) <= r->threshold)
		return false;
	tk_diff_row_add_reason(r->row, "back at the level before the alert of %s (%.40s)",
	        tk_time_format_day(a->opened_s, day), a->bad_rev);
	return true;
}

/* Less what the machine moved it is a step, and its timings show none, or the opposite. */
static bool is_only_less_the_machine(
        struct ruling *r, const struct tk_level_change *e, enum tk_verdict_status *status)
{
	const struct tk_diff_row *row = r->row;
	bool shows = exceeds(r, row->before, row->after),
	     same_way = row->change * (e->after - e->before) > 0;

	if (r->by_model || r->same_step || (shows && same_way))
		return false;
	say_common(r, e);
	tk_diff_row_add_reason(r->row, "its timings moved %+.1f %%", 100 * row->change);
	*status = shows ? TK_VERDICT_ENVIRONMENT : TK_VERDICT_SAME;
	return true;
}

static size_t nights_since(const struct tk_series_case *k, size_t from)
{
	size_t nights = 1;

	for (size_t i = from + 1; i < k->count; i++)
		nights += k->points[i].night_id != k->points[i - 1].night_id;
	return nights;
}

static enum tk_verdict_status moved_without_new_code(
        struct ruling *r, const struct tk_level_change *e, bool environment)
{
	bool same = r->row->same_code;

	tk_diff_row_add_reason(r->row, same ? "same machine code before and after: not the code"
	                                    : "still the machine code of before on that night, "
	                                      "another one since: what moved it is "
	                                      "not known");
	return environment || (same && nights_since(r->k, e->split) >= LASTING_NIGHTS)
	               ? TK_VERDICT_ENVIRONMENT
	       : same ? TK_VERDICT_SAME
	              : TK_VERDICT_UNSURE;
}

static enum tk_verdict_status moved(struct ruling *r, const struct tk_level_change *e)
{
	double change = e->after - e->before;
	bool hard = false, environment;

	say_common(r, e);
	environment = say_environment(r, e, &hard);
	if (r->same_step)
		return moved_without_new_code(r, e, environment);
	if (hard && !can_separate(r, e)) {
		tk_diff_row_add_reason(r->row,
		        "no control and too few unchanged series to tell that from the code");
		return TK_VERDICT_NOT_COMPARABLE;
	}
	if (r->k->own.spike && !r->by_model) {
		tk_diff_row_add_reason(r->row,
		        "one night, no %s than a spike that this series had before: the next night "
		        "tells",
		        worse(r, change));
		return TK_VERDICT_UNSURE;
	}
	if (r->sign * change > 0)
		return got_worse(r, e);
	return is_recovered(r, e->after) ? TK_VERDICT_RECOVERED : TK_VERDICT_IMPROVED;
}

/* Nights at the new level after which a change of this size would exceed the series' own threshold.
 */
static void say_how_many_more(struct ruling *r, const struct tk_level_change *e)
{
	double room = pow((e->after - e->before) / TK_NOISE_STANDARD_ERRORS, 2) -
	              e->se_before * e->se_before;
	double need = room > 0 ? ceil(r->k->own.sigma * r->k->own.sigma / room) : INFINITY;
	double more = fmax(1, need - (double)(r->k->count - e->split));

	if (more <= 60)
		tk_diff_row_add_reason(r->row,
		        "%+.1f %% may be noise: about %.0f more night%s would tell",
		        100 * expm1(e->after - e->before), more, more > 1 ? "s" : "");
	else
		tk_diff_row_add_reason(r->row,
		        "%+.1f %% may be noise of this series: %.1f %% from night to night",
		        100 * expm1(e->after - e->before), 100 * r->k->own.sigma);
}

/* Whatever the nights say: what was not changed did not become slower. */
static enum tk_verdict_status unless_unchanged(struct ruling *r)
{
	if (!r->row->same_code)
		return TK_VERDICT_UNSURE;
	tk_diff_row_add_reason(r->row, "same machine code before and after: not the code");
	return TK_VERDICT_SAME;
}

/* What the model of the noise said that is no step. */
static bool is_explained(struct ruling *r, enum tk_verdict_status *status)
{
	const struct tk_series_case *k = r->k;
	char day[TK_TIME_ISO_SIZE];

	if (k->retracted) {
		bool was_alert = k->alert && k->alert->opened_s >= k->retracted->first_s;

		tk_diff_row_add_reason(r->row, "taken back: the step of %s lasted a week at most",
		        tk_time_format_day(k->retracted->first_s, day));
		*status = was_alert ? TK_VERDICT_RECOVERED : TK_VERDICT_SAME;
		return true;
	}
	if (k->machines) {
		tk_diff_row_add_reason(r->row, "%+.1f %% since %s, together with the machine",
		        100 * (k->machines->after_value / k->machines->before_value - 1),
		        tk_time_format_day(k->machines->first_s, day));
		*status = TK_VERDICT_ENVIRONMENT;
		return true;
	}
	return false;
}

/* However noisy it is, its whole interval is below the threshold. */
static bool is_surely_small(const struct ruling *r)
{
	const struct tk_diff_row *row = r->row;

	return !exceeds(r, row->before, row->before * (1 + row->change_lo)) &&
	       !exceeds(r, row->before, row->before * (1 + row->change_hi));
}

static enum tk_verdict_status not_moved(struct ruling *r)
{
	const struct tk_level_test *own = &r->k->own, *raw = &r->k->raw;
	enum tk_verdict_status status;
	bool hard = false;

	if (is_explained(r, &status))
		return status;
	if (own->earlier) {
		tk_diff_row_add_reason(r->row, "moved before %s",
		        r->c->scope.night_id ? "this night" : "the range");
		r->row->changed_before_range = true;
		return TK_VERDICT_SAME;
	}
	if (is_model_back(r) && is_recovered(r, own->whole.after))
		return TK_VERDICT_RECOVERED;
	if (failed(r->k, previous(r->k))) {
		tk_diff_row_add_outcome(r->row, "no timing before: ", previous(r->k));
		return TK_VERDICT_FIXED;
	}
	if (is_large(r, &raw->best) && raw->best.p <= UNSURE_P) {
		say_common(r, &raw->best);
		if (*r->row->reason) {
			say_environment(r, &raw->best, &hard);
			return TK_VERDICT_ENVIRONMENT;
		}
	}
	if (is_large(r, &own->best) && own->best.p <= UNSURE_P) {
		say_how_many_more(r, &own->best);
		return unless_unchanged(r);
	}
	if (TK_NOISE_STANDARD_ERRORS * own->whole.se > log1p(TOO_NOISY) && !is_surely_small(r)) {
		tk_diff_row_add_reason(r->row,
		        "too noisy: %.1f %% from night to night, only changes over %.0f %% would "
		        "show",
		        100 * own->sigma, 100 * expm1(TK_NOISE_STANDARD_ERRORS * own->whole.se));
		return unless_unchanged(r);
	}
	return TK_VERDICT_SAME;
}

static int compare_code(struct ruling *r, struct tk_case_set *c, const struct tk_level_change *e,
        struct tk_error *err)
{
	const struct tk_series_case *k = r->k;
	int64_t good = k->points[e->split - 1].build_id;
	bool same_newest = true;
	int rc = tk_catalog_is_same_code(&c->catalog, good, k->points[e->split].build_id,
	        k->series->backend, &r->same_step, err);

	r->row->same_code = r->same_step;
	for (size_t i = e->split + 1; !rc && r->row->same_code && i < k->count; i++)
		if (k->points[i].build_id != k->points[i - 1].build_id)
			rc = tk_catalog_is_same_code(&c->catalog, good, k->points[i].build_id,
			        k->series->backend, &r->row->same_code, err);
	if (!rc)
		rc = tk_catalog_is_same_code(&c->catalog, good, k->points[k->count - 1].build_id,
		        k->series->backend, &same_newest, err);
	r->row->new_code = !rc && !same_newest;
	return rc;
}

static struct tk_level_test_input judge_input(
        const struct tk_case_set *c, const struct tk_series_case *k)
{
	return (struct tk_level_test_input){.y = k->net,
	        .se = k->se,
	        .n = k->count,
	        .range = k->range,
	        .window = c->options.window ? c->options.window : 1,
	        .prior_sigma = k->own.sigma};
}

/* Where the level before a split that others than its nights have found begins. */
static size_t base_of(
        const struct tk_series_case *k, const struct tk_level_test_input *in, size_t split)
{
	return k->base < split ? k->base : split > in->window ? split - in->window : 0;
}

/* ---- pairs of the old and the new build ---- */

/* The first point of the range that has the newest build: what the pairs are about. */
static size_t first_of_newest(const struct tk_series_case *k, size_t split)
{
	size_t i = k->count - 1;

	while (i > split && k->points[i - 1].build_id == k->points[k->count - 1].build_id)
		i--;
	return i;
}

/* Between two nights of the same code is no step that pairs of two codes have found: it is where
 * the newest code came in. */
static int find_step_of_code(
        struct ruling *r, struct tk_case_set *c, struct tk_level_change *e, struct tk_error *err)
{
	const struct tk_series_case *k = r->k;
	const struct tk_level_test_input in = judge_input(c, k);
	const int64_t newest = k->points[k->count - 1].build_id;
	size_t split = k->count - 1;
	bool same = true;
	int rc = TK_OK;

	while (!rc && same && split > 0) {
		rc = tk_catalog_is_same_code(&c->catalog, k->points[split - 1].build_id, newest,
		        k->series->backend, &same, err);
		split -= !rc && same;
	}
	if (rc || !split)
		return rc;
	if (tk_level_test_split(&in, base_of(k, &in, split), split, e))
		return tk_fail(err, TK_ENOMEM, "out of memory while judging %s", k->series->slug);
	tk_diff_row_set_levels(c, k, e, r->threshold, r->row);
	tk_diff_row_set_revisions(
	        c, k->points[split - 1].build_id, k->points[split].build_id, r->row);
	return compare_code(r, c, e, err);
}

/* Pairs found the change: its size is theirs, whatever the nights made of it. */
static enum tk_verdict_status confirmed(struct ruling *r, const struct tk_level_change *e)
{
	struct tk_diff_row *row = r->row;
	const struct tk_ab_result *p = &row->pairs;
	struct tk_level_change by_pairs = *e;
	char text[TK_AB_RESULT_TEXT_SIZE];
	size_t bad = first_of_newest(r->k, e->split);

	if (!*row->bad_rev)
		tk_diff_row_set_revisions(
		        r->c, r->k->points[bad - 1].build_id, r->k->points[bad].build_id, row);
	*row->reason = '\0';
	tk_diff_row_add_reason(row, "confirmed %s in %u pairs of both builds",
	        tk_ab_result_format(p, text), p->count);
	tk_diff_row_add_reason(row, "nights alone: %+.1f %%", 100 * row->change);
	row->change = p->change;
	row->change_lo = p->lo;
	row->change_hi = p->hi;
	row->threshold = r->c->options.min_effect;
	row->severity = row->threshold > 0 ? fabs(p->change) / row->threshold : 0;
	by_pairs.after = by_pairs.before + log1p(p->change);
	r->threshold = log1p(row->threshold);
	if (r->sign * p->change > 0)
		return got_worse(r, &by_pairs);
	return is_recovered(r, by_pairs.after) ? TK_VERDICT_RECOVERED : TK_VERDICT_IMPROVED;
}

static enum tk_verdict_status refuted(struct ruling *r)
{
	struct tk_diff_row *row = r->row;
	char text[TK_AB_RESULT_TEXT_SIZE];
	bool alarm = row->status == TK_VERDICT_REGRESSED || row->status == TK_VERDICT_IMPROVED;

	tk_ab_result_format(&row->pairs, text);
	switch (row->status) {
	case TK_VERDICT_REGRESSED:
	case TK_VERDICT_IMPROVED:
	case TK_VERDICT_UNSURE:
	case TK_VERDICT_NOT_COMPARABLE:
		*row->reason = *row->good_rev = *row->bad_rev = *row->bad_subject = '\0';
		tk_diff_row_add_reason(row, "%s: %u pairs of both builds differ by %s",
		        alarm ? "retracted" : "confirmed the same", row->pairs.count, text);
		tk_diff_row_add_reason(row, "nights alone: %+.1f %%", 100 * row->change);
		return row->status == TK_VERDICT_NOT_COMPARABLE ? TK_VERDICT_ENVIRONMENT
		                                                : TK_VERDICT_SAME;
	default:
		tk_diff_row_add_reason(
		        row, "%u pairs of both builds differ by %s", row->pairs.count, text);
		return row->status;
	}
}

/* An alarm of the nights that a dozen pairs show no trace of is none, though they cannot rule it
 * out. */
static bool is_not_seen_again(const struct tk_diff_row *row)
{
	return row->pairs.word == TK_AB_INCONCLUSIVE && row->pairs.count >= PAIRS_THAT_TELL &&
	       row->pairs.lo < 0 && row->pairs.hi > 0 &&
	       (row->status == TK_VERDICT_REGRESSED || row->status == TK_VERDICT_IMPROVED);
}

static int hear_pairs(struct ruling *r, struct tk_case_set *c, const struct tk_level_change *e,
        struct tk_error *err)
{
	struct tk_diff_row *row = r->row;
	struct tk_level_change step = *e;
	char text[TK_AB_RESULT_TEXT_SIZE];
	int rc = tk_series_case_evaluate_ab(c, r->k, e, &row->pairs, err);

	if (rc || row->pairs.word == TK_AB_NONE)
		return rc;
	if (r->same_step && tk_diff_row_is_ab_confirmed(row))
		rc = find_step_of_code(r, c, &step, err);
	if (rc)
		return rc;
	if (row->pairs.word == TK_AB_SAME)
		row->status = refuted(r);
	else if (row->pairs.word != TK_AB_INCONCLUSIVE)
		row->status = confirmed(r, &step);
	else if (row->pairs.count)
		tk_diff_row_add_reason(row, "%u pairs of both builds leave it open: %s",
		        row->pairs.count, tk_ab_result_format(&row->pairs, text));
	if (is_not_seen_again(row))
		row->status = TK_VERDICT_UNSURE;
	return TK_OK;
}

/* What --min-samples and --confirm ask for. */
static bool lacks_evidence(struct ruling *r, const struct tk_level_change *e)
{
	const struct tk_detect_options *o = &r->c->options;
	uint32_t nights = 0;

	for (size_t i = e->split; i < r->k->count; i++)
		nights += i == e->split || r->k->points[i].night_id != r->k->points[i - 1].night_id;
	if (nights < o->confirm_nights) {
		tk_diff_row_add_reason(r->row,
		        "%+.1f %%, seen on %u of %u nights that --confirm asks for",
		        100 * r->row->change, nights, o->confirm_nights);
		return true;
	}
	if (r->row->n_before >= o->min_samples && r->row->n_after >= o->min_samples)
		return false;
	tk_diff_row_add_reason(r->row, "%+.1f %%, but %u and %u samples are fewer than %u",
	        100 * r->row->change, r->row->n_before, r->row->n_after, o->min_samples);
	return true;
}

/* ---- what the model of the noise said
 * -------------------------------------------------------------------------------- */

/* Where exactly a step of a night or two more or less is, the machine code knows best. */
static int snap(struct tk_case_set *c, const struct tk_series_case *k, size_t base, size_t *split,
        struct tk_error *err)
{
	static const int near[] = {0, 1, -1, 2, -2};

	for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
		size_t at = *split + (size_t)near[i];
		bool same;
		int rc;

		if (at <= base || at >= k->count)
			continue;
		rc = tk_catalog_is_same_code(&c->catalog, k->points[at - 1].build_id,
		        k->points[at].build_id, k->series->backend, &same, err);
		if (rc)
			return rc;
		if (!same) {
			*split = at;
			return TK_OK;
		}
	}
	return TK_OK;
}

static bool is_said(const struct ruling *r)
{
	const struct tk_monitor_event_row *a = r->k->said;

	return a && exceeds(r, a->before_value, a->after_value) && a->q <= r->c->options.fdr;
}

static int weigh_said(
        struct ruling *r, struct tk_case_set *c, struct tk_level_change *e, struct tk_error *err)
{
	const struct tk_series_case *k = r->k;
	const struct tk_level_test_input in = judge_input(c, k);
	size_t split = 1, base;
	char day[TK_TIME_ISO_SIZE];
	int rc;

	while (split + 1 < k->count && k->points[split].as_of_s < k->said->first_s)
		split++;
	base = base_of(k, &in, split);
	rc = snap(c, k, base, &split, err);
	if (!rc && tk_level_test_split(&in, base, split, e))
		rc = tk_fail(err, TK_ENOMEM, "out of memory while judging %s", k->series->slug);
	if (rc)
		return rc;
	e->p = tk_level_monitor_p_value(k->said->evidence);
	tk_diff_row_add_reason(r->row,
	        "another level since %s, by all its nights (log-likelihood ratio %.1f)",
	        tk_time_format_day(k->points[split].as_of_s, day), k->said->evidence);
	return TK_OK;
}

/* A level that drifts is further by the model, which knows where it began and where it is, than by
 * the medians of the nights before and since: where those leave the change below the threshold, the
 * levels are those that made it a step.
 */
static void take_levels_said(struct ruling *r, struct tk_level_change *e)
{
	const struct tk_monitor_event_row *a = r->k->said;
	struct tk_diff_row *row = r->row;
	double before = a->before_value / row->before, after = a->after_value / row->after,
	       by = after / before;

	if (exceeds(r, row->before, row->after) && exceeds(r, exp(e->before), exp(e->after)))
		return;
	tk_diff_row_add_reason(row, "medians of these nights alone: %+.1f %%", 100 * row->change);
	row->before *= before, row->before_lo *= before, row->before_hi *= before;
	row->after *= after, row->after_lo *= after, row->after_hi *= after;
	row->change = (1 + row->change) * by - 1;
	row->change_lo = (1 + row->change_lo) * by - 1;
	row->change_hi = (1 + row->change_hi) * by - 1;
	e->before = log(a->before_value);
	e->after = log(a->after_value);
	row->severity = r->threshold > 0 ? fabs(e->after - e->before) / r->threshold : 0;
}

/* A new build after nights of one build. */
static bool is_rare_build(const struct tk_series_case *k, size_t split)
{
	bool rare = split >= NIGHTS_OF_ONE_BUILD &&
	            k->points[split].build_id != k->points[split - 1].build_id;

	for (size_t i = 2; rare && i <= NIGHTS_OF_ONE_BUILD; i++)
		rare = k->points[split - i].build_id == k->points[split - 1].build_id;
	return rare;
}

/* Nights alone are too few where their code is not known to be new: the model of the noise, which
 * has seen them too, says nothing yet. */
static int is_too_early(struct ruling *r, struct tk_case_set *c, const struct tk_level_change *e,
        bool *early, struct tk_error *err)
{
	const struct tk_series_case *k = r->k;
	bool is_new = true;
	int rc = TK_OK;

	*early = (k->watched || r->c->scope.night_id) && !r->same_step &&
	         !is_rare_build(k, e->split);
	if (*early)
		rc = tk_catalog_is_new_code(&c->catalog, k->points[e->split - 1].build_id,
		        k->points[e->split].build_id, k->series->backend, &is_new, err);
	*early &= !is_new;
	if (!rc && *early)
		tk_diff_row_add_reason(r->row,
		        "%+.1f %% since %zu night%s, which its noise may be by all that is known "
		        "of it: the "
		        "next nights tell",
		        100 * r->row->change, nights_since(k, e->split),
		        nights_since(k, e->split) == 1 ? "" : "s");
	return rc;
}

static int word_of_step(struct ruling *r, struct tk_case_set *c, const struct tk_level_change *e,
        struct tk_error *err)
{
	const struct tk_point *bad = &r->k->points[e->split];
	bool early = false;
	int rc = TK_OK;

	if (is_only_less_the_machine(r, e, &r->row->status))
		return TK_OK;
	if (!r->by_model)
		rc = is_too_early(r, c, e, &early, err);
	if (rc)
		return rc;
	tk_diff_row_set_revisions(c, bad[-1].build_id, bad->build_id, r->row);
	if (early)
		r->row->status = TK_VERDICT_UNSURE;
	else
		r->row->status = lacks_evidence(r, e) ? unless_unchanged(r) : moved(r, e);
	return TK_OK;
}

static int judged(struct ruling *r, struct tk_case_set *c, struct tk_error *err)
{
	const struct tk_level_test *own = &r->k->own;
	bool is_moved = !own->earlier && is_large(r, &own->best) && r->k->q <= c->options.fdr;
	const struct tk_level_change *e = is_moved ? &own->best : &own->whole;
	struct tk_level_change said;
	int rc = TK_OK;

	r->threshold = fmax(log1p(c->options.min_effect), TK_NOISE_STANDARD_ERRORS * e->se);
	r->by_model = is_said(r);
	if (r->by_model) {
		rc = weigh_said(r, c, &said, err);
		e = &said;
		r->threshold = log1p(c->options.min_effect);
		is_moved = true;
	}
	if (rc)
		return rc;
	tk_diff_row_set_levels(c, r->k, e, r->threshold, r->row);
	if (r->by_model) {
		r->row->q = r->k->said->q;
		take_levels_said(r, &said);
	}
	rc = compare_code(r, c, e, err);
	if (!rc && is_moved)
		rc = word_of_step(r, c, e, err);
	else if (!rc)
		r->row->status = not_moved(r);
	if (rc)
		return rc;
	rc = hear_pairs(r, c, e, err);
	tk_diff_row_set_first_bad(c, r->row);
	return rc;
}

int tk_series_case_decide(struct tk_case_set *c, const struct tk_series_case *k,
        struct tk_diff_row *row, struct tk_error *err)
{
	struct ruling r = {.c = c, .k = k, .row = row};
	const struct tk_run_summary *last = &k->window->last_within;
	char old[64];
	int rc = TK_OK;

	tk_diff_row_set_identity(k, row);
	r.sign = row->lower_is_better ? 1 : -1;
	if (!last->run_id || was_left_out(c, k)) {
		row->status = absent(&r);
	} else if (!tk_series_case_has_timing(k, last)) {
		row->status = without_timing(&r);
	} else if (is_old(c, last->as_of_s)) {
		tk_diff_row_add_reason(row, "newest data is %s old", age(c, last->as_of_s, old));
		row->status = TK_VERDICT_STALE;
	} else if (k->lacks_baseline) {
		tk_diff_row_add_reason(
		        row, "%.60s was never measured before the range", c->options.baseline_name);
		row->status = TK_VERDICT_NOT_COMPARABLE;
	} else if (!k->range) {
		row->status = without_baseline(&r);
	} else {
		rc = judged(&r, c, err);
	}
	row->was = row->status;
	tk_series_case_apply_ack(c, k, row);
	return rc;
}
