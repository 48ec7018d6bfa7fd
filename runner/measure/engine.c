/* One job from problem to measurement: measure.h lists the steps. */
#include "measure/engine.h"
#include "base/base.h"
#include "stats/summary.h"
#include <math.h>

#define CLAIM_MAX 16 /* times the problem's own work */

bool tk_telemetry_is_power_limit(const struct tk_telemetry *t)
{
	return strcmp(t->reasons, "sw_power_cap") == 0;
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

int tk_engine_check_status(struct tk_engine *e, int status, const char *what)
{
	char *message = e->abi.message;
	enum tk_outcome outcome = tk_outcome_from_abi(status);
	message[status == TK_ABI_OK ? 0 : sizeof e->abi.message - 1] = 0;
	if (status == TK_ABI_OK)
		return 0;
	if (!message[0])
		return tk_engine_end_job(e, outcome, "%s: no reason given", what);
	if (status == TK_ABI_UNSUPPORTED || status == TK_ABI_NOT_BUILT)
		return tk_engine_end_job(e, outcome, "%s", message);
	if (status < TK_ABI_OK || status > TK_ABI_NOT_BUILT)
		return tk_engine_end_job(
		        e, outcome, "%s: unknown status %d: %.300s", what, status, message);
	return tk_engine_end_job(e, outcome, "%s: %s", what, message);
}

static int bind_sets(struct tk_engine *e)
{
	int status = TK_ABI_OK;
	for (uint32_t s = 0; status == TK_ABI_OK && s < e->set_count; s++)
		status = e->backend->bind(e->plan, s, e->sets[s], e->tensor_count, &e->abi);
	return tk_engine_check_status(e, status, "bind");
}

/* Backends may count masked work, or the passes of an algorithm; beyond that a plan that claims
 * more than there is cannot be trusted with anything. */
static int check_claims(struct tk_engine *e)
{
	struct tk_measurement *m = e->out;
	m->flops = tk_problem_flops(e->problem);
	m->bytes = tk_problem_bytes(e->problem);
	if (m->plan.flops > CLAIM_MAX * fmax(m->flops, 1))
		return tk_engine_end_job(e, TK_OUTCOME_IMPLAUSIBLE,
		        "the plan claims %.4g floating-point operations; the problem has %.4g",
		        m->plan.flops, m->flops);
	if (m->plan.bytes > CLAIM_MAX * fmax(m->bytes, 1))
		return tk_engine_end_job(e, TK_OUTCOME_IMPLAUSIBLE,
		        "the plan claims to move %.4g bytes; the problem has %.4g", m->plan.bytes,
		        m->bytes);
	return 0;
}

static int make_plan(struct tk_engine *e)
{
	struct tk_plan_info *info = &e->out->plan;
	struct tk_plan *plan = NULL;
	*info = (struct tk_plan_info){
	        .size = sizeof *info, .flops = NAN, .bytes = NAN, .call_ns = NAN};
	int status = e->backend->plan(
	        e->ctx, &e->problem->abi, e->options->config, e->set_count, &plan, info, &e->abi);
	info->kernel[sizeof info->kernel - 1] = info->algorithm[sizeof info->algorithm - 1] = 0;
	TRY(tk_engine_check_status(e, status, "plan"));
	e->plan = plan;
	TRY(check_claims(e));
	return bind_sets(e);
}

static int make_streams(struct tk_engine *e)
{
	uint32_t wanted = tk_engine_is_paced(e) ? TK_ENGINE_STREAMS_MAX : 1;
	for (; e->stream_count < wanted; e->stream_count++)
		TRY(tk_engine_check_status(e,
		        e->ops->stream_new(e->device, &e->streams[e->stream_count], &e->abi),
		        "stream"));
	e->stream = e->streams[0];
	return 0;
}

static int make_events(struct tk_engine *e)
{
	int status = e->ops->event_new(e->device, &e->start_event, &e->abi);
	if (status == TK_ABI_OK)
		status = e->ops->event_new(e->device, &e->end_event, &e->abi);
	return tk_engine_check_status(e, status, "event");
}

/* Both stamps or none. */
static int make_stamps(struct tk_engine *e)
{
	const struct tk_device_ops *o = e->ops;
	if (!o->stamp_new || !o->stamp_free || !o->stamp_record || !o->stamp_mhz)
		return 0;
	int status = o->stamp_new(e->device, &e->start_stamp, &e->abi);
	if (status == TK_ABI_OK)
		status = o->stamp_new(e->device, &e->end_stamp, &e->abi);
	return tk_engine_check_status(e, status, "clock stamp");
}

int tk_engine_check_layout(
        struct tk_engine *e, const struct tk_backend *b, const struct tk_problem *p)
{
	if (p->offset_bytes && !(b->operations & TK_OPERATION_UNALIGNED))
		return tk_engine_end_job(e, TK_OUTCOME_UNSUPPORTED,
		        "%s does not declare that it takes tensors at an offset of %u bytes",
		        b->name, p->offset_bytes);
	if (p->row_padding && !(b->operations & TK_OPERATION_PADDED_ROWS))
		return tk_engine_end_job(e, TK_OUTCOME_UNSUPPORTED,
		        "%s does not declare that it takes matrices with padded rows", b->name);
	return 0;
}

static int check_support(struct tk_engine *e)
{
	if (e->options->mode == TK_MODE_SEQUENCE)
		return tk_fail(e->err, TK_EDATA, "mode sequence without a sequence");
	if (e->options->mode == TK_MODE_CONTENDED && !e->ops->memory_load)
		return tk_engine_end_job(e, TK_OUTCOME_UNSUPPORTED,
		        "devices of kind %s have no memory load for mode %s", e->ops->kind,
		        tk_mode_name(e->options->mode));
	TRY(tk_engine_check_layout(e, e->backend, &e->problem->abi));
	return tk_engine_check_status(
	        e, e->backend->supports(e->ctx, &e->problem->abi, &e->abi), "supports");
}

static int read_device_info(struct tk_engine *e)
{
	e->info.size = sizeof e->info;
	int status = e->ops->info(e->device, &e->info, &e->abi);
	if (e->options->token) /* both workers of a pair have half of it */
		e->info.memory_bytes /= 2;
	return tk_engine_check_status(e, status, "device info");
}

static int set_up(struct tk_engine *e)
{
	TRY(check_support(e));
	TRY(read_device_info(e));
	TRY(tk_engine_make_sets(e));
	TRY(make_streams(e));
	TRY(make_events(e));
	TRY(make_stamps(e));
	int64_t start = tk_clock_monotonic_ns();
	int status = make_plan(e);
	e->out->plan_s = (double)(tk_clock_monotonic_ns() - start) * 1e-9;
	return status || !e->options->trace ? status : tk_engine_trace_start(e);
}

static void tear_down(struct tk_engine *e)
{
	const struct tk_device_ops *o = e->ops;
	tk_device_token_close(e->token);
	tk_engine_free_graphs(e);
	tk_engine_free_sequence(e);
	tk_engine_trace_end(e);
	if (e->plan)
		e->backend->unplan(e->plan);
	if (e->start_event)
		o->event_free(e->device, e->start_event);
	if (e->end_event)
		o->event_free(e->device, e->end_event);
	if (e->start_stamp)
		o->stamp_free(e->device, e->start_stamp);
	if (e->end_stamp)
		o->stamp_free(e->device, e->end_stamp);
	while (e->stream_count)
		o->stream_free(e->device, e->streams[--e->stream_count]);
	tk_engine_free_sets(e);
	free(e->clocks);
}

static int summarize(struct tk_engine *e)
{
	struct tk_measurement *m = e->out;
	double *sorted = tk_malloc(m->sample_count * sizeof *sorted + 1);
	memcpy(sorted, m->samples, m->sample_count * sizeof *sorted);
	tk_sort_values(sorted, m->sample_count);
	m->confidence = e->options->stop.confidence;
	e->has_interval =
	        tk_median_interval(sorted, m->sample_count, m->confidence, &m->lo, &m->hi);
	free(sorted);
	if (tk_summary_compute(m->samples, m->sample_count, &m->summary))
		return tk_fail(e->err, TK_EINTERNAL, "cannot summarize the samples");
	return 0;
}

/* Modes that wait for the governor measure under the power limit: only other reasons count. */
static bool is_throttled_throughout(const struct tk_engine *e)
{
	const struct tk_measurement *m = e->out;
	if (m->throttled_samples != m->sample_count)
		return false;
	bool none_now = !m->after.reasons[0] && !m->after.throttled;
	bool is_power_limit = none_now || tk_telemetry_is_power_limit(&m->after);
	bool is_settled = m->mode == TK_MODE_SUSTAINED || m->mode == TK_MODE_SEQUENCE;
	return !(is_settled && is_power_limit);
}

static void decide_outcome(struct tk_engine *e)
{
	struct tk_measurement *m = e->out;
	const struct tk_stop_rule *rule = &e->options->stop;
	double half_width = (m->hi - m->lo) / 2 / m->summary.median;
	m->outcome = TK_OUTCOME_OK;
	if (is_throttled_throughout(e))
		tk_engine_end_job(e, TK_OUTCOME_THROTTLED, "throttled throughout: %s",
		        m->after.reasons[0] ? m->after.reasons : "no reason given");
	else if (!e->has_interval)
		tk_engine_end_job(e, TK_OUTCOME_UNSTABLE,
		        "too few samples for a confidence interval at %.4g %%: %llu in %.3g s",
		        m->confidence * 100, (unsigned long long)m->sample_count, m->measure_s);
	else if (!(half_width <= rule->relative_half_width))
		tk_engine_end_job(e, TK_OUTCOME_UNSTABLE,
		        "confidence interval ±%.*g %%, target ±%.2g %%", half_width < 1 ? 2 : 15,
		        half_width < 1 ? half_width * 100 : round(half_width * 100),
		        rule->relative_half_width * 100);
}

/* The energy counter is the device's: it includes idle gaps, the other worker of a pair and the
 * other kernels of a sequence. */
static void compute_energy(struct tk_engine *e)
{
	struct tk_measurement *m = e->out;
	double launches = (double)m->sample_count * (double)m->launches_per_sample;
	if (m->idle_gap_ns <= 0 && !e->options->token && !e->sequence)
		m->energy_j = (m->after.energy_j - m->before.energy_j) / launches;
}

/* A wrong result is never timed: verification ends before the first sample. */
static int verify_and_warm_up(struct tk_engine *e)
{
	struct tk_engine_verification *v = NULL;
	int status = tk_engine_verify_start(e, &v);
	if (!status)
		status = tk_engine_warm_up(e);
	int verify_status = tk_engine_verify_finish(e, v);
	return verify_status ? verify_status : status;
}

/* One launch of a kernel whose results are right, for a profiler that this process runs under. */
static int profile_launch(struct tk_engine *e)
{
	if (!e->ops->profile)
		return tk_engine_end_job(e, TK_OUTCOME_UNSUPPORTED,
		        "devices of kind %s have no profiler", e->ops->kind);
	/* Not every profiler can flush the caches: they are as cold as those of a sample. */
	for (uint32_t set = 1; set < e->active_set_count; set++)
		TRY(tk_engine_launch(e, set));
	TRY(tk_engine_synchronize(e));
	TRY(tk_engine_check_status(e, e->ops->profile(e->device, 1, &e->abi), "profiler"));
	TRY(tk_engine_launch(e, 0));
	TRY(tk_engine_synchronize(e));
	return tk_engine_check_status(e, e->ops->profile(e->device, 0, &e->abi), "profiler");
}

/* `options`: as the caller gave them. */
static int run(struct tk_engine *e, const struct tk_measure_options *options)
{
	int64_t start = tk_clock_monotonic_ns();
	tk_engine_seed_checks(e);
	int status = set_up(e);
	e->out->setup_s = (double)(tk_clock_monotonic_ns() - start) * 1e-9;
	TRY(status);
	TRY(verify_and_warm_up(e));
	if (e->options->profile)
		TRY(profile_launch(e));
	TRY(tk_engine_measure_launch_cost(e));
	if (options->sequence)
		TRY(tk_engine_start_sequence(e, options));
	TRY(tk_engine_read_telemetry(e, &e->out->before));
	TRY(tk_engine_collect_samples(e));
	tk_device_token_close(e->token);
	/* Again after thousands of launches: races and an overrun workspace show only now. */
	if (e->options->verify)
		TRY(tk_engine_verify_timed(e));
	if (e->options->trace)
		TRY(tk_engine_trace_write(e));
	TRY(summarize(e));
	if (e->sequence)
		tk_engine_summarize_sequence(e);
	compute_energy(e);
	decide_outcome(e);
	return 0;
}

int tk_measure(const struct tk_device_ops *ops, struct tk_device *device,
        const struct tk_backend *backend, struct tk_backend_ctx *ctx,
        const struct tk_problem_spec *problem, const struct tk_measure_options *options,
        struct tk_measurement *out, struct tk_error *err)
{
	struct tk_device_token no_peer = {.fd = -1};
	/* In mode sequence the kernel is measured alone first. */
	struct tk_measure_options alone = *options;
	if (options->sequence)
		alone.mode = tk_mode_default(ops->kind);
	struct tk_engine e = {.ops = ops,
	        .device = device,
	        .backend = backend,
	        .ctx = ctx,
	        .problem = problem,
	        .options = &alone,
	        .out = out,
	        .err = err,
	        .abi = {.size = sizeof e.abi},
	        .token = options->token ? options->token : &no_peer,
	        .sample_mhz = NAN,
	        .idle_mhz = NAN};
	*out = (struct tk_measurement){.outcome = TK_OUTCOME_FAILED,
	        .launch_ns = NAN,
	        .flops = NAN,
	        .bytes = NAN,
	        .mode = options->mode,
	        .clock_mhz = NAN,
	        .clock_min_mhz = NAN,
	        .cycles = NAN,
	        .energy_j = NAN,
	        .sequence = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0}};
	int status = run(&e, options);
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
