/* The parent's side: requests to one worker process, and their results. */
#include "worker/worker.h"
#include "base/base.h"
#include "base/sandbox.h"
#include "core/measurement_fields.h"
#include "core/vocabulary.h"
#include "worker/answer.h"
#include "worker/exchange.h"
#include "worker/process.h"
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#define PROFILER_END_S 60

int tk_cpu_list_check(const char *list, struct tk_error *err)
{
	cpu_set_t wanted, here;
	int status = tk_cpu_list_parse(list, &wanted, err);
	if (status || sched_getaffinity(0, sizeof here, &here) != 0)
		return status;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &wanted) && !CPU_ISSET(i, &here))
			return tk_fail(err, TK_EUSAGE,
			        "core %d of \"%.64s\" is not available; `taskset -cp $$` lists "
			        "the %d that are",
			        i, list, CPU_COUNT(&here));
	return TK_OK;
}

/* ---- life ---- */

/* The texts of a worker's own spec. */
static const size_t spec_texts[] = {offsetof(struct tk_worker_spec, program),
        offsetof(struct tk_worker_spec, device_kind), offsetof(struct tk_worker_spec, device_layer),
        offsetof(struct tk_worker_spec, modules_dir), offsetof(struct tk_worker_spec, device_uuid),
        offsetof(struct tk_worker_spec, cpu_list)};

static char **spec_text(struct tk_worker *w, size_t i)
{
	return (char **)(void *)((char *)&w->spec + spec_texts[i]);
}

int tk_worker_new(const struct tk_worker_spec *spec, struct tk_worker **out, struct tk_error *err)
{
	struct tk_worker *w = tk_calloc(1, sizeof *w);
	w->process.to = w->process.from = w->process.referee = w->log.fd = -1;
	w->spec = *spec;
	for (size_t i = 0; i < sizeof spec_texts / sizeof *spec_texts; i++)
		if (*spec_text(w, i))
			*spec_text(w, i) = tk_strdup(*spec_text(w, i));
	int status = spec->cpu_list ? tk_cpu_list_parse(spec->cpu_list, &w->cores, err) : TK_OK;
	if (!status)
		status = tk_worker_log_open(&w->log, spec->log_path, err);
	if (status)
		tk_worker_free(w);
	else
		*out = w;
	return status;
}

void tk_worker_free(struct tk_worker *w)
{
	if (!w)
		return;
	/* A profiler writes what it has recorded after the end of the program. */
	tk_worker_end_process(w, w->spec.profiler ? PROFILER_END_S : 0.5);
	tk_judging_end(w);
	json_decref(w->pending.request);
	tk_worker_log_close(&w->log);
	for (size_t i = 0; i < sizeof spec_texts / sizeof *spec_texts; i++)
		free(*spec_text(w, i));
	free(w);
}

void tk_worker_close_input(struct tk_worker *w)
{
	if (!w)
		return;
	if (w->process.to >= 0)
		close(w->process.to);
	w->process.to = -1;
}

int tk_worker_fd(const struct tk_worker *w)
{
	if (w->referee)
		return tk_worker_fd(w->referee);
	return w->process.pid ? w->process.from : -1;
}

/* ---- requests ---- */

static void add_text(json_t *request, const char *name, const char *value)
{
	if (value)
		json_object_set_new(request, name, json_string(value));
}

static json_t *new_request(const struct tk_worker *w, const char *command)
{
	json_t *r = json_object();
	add_text(r, "cmd", command);
	add_text(r, "device_layer", w->spec.device_layer);
	add_text(r, "modules_dir", w->spec.modules_dir);
	json_object_set_new(r, "device_index", json_integer(w->spec.device_index));
	add_text(r, "device_uuid",
	        w->spec.device_uuid && *w->spec.device_uuid ? w->spec.device_uuid : NULL);
	json_object_set_new(r, "threads", json_integer(w->spec.threads));
	return r;
}

static json_t *list_texts(const char *const *texts, size_t count)
{
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_string(texts[i]));
	return list;
}

static void add_sequence(const struct tk_job_sequence *s, json_t *request)
{
	if (s)
		json_object_set_new(request, "sequence",
		        json_pack("{s:o,s:o}", "kernels", list_texts(s->kernels, s->count),
		                "backends", list_texts(s->backends, s->backend_count)));
}

/* Four hexadecimal digits for each token. */
static void add_text_tokens(const struct tk_job_text *t, json_t *request)
{
	char *digits = t ? tk_malloc(4 * t->count + 1) : NULL;
	if (!digits)
		return;
	for (size_t i = 0; i < t->count; i++)
		snprintf(digits + 4 * i, 5, "%04x", t->tokens[i]);
	json_object_set_new(
	        request, "text", json_pack("{s:s,s:s}", "name", t->name, "tokens", digits));
	free(digits);
}

