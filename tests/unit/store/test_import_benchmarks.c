/* Benchmark frameworks that measure one revision a file: Google Benchmark, hyperfine,
 * pytest-benchmark. */
#include "import_groups.h"
#include "import_rig.h"

#include "../quoted_json.h"
#include <math.h>
#include <stdlib.h>

/* ---- Google Benchmark ------------------------------------------------------------------------ */

#define GOOGLE(context, rows) "{'context': {" context "}, 'benchmarks': [" rows "]}"

static void google_repetitions_become_their_median(void **state)
{
	(void)state;
	EXPECT_TEXT(import_series(IMPORT("google-benchmark"),
	                    quoted(GOOGLE("",
	                            "{'name': 'a', 'real_time': 3, 'cpu_time': 2, 'time_unit': "
	                            "'us'},"
	                            "{'name': 'a', 'real_time': 1, 'cpu_time': 2},"
	                            "{'name': 'a', 'real_time': 5, 'cpu_time': 2},"
	                            "{'name': 'b', 'real_time': 7, 'bytes_per_second': 2e9, "
	                            "'items_per_second': 40}"))),
	        "a cpu_time ns lower: 2000@1700000000[n=3 min=2000 q25=2000 q75=2000 p95=2000]\n"
	        "a time ns lower: 3000@1700000000[n=3 min=1000 q25=2000 q75=4000 p95=4800]\n"
	        "b bandwidth gb_per_s higher: 2@1700000000\n"
	        "b items items/s higher: 40@1700000000\n"
	        "b time ns lower: 7@1700000000\n");
}

/* The unit of a benchmark does not carry over to the next one. */
static void google_units_are_of_one_benchmark(void **state)
{
	(void)state;
	EXPECT_TEXT(import_series(IMPORT("google-benchmark"),
	                    quoted(GOOGLE("", "{'name': 'a', 'real_time': 1, 'time_unit': 's'},"
	                                      "{'name': 'b', 'real_time': 1}"))),
	        "a time ns lower: 1e+09@1700000000\n"
	        "b time ns lower: 1@1700000000\n");
}

