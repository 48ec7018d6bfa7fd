/* One sample: what the stream gets, and the time of one launch that follows from it; and samples
 * until the stopping rule is met. docs/explanation/measuring.md explains each step. */
#include "base/base.h"
#include "measure/engine.h"
#include <math.h>

#define LONG_LAUNCH_NS 50e6 /* launch cost is not measured from here on */
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
	return tk_engine_check_status(
	        e, e->backend->launch(e->plan, e->stream, set, &e->abi), "launch");
}

int tk_engine_synchronize(struct tk_engine *e)
{
	return tk_engine_check_status(
	        e, e->ops->synchronize(e->device, e->stream, &e->abi), "synchronize");
}

int tk_engine_read_telemetry(struct tk_engine *e, struct tk_telemetry *out)
{
	*out = (struct tk_telemetry){.size = sizeof *out,
	        .clock_mhz = NAN,
	        .memory_clock_mhz = NAN,
	        .power_w = NAN,
	        .temperature_c = NAN,
	        .energy_j = NAN,
	        .load = NAN};
	TRY(tk_engine_check_status(e, e->ops->telemetry(e->device, out, &e->abi), "telemetry"));
	out->reasons[sizeof out->reasons - 1] = 0;
	return 0;
}

/* The hot loop: nothing but launches between the two events. */
int tk_engine_enqueue_launches(struct tk_engine *e)
{
	uint32_t set = e->next_set;
	int status = TK_ABI_OK;
	e->call = "launch";
	for (uint64_t i = 0; i < e->batch && status == TK_ABI_OK; i++) {
		status = e->backend->launch(e->plan, e->stream, set, &e->abi);
		if (++set == e->active_set_count)
			set = 0;
	}
	e->next_set = set;
	return status;
}

static int enqueue_burst(struct tk_engine *e)
{
	if (e->sequence)
		return tk_engine_enqueue_sequence(e);
	if (!e->graph_count)
		return tk_engine_enqueue_launches(e);
	void *graph = e->graphs[e->next_graph];
	e->next_graph = (e->next_graph + 1) % e->graph_count;
	e->call = "graph launch";
	return e->ops->graph_launch(e->device, graph, e->stream, &e->abi);
}

/* Enqueues what must run before the sample: the block that lets the host get ahead, and the memory
 * load. */
static int enqueue_preparation(struct tk_engine *e)
{
	const struct tk_device_ops *o = e->ops;
	int status = TK_ABI_OK;
	if (e->block_ns > 0) {
		e->call = "block stream";
		status = o->block_stream(e->device, e->stream, e->block_ns, &e->abi);
	}
	if (status == TK_ABI_OK && e->memory_load_ns > 0) {
		e->call = "memory load";
		status = o->memory_load(
		        e->device, e->memory_load_ns, TK_ENGINE_MEMORY_LOAD_SHARE, &e->abi);
	}
	return status;
}

/* The stamps are outside of the events, so that recording them is not timed. */
static int enqueue_timed(struct tk_engine *e)
{
	const struct tk_device_ops *o = e->ops;
	int status = TK_ABI_OK;
	if (e->start_stamp) {
		e->call = "clock stamp";
		status = o->stamp_record(e->device, e->start_stamp, e->stream, &e->abi);
	}
	if (status == TK_ABI_OK) {
		e->call = "event";
		status = o->event_record(e->device, e->start_event, e->stream, &e->abi);
	}
	for (uint64_t i = 0; status == TK_ABI_OK && i < e->bursts; i++)
		status = enqueue_burst(e);
	if (status == TK_ABI_OK)
		status = o->event_record(e->device, e->end_event, e->stream, &e->abi);
	if (status == TK_ABI_OK && e->end_stamp)
		status = o->stamp_record(e->device, e->end_stamp, e->stream, &e->abi);
	return status;
}

/* Also adapts the block to the host time that enqueueing took, for the next sample. */
static int enqueue_sample(struct tk_engine *e)
{
	TRY(enqueue_preparation(e));
	int64_t start = tk_clock_monotonic_ns();
	int status = enqueue_timed(e);
	double host_ns = (double)(tk_clock_monotonic_ns() - start);
	if (e->ops->block_stream)
		e->block_ns = fmin(
		        fmax(0.7 * e->block_ns, fmax(BLOCK_MIN_NS, 1.5 * host_ns)), BLOCK_MAX_NS);
	return status;
}

