/* Warm-up, batches, graphs, samples: what a number is made of. docs/explanation/measuring.md
 * explains each step. */
#include "base/clock.h"
#include "base/error.h"
#include "measure/engine.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW 5            /* batches that one judgement of the warm-up looks at */
#define GRAPH_BELOW_NS 50e3 /* shorter launches are captured, where the device and the plan can */
#define BATCH_MAX 100000
#define LONG_NS 50e6 /* launches from here on are not repeated for anything but samples */
#define TELEMETRY_EVERY_NS 100000000 /* between samples */
#define BURST_NS \
	1e6 /* of a device with a governor: long enough for its clocks, short enough for its power \
	     */
#define SUSTAINED_NS 100e6 /* one sample of a settled governor: a good part of its swing */
#define IDLE_NS \
	500e3 /* so long the clock of a waiting device is looked at: its timer ticks coarsely */
#define GRAPHS_LEAST \
	4 /* of bursts: what differs from graph to graph is in the spread of the samples, not of \
	     processes */
#define MANY_LAUNCHES 32 /* of a burst */
#define LAUNCH_REPEATS 9
#define LAUNCHES_MOST 16
#define LAUNCH_HOLD_NS 200e3
#define HOLD_LEAST_NS 20e3
#define HOLD_MOST_NS 5e6
#define THROTTLED_CLOCK \
	0.97 /* a sample below this share of the clock that the warm-up reached is marked */

int64_t tk_engine_now_ns(const struct tk_engine *e)
{
	return tk_clock_monotonic_ns() - e->baton->waited_ns;
}

int tk_engine_acquire_device(struct tk_engine *e)
{
	if (tk_device_token_acquire(e->baton))
		return 0;
	return tk_engine_end_job(e, TK_OUTCOME_FAILED,
	        "the other process of this pair waited for too long, and went on alone");
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
	int status = tk_engine_check_status(
	        e, e->ops->telemetry(e->device, out, &abi), "telemetry", &abi);
	out->reasons[sizeof out->reasons - 1] = 0;
	return status;
}

/* The hot loop: nothing but launches between the two events. */
static int enqueue_launches(struct tk_engine *e, struct tk_abi_error *abi, const char **what)
{
	uint32_t set = e->next_set;
	int status = TK_ABI_OK;
	*what = "launch";
	for (uint64_t i = 0; i < e->batch && status == TK_ABI_OK; i++) {
		status = e->backend->launch(e->plan, e->stream, set, abi);
		if (++set == e->turn)
			set = 0;
	}
	e->next_set = set;
	return status;
}

static int enqueue(struct tk_engine *e, struct tk_abi_error *abi, const char **what)
{
	if (!e->graph_count)
		return enqueue_launches(e, abi, what);
	void *graph = e->graphs[e->next_graph];
	e->next_graph = (e->next_graph + 1) % e->graph_count;
	*what = "graph launch";
	return e->ops->graph_launch(e->device, graph, e->stream, abi);
}

/* What the stream gets for one sample, in this order. Held streams run without waiting for the
 * host; stamps lie outside of the events. */
static int enqueue_sample(struct tk_engine *e, struct tk_abi_error *abi, const char **what)
{
	const struct tk_device_ops *o = e->ops;
	int status = TK_ABI_OK;
	if (e->block_ns > 0) {
		*what = "hold";
		status = o->hold(e->device, e->stream, e->block_ns, abi);
	}
	if (status == TK_ABI_OK && e->memory_load_ns > 0) {
		*what = "strain";
		status = o->strain(e->device, e->memory_load_ns, TK_ENGINE_MEMORY_LOAD_SHARE, abi);
	}
	int64_t start = tk_clock_monotonic_ns();
	if (status == TK_ABI_OK && e->stamp_from) {
		*what = "clock stamp";
		status = o->stamp_record(e->device, e->stamp_from, e->stream, abi);
	}
	if (status == TK_ABI_OK) {
		*what = "event";
		status = o->event_record(e->device, e->from, e->stream, abi);
	}
	for (uint64_t i = 0; status == TK_ABI_OK && i < e->bursts; i++)
		status = enqueue(e, abi, what);
	if (status == TK_ABI_OK)
		status = o->event_record(e->device, e->to, e->stream, abi);
	if (status == TK_ABI_OK && e->stamp_to)
		status = o->stamp_record(e->device, e->stamp_to, e->stream, abi);
	double took_ns = (double)(tk_clock_monotonic_ns() - start);
	if (o->hold)
		e->block_ns = fmin(
		        fmax(0.7 * e->block_ns, fmax(HOLD_LEAST_NS, 1.5 * took_ns)), HOLD_MOST_NS);
	return status;
}

