/* See answer_check.h. Members that are not in the tables of fields.h are dropped. */
#include "worker/answer_check.h"
#include "base/error.h"
#include "base/try.h"
#include "core/measurement_fields.h"
#include "worker/fields.h"
#include "worker/wire.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static int check_samples(const json_t *v, const char *name, struct tk_error *err)
{
	size_t n = json_array_size(v);
	if (!json_is_array(v) || n == 0 || n > TK_MEASUREMENT_SAMPLES_MAX)
		return tk_fail(err, TK_EDATA, "%s is not an array of 1 to %d numbers", name,
		        TK_MEASUREMENT_SAMPLES_MAX);
	for (size_t i = 0; i < n; i++) {
		const json_t *x = json_array_get(v, i);
		double ns = json_number_value(x);
		if (!json_is_number(x) || !isfinite(ns) || ns < 0)
			return tk_fail(err, TK_EDATA,
			        "%s[%zu] is not a finite number of nanoseconds", name, i);
	}
	return TK_OK;
}

/* Temperature and energy may be negative, times and counts may not. */
static bool is_in_range(const json_t *v, const struct tk_field *f)
{
	double x = json_number_value(v), min = f->type == TK_FIELD_REAL_OR_NULL ? -f->max : 0;
	return json_is_number(v) && isfinite(x) && x >= min && x <= f->max;
}

static bool is_version(const json_t *v)
{
	return json_is_array(v) && json_array_size(v) == 2 &&
	       json_is_integer(json_array_get(v, 0)) && json_is_integer(json_array_get(v, 1));
}

#define WORD_MAX_BYTES 32

static bool is_list_of_words(const json_t *v, const struct tk_field *f)
{
	size_t i;
	const json_t *word;
	if (!json_is_array(v) || (double)json_array_size(v) > f->max)
		return false;
	json_array_foreach (v, i, word)
		if (!json_is_string(word) || json_string_length(word) > WORD_MAX_BYTES)
			return false;
	return true;
}

static int check_value(const json_t *v, const struct tk_field *f, struct tk_error *err)
{
	bool valid;
	const char *expected;
	switch (f->type) {
	case TK_FIELD_SAMPLES:
		return check_samples(v, f->name, err);
	case TK_FIELD_TEXT:
		if (json_is_string(v) && (double)json_string_length(v) <= f->max)
			return TK_OK;
		return tk_fail(
		        err, TK_EDATA, "%s is not a text of at most %.0f bytes", f->name, f->max);
	case TK_FIELD_REAL_OR_NULL:
		valid = json_is_null(v) || is_in_range(v, f);
		expected = "null or a number in range";
		break;
	case TK_FIELD_REAL:
		valid = is_in_range(v, f);
		expected = "a number in range";
		break;
	case TK_FIELD_COUNT:
		valid = json_is_integer(v) && is_in_range(v, f);
		expected = "an integer in range";
		break;
	case TK_FIELD_FLAG:
		valid = json_is_boolean(v);
		expected = "true or false";
		break;
	case TK_FIELD_VERSION:
		valid = is_version(v);
		expected = "a pair of version numbers";
		break;
	case TK_FIELD_WORDS:
		valid = is_list_of_words(v, f);
		expected = "a list of words";
		break;
	default:
		valid = json_is_object(v);
		expected = "an object";
	}
	return valid ? TK_OK : tk_fail(err, TK_EDATA, "%s is not %s", f->name, expected);
}

static int copy_fields(const json_t *from, const struct tk_field *fields, int required,
        json_t **out, struct tk_error *err);

static int copy_field(
        const json_t *v, const struct tk_field *f, int required, json_t *to, struct tk_error *err)
{
	json_t *copy = NULL;
	int status = check_value(v, f, err);
	if (status)
		return status;
	if (f->type == TK_FIELD_OBJECT)
		status = copy_fields(v, f->fields, required, &copy, err);
	else if (f->type == TK_FIELD_TEXT)
		copy = tk_wire_json_string(json_string_value(v), json_string_length(v));
	else
		copy = json_incref((json_t *)v);
	if (status)
		return tk_error_add_context(err, "%s", f->name);
	return json_object_set_new(to, f->name, copy) ? tk_fail(err, TK_ENOMEM, "out of memory")
	                                              : TK_OK;
}

/* A new object with the known members of `from`. `required`: the flags of those that must be
 * there. */
