/* What the names in `devices` select. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nightly/device_select.h"

static void all_is_every_kind_but_the_simulated_one(void **state)
{
	assert_true(tk_device_name_matches("all", "cpu", 0, ""));
	assert_true(tk_device_name_matches("all", "cuda", 3, "GPU-1"));
	assert_false(tk_device_name_matches("all", "null", 0, ""));
}

static void a_kind_or_one_device_of_it(void **state)
{
	assert_true(tk_device_name_matches("cuda", "cuda", 1, ""));
	assert_true(tk_device_name_matches("cuda:1", "cuda", 1, ""));
	assert_false(tk_device_name_matches("cuda:1", "cuda", 11, ""));
	assert_false(tk_device_name_matches("hip", "cuda", 0, ""));
}

static void a_number_is_a_gpu(void **state)
{
	assert_true(tk_device_name_matches("1", "cuda", 1, ""));
	assert_true(tk_device_name_matches("1", "hip", 1, ""));
	assert_false(tk_device_name_matches("0", "cpu", 0, ""));
	assert_false(tk_device_name_matches("0", "null", 0, ""));
}

static void a_uuid_is_that_device(void **state)
{
	assert_true(tk_device_name_matches("GPU-1", "cuda", 0, "GPU-1"));
	assert_false(tk_device_name_matches("GPU-1", "cuda", 0, "GPU-2"));
	assert_false(tk_device_name_matches("", "cuda", 0, ""));
}

static void any_name_of_the_list_selects(void **state)
{
	char cpu[] = "cpu", gpu[] = "cuda:1";
	char *names[] = {cpu, gpu, NULL};
	assert_true(tk_device_is_selected(names, "cpu", 0, ""));
	assert_true(tk_device_is_selected(names, "cuda", 1, ""));
	assert_false(tk_device_is_selected(names, "cuda", 0, ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(all_is_every_kind_but_the_simulated_one),
	        cmocka_unit_test(a_kind_or_one_device_of_it),
	        cmocka_unit_test(a_number_is_a_gpu),
	        cmocka_unit_test(a_uuid_is_that_device),
	        cmocka_unit_test(any_name_of_the_list_selects),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
