/* See answer.h. One table a kind of answer; what is not in the table does not pass. */
#include "worker/answer_check.h"
#include "base/error.h"
#include "worker/wire.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum type { REAL, REAL_OR_NULL, COUNT, TEXT, FLAG, OBJECT, SAMPLES, VERSION, ANY_OBJECT };

enum {
	ALWAYS = 1,
	TIMED = 2
}; /* needed in every result; needed where there is a timing that counts */

struct field {
	const char *name;
	enum type type;
	int needed;
	double most;                /* REAL: largest value; TEXT: longest text in bytes */
	const struct field *fields; /* OBJECT */
};

/* clang-format off */
static const struct field telemetry_fields[] = {
	{"clock_mhz", REAL_OR_NULL, TIMED, 1e7}, {"memory_clock_mhz", REAL_OR_NULL, TIMED, 1e7}, {"power_w", REAL_OR_NULL, TIMED, 1e7},
	{"temperature_c", REAL_OR_NULL, TIMED, 1e4}, {"energy_j", REAL_OR_NULL, TIMED, 1e15}, {"load", REAL_OR_NULL, TIMED, 1e7},
	{"throttled", FLAG, TIMED}, {"reasons", TEXT, TIMED, 128}, {NULL},
};
static const struct field both_fields[] = {
	{"before", OBJECT, TIMED, 0, telemetry_fields}, {"after", OBJECT, TIMED, 0, telemetry_fields}, {NULL},
};
static const struct field verify_fields[] = {
	{"done", FLAG, ALWAYS}, {"passed", FLAG, ALWAYS}, {"method", TEXT, ALWAYS, 64}, {"max_error", REAL_OR_NULL, ALWAYS, INFINITY},
	{"tolerance", REAL_OR_NULL, ALWAYS, INFINITY}, {"checked", COUNT, ALWAYS, 1e18}, {"detail", TEXT, ALWAYS, 512}, {NULL},
};
static const struct field plan_fields[] = {
	{"kernel", TEXT, TIMED, 256}, {"algorithm", TEXT, TIMED, 256}, {"workspace_bytes", COUNT, TIMED, 1e18},
	{"capturable", FLAG, TIMED}, {"deterministic", FLAG, TIMED}, {NULL},
};
static const struct field measurement_fields[] = {
	{"outcome", TEXT, ALWAYS, 32}, {"message", TEXT, ALWAYS, 1024},
	{"samples", SAMPLES, TIMED}, {"launches_per_sample", COUNT, TIMED, 1e9},
	{"median", REAL, TIMED, 1e18}, {"lo", REAL, TIMED, 1e18}, {"hi", REAL, TIMED, 1e18}, {"confidence", REAL, TIMED, 1},
	{"n", COUNT, TIMED, TK_WIRE_SAMPLES_MAX}, {"min", REAL, TIMED, 1e18}, {"q25", REAL, TIMED, 1e18}, {"q75", REAL, TIMED, 1e18},
	{"p95", REAL, TIMED, 1e18}, {"stop", TEXT, TIMED, 16}, {"warmup_s", REAL, TIMED, 1e9}, {"measure_s", REAL, TIMED, 1e9},
	{"setup_s", REAL, TIMED, 1e9}, {"verify_s", REAL, TIMED, 1e9}, {"launch_ns", REAL_OR_NULL, TIMED, 1e18},
	{"verify", OBJECT, TIMED, 0, verify_fields}, {"plan", OBJECT, TIMED, 0, plan_fields},
	{"flops", REAL, TIMED, 1e30}, {"bytes", REAL, TIMED, 1e30}, {"sets", COUNT, TIMED, 1e6},
	{"throttled_samples", COUNT, TIMED, TK_WIRE_SAMPLES_MAX}, {"telemetry", OBJECT, TIMED, 0, both_fields},
	{"mode", TEXT, 0, 16}, {"clock_mhz", REAL_OR_NULL, 0, 1e7}, {"clock_min_mhz", REAL_OR_NULL, 0, 1e7}, {"cycles", REAL_OR_NULL, 0, 1e18},
	{"inputs_s", REAL, 0, 1e9}, {"plan_s", REAL, 0, 1e9},
	{"rest_ns", REAL, 0, 1e18}, {"energy_j", REAL_OR_NULL, 0, 1e15}, {"device_bytes", COUNT, 0, 1e18}, {NULL},
};
static const struct field resident_fields[] = {
	{"l1", COUNT, 0, 1e18}, {"l2", COUNT, 0, 1e18}, {"l3", COUNT, 0, 1e18}, {NULL},
};
static const struct field device_fields[] = {
	{"kind", TEXT, ALWAYS, 16}, {"name", TEXT, ALWAYS, 128}, {"uuid", TEXT, ALWAYS, 80}, {"arch", TEXT, ALWAYS, 32},
	{"memory_bytes", COUNT, ALWAYS, 1e18}, {"cache_bytes", COUNT, ALWAYS, 1e18}, {"compute_units", COUNT, ALWAYS, 1e9},
	{"numa_node", COUNT, ALWAYS, 1e9}, {"resident_bytes", OBJECT, 0, 0, resident_fields}, {"count", COUNT, ALWAYS, 1e6}, {"driver", TEXT, ALWAYS, 64}, {"attributes", ANY_OBJECT, ALWAYS}, {NULL},
};
static const struct field backend_fields[] = {
	{"name", TEXT, ALWAYS, 64}, {"description", TEXT, ALWAYS, 512}, {"device_kind", TEXT, ALWAYS, 16}, {"version", TEXT, ALWAYS, 256},
	{"abi", VERSION, ALWAYS}, {NULL},
};
/* clang-format on */

