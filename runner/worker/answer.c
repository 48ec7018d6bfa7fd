/* See answer.h. docs/reference/worker-protocol.md describes the members; others are dropped. */
#include "worker/answer.h"
#include "base/base.h"
#include "core/measurement_fields.h"
#include "measure/measure.h"
#include "worker/wire.h"
#include <math.h>

/* ---- the members ---- */

/* clang-format off */
#define AT(type, member) offsetof(struct type, member), sizeof(((struct type *)0)->member)
#define REAL(key, flags, max, type, member) \
	{key, TK_FIELD_REAL, flags, max, TK_STORED_DOUBLE, AT(type, member), NULL}
#define REAL_OR_NULL(key, flags, max, type, member) \
	{key, TK_FIELD_REAL_OR_NULL, flags, max, TK_STORED_DOUBLE, AT(type, member), NULL}
#define U64(key, flags, max, type, member) \
	{key, TK_FIELD_COUNT, flags, max, TK_STORED_U64, AT(type, member), NULL}
#define I64(key, flags, max, type, member) \
	{key, TK_FIELD_COUNT, flags, max, TK_STORED_I64, AT(type, member), NULL}
#define U32(key, flags, max, type, member) \
	{key, TK_FIELD_COUNT, flags, max, TK_STORED_U32, AT(type, member), NULL}
#define FLAG(key, flags, type, member) \
	{key, TK_FIELD_FLAG, flags, 0, TK_STORED_BOOL, AT(type, member), NULL}
#define FLAG_U32(key, flags, type, member) \
	{key, TK_FIELD_FLAG, flags, 0, TK_STORED_U32, AT(type, member), NULL}
#define TEXT(key, flags, max, type, member) \
	{key, TK_FIELD_TEXT, flags, max, TK_STORED_CHARS, AT(type, member), NULL}
#define POINTER(key, flags, max, type, member) \
	{key, TK_FIELD_TEXT, flags, max, TK_STORED_POINTER, AT(type, member), NULL}
#define WORD(key, flags, max, storage, type, member) \
	{key, TK_FIELD_TEXT, flags, max, storage, AT(type, member), NULL}
#define OBJECT(key, flags, fields, type, member) \
	{key, TK_FIELD_OBJECT, flags, 0, TK_STORED_MEMBERS, AT(type, member), fields}
/* An object of members of the struct itself. */
#define PART(key, flags, type, fields) \
	{key, TK_FIELD_OBJECT, flags, 0, TK_STORED_MEMBERS, 0, sizeof(struct type), fields}
#define EXTERNAL(key, kind, flags, max) {key, kind, flags, max, TK_STORED_ELSEWHERE, 0, 0, NULL}
#define END {NULL, TK_FIELD_REAL, 0, 0, TK_STORED_ELSEWHERE, 0, 0, NULL}

enum { ALWAYS = TK_FIELD_REQUIRED, TIMED = TK_FIELD_REQUIRED_IF_TIMED,
	RESULT = TIMED | TK_FIELD_ONLY_IF_TIMED,
	IF_TIMED = TK_FIELD_ONLY_IF_TIMED, KNOWN = TK_FIELD_ONLY_IF_KNOWN };

/* The kinds of core/measurement_fields.h. */
#define KIND_REAL REAL
#define KIND_REAL_OR_NULL REAL_OR_NULL
#define KIND_U64 U64
#define KIND_I64 I64
#define KIND_U32 U32
#define KIND_TEXT TEXT
#define KIND_FLAG(key, flags, max, type, member) FLAG(key, flags, type, member)
#define KIND_FLAG_U32(key, flags, max, type, member) FLAG_U32(key, flags, type, member)
#define KIND_OUTCOME(key, flags, max, type, member) \
	WORD(key, flags, max, TK_STORED_OUTCOME, type, member)
