/* See ab_pair.h. */
#include "nightly/confirm/ab_pair.h"
#include "base/device_token.h"
#include "base/error.h"
#include "core/measurement_fields.h"
#include "core/mode.h"
#include "nightly/confirm/ab_test.h"
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

static struct tk_job_request make_request(
        struct tk_night *n, const struct tk_ab_test *t, const struct tk_ab_run *s)
{
	struct tk_job_request q = tk_night_job_request(
	        n, &t->series, &t->problem, s->variant->path, s->variant->options);
	if (s->variant->config)
		q.config = s->variant->config;
	q.measure_s = fmin(q.measure_s, PROCESS_MEASURE_S);
	q.verify = false; /* the night has verified both builds */
	q.limits = &t->device->limits;
	return q;
}

static void reset_run(struct tk_ab_run *s)
{
	*s = (struct tk_ab_run){.variant = s->variant, .name = s->name, .median = NAN, .min = NAN};
}

static void store_result(struct tk_ab_run *s, struct tk_job_result *r)
{
	s->done = true;
	s->outcome = r->outcome;
	if (r->result && tk_outcome_has_timing(r->outcome)) {
		s->median = tk_measurement_get_number(r->result, TK_MEASUREMENT_MEDIAN, NAN);
		s->min = tk_measurement_get_number(r->result, TK_MEASUREMENT_MIN, NAN);
	}
	snprintf(s->message, sizeof s->message, "%.*s", (int)sizeof s->message - 1, r->message);
	tk_job_result_free(r);
}

static void end_worker(struct tk_ab_run *s)
{
	tk_worker_free(s->worker);
	s->worker = NULL;
}

/* ---- one after the other ---- */

/* In a fresh process: heap, pages and threads of an earlier one would bias the timing. */
static int measure_alone(
        struct tk_night *n, const struct tk_ab_test *t, struct tk_ab_run *s, struct tk_error *err)
{
	struct tk_job_result r = {0};
	struct tk_job_request q = make_request(n, t, s);
	struct tk_ab_worker_spec spec = {.threads = s->variant->threads};
	int status = tk_night_load_limits(n, t->device, err);
	if (!status)
		status = tk_night_new_ab_worker(n, t->device, &spec, &s->worker, err);
	if (!status)
		status = tk_worker_measure(s->worker, &q, &r, err);
	store_result(s, &r);
	end_worker(s);
	return status;
}

static int measure_in_sequence(struct tk_night *n, const struct tk_ab_test *t,
        struct tk_ab_run *first, struct tk_ab_run *second, struct tk_error *err)
{
	int status = measure_alone(n, t, first, err);
	return status ? status : measure_alone(n, t, second, err);
}

/* ---- alternating ---- */

static int start_worker(struct tk_night *n, const struct tk_ab_test *t, struct tk_ab_run *s,
        int token_fd, const struct tk_job_request *q, struct tk_error *err)
{
	struct tk_ab_worker_spec spec = {
	        .name = s->name, .threads = s->variant->threads, .token_fd = token_fd};
	int status = tk_night_load_limits(n, t->device, err);
	if (!status)
		status = tk_night_new_ab_worker(n, t->device, &spec, &s->worker, err);
	return status ? status : tk_worker_start_measure(s->worker, q, err);
}

/* Waits at most wait_ms for the result. */
static int poll_run(struct tk_ab_run *s, int wait_ms, struct tk_error *err)
{
	struct tk_job_result r = {0};
	struct pollfd p = {.fd = tk_worker_fd(s->worker), .events = POLLIN};
	if (p.fd >= 0)
		poll(&p, 1, wait_ms);
	bool is_done = false;
	int status = tk_worker_poll_measure(s->worker, &is_done, &r, err);
	if (!status && is_done)
		store_result(s, &r);
	return status;
}

/* Twice the time, because the clocks of the measurement and the deadline do not stop with the
 * process. */
