/* Limits of a running program: how often they are checked, and what each of them sees. The disk has
 * as much space as the test says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/process_limits.h"

#define SECOND INT64_C(1000000000)
#define GIB ((uint64_t)1 << 30)

static uint64_t free_bytes, all_bytes;
static int disk_status;
static int64_t began_ns;

int __wrap_statvfs(const char *path, struct statvfs *out);

int __wrap_statvfs(const char *path, struct statvfs *out)
{
	*out = (struct statvfs){
	        .f_frsize = 4096, .f_bavail = free_bytes / 4096, .f_blocks = all_bytes / 4096};
	return disk_status;
}

static char folder[40], log_path[60];

static int set_up(void **state)
{
	strcpy(folder, "/tmp/tracker-limits-XXXXXX");
	free_bytes = 500 * GIB;
	all_bytes = 1000 * GIB;
	disk_status = 0;
	began_ns = tk_clock_monotonic_ns();
	if (!mkdtemp(folder))
		return -1;
	snprintf(log_path, sizeof log_path, "%s/log", folder);
	return 0;
}

static int tear_down(void **state)
{
	return tk_dir_remove(folder, NULL);
}

static void write_bytes(const char *path, size_t count)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	for (size_t i = 0; i < count; i++)
		fputc('x', f);
	fclose(f);
}

/* At so many tenths of a second after the test began. */
static enum tk_process_limit check_at(struct tk_process_limits *l, int tenths)
{
	return tk_process_limits_check(l, getpid(), began_ns + tenths * SECOND / 10);
}

static void a_long_log_is_seen_at_the_next_check(void **state)
{
	const struct tk_process_spec spec = {.log_path = log_path, .log_max_bytes = 100};
	struct tk_process_limits l;

	tk_process_limits_init(&l, &spec);
	assert_int_equal(check_at(&l, 10), TK_LIMIT_NONE); /* there is none yet */
	write_bytes(log_path, 100);
	assert_int_equal(check_at(&l, 20), TK_LIMIT_NONE);
	write_bytes(log_path, 101);
	assert_int_equal(check_at(&l, 21), TK_LIMIT_NONE); /* less than 200 ms later */
	assert_int_equal(check_at(&l, 22), TK_LIMIT_LOG);
}

static void without_limits_nothing_is_exceeded(void **state)
{
	const char *const paths[] = {folder, NULL};
	const struct tk_process_spec none = {.log_path = log_path},
	                             no_bytes = {.disk_paths = paths};
	struct tk_process_limits l;

	write_bytes(log_path, 5000);
	tk_process_limits_init(&l, &none);
	assert_int_equal(check_at(&l, 10), TK_LIMIT_NONE);
	tk_process_limits_init(&l, &no_bytes);
	free_bytes = 0;
	assert_int_equal(check_at(&l, 100), TK_LIMIT_NONE);
}

static void processes_are_counted(void **state)
{
	struct tk_process_spec spec = {.process_max = 1000};
	struct tk_process_limits l;

	tk_process_limits_init(&l, &spec);
	assert_int_equal(check_at(&l, 10), TK_LIMIT_NONE);
}

/* Folders are counted at least every ten seconds, and every second once the disk has lost half of
 * the limit. */
static void large_folders_are_seen(void **state)
{
	const char *const paths[] = {folder, NULL};
	const struct tk_process_spec spec = {.disk_paths = paths, .disk_max_bytes = 100000};
	struct tk_process_limits l;

	write_bytes(log_path, 50000);
	tk_process_limits_init(&l, &spec);
	assert_int_equal(check_at(&l, 100), TK_LIMIT_NONE);
	write_bytes(log_path, 200000);
	assert_int_equal(check_at(&l, 190), TK_LIMIT_NONE); /* nine seconds later */
	assert_int_equal(check_at(&l, 200), TK_LIMIT_DISK);
	write_bytes(log_path, 50000);
	assert_int_equal(check_at(&l, 300), TK_LIMIT_NONE);
	write_bytes(log_path, 200000);
	free_bytes -= 49152;
	assert_int_equal(check_at(&l, 320), TK_LIMIT_NONE); /* less than half of the limit */
	free_bytes -= 8192;
	assert_int_equal(check_at(&l, 322), TK_LIMIT_DISK);
}

static void counts_are_a_second_apart(void **state)
{
	const char *const paths[] = {folder, NULL};
	const struct tk_process_spec spec = {.disk_paths = paths, .disk_max_bytes = 100000};
	struct tk_process_limits l;

	tk_process_limits_init(&l, &spec);
	free_bytes -= GIB;
	assert_int_equal(check_at(&l, 100), TK_LIMIT_NONE);
	write_bytes(log_path, 200000);
	assert_int_equal(check_at(&l, 109), TK_LIMIT_NONE);
	assert_int_equal(check_at(&l, 112), TK_LIMIT_DISK);
	/* A tree that takes long to count is counted less often. */
	l.disk_count_ns = SECOND / 5;
	assert_int_equal(check_at(&l, 140), TK_LIMIT_NONE);
	assert_int_equal(check_at(&l, 153), TK_LIMIT_DISK);
}

/* A hundredth of the disk, or 1 GiB of a large one, stays free; a disk that was as full before is
 * no fault of the program. */
static void a_full_disk_ends_the_program(void **state)
{
	static const struct {
		uint64_t all, before, now;
		enum tk_process_limit limit;
	} cases[] = {
	        {1000 * GIB, 500 * GIB, 2 * GIB, TK_LIMIT_NONE},
	        {1000 * GIB, 500 * GIB, GIB, TK_LIMIT_NONE},
	        {1000 * GIB, 500 * GIB, GIB - 4096, TK_LIMIT_DISK_FULL},
	        {10 * GIB, 5 * GIB, GIB / 2, TK_LIMIT_NONE},
	        {10 * GIB, 5 * GIB, GIB / 11, TK_LIMIT_DISK_FULL},
	        {10 * GIB, GIB / 11, GIB / 11, TK_LIMIT_NONE}, /* as before */
	        {10 * GIB, GIB / 12, GIB / 11, TK_LIMIT_NONE}, /* others freed some */
	};
	const char *const paths[] = {folder, NULL};
	const struct tk_process_spec spec = {.disk_paths = paths, .disk_max_bytes = 1000 * GIB};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_process_limits l;
		all_bytes = cases[i].all;
		free_bytes = cases[i].before;
		tk_process_limits_init(&l, &spec);
		free_bytes = cases[i].now;
		if (check_at(&l, 10) != cases[i].limit)
			fail_msg("case %zu", i);
	}
}

static void a_disk_that_cannot_be_asked_is_not_full(void **state)
{
	const char *const paths[] = {folder, NULL};
	const struct tk_process_spec spec = {.disk_paths = paths, .disk_max_bytes = 1000 * GIB};
	struct tk_process_limits l;

	tk_process_limits_init(&l, &spec);
	free_bytes = 0;
	disk_status = -1;
	assert_int_equal(check_at(&l, 10), TK_LIMIT_NONE);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_long_log_is_seen_at_the_next_check),
	        TEST(without_limits_nothing_is_exceeded),
	        TEST(processes_are_counted),
	        TEST(large_folders_are_seen),
	        TEST(counts_are_a_second_apart),
	        TEST(a_full_disk_ends_the_program),
	        TEST(a_disk_that_cannot_be_asked_is_not_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
