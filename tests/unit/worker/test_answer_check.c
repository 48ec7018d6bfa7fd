/* Every field of an answer, missing, of the wrong type, out of range: one valid answer, spoiled in
 * one place at a time. */
#include "base/error.h"
#include "worker/answer_check.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char valid[] = "{\"outcome\":\"ok\",\"message\":\"\",\"samples\":[3,1,2],\"launches_"
                            "per_sample\":1,\"median\":2,\"lo\":1,"
                            "\"hi\":3,\"confidence\":0.95,"
                            "\"n\":3,\"min\":1,\"q25\":1.5,\"q75\":2.5,\"p95\":2.9,\"stop\":"
                            "\"tight\",\"warmup_s\":0.1,\"measure_s\":0.1,"
                            "\"setup_s\":0.1,\"verify_s\":0.1,"
                            "\"launch_ns\":null,\"verify\":{\"done\":true,\"passed\":true,"
                            "\"method\":\"rows\",\"max_error\":0.1,"
                            "\"tolerance\":1,\"checked\":4,"
                            "\"detail\":\"\"},\"plan\":{\"kernel\":\"k\",\"algorithm\":\"\","
                            "\"workspace_bytes\":0,\"capturable\":false,"
                            "\"deterministic\":true},"
                            "\"flops\":8,\"bytes\":8,\"sets\":2,\"throttled_samples\":0,"
                            "\"telemetry\":{\"before\":T,\"after\":T}}";
static const char telemetry[] = "{\"clock_mhz\":1,\"memory_clock_mhz\":null,\"power_w\":null,"
                                "\"temperature_c\":-3,\"energy_j\":null,"
                                "\"load\":0.5,\"throttled\":false,\"reasons\":\"\"}";

static json_t *valid_result(void)
{
	json_t *r, *t = json_loads(telemetry, 0, NULL), *both = json_object();
	char text[2048];
	snprintf(text, sizeof text, "%.*s\"x\":0}", (int)(strstr(valid, "\"telemetry\"") - valid),
	        valid);
	r = json_loads(text, 0, NULL);
	assert_non_null(r);
	json_object_set_new(both, "before", json_deep_copy(t));
	json_object_set_new(both, "after", t);
	json_object_set_new(r, "telemetry", both);
	return r;
}

static void a_valid_answer_loses_unknown_members(void **state)
{
	json_t *r = valid_result(), *clean = NULL;
	enum tk_outcome outcome;
	char message[64];
	struct tk_error err = {0};
	json_object_set_new(r, "stranger", json_string("<script>"));
	if (tk_answer_check_measurement(r, &outcome, message, sizeof message, &clean, &err))
		fail_msg("%s", err.message);
	assert_int_equal(outcome, TK_OUTCOME_OK);
	assert_null(json_object_get(clean, "stranger"));
	assert_non_null(json_object_get(clean, "telemetry"));
	json_decref(clean);
	json_decref(r);
}

/* path: "median" or "verify.passed"; value NULL: removed. */
static void corrupt(json_t *r, const char *path, const char *value)
{
	char part[64];
	const char *dot;
	while ((dot = strchr(path, '.'))) {
		snprintf(part, sizeof part, "%.*s", (int)(dot - path), path);
		r = json_object_get(r, part);
		path = dot + 1;
	}
	if (value)
		json_object_set_new(r, path, json_loads(value, JSON_DECODE_ANY, NULL));
	else
		json_object_del(r, path);
}