/* The peer of an A/B pair may still be loading its library: its first turn may take all of the
 * job's time. */
static json_t *new_measure_request(const struct tk_worker *w, const struct tk_job_request *q)
{
	bool is_paired = w->spec.token_fd > 0;
	json_t *r = new_request(w, "measure");
	add_text(r, "backend", q->backend_path);
	add_text(r, "options", q->backend_options);
	add_text(r, "problem", q->problem);
	add_text(r, "config", q->config);
	add_text(r, "mode", q->mode);
	add_sequence(q->sequence, r);
	add_text_tokens(q->text, r);
	json_t *rest = json_pack(
	        "{s:I, s:I, s:f, s:I, s:f, s:f, s:f, s:I, s:I, s:b, s:b, s:o*, s:o*, s:o*, s:o*}",
	        "sets", (json_int_t)q->sets, "seed", (json_int_t)q->seed, "idle_gap_s",
	        q->idle_gap_s, "check_seed", (json_int_t)q->check_seed, "measure_s", q->measure_s,
	        "relative_half_width", q->relative_half_width, "confidence", q->confidence,
	        "min_samples", (json_int_t)q->min_samples, "max_samples",
	        (json_int_t)q->max_samples, "verify", q->verify, "profile", q->profile, "trace",
	        q->trace_launches ? json_pack("{s:i,s:i}", "fd", w->spec.trace_fd, "launches",
	                                    (int)q->trace_launches)
	                          : NULL,
	        "device_token", is_paired ? json_integer(w->spec.token_fd) : NULL,
	        "device_token_start_s", is_paired ? json_real(q->deadline_s) : NULL,
	        "device_token_wait_s",
	        is_paired && q->token_wait_s > 0 ? json_real(q->token_wait_s) : NULL);
	json_object_update(r, rest);
	json_decref(rest);
	return r;
}

/* ---- opening ---- */

int tk_worker_start_open(struct tk_worker *w, const char *backend_path, const char *options,
        double deadline_s, struct tk_error *err)
{
	json_t *request = new_request(w, backend_path ? "open" : "device");
	add_text(request, "backend", backend_path);
	add_text(request, "options", options);
	int status = tk_exchange_post(w, request, deadline_s, err);
	w->is_opening = !status;
	return status < 0 ? status : TK_OK;
}

/* ---- jobs ---- */

static struct tk_process_usage read_usage(const struct tk_worker *w)
{
	return tk_process_read_usage(tk_sandbox_find_program(w->process.sandbox, w->process.pid));
}

int tk_worker_start_measure(
        struct tk_worker *w, const struct tk_job_request *request, struct tk_error *err)
{
	struct tk_pending_job *p = &w->pending;
	json_decref(p->request);
	*p = (struct tk_pending_job){.start_ns = tk_clock_monotonic_ns(),
	        .referee_below_ns = request->referee_below_ns,
	        .deadline_s = request->deadline_s};
	snprintf(p->problem, sizeof p->problem, "%s", request->problem);
	if (request->limits)
		p->limits = *request->limits;
	p->request = new_measure_request(w, request);
	int status = tk_exchange_post(w, json_incref(p->request), request->deadline_s, err);
	p->used_before = read_usage(w);
	p->has_ended = status > 0;
	return status < 0 ? status : TK_OK;
}

/* Whether the time of the samples has passed at all, and of a CPU, whether the worker worked for
 * half of it. A quarter of the samples may have been interrupted. */
static bool has_passed(const struct tk_worker *w, struct tk_job_result *out)
{
	enum tk_device_kind kind = tk_device_kind_from_name(w->spec.device_kind);
	const struct tk_process_usage now = read_usage(w), *before = &w->pending.used_before;
	double claimed_ns = out->time.q25 * (double)out->time.n *
	                    tk_measurement_get_number(
	                            out->result, TK_MEASUREMENT_LAUNCHES_PER_SAMPLE, 0),
	       wall_ns = (double)(tk_clock_monotonic_ns() - w->pending.start_ns),
	       used_ns = now.cpu_ns - before->cpu_ns + now.waited_ns - before->waited_ns;
	bool is_used = kind != TK_DEVICE_CPU || now.cpu_ns <= 0 || 2 * used_ns >= claimed_ns;
	char a[TK_FORMAT_SIZE], b[TK_FORMAT_SIZE];
	if (kind == TK_DEVICE_NULL || (is_used && claimed_ns <= wall_ns))
		return true;
	snprintf(out->message, sizeof out->message, "samples of %s in a job of %s%s",
	        tk_format_value(claimed_ns, "ns", a),
	        tk_format_value(is_used ? wall_ns : used_ns, "ns", b),
	        is_used ? "" : " of processor time");
	return false;
}

