/* Histories from CSV files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "cli/history/history_csv.h"

static const char *write_file(const char *name, const char *text)
{
	static char path[2][128];
	static size_t n;
	char *p = path[n++ % 2];
	FILE *f;

	snprintf(p, sizeof path[0], "/tmp/tracker-test-%ld-%s", (long)getpid(), name);
	f = fopen(p, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	return p;
}

static void refuse(const char *text, const char *message)
{
	const char *path = write_file("bad.csv", text);
	struct tk_history_csv *h = NULL;
	struct tk_error err = {0};

	assert_int_equal(tk_history_csv_read(path, NULL, NULL, &h, &err), TK_EDATA);
	if (!strstr(err.message, message))
		fail_msg("expected \"%s\" in \"%s\"", message, err.message);
	tk_history_csv_free(h);
	unlink(path);
}

static void mistakes_are_named_by_line_and_column(void **state)
{
	refuse("", "no header line");
	refuse("series_id,day\n", "no column value");
	refuse("series_id,day,value\na,1\n", ":2: too few fields");
	refuse("series_id,day,value\na,x,1\n", ":2: day: ");
	refuse("series_id,day,value\na,1,fast\n", ":2: value: ");
	refuse("series_id,day,value\na,1,\"1\n", "quote is not closed");
}

static void days_order_a_series_and_not_the_rows(void **state)
{
	const char *data = write_file("data.csv",
	        "series_id,day,value,commit\nnew,3,30,c3\nold,1,1,c1\nnew,1,10,c1\nnew,3,31,c4\n"
	        "new,-2,5,c0\nold,2,2,c2\nnew,3,32,c5\n");
	static const int64_t days[] = {-2, 1, 3, 3, 3};
	static const double values[] = {5, 10, 30, 31, 32};
	static const char *const commits[] = {"c0", "c1", "c3", "c4", "c5"};
	struct tk_history_csv *h = NULL;
	const struct tk_series_history *series;
	struct tk_error err = {0};
	size_t count;

	(void)state;
	if (tk_history_csv_read(data, NULL, NULL, &h, &err))
		fail_msg("%s", err.message);
	series = tk_history_csv_series(h, &count);
	assert_int_equal(count, 2);
	assert_string_equal(series[0].id, "new");
	assert_int_equal(series[0].n, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(series[0].day[i], days[i]);
		assert_true(series[0].value[i] == values[i]);
		assert_string_equal(tk_history_csv_commit(h, 0, i), commits[i]);
	}
	assert_string_equal(series[1].id, "old");
	assert_int_equal(series[1].n, 2);
	assert_int_equal(series[1].day[0], 1);
	tk_history_csv_free(h);
	unlink(data);

	/* Also without a column of commits. */
	data = write_file("data.csv", "series_id,day,value\na,2,20\na,1,10\n");
	if (tk_history_csv_read(data, NULL, NULL, &h, &err))
		fail_msg("%s", err.message);
	series = tk_history_csv_series(h, &count);
	assert_true(series[0].value[0] == 10 && series[0].value[1] == 20);
	assert_string_equal(tk_history_csv_commit(h, 0, 0), "");
	tk_history_csv_free(h);
	unlink(data);
}

static void series_have_their_points_machine_and_driver(void **state)
{
	const char *data = write_file(
	        "data.csv", "commit,series_id,day,value\nc1,a,1,10\nc1,b,1,1e3\nc2,a,2,2.5e-1\n");
	const char *meta = write_file("meta.csv", "series_id,machine\na,m1\n");
	struct tk_history_csv *h = NULL;
	const struct tk_series_history *series;
	struct tk_error err = {0};
	size_t count;

	if (tk_history_csv_read(data, NULL, meta, &h, &err))
		fail_msg("%s", err.message);
	series = tk_history_csv_series(h, &count);
	assert_int_equal(count, 2);
	assert_string_equal(series[0].id, "a");
	assert_string_equal(series[0].machine, "m1");
	assert_int_equal(series[0].n, 2);
	assert_true(series[0].value[1] == 0.25);
	assert_int_equal(series[0].day[1], 2);
	assert_string_equal(tk_history_csv_commit(h, 0, 1), "c2");
	assert_string_equal(series[1].machine, "");
	assert_true(series[1].value[0] == 1000);
	tk_history_csv_free(h);
	unlink(data);
	unlink(meta);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(mistakes_are_named_by_line_and_column),
	        cmocka_unit_test(days_order_a_series_and_not_the_rows),
	        cmocka_unit_test(series_have_their_points_machine_and_driver),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