static void an_invalid_member_is_refused(void **state)
{
	/* clang-format off */
	static const char *const cases[][3] = {
		{"outcome", NULL, "outcome is missing"},
		{"outcome", "7", "outcome is missing or not a text"},
		{"outcome", "\"fine\"", "unknown outcome \"fine\""},
		{"message", "[]", "message is missing or not a text"},
		{"samples", NULL, "samples is missing"},
		{"samples", "[]", "samples is not an array of 1 to"},
		{"samples", "{}", "samples is not an array"},
		{"samples", "[1,null,3]", "samples[1] is not"},
		{"samples", "[1,\"2\",3]", "samples[1]"}, {"samples", "[1,2,-3]", "samples[2]"},
		{"samples", "[1,2]", "n is not the number"},
		{"median", NULL, "median is missing"}, {"median", "null", "median is not a number"},
		{"median", "-1", "median is not a number"},
		{"median", "1e300", "median is not"}, {"median", "0", "inconsistent"},
		{"median", "\"2\"", "median is not"},
		{"lo", "2.5", "inconsistent"}, {"hi", "1.9", "inconsistent"},
		{"min", "9", "inconsistent"},
		{"n", "3.0", "n is not an integer"}, {"n", "4", "n is not the number"},
		{"confidence", "1.5", "confidence is not"},
		{"stop", "\"0123456789abcdef0\"", "stop is not a text of at most 16"},
		{"launch_ns", "\"x\"", "launch_ns is not null"},
		{"verify", "1", "verify is not an object"}, {"verify", NULL, "verify is missing"},
		{"verify.passed", "1", "verify: passed is not true"},
		{"verify.passed", "false", "a timing of a wrong result"},
		{"verify.done", NULL, "verify: done is missing"},
		{"plan.kernel", "{}", "plan: kernel is not a text"}, {"plan.workspace_bytes", "-1",
			"plan: workspace_bytes"},
		{"telemetry.after.load", "[]", "telemetry: after: load is not"},
		{"telemetry.before", NULL, "telemetry: before is missing"},
		{"sets", "1e3", "sets is not an integer"}, {"flops", "-5", "flops is not a number"},
	};
	/* clang-format on */
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		json_t *r = valid_result(), *clean = NULL;
		enum tk_outcome outcome;
		char message[64];
		struct tk_error err = {0};
		corrupt(r, cases[i][0], cases[i][1]);
		assert_int_equal(tk_answer_check_measurement(
		                         r, &outcome, message, sizeof message, &clean, &err),
		        TK_EDATA);
		assert_null(clean);
		if (!strstr(err.message, cases[i][2]))
			fail_msg("%s = %s: \"%s\" does not say \"%s\"", cases[i][0], cases[i][1],
			        err.message, cases[i][2]);
		json_decref(r);
	}
}

static void an_answer_without_timing_needs_none(void **state)
{
	json_t *r = json_loads("{\"outcome\":\"wrong\",\"message\":\"row\\u001b[0m 7\",\"sets\":3}",
	               0, NULL),
	       *clean = NULL;
	enum tk_outcome outcome;
	char message[64];
	struct tk_error err = {0};
	assert_int_equal(
	        tk_answer_check_measurement(r, &outcome, message, sizeof message, &clean, &err), 0);
	assert_int_equal(outcome, TK_OUTCOME_WRONG);
	assert_string_equal(message, "row [0m 7");
	json_decref(clean);
	json_object_set_new(
	        r, "samples", json_string("x")); /* what is there is looked at all the same */
	assert_int_equal(
	        tk_answer_check_measurement(r, &outcome, message, sizeof message, &clean, &err),
	        TK_EDATA);
	json_decref(r);
}

static void envelopes(void **state)
{
	/* clang-format off */
	static const struct { const char *text, *message; } cases[] = {
		{"{}", "not an answer to request 5"}, {"{\"id\":4,\"ok\":true}",
			"not an answer to request 5"}, {"{\"id\":\"5\"}",
			"not an answer to request 5"},
		{"{\"id\":5}", "ok is not true"}, {"{\"id\":5,\"ok\":1}", "ok is not true"},
		{"{\"id\":5,\"ok\":true}", "result is missing"},
		{"{\"id\":5,\"ok\":true,\"result\":[]}", "result is missing or not an object"},
		{"{\"id\":5,\"ok\":false}", "outcome is missing"},
		{"{\"id\":5,\"ok\":false,\"outcome\":\"ok\",\"message\":\"\"}",
			"\"ok\" is not an outcome of a failed job"},
		{"{\"id\":5,\"ok\":false,\"outcome\":\"failed\"}", "message is missing"},
	};
	/* clang-format on */
	enum tk_outcome outcome;
	char message[16];
	json_t *result = NULL, *a;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_error err = {0};
		a = json_loads(cases[i].text, 0, NULL);
		assert_int_equal(
		        tk_answer_unwrap(a, 5, &result, &outcome, message, sizeof message, &err),
		        TK_EDATA);
		if (!strstr(err.message, cases[i].message))
			fail_msg("%s: %s", cases[i].text, err.message);
		json_decref(a);
	}
	a = json_loads("{\"id\":5,\"ok\":false,\"outcome\":\"failed\",\"message\":\"a long message "
	               "that is cut\"}",
	        0, NULL);
	assert_int_equal(
	        tk_answer_unwrap(a, 5, &result, &outcome, message, sizeof message, NULL), 0);
	assert_null(result);
	assert_int_equal(outcome, TK_OUTCOME_FAILED);
	assert_string_equal(message, "a long message ");
	json_decref(a);
}

