/* The names that drivers give must find their datasheet, and other devices must not; the peak rate
 * of a problem is that of its types. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "core/datasheet.h"
#include "core/problem.h"

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

static double find_peak(const char *device, const char *problem)
{
	struct tk_problem_spec p;
	struct tk_error err = {0};

	if (tk_problem_parse(&p, problem, &err))
		fail_msg("%s: %s", problem, err.message);
	return tk_datasheet_find_peak(device, &p);
}

static void the_type_of_the_operands_decides(void **state)
{
	static const struct {
		const char *problem;
		double h100, mi210; /* TFLOP/s */
	} cases[] = {
	        {"gemm:m=64,n=64,k=64,a=bf16", 989, 181},
	        {"gemm:m=64,n=64,k=64,a=f16", 989, 181},
	        {"gemm:m=64,n=64,k=64,a=e4m3", 1979, 0},
	        {"gemm:m=64,n=64,k=64,a=e5m2,b=e4m3", 1979, 0},
	        {"gemm:m=64,n=64,k=64,a=tf32", 495, 0},
	        {"gemm:m=64,n=64,k=64,a=f32", 67, 22.6},
	        {"attention:b=1,h=2,sq=64,d=64,dtype=bf16", 989, 181},
	        {"attention:b=1,h=2,sq=64,d=64,dtype=f32", 67, 22.6},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const double h100 = find_peak("NVIDIA H100 80GB HBM3", cases[i].problem),
		             mi210 = find_peak("AMD Instinct MI210", cases[i].problem);

		if (h100 != 1e3 * cases[i].h100 || mi210 != 1e3 * cases[i].mi210)
			fail_msg("%s: %g and %g GFLOP/s", cases[i].problem, h100, mi210);
		assert_float_equal(find_peak("Some CPU", cases[i].problem), 0, 0);
		assert_float_equal(find_peak(NULL, cases[i].problem), 0, 0);
	}
	/* a type that no sheet names */
	assert_float_equal(find_peak("NVIDIA H100 80GB HBM3", "gemm:m=64,n=64,k=64,a=f64"), 0, 0);
}

/* What is known of each device: whole, and in an order that holds for every GPU. */
static void figures_of_every_device_are_plausible(void **state)
{
	static const char *const names[] = {"NVIDIA A100-SXM4-80GB", "NVIDIA H100 80GB HBM3",
	        "NVIDIA H100 PCIe", "NVIDIA H200", "NVIDIA B200", "NVIDIA L40S",
	        "NVIDIA GeForce RTX 4090", "AMD Instinct MI210", "AMD Instinct MI250X / MI250",
	        "AMD Instinct MI300X", "AMD Instinct MI325X OAM", "AMD Instinct MI355X"};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct tk_datasheet *s = tk_datasheet_find(names[i]);

		if (!s)
			fail_msg("%s is not known", names[i]);
		assert_true(s->f32 > 0 && s->bf16 > s->f32);
		assert_true(s->fp8 == 0 || s->fp8 > s->bf16);
		assert_true(s->tf32 == 0 || (s->tf32 >= s->f32 && s->tf32 < s->bf16));
		assert_true(s->memory > 0.5 && s->memory < 20); /* TB/s */
		assert_true(s->margin >= 1 && s->margin < 3);
		assert_true(strlen(s->source) > 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(devices_are_known_by_the_whole_name),
	        cmocka_unit_test(the_type_of_the_operands_decides),
	        cmocka_unit_test(figures_of_every_device_are_plausible)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
