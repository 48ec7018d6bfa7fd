/* Plays histories night by night through the judgement of a night: see histories.h. */
#include "detect/histories.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "detect/case.h"
#include "detect/detect.h"
#include "detect/judge.h"
#include "stats/fdr.h"

#define NOISE_EVERY 8 /* nights between two estimates of a series' own noise, for the others of its machine */

struct player {
	const struct tk_history *history;
	double *y, *se; /* logarithms of what has one; no errors are known */
	size_t *where;  /* their positions in the history */
	size_t n, now;  /* now: points known so far */
	bool judged;
	struct tk_judgement judgement;
	double noise, p, q;
	double level; /* after the last alarm; NAN: none yet */
	struct tk_alarms *out;
};

static int out_of_memory(struct tk_error *err)
{
	return tk_fail(err, TK_ENOMEM, "out of memory while judging histories");
}

static int by_machine(const void *a, const void *b)
{
	const struct player *x = a, *y = b;
	int order = strcmp(x->history->machine, y->history->machine);

	return order ? order : (x->history > y->history) - (x->history < y->history);
}

static int by_day(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int player_make(struct player *p, const struct tk_history *h, struct tk_alarms *out, struct tk_error *err)
{
	*p = (struct player){.history = h, .out = out, .level = NAN};
	p->y = malloc((h->n + 1) * sizeof *p->y);
	p->se = calloc(h->n + 1, sizeof *p->se);
	p->where = malloc((h->n + 1) * sizeof *p->where);
	if (!p->y || !p->se || !p->where)
		return out_of_memory(err);
	for (size_t i = 0; i < h->n; i++)
		if (isfinite(h->value[i]) && h->value[i] > 0) {
			p->y[p->n] = log(h->value[i]);
			p->where[p->n++] = i;
		}
	return TK_OK;
}

static int judge(struct player *p, double prior, const struct tk_detect_options *o)
{
	size_t range = p->now > TK_NIGHTS_JUDGED ? p->now - TK_NIGHTS_JUDGED : 1;
	size_t read = o->window > TK_HISTORY_MIN ? o->window : TK_HISTORY_MIN, from = range > read ? range - read : 0,
	       base;
	struct tk_judge_input in = {.y = p->y + from,
	        .se = p->se,
	        .n = p->now - from,
	        .range = range - from,
	        .window = o->window,
	        .prior_sigma = prior};
	int rc = tk_judge_baseline(in.y, in.range, &base);

	if (!rc)
		rc = tk_judge(&in, base, &p->judgement);
	p->judgement.best.split += from;
	p->judged = !rc;
	p->p = p->judgement.best.p;
	return rc;
}

static bool environment_changed(const struct player *p, size_t split)
{
	const char *const *words = p->history->environment;

	return words && strcmp(words[p->where[split - 1]], words[p->where[split]]) != 0;
}

static int decide(struct player *p, const struct tk_detect_options *o)
{
	const struct tk_evidence *e = &p->judgement.best;
	double threshold = fmax(log1p(o->min_effect), TK_STANDARD_ERRORS * e->se);
	struct tk_alarm *at;

	if (p->judgement.earlier || p->judgement.spike || fabs(e->after - e->before) <= threshold || !(p->q <= o->fdr))
		return TK_OK;
	if (fabs(e->after - p->level) <= threshold || environment_changed(p, e->split))
		return TK_OK;
	at = realloc(p->out->at, (p->out->count + 1) * sizeof *at);
	if (!at)
		return TK_ENOMEM;
	p->out->at = at;
	at[p->out->count++] =
	        (struct tk_alarm){p->where[p->now - 1], p->where[e->split], exp(e->before), exp(e->after)};
	p->level = e->after;
	return TK_OK;
}

/* One night of one machine. work: 2 * n values. */
static int play_night(
        struct player *p, size_t n, int64_t day, const struct tk_detect_options *o, double *work, struct tk_error *err)
{
	size_t known = 0;
	double prior;
	int rc = TK_OK;

	for (size_t i = 0; i < n; i++) {
		size_t had = p[i].now;

		p[i].judged = false;
		while (p[i].now < p[i].n && p[i].history->day[p[i].where[p[i].now]] <= day)
			p[i].now++;
		if (p[i].now == had || p[i].now < 2)
			continue;
		p[i].judged = true;
		if (p[i].now % NOISE_EVERY == 0 && p[i].now >= TK_PRIOR_HISTORY_MIN)
			p[i].noise = tk_own_noise(p[i].y + (p[i].now > TK_HISTORY_MIN ? p[i].now - TK_HISTORY_MIN : 0),
			        p[i].now > TK_HISTORY_MIN ? TK_HISTORY_MIN : p[i].now);
	}
	for (size_t i = 0; i < n; i++)
		if (p[i].noise > 0)
			work[known++] = p[i].noise;
	prior = tk_prior_of(work, known);
	if (!(prior > 0))
		prior = TK_NOISE_DEFAULT;
	for (size_t i = 0; !rc && i < n; i++) {
		work[i] = NAN;
		if (p[i].judged)
			rc = judge(&p[i], prior, o);
		if (p[i].judged)
			work[i] = p[i].p;
	}
	if (!rc)
		rc = tk_fdr_q(work, n, work + n);
	for (size_t i = 0; !rc && i < n; i++) {
		p[i].q = work[n + i];
		if (p[i].judged)
			rc = decide(&p[i], o);
	}
	return rc ? out_of_memory(err) : TK_OK;
}

static int play_machine(
        struct player *p, size_t n, const struct tk_detect_options *o, double *work, struct tk_error *err)
{
	size_t total = 0, count = 0;
	int64_t *days;
	int rc = TK_OK;

	for (size_t i = 0; i < n; i++)
		total += p[i].n;
	days = malloc((total + 1) * sizeof *days);
	if (!days)
		return out_of_memory(err);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < p[i].n; j++)
			days[count++] = p[i].history->day[p[i].where[j]];
	qsort(days, count, sizeof *days, by_day);
	for (size_t i = 0; !rc && i < count; i++)
		if (i == 0 || days[i] != days[i - 1])
			rc = play_night(p, n, days[i], o, work, err);
	free(days);
	return rc;
}

int tk_histories_online(const struct tk_history *series, size_t count, const struct tk_detect_options *options,
        struct tk_alarms *out, struct tk_error *err)
{
	struct player *p = calloc(count + 1, sizeof *p);
	double *work = malloc((2 * count + 1) * sizeof *work);
	int rc = p && work ? TK_OK : out_of_memory(err);

	memset(out, 0, count * sizeof *out);
	for (size_t i = 0; !rc && i < count; i++)
		rc = player_make(&p[i], &series[i], &out[i], err);
	if (!rc)
		qsort(p, count, sizeof *p, by_machine);
	for (size_t i = 0, next; !rc && i < count; i = next) {
		for (next = i; next < count && strcmp(p[next].history->machine, p[i].history->machine) == 0; next++)
			;
		rc = play_machine(p + i, next - i, options, work, err);
	}
	for (size_t i = 0; p && i < count; i++) {
		free(p[i].y);
		free(p[i].se);
		free(p[i].where);
	}
	free(p);
	free(work);
	return rc;
}

void tk_alarms_free(struct tk_alarms *alarms, size_t count)
{
	for (size_t i = 0; alarms && i < count; i++)
		free(alarms[i].at);
}
