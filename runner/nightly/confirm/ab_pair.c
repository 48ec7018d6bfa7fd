/* See pair.h. */
#include "nightly/confirm/ab_pair.h"
#include "base/device_token.h"
#include "base/error.h"
#include "core/mode.h"
#include "nightly/confirm/ab_test.h"
#include "nightly/night.h"
#include "worker/worker.h"
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Many short processes tell more than few long ones: what differs between processes (addresses,
 * pages, cores) is part of the noise. */
#define PROCESS_MEASURE_S 0.25
/* Neighbours change within a second. On processors both processes of a pair live at once and run by
 * turns, one of them stopped, so that each has its share of a bad moment. A turn has many launches,
 * as one of them is cut by its end. */
#define TURN_LAUNCHES 20
#define TURN_LEAST_MS 10
#define TURN_MOST_MS 40 /* longer kernels: one process after the other */
/* A GPU changes within a tenth of a second, and what is launched cannot be stopped: there the
 * bursts take turns, and the processes see to it themselves. One that waits for a burst of the
 * other for this share of its job's time goes on alone; for the other's start it waits to the end.
 */
#define TOKEN_WAIT_SHARE 0.25
#define LOOK_EVERY_MS 50 /* at deadlines and limits */

static double number_of(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);
	return json_is_number(v) ? json_number_value(v) : NAN;
}

static struct tk_job_request request_of(
        const struct tk_night *n, const struct tk_ab_test *t, const struct tk_ab_run *s)
{
	struct tk_job_request q =
	        tk_night_job_request(n, &t->series, &t->problem, s->side->path, s->side->options);
	q.measure_s = fmin(q.measure_s, PROCESS_MEASURE_S);
	q.verify = false; /* the night has done that */
	return q;
}

static void clear(struct tk_ab_run *s)
{
	*s = (struct tk_ab_run){.side = s->side, .name = s->name, .median = NAN, .min = NAN};
}

static void take(struct tk_ab_run *s, struct tk_job_result *r)
{
	s->done = true;
	s->outcome = r->outcome;
	if (r->result && tk_outcome_has_timing(r->outcome)) {
		s->median = number_of(r->result, "median");
		s->min = number_of(r->result, "min");
	}
	snprintf(s->message, sizeof s->message, "%.*s", (int)sizeof s->message - 1, r->message);
	tk_job_result_free(r);
}

static void end(struct tk_ab_run *s)
{
	tk_worker_free(s->worker);
	s->worker = NULL;
}

/* ---- one after the other ---- */

/* A fresh process: nothing of an earlier one (its heap, its pages, its threads) is in the number.
 */
static int measure_alone(
        struct tk_night *n, const struct tk_ab_test *t, struct tk_ab_run *s, struct tk_error *err)
{
	struct tk_job_result r = {0};
	struct tk_job_request q = request_of(n, t, s);
	int status = tk_night_new_worker(n, t->device, &s->worker, err);
	if (status == TK_OK)
		status = tk_worker_measure(s->worker, &q, &r, err);
	take(s, &r);
	end(s);
	return status;
}

static int measure_apart(struct tk_night *n, const struct tk_ab_test *t, struct tk_ab_run *first,
        struct tk_ab_run *second, struct tk_error *err)
{
	int status = measure_alone(n, t, first, err);
	return status ? status : measure_alone(n, t, second, err);
}

/* ---- by turns ---- */

static int begin(struct tk_night *n, const struct tk_ab_test *t, struct tk_ab_run *s, int token_fd,
        const struct tk_job_request *q, struct tk_error *err)
{
	struct tk_ab_worker_spec half = {.name = s->name, .token_fd = token_fd};
	int status = tk_night_new_ab_worker(n, t->device, &half, &s->worker, err);
	return status ? status : tk_worker_start_measure(s->worker, q, err);
}

/* What has come within so many milliseconds. */
static int look(struct tk_ab_run *s, int ms, struct tk_error *err)
{
	struct tk_job_result r = {0};
	struct pollfd p = {.fd = tk_worker_fd(s->worker), .events = POLLIN};
	if (p.fd >= 0)
		poll(&p, 1, ms);
	bool done = false;
	int status = tk_worker_poll_measure(s->worker, &done, &r, err);
	if (status == TK_OK && done)
		take(s, &r);
	return status;
}

/* The clocks of the measuring and of the deadline go on while a process is stopped. */
static int begin_stopped(struct tk_night *n, const struct tk_ab_test *t, struct tk_ab_run *s,
        bool hold, struct tk_error *err)
{
	struct tk_job_request q = request_of(n, t, s);
	q.measure_s *= 2;
	q.deadline_s *= 2;
	int status = begin(n, t, s, 0, &q, err);
	if (status == TK_OK && hold)
		tk_worker_set_paused(s->worker, true);
	return status;
}