static void google_aggregates_alone(void **state)
{
	static const struct {
		const char *rows, *value;
	} cases[] = {
	        {"{'name': 'x_mean', 'run_name': 'x', 'aggregate_name': 'mean', 'real_time': 4}",
	                "4"},
	        {"{'name': 'x_mean', 'run_name': 'x', 'aggregate_name': 'mean', 'real_time': 4},"
	         "{'name': 'x_median', 'run_name': 'x', 'aggregate_name': 'median', 'real_time': "
	         "3}",
	                "3"},
	        {"{'name': 'x_median', 'run_name': 'x', 'aggregate_name': 'median', 'real_time': "
	         "3},"
	         "{'name': 'x_mean', 'run_name': 'x', 'aggregate_name': 'mean', 'real_time': 4},"
	         "{'name': 'x_stddev', 'run_name': 'x', 'aggregate_name': 'stddev', 'real_time': "
	         "9}",
	                "3"},
	        /* Single repetitions count more than what is made of them. */
	        {"{'name': 'x', 'real_time': 2},"
	         "{'name': 'x_median', 'run_name': 'x', 'aggregate_name': 'median', 'real_time': "
	         "3}",
	                "2"},
	        /* A median of the benchmark before does not keep the mean of this one out. */
	        {"{'name': 'w_median', 'run_name': 'w', 'aggregate_name': 'median', 'real_time': "
	         "0},"
	         "{'name': 'x_mean', 'run_name': 'x', 'aggregate_name': 'mean', 'real_time': 4}",
	                "4"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[2048], expected[64];

		snprintf(text, sizeof text, GOOGLE("", "%s"), cases[i].rows);
		snprintf(expected, sizeof expected, "x time ns lower: %s@1700000000\n",
		        cases[i].value);
		EXPECT_TEXT(import_series(IMPORT("google-benchmark"), quoted(text)), expected);
	}
}

static void google_failures_have_no_value(void **state)
{
	struct import_rig rig;

	(void)state;
	import_rig_new(&rig);
	MUST(import_rig_read(&rig, IMPORT("google-benchmark", .rev = "r"),
	        quoted(GOOGLE("", "{'name': 'bad', 'error_occurred': true, 'real_time': 1},"
	                          "{'name': 'not', 'skipped': true, 'real_time': 1},"
	                          "{'name': 'zero', 'real_time': 0},"
	                          "{'name': 'good', 'error_occurred': false, 'real_time': 1}")),
	        &err));
	assert_int_equal(rig.counts.without_value, 3);
	assert_non_null(strstr(rig.counts.first_without_value, "/file: bad"));
	EXPECT_TEXT(
	        import_rig_series(&rig, "google-benchmark"), "good time ns lower: 1@1700000000\n");
	EXPECT_TEXT(import_rig_runs(&rig),
	        quoted("1700000000 r :  {'benchmarks':{'good':{'error_occurred':false}},"
	               "'context':{},'failed':{'bad':{'error_occurred':true,'name':'bad',"
	               "'real_time':1},'not':{'name':'not','real_time':1,'skipped':true}}}\n"));
	import_rig_free(&rig);
}

static void google_context_names_the_place_and_the_commit(void **state)
{
	static const char text[] = GOOGLE("'host_name': 'bench-1', 'executable': './out/bench_x', "
	                                  "'date': '2020-09-13T14:26:40+02:00', 'git_sha': 'f00'",
	        "{'name': 'a', 'real_time': 1, 'label': 'avx2', 'threads': null}");

	(void)state;
	EXPECT_TEXT(import_places(IMPORT_AS("google-benchmark", .at_s = IMPORT_AT_S), quoted(text)),
	        "machine bench-1 {}\ndevice unknown\nupstream bench_x\n");
	EXPECT_TEXT(import_places(IMPORT("google-benchmark", .upstream = "lib"), quoted(text)),
	        "machine box {}\ndevice unknown\nupstream lib\n");
	EXPECT_TEXT(
	        import_places(IMPORT_AS("google-benchmark", .at_s = IMPORT_AT_S),
	                quoted(GOOGLE("'executable': 'plain'", "{'name': 'a', 'real_time': 1}"))),
	        "machine imported {}\ndevice unknown\nupstream plain\n");
	/* A time of the request takes the place of the file's, a revision too. */
	EXPECT_TEXT(import_runs(IMPORT_AS("google-benchmark", .machine = "box"), quoted(text)),
	        quoted("1600000000 f00 :  {'benchmarks':{'a':{'label':'avx2'}},'context':{'date':"
	               "'2020-09-13T14:26:40+02:00','executable':'./out/bench_x','git_sha':'f00',"
	               "'host_name':'bench-1'}}\n"));
	EXPECT_TEXT(import_runs(IMPORT("google-benchmark", .rev = "mine"),
	                    quoted(GOOGLE("'commit': 'x'", "{'name': 'a', 'real_time': 1}"))),
	        quoted("1700000000 mine :  {'context':{'commit':'x'}}\n"));
	/* Without either the revision is named by its time. */
	EXPECT_TEXT(import_runs(IMPORT("google-benchmark"),
	                    quoted(GOOGLE("'date': 'soon'", "{'name': 'a', 'real_time': 1}"))),
	        quoted("1700000000 2023-11-14T22:13:20Z :  {'context':{'date':'soon'}}\n"));
}

static void google_names_of_the_commit(void **state)
{
	static const char *const names[] = {
	        "commit", "git_commit", "git_sha", "git_hash", "revision", "build_id"};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char text[256], expected[128];

		snprintf(text, sizeof text, GOOGLE("'%s': 'c%zu'", "{'name': 'a', 'real_time': 1}"),
		        names[i], i);
		snprintf(expected, sizeof expected,
		        "1700000000 c%zu :  {'context':{'%s':'c%zu'}}\n", i, names[i], i);
		char *got = import_runs(IMPORT("google-benchmark"), quoted(text));

		assert_string_equal(got, quoted(expected));
		free(got);
	}
}

