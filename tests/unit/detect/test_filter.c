/* "key:glob" filters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/error.h"
#include "detect/history/filter.h"

static const struct tk_filter_fields gemm = {.backend = "openblas",
        .problem = "gemm f32 m=512",
        .title = "gemm f32 512x512x512",
        .op = "gemm",
        .dtype = "f32",
        .device = "cpu",
        .device_name = "EPYC 9654",
        .machine = "box",
        .upstream = "openblas",
        .metric = "time",
        .mode = "hot",
        .config = "",
        .role = "suite",
        .series = "box.cpu.openblas.gemm-f32-512"};

#define FILTERS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void keys_and_globs(void **state)
{
	assert_true(tk_filter_match(NULL, &gemm));
	assert_true(tk_filter_match(FILTERS("backend:open*"), &gemm));
	assert_true(tk_filter_match(FILTERS("problem:*512x512*"), &gemm)); /* the title */
	assert_true(tk_filter_match(FILTERS("device:epyc*"), &gemm));      /* the name, any case */
	assert_false(tk_filter_match(FILTERS("op:attention"), &gemm));
	/* filters of one key are alternatives, of different keys conditions */
	assert_true(tk_filter_match(FILTERS("op:attention", "op:gemm"), &gemm));
	assert_false(tk_filter_match(FILTERS("op:gemm", "mode:cold"), &gemm));
}

static void left_out(void **state)
{
	assert_false(tk_filter_match_any(NULL, &gemm));
	assert_true(tk_filter_match_any(FILTERS("op:attention", "mode:hot"), &gemm));
	assert_false(tk_filter_match_any(FILTERS("op:attention", "mode:cold"), &gemm));
}

static void bad_filters(void **state)
{
	static const struct {
		const char *filter, *phrase;
	} cases[] = {{"gemm", "expected KEY:GLOB"}, {"op:", "expected KEY:GLOB"},
	        {"bakend:x", "did you mean \"backend\"?"}, {":x", "unknown key"}};
	struct tk_error err;

	assert_int_equal(tk_filter_check(NULL, &err), TK_OK);
	for (const char *const *key = tk_filter_keys(); *key; key++) {
		char filter[64];

		strcpy(filter, *key);
		strcat(filter, ":*");
		assert_int_equal(tk_filter_check(FILTERS(filter), &err), TK_OK);
		assert_true(tk_filter_match(FILTERS(filter), &gemm));
	}
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(tk_filter_check(FILTERS(cases[i].filter), &err), TK_EUSAGE);
		assert_non_null(strstr(err.message, cases[i].phrase));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(keys_and_globs),
	        cmocka_unit_test(left_out),
	        cmocka_unit_test(bad_filters),
	};

	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
