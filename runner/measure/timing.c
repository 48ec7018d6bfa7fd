/* Warm-up, batches, graphs, samples: what a number is made of. docs/methodology/measuring.md explains each step. */
#include "base/clock.h"
#include "base/error.h"
#include "measure/engine.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW 5            /* batches that one judgement of the warm-up looks at */
#define GRAPH_BELOW_NS 50e3 /* shorter launches are captured, where the device and the plan can */
#define SHORT_NS 15e3       /* launches that a host cannot enqueue much faster than a device runs them */
#define BATCH_MAX 100000
#define LONG_NS 50e6                 /* launches from here on are not repeated for anything but samples */
#define TELEMETRY_EVERY_NS 100000000 /* between samples */
#define BURST_NS 1e6      /* of a device with a governor: long enough for its clocks, short enough for its power */
#define SUSTAINED_NS 50e6 /* one sample of a settled governor */
#define HOLD_LEAST_NS 20e3
#define HOLD_MOST_NS 5e6
#define THROTTLED_CLOCK 0.97 /* a sample below this share of the clock that the warm-up reached is marked */

int tk_engine_launch(struct tk_engine *e, uint32_t set)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	return tk_engine_check(e, e->backend->launch(e->plan, e->stream, set, &abi), "launch", &abi);
}

int tk_engine_synchronize(struct tk_engine *e)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	return tk_engine_check(e, e->ops->synchronize(e->device, e->stream, &abi), "synchronize", &abi);
}

int tk_engine_telemetry(struct tk_engine *e, struct tk_telemetry *out)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	*out = (struct tk_telemetry){.size = sizeof *out,
	        .clock_mhz = NAN,
	        .memory_clock_mhz = NAN,
	        .power_w = NAN,
	        .temperature_c = NAN,
	        .energy_j = NAN,
	        .load = NAN};
	int status = tk_engine_check(e, e->ops->telemetry(e->device, out, &abi), "telemetry", &abi);
	out->reasons[sizeof out->reasons - 1] = 0;
	return status;
}

/* The hot loop: nothing but launches between the two events. */
static int enqueue(struct tk_engine *e, struct tk_abi_error *abi, const char **what)
{
	uint32_t set = e->next_set;
	int status = TK_ABI_OK;
	if (e->graph) {
		*what = "graph launch";
		return e->ops->graph_launch(e->device, e->graph, e->stream, abi);
	}
	*what = "launch";
	for (uint64_t i = 0; i < e->batch && status == TK_ABI_OK; i++) {
		status = e->backend->launch(e->plan, e->stream, set, abi);
		if (++set == e->set_count)
			set = 0;
	}
	e->next_set = set;
	return status;
}

/* What the stream gets for one sample, in this order. Held streams run without waiting for the host; stamps lie outside
 * of the events. */
static int enqueue_sample(struct tk_engine *e, struct tk_abi_error *abi, const char **what)
{
	const struct tk_device_ops *o = e->ops;
	int status = TK_ABI_OK;
	if (e->hold_ns > 0) {
		*what = "hold";
		status = o->hold(e->device, e->stream, e->hold_ns, abi);
	}
	if (status == TK_ABI_OK && e->strain_ns > 0) {
		*what = "strain";
		status = o->strain(e->device, e->strain_ns, TK_ENGINE_STRAIN_SHARE, abi);
	}
	int64_t start = tk_clock_mono_ns();
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
	double took_ns = (double)(tk_clock_mono_ns() - start);
	if (o->hold)
		e->hold_ns = fmin(fmax(0.7 * e->hold_ns, fmax(HOLD_LEAST_NS, 1.5 * took_ns)), HOLD_MOST_NS);
	return status;
}

