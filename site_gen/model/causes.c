/* Groups what changed by cause. */
#include "site_gen/model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/try.h"

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
static enum tk_site_cause_kind kind_of(
        enum tk_verdict_status status, const struct tk_site_series *s)
{
	switch (status) {
	case TK_VERDICT_REGRESSED:
		return TK_SITE_CAUSE_WORSE;
	case TK_VERDICT_NEWLY_FAILED:
		return TK_SITE_CAUSE_FAILED;
	case TK_VERDICT_MISSING:
		return tk_series_is_skipped(s) || s->is_unplanned ? TK_SITE_CAUSE_KINDS
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

/* Equal revisions, or an unknown one, are no commit. */
static void add_event(struct tk_site_causes *out, struct tk_site_event e,
        const struct tk_revision_row *good, const struct tk_revision_row *bad)
{
	if (e.kind == TK_SITE_CAUSE_KINDS)
		return;
	e.commit = good && bad && good != bad ? bad : NULL;
	e.size = isfinite(e.change) && e.change > -1 ? fabs(log1p(e.change)) : 0;
	if (out->event_count == out->room) {
		out->room = 2 * out->room + 64;
		out->events = tk_reallocarray(out->events, out->room, sizeof *out->events);
	}
	out->events[out->event_count++] = e;
}

static void add_verdicts(
        const struct tk_model *m, const struct tk_rows *rows, struct tk_site_causes *out)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct tk_verdict_row *v = TK_ROWS_AT(rows, struct tk_verdict_row, i);
		const struct tk_site_series *s = tk_model_find_series(m, v->series_id);
		const struct tk_site_night *night = tk_model_find_night(m, v->night_id);
		if (!s)
			continue;
		out->compared += isfinite(v->before_value);
		add_event(out,
		        (struct tk_site_event){.series = s,
		                .kind = kind_of(v->accepted ? v->status : v->status_before_ack, s),
		                .verdict = v,
		                .before = v->before_value,
		                .after = v->after_value,
		                .change = v->change,
		                .change_lo = v->change_lo,
		                .change_hi = v->change_hi,
		                .at_s = night ? night->row->as_of_s : 0,
		                .reason = v->reason},
		        tk_row_index_find(&m->revisions_by_id, v->good_revision_id),
		        tk_row_index_find(&m->revisions_by_id, v->bad_revision_id));
	}
}

static void add_change_point(const struct tk_site_change *c, struct tk_site_causes *out)
{
	for (size_t i = 0; c->series->verdict && i < out->event_count; i++)
		if (out->events[i].series == c->series && out->events[i].at_s <= c->as_of_s)
			return; /* its verdict says so */
	if (!(c->before > 0))
		return;
	add_event(out,
	        (struct tk_site_event){.series = c->series,
	                .kind = c->is_of_environment ? TK_SITE_CAUSE_ENVIRONMENT
	                        : c->is_worse        ? TK_SITE_CAUSE_WORSE
	                                             : TK_SITE_CAUSE_BETTER,
	                .before = c->before,
	                .after = c->after,
	                .change = c->after / c->before - 1,
	                .change_lo = c->change_lo,
	                .change_hi = c->change_hi,
	                .at_s = c->as_of_s,
	                .reason = ""},
	        c->good, c->bad);
}

/* A commit is not blamed for a failure that unchanged code shares on its device: the device is the
 * likelier cause. */
static void clear_commits_of_devices(struct tk_site_causes *out)
{
	for (size_t i = 0; i < out->event_count; i++) {
		struct tk_site_event *e = &out->events[i];
		for (size_t k = 0;
		        e->kind == TK_SITE_CAUSE_FAILED && e->commit && k < out->event_count; k++) {
			const struct tk_site_event *other = &out->events[k];
			if (other->kind == TK_SITE_CAUSE_FAILED && !other->commit &&
			        other->series->device == e->series->device &&
			        !strcmp(other->reason, e->reason))
				e->commit = NULL;
		}
	}
}

/* ---- groups ---- */

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Groups are neighbours: kind, commit, and without a commit the machine and the reason. */
static int compare_groups(const struct tk_site_event *x, const struct tk_site_event *y)
{
	int d = COMPARE(x->kind, y->kind);
	if (!d)
		d = COMPARE(x->commit ? x->commit->id : 0, y->commit ? y->commit->id : 0);
	if (d || x->commit)
		return d;
	d = strcmp(x->series->device->name, y->series->device->name);
	if (!d && x->kind == TK_SITE_CAUSE_FAILED)
		d = strcmp(x->reason, y->reason);
	if (!d && (x->kind == TK_SITE_CAUSE_WORSE || x->kind == TK_SITE_CAUSE_BETTER))
		d = COMPARE(x->series, y->series);
	return d;
}

static int compare_events(const void *a, const void *b)
{
	const struct tk_site_event *x = a, *y = b;
	int d = compare_groups(x, y);
	if (!d)
		d = COMPARE(y->size, x->size);
	return d ? d : COMPARE(x->series, y->series);
}

static int compare_causes(const void *a, const void *b)
{
	const struct tk_site_cause *x = a, *y = b;
	int d = COMPARE(x->kind, y->kind);
	if (!d)
		d = COMPARE(y->events->size, x->events->size);
	if (!d)
		d = COMPARE(y->count, x->count);
	return d ? d : COMPARE(x->events, y->events);
}

static void make_groups(struct tk_site_causes *out)
{
	clear_commits_of_devices(out);
	out->at = tk_calloc(out->event_count + 1, sizeof *out->at);
	if (out->event_count)
		qsort(out->events, out->event_count, sizeof *out->events, compare_events);
	for (size_t first = 0, end; first < out->event_count; first = end) {
		struct tk_site_event *e = &out->events[first];
		for (end = first + 1;
		        end < out->event_count && !compare_groups(e, &out->events[end]); end++)
			;
		struct tk_site_cause *cause = &out->at[out->count++];
		*cause = (struct tk_site_cause){
		        .kind = e->kind, .events = e, .count = end - first, .bad = e->commit};
		for (size_t i = first; i < end && e->commit && !cause->first_bad; i++) {
			const struct tk_verdict_row *v = out->events[i].verdict;
			cause->first_bad = v && *v->first_bad_rev ? v : NULL;
		}
		out->of_kind[cause->kind] += cause->count;
	}
	qsort(out->at, out->count, sizeof *out->at, compare_causes);
}

int tk_site_causes_load(const struct tk_model *m, const struct tk_site_period *period,
        struct tk_site_causes *out, struct tk_error *err)
{
	*out = (struct tk_site_causes){0};
	if (period->night_id)
		TRY(tk_store_list_verdicts(m->store, period->night_id, &out->night_verdicts, err));
	add_verdicts(m, &out->night_verdicts, out);
	for (size_t i = 0; !period->night_id && i < m->machine_count; i++)
		add_verdicts(m, &m->machines[i].verdicts, out);
	for (size_t i = 0; period->since_s && i < m->change_count; i++)
		if (m->changes[i].as_of_s >= period->since_s)
			add_change_point(&m->changes[i], out);
	make_groups(out);
	return 0;
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