/* What strains the memory beside a sample outlasts it, and must not reach into the other one's. */
static int pass_turn(struct tk_engine *e)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	if (e->options->baton && e->memory_load_ns > 0 &&
	        tk_engine_check_status(e, e->ops->strain(e->device, 0, 0, &abi), "strain", &abi))
		return TK_ENGINE_JOB_ENDED;
	tk_device_token_release(e->baton, e->enough);
	return 0;
}

/* Nanoseconds of one launch, as the mean of a sample. */
int tk_engine_time_sample(struct tk_engine *e, double *ns)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	const char *what = "event";
	double elapsed = 0;
	int status = tk_engine_acquire_device(e);
	if (status)
		return status;
	if (e->graph_count) /* captured launches do not care */
		e->stream = e->streams[e->next_stream++ % e->stream_count];
	status = enqueue_sample(e, &abi, &what);
	if (status == TK_ABI_OK)
		status = e->ops->event_elapsed_ns(e->device, e->from, e->to, &elapsed, &abi);
	e->mhz = NAN;
	if (status == TK_ABI_OK && e->stamp_to) {
		what = "clock stamp";
		status = e->ops->stamp_mhz(e->device, e->stamp_from, e->stamp_to, &e->mhz, &abi);
	}
	if (status != TK_ABI_OK)
		return tk_engine_check_status(e, status, what, &abi);
	if (!isfinite(elapsed) || elapsed < 0)
		return tk_engine_end_job(e, TK_OUTCOME_FAILED,
		        "the device's clock ran %g ns for one sample", elapsed);
	*ns = elapsed / (double)(e->batch * e->bursts);
	return pass_turn(e);
}

/* The clock of a device that has nothing to do: no limit of power is near, so kernels that run at
 * it meet none. */
int tk_engine_measure_idle_clock(struct tk_engine *e)
{
	const struct tk_device_ops *o = e->ops;
	struct tk_abi_error abi = tk_engine_abi_error();
	if (!e->stamp_to || !o->hold)
		return 0;
	int status = tk_engine_acquire_device(e); /* the burst that follows passes it on */
	if (status)
		return status;
	status = o->stamp_record(e->device, e->stamp_from, e->stream, &abi);
	if (status == TK_ABI_OK)
		status = o->hold(e->device, e->stream, IDLE_NS, &abi);
	if (status == TK_ABI_OK)
		status = o->stamp_record(e->device, e->stamp_to, e->stream, &abi);
	if (status == TK_ABI_OK)
		status = o->stamp_mhz(e->device, e->stamp_from, e->stamp_to, &e->idle_mhz, &abi);
	return tk_engine_check_status(e, status, "idle clock", &abi);
}

/* So many launches that a sample lasts min_sample_ns. */
static uint64_t batch_for(const struct tk_engine *e, double launch_ns)
{
	double n = ceil((tk_engine_has_bursts(e) ? BURST_NS : e->options->min_sample_ns) /
	                fmax(launch_ns, 1));
	return n < 1 ? 1 : n > BATCH_MAX ? BATCH_MAX : (uint64_t)n;
}

/* Bursts of few launches all go over the same sets, so that they differ by nothing else. Those of
 * many launches hardly differ from each other: as many as there are graphs share the sets, which
 * lie in more places. In any case over those that keep the caches cold. */
static void choose_turn(struct tk_engine *e)
{
	uint64_t reached = e->batch < MANY_LAUNCHES ? e->batch : GRAPHS_LEAST * e->batch;
	reached = reached > e->cold_sets ? reached : e->cold_sets;
	if (tk_engine_has_bursts(e) && reached < e->turn)
		e->turn = (uint32_t)reached;
	e->out->sets = e->turn;
	e->next_set = 0;
}