/* The memory load outlasts its sample and must not reach into the peer's. */
static int release_device(struct tk_engine *e)
{
	if (e->options->token && e->memory_load_ns > 0 &&
	        tk_engine_check_status(
	                e, e->ops->memory_load(e->device, 0, 0, &e->abi), "memory load"))
		return TK_ENGINE_JOB_ENDED;
	tk_device_token_release(e->token, e->is_sampled);
	return 0;
}

static int read_clocks(struct tk_engine *e, double *elapsed_ns)
{
	const struct tk_device_ops *o = e->ops;
	int status =
	        o->event_elapsed_ns(e->device, e->start_event, e->end_event, elapsed_ns, &e->abi);
	e->sample_mhz = NAN;
	if (status == TK_ABI_OK && e->end_stamp) {
		e->call = "clock stamp";
		status = o->stamp_mhz(
		        e->device, e->start_stamp, e->end_stamp, &e->sample_mhz, &e->abi);
	}
	return status;
}

int tk_engine_time_sample(struct tk_engine *e, double *ns)
{
	double elapsed_ns = 0;
	TRY(tk_engine_acquire_device(e));
	if (e->graph_count) /* only captured launches may change the stream */
		e->stream = e->streams[e->next_stream++ % e->stream_count];
	int status = enqueue_sample(e);
	if (status == TK_ABI_OK)
		status = read_clocks(e, &elapsed_ns);
	TRY(tk_engine_check_status(e, status, e->call));
	if (!isfinite(elapsed_ns) || elapsed_ns < 0)
		return tk_engine_end_job(e, TK_OUTCOME_FAILED,
		        "the device reported %g ns for one sample", elapsed_ns);
	*ns = elapsed_ns / (double)(e->batch * e->bursts);
	if (e->sequence)
		TRY(tk_engine_read_sequence(e, ns));
	return release_device(e);
}

/* Mean host time of some launches in a row. *is_async: the device was still working when the host
 * was done, so the time is that of enqueueing alone. */
