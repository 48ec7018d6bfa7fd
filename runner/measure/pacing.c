/* For devices with a power governor: stay below its limits (paced, contended), or wait until it has
 * settled (sustained).
 *
 * A matrix kernel launched back to back reaches the power limit after 30 to 100 ms; a window during
 * which the clock drops measures the governor. So the work comes in bursts of about a millisecond
 * with idle gaps that are long enough, or the window opens after the governor has settled.
 * docs/explanation/measuring-gpus.md has the figures. */
#include "base/clock.h"
#include "base/rng.h"
#include "measure/engine.h"
#include <math.h>
#include <string.h>

/* First idle gap: this many times the burst's length, within these bounds. */
#define GAP_PER_BURST 7
#define GAP_MIN_NS 6e6
#define GAP_MAX_NS 100e6
/* A burst above this share of the idle clock is not limited; a gap as long as the burst is
 * enough. */
#define UNLIMITED_CLOCK 0.985
#define UNLIMITED_GAP_NS 3e6
#define GAP_GROWTH 1.6
#define GAP_JITTER 0.3  /* each gap is up to this share longer or shorter, at random */
#define PEAK_CLOCK 0.99 /* a window whose clock is below this share of the peak was limited */
#define PACED_WINDOW 3  /* bursts that one decision looks at */
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
	struct tk_abi_error abi = tk_engine_abi_error();
	int status = tk_engine_acquire_device(e);
	if (!status && e->memory_load_ns > 0)
		status = tk_engine_check_status(
		        e, e->ops->memory_load(e->device, 0, 0, &abi), "memory load", &abi);
	if (status || e->idle_gap_ns <= 0)
		return status;
	double gap_ns = next_gap_ns(e);
	if (e->ops->idle)
		return tk_engine_check_status(
		        e, e->ops->idle(e->device, gap_ns, &abi), "idle", &abi);
	tk_clock_sleep_ns((int64_t)gap_ns);
	return 0;
}

static double window_median(const double *x, int n)
{
	double sorted[8];
	memcpy(sorted, x, (size_t)n * sizeof *x);
	return tk_median(sorted, (size_t)n);
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
		int status = tk_engine_wait_idle_gap(e);
		if (!status)
			status = tk_engine_time_sample(e, &ns[i]);
		if (status)
			return status;
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
	int status = 0;
	for (;;) {
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

int tk_engine_settle_clocks(struct tk_engine *e)
{
	double ns = 0;
	if (is_settled(e))
		return wait_for_governor(e);
	int status = tk_engine_measure_idle_clock(e);
	if (!status)
		status = tk_engine_time_sample(e, &ns);
	if (status)
		return status;
	double burst_ns = ns * (double)e->batch;
	if (e->options->mode == TK_MODE_CONTENDED)
		e->memory_load_ns = 1.5 * burst_ns + e->block_ns + 100e3;
	return find_idle_gap(e, burst_ns);
}
