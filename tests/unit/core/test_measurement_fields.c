/* The table of the fields of a measurement: complete rows, unique keys in an object, units that
 * agree with the keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/measurement_fields.h"

#define FIELD(i) ((enum tk_measurement_field)(i))

static void every_row_is_complete(void **state)
{
	for (int i = 0; i < TK_MEASUREMENT_FIELD_COUNT; i++) {
		assert_non_null(tk_measurement_field_key(FIELD(i)));
		assert_true(*tk_measurement_field_key(FIELD(i)));
		assert_non_null(tk_measurement_field_unit(FIELD(i)));
		assert_true(*tk_measurement_field_title(FIELD(i)));
	}
}

static void a_key_is_unique_in_its_object(void **state)
{
	for (int i = 0; i < TK_MEASUREMENT_FIELD_COUNT; i++)
		for (int j = 0; j < i; j++)
			if (tk_measurement_field_parent(FIELD(i)) ==
			        tk_measurement_field_parent(FIELD(j)))
				assert_string_not_equal(tk_measurement_field_key(FIELD(i)),
				        tk_measurement_field_key(FIELD(j)));
}

static void a_unit_agrees_with_the_end_of_its_key(void **state)
{
	static const struct {
		const char *end, *unit;
	} rules[] = {{"_ns", "ns"}, {"_s", "s"}, {"_j", "J"}, {"_mhz", "MHz"}, {"_w", "W"},
	        {"_bytes", "bytes"}};
	for (int i = 0; i < TK_MEASUREMENT_FIELD_COUNT; i++) {
		const char *key = tk_measurement_field_key(FIELD(i));
		for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
			size_t len = strlen(key), end = strlen(rules[r].end);
			if (len >= end && !strcmp(key + len - end, rules[r].end))
				assert_string_equal(
				        tk_measurement_field_unit(FIELD(i)), rules[r].unit);
		}
	}
}

static void a_field_knows_its_object(void **state)
{
	assert_int_equal(
	        tk_measurement_field_parent(TK_MEASUREMENT_ENERGY_J), TK_MEASUREMENT_FIELD_COUNT);
	assert_int_equal(tk_measurement_field_parent(TK_MEASUREMENT_PLAN_WORKSPACE_BYTES),
	        TK_MEASUREMENT_PLAN);
	assert_int_equal(
	        tk_measurement_field_parent(TK_MEASUREMENT_VERIFY_DONE), TK_MEASUREMENT_VERIFY);
	assert_int_equal(tk_measurement_field_parent(TK_MEASUREMENT_TELEMETRY_BEFORE),
	        TK_MEASUREMENT_TELEMETRY);
	assert_int_equal(
	        tk_measurement_field_parent(TK_TELEMETRY_ENERGY_J), TK_MEASUREMENT_TELEMETRY_AFTER);
	/* Stored runs of old nights have these keys. */
	assert_string_equal(tk_measurement_field_key(TK_MEASUREMENT_ENERGY_J), "energy_j");
	assert_string_equal(tk_measurement_field_key(TK_TELEMETRY_ENERGY_J), "energy_j");
	assert_string_equal(tk_measurement_field_key(TK_MEASUREMENT_IDLE_GAP_NS), "idle_gap_ns");
}

static void a_field_is_read_from_its_object(void **state)
{
	json_t *o = json_object();
	tk_measurement_set_text(o, TK_MEASUREMENT_MESSAGE, "none");
	json_object_set_new(o, "median", json_integer(3));
	assert_string_equal(
	        json_string_value(tk_measurement_get_field(o, TK_MEASUREMENT_MESSAGE)), "none");
	assert_true(tk_measurement_get_number(o, TK_MEASUREMENT_MEDIAN, 7) == 3);
	assert_true(tk_measurement_get_number(o, TK_MEASUREMENT_MESSAGE, 7) == 7);
	assert_true(tk_measurement_get_number(o, TK_MEASUREMENT_LO, 7) == 7);
	assert_true(tk_measurement_get_number(NULL, TK_MEASUREMENT_LO, 7) == 7);
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_row_is_complete),
	        cmocka_unit_test(a_field_is_read_from_its_object),
	        cmocka_unit_test(a_key_is_unique_in_its_object),
	        cmocka_unit_test(a_unit_agrees_with_the_end_of_its_key),
	        cmocka_unit_test(a_field_knows_its_object),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