static int start_sliced(struct tk_night *n, const struct tk_ab_test *t, struct tk_ab_run *s,
        bool is_paused, struct tk_error *err)
{
	struct tk_job_request q = make_request(n, t, s);
	q.measure_s *= 2;
	q.deadline_s *= 2;
	int status = start_worker(n, t, s, 0, &q, err);
	if (!status && is_paused)
		tk_worker_set_paused(s->worker, true);
	return status;
}

static int measure_in_slices(struct tk_night *n, const struct tk_ab_test *t,
        struct tk_ab_run *first, struct tk_ab_run *second, int slice_ms, struct tk_error *err)
{
	int status = start_sliced(n, t, second, true, err);
	if (!status)
		status = start_sliced(n, t, first, false, err);
	for (struct tk_ab_run *now = first, *next = second;
	        !status && !(now->done && next->done);) {
		status = poll_run(now, slice_ms, err);
		if (next->done)
			continue;
		tk_worker_set_paused(now->worker, true);
		tk_worker_set_paused(next->worker, false);
		struct tk_ab_run *swap = now;
		now = next;
		next = swap;
	}
	end_worker(first);
	end_worker(second);
	return status;
}

/* Waiting for the token counts for the deadline only, not for the measurement. */
static int start_with_token(struct tk_night *n, const struct tk_ab_test *t, struct tk_ab_run *s,
        int token_fd, struct tk_error *err)
{
	struct tk_job_request q = make_request(n, t, s);
	q.token_wait_s = TOKEN_WAIT_SHARE * q.deadline_s;
	q.deadline_s *= 2;
	return start_worker(n, t, s, token_fd, &q, err);
}

/* Ends the process at once, because it may hold the token that the other one waits for. */
static void end_if_done(struct tk_ab_run *s)
{
	if (s->done)
		end_worker(s);
}

static int wait_for_both(struct tk_ab_run *a, struct tk_ab_run *b, struct tk_error *err)
{
	int status = TK_OK;
	while (!status && !(a->done && b->done)) {
		struct tk_ab_run *unfinished = a->done ? b : a, *other = a->done ? a : b;
		status = poll_run(unfinished, POLL_MS, err);
		if (!status && !other->done)
			status = poll_run(other, 0, err);
		end_if_done(a);
		end_if_done(b);
	}
	return status;
}

static int measure_with_token(struct tk_night *n, const struct tk_ab_test *t,
        struct tk_ab_run *first, struct tk_ab_run *second, struct tk_error *err)
{
	int ends[2];
	int status = tk_device_token_new_pair(ends, err);
	if (status)
		return status;
	status = start_with_token(n, t, first, ends[0], err);
	if (!status)
		status = start_with_token(n, t, second, ends[1], err);
	close(ends[0]);
	close(ends[1]);
	if (!status)
		status = wait_for_both(first, second, err);
	end_worker(first);
	end_worker(second);
	return status;
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

static bool are_timed(const struct tk_ab_run *a, const struct tk_ab_run *b)
{
	return isfinite(a->median) && isfinite(b->median);
}

/* A pair may fail only because two processes run at once (memory, a lock, a port). Then this and
 * all later pairs are measured in sequence. */
static int measure_by_token(struct tk_night *n, struct tk_ab_test *t, struct tk_ab_run *first,
        struct tk_ab_run *second, struct tk_error *err)
{
	int status = measure_with_token(n, t, first, second, err);
	if (status || are_timed(first, second))
		return status;
	reset_run(first);
	reset_run(second);
	status = measure_in_sequence(n, t, first, second, err);
	t->is_sequential = are_timed(first, second);
	return status;
}

int tk_ab_pair_measure(struct tk_night *n, struct tk_ab_test *t, struct tk_ab_run *first,
        struct tk_ab_run *second, struct tk_error *err)
{
	int slice_ms = slice_length_ms(t);
	reset_run(first);
	reset_run(second);
	if (alternates_by_token(t))
		return measure_by_token(n, t, first, second, err);
	return slice_ms ? measure_in_slices(n, t, first, second, slice_ms, err)
	                : measure_in_sequence(n, t, first, second, err);
}