/* How many graphs; 0: none. Back to back, one holds a turn through all sets. Bursts are captured as
 * well, so that their gaps are the device's alone: as many graphs of one burst as go through all
 * sets. */
static uint64_t graphs_for(const struct tk_engine *e, double launch_ns)
{
	const struct tk_device_ops *o = e->ops;
	if (!o->graph_begin || !o->graph_end || !o->graph_launch || !o->graph_free ||
	        !e->out->plan.capturable)
		return 0;
	if (!tk_engine_has_bursts(e))
		return launch_ns < GRAPH_BELOW_NS;
	uint64_t turns = (e->turn + e->batch - 1) / e->batch;
	if (e->turn > 1 && turns < GRAPHS_LEAST)
		turns = GRAPHS_LEAST;
	return e->batch < 2 ? 0 : turns < TK_ENGINE_GRAPHS_MAX ? turns : TK_ENGINE_GRAPHS_MAX;
}

static int capture(struct tk_engine *e)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	const char *what = "launch";
	void *graph = NULL;
	int status = tk_engine_check_status(
	        e, e->ops->graph_begin(e->device, e->stream, &abi), "graph capture", &abi);
	if (status)
		return status;
	int launched = enqueue_launches(e, &abi, &what);
	struct tk_abi_error end = tk_engine_abi_error();
	int ended = e->ops->graph_end(e->device, e->stream, &graph, &end);
	if (ended == TK_ABI_OK)
		e->graphs[e->graph_count] = graph;
	if (launched != TK_ABI_OK || ended != TK_ABI_OK) {
		if (ended == TK_ABI_OK)
			e->ops->graph_free(e->device, graph);
		return launched != TK_ABI_OK
		               ? tk_engine_check_status(e, launched, what, &abi)
		               : tk_engine_check_status(e, ended, "graph capture", &end);
	}
	e->graph_count++;
	return 0;
}

static int capture_all(struct tk_engine *e, uint64_t graphs)
{
	int status = 0;
	if (graphs && !tk_engine_has_bursts(e) && e->batch < e->turn)
		e->batch = e->turn;
	e->next_set = 0;
	while (status == 0 && e->graph_count < graphs)
		status = capture(e);
	return status;
}

void tk_engine_free_graphs(struct tk_engine *e)
{
	for (uint32_t i = 0; i < e->graph_count; i++)
		e->ops->graph_free(e->device, e->graphs[i]);
	e->graph_count = 0;
}

static double median_of_window(double *x)
{
	double copy[WINDOW];
	memcpy(copy, x, sizeof copy);
	return tk_median(copy, WINDOW);
}

/* The cheapest of three launches decides the batch: the first ones of a process are slow. Of long
 * ones, the first does.
 */
static int choose_batch(struct tk_engine *e)
{
	double best = INFINITY, ns = 0;
	int status = 0;
	e->batch = e->bursts = 1;
	for (int i = 0; status == 0 && i < 3; i++) {
		status = tk_engine_time_sample(e, &ns);
		best = fmin(best, ns);
		if (best > LONG_NS)
			break;
	}
	if (status)
		return status;
	e->launch_ns = best;
	e->batch = batch_for(e, best);
	choose_turn(e);
	status = capture_all(e, graphs_for(e, best));
	if (e->options->mode == TK_MODE_SUSTAINED)
		e->bursts = (uint64_t)fmin(
		        fmax(ceil(SUSTAINED_NS / (best * (double)e->batch)), 1), 1000);
	e->out->launches_per_sample = e->batch * e->bursts;
	return status;
}

/* Until two windows in a row agree within the width that is asked of the result, or the time is up.
 */
int tk_engine_warm_up(struct tk_engine *e)
{
	double window[WINDOW], before = NAN,
	                       within = fmax(e->options->stop.relative_half_width, 0.005);
	int64_t start = tk_engine_now_ns(e);
	int status = choose_batch(e), n = 0;
	if (status == 0 && tk_engine_has_bursts(e))
		return tk_engine_settle_clocks(e);
	while (status == 0) {
		e->out->warmup_s = (double)(tk_engine_now_ns(e) - start) * 1e-9;
		if (e->out->warmup_s >= e->options->max_warmup_s)
			break;
		status = tk_engine_time_sample(e, &window[n++]);
		if (n < WINDOW)
			continue;
		double now = median_of_window(window);
		if (fabs(now - before) <= within * before)
			break;
		before = now;
		n = 0;
	}
	e->out->warmup_s = (double)(tk_engine_now_ns(e) - start) * 1e-9;
	return status;
}

