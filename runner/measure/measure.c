/* One job from problem to measurement: see measure.h for the order of its steps. */
#include "base/clock.h"
#include "base/error.h"
#include "measure/engine.h"
#include "stats/summary/interval.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tk_abi_error tk_engine_abi_error(void)
{
	return (struct tk_abi_error){.size = sizeof(struct tk_abi_error)};
}

int tk_engine_end_job(struct tk_engine *e, enum tk_outcome outcome, const char *fmt, ...)
{
	va_list ap;
	e->out->outcome = outcome;
	va_start(ap, fmt);
	vsnprintf(e->out->message, sizeof e->out->message, fmt, ap);
	va_end(ap);
	return TK_ENGINE_JOB_ENDED;
}

int tk_engine_check_status(
        struct tk_engine *e, int status, const char *what, struct tk_abi_error *abi)
{
	enum tk_outcome outcome = TK_OUTCOME_FAILED;
	char number[64];
	if (status == TK_ABI_OK)
		return 0;
	abi->message[sizeof abi->message - 1] = 0;
	if (status == TK_ABI_UNSUPPORTED)
		outcome = TK_OUTCOME_UNSUPPORTED;
	else if (status == TK_ABI_NO_MEMORY)
		outcome = TK_OUTCOME_OUT_OF_MEMORY;
	else if (status < TK_ABI_OK || status > TK_ABI_INTERNAL)
		snprintf(number, sizeof number, "status %d, which the contract does not have",
		        status);
	if (outcome == TK_OUTCOME_UNSUPPORTED && abi->message[0])
		return tk_engine_end_job(e, outcome, "%s", abi->message);
	if (!abi->message[0])
		return tk_engine_end_job(e, outcome, "%s: no reason was given", what);
	if (status < TK_ABI_OK || status > TK_ABI_INTERNAL)
		return tk_engine_end_job(e, outcome, "%s: %s: %.300s", what, number, abi->message);
	return tk_engine_end_job(e, outcome, "%s: %s", what, abi->message);
}

static int make_plan(struct tk_engine *e)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	struct tk_plan_info *info = &e->out->plan;
	struct tk_plan *plan = NULL;
	*info = (struct tk_plan_info){.size = sizeof *info, .flops = NAN, .bytes = NAN};
	int status = e->backend->plan(
	        e->ctx, &e->problem->abi, e->options->config, e->set_count, &plan, info, &abi);
	info->kernel[sizeof info->kernel - 1] = info->algorithm[sizeof info->algorithm - 1] = 0;
	if (status != TK_ABI_OK)
		return tk_engine_check_status(e, status, "plan", &abi);
	e->plan = plan;
	e->out->flops = isfinite(info->flops) && info->flops >= 0 ? info->flops
	                                                          : tk_problem_flops(e->problem);
	e->out->bytes = isfinite(info->bytes) && info->bytes >= 0 ? info->bytes
	                                                          : tk_problem_bytes(e->problem);
	for (uint32_t s = 0; s < e->set_count; s++)
		if (tk_engine_check_status(e,
		            e->backend->bind(e->plan, s, e->sets[s], e->tensor_count, &abi), "bind",
		            &abi))
			return TK_ENGINE_JOB_ENDED;
	return 0;
}

static int make_streams(struct tk_engine *e)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	uint32_t wanted = tk_engine_is_paced(e) ? TK_ENGINE_STREAMS_MAX : 1;
	int status = 0;
	while (status == 0 && e->stream_count < wanted) {
		void **stream = &e->streams[e->stream_count];
		status = tk_engine_check_status(
		        e, e->ops->stream_new(e->device, stream, &abi), "stream", &abi);
		e->stream_count += status == 0;
	}
	e->stream = e->streams[0];
	return status;
}

