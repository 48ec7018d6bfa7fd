/* Groups what changed by cause. */
#include "site_gen/model/causes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"
#include "core/ab.h"
#include "site_gen/model/model.h"

const char *tk_site_cause_word(enum tk_site_cause_kind kind, size_t count)
{
	static const char *const words[TK_SITE_CAUSE_KINDS][2] = {
	        [TK_SITE_CAUSE_WORSE] = {"regression", "regressions"},
	        [TK_SITE_CAUSE_FAILED] = {"failure", "failures"},
	        [TK_SITE_CAUSE_MISSING] = {"missing series", "missing series"},
	        [TK_SITE_CAUSE_BETTER] = {"improvement", "improvements"},
	        [TK_SITE_CAUSE_FIXED] = {"fix", "fixes"},
	        [TK_SITE_CAUSE_ENVIRONMENT] = {
	                "change of the environment", "changes of the environment"}};
	return words[kind][count != 1];
}

/* TK_SITE_CAUSE_KINDS: not worth a line. */
static enum tk_site_cause_kind kind_of(const struct tk_site_event *e)
{
	switch (e->status) {
	case TK_VERDICT_REGRESSED:
		return TK_SITE_CAUSE_WORSE;
	case TK_VERDICT_NEWLY_FAILED:
		return TK_SITE_CAUSE_FAILED;
	case TK_VERDICT_MISSING:
		return tk_series_is_skipped(e->series) || e->series->is_unplanned
		               ? TK_SITE_CAUSE_KINDS
		               : TK_SITE_CAUSE_MISSING;
	case TK_VERDICT_IMPROVED:
	case TK_VERDICT_RECOVERED:
		return TK_SITE_CAUSE_BETTER;
	case TK_VERDICT_FIXED:
		return TK_SITE_CAUSE_FIXED;
	case TK_VERDICT_ENVIRONMENT:
		return TK_SITE_CAUSE_ENVIRONMENT;
	default:
		return TK_SITE_CAUSE_KINDS;
	}
}

/* The revisions that a verdict names; else those of the two newest points. */
static void find_range(const struct tk_model *m, const struct tk_verdict_row *v,
        struct tk_site_event *e, bool is_newest)
{
	const struct tk_site_series *s = e->series;
	const struct tk_point *last = tk_series_last_point(s);
	e->has_ab_result = v->ab_decision == TK_AB_HIGHER || v->ab_decision == TK_AB_LOWER;
	e->good = *v->good_rev ? tk_model_find_revision(m, s->upstream->id, v->good_rev) : NULL;
	e->bad = *v->bad_rev ? tk_model_find_revision(m, s->upstream->id, v->bad_rev) : NULL;
	if ((e->good && e->bad) || !is_newest)
		return;
	e->bad = last ? tk_model_find_build_revision(m, last->build_id) : NULL;
	e->good = s->newest_count > 1 ? tk_model_find_build_revision(m, last[-1].build_id) : NULL;
}

static void add_verdict(const struct tk_model *m, const struct tk_verdict_row *v, bool is_newest,
        struct tk_site_causes *out)
{
	const struct tk_site_series *s = tk_model_find_series(m, v->series_id);
	const struct tk_night_row *night = tk_row_index_find(&m->nights_by_id, v->night_id);
	if (!s)
		return;
	out->compared += isfinite(v->before_value);
	struct tk_site_event e = {.series = s,
	        .status = v->accepted ? v->status : v->status_before_ack,
	        .before = v->before_value,
	        .after = v->after_value,
	        .change = v->change,
	        .change_lo = v->change_lo,
	        .change_hi = v->change_hi,
	        .at_s = night ? night->as_of_s : 0,
	        .reason = v->reason};
	if (kind_of(&e) == TK_SITE_CAUSE_KINDS)
		return;
	find_range(m, v, &e, is_newest);
	out->events[out->event_count++] = e;
}

