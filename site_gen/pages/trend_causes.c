/* The changes of an index and their causes, from the change points of its series. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/present.h"
#include "base/memory.h"
#include "core/cause.h"
#include "site_gen/pages/trends.h"

/* The change points of one night and one cause. */
struct cause {
	int64_t at_s;
	const struct tk_site_change *change; /* one of them */
	double log_sum;                      /* of the speed-ups */
	size_t count;
};

static const struct tk_revision_row *revision_of(const struct tk_site_change *c)
{
	return c->is_of_commit ? c->bad : NULL;
}

static bool is_same_cause(const struct cause *a, const struct tk_site_change *b)
{
	return a->at_s == b->as_of_s && revision_of(a->change) == revision_of(b) &&
	       a->change->cause == b->cause;
}

static int compare_effects(const void *a, const void *b)
{
	double x = fabs(((const struct cause *)a)->log_sum),
	       y = fabs(((const struct cause *)b)->log_sum);
	return (x < y) - (x > y);
}

static int compare_times(const void *a, const void *b)
{
	const struct cause *x = a, *y = b;
	return (x->at_s < y->at_s) - (x->at_s > y->at_s);
}

/* The number of series that were compared in a night. */
static uint64_t count_compared(const struct tk_total *t, int64_t at_s)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->nights[i].as_of_s == at_s)
			return t->nights[i].count;
	return 0;
}

/* Each is the effect of its series on the index. */
static size_t find_causes(const struct tk_model *m, const struct tk_trend *trend, struct cause *out)
{
	const struct tk_site_series *example = trend->all.example;
	size_t count = 0;
	for (size_t i = 0; i < m->change_count; i++) {
		const struct tk_site_change *c = &m->changes[i];
		size_t k = count;
		if (c->series->device != example->device || !tk_series_is_ranked(c->series) ||
		        c->series->op_file != example->op_file || !(c->before > 0) ||
		        !(c->after > 0))
			continue;
		while (k && !is_same_cause(&out[k - 1], c))
			k--;
		if (!k) {
			k = ++count;
			out[k - 1] = (struct cause){.at_s = c->as_of_s, .change = c};
		}
		out[k - 1].log_sum += log(c->before / c->after);
		out[k - 1].count++;
	}
	return count;
}

static void add_cause(
        struct tk_site *site, struct tk_value *list, const struct cause *c, size_t number)
{
	struct tk_value *o = tk_value_append(list);
	const struct tk_revision_row *r = revision_of(c->change);
	char day[TK_TIME_ISO_SIZE];
	tk_value_set_int(o, "number", number);
	tk_value_set(o, "when", tk_time_format_day(c->at_s, day));
	tk_value_set_change(o, "effect", expm1(c->log_sum), "–");
	tk_tone_set(o, "tone", c->log_sum < 0 ? TK_TONE_BAD : TK_TONE_GOOD);
	tk_value_set_fmt(o, "count", "%zu series", c->count);
	tk_value_set(o, "cause", tk_cause_name(c->change->cause));
	tk_page_set_revision(site, o, r);
	tk_value_set_clip(o, "author", r ? r->author : "", 60);
}

int tk_trend_set_causes(struct tk_site *site, struct tk_value *o, const struct tk_trend *trend,
        struct tk_chart_mark *marks, size_t *mark_count, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	struct cause *causes = tk_malloc((m->change_count + 1) * sizeof *causes);
	struct tk_value *list = tk_value_add_list(o, "causes");
	*mark_count = 0;
	size_t count = find_causes(m, trend, causes), used = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t compared = count_compared(&trend->all, causes[i].at_s);
		causes[i].log_sum /= (double)(compared ? compared : 1);
		if (compared && fabs(causes[i].log_sum) >= 0.0005)
			causes[used++] = causes[i];
	}
	if (used)
		qsort(causes, used, sizeof *causes, compare_effects);
	size_t shown = used < TK_TREND_CAUSES_MAX ? used : TK_TREND_CAUSES_MAX;
	if (shown)
		qsort(causes, shown, sizeof *causes, compare_times);
	for (size_t i = 0; i < shown; i++) {
		add_cause(site, list, &causes[i], i + 1);
		marks[i] = (struct tk_chart_mark){
		        (double)causes[i].at_s, i + 1, causes[i].log_sum < 0};
	}
	*mark_count = shown;
	tk_value_set_fmt(o, "causes_more", used > shown ? "%zu" : "", used - shown);
	free(causes);
	return 0;
}