/* Both or none: half a pair of stamps tells nothing. */
static int make_stamps(struct tk_engine *e)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	if (!e->ops->stamp_new || !e->ops->stamp_free || !e->ops->stamp_record ||
	        !e->ops->stamp_mhz)
		return 0;
	int status = tk_engine_check_status(
	        e, e->ops->stamp_new(e->device, &e->stamp_from, &abi), "clock stamp", &abi);
	return status ? status
	              : tk_engine_check_status(e, e->ops->stamp_new(e->device, &e->stamp_to, &abi),
	                        "clock stamp", &abi);
}

static int set_up(struct tk_engine *e)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	if (e->options->mode == TK_MODE_CONTENDED && !e->ops->strain)
		return tk_engine_end_job(e, TK_OUTCOME_UNSUPPORTED,
		        "devices of kind %s cannot be loaded beside a kernel", e->ops->kind);
	int status = tk_engine_check_status(
	        e, e->backend->supports(e->ctx, &e->problem->abi, &abi), "supports", &abi);
	e->info.size = sizeof e->info;
	if (status == 0)
		status = tk_engine_check_status(
		        e, e->ops->info(e->device, &e->info, &abi), "device info", &abi);
	if (e->options->baton)
		e->info.memory_bytes /= 2;
	if (status == 0)
		status = tk_engine_make_sets(e);
	if (status == 0)
		status = make_streams(e);
	if (status == 0)
		status = tk_engine_check_status(
		        e, e->ops->event_new(e->device, &e->from, &abi), "event", &abi);
	if (status == 0)
		status = tk_engine_check_status(
		        e, e->ops->event_new(e->device, &e->to, &abi), "event", &abi);
	if (status == 0)
		status = make_stamps(e);
	int64_t start = tk_clock_monotonic_ns();
	if (status == 0)
		status = make_plan(e);
	e->out->plan_s = (double)(tk_clock_monotonic_ns() - start) * 1e-9;
	return status;
}

static void tear_down(struct tk_engine *e)
{
	tk_device_token_close(e->baton);
	tk_engine_free_graphs(e);
	if (e->plan)
		e->backend->unplan(e->plan);
	if (e->from)
		e->ops->event_free(e->device, e->from);
	if (e->to)
		e->ops->event_free(e->device, e->to);
	if (e->stamp_from)
		e->ops->stamp_free(e->device, e->stamp_from);
	if (e->stamp_to)
		e->ops->stamp_free(e->device, e->stamp_to);
	while (e->stream_count)
		e->ops->stream_free(e->device, e->streams[--e->stream_count]);
	tk_engine_free_sets(e);
	free(e->clocks);
}

static int summarise(struct tk_engine *e)
{
	struct tk_measurement *m = e->out;
	double *sorted = malloc(m->sample_count * sizeof *sorted + 1);
	if (!sorted)
		return tk_fail(e->err, TK_ENOMEM, "out of memory for %llu samples",
		        (unsigned long long)m->sample_count);
	memcpy(sorted, m->samples, m->sample_count * sizeof *sorted);
	tk_sort_values(sorted, m->sample_count);
	m->confidence = e->options->stop.confidence;
	e->has_interval =
	        tk_median_interval(sorted, m->sample_count, m->confidence, &m->lo, &m->hi);
	free(sorted);
	if (tk_summary_compute(m->samples, m->sample_count, &m->summary))
		return tk_fail(e->err, TK_EINTERNAL, "the samples cannot be summarised");
	return 0;
}

/* A power limit is what the sustained mode measures under: only other reasons count against it. */
static bool throttled_throughout(const struct tk_engine *e)
{
	const struct tk_measurement *m = e->out;
	bool power_only = strcmp(m->after.reasons, "sw_power_cap") == 0 ||
	                  (!m->after.reasons[0] && !m->after.throttled);
	return m->throttled_samples == m->sample_count &&
	       !(e->options->mode == TK_MODE_SUSTAINED && power_only);
}