#define KIND_STOP(key, flags, max, type, member) WORD(key, flags, max, TK_STORED_STOP, type, member)
#define KIND_MODE(key, flags, max, type, member) WORD(key, flags, max, TK_STORED_MODE, type, member)
#define KIND_SAMPLES(key, flags, max, type, member) EXTERNAL(key, TK_FIELD_SAMPLES, flags, max)
#define KIND_VERIFY(key, flags, max, type, member) OBJECT(key, flags, verify_fields, type, member)
#define KIND_PLAN(key, flags, max, type, member) OBJECT(key, flags, plan_fields, type, member)
#define KIND_TELEMETRY(key, flags, max, type, member) \
	OBJECT(key, flags, telemetry_fields, type, member)
#define KIND_TELEMETRY_PAIR(key, flags, max, type, member) \
	PART(key, flags, type, telemetry_pair_fields)

#define TELEMETRY_ROW(id, key, kind, presence, max, member, unit, title) \
	KIND_##kind(key, presence, max, tk_telemetry, member),
#define VERIFY_ROW(id, key, kind, presence, max, member, unit, title) \
	KIND_##kind(key, presence, max, tk_verify_result, member),
#define PLAN_ROW(id, key, kind, presence, max, member, unit, title) \
	KIND_##kind(key, presence, max, tk_plan_info, member),
#define MEASUREMENT_ROW(id, key, kind, presence, max, member, unit, title) \
	KIND_##kind(key, presence, max, tk_measurement, member),

static const struct tk_field telemetry_fields[] = {TK_TELEMETRY_FIELDS(TELEMETRY_ROW) END};
static const struct tk_field telemetry_pair_fields[] = {
	TK_MEASUREMENT_TELEMETRY_PAIR_FIELDS(MEASUREMENT_ROW) END};
static const struct tk_field verify_fields[] = {TK_MEASUREMENT_VERIFY_FIELDS(VERIFY_ROW) END};
static const struct tk_field plan_fields[] = {TK_MEASUREMENT_PLAN_FIELDS(PLAN_ROW) END};
const struct tk_field tk_measurement_fields[] = {TK_MEASUREMENT_FIELDS(MEASUREMENT_ROW) END};

static const struct tk_field resident_fields[] = {
	U64("l1", KNOWN, 1e18, tk_device_info, resident_bytes[0]),
	U64("l2", KNOWN, 1e18, tk_device_info, resident_bytes[1]),
	U64("l3", KNOWN, 1e18, tk_device_info, resident_bytes[2]),
	END,
};

const struct tk_field tk_device_info_fields[] = {
	TEXT("kind", ALWAYS, 16, tk_device_info, kind),
	TEXT("name", ALWAYS, 128, tk_device_info, name),
	TEXT("uuid", ALWAYS, 80, tk_device_info, uuid),
	TEXT("arch", ALWAYS, 32, tk_device_info, arch),
	U64("memory_bytes", ALWAYS, 1e18, tk_device_info, memory_bytes),
	U64("cache_bytes", ALWAYS, 1e18, tk_device_info, cache_bytes),
	PART("resident_bytes", 0, tk_device_info, resident_fields),
	U32("compute_units", ALWAYS, 1e9, tk_device_info, compute_units),
	U32("numa_node", ALWAYS, 1e9, tk_device_info, numa_node),
	TEXT("driver", ALWAYS, 64, tk_device_info, driver),
	{"attributes", TK_FIELD_ANY_OBJECT, ALWAYS, 0, TK_STORED_JSON,
		AT(tk_device_info, attributes), NULL},
	EXTERNAL("count", TK_FIELD_COUNT, ALWAYS, 1e6),
	END,
};

const struct tk_field tk_backend_fields[] = {
	POINTER("name", ALWAYS, 64, tk_backend, name),
	POINTER("description", ALWAYS, 512, tk_backend, description),
	POINTER("device_kind", ALWAYS, 16, tk_backend, device_kind),
	EXTERNAL("version", TK_FIELD_TEXT, ALWAYS, 256),
	EXTERNAL("abi", TK_FIELD_VERSION, ALWAYS, 0),
	EXTERNAL("operations", TK_FIELD_WORDS, 0, 32),
	END,
};
/* clang-format on */

#undef AT
#undef END

/* ---- writing ---- */

