/* Chooses how many launches make a sample, captures them in graphs, and warms the device up.
 * docs/explanation/measuring.md explains each step. */
#include "measure/engine.h"
#include "base/try.h"
#include <math.h>
#include <string.h>

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
	struct tk_abi_error launch_err = tk_engine_abi_error(), end_err = tk_engine_abi_error();
	const char *what = "launch";
	void *graph = NULL;
	e->graph_first_sets[e->graph_count] = e->next_set;
	int status = e->ops->graph_begin(e->device, e->stream, &end_err);
	if (status != TK_ABI_OK)
		return tk_engine_check_status(e, status, "graph capture", &end_err);
	int launched = tk_engine_enqueue_launches(e, &launch_err, &what);
	int ended = e->ops->graph_end(e->device, e->stream, &graph, &end_err);
	if (launched != TK_ABI_OK) {
		if (ended == TK_ABI_OK)
			e->ops->graph_free(e->device, graph);
		return tk_engine_check_status(e, launched, what, &launch_err);
	}
	if (ended != TK_ABI_OK)
		return tk_engine_check_status(e, ended, "graph capture", &end_err);
	e->graphs[e->graph_count++] = graph;
	return 0;
}

static int capture_graphs(struct tk_engine *e, uint64_t wanted)
{
	int status = 0;
	if (wanted && !tk_engine_has_bursts(e) && e->batch < e->active_set_count)
		e->batch = e->active_set_count;
	e->next_set = 0;
	while (!status && e->graph_count < wanted)
		status = capture_graph(e);
	return status;
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
	int status = probe_launch(e, &launch_ns);
	if (status)
		return status;
	e->launch_ns = launch_ns;
	e->batch = choose_batch_size(e, launch_ns);
	choose_active_sets(e);
	status = capture_graphs(e, count_graphs(e, launch_ns));
	if (e->options->mode == TK_MODE_SUSTAINED) {
		double bursts = ceil(SUSTAINED_SAMPLE_NS / (launch_ns * (double)e->batch));
		e->bursts = (uint64_t)fmin(fmax(bursts, 1), BURSTS_MAX);
	}
	e->out->launches_per_sample = e->batch * e->bursts;
	return status;
}

static double window_median(const double *x)
{
	double sorted[WINDOW];
	memcpy(sorted, x, sizeof sorted);
	return tk_median(sorted, WINDOW);
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
		double now = window_median(window);
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
	return tk_engine_has_bursts(e) ? tk_engine_settle_clocks(e)
	                               : warm_up_until_stable(e, tk_engine_now_ns(e));
}

int tk_engine_warm_up(struct tk_engine *e)
{
	int64_t start_ns = tk_engine_now_ns(e);
	int status = choose_batch(e);
	if (!status && tk_engine_has_bursts(e))
		return tk_engine_settle_clocks(e);
	if (status)
		e->out->warmup_s = (double)(tk_engine_now_ns(e) - start_ns) * 1e-9;
	return status ? status : warm_up_until_stable(e, start_ns);
}