static void judge(struct tk_engine *e)
{
	struct tk_measurement *m = e->out;
	double half = (m->hi - m->lo) / 2 / m->summary.median,
	       launches = (double)m->sample_count * (double)m->launches_per_sample;
	m->outcome = TK_OUTCOME_OK;
	if (m->rest_ns <= 0 &&
	        !e->options->baton) /* the counter is the device's, and knows no turns */
		m->energy_j = (m->after.energy_j - m->before.energy_j) / launches;
	if (throttled_throughout(e))
		tk_engine_end_job(e, TK_OUTCOME_THROTTLED, "throttled throughout: %s",
		        m->after.reasons[0] ? m->after.reasons : "no reason was given");
	else if (!e->has_interval)
		tk_engine_end_job(e, TK_OUTCOME_UNSTABLE,
		        "%llu sample%s in %.3g s %s too few for an interval at %.4g %%",
		        (unsigned long long)m->sample_count, m->sample_count == 1 ? "" : "s",
		        m->measure_s, m->sample_count == 1 ? "is" : "are", m->confidence * 100);
	else if (!(half <= e->options->stop.relative_half_width))
		tk_engine_end_job(e, TK_OUTCOME_UNSTABLE,
		        "the interval of the median is +-%.*g %%, asked were %.2g %%",
		        half < 1 ? 2 : 15, half < 1 ? half * 100 : round(half * 100),
		        e->options->stop.relative_half_width * 100);
}

/* What is wrong is not timed: the check ends before the first sample. */
static int check_and_warm_up(struct tk_engine *e)
{
	struct tk_engine_verification *check = NULL;
	int status = tk_engine_verify_start(e, &check);
	if (status == 0)
		status = tk_engine_warm_up(e);
	int checked = tk_engine_verify_finish(e, check);
	return checked ? checked : status;
}

static int run(struct tk_engine *e)
{
	int64_t start = tk_clock_monotonic_ns();
	int status = set_up(e);
	e->out->setup_s = (double)(tk_clock_monotonic_ns() - start) * 1e-9;
	if (status || (status = check_and_warm_up(e)) ||
	        (status = tk_engine_measure_launch_cost(e)))
		return status;
	if ((status = tk_engine_read_telemetry(e, &e->out->before)) ||
	        (status = tk_engine_collect_samples(e)))
		return status;
	tk_device_token_close(e->baton);
	/* Once more, after thousands of launches back to back: races and used-up workspace show
	 * only now. */
	if (e->options->verify && (status = tk_engine_verify_set(e, 0)))
		return status;
	if ((status = summarise(e)))
		return status;
	judge(e);
	return 0;
}

int tk_measure(const struct tk_device_ops *ops, struct tk_device *device,
        const struct tk_backend *backend, struct tk_backend_ctx *ctx,
        const struct tk_problem_spec *problem, const struct tk_measure_options *options,
        struct tk_measurement *out, struct tk_error *err)
{
	struct tk_device_token alone = {.fd = -1};
	struct tk_engine e = {.ops = ops,
	        .device = device,
	        .backend = backend,
	        .ctx = ctx,
	        .problem = problem,
	        .options = options,
	        .out = out,
	        .err = err,
	        .baton = options->baton ? options->baton : &alone,
	        .mhz = NAN,
	        .idle_mhz = NAN};
	*out = (struct tk_measurement){.outcome = TK_OUTCOME_FAILED,
	        .launch_ns = NAN,
	        .flops = NAN,
	        .bytes = NAN,
	        .mode = options->mode,
	        .clock_mhz = NAN,
	        .clock_min_mhz = NAN,
	        .cycles = NAN,
	        .energy_j = NAN};
	int status = run(&e);
	tear_down(&e);
	if (status < 0)
		tk_measurement_free(out);
	return status < 0 ? status : TK_OK;
}

void tk_measurement_free(struct tk_measurement *m)
{
	if (!m)
		return;
	free(m->samples);
	m->samples = NULL;
	m->sample_count = 0;
}