static void add_change_point(const struct tk_site_change *c, struct tk_site_causes *out)
{
	bool is_told = false; /* by its verdict */
	for (size_t i = 0; c->series->verdict && i < out->event_count; i++)
		is_told = is_told ||
		          (out->events[i].series == c->series && out->events[i].at_s <= c->as_of_s);
	if (is_told || !(c->before > 0))
		return;
	out->events[out->event_count++] = (struct tk_site_event){.series = c->series,
	        .status = c->is_of_environment ? TK_VERDICT_ENVIRONMENT
	                  : c->is_worse        ? TK_VERDICT_REGRESSED
	                                       : TK_VERDICT_IMPROVED,
	        .before = c->before,
	        .after = c->after,
	        .change = c->after / c->before - 1,
	        .change_lo = c->change_lo,
	        .change_hi = c->change_hi,
	        .at_s = c->as_of_s,
	        .reason = "",
	        .good = c->good,
	        .bad = c->bad};
}

static double size_of(const struct tk_site_event *e)
{
	return isfinite(e->change) && e->change > -1 ? fabs(log1p(e->change)) : 0;
}

/* 0: none, or both revisions are the same. */
static int64_t commit_of(const struct tk_site_event *e)
{
	return e->good && e->bad && e->good != e->bad ? e->bad->id : 0;
}

/* Groups are neighbours: kind, commit, and without a commit the machine and the reason. */
static int compare_groups(const struct tk_site_event *x, const struct tk_site_event *y)
{
	int d = (int)kind_of(x) - (int)kind_of(y);
	int64_t cx = commit_of(x), cy = commit_of(y);
	if (d)
		return d;
	if (cx != cy)
		return cx < cy ? -1 : 1;
	if (cx)
		return 0;
	d = strcmp(x->series->device->name, y->series->device->name);
	enum tk_site_cause_kind kind = kind_of(x);
	if (!d && kind == TK_SITE_CAUSE_FAILED)
		d = strcmp(x->reason, y->reason);
	if (!d && (kind == TK_SITE_CAUSE_WORSE || kind == TK_SITE_CAUSE_BETTER))
		d = (x->series > y->series) - (x->series < y->series);
	return d;
}

static int compare_events(const void *a, const void *b)
{
	const struct tk_site_event *x = a, *y = b;
	int d = compare_groups(x, y);
	double sx = size_of(x), sy = size_of(y);
	if (!d && sx != sy)
		d = sx < sy ? 1 : -1;
	return d ? d : (x->series > y->series) - (x->series < y->series);
}

static int compare_causes(const void *a, const void *b)
{
	const struct tk_site_cause *x = a, *y = b;
	double sx = size_of(x->events), sy = size_of(y->events);
	if (x->kind != y->kind)
		return (int)x->kind - (int)y->kind;
	if (sx != sy)
		return sx < sy ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return (x->events > y->events) - (x->events < y->events);
}

static const struct tk_bisection_row *find_first_bad(
        const struct tk_model *m, const struct tk_site_cause *cause)
{
	const struct tk_site_event *e = cause->events;
	if (!commit_of(e))
		return NULL;
	for (size_t i = 0; i < m->bisection_rows.count; i++) {
		const struct tk_bisection_row *c =
		        TK_ROWS_AT(&m->bisection_rows, struct tk_bisection_row, i);
		const struct tk_site_series *of = tk_model_find_series(m, c->series_id);
		if (c->outcome == TK_BISECT_FOUND && of && of->upstream == e->series->upstream &&
		        !strcmp(c->good_rev, e->good->rev) && !strcmp(c->bad_rev, e->bad->rev))
			return c;
	}
	return NULL;
}

/* Failures of one device with one reason are neighbours. */
static int compare_failures(const void *a, const void *b)
{
	const struct tk_site_event *x = a, *y = b;
	int d = (kind_of(x) != TK_SITE_CAUSE_FAILED) - (kind_of(y) != TK_SITE_CAUSE_FAILED);
	if (!d)
		d = (x->series->device > y->series->device) -
		    (x->series->device < y->series->device);
	if (!d)
		d = strcmp(x->reason, y->reason);
	return d ? d : (x->series > y->series) - (x->series < y->series);
}

static bool is_same_failure(const struct tk_site_event *x, const struct tk_site_event *y)
{
	return kind_of(y) == TK_SITE_CAUSE_FAILED && x->series->device == y->series->device &&
	       !strcmp(x->reason, y->reason);
}

/* A commit is not blamed for a failure that unchanged code shares on its device: the device is the
 * likelier cause. */
