/* See recheck.h. */
#include "nightly/schedule/recheck.h"

#include "base/format.h"
#include "base/rng.h"
#include "core/measurement_fields.h"
#include "nightly/night.h"
#include "nightly/schedule/result.h"
#include "worker/worker.h"

#include <math.h>
#include <stdio.h>

/* The interval of the slower measurement must lie wholly above this multiple of the other's. Clocks
 * and caches do less. */
#define TIMES_MAX 2
#define RECHECK_MEASURE_S 0.1
#define RECHECK_SAMPLES_MAX 20

/* The same for a resumed night, and not known to a backend: it has not seen the night's seed. */
static uint64_t draw(const struct tk_night *n, const struct tk_night_job *job, uint64_t what)
{
	return tk_splitmix64(tk_splitmix64(n->seed ^ what << 56) ^ (uint64_t)job->row->seq);
}

bool tk_recheck_is_due(const struct tk_night *n, const struct tk_night_job *job,
        const struct tk_job_result *result)
{
	double fraction = (double)(draw(n, job, 1) >> 11) * 0x1p-53;
	return job->series.role == TK_ROLE_SUITE && result->result &&
	       tk_outcome_has_timing(result->outcome) && fraction < n->config->measure.recheck;
}

int tk_recheck_start(struct tk_night *n, const struct tk_night_job *job,
        const struct tk_job_request *request, struct tk_worker **out, struct tk_error *err)
{
	struct tk_job_request again = *request;
	struct tk_worker *worker = NULL;
	int status = tk_night_new_worker(n, job->device, &worker, err);
	if (status)
		return status;
	again.seed = draw(n, job, 2) >> 33;
	again.measure_s = fmin(again.measure_s, RECHECK_MEASURE_S);
	if (again.max_samples > RECHECK_SAMPLES_MAX)
		again.max_samples = RECHECK_SAMPLES_MAX;
	if (again.min_samples > again.max_samples)
		again.min_samples = again.max_samples;
	status = tk_worker_start_measure(worker, &again, err);
	if (status)
		tk_worker_free(worker);
	else
		*out = worker;
	return status;
}

/* ---- comparing ---- */

static void copy_member(
        json_t *to, const struct tk_job_result *from, enum tk_measurement_field field)
{
	json_t *value = tk_measurement_get_field(from->result, field);
	if (value)
		json_object_set(to, tk_measurement_field_key(field), value);
}

static void describe(struct tk_job_result *first, const struct tk_job_result *again)
{
	static const enum tk_measurement_field fields[] = {TK_MEASUREMENT_MEDIAN, TK_MEASUREMENT_LO,
	        TK_MEASUREMENT_HI, TK_MEASUREMENT_N, TK_MEASUREMENT_CHECK_SEED};
	json_t *o = json_object();
	tk_measurement_set_text(o, TK_MEASUREMENT_OUTCOME, tk_outcome_name(again->outcome));
	tk_measurement_set_text(o, TK_MEASUREMENT_MESSAGE, again->message);
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		copy_member(o, again, fields[i]);
	json_object_set_new(o, "wall_s", json_real(again->wall_s));
	json_object_set_new(first->result, "recheck", o);
}

static void set_outcome(
        struct tk_job_result *first, enum tk_outcome outcome, const char *text, const char *detail)
{
	snprintf(first->message, sizeof first->message, "%s%.800s", text, detail);
	first->outcome = outcome;
	tk_measurement_set_text(first->result, TK_MEASUREMENT_OUTCOME, tk_outcome_name(outcome));
	tk_measurement_set_text(first->result, TK_MEASUREMENT_MESSAGE, first->message);
}

/* Intervals, so that a few scattered samples are no difference. */
static bool differs(
        const struct tk_job_result *fast, const struct tk_job_result *slow, double min_ns)
{
	double lo = tk_measurement_get_number(slow->result, TK_MEASUREMENT_LO, 0),
	       hi = tk_measurement_get_number(fast->result, TK_MEASUREMENT_HI, 0);
	return lo > TIMES_MAX * hi && lo - hi > min_ns;
}

static bool compare_times(
        struct tk_job_result *first, const struct tk_job_result *again, double min_ns)
{
	char a[TK_FORMAT_SIZE], b[TK_FORMAT_SIZE], text[128];
	if (!differs(first, again, min_ns) && !differs(again, first, min_ns))
		return false;
	snprintf(text, sizeof text, "a new process took %s instead of %s",
	        tk_format_value(tk_measurement_get_number(again->result, TK_MEASUREMENT_MEDIAN, 0),
	                "ns", a),
	        tk_format_value(tk_measurement_get_number(first->result, TK_MEASUREMENT_MEDIAN, 0),
	                "ns", b));
	set_outcome(first, TK_OUTCOME_UNSTABLE, text, "");
	return true;
}

bool tk_recheck_compare(
        struct tk_job_result *first, const struct tk_job_result *again, double min_ns)
{
	describe(first, again);
	if (again->outcome == TK_OUTCOME_WRONG || again->outcome == TK_OUTCOME_IMPLAUSIBLE) {
		copy_member(first->result, again, TK_MEASUREMENT_VERIFY);
		set_outcome(first, again->outcome, "in a new process: ", again->message);
		return true;
	}
	return tk_outcome_has_timing(again->outcome) && compare_times(first, again, min_ns);
}
