/* Units of other tools: what they measure, in the tracker's unit, and which direction is better. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "store/import/import.h"

static void foreign_units(void **state)
{
	static const struct {
		const char *unit, *metric, *ours, *better;
		double factor;
	} cases[] = {
	        {"ns", "time", "ns", "lower", 1},
	        {"us", "time", "ns", "lower", 1e3},
	        {"\xc2\xb5s", "time", "ns", "lower", 1e3},
	        {"\xce\xbcs", "time", "ns", "lower", 1e3},
	        {"ms", "time", "ns", "lower", 1e6},
	        {"s", "time", "ns", "lower", 1e9},
	        {"seconds", "time", "ns", "lower", 1e9},
	        {" ms", "time", "ns", "lower", 1e6},
	        {"MSEC", "time", "ns", "lower", 1e6},
	        /* of one iteration it is a time still */
	        {"ns/iter", "time", "ns", "lower", 1},
	        {"us/op", "time", "ns", "lower", 1e3},
	        {"ms/iteration", "time", "ns", "lower", 1e6},
	        {"s/Call", "time", "ns", "lower", 1e9},
	        {"GB/s", "bandwidth", "gb_per_s", "higher", 1},
	        {"TB/s", "bandwidth", "gb_per_s", "higher", 1e3},
	        {"GiB/s", "bandwidth", "gb_per_s", "higher", 1.073741824},
	        {"GFLOPS", "flops", "gflop_per_s", "higher", 1},
	        {"TFLOP/s", "flops", "gflop_per_s", "higher", 1e3},
	        {"FLOP/s", "flops", "gflop_per_s", "higher", 1e-9},
	        /* rates of something else: more is better */
	        {"requests/s", "throughput", "requests/s", "higher", 1},
	        {"items/Second", "throughput", "items/Second", "higher", 1},
	        {"rows_per_s", "throughput", "rows_per_s", "higher", 1},
	        {"FPS", "throughput", "FPS", "higher", 1},
	        {"speedup", "throughput", "speedup", "higher", 1},
	        /* anything else: less is better */
	        {"apples", "value", "apples", "lower", 1},
	        {"/iter", "value", "/iter", "lower", 1},
	        {"fpsx", "value", "fpsx", "lower", 1},
	        {"", "value", "", "lower", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tk_import_unit u = tk_import_unit(cases[i].unit);

		assert_string_equal(u.metric, cases[i].metric);
		assert_string_equal(u.unit, cases[i].ours);
		assert_string_equal(u.better, cases[i].better);
		assert_float_equal(u.factor / cases[i].factor, 1, 1e-12);
	}
}

/* "Mb" and "MB" differ by their case alone. */
static void case_decides_where_it_must(void **state)
{
	static const char *const words[] = {"KB", "MB", "GB", "kB"};

	(void)state;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		const struct tk_import_unit u = tk_import_unit(words[i]);

		assert_string_equal(u.metric, "memory");
		assert_string_equal(u.unit, "bytes");
		assert_string_equal(u.better, "lower");
		assert_float_equal(u.factor,
		        words[i][0] == 'G'   ? 1e9
		        : words[i][0] == 'M' ? 1e6
		                             : 1e3,
		        0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(foreign_units),
	        cmocka_unit_test(case_decides_where_it_must),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
