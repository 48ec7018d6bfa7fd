/* Moments as people type them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "cli/arguments.h"

#define NOON 1763726400 /* 2025-11-21 12:00 UTC */
#define DAY 86400

static int64_t parse(const char *text, bool end_of_day)
{
	struct tk_error err = {0};
	int64_t t;

	if (tk_when_parse(text, NOON, end_of_day, &t, &err))
		fail_msg("%s", err.message);
	return t;
}

static void durations_count_back_from_now(void **state)
{
	assert_int_equal(parse("7d", false), NOON - 7 * DAY);
	assert_int_equal(parse("90s", true), NOON - 90);
	assert_int_equal(parse("last week", false), NOON - 7 * DAY);
}

static void days_are_their_first_or_last_second(void **state)
{
	assert_int_equal(parse("today", false), NOON - DAY / 2);
	assert_int_equal(parse("today", true), NOON + DAY / 2 - 1);
	assert_int_equal(parse("yesterday", false), NOON - DAY / 2 - DAY);
	assert_int_equal(parse("2025-11-21", false), NOON - DAY / 2);
	assert_int_equal(parse("2025-11-21", true), NOON + DAY / 2 - 1);
	assert_int_equal(parse("2025-11-21T12:00:00Z", true), NOON);
	assert_int_equal(parse("@1763726400", true), NOON);
}

static void other_words_are_refused(void **state)
{
	static const char *const words[] = {"", "7", "soon", "7x", "2025-13-01", "tomorrow"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		struct tk_error err = {0};
		int64_t t = 5;

		assert_int_equal(tk_when_parse(words[i], NOON, false, &t, &err), TK_EUSAGE);
		assert_non_null(strstr(err.message, "is not a duration"));
		assert_int_equal(t, 5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(durations_count_back_from_now),
	        cmocka_unit_test(days_are_their_first_or_last_second),
	        cmocka_unit_test(other_words_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