/* The figures stay in the result, beside the reason why they do not count. */
static void check_limits(const struct tk_worker *w, struct tk_job_result *out)
{
	const struct tk_pending_job *p = &w->pending;
	struct tk_problem_spec problem;
	if (!out->result || !tk_outcome_has_timing(out->outcome) ||
	        tk_problem_parse(&problem, p->problem, NULL))
		return;
	struct tk_limits_timing timing = {.median_ns = out->time.median,
	        .sets = tk_measurement_get_number(out->result, TK_MEASUREMENT_SETS, 0)};
	/* The work is counted here, not by the process that runs the backend's code. */
	json_object_set_new(out->result, tk_measurement_field_key(TK_MEASUREMENT_FLOPS),
	        json_real(tk_problem_flops(&problem)));
	json_object_set_new(out->result, tk_measurement_field_key(TK_MEASUREMENT_BYTES),
	        json_real(tk_problem_bytes(&problem)));
	if (tk_limits_allow(&p->limits, &problem, &timing, out->message, sizeof out->message) &&
	        has_passed(w, out))
		return;
	out->outcome = TK_OUTCOME_IMPLAUSIBLE;
	tk_measurement_set_text(out->result, TK_MEASUREMENT_OUTCOME, tk_outcome_name(out->outcome));
	tk_measurement_set_text(out->result, TK_MEASUREMENT_MESSAGE, out->message);
}

/* Fills `out` for a job that has ended; `raw` is its result or NULL, and is consumed. */
static void finish_measure(struct tk_worker *w, json_t *raw, struct tk_job_result *out)
{
	struct tk_error why = {0};
	*out = (struct tk_job_result){0};
	if (raw && tk_answer_check_measurement(
	                   raw, &w->outcome, w->message, sizeof w->message, &out->result, &why))
		tk_exchange_give_up(
		        w, TK_OUTCOME_PROTOCOL, "the worker's answer is invalid: %s", why.message);
	json_decref(raw);
	memcpy(out->message, w->message, sizeof out->message);
	out->outcome = w->outcome;
	out->time = tk_measurement_read_time(out->result);
	check_limits(w, out);
	if (!tk_outcome_has_timing(out->outcome))
		out->time = tk_measurement_read_time(NULL);
	out->wall_s = (double)(tk_clock_monotonic_ns() - w->pending.start_ns) * 1e-9;
	/* Restart the worker after any failed job: its state is undefined. */
	if (!tk_outcome_has_timing(out->outcome) && out->outcome != TK_OUTCOME_UNSUPPORTED &&
	        out->outcome != TK_OUTCOME_BUILD_FAILED)
		tk_worker_end_process(w, 0);
}

static int poll_measure(
        struct tk_worker *w, bool wait, bool *done, struct tk_job_result *out, struct tk_error *err)
{
	json_t *answer = NULL, *raw = NULL;
	if (w->referee)
		return tk_judging_poll(w, wait, done, out, err);
	*done = w->pending.has_ended;
	if (!*done) {
		int status = tk_exchange_poll(w, wait, &answer, err);
		if (status < 0 || status == TK_EXCHANGE_PENDING)
			return status < 0 ? status : TK_OK;
		if (!status)
			tk_exchange_unwrap(w, answer, &raw);
		*done = true;
	}
	finish_measure(w, raw, out);
	*done = !tk_judging_is_due(w, out);
	return *done ? TK_OK : tk_judging_start(w, done, out, err);
}

int tk_worker_poll_measure(
        struct tk_worker *w, bool *done, struct tk_job_result *out, struct tk_error *err)
{
	return poll_measure(w, false, done, out, err);
}

int tk_worker_measure(struct tk_worker *w, const struct tk_job_request *request,
        struct tk_job_result *out, struct tk_error *err)
{
	bool done = false;
	int status = tk_worker_start_measure(w, request, err);
	*out = (struct tk_job_result){.outcome = TK_OUTCOME_FAILED};
	while (!status && !done)
		status = poll_measure(w, true, &done, out, err);
	return status;
}

void tk_job_result_free(struct tk_job_result *r)
{
	if (!r)
		return;
	json_decref(r->result);
	r->result = NULL;
}

/* ---- queries ---- */

static int outcome_status(enum tk_outcome outcome)
{
	switch (outcome) {
	case TK_OUTCOME_NO_DEVICE:
		return TK_ENOTFOUND;
	case TK_OUTCOME_CRASHED:
		return TK_ECRASH;
	case TK_OUTCOME_TIMEOUT:
		return TK_ETIMEOUT;
	case TK_OUTCOME_OUT_OF_MEMORY:
		return TK_ENOMEM;
	case TK_OUTCOME_UNSUPPORTED:
		return TK_EUNSUPPORTED;
	default:
		return TK_EDATA;
	}
}

