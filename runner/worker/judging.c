/* The parent's side of the referee (referee.h): a second process is asked about the result of a
 * job, while the worker launches for it. */
#include "base/sandbox.h"
#include "worker/exchange.h"
#include <math.h>
#include <unistd.h>

bool tk_judging_is_due(const struct tk_worker *w, const struct tk_job_result *result)
{
	enum tk_device_kind kind = tk_device_kind_from_name(w->spec.device_kind);
	return result->result && tk_outcome_has_timing(result->outcome) &&
	       result->time.median < w->pending.referee_below_ns && w->process.referee >= 0 &&
	       !w->spec.profiler &&
	       (kind == TK_DEVICE_CPU || kind == TK_DEVICE_CUDA || kind == TK_DEVICE_HIP);
}

/* Processors that the worker may use at once. */
static double count_cores(const struct tk_worker *w)
{
	double cores =
	        w->spec.cpu_list ? CPU_COUNT(&w->cores) : (double)sysconf(_SC_NPROCESSORS_ONLN);
	return w->spec.threads ? fmin(cores, w->spec.threads) : cores;
}

static json_t *new_referee_request(const struct tk_worker *w, const struct tk_measured_time *claim)
{
	json_t *r = json_copy(w->pending.request);
	json_object_del(r, "backend");
	json_object_set_new(r, "cmd", json_string("referee"));
	json_object_set_new(r, "socket", json_integer(w->process.referee));
	json_object_set_new(r, "pid",
	        json_integer(tk_sandbox_find_program(w->process.sandbox, w->process.pid)));
	json_object_set_new(r, "cores", json_real(count_cores(w)));
	json_object_set_new(r, "python", json_boolean(w->python_package != NULL));
	json_object_set_new(r, "claim_ns", json_real(claim->median));
	json_object_set_new(r, "noise", json_real(claim->hi / claim->median));
	return r;
}

static json_t *new_bursts_request(const struct tk_worker *w)
{
	json_t *r = json_copy(w->pending.request);
	json_object_set_new(r, "cmd", json_string("bursts"));
	json_object_set_new(r, "socket", json_integer(w->process.worker_referee));
	return r;
}

void tk_judging_end(struct tk_worker *w)
{
	tk_worker_free(w->referee);
	json_decref(w->burst_answer);
	tk_job_result_free(&w->claim);
	w->referee = NULL;
	w->burst_answer = NULL;
}

static void set_outcome(struct tk_job_result *r, enum tk_outcome outcome, const char *why)
{
	r->outcome = outcome;
	r->time = tk_measurement_read_time(NULL);
	snprintf(r->message, sizeof r->message, "%.1000s", why);
	tk_measurement_set_text(r->result, TK_MEASUREMENT_OUTCOME, tk_outcome_name(outcome));
	tk_measurement_set_text(r->result, TK_MEASUREMENT_MESSAGE, r->message);
}

/* A request that could not be sent ends like one that failed: the next poll says how. */
int tk_judging_start(
        struct tk_worker *w, bool *done, struct tk_job_result *result, struct tk_error *err)
{
	struct tk_worker_spec spec = w->spec;
	const double deadline_s = w->pending.deadline_s;
	const pid_t measured = w->process.pid;
	int status = tk_exchange_post(w, new_bursts_request(w), deadline_s, err);
	*done = w->process.pid && w->process.pid != measured;
	if (*done) { /* it was not ready for a request, and was replaced */
		set_outcome(result, TK_OUTCOME_IMPLAUSIBLE,
		        "the worker sent more than one answer: one of them is forged");
		tk_worker_end_process(w, 0);
	}
	if (*done || status < 0)
		return status < 0 ? status : TK_OK;
	spec.profiler = NULL;
	spec.cpu_list = NULL;
	spec.referee_fd = w->process.referee;
	w->claim = *result;
	*result = (struct tk_job_result){0};
	TRY(tk_worker_new(&spec, &w->referee, err));
	status = tk_exchange_post(
	        w->referee, new_referee_request(w, &w->claim.time), deadline_s, err);
	return status < 0 ? status : TK_OK;
}