static void clear_commits_of_devices(struct tk_site_causes *out)
{
	if (out->event_count)
		qsort(out->events, out->event_count, sizeof *out->events, compare_failures);
	for (size_t first = 0, end; first < out->event_count; first = end) {
		struct tk_site_event *e = &out->events[first];
		bool is_unchanged = false;
		if (kind_of(e) != TK_SITE_CAUSE_FAILED)
			break;
		for (end = first; end < out->event_count && is_same_failure(e, &out->events[end]);
		        end++)
			is_unchanged = is_unchanged || !commit_of(&out->events[end]);
		for (size_t i = first; is_unchanged && i < end; i++)
			out->events[i].good = out->events[i].bad = NULL;
	}
}

static void make_groups(const struct tk_model *m, struct tk_site_causes *out)
{
	clear_commits_of_devices(out);
	if (out->event_count)
		qsort(out->events, out->event_count, sizeof *out->events, compare_events);
	for (size_t first = 0, end; first < out->event_count; first = end) {
		struct tk_site_event *e = &out->events[first];
		for (end = first + 1;
		        end < out->event_count && !compare_groups(e, &out->events[end]); end++)
			;
		struct tk_site_cause *cause = &out->at[out->count++];
		*cause = (struct tk_site_cause){.kind = kind_of(e),
		        .events = e,
		        .count = end - first,
		        .good = commit_of(e) ? e->good : NULL,
		        .bad = commit_of(e) ? e->bad : NULL};
		cause->first_bad = find_first_bad(m, cause);
		out->of_kind[cause->kind] += cause->count;
	}
	if (out->count)
		qsort(out->at, out->count, sizeof *out->at, compare_causes);
}

/* The verdicts of one night. Their texts must outlive the causes. */
static int add_night(const struct tk_model *m, int64_t night_id, struct tk_rows *rows,
        struct tk_site_causes *out, struct tk_error *err)
{
	TRY(tk_store_list_verdicts(m->store, night_id, rows, err));
	struct tk_site_event *more =
	        tk_realloc(out->events, (out->event_count + rows->count + 1) * sizeof *out->events);
	out->events = more;
	for (size_t i = 0; i < rows->count; i++)
		add_verdict(m, TK_ROWS_AT(rows, struct tk_verdict_row, i), false, out);
	return 0;
}

int tk_site_causes_load(const struct tk_model *m, const struct tk_site_period *period,
        struct tk_site_causes *out, struct tk_error *err)
{
	size_t most = m->series_count + m->change_count + 1;
	*out = (struct tk_site_causes){.events = tk_malloc(most * sizeof *out->events)};
	if (period->night_id)
		TRY(add_night(m, period->night_id, &out->night_verdicts, out, err));
	for (size_t i = 0; !period->night_id && i < m->machine_count; i++)
		for (size_t v = 0; v < m->machines[i].verdicts.count; v++)
			add_verdict(m,
			        TK_ROWS_AT(&m->machines[i].verdicts, struct tk_verdict_row, v),
			        true, out);
	for (size_t i = 0; period->since_s && i < m->change_count; i++)
		if (m->changes[i].as_of_s >= period->since_s)
			add_change_point(&m->changes[i], out);
	out->at = tk_calloc(out->event_count + 1, sizeof *out->at);
	make_groups(m, out);
	return TK_OK;
}

void tk_site_causes_free(struct tk_site_causes *causes)
{
	tk_rows_free(&causes->night_verdicts);
	free(causes->events);
	free(causes->at);
	*causes = (struct tk_site_causes){0};
}

size_t tk_model_count_nights_since_regression(const struct tk_model *m)
{
	int64_t newest_s = 0;
	for (size_t i = 0; i < m->change_count; i++) {
		const struct tk_site_change *c = &m->changes[i];
		if (c->is_worse && c->as_of_s > newest_s)
			newest_s = c->as_of_s;
	}
	size_t nights = 0, most = 0;
	for (size_t k = 0; newest_s && k < m->machine_count; k++, nights = 0) {
		for (size_t i = 0; i < m->night_count; i++)
			nights += m->nights[i].machine == &m->machines[k] &&
			          m->nights[i].row->kind == TK_NIGHT_NIGHTLY &&
			          m->nights[i].row->as_of_s > newest_s;
		most = nights > most ? nights : most;
	}
	return newest_s ? most : SIZE_MAX;
}
