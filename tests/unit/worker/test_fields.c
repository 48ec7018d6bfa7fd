/* The tables of fields: what they encode passes their own checks, with every required member. */
#include "base/error.h"
#include "measure/measure.h"
#include "worker/answer.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct tk_measurement timed_measurement(void)
{
	return (struct tk_measurement){.outcome = TK_OUTCOME_OK,
	        .sample_count = 3,
	        .launches_per_sample = 2,
	        .summary = {.min = 1, .q25 = 1.5, .median = 2, .q75 = 2.5, .p95 = 2.9},
	        .lo = 1,
	        .hi = 3,
	        .confidence = 0.95,
	        .stop = TK_STOP_TIGHT,
	        .launch_ns = NAN,
	        .verdict = {.done = true, .passed = true, .method = "rows", .checked = 4},
	        .plan = {.kernel = "k", .workspace_bytes = UINT64_MAX, .capturable = 1},
	        .flops = 8,
	        .bytes = NAN,
	        .sets = 2,
	        .before = {.clock_mhz = NAN, .temperature_c = -3, .reasons = "thermal"},
	        .mode = TK_MODE_PACED,
	        .clock_mhz = 1500,
	        .energy_j = NAN};
}

static void a_measurement_passes_its_own_checks(void **state)
{
	struct tk_measurement m = timed_measurement();
	json_t *clean = NULL;
	enum tk_outcome outcome;
	char message[64];
	struct tk_error err = {0};
	m.bytes = 16;
	m.plan.workspace_bytes = 1024;
	json_t *r = tk_fields_encode(tk_measurement_fields, &m, true);
	json_object_set_new(r, "samples", json_pack("[f,f,f]", 1.0, 2.0, 3.0));
	if (tk_answer_check_measurement(r, &outcome, message, sizeof message, &clean, &err))
		fail_msg("%s", err.message);
	assert_int_equal(outcome, TK_OUTCOME_OK);
	assert_true(json_equal(r, clean));
	json_decref(clean);
	json_decref(r);
}

static void values_that_json_cannot_hold_are_replaced(void **state)
{
	struct tk_measurement m = timed_measurement();
	json_t *r = tk_fields_encode(tk_measurement_fields, &m, true);
	const json_t *plan = json_object_get(r, "plan");
	assert_true(json_is_null(json_object_get(r, "launch_ns")));
	assert_true(json_integer_value(json_object_get(plan, "workspace_bytes")) == INT64_MAX);
	assert_true(json_is_true(json_object_get(plan, "capturable")));
	assert_null(json_object_get(r, "bytes")); /* unknown */
	assert_string_equal(json_string_value(json_object_get(r, "mode")), "paced");
	assert_string_equal(json_string_value(json_object_get(r, "stop")), "tight");
	json_decref(r);
}

static void a_failed_measurement_has_no_timing(void **state)
{
	struct tk_measurement m = timed_measurement();
	m.outcome = TK_OUTCOME_WRONG;
	json_t *r = tk_fields_encode(tk_measurement_fields, &m, false);
	assert_string_equal(json_string_value(json_object_get(r, "outcome")), "wrong");
	assert_null(json_object_get(r, "median"));
	assert_null(json_object_get(r, "telemetry"));
	assert_non_null(json_object_get(r, "verify"));
	json_decref(r);
}

static void a_device_passes_its_own_checks(void **state)
{
	struct tk_device_info info = {.kind = "cpu",
	        .name = "a processor",
	        .memory_bytes = 1 << 30,
	        .resident_bytes = {4096, 0, 8192},
	        .attributes = "{\"governor\":\"performance\"}"};
	json_t *clean = NULL, *r = tk_fields_encode(tk_device_info_fields, &info, true);
	struct tk_error err = {0};
	assert_int_equal(tk_answer_check_device(r, &clean, &err), TK_EDATA);
	assert_string_equal(err.message, "count is missing"); /* the caller adds it */
	json_object_set_new(r, "count", json_integer(1));
	if (tk_answer_check_device(r, &clean, &err))
		fail_msg("%s", err.message);
	assert_true(json_equal(r, clean));
	assert_int_equal(json_object_size(json_object_get(r, "resident_bytes")), 2);
	json_decref(clean);
	json_decref(r);
	memcpy(info.attributes, "not JSON", sizeof "not JSON");
	r = tk_fields_encode(tk_device_info_fields, &info, true);
	assert_int_equal(json_object_size(json_object_get(r, "attributes")), 0);
	json_decref(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_measurement_passes_its_own_checks),
	        cmocka_unit_test(values_that_json_cannot_hold_are_replaced),
	        cmocka_unit_test(a_failed_measurement_has_no_timing),
	        cmocka_unit_test(a_device_passes_its_own_checks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
