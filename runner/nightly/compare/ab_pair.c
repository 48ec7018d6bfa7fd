/* One pair of an A/B test: base and head run in processes of their own. Where possible both run at
 * the same time and alternate, so that a change of the machine within a second affects both; else
 * one runs after the other. */
#include "base/device_token.h"
#include "base/error.h"
#include "base/try.h"
#include "core/measurement_fields.h"
#include "core/mode.h"
#include "nightly/compare/ab_test.h"
#include "nightly/night.h"
#include "worker/worker.h"
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

/* Many short processes give more information than a few long ones, because differences between
 * processes (addresses, pages, cores) are part of the noise. */
#define PROCESS_MEASURE_S 0.25

/* On a CPU the processes alternate by pausing one of them, so that both get their share of a bad
 * moment. A time slice has many launches, because its end interrupts one of them. */
#define SLICE_LAUNCHES 20
#define SLICE_MIN_MS 10
#define SLICE_MAX_MS 40 /* longer kernels run one process after the other */

/* Work on a GPU cannot be paused: there the processes pass a token and alternate burst by burst. A
 * process that waits for this share of its job's time for a burst of the other continues without
 * the token. It waits longer only for the other's first burst. */
#define TOKEN_WAIT_SHARE 0.25
#define POLL_MS 50 /* deadlines and limits are checked at least this often */

struct pair {
	struct tk_night *n;
	const struct tk_ab_test *t;
	enum tk_ab_side_id order[TK_AB_SIDES];
	struct tk_ab_run *runs; /* by side */
};

static struct tk_job_request make_request(const struct pair *p, enum tk_ab_side_id side)
{
	struct tk_job_request q = tk_ab_test_make_request(p->n, p->t, side);
	q.measure_s = fmin(q.measure_s, PROCESS_MEASURE_S);
	return q;
}

/* A fresh process: heap, pages and threads of an earlier one would bias the timing. */
static int new_worker(struct pair *p, enum tk_ab_side_id side, bool is_beside_other, int token_fd,
        struct tk_error *err)
{
	static const char *const names[TK_AB_SIDES] = {"base", "head"};
	struct tk_ab_worker_spec spec = {.name = is_beside_other ? names[side] : NULL,
	        .threads = p->t->side[side].threads,
	        .token_fd = token_fd};
	TRY(tk_night_load_limits(p->n, p->t->device, err));
	return tk_night_new_ab_worker(p->n, p->t->device, &spec, &p->runs[side].worker, err);
}

static void reset_runs(const struct pair *p)
{
	for (int k = 0; k < TK_AB_SIDES; k++)
		p->runs[k] = (struct tk_ab_run){.median = NAN, .min = NAN};
}

static void take_result(struct tk_ab_run *run, struct tk_job_result *r)
{
	run->done = true;
	run->outcome = r->outcome;
	if (r->result && tk_outcome_has_timing(r->outcome)) {
		run->median = tk_measurement_get_number(r->result, TK_MEASUREMENT_MEDIAN, NAN);
		run->min = tk_measurement_get_number(r->result, TK_MEASUREMENT_MIN, NAN);
	}
	snprintf(run->message, sizeof run->message, "%.*s", (int)sizeof run->message - 1,
	        r->message);
	tk_job_result_free(r);
}

static void end_worker(struct tk_ab_run *run)
{
	tk_worker_free(run->worker);
	run->worker = NULL;
}

static void end_workers(const struct pair *p)
{
	for (int k = 0; k < TK_AB_SIDES; k++)
		end_worker(&p->runs[k]);
}

/* ---- one after the other ---- */

static int measure_in_sequence(struct pair *p, struct tk_error *err)
{
	for (int i = 0; i < TK_AB_SIDES; i++) {
		struct tk_ab_run *run = &p->runs[p->order[i]];
		struct tk_job_result r = {0};
		struct tk_job_request q = make_request(p, p->order[i]);
		int status = new_worker(p, p->order[i], false, 0, err);
		if (!status)
			status = tk_worker_measure(run->worker, &q, &r, err);
		take_result(run, &r);
		end_worker(run);
		TRY(status);
	}
	return TK_OK;
}

/* ---- alternating ---- */

/* Waits at most wait_ms for the result. */
static int poll_run(struct tk_ab_run *run, int wait_ms, struct tk_error *err)
{
	struct tk_job_result r = {0};
	struct pollfd fd = {.fd = tk_worker_fd(run->worker), .events = POLLIN};
	bool is_done = false;
	if (fd.fd >= 0)
		poll(&fd, 1, wait_ms);
	TRY(tk_worker_poll_measure(run->worker, &is_done, &r, err));
	if (is_done)
		take_result(run, &r);
	return TK_OK;
}

/* Twice the time, because the clocks of the measurement and the deadline do not stop with the
 * process. */
static int start_sliced(
        struct pair *p, enum tk_ab_side_id side, bool is_paused, struct tk_error *err)
{
	struct tk_job_request q = make_request(p, side);
	q.measure_s *= 2;
	q.deadline_s *= 2;
	TRY(new_worker(p, side, true, 0, err));
	TRY(tk_worker_start_measure(p->runs[side].worker, &q, err));
	if (is_paused)
		tk_worker_set_paused(p->runs[side].worker, true);
	return TK_OK;
}