/* What the referee says, with the outcome that follows from it. */
static void apply(struct tk_job_result *r, json_t *said)
{
	char a[TK_FORMAT_SIZE], b[TK_FORMAT_SIZE], text[512];
	double ns = json_number_value(json_object_get(said, "ns"));
	json_object_set_new(r->result, "referee", said);
	if (!json_is_true(json_object_get(said, "passed"))) {
		snprintf(text, sizeof text, "with inputs of the referee: %s",
		        json_string_value(json_object_get(said, "detail")));
		json_object_set_new(tk_measurement_get_field(r->result, TK_MEASUREMENT_VERIFY),
		        tk_measurement_field_key(TK_MEASUREMENT_VERIFY_PASSED), json_false());
		set_outcome(r, TK_OUTCOME_WRONG, text);
	} else if (!json_is_true(json_object_get(said, "agrees"))) {
		snprintf(text, sizeof text, "%s for a launch; the referee saw %s",
		        tk_format_value(r->time.median, "ns", a), tk_format_value(ns, "ns", b));
		set_outcome(r, TK_OUTCOME_IMPLAUSIBLE, text);
	}
}

/* The worker's own answer to "bursts". NULL: it has ended or refused, with its outcome in *w. */
static int receive_bursts(struct tk_worker *w, json_t **result, struct tk_error *err)
{
	json_t *answer = w->burst_answer;
	w->burst_answer = NULL;
	int status = w->process.pid ? TK_OK : TK_EXCHANGE_ENDED;
	if (!status && !answer)
		status = tk_exchange_receive(w, &answer, err);
	if (!status)
		status = tk_exchange_unwrap(w, answer, result);
	return status < 0 ? status : TK_OK;
}

/* It cannot judge such a problem, or had no memory for it: the result stays as it is. */
static bool is_unjudged(const struct tk_worker *referee, const json_t *said)
{
	return !said && (referee->outcome == TK_OUTCOME_UNSUPPORTED ||
	                        referee->outcome == TK_OUTCOME_OUT_OF_MEMORY);
}

/* The outcome of a judgement. `said` NULL: the referee could not judge; `served` NULL: the worker
 * has not answered as it should. */
static void decide(struct tk_worker *w, json_t *said, const json_t *served, struct tk_job_result *r)
{
	const struct tk_worker *referee = w->referee;
	if (said)
		apply(r, json_incref(said));
	else if (is_unjudged(referee, said))
		json_object_set_new(
		        r->result, "referee", json_pack("{s:s}", "detail", referee->message));
	else if (served || !w->message[0])
		set_outcome(r, TK_OUTCOME_FAILED, referee->message);
	if (!served && !is_unjudged(referee, said) && tk_outcome_has_timing(r->outcome))
		set_outcome(r, w->outcome, w->message);
}

static int finish(
        struct tk_worker *w, json_t *said, struct tk_job_result *out, struct tk_error *err)
{
	json_auto_t *served = NULL;
	if (is_unjudged(w->referee, said)) /* the worker still waits for the referee's memory */
		tk_worker_end_process(w, 0);
	else
		TRY(receive_bursts(w, &served, err));
	*out = w->claim;
	w->claim = (struct tk_job_result){0};
	out->wall_s = (double)(tk_clock_monotonic_ns() - w->pending.start_ns) * 1e-9;
	decide(w, said, served, out);
	if (!tk_outcome_has_timing(out->outcome))
		tk_worker_end_process(w, 0);
	tk_judging_end(w);
	return TK_OK;
}

int tk_judging_poll(
        struct tk_worker *w, bool wait, bool *done, struct tk_job_result *out, struct tk_error *err)
{
	json_t *answer = NULL;
	json_auto_t *said = NULL;
	*done = false;
	int status = tk_exchange_poll(w->referee, wait, &answer, err);
	if (status == TK_EXCHANGE_PENDING && w->process.pid && !w->burst_answer)
		status = tk_exchange_poll(w, false, &w->burst_answer, err) < 0 ? TK_ECANCELED
		                                                               : status;
	if (status < 0 || status == TK_EXCHANGE_PENDING)
		return status < 0 ? status : TK_OK;
	if (!status)
		tk_exchange_unwrap(w->referee, answer, &said);
	*done = true;
	return finish(w, said, out, err);
}
