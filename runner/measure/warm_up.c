/* Chooses how many launches make a sample, captures them in graphs, and warms the device up.
 * docs/explanation/measuring.md explains each step. */
#include "base/base.h"
#include "measure/engine.h"
#include <math.h>

/* Of at most 8 times, which stay in their order. */
static double window_median(const double *x, size_t n)
{
	double sorted[8];
	memcpy(sorted, x, n * sizeof *x);
	return tk_median(sorted, n);
}

/* ---- bursts and idle gaps ---- */

/* For devices with a power governor: stay below its limits (paced, contended), or wait until it has
 * settled (sustained).
 *
 * A matrix kernel launched back to back reaches the power limit after 30 to 100 ms; a window during
 * which the clock drops measures the governor. So the work comes in bursts of about a millisecond
 * with idle gaps that are long enough, or the window opens after the governor has settled.
 * docs/explanation/measuring-gpus.md has the figures. */

/* First idle gap: this many times the burst's length, within these bounds. */
#define GAP_PER_BURST 7
#define GAP_MIN_NS 6e6
#define GAP_MAX_NS 100e6
/* A burst above this share of the idle clock is not limited; a gap as long as the burst is
 * enough. */
#define UNLIMITED_CLOCK 0.985
#define UNLIMITED_GAP_NS 3e6
#define GAP_GROWTH 1.6
#define GAP_JITTER 0.3      /* each gap is up to this share longer or shorter, at random */
#define IDLE_CLOCK_NS 500e3 /* window for the idle clock: the device's timer ticks coarsely */
#define PEAK_CLOCK 0.99     /* a window whose clock is below this share of the peak was limited */
#define PACED_WINDOW 3      /* bursts that one decision looks at */
#define PACED_AGREES 0.003
#define SUSTAINED_MIN_S 1.2 /* the governor overshoots first and swings for about a second */
#define SUSTAINED_MAX_S 1.8 /* then sample the swing rather than wait for its end */
#define SUSTAINED_WINDOW 4  /* samples, together longer than one swing */
#define SUSTAINED_AGREES 0.005
#define BUDGET_MAX_S 10 /* where an interval of long launches needs more than the mode's budget */

/* The half-width that each mode aims at. The result is still checked against the caller's. */
static const struct target {
	double half_width, budget_s;
	size_t min_samples, max_samples;
} targets[TK_MODE_COUNT] = {
        [TK_MODE_HOT] = {0.001, 0.3, 11, 60},
        [TK_MODE_PACED] = {0.001, 0.3, 11, 60},
        [TK_MODE_SUSTAINED] = {0.002, 2.7, 12, 40},
        [TK_MODE_CONTENDED] = {0.002, 0.6, 20, 80},
        [TK_MODE_SEQUENCE] = {0.002, 5.4, 12, 80}, /* the power differs within a sample */
};
/* Both workers of an A/B pair take the same number of samples. Alternating bursts agree so well
 * that pairs, not samples, are what a decision lacks: docs/explanation/ab-runs.md. */
static const struct target pair_target = {0.001, 0.6, 30, 30};

/* Hot is paced too on a device that needs it, which is one that can block a stream. */
bool tk_engine_is_paced(const struct tk_engine *e)
{
	enum tk_mode m = e->options->mode;
	return m == TK_MODE_PACED || m == TK_MODE_CONTENDED ||
	       (m == TK_MODE_HOT && e->ops->block_stream);
}

/* Whether the samples are taken after the governor has settled. Without a stream to block there is
 * no governor that mode sequence would have to wait for. */
static bool is_settled(const struct tk_engine *e)
{
	enum tk_mode m = e->options->mode;
	return m == TK_MODE_SUSTAINED || (m == TK_MODE_SEQUENCE && e->ops->block_stream);
}

bool tk_engine_has_bursts(const struct tk_engine *e)
{
	return tk_engine_is_paced(e) || is_settled(e);
}

/* Samples that an interval of the median needs: the one between minimum and maximum of n samples
 * has confidence 1 - 2^(1-n). */
static double min_interval_samples(double confidence)
{
	return ceil(1 - log2(fmax(1 - confidence, 1e-9)));
}