static int copy_fields(const json_t *from, const struct tk_field *fields, int required,
        json_t **out, struct tk_error *err)
{
	json_t *to = json_object();
	int status = to ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory");
	for (const struct tk_field *f = fields; !status && f->name; f++) {
		const json_t *v = json_object_get(from, f->name);
		if (v)
			status = copy_field(v, f, required, to, err);
		else if (f->flags & required)
			status = tk_fail(err, TK_EDATA, "%s is missing", f->name);
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
		return tk_fail(err, TK_EDATA, "%s is missing or not a text", name);
	snprintf(out, size, "%s", json_string_value(v));
	out[size - 1] = 0;
	tk_wire_sanitize(out);
	return TK_OK;
}

static int copy_outcome(const json_t *object, enum tk_outcome *out, struct tk_error *err)
{
	char name[32];
	TRY(copy_text(
	        object, tk_measurement_field_key(TK_MEASUREMENT_OUTCOME), name, sizeof name, err));
	if (tk_outcome_parse(name, out))
		return tk_fail(err, TK_EDATA, "unknown outcome \"%s\"", name);
	return TK_OK;
}

int tk_answer_unwrap(const json_t *answer, int64_t id, json_t **result, enum tk_outcome *outcome,
        char *message, size_t size, struct tk_error *err)
{
	const json_t *answer_id = json_object_get(answer, "id"),
	             *ok = json_object_get(answer, "ok");
	json_t *object = json_object_get(answer, "result");
	if (!json_is_integer(answer_id) || json_integer_value(answer_id) != id)
		return tk_fail(err, TK_EDATA, "not an answer to request %lld", (long long)id);
	if (!json_is_boolean(ok))
		return tk_fail(err, TK_EDATA, "ok is not true or false");
	*result = NULL;
	if (json_is_true(ok)) {
		if (!json_is_object(object))
			return tk_fail(err, TK_EDATA, "result is missing or not an object");
		*result = json_incref(object);
		return TK_OK;
	}
	TRY(copy_outcome(answer, outcome, err));
	if (tk_outcome_has_timing(*outcome))
		return tk_fail(err, TK_EDATA, "\"%s\" is not an outcome of a failed job",
		        tk_outcome_name(*outcome));
	return copy_text(answer, "message", message, size, err);
}

/* The members must agree with each other. */
static int check_consistency(const json_t *r, struct tk_error *err)
{
	double lo = tk_measurement_get_number(r, TK_MEASUREMENT_LO, 0),
	       hi = tk_measurement_get_number(r, TK_MEASUREMENT_HI, 0),
	       median = tk_measurement_get_number(r, TK_MEASUREMENT_MEDIAN, 0);
	double min = tk_measurement_get_number(r, TK_MEASUREMENT_MIN, 0),
	       q25 = tk_measurement_get_number(r, TK_MEASUREMENT_Q25, 0),
	       q75 = tk_measurement_get_number(r, TK_MEASUREMENT_Q75, 0);
	const json_t *verify = tk_measurement_get_field(r, TK_MEASUREMENT_VERIFY);
	size_t n = json_array_size(tk_measurement_get_field(r, TK_MEASUREMENT_SAMPLES));
	if (json_integer_value(tk_measurement_get_field(r, TK_MEASUREMENT_N)) != (json_int_t)n)
		return tk_fail(err, TK_EDATA, "n is not the number of samples, %zu", n);
	if (!(min <= q25 && q25 <= median && median <= q75 && lo <= median && median <= hi &&
	            median > 0))
		return tk_fail(err, TK_EDATA,
		        "inconsistent summary: min %g, q25 %g, median %g, q75 %g, interval %g to "
		        "%g",
		        min, q25, median, q75, lo, hi);
	if (json_is_true(tk_measurement_get_field(verify, TK_MEASUREMENT_VERIFY_DONE)) &&
	        !json_is_true(tk_measurement_get_field(verify, TK_MEASUREMENT_VERIFY_PASSED)))
		return tk_fail(err, TK_EDATA, "a timing of a wrong result");
	return TK_OK;
}

int tk_answer_check_measurement(const json_t *result, enum tk_outcome *outcome, char *message,
        size_t size, json_t **clean, struct tk_error *err)
{
	json_t *copy = NULL;
	int status = copy_outcome(result, outcome, err);
	if (!status)
		status = copy_text(result, tk_measurement_field_key(TK_MEASUREMENT_MESSAGE),
		        message, size, err);
	if (status)
		return status;
	bool is_timed = tk_outcome_has_timing(*outcome);
	int required = TK_FIELD_REQUIRED | (is_timed ? TK_FIELD_REQUIRED_IF_TIMED : 0);
	status = copy_fields(result, tk_measurement_fields, required, &copy, err);
	if (!status && is_timed)
		status = check_consistency(copy, err);
	if (status)
		json_decref(copy);
	else
		*clean = copy;
	return status;
}

int tk_answer_check_device(const json_t *result, json_t **clean, struct tk_error *err)
{
	return copy_fields(result, tk_device_info_fields, TK_FIELD_REQUIRED, clean, err);
}

int tk_answer_check_backend(const json_t *result, json_t **clean, struct tk_error *err)
{
	return copy_fields(result, tk_backend_fields, TK_FIELD_REQUIRED, clean, err);
}

static bool is_config_name(const json_t *v)
{
	size_t length = json_string_length(v);
	return json_is_string(v) && length > 0 && length < TK_WORKER_CONFIG_SIZE &&
	       strlen(json_string_value(v)) == length;
}

int tk_answer_check_configs(const json_t *result, json_t **clean, struct tk_error *err)
{
	const json_t *list = json_object_get(result, "configs"), *name;
	size_t i;
	if (!json_is_array(list) || json_array_size(list) > TK_WORKER_CONFIGS_MAX)
		return tk_fail(err, TK_EDATA, "configs is not an array of at most %d names",
		        TK_WORKER_CONFIGS_MAX);
	json_array_foreach (list, i, name)
		if (!is_config_name(name))
			return tk_fail(err, TK_EDATA, "configs[%zu] is not a name of 1 to %d bytes",
			        i, TK_WORKER_CONFIG_SIZE - 1);
	*clean = json_pack("{s:O, s:b}", "configs", list, "space",
	        json_is_true(json_object_get(result, "space")));
	return *clean ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory");
}
