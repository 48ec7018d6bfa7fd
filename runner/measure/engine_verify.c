/* First launches, before anything is timed (lazy loading and just-in-time compilation happen here),
 * and whether their results are right.
 *
 * Working that out takes a host about as long as a device needs to warm up. Where bursts do not
 * depend on the host, since the stream is held until all of one is enqueued, the two go on beside
 * each other. */
#include "base/clock.h"
#include "base/error.h"
#include "measure/engine.h"
#include <pthread.h>
#include <stdlib.h>

struct tk_engine_verification {
	struct tk_engine *e;
	uint32_t again; /* a set whose outputs are other bits than those that are being checked; 0:
	                   none */
	pthread_t thread;
	bool running;
	int status;
	struct tk_error err;
};

static double seconds_since(int64_t start_ns)
{
	return (double)(tk_clock_monotonic_ns() - start_ns) * 1e-9;
}

static int verdict_of(struct tk_engine *e, int status, const struct tk_error *err)
{
	if (status == TK_EUNSUPPORTED)
		return tk_engine_end_job(e, TK_OUTCOME_UNSUPPORTED, "%s", err->message);
	if (status)
		return tk_fail(e->err, err->status, "%s", err->message);
	return e->out->verdict.passed
	               ? 0
	               : tk_engine_end_job(e, TK_OUTCOME_WRONG, "%s", e->out->verdict.detail);
}

static int check_set(struct tk_engine *e, uint32_t set)
{
	struct tk_error err = {0};
	int status = tk_engine_fetch_outputs(e, set);
	return status ? status
	              : verdict_of(e,
	                        tk_verify(e->problem, e->host, e->options->seed, &e->out->verdict,
	                                &err),
	                        &err);
}

/* Equal inputs that gave equal bits are as right as the output that was checked; only what differs
 * is worked out again.
 */
int tk_engine_verify_set(struct tk_engine *e, uint32_t set)
{
	int64_t start = tk_clock_monotonic_ns();
	bool same = false;
	int status = e->ops->same && e->ops->copy ? tk_engine_compare_outputs(e, set, &same) : 0;
	if (status == 0 && !same)
		status = check_set(e, set);
	e->out->verify_s += seconds_since(start);
	return status;
}

/* The first and the last set are looked at, so that a kernel that only knows the addresses of one
 * of them is found. */
static int first_launches(struct tk_engine *e)
{
	uint32_t last = e->set_count - 1;
	int status = tk_engine_poison_outputs(e, 0);
	if (status == 0 && last > 0)
		status = tk_engine_poison_outputs(e, last);
	if (status == 0)
		status = tk_engine_launch(e, 0);
	if (status == 0 && last > 0)
		status = tk_engine_launch(e, last);
	if (status == 0)
		status = tk_engine_synchronize(e);
	tk_engine_sample_memory(e);
	return status;
}

static void *work(void *arg)
{
	struct tk_engine_verification *c = arg;
	struct tk_engine *e = c->e;
	c->status = tk_verify(e->problem, e->host, e->options->seed, &e->out->verdict, &c->err);
	return NULL;
}

static int begin(struct tk_engine_verification *c)
{
	struct tk_engine *e = c->e;
	uint32_t last = e->set_count - 1;
	bool same = last == 0;
	int status = tk_engine_fetch_outputs(e, 0);
	if (status == 0)
		status = tk_engine_save_outputs(e, 0);
	if (status == 0 && last > 0 && e->ops->same && e->ops->copy)
		status = tk_engine_compare_outputs(e, last, &same);
	c->again = same ? 0 : last;
	/* another output needs the host's memory when this one is done: no time is won then */
	c->running = status == 0 && same && e->ops->hold &&
	             pthread_create(&c->thread, NULL, work, c) == 0;
	if (status || c->running)
		return status;
	work(c);
	if ((status = verdict_of(e, c->status, &c->err)) == 0 && c->again)
		status = check_set(e, c->again);
	return status;
}

int tk_engine_verify_start(struct tk_engine *e, struct tk_engine_verification **out)
{
	int status = first_launches(e);
	int64_t start = tk_clock_monotonic_ns();
	if (status || !e->options->verify)
		return status;
	struct tk_engine_verification *c = calloc(1, sizeof *c);
	if (!c)
		return tk_fail(e->err, TK_ENOMEM, "out of memory");
	c->e = e;
	status = begin(c);
	e->out->verify_s += seconds_since(start);
	*out = c;
	return status;
}

int tk_engine_verify_finish(struct tk_engine *e, struct tk_engine_verification *c)
{
	int64_t start = tk_clock_monotonic_ns();
	int status = 0;
	if (c && c->running) {
		pthread_join(c->thread, NULL);
		status = verdict_of(e, c->status, &c->err);
		e->out->verify_s += seconds_since(start);
	}
	free(c);
	return status;
}