/* Host time of one launch, as the mean of a few that follow each other; *at_work: whether the
 * device was still at work when the host was through. */
static int enqueue_some(struct tk_engine *e, int launches, double *cost_ns, bool *at_work)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	int status = 0;
	if (e->ops->hold)
		status = tk_engine_check_status(
		        e, e->ops->hold(e->device, e->stream, LAUNCH_HOLD_NS, &abi), "hold", &abi);
	if (status == 0 && launches > 1) /* the first one after a wait finds cold caches */
		status = tk_engine_launch(e, e->next_set);
	int64_t start = tk_clock_monotonic_ns();
	for (int i = 0; status == 0 && i < launches; i++) {
		status = tk_engine_launch(e, e->next_set);
		e->next_set = (e->next_set + 1) % e->turn;
	}
	int64_t enqueued = tk_clock_monotonic_ns();
	if (status == 0)
		status = tk_engine_synchronize(e);
	double whole_ns = (double)(tk_clock_monotonic_ns() - start);
	*cost_ns = (double)(enqueued - start) / launches;
	*at_work = (double)(enqueued - start) < 0.8 * whole_ns;
	return status;
}

/* The least of some: whatever else a host does only adds. Where a launch takes nearly as long as
 * the execution, it is no cost of enqueueing but the work itself, done before launch() returned:
 * unknown. */
int tk_engine_measure_launch_cost(struct tk_engine *e)
{
	double least = INFINITY;
	bool known = true;
	int n = 0;
	int launches = (int)fmin(fmax(1e5 / fmax(e->launch_ns, 1), 1), LAUNCHES_MOST);
	int status = tk_engine_acquire_device(e);
	if (!e->ops->hold)
		launches = 1;
	for (; status == 0 && n < (e->launch_ns < 1e6 ? LAUNCH_REPEATS : 5) &&
	        e->launch_ns < LONG_NS;
	        n++) {
		bool at_work = true;
		double cost_ns = 0;
		status = enqueue_some(e, launches, &cost_ns, &at_work);
		known &= at_work; /* always the same number of launches: the null device's times
		                     depend on it */
		least = fmin(least, cost_ns);
	}
	if (status == 0 && n > 0 && known)
		e->out->launch_ns = least;
	tk_device_token_release(e->baton, false);
	return status;
}

/* ---- samples ---- */

struct samples {
	double *sorted;
	size_t cap;
	uint64_t unmarked; /* samples since the last look at the telemetry */
	int64_t looked_ns;
};

static int grow(struct tk_engine *e, struct samples *s)
{
	size_t cap = s->cap ? s->cap * 2 : 64;
	double *sorted = realloc(s->sorted, cap * sizeof *sorted);
	if (sorted)
		s->sorted = sorted;
	double *samples = sorted ? realloc(e->out->samples, cap * sizeof *samples) : NULL;
	if (!samples)
		return tk_fail(e->err, TK_ENOMEM, "out of memory for %zu samples", cap);
	e->out->samples = samples;
	double *clocks = e->stamp_to ? realloc(e->clocks, cap * sizeof *clocks) : NULL;
	if (e->stamp_to && !clocks)
		return tk_fail(e->err, TK_ENOMEM, "out of memory for %zu samples", cap);
	e->clocks = clocks;
	s->cap = cap;
	return 0;
}

/* Keeps the time order and the sorted order side by side: one insertion a sample instead of one
 * sort. */