struct tk_stop_rule tk_engine_stop_rule(const struct tk_engine *e)
{
	struct tk_stop_rule rule = e->options->stop;
	if (!tk_engine_has_bursts(e))
		return rule;
	const struct target *target = e->options->token && tk_engine_is_paced(e)
	                                      ? &pair_target
	                                      : &targets[e->options->mode];
	double sample_ns = e->launch_ns * (double)(e->batch * e->bursts) + e->idle_gap_ns;
	/* the last sample may end after the budget */
	double interval_s = (min_interval_samples(rule.confidence) - 0.5) * sample_ns * 1e-9;
	rule.relative_half_width = fmin(rule.relative_half_width, target->half_width);
	rule.min_samples = target->min_samples;
	rule.max_samples = target->max_samples;
	rule.budget_s = fmax(target->budget_s, fmin(interval_s, BUDGET_MAX_S));
	return rule;
}

/* A governor samples the card every few milliseconds. Bursts at equal distances would meet it at a
 * phase that drifts slowly: samples of one measurement would agree and those of the next differ. */
static double next_gap_ns(struct tk_engine *e)
{
	double random = (double)(tk_splitmix64(++e->idle_gap_count) >> 11) * 0x1p-53;
	return e->idle_gap_ns * (1 - GAP_JITTER + 2 * GAP_JITTER * random);
}

/* Holds the device token meanwhile: the device has to idle between any two bursts of either
 * process. */
int tk_engine_wait_idle_gap(struct tk_engine *e)
{
	int status = tk_engine_acquire_device(e);
	if (!status && e->memory_load_ns > 0)
		status = tk_engine_check_status(
		        e, e->ops->memory_load(e->device, 0, 0, &e->abi), "memory load");
	if (status || e->idle_gap_ns <= 0)
		return status;
	double gap_ns = next_gap_ns(e);
	if (e->ops->idle)
		return tk_engine_check_status(e, e->ops->idle(e->device, gap_ns, &e->abi), "idle");
	tk_clock_sleep_ns((int64_t)gap_ns);
	return 0;
}

static double first_gap_ns(const struct tk_engine *e, double burst_ns)
{
	bool is_unlimited = e->sample_mhz >= UNLIMITED_CLOCK * e->idle_mhz;
	double gap_ns = is_unlimited ? fmax(burst_ns, UNLIMITED_GAP_NS)
	                             : fmax(GAP_PER_BURST * burst_ns, GAP_MIN_NS);
	return fmin(gap_ns, GAP_MAX_NS);
}

static int time_paced_window(struct tk_engine *e, double *median_ns, double *median_mhz)
{
	double ns[PACED_WINDOW], mhz[PACED_WINDOW];
	for (int i = 0; i < PACED_WINDOW; i++) {
		TRY(tk_engine_wait_idle_gap(e));
		TRY(tk_engine_time_sample(e, &ns[i]));
		mhz[i] = e->sample_mhz;
	}
	*median_ns = window_median(ns, PACED_WINDOW);
	*median_mhz = window_median(mhz, PACED_WINDOW);
	return 0;
}

/* Bursts until the clock stays up and two windows agree; the gap grows while the clock drops. */
static int find_idle_gap(struct tk_engine *e, double burst_ns)
{
	double before_ns = NAN, now_ns = NAN, mhz = NAN;
	int64_t start_ns = tk_engine_now_ns(e);
	bool is_given = e->options->idle_gap_ns > 0;
	e->idle_gap_ns = is_given ? e->options->idle_gap_ns : first_gap_ns(e, burst_ns);
	for (;;) {
		int status = time_paced_window(e, &now_ns, &mhz);
		e->out->warmup_s = (double)(tk_engine_now_ns(e) - start_ns) * 1e-9;
		if (status || e->out->warmup_s >= e->options->max_warmup_s)
			return status;
		bool is_slow = mhz < PEAK_CLOCK * e->peak_mhz;
		e->peak_mhz = fmax(e->peak_mhz, isfinite(mhz) ? mhz : 0);
		if (is_slow && !is_given && e->idle_gap_ns < GAP_MAX_NS)
			e->idle_gap_ns = fmin(e->idle_gap_ns * GAP_GROWTH, GAP_MAX_NS);
		else if (fabs(now_ns - before_ns) <= PACED_AGREES * before_ns)
			return 0;
		before_ns = now_ns;
	}
}

/* Launches back to back until the clock has stopped falling. */
static int wait_for_governor(struct tk_engine *e)
{
	double window_ns[SUSTAINED_WINDOW], before_ns = NAN;
	int64_t start_ns = tk_engine_now_ns(e);
	for (;;) {
		int status = 0;
		for (int i = 0; !status && i < SUSTAINED_WINDOW; i++)
			status = tk_engine_time_sample(e, &window_ns[i]);
		double spent_s = (double)(tk_engine_now_ns(e) - start_ns) * 1e-9;
		e->out->warmup_s = spent_s;
		if (status || spent_s >= SUSTAINED_MAX_S)
			return status;
		double now_ns = window_median(window_ns, SUSTAINED_WINDOW);
		if (spent_s >= SUSTAINED_MIN_S &&
		        fabs(now_ns - before_ns) <= SUSTAINED_AGREES * before_ns)
			return 0;
		before_ns = now_ns;
	}
}

