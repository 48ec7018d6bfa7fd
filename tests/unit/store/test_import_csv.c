/* The CSV of change-point tools: what its columns mean, its times, and repetitions. */
#include "import_groups.h"
#include "import_rig.h"

#include "../quoted_json.h"
#include <math.h>
#include <stdlib.h>

/* Several values of one series at one time are repetitions: their median counts. */
static void repetitions_are_one_point(void **state)
{
	(void)state;
	EXPECT_TEXT(import_series(IMPORT("csv"),
	                    "series_id,time,commit,value\n"
	                    "odd,1600000000,c,5\nodd,1600000000,c,1\nodd,1600000000,c,3\n"
	                    "even,1600000000,c,8\neven,1600000000,c,2\neven,1600000000,c,4\n"
	                    "even,1600000000,c,16\n"
	                    "one,1600000000,c,7\n"
	                    "two,1600000000,c,7\ntwo,1600000000,c,7\n"),
	        "even value  lower: 6@1600000000[n=4 min=2]\n"
	        "odd value  lower: 3@1600000000[n=3 min=1]\n"
	        "one value  lower: 7@1600000000\n"
	        "two value  lower: 7@1600000000[n=2 min=7]\n");
	/* At another time, or of another commit, they are points. */
	EXPECT_TEXT(import_series(IMPORT("csv"), "name,time,commit,value\na,1600000000,c,5\n"
	                                         "a,1600000001,c,6\na,1600000000,d,7\n"),
	        "a value  lower: 5@1600000000 7@1600000000 6@1600000001\n");
	/* The mean of two large values does not overflow. */
	EXPECT_TEXT(import_series(IMPORT("csv"),
	                    "name,time,value\na,1600000000,1.5e308\na,1600000000,1.5e308\n"),
	        "a value  lower: 1.5e+308@1600000000[n=2 min=1.5e+308]\n");
}

static void headings_of_a_long_file(void **state)
{
	static const char *const series[] = {"series_id", "series", "test", "metric", "benchmark",
	        "name", "NAME"},
	                         *const values[] = {"value", "measurement"},
	                         *const times[] = {"day", "date", "time", "timestamp", "datetime"},
	                         *const revs[] = {"commit", "revision", "rev", "sha", "hash"};

	(void)state;
	for (size_t i = 0; i < sizeof series / sizeof *series; i++) {
		char text[256];

		snprintf(text, sizeof text,
		        "%s,%s,%s,%s,unit,better\na,1600000000,c1,5,ms,\n"
		        "b,1600000000,c1,5,apples,higher\nc,1600000000,c1,5,ops,lower\n",
		        series[i], times[i % 5], revs[i % 5], values[i % 2]);
		EXPECT_TEXT(import_series(IMPORT("csv"), text),
		        "a time ns lower: 5e+06@1600000000\n"
		        "b value apples higher: 5@1600000000\n"
		        "c throughput ops lower: 5@1600000000\n");
		EXPECT_TEXT(import_runs(IMPORT("csv"), text), "1600000000 c1 :  {}\n");
	}
}

static void a_wide_file_has_a_series_a_column(void **state)
{
	static const char text[] = "time,commit,gemm_ms,throughput,branch,unit\n"
	                           "2020-09-13T12:26:40Z,aaa,1.5,1000,main,1\n"
	                           "2020-09-14T12:26:40Z,bbb,1.6,,next,2\n";

	(void)state;
	/* A unit without a value column is a series like the others. */
	EXPECT_TEXT(import_series(IMPORT("csv"), text),
	        "gemm_ms value  lower: 1.5@1600000000 1.6@1600086400\n"
	        "throughput value  lower: 1000@1600000000\n"
	        "unit value  lower: 1@1600000000 2@1600086400\n");
	EXPECT_TEXT(import_runs(IMPORT("csv"), text),
	        quoted("1600000000 aaa :  {'branch':'main'}\n1600086400 bbb :  "
	               "{'branch':'next'}\n"));
	/* The first cell that is not empty decides whether a column is one of numbers. */
	EXPECT_TEXT(import_series(IMPORT("csv"), "time,a,b\n1600000000,,x\n1600000001,1,2\n"),
	        "a value  lower: 1@1600000001\n");
	import_must_fail(IMPORT("csv"), "time,a\n1600000000,1\n1600000001,x\n",
	        "file:3: a: \"x\" is not a number");
}

