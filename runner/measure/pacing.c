/* Where a device has a power governor: keep off its limits (paced, loaded), or wait until it has
 * settled (sustained).
 *
 * A matrix kernel that is launched back to back for some 30 to 100 ms meets the power limit; a
 * window that is open while the clock gives way measures the governor. So either the work comes in
 * bursts of about a millisecond with rests that are long enough, or the window opens after the
 * governor is done. docs/explanation/measuring-gpus.md has the figures. */
#include "base/clock.h"
#include "base/rng.h"
#include "measure/engine.h"
#include <math.h>
#include <string.h>

#define REST_PER_BURST 7 /* so many times as long as the burst, at first */
#define REST_LEAST_NS 6e6
#define REST_MOST_NS 100e6
#define UNLIMITED \
	0.985 /* of the idle clock: a burst above this meets no limit, and a rest of its own \
	       * length will do \
	       */
#define UNLIMITED_REST_NS 3e6
#define REST_GROWTH 1.6
#define REST_JITTER 0.3 /* a rest is this share longer or shorter, by chance */
#define FULL_CLOCK \
	0.99 /* a window whose clock is below this share of the best one's has met a limit */
#define PACED_WINDOW 3 /* bursts that one judgement looks at */
#define PACED_AGREE 0.003
#define SUSTAINED_LEAST_S 1.2 /* the governor overshoots first, and swings for about a second */
#define SUSTAINED_MOST_S \
	1.8 /* it goes on swinging: more of it in the samples tells more than waiting for its end \
	     */
#define SUSTAINED_WINDOW 4 /* samples, together longer than one swing */
#define SUSTAINED_AGREE 0.005
#define BUDGET_MOST_S \
	10 /* of launches that are so long that an interval takes more than the budget */

/* A mode's own aim; the interval that the caller asked for stays what the result is judged by. */
static const struct aim {
	double half_width, budget_s;
	size_t min_samples, max_samples;
} aims[TK_MODE_COUNT] = {
        [TK_MODE_HOT] = {0.001, 0.3, 11, 60},
        [TK_MODE_PACED] = {0.001, 0.3, 11, 60},
        [TK_MODE_SUSTAINED] = {0.002, 2.7, 12, 40},
        [TK_MODE_CONTENDED] = {0.002, 0.6, 20, 80},
};
/* By turns with another process: as many on either side. */
static const struct aim aim_of_two = {0.001, 1.2, 120, 120};

/* Hot is paced where the device is one that has to be: one whose stream can be held. */
bool tk_engine_is_paced(const struct tk_engine *e)
{
	enum tk_mode m = e->options->mode;
	return m == TK_MODE_PACED || m == TK_MODE_CONTENDED || (m == TK_MODE_HOT && e->ops->hold);
}

bool tk_engine_has_bursts(const struct tk_engine *e)
{
	return tk_engine_is_paced(e) || e->options->mode == TK_MODE_SUSTAINED;
}

/* The fewest samples that an interval of the median can be had from: 1 - 2^(1-n) is that of their
 * extremes. */
static double fewest(double confidence)
{
	return ceil(1 - log2(fmax(1 - confidence, 1e-9)));
}

struct tk_stop_rule tk_engine_stop_rule(const struct tk_engine *e)
{
	struct tk_stop_rule rule = e->options->stop;
	double sample_s = (e->launch_ns * (double)(e->batch * e->bursts) + e->rest_ns) * 1e-9;
	if (!tk_engine_has_bursts(e))
		return rule;
	const struct aim *aim =
	        e->options->baton && tk_engine_is_paced(e) ? &aim_of_two : &aims[e->options->mode];
	rule.relative_half_width = fmin(rule.relative_half_width, aim->half_width);
	rule.min_samples = aim->min_samples;
	rule.max_samples = aim->max_samples;
	/* fewer would have been for nothing */
	double least_s = fmin((fewest(rule.confidence) - 0.5) * sample_s, BUDGET_MOST_S);
	rule.budget_s = fmax(aim->budget_s, least_s);
	return rule;
}

/* The governor of a card looks at it every few milliseconds. Bursts at equal distances meet it at
 * nearly the same moment, which moves slowly: samples of a whole measurement are alike then, and
 * those of the next one differ. */
static double next_rest(struct tk_engine *e)
{
	double chance = (double)(tk_splitmix64(++e->rests) >> 11) * 0x1p-53;
	return e->rest_ns * (1 - REST_JITTER + 2 * REST_JITTER * chance);
}

