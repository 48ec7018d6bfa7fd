/* A result of `tracker run` under the names that public benchmark runners use, so that scripts
 * written for them read it. */
#include "cli/host/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/markup.h"
#include "cli/rate.h"
#include "core/measurement_fields.h"
#include "core/outcome.h"

static json_t *parse_value(const char *text)
{
	char *end;
	double x = strtod(text, &end);

	if (end == text || *end || !isfinite(x))
		return json_string(text);
	return x == floor(x) && fabs(x) < 0x1p53 ? json_integer((json_int_t)x) : json_real(x);
}

/* The keys of the canonical text; `dtype` is the type of the operands in every operation. */
static json_t *problem_size(const struct tk_problem_spec *problem)
{
	char text[TK_PROBLEM_TEXT_MAX], *rest = strchr(problem->text, ':') ? text : NULL;
	json_t *o = json_object();

	if (rest)
		snprintf(text, sizeof text, "%s", strchr(problem->text, ':') + 1);
	for (char *word; rest && (word = strsep(&rest, ","));) {
		char *value = strchr(word, '=');

		if (!value)
			continue;
		*value++ = '\0';
		json_object_set_new(o, word, parse_value(value));
	}
	if (!json_object_get(o, "dtype") && json_object_get(o, "a"))
		json_object_set(o, "dtype", json_object_get(o, "a"));
	return o;
}

/* "sm_90" is 9.0, "sm_103" is 10.3, "sm_90a" is 9.0. */
static json_t *compute_capability(const char *arch)
{
	char text[16];
	char *end;
	long number = strncmp(arch, "sm_", 3) == 0 ? strtol(arch + 3, &end, 10) : 0;

	if (number < 10 || number > 9999)
		return json_null();
	snprintf(text, sizeof text, "%ld.%ld", number / 10, number % 10);
	return json_string(text);
}

void tk_run_set_runner_members(json_t *o, const struct tk_run_device *device,
        const struct tk_problem_spec *problem, const struct tk_rate *rate,
        const struct tk_job_result *job)
{
	bool is_timed = tk_outcome_has_timing(job->outcome);
	double median_ns = NAN, plan_s = NAN;

	if (is_timed) {
		median_ns = tk_measurement_get_number(job->result, TK_MEASUREMENT_MEDIAN, NAN);
		plan_s = tk_measurement_get_number(job->result, TK_MEASUREMENT_PLAN_S, NAN);
	}
	json_object_set_new(o, "kernel", json_stringn(problem->text, strcspn(problem->text, ":")));
	json_object_set_new(o, "gpu_model", json_string(device->model));
	json_object_set_new(o, "arch", json_string(device->arch));
	json_object_set_new(o, "compute_capability", compute_capability(device->arch));
	json_object_set_new(o, "problem_size", problem_size(problem));
	json_object_set_new(o, "latency_ms", tk_json_number(median_ns / 1e6));
	json_object_set_new(o, "tflops", tk_json_number(rate->gflop_per_s / 1e3));
	json_object_set_new(o, "compilation_time", tk_json_number(plan_s));
}
