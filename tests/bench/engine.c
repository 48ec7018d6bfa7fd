/* What the timing engine itself costs: whole jobs on the null device, whose kernels take no time.
 *
 *   bench_engine [--at-most=US]     exit code 1 if a sample costs more than US microseconds;
 *                                   without the option it only prints */
#include "base/base.h"
#include "measure/measure.h"
#include "stats/summary.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 15

struct rig {
	const struct tk_device_ops *ops;
	const struct tk_backend *backend;
	struct tk_device *device;
	struct tk_backend_ctx *ctx;
};

static int open_rig(struct rig *r)
{
	struct tk_abi_error err = {.size = sizeof err};
	r->ops = tk_device_entry();
	r->backend = tk_backend_entry();
	if (r->ops->open(0, &r->device, &err))
		return -1;
	struct tk_open_args args = {.size = sizeof args,
	        .device = r->device,
	        .device_ops = r->ops,
	        .options = "noise=0.05"};
	return r->backend->open(&args, &r->ctx, &err);
}

/* Median over ROUNDS jobs of exactly `samples` samples: seconds of the whole job and of its
 * sampling. */
static int time_jobs(const struct rig *r, const struct tk_problem_spec *p, size_t samples,
        double *job_s, double *sampling_s)
{
	struct tk_measure_options o = {.seed = 1,
	        .mode = TK_MODE_COLD,
	        .stop = {0.95, 0, samples, samples, 60},
	        .max_warmup_s = 1,
	        .min_sample_ns = 1,
	        .verify = true};
	double jobs[ROUNDS], sampling[ROUNDS];
	for (int i = 0; i < ROUNDS; i++) {
		struct tk_measurement m;
		struct tk_error err = {0};
		int64_t start = tk_clock_monotonic_ns();
		if (tk_measure(r->ops, r->device, r->backend, r->ctx, p, &o, &m, &err) ||
		        !tk_outcome_has_timing(m.outcome))
			return -1;
		jobs[i] = (double)(tk_clock_monotonic_ns() - start) * 1e-9;
		sampling[i] = m.measure_s;
		tk_measurement_free(&m);
	}
	*job_s = tk_median(jobs, ROUNDS);
	*sampling_s = tk_median(sampling, ROUNDS);
	return 0;
}

int main(int argc, char **argv)
{
	static const size_t samples[] = {10, 100, 1000, 10000};
	double at_most_us = argc > 1 && strncmp(argv[1], "--at-most=", 10) == 0
	                            ? strtod(argv[1] + 10, NULL)
	                            : INFINITY,
	       worst = 0;
	struct rig r;
	struct tk_problem_spec p;
	if (open_rig(&r) || tk_problem_parse(&p, "gemm:m=16,n=16,k=16", NULL))
		return 2;
	printf("%10s %14s %18s\n", "samples", "job, us", "one sample, us");
	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
		double job_s = 0, sampling_s = 0;
		if (time_jobs(&r, &p, samples[i], &job_s, &sampling_s))
			return 2;
		double each = sampling_s / (double)samples[i] * 1e6;
		printf("%10zu %14.1f %18.3f\n", samples[i], job_s * 1e6, each);
		worst = fmax(worst, i > 0 ? each : 0);
	}
	r.backend->close(r.ctx);
	r.ops->close(r.device);
	return worst > at_most_us;
}