static int check_samples(const json_t *v, const char *name, struct tk_error *err)
{
	if (!json_is_array(v) || json_array_size(v) == 0 ||
	        json_array_size(v) > TK_WIRE_SAMPLES_MAX)
		return tk_fail(err, TK_EDATA, "%s is no array of 1 to %d numbers", name,
		        TK_WIRE_SAMPLES_MAX);
	for (size_t i = 0; i < json_array_size(v); i++) {
		const json_t *x = json_array_get(v, i);
		if (!json_is_number(x) || !isfinite(json_number_value(x)) ||
		        json_number_value(x) < 0)
			return tk_fail(err, TK_EDATA, "%s[%zu] is no finite number of nanoseconds",
			        name, i);
	}
	return TK_OK;
}

static bool good_number(const json_t *v, const struct field *f)
{
	/* Temperatures and energies may be below zero, times and counts may not; none of them
	 * matters below -most. */
	double least = f->type == REAL_OR_NULL ? -f->most : 0;
	return json_is_number(v) && isfinite(json_number_value(v)) &&
	       json_number_value(v) >= least && json_number_value(v) <= f->most;
}

static int check_value(const json_t *v, const struct field *f, struct tk_error *err)
{
	switch (f->type) {
	case REAL_OR_NULL:
		if (json_is_null(v) || good_number(v, f))
			return TK_OK;
		return tk_fail(err, TK_EDATA, "%s is neither null nor a sensible number", f->name);
	case REAL:
		return good_number(v, f)
		               ? TK_OK
		               : tk_fail(err, TK_EDATA, "%s is no sensible number", f->name);
	case COUNT:
		return json_is_integer(v) && good_number(v, f)
		               ? TK_OK
		               : tk_fail(err, TK_EDATA, "%s is no sensible count", f->name);
	case TEXT:
		if (json_is_string(v) && (double)json_string_length(v) <= f->most)
			return TK_OK;
		return tk_fail(
		        err, TK_EDATA, "%s is no text of at most %.0f bytes", f->name, f->most);
	case FLAG:
		return json_is_boolean(v)
		               ? TK_OK
		               : tk_fail(err, TK_EDATA, "%s is neither true nor false", f->name);
	case SAMPLES:
		return check_samples(v, f->name, err);
	case VERSION:
		if (json_is_array(v) && json_array_size(v) == 2 &&
		        json_is_integer(json_array_get(v, 0)) &&
		        json_is_integer(json_array_get(v, 1)))
			return TK_OK;
		return tk_fail(err, TK_EDATA, "%s is no pair of version numbers", f->name);
	default:
		return json_is_object(v) ? TK_OK
		                         : tk_fail(err, TK_EDATA, "%s is no object", f->name);
	}
}

/* A new object with the known fields of `from`. `needed`: which of them must be there. */
static int copy_fields(const json_t *from, const struct field *fields, int needed, json_t **out,
        struct tk_error *err)
{
	json_t *to = json_object();
	int status = to ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory");
	for (const struct field *f = fields; status == TK_OK && f->name; f++) {
		json_t *v = json_object_get(from, f->name), *copy = NULL;
		if (!v) {
			if (f->needed & needed)
				status = tk_fail(err, TK_EDATA, "%s is missing", f->name);
			continue;
		}
		if ((status = check_value(v, f, err)))
			break;
		if (f->type == OBJECT)
			status = copy_fields(v, f->fields, needed, &copy, err);
		else if (f->type == TEXT)
			copy = tk_wire_json_string(json_string_value(v), json_string_length(v));
		else
			copy = json_incref(v);
		if (status)
			status = tk_error_add_context(err, "%s", f->name);
		else if (json_object_set_new(to, f->name, copy))
			status = tk_fail(err, TK_ENOMEM, "out of memory");
	}
	if (status)
		json_decref(to);
	else
		*out = to;
	return status;
}