/* An idle device is far from any power limit: a kernel that runs at the idle clock is not
 * limited. */
static int measure_idle_clock(struct tk_engine *e)
{
	const struct tk_device_ops *o = e->ops;
	if (!e->end_stamp || !o->block_stream)
		return 0;
	TRY(tk_engine_acquire_device(e)); /* the burst that follows releases it */
	int status = o->stamp_record(e->device, e->start_stamp, e->stream, &e->abi);
	if (status == TK_ABI_OK)
		status = o->block_stream(e->device, e->stream, IDLE_CLOCK_NS, &e->abi);
	if (status == TK_ABI_OK)
		status = o->stamp_record(e->device, e->end_stamp, e->stream, &e->abi);
	if (status == TK_ABI_OK)
		status = o->stamp_mhz(
		        e->device, e->start_stamp, e->end_stamp, &e->idle_mhz, &e->abi);
	return tk_engine_check_status(e, status, "idle clock");
}

static int settle_clocks(struct tk_engine *e)
{
	double ns = 0;
	if (is_settled(e))
		return wait_for_governor(e);
	TRY(measure_idle_clock(e));
	TRY(tk_engine_time_sample(e, &ns));
	double burst_ns = ns * (double)e->batch;
	if (e->options->mode == TK_MODE_CONTENDED)
		e->memory_load_ns = 1.5 * burst_ns + e->block_ns + 100e3;
	return find_idle_gap(e, burst_ns);
}

/* ---- the batch, its graphs, and the warm-up ---- */

#define WINDOW 5             /* batches that one decision of the warm-up looks at */
#define WARM_UP_AGREES 0.005 /* relative; the requested half-width where that is wider */
#define GRAPH_BELOW_NS 50e3  /* shorter launches are captured, where device and plan allow it */
#define BATCH_MAX 100000
#define BURSTS_MAX 1000
#define LONG_LAUNCH_NS 50e6 /* one probe is enough from here on */
/* A burst on a device with a power governor: long enough for its clocks, short enough for its
 * power. */
#define BURST_NS 1e6
#define SUSTAINED_SAMPLE_NS 100e6 /* a good part of one swing of the settled governor */
/* Graphs of bursts: what differs between graphs then shows as spread of samples, not of
 * processes. */
#define BURST_GRAPHS_MIN 4
#define MANY_LAUNCHES 32 /* of a burst */

/* Launches so that a burst (or a sample without bursts) lasts long enough to be timed. */
static uint64_t choose_batch_size(const struct tk_engine *e, double launch_ns)
{
	double wanted_ns = tk_engine_has_bursts(e) ? BURST_NS : e->options->min_sample_ns;
	double n = ceil(wanted_ns / fmax(launch_ns, 1));
	return n < 1 ? 1 : n > BATCH_MAX ? BATCH_MAX : (uint64_t)n;
}

/* Bursts of few launches all use the same sets, so that they differ by nothing else. Bursts of many
 * launches hardly differ: there the graphs divide the sets among them, so that the inputs are at
 * more addresses. There are never fewer sets than needed to keep the caches cold. */
static void choose_active_sets(struct tk_engine *e)
{
	uint64_t reached = e->batch < MANY_LAUNCHES ? e->batch : BURST_GRAPHS_MIN * e->batch;
	if (reached < e->cold_set_count)
		reached = e->cold_set_count;
	if (tk_engine_has_bursts(e) && reached < e->active_set_count)
		e->active_set_count = (uint32_t)reached;
	e->out->sets = e->active_set_count;
	e->next_set = 0;
}

static bool can_capture(const struct tk_engine *e)
{
	const struct tk_device_ops *o = e->ops;
	return o->graph_begin && o->graph_end && o->graph_launch && o->graph_free &&
	       e->out->plan.capturable;
}

/* 0: none. Without bursts one graph holds a launch on every set. Bursts are captured as well, so
 * that the host does not affect the gaps between their launches. There are as many graphs as needed
 * to cover all sets. */