static int add_sample(struct tk_engine *e, struct samples *s, double ns)
{
	size_t n = e->out->sample_count, lo = 0, hi = n;
	if (n == s->cap && grow(e, s))
		return TK_ENOMEM;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (s->sorted[mid] <= ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	memmove(s->sorted + lo + 1, s->sorted + lo, (n - lo) * sizeof *s->sorted);
	s->sorted[lo] = ns;
	e->out->samples[n] = ns;
	if (e->clocks)
		e->clocks[n] = e->mhz;
	e->out->sample_count = n + 1;
	s->unmarked++;
	return 0;
}

/* A throttled reading speaks of all samples since the one before. Of a power limit the clock of
 * each sample tells more, where it is known: the reading is of some moment around a burst, often of
 * the rest after it. */
static bool throttles(const struct tk_engine *e, const struct tk_telemetry *now)
{
	return now->throttled && !(e->stamp_to && strcmp(now->reasons, "sw_power_cap") == 0);
}

static int look(struct tk_engine *e, struct samples *s, bool last)
{
	struct tk_telemetry now;
	int64_t clock = tk_clock_monotonic_ns();
	if (!last && clock - s->looked_ns < TELEMETRY_EVERY_NS)
		return 0;
	int status = tk_engine_read_telemetry(e, &now);
	if (status)
		return status;
	if (throttles(e, &now))
		e->out->throttled_samples += s->unmarked;
	s->unmarked = 0;
	s->looked_ns = tk_clock_monotonic_ns();
	if (last)
		e->out->after = now;
	return 0;
}

/* The interval is worked out when there is a chance that the answer is new: every sample at first,
 * then every 32nd part. */
static bool due(const struct tk_stop_rule *rule, size_t n, double spent_s)
{
	size_t step = n / 32 + 1;
	return spent_s >= rule->budget_s || n >= rule->max_samples ||
	       (n >= rule->min_samples && n % step == 0);
}

/* The clocks of the samples: what the median took in cycles, and which samples ran at a clock that
 * had given way. */
static void count_clocks(struct tk_engine *e, double *room)
{
	struct tk_measurement *m = e->out;
	uint64_t n = m->sample_count, slow = 0, known = 0;
	m->clock_min_mhz = NAN;
	for (uint64_t i = 0; e->clocks && i < n; i++) {
		if (!isfinite(e->clocks[i]))
			continue;
		slow += e->clocks[i] < THROTTLED_CLOCK * e->full_mhz;
		m->clock_min_mhz = fmin(m->clock_min_mhz, e->clocks[i]);
		room[known++] = e->clocks[i];
	}
	m->clock_mhz = known ? tk_median(room, known) : NAN;
	for (uint64_t i = known = 0; e->clocks && i < n; i++)
		if (isfinite(e->clocks[i]))
			room[known++] = m->samples[i] * e->clocks[i] * 1e-3;
	m->cycles = known ? tk_median(room, known) : NAN;
	if (slow > m->throttled_samples)
		m->throttled_samples = slow;
}

static int one_sample(struct tk_engine *e, struct samples *s)
{
	double ns = 0;
	int status = tk_engine_wait_idle_gap(e);
	if (status == 0)
		status = tk_engine_time_sample(e, &ns);
	if (status == 0)
		status = add_sample(e, s, ns);
	return status ? status : look(e, s, false);
}

/* Of two by turns, who has enough goes on until the other one has, so that no burst has the device
 * to itself. */
static bool is_over(struct tk_engine *e, int *status)
{
	if (e->enough)
		*status = tk_engine_acquire_device(e);
	return *status || (e->enough && tk_device_token_can_stop(e->baton));
}

int tk_engine_collect_samples(struct tk_engine *e)
{
	const struct tk_stop_rule rule = tk_engine_stop_rule(e);
	struct samples s = {.looked_ns = tk_clock_monotonic_ns()};
	int64_t start = tk_engine_now_ns(e);
	int status = 0;
	e->out->stop = TK_STOP_CONTINUE;
	while (!is_over(e, &status)) {
		if ((status = one_sample(e, &s)))
			break;
		double spent_s = (double)(tk_engine_now_ns(e) - start) * 1e-9;
		if (!e->enough && due(&rule, e->out->sample_count, spent_s))
			e->out->stop =
			        tk_stop_check(&rule, s.sorted, e->out->sample_count, spent_s);
		e->enough = e->out->stop != TK_STOP_CONTINUE;
	}
	e->out->measure_s = (double)(tk_engine_now_ns(e) - start) * 1e-9;
	e->out->rest_ns = e->rest_ns;
	if (status == 0)
		status = look(e, &s, true);
	if (status == 0)
		count_clocks(e, s.sorted);
	free(s.sorted);
	return status;
}