static int copy_text(
        const json_t *object, const char *name, char *out, size_t size, struct tk_error *err)
{
	const json_t *v = json_object_get(object, name);
	if (!json_is_string(v))
		return tk_fail(err, TK_EDATA, "%s is missing or no text", name);
	snprintf(out, size, "%s", json_string_value(v));
	out[size - 1] = 0;
	tk_wire_sanitize(out);
	return TK_OK;
}

int tk_answer_unwrap(const json_t *answer, int64_t id, json_t **result, enum tk_outcome *outcome,
        char *message, size_t size, struct tk_error *err)
{
	const json_t *got = json_object_get(answer, "id"), *ok = json_object_get(answer, "ok");
	char word[32];
	if (!json_is_integer(got) || json_integer_value(got) != id)
		return tk_fail(
		        err, TK_EDATA, "an answer that is none to request %lld", (long long)id);
	if (!json_is_boolean(ok))
		return tk_fail(err, TK_EDATA, "ok is neither true nor false");
	*result = NULL;
	if (json_is_true(ok)) {
		if (!json_is_object(json_object_get(answer, "result")))
			return tk_fail(err, TK_EDATA, "result is missing or no object");
		*result = json_incref(json_object_get(answer, "result"));
		return TK_OK;
	}
	int status = copy_text(answer, "outcome", word, sizeof word, err);
	if (status == TK_OK && (tk_outcome_parse(word, outcome) || tk_outcome_has_timing(*outcome)))
		status = tk_fail(err, TK_EDATA, "`%s` is no outcome of a job that failed", word);
	return status ? status : copy_text(answer, "message", message, size, err);
}

/* What the numbers say of each other. */
static int check_consistency(const json_t *r, struct tk_error *err)
{
	double lo = json_number_value(json_object_get(r, "lo")),
	       hi = json_number_value(json_object_get(r, "hi"));
	double median = json_number_value(json_object_get(r, "median")),
	       least = json_number_value(json_object_get(r, "min"));
	double q25 = json_number_value(json_object_get(r, "q25")),
	       q75 = json_number_value(json_object_get(r, "q75"));
	size_t n = json_array_size(json_object_get(r, "samples"));
	if (json_integer_value(json_object_get(r, "n")) != (json_int_t)n)
		return tk_fail(err, TK_EDATA, "n is not the number of samples, %zu", n);
	if (!(least <= q25 && q25 <= median && median <= q75 && lo <= median && median <= hi &&
	            median > 0))
		return tk_fail(err, TK_EDATA,
		        "the summary contradicts itself: min %g, q25 %g, median %g, q75 %g, "
		        "interval %g to %g",
		        least, q25, median, q75, lo, hi);
	if (json_is_true(json_object_get(json_object_get(r, "verify"), "done")) &&
	        !json_is_true(json_object_get(json_object_get(r, "verify"), "passed")))
		return tk_fail(err, TK_EDATA, "a timing of a result that is wrong");
	return TK_OK;
}

int tk_answer_check_measurement(const json_t *result, enum tk_outcome *outcome, char *message,
        size_t size, json_t **clean, struct tk_error *err)
{
	char word[32];
	json_t *copy = NULL;
	int status = copy_text(result, "outcome", word, sizeof word, err);
	if (status == TK_OK && tk_outcome_parse(word, outcome))
		status = tk_fail(err, TK_EDATA, "`%s` is no outcome", word);
	if (status == TK_OK)
		status = copy_text(result, "message", message, size, err);
	if (status)
		return status;
	bool timed = tk_outcome_has_timing(*outcome);
	status = copy_fields(
	        result, measurement_fields, timed ? ALWAYS | TIMED : ALWAYS, &copy, err);
	if (status == TK_OK && timed)
		status = check_consistency(copy, err);
	if (status)
		json_decref(copy);
	else
		*clean = copy;
	return status;
}

int tk_answer_check_device(const json_t *result, json_t **clean, struct tk_error *err)
{
	return copy_fields(result, device_fields, ALWAYS, clean, err);
}

int tk_answer_check_backend(const json_t *result, json_t **clean, struct tk_error *err)
{
	return copy_fields(result, backend_fields, ALWAYS, clean, err);
}