static void separators_quotes_and_line_ends(void **state)
{
	static const char *const texts[] = {
	        "name,time,commit,value\na,1600000000,c,5\n",
	        "name;time;commit;value\na;1600000000;c;5\n",
	        "name\ttime\tcommit\tvalue\r\na\t1600000000\tc\t5\r\n",
	        "\xef\xbb\xbfname,time,commit,value\na,1600000000,c,5",
	        "\"name\",\"time\",\"commit\",\"value\"\n\"a\",\"1600000000\",\"c\",\"5\"\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct import_rig rig;

		EXPECT_TEXT(
		        import_series(IMPORT("csv"), texts[i]), "a value  lower: 5@1600000000\n");
		/* Also where nobody names the format. */
		import_rig_new(&rig);
		MUST(import_rig_read(&rig, IMPORT(NULL), texts[i], &err));
		assert_int_equal(rig.counts.points, 1);
		import_rig_free(&rig);
	}
}

static void other_columns_of_a_long_file(void **state)
{
	(void)state;
	EXPECT_TEXT(import_runs(IMPORT("csv"), "name,time,commit,value,host,note,host\n"
	                                       "a,1600000000,c,5,h1,,x\nb,1600000000,c,6,h2,n,\n"),
	        quoted("1600000000 c :  "
	               "{'series':{'a':{'host':'x'},'b':{'host':'h2','note':'n'}}}\n"));
	/* A second column of values is no other series. */
	EXPECT_TEXT(import_series(IMPORT("csv"), "name,time,value,value\na,1600000000,5,6\n"),
	        "a value  lower: 5@1600000000\n");
	/* Without a column of names there is one series. */
	EXPECT_TEXT(import_series(IMPORT("csv"), "time,value\n1600000000,5\n"),
	        "value value  lower: 5@1600000000\n");
	EXPECT_TEXT(import_series(IMPORT("csv"), "name,time,value\n,1600000000,5\n"),
	        "value value  lower: 5@1600000000\n");
}

