/* What a row of a diff says beside its word: names, numbers, revisions, the reason. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "core/mode.h"
#include "core/outcome.h"
#include "detect/history/series_case.h"
#include "stats/summary/student.h"

/* Texts are cut to fit, perhaps in the middle of a character: what is left of one becomes a
 * question mark. */
static void mend_utf8(char *s)
{
	while (*s) {
		size_t len = tk_utf8_decode(s, SIZE_MAX, NULL);

		if (!len)
			*s = '?';
		s += len ? len : 1;
	}
}

static void copy(char *to, size_t size, const char *from)
{
	size_t len = from ? strnlen(from, size - 1) : 0;
	bool plain = true;

	for (size_t i = 0; i < len; i++)
		plain &= (unsigned char)from[i] < 0x80;
	memcpy(to, from ? from : "", len);
	to[len] = '\0';
	if (!plain)
		mend_utf8(to);
}
#define COPY(field, from) copy(field, sizeof(field), from)

void tk_diff_row_set_identity(const struct tk_series_case *k, struct tk_diff_row *row)
{
	*row = (struct tk_diff_row){.series_id = k->series->id, .commits_between = -1};
	COPY(row->series, k->series->slug);
	COPY(row->device, k->device->slug);
	COPY(row->machine, k->machine->name);
	COPY(row->upstream, k->upstream->name);
	COPY(row->backend, k->series->backend);
	if (strcmp(k->series->mode, tk_mode_name(tk_mode_default(k->device->kind))) != 0)
		COPY(row->mode, k->series->mode);
	COPY(row->op, k->problem->op);
	COPY(row->metric, k->series->metric);
	COPY(row->unit, k->series->unit);
	COPY(row->title,
	        k->problem->title && *k->problem->title ? k->problem->title : k->problem->text);
	row->lower_is_better = strcmp(k->series->better, "higher") != 0;
	row->before = row->before_lo = row->before_hi = row->after = row->after_lo = row->after_hi =
	        NAN;
	row->change = row->change_lo = row->change_hi = row->threshold = row->severity = row->p =
	        row->q = NAN;
	row->pairs.change = row->pairs.lo = row->pairs.hi = row->culprit_change =
	        row->culprit_confidence = NAN;
	row->newest_s = k->window->last_within.run_id ? k->window->last_within.as_of_s
	                                              : k->window->last_before.as_of_s;
}

/* A level of one night has the interval of its samples, one of several the interval between nights.
 */
static void level(const struct tk_series_case *k, size_t from, size_t to, double se, double t,
        double *value, double *lo, double *hi)
{
	double y = tk_level_estimate(k->y + from, to - from);

	*value = exp(y);
	*lo = exp(y - t * se);
	*hi = exp(y + t * se);
	if (to - from == 1) {
		*lo = k->points[from].lo;
		*hi = k->points[from].hi;
	}
}

static uint32_t samples(const struct tk_series_case *k, size_t from, size_t to)
{
	int64_t n = 0;

	for (size_t i = from; i < to; i++)
		n += k->points[i].n;
	return n < 0 || n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

static bool is_unstable(const struct tk_series_case *k, size_t from, size_t to)
{
	size_t unstable = 0;

	for (size_t i = from; i < to; i++)
		unstable += (k->points[i].flags & TK_POINT_UNSTABLE) != 0;
	return tk_outcome_is_night_unreliable(unstable, to - from);
}

void tk_diff_row_set_levels(const struct tk_case_set *c, const struct tk_series_case *k,
        const struct tk_level_change *e, double threshold, struct tk_diff_row *row)
{
	double t = tk_student_t(0.05, k->own.df), moved;

	level(k, e->base, e->split, e->se_before, t, &row->before, &row->before_lo,
	        &row->before_hi);
	level(k, e->split, k->count, e->se_after, t, &row->after, &row->after_lo, &row->after_hi);
	moved = log(row->after / row->before);
	row->change = expm1(moved);
	row->change_lo = expm1(moved - t * e->se);
	row->change_hi = expm1(moved + t * e->se);
	row->threshold = expm1(threshold);
	row->severity = threshold > 0 ? fabs(e->after - e->before) / threshold : 0;
	row->p = e->p;
	row->q = k->q;
	row->n_before = samples(k, e->base, e->split);
	row->n_after = samples(k, e->split, k->count);
	row->unstable = is_unstable(k, e->base, e->split) || is_unstable(k, e->split, k->count);
	row->last_good_run_id = k->points[e->split - 1].run_id;
	row->first_bad_run_id = k->points[e->split].run_id;
	row->good_build_id = k->points[e->split - 1].build_id;
	row->new_build_id = k->points[k->count - 1].build_id;
	row->new_run_id = k->points[k->count - 1].run_id;
}

void tk_diff_row_set_revisions(
        const struct tk_case_set *c, int64_t good_build, int64_t bad_build, struct tk_diff_row *row)
{
	const struct tk_revision_row *good = tk_catalog_find_revision(&c->catalog, good_build),
	                             *bad = tk_catalog_find_revision(&c->catalog, bad_build);

	row->commits_between = -1;
	COPY(row->good_rev, good ? good->rev : "");
	COPY(row->bad_rev, bad ? bad->rev : "");
	COPY(row->bad_subject, bad ? bad->subject : "");
	if (good && bad && good->position > 0 && bad->position >= good->position)
		row->commits_between = bad->position - good->position;
}

void tk_diff_row_set_first_bad(const struct tk_case_set *c, struct tk_diff_row *row)
{
	for (size_t i = 0; *row->bad_rev && i < c->culprits.count; i++) {
		const struct tk_bisection_row *found =
		        TK_ROWS_AT(&c->culprits, struct tk_bisection_row, i);

		if (found->series_id != row->series_id || strcmp(found->word, "found") != 0 ||
		        strcmp(found->good_rev, row->good_rev) != 0 ||
		        strcmp(found->bad_rev, row->bad_rev) != 0)
			continue;
		COPY(row->culprit, found->first_bad);
		COPY(row->culprit_subject, found->subject);
		COPY(row->culprit_author, found->author);
		row->culprit_author_time_s = found->author_time_s;
		row->culprit_change = found->change;
		row->culprit_confidence = found->confidence;
	}
}

void tk_diff_row_add_reason(struct tk_diff_row *row, const char *fmt, ...)
{
	size_t len = strlen(row->reason);
	va_list ap;

	if (len && len + 3 < sizeof row->reason) {
		strcpy(row->reason + len, "; ");
		len += 2;
	}
	va_start(ap, fmt);
	vsnprintf(row->reason + len, sizeof row->reason - len, fmt, ap);
	va_end(ap);
	mend_utf8(row->reason);
}

void tk_diff_row_add_outcome(
        struct tk_diff_row *row, const char *prefix, const struct tk_run_summary *mark)
{
	size_t from = strlen(row->reason);

	tk_diff_row_add_reason(row, "%s%.40s%s%.200s", prefix, mark->outcome,
	        *mark->message ? ": " : "", mark->message);
	tk_text_sanitize(row->reason + from, "", ' ');
}