static json_t *encode_count(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

/* Text that is no JSON object becomes an empty one: backends write it. */
static json_t *encode_json(const char *text, size_t size)
{
	json_t *object = json_loadb(text, size, JSON_DISABLE_EOF_CHECK, NULL);
	if (json_is_object(object))
		return object;
	json_decref(object);
	return json_object();
}

#define VALUE(type) (*(const type *)at)

static json_t *encode_value(const struct tk_field *f, const void *at, bool is_timed)
{
	switch (f->storage) {
	case TK_STORED_DOUBLE:
		return tk_json_number(VALUE(double));
	case TK_STORED_U64:
		return encode_count(VALUE(uint64_t));
	case TK_STORED_I64:
		return encode_count((uint64_t)VALUE(int64_t));
	case TK_STORED_U32:
		return f->type == TK_FIELD_FLAG ? json_boolean(VALUE(uint32_t))
		                                : encode_count(VALUE(uint32_t));
	case TK_STORED_BOOL:
		return json_boolean(VALUE(bool));
	case TK_STORED_CHARS:
		return tk_wire_json_string(at, f->size);
	case TK_STORED_POINTER:
		return tk_wire_json_string(VALUE(const char *), (size_t)f->max);
	case TK_STORED_JSON:
		return encode_json(at, f->size);
	case TK_STORED_OUTCOME:
		return json_string(tk_outcome_name(VALUE(enum tk_outcome)));
	case TK_STORED_MODE:
		return json_string(tk_mode_name(VALUE(enum tk_mode)));
	case TK_STORED_STOP:
		return json_string(tk_stop_name(VALUE(enum tk_stop)));
	default:
		return tk_fields_encode(f->fields, at, is_timed);
	}
}

static bool is_known(const struct tk_field *f, const void *at)
{
	return f->storage == TK_STORED_DOUBLE ? isfinite(VALUE(double)) : VALUE(uint64_t) != 0;
}

json_t *tk_fields_encode(const struct tk_field *fields, const void *source, bool is_timed)
{
	json_t *object = json_object();
	for (const struct tk_field *f = fields; f->name; f++) {
		const void *at = (const char *)source + f->offset;
		if (f->storage == TK_STORED_ELSEWHERE ||
		        (f->flags & TK_FIELD_ONLY_IF_TIMED && !is_timed) ||
		        (f->flags & TK_FIELD_ONLY_IF_KNOWN && !is_known(f, at)))
			continue;
		json_object_set_new(object, f->name, encode_value(f, at, is_timed));
	}
	return object;
}

/* ---- checking ---- */

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
	TRY(check_value(v, f, err));
	if (f->type == TK_FIELD_OBJECT && copy_fields(v, f->fields, required, &copy, err))
		return tk_error_add_context(err, "%s", f->name);
	if (f->type == TK_FIELD_TEXT)
		copy = tk_wire_json_string(json_string_value(v), json_string_length(v));
	else if (!copy)
		copy = json_incref((json_t *)v);
	json_object_set_new(to, f->name, copy);
	return TK_OK;
}

/* A new object with the known members of `from`. `required`: the flags of those that must be
 * there. */
static int copy_fields(const json_t *from, const struct tk_field *fields, int required,
        json_t **out, struct tk_error *err)
{
	json_t *to = json_object();
	int status = TK_OK;
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

static int check_consistency(const json_t *r, struct tk_error *err)
{
	const struct tk_measured_time t = tk_measurement_read_time(r);
	const json_t *verify = tk_measurement_get_field(r, TK_MEASUREMENT_VERIFY);
	size_t n = json_array_size(tk_measurement_get_field(r, TK_MEASUREMENT_SAMPLES));
	if (t.n != (int64_t)n)
		return tk_fail(err, TK_EDATA, "n is not the number of samples, %zu", n);
	if (!(t.min <= t.q25 && t.q25 <= t.median && t.median <= t.q75 && t.lo <= t.median &&
	            t.median <= t.hi && t.median > 0))
		return tk_fail(err, TK_EDATA,
		        "inconsistent summary: min %g, q25 %g, median %g, q75 %g, interval %g to "
		        "%g",
		        t.min, t.q25, t.median, t.q75, t.lo, t.hi);
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
	return TK_OK;
}
