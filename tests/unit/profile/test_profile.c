/* Sums over the kernels of a launch, and where a profiler is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "profile/profile.h"
#include "profile/profiler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct tk_profile_kernel kernels[3];
static struct tk_profile profile = {.kernels = kernels};

static int set_up(void **state)
{
	for (size_t i = 0; i < 3; i++)
		kernels[i] = (struct tk_profile_kernel){.time_ns = 100.0 * (double)(i + 1),
		        .bytes = {10.0 * (double)(i + 1), 20, 30},
		        .tensor_share = 0.2 * (double)i};
	profile.count = 3;
	return 0;
}

static void times_and_bytes_add_up(void **state)
{
	assert_float_equal(tk_profile_sum_time_ns(&profile), 600, 1e-9);
	assert_float_equal(tk_profile_sum_bytes(&profile, TK_PROFILE_DRAM), 60, 1e-9);
	assert_float_equal(tk_profile_sum_bytes(&profile, TK_PROFILE_L2), 60, 1e-9);
	assert_float_equal(tk_profile_sum_bytes(&profile, TK_PROFILE_L1), 90, 1e-9);
	profile.count = 1;
	assert_float_equal(tk_profile_sum_time_ns(&profile), 100, 1e-9);
}

/* A long kernel counts for more than a short one. */
static void the_share_of_tensor_cores_is_by_time(void **state)
{
	assert_float_equal(tk_profile_mean_tensor_share(&profile),
	        (0 * 100 + 0.2 * 200 + 0.4 * 300) / 600, 1e-9);
}

/* Without one of the figures, or without a kernel, the sum is not known. */
static void an_unknown_figure_makes_the_sum_unknown(void **state)
{
	kernels[1].bytes[TK_PROFILE_L2] = NAN;
	kernels[2].tensor_share = NAN;
	assert_true(isnan(tk_profile_sum_bytes(&profile, TK_PROFILE_L2)));
	assert_true(isnan(tk_profile_mean_tensor_share(&profile)));
	assert_float_equal(tk_profile_sum_bytes(&profile, TK_PROFILE_L1), 90, 1e-9);
	kernels[0].time_ns = NAN;
	assert_true(isnan(tk_profile_sum_time_ns(&profile)));
	profile.count = 0;
	assert_true(isnan(tk_profile_sum_time_ns(&profile)));
	for (int m = 0; m < TK_PROFILE_MEMORIES; m++)
		assert_true(isnan(tk_profile_sum_bytes(&profile, (enum tk_profile_memory)m)));
	assert_true(isnan(tk_profile_mean_tensor_share(&profile)));
}

static void the_longest_stall_comes_first(void **state)
{
	static const double cycles[] = {1, 5, 0.5, 3};
	struct tk_profile_kernel *k = &kernels[0];

	for (size_t i = 0; i < 4; i++) {
		k->stalls[i].cycles = cycles[i];
		snprintf(k->stalls[i].reason, sizeof k->stalls[i].reason, "%zu", i);
	}
	k->stall_count = 4;
	tk_profile_sort_stalls(k);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(
		        k->stalls[i].reason, ((const char *const[]){"1", "3", "0", "2"})[i]);
}

/* ---- where it is found ---- */

static void put_program(const char *path, mode_t mode)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs("#!/bin/sh\n", f);
	fclose(f);
	assert_int_equal(chmod(path, mode), 0);
}

/* In PATH first, else where its toolkit has it; a file that cannot be executed is none. */
static void a_profiler_is_found_or_named(void **state)
{
	char folder[] = "/tmp/tracker-profiler-XXXXXX", in_path[80], installed[80], *path = NULL;
	struct tk_profiler p = {.name = "counters",
	        .product = "Counters of X",
	        .toolkit = "the toolkit of X",
	        .installed = installed};
	struct tk_error err = {0};

	assert_non_null(mkdtemp(folder));
	snprintf(in_path, sizeof in_path, "%s/counters", folder);
	snprintf(installed, sizeof installed, "%s/installed", folder);
	assert_int_equal(setenv("PATH", folder, 1), 0);
	assert_int_equal(tk_profiler_find(&p, &path, &err), TK_ENOTFOUND);
	assert_non_null(strstr(err.message, "no counters (Counters of X) in PATH, nor at /tmp/"));
	assert_non_null(strstr(err.message, "it comes with the toolkit of X"));
	put_program(installed, 0600);
	assert_int_equal(tk_profiler_find(&p, &path, &err), TK_ENOTFOUND);
	put_program(installed, 0700);
	assert_int_equal(tk_profiler_find(&p, &path, &err), TK_OK);
	assert_string_equal(path, installed);
	free(path);
	put_program(in_path, 0700);
	assert_int_equal(tk_profiler_find(&p, &path, &err), TK_OK);
	assert_string_equal(path, in_path);
	free(path);
	unlink(in_path);
	unlink(installed);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup(times_and_bytes_add_up, set_up),
	        cmocka_unit_test_setup(the_share_of_tensor_cores_is_by_time, set_up),
	        cmocka_unit_test_setup(an_unknown_figure_makes_the_sum_unknown, set_up),
	        cmocka_unit_test_setup(the_longest_stall_comes_first, set_up),
	        cmocka_unit_test_setup(a_profiler_is_found_or_named, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