static int measure_in_slices(struct pair *p, int slice_ms, struct tk_error *err)
{
	struct tk_ab_run *now = &p->runs[p->order[0]], *next = &p->runs[p->order[1]];
	TRY(start_sliced(p, p->order[1], true, err));
	TRY(start_sliced(p, p->order[0], false, err));
	while (!(now->done && next->done)) {
		TRY(poll_run(now, slice_ms, err));
		if (next->done)
			continue;
		tk_worker_set_paused(now->worker, true);
		tk_worker_set_paused(next->worker, false);
		struct tk_ab_run *swap = now;
		now = next;
		next = swap;
	}
	return TK_OK;
}

/* Waiting for the token counts for the deadline only, not for the measurement. */
static int start_with_token(
        struct pair *p, enum tk_ab_side_id side, int token_fd, struct tk_error *err)
{
	struct tk_job_request q = make_request(p, side);
	q.token_wait_s = TOKEN_WAIT_SHARE * q.deadline_s;
	q.deadline_s *= 2;
	TRY(new_worker(p, side, true, token_fd, err));
	return tk_worker_start_measure(p->runs[side].worker, &q, err);
}

/* Ends a process as soon as it is done, because it may hold the token that the other one waits
 * for. */
static int wait_for_both(struct pair *p, struct tk_error *err)
{
	struct tk_ab_run *a = &p->runs[p->order[0]], *b = &p->runs[p->order[1]];
	while (!(a->done && b->done)) {
		struct tk_ab_run *unfinished = a->done ? b : a, *other = a->done ? a : b;
		TRY(poll_run(unfinished, POLL_MS, err));
		if (!other->done)
			TRY(poll_run(other, 0, err));
		if (a->done)
			end_worker(a);
		if (b->done)
			end_worker(b);
	}
	return TK_OK;
}

static int measure_with_token(struct pair *p, struct tk_error *err)
{
	int ends[2];
	TRY(tk_device_token_new_pair(ends, err));
	int status = start_with_token(p, p->order[0], ends[0], err);
	if (!status)
		status = start_with_token(p, p->order[1], ends[1], err);
	close(ends[0]);
	close(ends[1]);
	return status ? status : wait_for_both(p, err);
}

/* ---- which way ---- */

/* Pausing the process pauses its work only if the process does the work itself. */
static bool can_pause_work(const struct tk_night_device *d)
{
	return tk_night_device_is_cpu(d) ||
	       tk_device_kind_from_name(d->layer->name) == TK_DEVICE_NULL;
}

/* Whether bursts of the other process in between leave the timing of a burst unchanged. Not in
 * sustained mode, where the governor sets one clock for the power of both; nor in hot mode,
 * where the caches hold the data of the burst before. */
static bool has_independent_bursts(const struct tk_night_device *d, const char *word)
{
	enum tk_mode mode;
	return !tk_night_device_is_cpu(d) && !tk_mode_parse(word, &mode) &&
	       (mode == TK_MODE_PACED || mode == TK_MODE_CONTENDED);
}

/* Not after a pair that failed: it failed in sequence as well. */
static bool alternates_by_token(const struct tk_ab_test *t)
{
	return !t->is_sequential && has_independent_bursts(t->device, t->series.mode) &&
	       (!t->count || tk_ab_pair_is_timed(&t->rows[t->count - 1]));
}

/* Length of a time slice, from the timings of the pair before; 0: no slices. */
static int slice_length_ms(const struct tk_ab_test *t)
{
	const struct tk_ab_pair_row *last = t->count ? &t->rows[t->count - 1] : NULL;
	double ms = last ? (last->good_median + last->bad_median) / 2 * SLICE_LAUNCHES / 1e6
	                 : NAN; /* NAN after a failure */
	if (t->is_sequential || !can_pause_work(t->device) || !(ms <= SLICE_MAX_MS))
		return 0;
	return ms < SLICE_MIN_MS ? SLICE_MIN_MS : (int)ms;
}

static bool are_timed(const struct tk_ab_run runs[TK_AB_SIDES])
{
	return isfinite(runs[TK_AB_BASE].median) && isfinite(runs[TK_AB_HEAD].median);
}

int tk_ab_pair_measure(struct tk_night *n, struct tk_ab_test *t, enum tk_ab_side_id first,
        struct tk_ab_run runs[TK_AB_SIDES], struct tk_error *err)
{
	struct pair p = {n, t, {first, TK_AB_SIDES - 1 - first}, runs};
	const int slice_ms = slice_length_ms(t);
	const bool by_token = alternates_by_token(t);
	int status;
	reset_runs(&p);
	if (by_token)
		status = measure_with_token(&p, err);
	else if (slice_ms)
		status = measure_in_slices(&p, slice_ms, err);
	else
		status = measure_in_sequence(&p, err);
	end_workers(&p);
	if (status || !by_token || are_timed(runs))
		return status;
	/* It may have failed only because two processes ran at once (memory, a lock, a port). Then
	 * this and all later pairs are measured in sequence. */
	reset_runs(&p);
	TRY(measure_in_sequence(&p, err));
	t->is_sequential = are_timed(runs);
	return TK_OK;
}
