/* One sample: what the stream gets, and the time of one launch that follows from it.
 * docs/explanation/measuring.md explains each step. */
#include "base/clock.h"
#include "base/try.h"
#include "measure/engine.h"
#include <math.h>

#define LONG_LAUNCH_NS 50e6 /* launch cost is not measured from here on */
#define IDLE_CLOCK_NS 500e3 /* window for the idle clock: the device's timer ticks coarsely */
#define LAUNCH_COST_REPEATS 9
#define LAUNCH_COST_REPEATS_SLOW 5 /* for launches of 1 ms and more */
#define LAUNCH_COST_LAUNCHES_MAX 16
#define LAUNCH_COST_BLOCK_NS 200e3
#define BLOCK_MIN_NS 20e3
#define BLOCK_MAX_NS 5e6

int64_t tk_engine_now_ns(const struct tk_engine *e)
{
	return e->ops->now_ns ? (int64_t)e->ops->now_ns(e->device)
	                      : tk_clock_monotonic_ns() - e->token->waited_ns;
}

int tk_engine_acquire_device(struct tk_engine *e)
{
	if (tk_device_token_acquire(e->token))
		return 0;
	return tk_engine_end_job(e, TK_OUTCOME_FAILED,
	        "the other worker of this pair timed out waiting for this one and went on alone");
}

int tk_engine_launch(struct tk_engine *e, uint32_t set)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	return tk_engine_check_status(
	        e, e->backend->launch(e->plan, e->stream, set, &abi), "launch", &abi);
}

int tk_engine_synchronize(struct tk_engine *e)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	return tk_engine_check_status(
	        e, e->ops->synchronize(e->device, e->stream, &abi), "synchronize", &abi);
}

int tk_engine_read_telemetry(struct tk_engine *e, struct tk_telemetry *out)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	*out = (struct tk_telemetry){.size = sizeof *out,
	        .clock_mhz = NAN,
	        .memory_clock_mhz = NAN,
	        .power_w = NAN,
	        .temperature_c = NAN,
	        .energy_j = NAN,
	        .load = NAN};
	TRY(tk_engine_check_status(
	        e, e->ops->telemetry(e->device, out, &abi), "telemetry", &abi));
	out->reasons[sizeof out->reasons - 1] = 0;
	return 0;
}

/* The hot loop: nothing but launches between the two events. */
int tk_engine_enqueue_launches(struct tk_engine *e, struct tk_abi_error *abi, const char **what)
{
	uint32_t set = e->next_set;
	int status = TK_ABI_OK;
	*what = "launch";
	for (uint64_t i = 0; i < e->batch && status == TK_ABI_OK; i++) {
		status = e->backend->launch(e->plan, e->stream, set, abi);
		if (++set == e->active_set_count)
			set = 0;
	}
	e->next_set = set;
	return status;
}

static int enqueue_burst(struct tk_engine *e, struct tk_abi_error *abi, const char **what)
{
	if (e->sequence)
		return tk_engine_enqueue_sequence(e, abi, what);
	if (!e->graph_count)
		return tk_engine_enqueue_launches(e, abi, what);
	void *graph = e->graphs[e->next_graph];
	e->next_graph = (e->next_graph + 1) % e->graph_count;
	*what = "graph launch";
	return e->ops->graph_launch(e->device, graph, e->stream, abi);
}

/* Enqueues what must run before the sample: the block that lets the host get ahead, and the memory
 * load. */
static int enqueue_preparation(struct tk_engine *e, struct tk_abi_error *abi, const char **what)
{
	const struct tk_device_ops *o = e->ops;
	int status = TK_ABI_OK;
	if (e->block_ns > 0) {
		*what = "block stream";
		status = o->block_stream(e->device, e->stream, e->block_ns, abi);
	}
	if (status == TK_ABI_OK && e->memory_load_ns > 0) {
		*what = "memory load";
		status = o->memory_load(
		        e->device, e->memory_load_ns, TK_ENGINE_MEMORY_LOAD_SHARE, abi);
	}
	return status;
}

/* The stamps are outside of the events, so that recording them is not timed. */
static int enqueue_timed(struct tk_engine *e, struct tk_abi_error *abi, const char **what)
{
	const struct tk_device_ops *o = e->ops;
	int status = TK_ABI_OK;
	if (e->start_stamp) {
		*what = "clock stamp";
		status = o->stamp_record(e->device, e->start_stamp, e->stream, abi);
	}
	if (status == TK_ABI_OK) {
		*what = "event";
		status = o->event_record(e->device, e->start_event, e->stream, abi);
	}
	for (uint64_t i = 0; status == TK_ABI_OK && i < e->bursts; i++)
		status = enqueue_burst(e, abi, what);
	if (status == TK_ABI_OK)
		status = o->event_record(e->device, e->end_event, e->stream, abi);
	if (status == TK_ABI_OK && e->end_stamp)
		status = o->stamp_record(e->device, e->end_stamp, e->stream, abi);
	return status;
}

/* Also adapts the block to the host time that enqueueing took, for the next sample. */
static int enqueue_sample(struct tk_engine *e, struct tk_abi_error *abi, const char **what)
{
	int status = enqueue_preparation(e, abi, what);
	if (status != TK_ABI_OK)
		return status;
	int64_t start = tk_clock_monotonic_ns();
	status = enqueue_timed(e, abi, what);
	double host_ns = (double)(tk_clock_monotonic_ns() - start);
	if (e->ops->block_stream)
		e->block_ns = fmin(
		        fmax(0.7 * e->block_ns, fmax(BLOCK_MIN_NS, 1.5 * host_ns)), BLOCK_MAX_NS);
	return status;
}