static uint64_t count_graphs(const struct tk_engine *e, double launch_ns)
{
	if (!can_capture(e))
		return 0;
	if (!tk_engine_has_bursts(e))
		return launch_ns < GRAPH_BELOW_NS;
	uint64_t graphs = (e->active_set_count + e->batch - 1) / e->batch;
	if (e->active_set_count > 1 && graphs < BURST_GRAPHS_MIN)
		graphs = BURST_GRAPHS_MIN;
	if (e->batch < 2)
		return 0;
	return graphs < TK_ENGINE_GRAPHS_MAX ? graphs : TK_ENGINE_GRAPHS_MAX;
}

/* Capture is ended even where a launch failed: the stream could not be used otherwise. */
static int capture_graph(struct tk_engine *e)
{
	struct tk_abi_error ignored = {.size = sizeof ignored};
	void *graph = NULL;
	e->graph_first_sets[e->graph_count] = e->next_set;
	TRY(tk_engine_check_status(
	        e, e->ops->graph_begin(e->device, e->stream, &e->abi), "graph capture"));
	int launched = tk_engine_enqueue_launches(e);
	int ended = e->ops->graph_end(
	        e->device, e->stream, &graph, launched == TK_ABI_OK ? &e->abi : &ignored);
	if (launched != TK_ABI_OK) {
		if (ended == TK_ABI_OK)
			e->ops->graph_free(e->device, graph);
		return tk_engine_check_status(e, launched, e->call);
	}
	TRY(tk_engine_check_status(e, ended, "graph capture"));
	e->graphs[e->graph_count++] = graph;
	return 0;
}

static int capture_graphs(struct tk_engine *e, uint64_t wanted)
{
	if (wanted && !tk_engine_has_bursts(e) && e->batch < e->active_set_count)
		e->batch = e->active_set_count;
	e->next_set = 0;
	while (e->graph_count < wanted)
		TRY(capture_graph(e));
	return 0;
}

void tk_engine_free_graphs(struct tk_engine *e)
{
	for (uint32_t i = 0; i < e->graph_count; i++)
		e->ops->graph_free(e->device, e->graphs[i]);
	e->graph_count = 0;
}

/* The fastest of three single launches, because the first ones of a process are slow; of a single
 * one if it is long. */
static int probe_launch(struct tk_engine *e, double *best_ns)
{
	double ns = 0;
	e->batch = e->bursts = 1;
	*best_ns = INFINITY;
	for (int i = 0; i < 3; i++) {
		TRY(tk_engine_time_sample(e, &ns));
		*best_ns = fmin(*best_ns, ns);
		if (*best_ns > LONG_LAUNCH_NS)
			break;
	}
	return 0;
}

static int choose_batch(struct tk_engine *e)
{
	double launch_ns;
	TRY(probe_launch(e, &launch_ns));
	e->launch_ns = launch_ns;
	e->batch = choose_batch_size(e, launch_ns);
	choose_active_sets(e);
	int status = capture_graphs(e, count_graphs(e, launch_ns));
	if (e->options->mode == TK_MODE_SUSTAINED) {
		double bursts = ceil(SUSTAINED_SAMPLE_NS / (launch_ns * (double)e->batch));
		e->bursts = (uint64_t)fmin(fmax(bursts, 1), BURSTS_MAX);
	}
	e->out->launches_per_sample = e->batch * e->bursts;
	return status;
}

/* Ends when two windows in a row agree, or the time is up. */
static int warm_up_until_stable(struct tk_engine *e, int64_t start_ns)
{
	double window[WINDOW], before = NAN;
	double agrees = fmax(e->options->stop.relative_half_width, WARM_UP_AGREES);
	int status = 0, n = 0;
	while (!status) {
		e->out->warmup_s = (double)(tk_engine_now_ns(e) - start_ns) * 1e-9;
		if (e->out->warmup_s >= e->options->max_warmup_s)
			break;
		status = tk_engine_time_sample(e, &window[n++]);
		if (n < WINDOW)
			continue;
		double now = window_median(window, WINDOW);
		if (fabs(now - before) <= agrees * before)
			break;
		before = now;
		n = 0;
	}
	e->out->warmup_s = (double)(tk_engine_now_ns(e) - start_ns) * 1e-9;
	return status;
}

int tk_engine_settle(struct tk_engine *e)
{
	return tk_engine_has_bursts(e) ? settle_clocks(e)
	                               : warm_up_until_stable(e, tk_engine_now_ns(e));
}

int tk_engine_warm_up(struct tk_engine *e)
{
	int64_t start_ns = tk_engine_now_ns(e);
	int status = choose_batch(e);
	if (!status && tk_engine_has_bursts(e))
		return settle_clocks(e);
	if (status)
		e->out->warmup_s = (double)(tk_engine_now_ns(e) - start_ns) * 1e-9;
	return status ? status : warm_up_until_stable(e, start_ns);
}
