/* Collects samples until the stopping rule is met, and marks those that were throttled.
 * docs/explanation/measuring.md explains each step. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/try.h"
#include "measure/engine.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
	size_t n = e->out->sample_count, lo = 0, hi = n;
	if (n == s->capacity)
		grow(e, s);
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
