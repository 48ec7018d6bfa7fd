/* Reading what Nsight Compute writes. data/ncu-2025.3-h200.csv is what version 2025.3.1 recorded of
 * cuDNN's backward attention (bf16, B1 H16 S1024 D128) on an NVIDIA H200, 2026-11-23, without the
 * columns that describe device and launch. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "profile/ncu.h"
#include "profile/profile.h"
#include "profiler_command.h"

#define MEASURED TK_TEST_DATA "/ncu-2025.3-h200.csv"

static void test_measured(void **state)
{
	struct tk_profile p;
	struct tk_error err = {0};
	assert_int_equal(tk_ncu_read(MEASURED, &p, &err), TK_OK);
	assert_int_equal(p.count, 3);
	const struct tk_profile_kernel *k = &p.kernels[1];
	assert_non_null(strstr(k->name, "flash_bprop_wgmma"));
	assert_true(k->time_ns == 45472);
	assert_true(k->bytes[TK_PROFILE_DRAM] == 25328128 + 705024);
	assert_true(k->bytes[TK_PROFILE_L2] == 180582240);
	assert_true(k->bytes[TK_PROFILE_L1] == 3768320);
	assert_true(fabs(k->tensor_share - 0.4905) < 1e-9);
	assert_true(fabs(k->occupancy - 0.1568) < 1e-9);
	assert_true(fabs(k->occupancy_limit - 0.1875) < 1e-9);
	assert_true(fabs(k->l2_hit_share - 0.8432) < 1e-9);
	assert_true(k->registers == 168);
	assert_true(k->shared_bytes == 217088);
	tk_profile_free(&p);
}

static void test_stalls(void **state)
{
	struct tk_profile p;
	struct tk_error err = {0};
	assert_int_equal(tk_ncu_read(MEASURED, &p, &err), TK_OK);
	const struct tk_profile_kernel *k = &p.kernels[1];
	assert_string_equal(k->stalls[0].reason, "long scoreboard");
	assert_true(k->stalls[0].cycles == 2.49);
	assert_string_equal(k->stalls[1].reason, "barrier");
	for (size_t i = 0; i < k->stall_count; i++) {
		assert_string_not_equal(k->stalls[i].reason, "selected");
		assert_true(i == 0 || k->stalls[i].cycles <= k->stalls[i - 1].cycles);
		assert_true(k->stalls[i].cycles > 0);
	}
	tk_profile_free(&p);
}

static void test_sums(void **state)
{
	struct tk_profile p;
	struct tk_error err = {0};
	assert_int_equal(tk_ncu_read(MEASURED, &p, &err), TK_OK);
	double time_ns = 7712 + 45472 + p.kernels[2].time_ns;
	assert_true(tk_profile_sum_time_ns(&p) == time_ns);
	/* The other two kernels have no tensor instructions. */
	assert_true(fabs(tk_profile_mean_tensor_share(&p) - 0.4905 * 45472 / time_ns) < 1e-9);
	p.kernels[2].bytes[TK_PROFILE_L1] = NAN;
	assert_true(isnan(tk_profile_sum_bytes(&p, TK_PROFILE_L1)));
	assert_true(tk_profile_sum_bytes(&p, TK_PROFILE_L2) > 180582240);
	tk_profile_free(&p);
	assert_true(isnan(tk_profile_sum_time_ns(&p)));
}

/* Reads a text as the profiler's log. */
static int read_text(const char *text, struct tk_profile *p, struct tk_error *err)
{
	char path[] = "/tmp/tracker-test-ncu-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	int status = tk_ncu_read(path, p, err);
	unlink(path);
	return status;
}

#define HEAD "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"\",\"\",\"ns\"\n"

static void test_numbers(void **state)
{
	static const struct {
		const char *text;
		double ns;
	} rows[] = {{"1,234,567", 1234567}, {"12.5", 12.5}, {"0", 0}, {"", NAN}, {"n/a", NAN},
	        {"nan", NAN}, {"inf", NAN}, {"1e999", NAN}, {"12 ms", NAN}, {"1 2", NAN},
	        {"111111111111111111111111111111111111111111111111111111111111111111", NAN}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tk_profile p;
		struct tk_error err = {0};
		char text[512];
		snprintf(text, sizeof text, HEAD "\"0\",\"k\",\"%s\"\n", rows[i].text);
		assert_int_equal(read_text(text, &p, &err), TK_OK);
		assert_true(isnan(rows[i].ns) ? isnan(p.kernels[0].time_ns)
		                              : p.kernels[0].time_ns == rows[i].ns);
		assert_true(isnan(p.kernels[0].registers));
		assert_int_equal(p.kernels[0].stall_count, 0);
		tk_profile_free(&p);
	}
}

static void test_failures(void **state)
{
	static const struct {
		const char *text, *phrase;
	} logs[] = {
	        {"", "no kernel"},
	        {HEAD, "no kernel"},
	        {"==PROF== Connected\n==WARNING== No kernels were profiled.\n", "no kernel"},
	        {"==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", "counters"},
	        {"==ERROR== Failed to find metric x\n", "Failed to find metric x"},
	        {"\"ID\",\"Kernel Name\"\n", "gpu__time_duration.sum"},
	        {HEAD "\"0\",\"k\n", "quote"},
	};
	for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
		struct tk_profile p;
		struct tk_error err = {0};
		assert_true(read_text(logs[i].text, &p, &err) < 0);
		if (!strstr(err.message, logs[i].phrase))
			fail_msg("%zu: \"%s\" has no \"%s\"", i, err.message, logs[i].phrase);
		assert_null(p.kernels);
	}
}

static void test_missing_file(void **state)
{
	struct tk_profile p;
	struct tk_error err = {0};
	assert_int_equal(tk_ncu_read("/nowhere/ncu.csv", &p, &err), TK_ENOTFOUND);
}

/* Clocks are the user's: a profiler that changes them would disturb what else is measured. */
static void test_command(void **state)
{
	struct tk_profiler_command c;
	tk_profiler_ncu.make_command(&c, "/usr/bin/ncu", "/tmp/x", 0, true);
	assert_string_equal(c.words[0], "/usr/bin/ncu");
	assert_true(has_pair(&c, "--clock-control", "none"));
	assert_true(has_pair(&c, "--profile-from-start", "off"));
	assert_true(has_pair(&c, "--cache-control", "all"));
	assert_true(has_pair(&c, "--log-file", "/tmp/x/ncu.csv"));
	tk_profiler_ncu.make_command(&c, "/usr/bin/ncu", "/tmp/x", 0, false);
	assert_true(has_pair(&c, "--cache-control", "none"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_measured),
	        cmocka_unit_test(test_stalls), cmocka_unit_test(test_sums),
	        cmocka_unit_test(test_numbers), cmocka_unit_test(test_failures),
	        cmocka_unit_test(test_missing_file), cmocka_unit_test(test_command)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