static int measure_stopped(struct tk_night *n, const struct tk_ab_test *t, struct tk_ab_run *first,
        struct tk_ab_run *second, int turn_ms, struct tk_error *err)
{
	int status = begin_stopped(n, t, second, true, err);
	if (status == TK_OK)
		status = begin_stopped(n, t, first, false, err);
	for (struct tk_ab_run *now = first, *next = second;
	        status == TK_OK && !(now->done && next->done);) {
		status = look(now, turn_ms, err);
		if (next->done)
			continue;
		tk_worker_set_paused(now->worker, true);
		tk_worker_set_paused(next->worker, false);
		struct tk_ab_run *was = now;
		now = next;
		next = was;
	}
	end(first);
	end(second);
	return status;
}

/* Its own clock stands while a process waits for its turn, the one of its deadline does not. */
static int begin_with_token(struct tk_night *n, const struct tk_ab_test *t, struct tk_ab_run *s,
        int token_fd, struct tk_error *err)
{
	struct tk_job_request q = request_of(n, t, s);
	q.token_wait_s = TOKEN_WAIT_SHARE * q.deadline_s;
	q.deadline_s *= 2;
	return begin(n, t, s, token_fd, &q, err);
}

/* Whatever its process still holds must not keep the other one waiting. */
static void end_if_done(struct tk_ab_run *s)
{
	if (s->done)
		end(s);
}

static int await_both(struct tk_ab_run *a, struct tk_ab_run *b, struct tk_error *err)
{
	int status = TK_OK;
	while (status == TK_OK && !(a->done && b->done)) {
		struct tk_ab_run *waited_for = a->done ? b : a, *other = a->done ? a : b;
		status = look(waited_for, LOOK_EVERY_MS, err);
		if (status == TK_OK && !other->done)
			status = look(other, 0, err);
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
	status = begin_with_token(n, t, first, ends[0], err);
	if (status == TK_OK)
		status = begin_with_token(n, t, second, ends[1], err);
	close(ends[0]);
	close(ends[1]);
	if (status == TK_OK)
		status = await_both(first, second, err);
	end(first);
	end(second);
	return status;
}

/* ---- which ---- */

/* Work that a device has been given can be stopped with its process where that process does it. */
static bool can_be_stopped(const struct tk_night_device *d)
{
	return strcmp(d->layer->name, "cpu") == 0 || strcmp(d->layer->name, "null") == 0;
}

/* Whether bursts of another process between its own leave a burst what it is. Not where a governor
 * has settled (sustained): it has one clock for both, by what both draw. Nor where caches are hot
 * from the burst before. */
static bool has_lone_bursts(const struct tk_night_device *d, const char *word)
{
	enum tk_mode mode;
	return strcmp(d->layer->name, "cpu") != 0 && tk_mode_parse(word, &mode) == TK_OK &&
	       (mode == TK_MODE_PACED || mode == TK_MODE_CONTENDED);
}

/* After a pair that failed, one after the other as well, there is nothing to be had from turns. */
static bool takes_turns(const struct tk_ab_test *t)
{
	return !t->apart && has_lone_bursts(t->device, t->series.mode) &&
	       (!t->count || tk_ab_pair_is_timed(&t->rows[t->count - 1]));
}

/* How long a process runs until it is stopped, by the pair before this one. 0: it is not. */
static int turn_of(const struct tk_ab_test *t)
{
	const struct tk_ab_pair_row *last = t->count ? &t->rows[t->count - 1] : NULL;
	double ms = last ? (last->good_median + last->bad_median) / 2 * TURN_LAUNCHES / 1e6
	                 : NAN; /* NaN where one failed */
	if (t->apart || !can_be_stopped(t->device) || !(ms <= TURN_MOST_MS))
		return 0;
	return ms < TURN_LEAST_MS ? TURN_LEAST_MS : (int)ms;
}

static bool are_timed(const struct tk_ab_run *a, const struct tk_ab_run *b)
{
	return isfinite(a->median) && isfinite(b->median);
}

/* What fails only because there are two of them (no memory for both, a lock, a port) would do so in
 * every pair: what either does alone is what counts. */
static int measure_by_bursts(struct tk_night *n, struct tk_ab_test *t, struct tk_ab_run *first,
        struct tk_ab_run *second, struct tk_error *err)
{
	int status = measure_with_token(n, t, first, second, err);
	if (status || are_timed(first, second))
		return status;
	clear(first);
	clear(second);
	status = measure_apart(n, t, first, second, err);
	t->apart = are_timed(first, second);
	return status;
}

int tk_ab_pair_measure(struct tk_night *n, struct tk_ab_test *t, struct tk_ab_run *first,
        struct tk_ab_run *second, struct tk_error *err)
{
	int turn_ms = turn_of(t);
	clear(first);
	clear(second);
	if (takes_turns(t))
		return measure_by_bursts(n, t, first, second, err);
	return turn_ms ? measure_stopped(n, t, first, second, turn_ms, err)
	               : measure_apart(n, t, first, second, err);
}