int tk_engine_wait_idle_gap(struct tk_engine *e)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	int status = tk_engine_acquire_device(
	        e); /* the device rests between any two bursts, whoever's they are */
	if (status == 0 && e->memory_load_ns > 0)
		status = tk_engine_check_status(
		        e, e->ops->strain(e->device, 0, 0, &abi), "strain", &abi);
	if (status || e->rest_ns <= 0)
		return status;
	double ns = next_rest(e);
	if (e->ops->rest)
		return tk_engine_check_status(e, e->ops->rest(e->device, ns, &abi), "rest", &abi);
	tk_clock_sleep_ns((int64_t)ns);
	return 0;
}

static double median_of(const double *x, int n)
{
	double sorted[8];
	memcpy(sorted, x, (size_t)n * sizeof *x);
	return tk_median(sorted, (size_t)n);
}

static double first_rest(const struct tk_engine *e, double burst_ns)
{
	bool unlimited = e->mhz >= UNLIMITED * e->idle_mhz;
	double rest_ns = unlimited ? fmax(burst_ns, UNLIMITED_REST_NS)
	                           : fmax(REST_PER_BURST * burst_ns, REST_LEAST_NS);
	return fmin(rest_ns, REST_MOST_NS);
}

/* Bursts until the clock stays up and two windows agree; the rests grow while the clock gives way.
 */
static int find_rest(struct tk_engine *e, double burst_ns)
{
	double ns[PACED_WINDOW], mhz[PACED_WINDOW], before = NAN;
	int64_t start = tk_engine_now_ns(e);
	bool fixed = e->options->rest_ns > 0;
	e->rest_ns = fixed ? e->options->rest_ns : first_rest(e, burst_ns);
	for (int i = 0, status = 0;; i = 0) {
		while (i < PACED_WINDOW && status == 0) {
			status = tk_engine_wait_idle_gap(e);
			if (status == 0)
				status = tk_engine_time_sample(e, &ns[i]);
			mhz[i++] = e->mhz;
		}
		e->out->warmup_s = (double)(tk_engine_now_ns(e) - start) * 1e-9;
		if (status || e->out->warmup_s >= e->options->max_warmup_s)
			return status;
		double now = median_of(ns, PACED_WINDOW), clock = median_of(mhz, PACED_WINDOW);
		bool slow = clock < FULL_CLOCK * e->full_mhz;
		e->full_mhz = fmax(e->full_mhz, isfinite(clock) ? clock : 0);
		if (slow && !fixed && e->rest_ns < REST_MOST_NS)
			e->rest_ns = fmin(e->rest_ns * REST_GROWTH, REST_MOST_NS);
		else if (fabs(now - before) <= PACED_AGREE * before)
			return 0;
		before = now;
	}
}

/* Back to back until the clock has stopped falling. */
static int wait_for_governor(struct tk_engine *e)
{
	double ns[SUSTAINED_WINDOW], before = NAN;
	int64_t start = tk_engine_now_ns(e);
	int status = 0;
	for (;;) {
		for (int i = 0; status == 0 && i < SUSTAINED_WINDOW; i++)
			status = tk_engine_time_sample(e, &ns[i]);
		double spent_s = (double)(tk_engine_now_ns(e) - start) * 1e-9;
		e->out->warmup_s = spent_s;
		if (status || spent_s >= SUSTAINED_MOST_S)
			return status;
		double now = median_of(ns, SUSTAINED_WINDOW);
		bool virtual_clock = e->ops->rest != NULL; /* waiting would not be seen by it */
		if ((spent_s >= SUSTAINED_LEAST_S || virtual_clock) &&
		        fabs(now - before) <= SUSTAINED_AGREE * before)
			return 0;
		before = now;
	}
}

int tk_engine_settle_clocks(struct tk_engine *e)
{
	double ns = 0;
	if (e->options->mode == TK_MODE_SUSTAINED)
		return wait_for_governor(e);
	int status = tk_engine_measure_idle_clock(e);
	if (status == 0)
		status = tk_engine_time_sample(e, &ns);
	if (e->options->mode == TK_MODE_CONTENDED)
		e->memory_load_ns = 1.5 * ns * (double)e->batch + e->block_ns + 100e3;
	return status ? status : find_rest(e, ns * (double)e->batch);
}