static int time_enqueueing(struct tk_engine *e, int launches, double *cost_ns, bool *is_async)
{
	int status = 0;
	if (e->ops->block_stream)
		status = tk_engine_check_status(e,
		        e->ops->block_stream(e->device, e->stream, LAUNCH_COST_BLOCK_NS, &e->abi),
		        "block stream");
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

/* ---- samples ---- */

#define TELEMETRY_EVERY_NS 100000000 /* between samples */
#define THROTTLED_CLOCK 0.97 /* of the peak clock of the job: a slower sample counts as throttled */

struct samples {
	double *sorted;
	size_t capacity;
	uint64_t since_telemetry; /* samples since the last telemetry */
	int64_t telemetry_ns;     /* time of it */
};

static void grow(struct tk_engine *e, struct samples *s)
{
	s->capacity = s->capacity ? s->capacity * 2 : 64;
	s->sorted = tk_reallocarray(s->sorted, s->capacity, sizeof *s->sorted);
	e->out->samples = tk_reallocarray(e->out->samples, s->capacity, sizeof(double));
	if (e->end_stamp)
		e->clocks = tk_reallocarray(e->clocks, s->capacity, sizeof *e->clocks);
}

/* Keeps the order of time and the sorted order side by side: one insertion is cheaper than a
 * sort. */
static void add_sample(struct tk_engine *e, struct samples *s, double ns)
{
	const size_t n = e->out->sample_count;
	if (n == s->capacity)
		grow(e, s);
	const size_t lo = TK_FIND_FIRST(n, i, s->sorted[i] <= ns);
	memmove(s->sorted + lo + 1, s->sorted + lo, (n - lo) * sizeof *s->sorted);
	s->sorted[lo] = ns;
	e->out->samples[n] = ns;
	if (e->clocks)
		e->clocks[n] = e->sample_mhz;
	e->out->sample_count = n + 1;
	s->since_telemetry++;
}

/* The clock of each sample, if known, is better evidence of a power limit than telemetry, which is
 * read at some moment around a burst, often in the idle gap after it. */
static bool is_throttled(const struct tk_engine *e, const struct tk_telemetry *now)
{
	return now->throttled && !(e->end_stamp && tk_telemetry_is_power_limit(now));
}

/* A throttled reading counts for all samples since the reading before. */
static int check_telemetry(struct tk_engine *e, struct samples *s, bool is_last)
{
	struct tk_telemetry now;
	if (!is_last && tk_clock_monotonic_ns() - s->telemetry_ns < TELEMETRY_EVERY_NS)
		return 0;
	TRY(tk_engine_read_telemetry(e, &now));
	if (is_throttled(e, &now))
		e->out->throttled_samples += s->since_telemetry;
	s->since_telemetry = 0;
	s->telemetry_ns = tk_clock_monotonic_ns();
	if (is_last)
		e->out->after = now;
	return 0;
}

/* Checking costs time: after every sample at first, then after every 32nd part of them. */
static bool is_check_due(const struct tk_stop_rule *rule, size_t n, double spent_s)
{
	size_t step = n / 32 + 1;
	return spent_s >= rule->budget_s || n >= rule->max_samples ||
	       (n >= rule->min_samples && n % step == 0);
}

/* Median and lowest clock, cycles of the median sample, and the samples whose clock had dropped.
 * `scratch` has room for all samples. */
static void summarize_clocks(struct tk_engine *e, double *scratch)
{
	struct tk_measurement *m = e->out;
	uint64_t slow = 0, known = 0, n = e->clocks ? m->sample_count : 0;
	m->clock_min_mhz = NAN;
	for (uint64_t i = 0; i < n; i++) {
		if (!isfinite(e->clocks[i]))
			continue;
		slow += e->clocks[i] < THROTTLED_CLOCK * e->peak_mhz;
		m->clock_min_mhz = fmin(m->clock_min_mhz, e->clocks[i]);
		scratch[known++] = e->clocks[i];
	}
	m->clock_mhz = known ? tk_median(scratch, known) : NAN;
	known = 0;
	for (uint64_t i = 0; i < n; i++)
		if (isfinite(e->clocks[i]))
			scratch[known++] = m->samples[i] * e->clocks[i] * 1e-3;
	m->cycles = known ? tk_median(scratch, known) : NAN;
	if (slow > m->throttled_samples)
		m->throttled_samples = slow;
}

static int take_sample(struct tk_engine *e, struct samples *s)
{
	double ns = 0;
	/* a round of a sequence, or of a simulated device, depends on those before */
	if (!e->sequence && !e->ops->now_ns)
		TRY(tk_engine_check_changed_input(e));
	TRY(tk_engine_wait_idle_gap(e));
	TRY(tk_engine_mark_output(e));
	TRY(tk_engine_time_sample(e, &ns));
	TRY(tk_engine_check_mark(e));
	add_sample(e, s, ns);
	return check_telemetry(e, s, false);
}

/* In an A/B pair, the process that has enough samples continues until the other one has too, so
 * that no burst has the device to itself. */
static bool can_stop(struct tk_engine *e, int *status)
{
	if (e->is_sampled)
		*status = tk_engine_acquire_device(e);
	return *status || (e->is_sampled && tk_device_token_can_stop(e->token));
}

int tk_engine_collect_samples(struct tk_engine *e)
{
	const struct tk_stop_rule rule = tk_engine_stop_rule(e);
	struct samples s = {.telemetry_ns = tk_clock_monotonic_ns()};
	struct tk_measurement *m = e->out;
	int64_t start_ns = tk_engine_now_ns(e);
	int status = 0;
	m->stop = TK_STOP_CONTINUE;
	while (!can_stop(e, &status)) {
		if ((status = take_sample(e, &s)))
			break;
		double spent_s = (double)(tk_engine_now_ns(e) - start_ns) * 1e-9;
		if (!e->is_sampled && is_check_due(&rule, m->sample_count, spent_s))
			m->stop = tk_stop_check(&rule, s.sorted, m->sample_count, spent_s);
		e->is_sampled = m->stop != TK_STOP_CONTINUE;
	}
	m->measure_s = (double)(tk_engine_now_ns(e) - start_ns) * 1e-9;
	m->idle_gap_ns = e->idle_gap_ns;
	if (!status)
		status = check_telemetry(e, &s, true);
	if (!status)
		summarize_clocks(e, s.sorted);
	free(s.sorted);
	return status;
}
