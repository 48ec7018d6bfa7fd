/* The names that drivers give must find their datasheet, and other devices must not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/datasheet.h"

static void devices_are_known_by_the_whole_name(void **state)
{
	assert_float_equal(tk_datasheet_find("NVIDIA H200")->memory, 4.8, 1e-9);
	assert_float_equal(tk_datasheet_find("NVIDIA H100 80GB HBM3")->bf16, 989, 1e-9);
	assert_float_equal(tk_datasheet_find("NVIDIA H100 PCIe")->bf16, 756, 1e-9);
	assert_float_equal(tk_datasheet_find("AMD Instinct MI300X OAM")->fp8, 2615, 1e-9);
	assert_null(tk_datasheet_find("NVIDIA H200 NVL"));
	assert_null(tk_datasheet_find("AMD EPYC 9654"));
	assert_null(tk_datasheet_find(""));
	assert_null(tk_datasheet_find(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(devices_are_known_by_the_whole_name)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