/* Nanoseconds of one launch, as the mean of a sample. */
int tk_engine_time(struct tk_engine *e, double *ns)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	const char *what = "event";
	double elapsed = 0;
	int status = enqueue_sample(e, &abi, &what);
	if (status == TK_ABI_OK)
		status = e->ops->event_elapsed_ns(e->device, e->from, e->to, &elapsed, &abi);
	e->mhz = NAN;
	if (status == TK_ABI_OK && e->stamp_to) {
		what = "clock stamp";
		status = e->ops->stamp_mhz(e->device, e->stamp_from, e->stamp_to, &e->mhz, &abi);
	}
	if (status != TK_ABI_OK)
		return tk_engine_check(e, status, what, &abi);
	if (!isfinite(elapsed) || elapsed < 0)
		return tk_engine_end(e, TK_OUTCOME_FAILED, "the device's clock ran %g ns for one sample", elapsed);
	*ns = elapsed / (double)(e->batch * e->bursts);
	return 0;
}

/* So many launches that a sample lasts min_sample_ns. */
static uint64_t batch_for(const struct tk_engine *e, double launch_ns)
{
	bool burst = tk_engine_paced(e) || e->options->mode == TK_MODE_SUSTAINED;
	double n = ceil((burst ? BURST_NS : e->options->min_sample_ns) / fmax(launch_ns, 1));
	return n < 1 ? 1 : n > BATCH_MAX ? BATCH_MAX : (uint64_t)n;
}

/* Bursts are captured as well: their gaps are then the device's alone. But a graph holds a whole turn through the sets:
 * where that is longer than a burst and the launches are not short, the host keeps ahead of the device without one. */
static bool wants_graph(const struct tk_engine *e, double launch_ns)
{
	const struct tk_device_ops *o = e->ops;
	bool burst = tk_engine_paced(e) || e->options->mode == TK_MODE_SUSTAINED;
	bool able = o->graph_begin && o->graph_end && o->graph_launch && o->graph_free && e->out->plan.capturable;
	if (burst)
		return able && e->batch > 1 && (e->batch >= e->set_count || launch_ns < SHORT_NS);
	return able && launch_ns < GRAPH_BELOW_NS;
}

/* One graph holds a whole batch, and at least one turn through all sets: it repeats the same ones every time. */
static int capture(struct tk_engine *e)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	const char *what = "launch";
	void *graph = NULL;
	if (e->batch < e->set_count)
		e->batch = e->set_count;
	int status = tk_engine_check(e, e->ops->graph_begin(e->device, e->stream, &abi), "graph capture", &abi);
	if (status)
		return status;
	e->next_set = 0;
	int launched = enqueue(e, &abi, &what);
	struct tk_abi_error end = tk_engine_abi_error();
	int ended = e->ops->graph_end(e->device, e->stream, &graph, &end);
	if (ended == TK_ABI_OK)
		e->graph = graph;
	return launched != TK_ABI_OK ? tk_engine_check(e, launched, what, &abi)
	                             : tk_engine_check(e, ended, "graph capture", &end);
}

static double median_of_window(double *x)
{
	double copy[WINDOW];
	memcpy(copy, x, sizeof copy);
	return tk_median(copy, WINDOW);
}

/* The cheapest of three launches decides the batch: the first ones of a process are slow. Of long ones, the first does.
 */
static int choose_batch(struct tk_engine *e)
{
	double best = INFINITY, ns = 0;
	int status = 0;
	e->batch = e->bursts = 1;
	for (int i = 0; status == 0 && i < 3; i++) {
		status = tk_engine_time(e, &ns);
		best = fmin(best, ns);
		if (best > LONG_NS)
			break;
	}
	if (status)
		return status;
	e->launch_ns = best;
	e->batch = batch_for(e, best);
	if (wants_graph(e, best))
		status = capture(e);
	if (e->options->mode == TK_MODE_SUSTAINED)
		e->bursts = (uint64_t)fmin(fmax(ceil(SUSTAINED_NS / (best * (double)e->batch)), 1), 1000);
	e->out->launches_per_sample = e->batch * e->bursts;
	return status;
}