/* What a run is of: its commit, else its time as the file writes it. */
static void revisions(void **state)
{
	static const struct {
		const char *text, *run;
	} cases[] = {
	        {"day,commit,value\n1,c,5\n", "946771200 c "},
	        {"commit,day,value\nc,1,5\n", "946771200 c "},
	        {"day,value\n1,5\n", "946771200 1 "},
	        {"day,commit,value\n1,,5\n", "946771200 1 "},
	        {"day,value\n2000-01-02,5\n", "946771200 2000-01-02 "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *got = import_runs(IMPORT("csv"), cases[i].text);

		if (strncmp(got, cases[i].run, strlen(cases[i].run)))
			fail_msg("%s: %s", cases[i].text, got);
		free(got);
	}
	/* Commits without a time have no place in a history. */
	import_must_fail(IMPORT("csv"), "name,commit,value\na,c,5\n",
	        "the time 1970-01-01T00:00:00Z is not between 1970 and 2200");
}

/* Numbers are days from 2000, seconds, milliseconds or microseconds by their size. */
static void times_by_their_size(void **state)
{
	static const struct {
		const char *cell;
		long long time_s;
	} cases[] = {
	        {"0", 946684800},
	        {"1", 946771200},
	        {"0.5", 946728000},
	        {"-1", 946598400},
	        {"1000", 1033084800},
	        {"1000000", 1000000}, /* too large for a day */
	        {"1000001.9", 1000001},
	        {"7000000000", 7000000000},
	        {"100000000001", 100000000}, /* too large for a second */
	        {"1600000000999", 1600000000},
	        {"100000000000001", 100000000}, /* too large for a millisecond */
	        {"1600000000999999", 1600000000},
	        {"2000-01-02", 946771200},
	        {"2000-01-02T00:00:00.999Z", 946771200},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[128], expected[128];

		snprintf(text, sizeof text, "name,time,commit,value\na,%s,c,5\n", cases[i].cell);
		snprintf(expected, sizeof expected, "%lld c :  {}\n", cases[i].time_s);
		EXPECT_TEXT(import_runs(IMPORT("csv"), text), expected);
	}
}

static void malformed_files(void **state)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
	        {"name,value\na,1\n", "file:1: there is no column of times"},
	        {"time,value\n,1\n", "file:2: time: \"\" is not a time or a number of days"},
	        {"time,value\n1x,1\n", "file:2: time: \"1x\" is not a time"},
	        {"time,value\n1e17,1\n", "file:2: time: \"1e17\" is not a time"},
	        {"time,value\nnan,1\n", "file:2: time: \"nan\" is not a time"},
	        {"day,value\n1,x\n", "file:2: value: \"x\" is not a number"},
	        {"day,value\n1,5 \n", "file:2: value: \"5 \" is not a number"},
	        {"day,value,better\n1,5,Lower\n",
	                "file:2: better: \"Lower\" is not \"lower\" or \"higher\""},
	        {"day,value\n1,5,6\n", "file:2: 3 columns, the heading has 2"},
	        {"day,value\n1,5\n2\n", "file:3: 1 columns, the heading has 2"},
	        {"day,value\n-10957,5\n", "is not between 1970 and 2200"},
	        {"day,value\n100000,5\n", "is not between 1970 and 2200"},
	        {"day,value\n", "file: no results of the format csv"},
	        {"day,value\n1,\n2,x\n", "file:3: value: \"x\" is not a number"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		import_must_fail(IMPORT("csv"), cases[i].text, cases[i].words);
}

static void values_that_are_none(void **state)
{
	struct import_rig rig;

	(void)state;
	import_rig_new(&rig);
	MUST(import_rig_read(&rig, IMPORT("csv"),
	        "name,day,value,unit\nfirst,1,,\nb,1,inf,\nc,1,nan,\nd,1,0,ms\ne,1,-1,s\n"
	        "f,1,0,\ng,1,-1,\nh,1,0,GB\n",
	        &err));
	assert_int_equal(rig.counts.without_value, 5);
	assert_non_null(strstr(rig.counts.first_without_value, "/file: first"));
	EXPECT_TEXT(import_rig_series(&rig, "csv"), "f value  lower: 0@946771200\n"
	                                            "g value  lower: -1@946771200\n"
	                                            "h memory bytes lower: 0@946771200\n");
	import_rig_free(&rig);
}

/* Thousands of points of hundreds of series in any order: each is found again, whichever order the
 * file has them in. */
static void many_points_in_any_order(void **state)
{
	enum { SERIES = 40, DAYS = 30 };
	struct import_rig rig;
	struct tk_buf text = TK_BUF_INIT;
	struct tk_rows all = {0};

	(void)state;
	import_rig_new(&rig);
	tk_buf_add_str(&text, "name,day,commit,value\n");
	for (int i = 0; i < SERIES * DAYS; i++) {
		int k = (i * 7919 + 13) % (SERIES * DAYS); /* a permutation: 7919 is prime */

		tk_buf_add_printf(
		        &text, "s%02d,%d,c%d,%d\n", k % SERIES, k / SERIES, k / SERIES, k + 1);
	}
	MUST(import_rig_read(&rig, IMPORT("csv"), tk_buf_cstr(&text), &err));
	assert_int_equal(rig.counts.series, SERIES);
	assert_int_equal(rig.counts.nights, DAYS);
	assert_int_equal(rig.counts.points, SERIES * DAYS);
	MUST(tk_store_list_series(rig.history.store, &all, &err));
	assert_int_equal(all.count, SERIES);
	for (size_t i = 0; i < all.count; i++) {
		struct tk_rows points = {0};

		MUST(tk_store_list_points(rig.history.store,
		        TK_ROWS_AT(&all, struct tk_series_row, i)->id, INT64_MIN, 0, &points,
		        &err));
		assert_int_equal(points.count, DAYS);
		for (size_t day = 0; day < points.count; day++)
			assert_float_equal(TK_ROWS_AT(&points, struct tk_point, day)->value,
			        (double)(day * SERIES + i + 1), 0);
		tk_rows_free(&points);
	}
	tk_rows_free(&all);
	tk_buf_free(&text);
	import_rig_free(&rig);
}

int import_csv_tests(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(repetitions_are_one_point),
	        cmocka_unit_test(headings_of_a_long_file),
	        cmocka_unit_test(a_wide_file_has_a_series_a_column),
	        cmocka_unit_test(separators_quotes_and_line_ends),
	        cmocka_unit_test(other_columns_of_a_long_file),
	        cmocka_unit_test(revisions),
	        cmocka_unit_test(times_by_their_size),
	        cmocka_unit_test(malformed_files),
	        cmocka_unit_test(values_that_are_none),
	        cmocka_unit_test(many_points_in_any_order),
	};

	return cmocka_run_group_tests_name("csv", tests, NULL, NULL);
}
