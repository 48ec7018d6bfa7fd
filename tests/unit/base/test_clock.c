/* Times and durations, in and out. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"

static int64_t parsed(const char *text)
{
	int64_t t = -1;

	assert_int_equal(tk_time_parse(text, &t, NULL), TK_OK);
	return t;
}

static void times_are_read(void **state)
{
	assert_int_equal(parsed("1970-01-01"), 0);
	assert_int_equal(parsed("2026-11-21"), 1795219200);
	assert_int_equal(parsed("2026-11-21T09:42"), 1795219200 + 9 * 3600 + 42 * 60);
	assert_int_equal(parsed("2026-11-21T09:42:07Z"), 1795219200 + 9 * 3600 + 42 * 60 + 7);
	assert_int_equal(parsed("2026-11-21 09:42:07.123"), parsed("2026-11-21T09:42:07Z"));
	assert_int_equal(parsed("2026-11-21T09:42:00+02:00"), parsed("2026-11-21T07:42:00Z"));
	assert_int_equal(parsed("2026-11-21T09:42:00-0530"), parsed("2026-11-21T15:12:00Z"));
	assert_int_equal(parsed("2024-02-29"), 1709164800);
	assert_int_equal(parsed("@1700000000"), 1700000000);
	assert_int_equal(parsed("@-5"), -5);
}

static void bad_times_are_refused(void **state)
{
	static const char *const bad[] = {"", "yesterday", "2026", "2026-13-01", "2026-02-30",
	        "2023-02-29", "2026-11-21T", "2026-11-21T25:00", "2026-11-21T09:60", "2026-11-21x",
	        "2026-11-21T09:42:00+2", "26-11-21", "@", "@12x", "@99999999999999999999",
	        "2026-11-00"};
	struct tk_error err;
	int64_t t = 77;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(tk_time_parse(bad[i], &t, &err), TK_EDATA);
	assert_int_equal(t, 77);
	tk_time_parse("yesterday", &t, &err);
	assert_string_equal(err.message, "\"yesterday\" is not a time: expected 2026-11-21, "
	                                 "2026-11-21T09:42, 2026-11-21T09:42:00Z or @seconds");
}

static void times_are_written(void **state)
{
	char out[TK_TIME_ISO_SIZE];

	assert_string_equal(tk_time_format_iso(1795219200 + 61, out), "2026-11-21T00:01:01Z");
	assert_string_equal(tk_time_format_day(1795219200 + 61, out), "2026-11-21");
	assert_string_equal(tk_time_format_iso(INT64_MAX, out), "@9223372036854775807");
	assert_string_equal(tk_time_format_iso(-1, out), "1969-12-31T23:59:59Z");
	/* every day of 430 years, then some until after 9999, as the C library has them */
	for (int64_t day = 0; day < 2933000; day += day < 157000 ? 1 : 97) {
		time_t t = day * 86400 + day % 86400;
		struct tm tm;
		char want[TK_TIME_ISO_SIZE];

		gmtime_r(&t, &tm);
		strftime(want, sizeof want, "%Y-%m-%dT%H:%M:%SZ", &tm);
		if (strcmp(tk_time_format_iso(t, out), want) != 0)
			fail_msg("%s instead of %s", out, want);
		want[strcspn(want, "T")] = 0;
		if (strcmp(tk_time_format_day(t, out), want) != 0)
			fail_msg("%s instead of %s", out, want);
	}
}

static void now_can_be_pinned(void **state)
{
	setenv("TRACKER_NOW", "2026-11-21T00:00:00Z", 1);
	assert_int_equal(tk_clock_now_s(), 1795219200);
	setenv("TRACKER_NOW", "1700000000", 1);
	assert_int_equal(tk_clock_now_s(), 1700000000);
	setenv("TRACKER_NOW", "nonsense", 1);
	assert_true(tk_clock_now_s() > 1700000000);
	unsetenv("TRACKER_NOW");
	assert_true(tk_clock_now_s() > 1700000000);
}

static void monotonic_clock_moves_on(void **state)
{
	int64_t t = tk_clock_monotonic_ns();

	tk_clock_sleep_ns(1000000);
	assert_true(tk_clock_monotonic_ns() >= t + 1000000);
	tk_clock_sleep_ns(-5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(times_are_read),
	        cmocka_unit_test(bad_times_are_refused),
	        cmocka_unit_test(times_are_written),
	        cmocka_unit_test(now_can_be_pinned),
	        cmocka_unit_test(monotonic_clock_moves_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