/* Until two windows in a row agree within the width that is asked of the result, or the time is up. */
int tk_engine_warm_up(struct tk_engine *e)
{
	double window[WINDOW], before = NAN, within = fmax(e->options->stop.relative_half_width, 0.005);
	int64_t start = tk_clock_mono_ns();
	int status = choose_batch(e), n = 0;
	if (status == 0 && (tk_engine_paced(e) || e->options->mode == TK_MODE_SUSTAINED))
		return tk_engine_settle(e);
	while (status == 0) {
		e->out->warmup_s = (double)(tk_clock_mono_ns() - start) * 1e-9;
		if (e->out->warmup_s >= e->options->max_warmup_s)
			break;
		status = tk_engine_time(e, &window[n++]);
		if (n < WINDOW)
			continue;
		double now = median_of_window(window);
		if (fabs(now - before) <= within * before)
			break;
		before = now;
		n = 0;
	}
	e->out->warmup_s = (double)(tk_clock_mono_ns() - start) * 1e-9;
	return status;
}

/* Host time of enqueueing one launch on an idle stream. Where that is nearly all the time that the launch takes, it is
 * no cost of enqueueing but the work itself, done before launch() returned: unknown. */
int tk_engine_launch_cost(struct tk_engine *e)
{
	double cost = INFINITY, whole = INFINITY;
	int status = 0;
	e->out->launch_ns = NAN;
	for (int i = 0; status == 0 && i < 5 && e->launch_ns < LONG_NS; i++) {
		int64_t start = tk_clock_mono_ns();
		status = tk_engine_launch(e, e->next_set);
		int64_t enqueued = tk_clock_mono_ns();
		if (status == 0)
			status = tk_engine_synchronize(e);
		int64_t done = tk_clock_mono_ns();
		cost = fmin(cost, (double)(enqueued - start));
		whole = fmin(whole, (double)(done - start));
		e->next_set = (e->next_set + 1) % e->set_count;
	}
	if (status == 0 && cost < 0.8 * whole)
		e->out->launch_ns = cost;
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

/* Keeps the time order and the sorted order side by side: one insertion a sample instead of one sort. */
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

/* A throttled reading speaks of all samples since the one before. */
static int look(struct tk_engine *e, struct samples *s, bool last)
{
	struct tk_telemetry now;
	int64_t clock = tk_clock_mono_ns();
	if (!last && clock - s->looked_ns < TELEMETRY_EVERY_NS)
		return 0;
	int status = tk_engine_telemetry(e, &now);
	if (status)
		return status;
	if (now.throttled)
		e->out->throttled_samples += s->unmarked;
	s->unmarked = 0;
	s->looked_ns = tk_clock_mono_ns();
	if (last)
		e->out->after = now;
	return 0;
}

/* The interval is worked out when there is a chance that the answer is new: every sample at first, then every 32nd
 * part. */
static bool due(const struct tk_stop_rule *rule, size_t n, double spent_s)
{
	size_t step = n / 32 + 1;
	return spent_s >= rule->budget_s || n >= rule->max_samples || (n >= rule->min_samples && n % step == 0);
}

/* The clocks of the samples: what the median took in cycles, and which samples ran at a clock that had given way. */
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

int tk_engine_sample(struct tk_engine *e)
{
	const struct tk_stop_rule rule = tk_engine_rule(e);
	struct samples s = {.looked_ns = tk_clock_mono_ns()};
	enum tk_stop stop = TK_STOP_CONTINUE;
	double ns = 0;
	int64_t start = tk_clock_mono_ns();
	int status = 0;
	while (status == 0 && stop == TK_STOP_CONTINUE) {
		if ((status = tk_engine_rest(e)) || (status = tk_engine_time(e, &ns)) ||
		        (status = add_sample(e, &s, ns)) || (status = look(e, &s, false)))
			break;
		double spent_s = (double)(tk_clock_mono_ns() - start) * 1e-9;
		if (due(&rule, e->out->sample_count, spent_s))
			stop = tk_stop_check(&rule, s.sorted, e->out->sample_count, spent_s);
	}
	e->out->stop = stop;
	e->out->measure_s = (double)(tk_clock_mono_ns() - start) * 1e-9;
	e->out->rest_ns = e->rest_ns;
	if (status == 0)
		status = look(e, &s, true);
	if (status == 0)
		count_clocks(e, s.sorted);
	free(s.sorted);
	return status;
}