/* Sends `request`, and consumes it. *out is the checked result. */
static int query(struct tk_worker *w, json_t *request,
        int (*check)(const json_t *, json_t **, struct tk_error *), json_t **out,
        struct tk_error *err)
{
	json_t *answer = NULL;
	json_auto_t *raw = NULL;
	int status = tk_exchange_post(w, request, TK_WORKER_OPEN_TIMEOUT_S, err);
	if (!status)
		status = tk_exchange_receive(w, &answer, err);
	if (!status)
		status = tk_exchange_unwrap(w, answer, &raw);
	if (status > 0)
		status = tk_fail(err, outcome_status(w->outcome), "%s", w->message);
	else if (!status)
		status = check(raw, out, err);
	if (status && status != TK_ECANCELED)
		tk_worker_end_process(w, 0);
	return status;
}

/* Kinds of devices, as bits of tk_device_kind_bit: those that do not work within the sandbox, and
 * those that were tried without it. One that does not work either is not tried again. */
static atomic_uint unsandboxed_kinds, tried_kinds;

bool tk_worker_is_unsandboxed(const struct tk_worker *w)
{
	return atomic_load(&unsandboxed_kinds) & tk_device_kind_bit(w->spec.device_kind);
}

const char *tk_worker_sandbox_name(const char *device_kind)
{
	return tk_sandbox_method_name(
	        atomic_load(&unsandboxed_kinds) & tk_device_kind_bit(device_kind)
	                ? TK_SANDBOX_NONE
	                : tk_sandbox_method());
}

char *tk_worker_describe_sandbox(void)
{
	static const char *const kinds[] = {"cuda", "hip"};
	const enum tk_sandbox_method method = tk_sandbox_method();
	AUTO(tk_buf) out = TK_BUF_INIT;

	tk_buf_add_str(&out, tk_sandbox_method_name(method));
	for (size_t i = 0; method && i < sizeof kinds / sizeof *kinds; i++)
		if (atomic_load(&unsandboxed_kinds) & tk_device_kind_bit(kinds[i]))
			tk_buf_add_printf(&out, ", none for workers of %s", kinds[i]);
	if (method < TK_SANDBOX_LANDLOCK)
		tk_buf_add_str(&out, ": builds and backends can read the files of this user");
	return tk_buf_detach(&out, NULL);
}

/* A driver may need what no sandbox here was tried with. Only before a backend is loaded, so that
 * none can bring this about. */
static bool may_try_without_sandbox(const struct tk_worker *w)
{
	enum tk_device_kind kind = tk_device_kind_from_name(w->spec.device_kind);

	return (kind == TK_DEVICE_CUDA || kind == TK_DEVICE_HIP) && !w->loaded_backend &&
	       tk_sandbox_mode() == TK_SANDBOX_AUTO && tk_sandbox_method() != TK_SANDBOX_NONE &&
	       !(atomic_load(&tried_kinds) & tk_device_kind_bit(w->spec.device_kind));
}

int tk_worker_query_device(struct tk_worker *w, json_t **out, struct tk_error *err)
{
	int status = query(w, new_request(w, "device"), tk_answer_check_device, out, err);

	if (!status || status == TK_ECANCELED || !may_try_without_sandbox(w))
		return status;
	tk_worker_end_process(w, 0);
	atomic_fetch_or(&tried_kinds, tk_device_kind_bit(w->spec.device_kind));
	atomic_fetch_or(&unsandboxed_kinds, tk_device_kind_bit(w->spec.device_kind));
	if (!query(w, new_request(w, "device"), tk_answer_check_device, out, NULL)) {
		tk_log(TK_LOG_WARN, "sandbox_device", NULL,
		        "%s devices do not work within the sandbox (%s: %s); their workers run "
		        "without one",
		        w->spec.device_kind, tk_sandbox_method_name(tk_sandbox_method()),
		        err ? err->message : "");
		if (err)
			*err = (struct tk_error){0};
		return TK_OK;
	}
	tk_worker_end_process(w, 0);
	atomic_fetch_and(&unsandboxed_kinds, ~tk_device_kind_bit(w->spec.device_kind));
	return status;
}

int tk_worker_query_backend(
        struct tk_worker *w, const char *backend_path, json_t **out, struct tk_error *err)
{
	json_t *request = new_request(w, "backend");
	add_text(request, "backend", backend_path);
	return query(w, request, tk_answer_check_backend, out, err);
}

int tk_worker_query_configs(
        struct tk_worker *w, const struct tk_job_request *q, json_t **out, struct tk_error *err)
{
	json_t *request = new_request(w, "configs");
	add_text(request, "backend", q->backend_path);
	add_text(request, "options", q->backend_options);
	add_text(request, "problem", q->problem);
	return query(w, request, tk_answer_check_configs, out, err);
}
