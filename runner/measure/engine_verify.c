/* The first launches, before anything is timed (lazy loading and just-in-time compilation happen
 * here), and the verification of their results.
 *
 * Verification takes the host about as long as the device needs to warm up. If bursts do not depend
 * on the host, because the stream is blocked until all of a burst is enqueued, the two run in
 * parallel. */
#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"
#include "measure/engine.h"
#include <pthread.h>
#include <stdlib.h>

struct tk_engine_verification {
	struct tk_engine *e;
	uint32_t differing_set; /* first set whose outputs differ from the verified ones; 0: none */
	pthread_t thread;
	bool is_running;
	int status;
	struct tk_error err;
};

static double seconds_since(int64_t start_ns)
{
	return (double)(tk_clock_monotonic_ns() - start_ns) * 1e-9;
}

/* The result of tk_verify_outputs() as a step's result. */
static int check_result(struct tk_engine *e, int status, const struct tk_error *err)
{
	if (status == TK_EUNSUPPORTED)
		return tk_engine_end_job(e, TK_OUTCOME_UNSUPPORTED, "%s", err->message);
	if (status)
		return tk_fail(e->err, err->status, "%s", err->message);
	if (e->out->verdict.passed)
		return 0;
	return tk_engine_end_job(e, TK_OUTCOME_WRONG, "%s", e->out->verdict.detail);
}

static int verify_fetched(struct tk_engine *e, struct tk_error *err)
{
	return tk_verify_outputs(e->problem, e->host, e->out->check_seed, &e->out->verdict, err);
}

int tk_engine_verify_reference(struct tk_engine *e, uint32_t set)
{
	struct tk_error err = {0};
	TRY(tk_engine_fetch_outputs(e, set));
	return check_result(e, verify_fetched(e, &err), &err);
}

/* Inputs are equal: outputs with the same bits as the verified ones are right as well. */
int tk_engine_verify_set(struct tk_engine *e, uint32_t set)
{
	bool same = false;
	int status = tk_engine_compare_outputs(e, set, &same);
	return status || same ? status : tk_engine_verify_reference(e, set);
}

/* On the first and the last set, to find a kernel that always uses the addresses of one of them. */
static int launch_first(struct tk_engine *e)
{
	uint32_t last = e->set_count - 1;
	int status = tk_engine_poison_outputs(e, 0);
	if (!status && last > 0)
		status = tk_engine_poison_outputs(e, last);
	if (!status)
		status = tk_engine_launch(e, 0);
	if (!status && last > 0)
		status = tk_engine_launch(e, last);
	if (!status)
		status = tk_engine_synchronize(e);
	tk_engine_sample_memory(e);
	return status;
}

static void *verify_thread(void *arg)
{
	struct tk_engine_verification *v = arg;
	v->status = verify_fetched(v->e, &v->err);
	return NULL;
}

static int verify_first_launches(struct tk_engine_verification *v)
{
	struct tk_engine *e = v->e;
	uint32_t last = e->set_count - 1;
	bool same = last == 0;
	int status = tk_engine_fetch_outputs(e, 0);
	if (!status)
		status = tk_engine_save_outputs(e, 0);
	if (!status && last > 0)
		status = tk_engine_compare_outputs(e, last, &same);
	if (status)
		return status;
	v->differing_set = same ? 0 : last;
	/* A second output needs the same host memory afterwards: a thread would gain nothing. */
	v->is_running = same && e->ops->block_stream &&
	                pthread_create(&v->thread, NULL, verify_thread, v) == 0;
	if (v->is_running)
		return 0;
	verify_thread(v);
	status = check_result(e, v->status, &v->err);
	return status || same ? status : tk_engine_verify_reference(e, v->differing_set);
}

int tk_engine_verify_start(struct tk_engine *e, struct tk_engine_verification **out)
{
	int status = launch_first(e);
	int64_t start = tk_clock_monotonic_ns();
	if (status || !e->options->verify)
		return status;
	struct tk_engine_verification *v = tk_calloc(1, sizeof *v);
	v->e = e;
	status = verify_first_launches(v);
	e->out->verify_s += seconds_since(start);
	*out = v;
	return status;
}

int tk_engine_verify_finish(struct tk_engine *e, struct tk_engine_verification *v)
{
	int64_t start = tk_clock_monotonic_ns();
	int status = 0;
	if (v && v->is_running) {
		pthread_join(v->thread, NULL);
		status = check_result(e, v->status, &v->err);
		e->out->verify_s += seconds_since(start);
	}
	free(v);
	return status;
}