static void google_wrong_types(void **state)
{
	static const struct {
		const char *row, *words;
	} cases[] = {
	        {"{'real_time': 1}", "benchmarks[0].name: is missing"},
	        {"{'name': '', 'real_time': 1}", "benchmarks[0].name: is missing"},
	        {"{'name': 7}", "benchmarks[0].name: expected a string, found 7"},
	        {"{'name': 'a', 'run_name': []}", ".run_name: expected a string"},
	        {"{'name': 'a', 'aggregate_name': 1}", ".aggregate_name: expected a string"},
	        {"{'name': 'a', 'time_unit': 1}", ".time_unit: expected a string"},
	        {"{'name': 'a', 'real_time': 'x'}", ".real_time: expected a number, found \"x\""},
	        {"{'name': 'a', 'cpu_time': {}}", ".cpu_time: expected a number"},
	        {"{'name': 'a', 'bytes_per_second': true}", ".bytes_per_second: expected a number"},
	        {"{'name': 'a', 'real_time': 1}, {'name': 'b', 'items_per_second': 'x'}",
	                "benchmarks[1].items_per_second: expected a number"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[256];

		snprintf(text, sizeof text, GOOGLE("", "%s"), cases[i].row);
		import_must_fail(IMPORT("google-benchmark"), quoted(text), cases[i].words);
	}
}

/* ---- hyperfine ------------------------------------------------------------------------------- */

#define HYPERFINE(members) "{'results': [{'command': 'true'" members "}]}"

static void hyperfine_takes_the_best_that_is_known(void **state)
{
	static const struct {
		const char *members, *point;
	} cases[] = {
	        {", 'mean': 3", "3e+09@1700000000"},
	        {", 'mean': 3, 'median': 2", "2e+09@1700000000"},
	        {", 'median': 2, 'min': 1", "2e+09@1700000000[min=1e+09]"},
	        {", 'mean': 3, 'median': null, 'times': []", "3e+09@1700000000"},
	        {", 'median': 9, 'times': [4]", "4e+09@1700000000"},
	        {", 'median': 9, 'min': 0.5, 'times': [4, 1, 2]",
	                "2e+09@1700000000[n=3 min=1e+09 q25=1.5e+09 q75=3e+09 p95=3.8e+09]"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[256], expected[160];

		snprintf(text, sizeof text, HYPERFINE("%s"), cases[i].members);
		snprintf(expected, sizeof expected, "true time ns lower: %s\n", cases[i].point);
		EXPECT_TEXT(import_series(IMPORT("hyperfine"), quoted(text)), expected);
	}
}

static void hyperfine_keeps_other_members(void **state)
{
	(void)state;
	EXPECT_TEXT(
	        import_runs(IMPORT("hyperfine", .rev = "r1"),
	                quoted(HYPERFINE(", 'mean': 3, 'stddev': 0.5, 'user': null, 'median': 2, "
	                                 "'min': 1, 'times': [2]"))),
	        quoted("1700000000 r1 :  {'results':{'true':{'mean':3,'stddev':0.5}}}\n"));
	EXPECT_TEXT(import_places(IMPORT_AS("hyperfine", .at_s = IMPORT_AT_S),
	                    quoted(HYPERFINE(", 'mean': 3"))),
	        "machine imported {}\ndevice unknown\nupstream imported\n");
}

static void hyperfine_wrong_types(void **state)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
	        {"{'results': [{'mean': 1}]}", "results[0].command: is missing"},
	        {"{'results': [{'command': ''}]}", "results[0].command: is missing"},
	        {"{'results': [{'command': 1}]}", "results[0].command: expected a string, found 1"},
	        {HYPERFINE(", 'median': 'x'"), ".median: expected a number, found \"x\""},
	        {HYPERFINE(", 'mean': []"), ".mean: expected a number, found an empty list"},
	        {HYPERFINE(", 'min': {}"), ".min: expected a number, found an empty object"},
	        {HYPERFINE(", 'times': 'x'"), ".times: expected a list, found \"x\""},
	        {HYPERFINE(", 'times': {}"), ".times: expected a list, found an empty object"},
	        {HYPERFINE(", 'times': [1, 'x']"), ".times[1]: expected a number, found \"x\""},
	        {HYPERFINE(", 'times': [1, null, 'x']"),
	                ".times[1]: expected a number, found null"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		import_must_fail(IMPORT("hyperfine"), quoted(cases[i].text), cases[i].words);
}

/* ---- pytest-benchmark ------------------------------------------------------------------------ */

#define PYTEST(header, row) "{" header "'benchmarks': [{" row "}]}"

static void pytest_statistics(void **state)
{
	static const struct {
		const char *stats, *point;
	} cases[] = {
	        {"'median': 0.002, 'mean': 1, 'q1': 0.001, 'q3': 0.003, 'min': 0.0005, 'rounds': 7",
	                "2e+06@1700000000[n=7 min=500000 q25=1e+06 q75=3e+06]"},
	        {"'mean': 0.004", "4e+06@1700000000"},
	        {"'mean': 0.004, 'rounds': 0", "4e+06@1700000000"},
	        {"'mean': 0.004, 'rounds': 1e15", "4e+06@1700000000"},
	        {"'mean': 0.004, 'rounds': 1e14", "4e+06@1700000000[n=100000000000000]"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[256], expected[160];

		snprintf(text, sizeof text, PYTEST("", "'name': 'x', 'stats': {%s}"),
		        cases[i].stats);
		snprintf(expected, sizeof expected, "x time ns lower: %s\n", cases[i].point);
		EXPECT_TEXT(import_series(IMPORT("pytest-benchmark"), quoted(text)), expected);
	}
	EXPECT_TEXT(import_series(IMPORT("pytest-benchmark"),
	                    quoted(PYTEST("", "'name': 'x', 'fullname': 'm.py::x', 'group': 'g', "
	                                      "'stats': {'mean': 1}"))),
	        "m.py::x time ns lower family=g: 1e+09@1700000000\n");
	EXPECT_TEXT(
	        import_series(IMPORT("pytest-benchmark"),
	                quoted(PYTEST("", "'name': 'x', 'fullname': '', 'stats': {'mean': 1}"))),
	        "x time ns lower: 1e+09@1700000000\n");
}

static void pytest_places(void **state)
{
	(void)state;
	EXPECT_TEXT(
	        import_places(IMPORT_AS("pytest-benchmark", .at_s = IMPORT_AT_S),
	                quoted(PYTEST("'machine_info': {'node': 'n1', 'machine': 'x86_64', 'cpu': "
	                              "{'brand_raw': 'CPU 1', 'brand': 'old'}}, 'commit_info': "
	                              "{'project': 'lib'},",
	                        "'name': 'x', 'stats': {'mean': 1}"))),
	        "machine n1 {}\ndevice CPU 1 of x86_64\nupstream lib\n");
	EXPECT_TEXT(import_places(IMPORT_AS("pytest-benchmark", .at_s = IMPORT_AT_S),
	                    quoted(PYTEST("'machine_info': {'cpu': {'brand': 'old'}},",
	                            "'name': 'x', 'stats': {'mean': 1}"))),
	        "machine imported {}\ndevice old\nupstream imported\n");
}

/* The time of the commit, else of its author, else of the measurement, else of the request. */
static void pytest_times(void **state)
{
	static const struct {
		const char *header, *run;
		int64_t at_s;
	} cases[] = {
	        {"'commit_info': {'id': 'c', 'time': '2020-09-13T12:26:40', 'author_time': "
	         "'2021-01-01T00:00:00'}, 'datetime': '2022-01-01T00:00:00',",
	                "1600000000 c", 0},
	        {"'commit_info': {'id': 'c', 'time': 'never', 'author_time': "
	         "'2020-09-13T12:26:41'}, 'datetime': '2022-01-01T00:00:00',",
	                "1600000001 c", 0},
	        {"'commit_info': {'id': 'c'}, 'datetime': '2020-09-13T12:26:42.123456',",
	                "1600000002 c", 0},
	        {"'commit_info': {'id': 'c', 'time': '2020-09-13T12:26:40'},", "77 c", 77},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[512];

		snprintf(text, sizeof text, PYTEST("%s", "'name': 'x', 'stats': {'mean': 1}"),
		        cases[i].header);
		char *got = import_runs(
		        IMPORT_AS("pytest-benchmark", .machine = "box", .at_s = cases[i].at_s),
		        quoted(text));

		if (strncmp(got, cases[i].run, strlen(cases[i].run)))
			fail_msg("%s: %s", cases[i].header, got);
		free(got);
	}
	EXPECT_TEXT(import_runs(IMPORT("pytest-benchmark", .rev = "mine"),
	                    quoted(PYTEST("'commit_info': {'id': 'c'}, 'version': '4',",
	                            "'name': 'x', 'params': {'n': 1}, 'extra': null, 'stats': "
	                            "{'mean': 1}"))),
	        quoted("1700000000 mine :  {'benchmarks':{'x':{'params':{'n':1}}},"
	               "'commit_info':{'id':'c'},'version':'4'}\n"));
}

static void pytest_wrong_types(void **state)
{
	static const struct {
		const char *row, *words;
	} cases[] = {
	        {"'stats': {'mean': 1}", "benchmarks[0].fullname: is missing"},
	        {"'fullname': 3, 'stats': {}", ".fullname: expected a string, found 3"},
	        {"'name': [], 'stats': {}", ".name: expected a string"},
	        {"'name': 'x', 'group': 1, 'stats': {}", ".group: expected a string"},
	        {"'name': 'x'", ".stats: expected an object, found nothing"},
	        {"'name': 'x', 'stats': [1]", ".stats: expected an object, found a list"},
	        {"'name': 'x', 'stats': {'rounds': 'x'}", ".rounds: expected a number"},
	        {"'name': 'x', 'stats': {'median': 'x'}", ".median: expected a number"},
	        {"'name': 'x', 'stats': {'q1': 'x'}", ".q1: expected a number"},
	        {"'name': 'x', 'stats': {'q3': 'x'}", ".q3: expected a number"},
	        {"'name': 'x', 'stats': {'min': 'x'}", ".min: expected a number"},
	        {"'name': 'x', 'stats': {'mean': 'x'}", ".mean: expected a number"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[256];

		snprintf(text, sizeof text, PYTEST("", "%s"), cases[i].row);
		import_must_fail(IMPORT("pytest-benchmark"), quoted(text), cases[i].words);
	}
}

int import_benchmark_tests(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(google_repetitions_become_their_median),
	        cmocka_unit_test(google_units_are_of_one_benchmark),
	        cmocka_unit_test(google_aggregates_alone),
	        cmocka_unit_test(google_failures_have_no_value),
	        cmocka_unit_test(google_context_names_the_place_and_the_commit),
	        cmocka_unit_test(google_names_of_the_commit),
	        cmocka_unit_test(google_wrong_types),
	        cmocka_unit_test(hyperfine_takes_the_best_that_is_known),
	        cmocka_unit_test(hyperfine_keeps_other_members),
	        cmocka_unit_test(hyperfine_wrong_types),
	        cmocka_unit_test(pytest_statistics),
	        cmocka_unit_test(pytest_places),
	        cmocka_unit_test(pytest_times),
	        cmocka_unit_test(pytest_wrong_types),
	};

	return cmocka_run_group_tests_name("benchmarks", tests, NULL, NULL);
}