static void devices_and_backends(void **state)
{
	json_t *clean = NULL, *d = json_loads("{\"kind\":\"cpu\",\"name\":\"x\",\"uuid\":\"\","
	                                      "\"arch\":\"y\",\"memory_bytes\":1,"
	                                      "\"cache_bytes\":1,"
	                                      "\"compute_units\":1,\"numa_node\":0,\"count\":1,"
	                                      "\"driver\":\"\",\"attributes\":{}}",
	                              0, NULL);
	struct tk_error err = {0};
	assert_int_equal(tk_answer_check_device(d, &clean, &err), 0);
	assert_null(json_object_get(clean, "resident_bytes")); /* older ones do not tell */
	json_decref(clean);
	json_object_set_new(d, "resident_bytes", json_pack("{s:i,s:s}", "l1", 4096, "attic", "x"));
	assert_int_equal(tk_answer_check_device(d, &clean, &err), 0);
	assert_int_equal(json_object_size(json_object_get(clean, "resident_bytes")), 1);
	json_decref(clean);
	json_object_set_new(d, "resident_bytes", json_pack("{s:s}", "l2", "large"));
	assert_int_equal(tk_answer_check_device(d, &clean, &err), TK_EDATA);
	assert_string_equal(err.message, "resident_bytes: l2 is not an integer in range");
	json_object_del(d, "resident_bytes");
	json_object_set_new(d, "attributes", json_string("x"));
	assert_int_equal(tk_answer_check_device(d, &clean, &err), TK_EDATA);
	assert_string_equal(err.message, "attributes is not an object");
	json_decref(d);
	d = json_loads("{\"name\":\"x\",\"description\":\"\",\"device_kind\":\"cpu\",\"version\":"
	               "\"1\",\"abi\":[1]}",
	        0, NULL);
	assert_int_equal(tk_answer_check_backend(d, &clean, &err), TK_EDATA);
	assert_string_equal(err.message, "abi is not a pair of version numbers");
	json_decref(d);
}

static void lists_of_configurations(void **state)
{
	static const char *const invalid[] = {"{}", "{\"configs\":{}}", "{\"configs\":[1]}",
	        "{\"configs\":[\"\"]}", "{\"configs\":[\"a\\u0000b\"]}"};
	struct tk_error err = {0};
	json_t *clean = NULL, *d = json_loads("{\"configs\":[\"a\",\"b\"],\"x\":1}", 0, NULL);
	assert_int_equal(tk_answer_check_configs(d, &clean, &err), 0);
	assert_int_equal(json_array_size(json_object_get(clean, "configs")), 2);
	assert_true(json_is_false(json_object_get(clean, "space"))); /* older ones do not tell */
	assert_int_equal(json_object_size(clean), 2);
	json_decref(clean);
	json_decref(d);
	for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
		d = json_loads(invalid[i], JSON_ALLOW_NUL, NULL);
		assert_non_null(d);
		assert_int_equal(tk_answer_check_configs(d, &clean, &err), TK_EDATA);
		json_decref(d);
	}
	d = json_pack("{s:[s]}", "configs", "");
	json_t *list = json_object_get(d, "configs");
	json_array_clear(list);
	for (int i = 0; i <= TK_WORKER_CONFIGS_MAX; i++)
		json_array_append_new(list, json_string("a"));
	assert_int_equal(tk_answer_check_configs(d, &clean, &err), TK_EDATA);
	assert_non_null(strstr(err.message, "at most"));
	json_decref(d);
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_valid_answer_loses_unknown_members),
		cmocka_unit_test(an_invalid_member_is_refused),
		cmocka_unit_test(an_answer_without_timing_needs_none), cmocka_unit_test(envelopes),
		cmocka_unit_test(devices_and_backends), cmocka_unit_test(lists_of_configurations),
	};
	/* clang-format on */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