/* The memory load outlasts its sample and must not reach into the peer's. */
static int release_device(struct tk_engine *e)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	if (e->options->token && e->memory_load_ns > 0 &&
	        tk_engine_check_status(
	                e, e->ops->memory_load(e->device, 0, 0, &abi), "memory load", &abi))
		return TK_ENGINE_JOB_ENDED;
	tk_device_token_release(e->token, e->is_sampled);
	return 0;
}

static int read_clocks(
        struct tk_engine *e, double *elapsed_ns, struct tk_abi_error *abi, const char **what)
{
	const struct tk_device_ops *o = e->ops;
	int status = o->event_elapsed_ns(e->device, e->start_event, e->end_event, elapsed_ns, abi);
	e->sample_mhz = NAN;
	if (status == TK_ABI_OK && e->end_stamp) {
		*what = "clock stamp";
		status = o->stamp_mhz(e->device, e->start_stamp, e->end_stamp, &e->sample_mhz, abi);
	}
	return status;
}

int tk_engine_time_sample(struct tk_engine *e, double *ns)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	const char *what = "event";
	double elapsed_ns = 0;
	int status = tk_engine_acquire_device(e);
	if (status)
		return status;
	if (e->graph_count) /* only captured launches may change the stream */
		e->stream = e->streams[e->next_stream++ % e->stream_count];
	status = enqueue_sample(e, &abi, &what);
	if (status == TK_ABI_OK)
		status = read_clocks(e, &elapsed_ns, &abi, &what);
	if (status != TK_ABI_OK)
		return tk_engine_check_status(e, status, what, &abi);
	if (!isfinite(elapsed_ns) || elapsed_ns < 0)
		return tk_engine_end_job(e, TK_OUTCOME_FAILED,
		        "the device reported %g ns for one sample", elapsed_ns);
	*ns = elapsed_ns / (double)(e->batch * e->bursts);
	if (e->sequence && (status = tk_engine_read_sequence(e, ns)))
		return status;
	return release_device(e);
}

/* An idle device is far from any power limit: a kernel that runs at the idle clock is not
 * limited. */
int tk_engine_measure_idle_clock(struct tk_engine *e)
{
	const struct tk_device_ops *o = e->ops;
	struct tk_abi_error abi = tk_engine_abi_error();
	if (!e->end_stamp || !o->block_stream)
		return 0;
	int status = tk_engine_acquire_device(e); /* the burst that follows releases it */
	if (status)
		return status;
	status = o->stamp_record(e->device, e->start_stamp, e->stream, &abi);
	if (status == TK_ABI_OK)
		status = o->block_stream(e->device, e->stream, IDLE_CLOCK_NS, &abi);
	if (status == TK_ABI_OK)
		status = o->stamp_record(e->device, e->end_stamp, e->stream, &abi);
	if (status == TK_ABI_OK)
		status = o->stamp_mhz(e->device, e->start_stamp, e->end_stamp, &e->idle_mhz, &abi);
	return tk_engine_check_status(e, status, "idle clock", &abi);
}

/* Mean host time of some launches in a row. *is_async: the device was still working when the host
 * was done, so the time is that of enqueueing alone. */
static int time_enqueueing(struct tk_engine *e, int launches, double *cost_ns, bool *is_async)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	int status = 0;
	if (e->ops->block_stream)
		status = tk_engine_check_status(e,
		        e->ops->block_stream(e->device, e->stream, LAUNCH_COST_BLOCK_NS, &abi),
		        "block stream", &abi);
	if (!status && launches > 1) /* the first launch after a wait finds cold host caches */
		status = tk_engine_launch(e, e->next_set);
	int64_t start = tk_clock_monotonic_ns();
	for (int i = 0; !status && i < launches; i++) {
		status = tk_engine_launch(e, e->next_set);
		e->next_set = (e->next_set + 1) % e->active_set_count;
	}
	double enqueue_ns = (double)(tk_clock_monotonic_ns() - start);
	if (!status)
		status = tk_engine_synchronize(e);
	double total_ns = (double)(tk_clock_monotonic_ns() - start);
	*cost_ns = enqueue_ns / launches;
	*is_async = enqueue_ns < 0.8 * total_ns;
	return status;
}

/* The minimum: everything else that a host does only adds time. Unknown where launch() takes about
 * as long as the execution, because it then does the work before it returns. */
int tk_engine_measure_launch_cost(struct tk_engine *e)
{
	double min_ns = INFINITY;
	bool is_known = true;
	int repeats = e->launch_ns < 1e6 ? LAUNCH_COST_REPEATS : LAUNCH_COST_REPEATS_SLOW;
	int launches = (int)fmin(fmax(1e5 / fmax(e->launch_ns, 1), 1), LAUNCH_COST_LAUNCHES_MAX);
	int status = tk_engine_acquire_device(e);
	if (!e->ops->block_stream)
		launches = 1;
	if (e->launch_ns >= LONG_LAUNCH_NS)
		repeats = 0;
	/* No early exit: the null device's later times depend on the number of launches. */
	for (int n = 0; !status && n < repeats; n++) {
		bool is_async = true;
		double cost_ns = 0;
		status = time_enqueueing(e, launches, &cost_ns, &is_async);
		is_known &= is_async;
		min_ns = fmin(min_ns, cost_ns);
	}
	if (!status && repeats > 0 && is_known)
		e->out->launch_ns = min_ns;
	tk_device_token_release(e->token, false);
	return status;
}
