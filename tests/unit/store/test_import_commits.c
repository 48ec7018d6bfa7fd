/* Histories that name their commits: airspeed velocity and github-action-benchmark. */
#include "base/file.h"
#include "import_groups.h"
#include "import_rig.h"

#include "../quoted_json.h"
#include <stdlib.h>
#include <sys/stat.h>

/* ---- airspeed velocity ----------------------------------------------------------------------- */

#define ASV_HEADER "'commit_hash': 'c1', 'date': 1600000000000, "
#define ASV(results) "{" ASV_HEADER "'results': {" results "}}"
#define ASV_COLUMNS(columns, row) \
	"{" ASV_HEADER "'result_columns': [" columns "], 'results': {'time_x': " row "}}"

static void asv_version_1(void **state)
{
	static const struct {
		const char *results, *series;
	} cases[] = {
	        {"'m.time_x': 2", "m.time_x time ns lower: 2e+09@1600000000\n"},
	        {"'m.mem_x': 2", "m.mem_x memory bytes lower: 2@1600000000\n"},
	        {"'peakmem_x': 2", "peakmem_x memory bytes lower: 2@1600000000\n"},
	        {"'S.timeraw_x': 2", "S.timeraw_x time ns lower: 2e+09@1600000000\n"},
	        {"'S.TimeX': 2", "S.TimeX time ns lower: 2e+09@1600000000\n"},
	        /* Words that only begin alike say nothing. */
	        {"'S.timer': 2", "S.timer value  lower: 2@1600000000\n"},
	        {"'S.memory': 2", "S.memory value  lower: 2@1600000000\n"},
	        {"'time_a.track_x': 2", "time_a.track_x value  lower: 2@1600000000\n"},
	        /* No result. */
	        {"'time_x': null, 'time_y': 1", "time_y time ns lower: 1e+09@1600000000\n"},
	        {"'time_x': {'result': null}, 'time_y': 1",
	                "time_y time ns lower: 1e+09@1600000000\n"},
	        {"'time_x': {'result': [1, null, 3], 'params': [['a', 'b', 'c']]}",
	                "time_x(a) time ns lower: 1e+09@1600000000\n"
	                "time_x(c) time ns lower: 3e+09@1600000000\n"},
	        /* The last parameter changes fastest. */
	        {"'track_x': {'result': [1, 2, 3, 4, 5, 6], 'params': [['a', 'b'], ['1', '2', "
	         "'3']]}",
	                "track_x(a, 1) value  lower: 1@1600000000\n"
	                "track_x(a, 2) value  lower: 2@1600000000\n"
	                "track_x(a, 3) value  lower: 3@1600000000\n"
	                "track_x(b, 1) value  lower: 4@1600000000\n"
	                "track_x(b, 2) value  lower: 5@1600000000\n"
	                "track_x(b, 3) value  lower: 6@1600000000\n"},
	        {"'time_x': {'result': 2, 'stats': {'ci_99': [1, 3], 'q_25': 1.5, 'q_75': 2.5, "
	         "'min': 0.5, 'repeat': 8}}",
	                "time_x time ns lower: 2e+09@1600000000[n=8 lo=1e+09 hi=3e+09 min=5e+08 "
	                "q25=1.5e+09 q75=2.5e+09]\n"},
	        {"'time_x': {'result': [2], 'stats': [{'ci_99_a': 1, 'ci_99_b': 3, 'repeat': 0}]}",
	                "time_x time ns lower: 2e+09@1600000000[lo=1e+09 hi=3e+09]\n"},
	        {"'time_x': {'result': [2], 'stats': [{'repeat': 1e9}]}",
	                "time_x time ns lower: 2e+09@1600000000\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[512];

		snprintf(text, sizeof text, ASV("%s"), cases[i].results);
		EXPECT_TEXT(import_series(IMPORT("asv"), quoted(text)), cases[i].series);
	}
}

static void asv_version_2(void **state)
{
	(void)state;
	EXPECT_TEXT(
	        import_series(IMPORT("asv"),
	                quoted(ASV_COLUMNS("'result', 'params', 'stats_ci_99_a', 'stats_ci_99_b', "
	                                   "'stats_q_25', 'stats_q_75', 'stats_repeat'",
	                        "[[5, null, 7], [['a', 'b', 'c']], [4, 5, 6], [6, 7, 8], [4.5, 0, "
	                        "6.5], [5.5, 0, 7.5], [10, 11, 12]]"))),
	        "time_x(a) time ns lower: 5e+09@1600000000[n=10 lo=4e+09 hi=6e+09 q25=4.5e+09 "
	        "q75=5.5e+09]\n"
	        "time_x(c) time ns lower: 7e+09@1600000000[n=12 lo=6e+09 hi=8e+09 q25=6.5e+09 "
	        "q75=7.5e+09]\n");
	/* Columns that are null or have no name are left out, others are kept. */
	EXPECT_TEXT(
	        import_runs(IMPORT("asv"), quoted(ASV_COLUMNS("'result', 'duration', 'profile', 7",
	                                           "[[5], 0.5, null, 9, 'beyond the columns']"))),
	        quoted("1600000000 c1 :  {'results':{'time_x':{'duration':0.5}}}\n"));
	EXPECT_TEXT(
	        import_runs(IMPORT("asv"),
	                quoted("{" ASV_HEADER "'python': '3.9', 'params': {'machine': 'm'}, "
	                       "'results': {'time_x': {'result': 1, 'code': 'y', 'params': []}}}")),
	        quoted("1600000000 c1 :  {'python':'3.9','results':{'time_x':{'code':'y'}}}\n"));
}

static void asv_places(void **state)
{
	(void)state;
	EXPECT_TEXT(import_places(IMPORT_AS("asv", .at_s = IMPORT_AT_S),
	                    quoted("{" ASV_HEADER "'env_name': 'py3', 'params': {'machine': 'm1', "
	                           "'cpu': 'C', 'arch': 'x64'}, 'results': {'time_x': 1}}")),
	        quoted("machine m1 {'arch':'x64','cpu':'C','machine':'m1'}\ndevice C of x64\n"
	               "upstream imported\n"));
	EXPECT_TEXT(import_series(IMPORT("asv"), quoted("{" ASV_HEADER "'env_name': 'py3', "
	                                                "'results': {'time_x': 1}}")),
	        "time_x time ns lower config=py3: 1e+09@1600000000\n");
}

static void asv_wrong_types(void **state)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
	        {ASV("'time_x': true"), "results.time_x: expected a number, a list or an object"},
	        {ASV("'time_x': [[1]]"),
	                "results.time_x: a list, but the file has no result_columns"},
	        {ASV("'time_x': {'result': ['x']}"), ".result[0]: expected a number, found \"x\""},
	        {ASV("'time_x': {'result': 'x'}"), ".result[0]: expected a number, found \"x\""},
	        {ASV("'time_x': {'result': {'a': 1}}"),
	                ".result[0]: expected a number, found an object"},
	        {ASV_COLUMNS("'result'", "['x']"),
	                "results.time_x.result[0]: expected a number, found \"x\""},
	        {ASV("'time_x': {'result': [1, true]}"),
	                ".result[1]: expected a number, found true"},
	        {ASV("'time_x': {'result': [1], 'params': [['a'], []]}"),
	                ".params[1]: expected a list of values, found an empty list"},
	        {ASV("'time_x': {'result': [1], 'params': [['a'], [2]]}"),
	                ".params[1]: expected strings, found 2"},
	        {ASV("'time_x': {'result': [1], 'params': [[],[],[],[],[],[],[],[],[],[],[],[],[],"
	             "[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[]]}"),
	                ".params: more than 32 parameters"},
	        {"{" ASV_HEADER "'results': [1]}", "expected results by name, found a list"},
	        {"{'date': 1600000000000, 'commit_hash': '', 'results': {}}",
	                "file:1: commit_hash: is missing"},
	        {"{'commit_hash': 'c', 'results': {}}", "file:1: date: is missing"},
	        {"{'commit_hash': 'c', 'date': -1, 'results': {}}",
	                "date: expected milliseconds since 1970, found -1"},
	        {"{'commit_hash': 'c', 'date': 1e14, 'results': {}}",
	                "date: expected milliseconds since 1970, found 1"},
	        {"{'commit_hash': 'c', 'date': 'x', 'results': {}}",
	                "date: expected milliseconds since 1970, found \"x\""},
	        {"{'commit_hash': 7, 'date': 1, 'results': {}}",
	                "commit_hash: expected a string, found 7"},
	        {"{" ASV_HEADER "'env_name': 1, 'results': {}}",
	                "file:1: env_name: expected a string"},
	        {"{" ASV_HEADER "'params': {'machine': 1}, 'results': {}}",
	                "file:1: machine: expected a string"},
	        {"{" ASV_HEADER "'params': {'cpu': 1}, 'results': {}}",
	                "file:1: cpu: expected a string"},
	        {"{" ASV_HEADER "'params': {'arch': 1}, 'results': {}}",
	                "file:1: arch: expected a string"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		import_must_fail(IMPORT("asv"), quoted(cases[i].text), cases[i].words);
}

/* A benchmark that failed has a null, or no result at all. */
static void asv_results_without_a_value(void **state)
{
	static const char *const texts[] = {ASV("'time_x': null, 'time_y': 1"),
	        ASV("'time_x': {'result': null}, 'time_y': 1"),
	        ASV("'time_x': {'duration': 1}, 'time_y': 1"),
	        ASV("'time_x': {'result': [null]}, 'time_y': 1"),
	        "{" ASV_HEADER "'result_columns': ['result', 'params'], 'results': {'time_x': "
	        "[null, []], 'time_y': [1, []]}}",
	        "{" ASV_HEADER "'result_columns': ['result', 'params'], 'results': {'time_x': [], "
	        "'time_y': [1]}}"};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct import_rig rig;

		import_rig_new(&rig);
		MUST(import_rig_read(&rig, IMPORT("asv"), quoted(texts[i]), &err));
		assert_int_equal(rig.counts.without_value, 1);
		assert_non_null(strstr(rig.counts.first_without_value, "time_x"));
		assert_int_equal(rig.counts.points, 1);
		import_rig_free(&rig);
	}
}

static void write_below(const char *dir, const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	MUST(tk_file_write(path, text, strlen(text), &err));
}

/* Units are in benchmarks.json beside the folder of the machine; files are read in the order of
 * their dates; machine.json has no results and is no mistake. */
static void asv_folder(void **state)
{
	struct import_rig rig;
	char results[128], machine[160];
	const char *const paths[] = {results};
	struct tk_import_request request = {.paths = paths, .path_count = 1, .machine = "box"};

	(void)state;
	import_rig_new(&rig);
	snprintf(results, sizeof results, "%s/results", rig.history.dir);
	snprintf(machine, sizeof machine, "%s/m1", results);
	assert_int_equal(mkdir(results, 0777), 0);
	assert_int_equal(mkdir(machine, 0777), 0);
	write_below(results, "benchmarks.json",
	        quoted("{'track_x': {'unit': 'ms'}, 'track_y': {'unit': null}, 'time_z': 7}"));
	write_below(machine, "machine.json", quoted("{'machine': 'm1', 'version': 1}"));
	write_below(machine, "a.json",
	        quoted("{'commit_hash': 'new', 'date': 1600086400000, "
	               "'results': {'track_x': 3, 'time_z': 1}}"));
	write_below(machine, "b.json",
	        quoted("{'commit_hash': 'old', 'date': 1600000000000, "
	               "'results': {'track_x': 2, 'track_y': 5}}"));
	write_below(machine, "notes.txt", "not read");
	MUST(tk_store_import(rig.history.store, &request, &rig.counts, &err));
	EXPECT_TEXT(import_rig_series(&rig, "asv"),
	        "time_z time ns lower: 1e+09@1600086400\n"
	        "track_x time ns lower: 2e+06@1600000000 3e+06@1600086400\n"
	        "track_y value  lower: 5@1600000000\n");
	assert_int_equal(rig.counts.files, 4);
	assert_int_equal(rig.counts.empty, 0);
	assert_int_equal(rig.counts.nights, 2);
	assert_int_equal(rig.counts.series, 3);
	assert_int_equal(rig.counts.points, 4);
	import_rig_free(&rig);
}

/* ---- github-action-benchmark ----------------------------------------------------------------- */

#define GITHUB(header, entries) "window.BENCHMARK_DATA = {" header "'entries': {" entries "}}"
#define COMMIT(id, more) "'commit': {'id': '" id "'" more "}"
#define BENCH(members) "'date': 1600000000000, 'benches': [" members "]"

static void github_suites_and_units(void **state)
{
	static const struct {
		const char *tool, *bench, *series;
	} cases[] = {
	        {"cargo", "{'name': 'a', 'value': 5, 'unit': 'ns/iter'}",
	                "a time ns lower backend=S: 5@1600000000\n"},
	        {"customBiggerIsBetter", "{'name': 'a', 'value': 5, 'unit': 'apples'}",
	                "a value apples higher backend=S: 5@1600000000\n"},
	        {"customSmallerIsBetter", "{'name': 'a', 'value': 5, 'unit': 'rows/s'}",
	                "a throughput rows/s lower backend=S: 5@1600000000\n"},
	        {"go", "{'name': 'a', 'value': 5}", "a value  lower backend=S: 5@1600000000\n"},
	        {"go", "{'name': 'a', 'value': 5, 'unit': null}",
	                "a value  lower backend=S: 5@1600000000\n"},
	        {"go", "{'name': 'a'}, {'name': 'b', 'value': null}, {'name': 'c', 'value': 1}",
	                "c value  lower backend=S: 1@1600000000\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[512];

		snprintf(text, sizeof text,
		        GITHUB("", "'S': [{" COMMIT("c", "") ", 'tool': '%s', " BENCH("%s") "}]"),
		        cases[i].tool, cases[i].bench);
		EXPECT_TEXT(import_series(IMPORT("github-action"), quoted(text)), cases[i].series);
	}
}

static void github_commits(void **state)
{
	static const char text[] =
	        "{'repoUrl': 'https://example.org/a/lib', 'entries': {'S': ["
	        "{'commit': {'id': 'c2', 'message': 'Second\\n\\nlong', "
	        "'timestamp': '2020-09-14T14:26:40+02:00', 'author': {'name': 'A. N. Other'}}, "
	        "'tool': 'go', 'date': 1600000000000, "
	        "'benches': [{'name': 'a', 'value': 6, 'range': '1'}]},"
	        "{'commit': {'id': 'c1'}, 'date': 1600000000000, "
	        "'benches': [{'name': 'a', 'value': 5}]}]}}";

	(void)state;
	EXPECT_TEXT(import_runs(IMPORT("github-action"), quoted(text)),
	        quoted("1600000000 c1 :  {'commit':{'id':'c1'},'date':1600000000000}\n"
	               "1600086400 c2 A. N. Other: Second {'benches':{'a':{'range':'1'}},'commit':"
	               "{'author':{'name':'A. N. Other'},'id':'c2','message':'Second\\n\\nlong',"
	               "'timestamp':'2020-09-14T14:26:40+02:00'},'date':1600000000000,'tool':'go'}"
	               "\n"));
	EXPECT_TEXT(import_places(IMPORT_AS("github-action", .at_s = IMPORT_AT_S), quoted(text)),
	        "machine imported {}\ndevice unknown\nupstream lib from "
	        "https://example.org/a/lib\n");
	EXPECT_TEXT(import_places(IMPORT("github-action"),
	                    quoted("{'repoUrl': 'plain', 'entries': {'S': [{'commit': {'id': "
	                           "'c'}, 'date': 1000000, 'benches': [{'name': 'a', 'value': "
	                           "1}]}]}}")),
	        "machine box {}\ndevice unknown\nupstream plain from plain\n");
}

static void github_wrong_types(void **state)
{
	static const struct {
		const char *entry, *words;
	} cases[] = {
	        {"'commit': {'id': ''}, 'benches': []", "entries.S[0].commit.id: is missing"},
	        {COMMIT("c", ""), ".benches: expected a list, found nothing"},
	        {COMMIT("c", "") ", 'benches': []",
	                ".date: expected milliseconds since 1970, found nothing"},
	        {COMMIT("c", "") ", 'benches': [], 'date': -1",
	                ".date: expected milliseconds since 1970, found -1"},
	        {COMMIT("c", "") ", 'benches': [], 'date': 1e14", ".date: expected milliseconds"},
	        {COMMIT("c", ", 'timestamp': null") ", 'benches': [], 'date': 'x'",
	                ".date: expected milliseconds since 1970, found \"x\""},
	        {COMMIT("c", ", 'timestamp': 7") ", 'benches': []",
	                ".commit.timestamp: expected a time, found 7"},
	        {COMMIT("c", "") ", " BENCH("{'name': ''}"), ".benches[0].name: expected a name"},
	        {COMMIT("c", "") ", " BENCH("{'name': 'a', 'value': 1}, {'name': 3}"),
	                ".benches[1].name: expected a name, found 3"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[512];

		snprintf(text, sizeof text, GITHUB("", "'S': [{%s}]"), cases[i].entry);
		import_must_fail(IMPORT("github-action"), quoted(text), cases[i].words);
	}
	import_must_fail(IMPORT("github-action"), quoted(GITHUB("", "'S': {'a': {}}")),
	        "entries.S.a: expected a list of commits");
	import_must_fail(IMPORT("github-action"),
	        quoted("window.BENCHMARK_DATA = {'entries': [[1]]}"),
	        "entries[0][0]: expected a list of commits, found 1");
}

int import_commit_tests(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(asv_version_1),
	        cmocka_unit_test(asv_version_2),
	        cmocka_unit_test(asv_places),
	        cmocka_unit_test(asv_wrong_types),
	        cmocka_unit_test(asv_results_without_a_value),
	        cmocka_unit_test(asv_folder),
	        cmocka_unit_test(github_suites_and_units),
	        cmocka_unit_test(github_commits),
	        cmocka_unit_test(github_wrong_types),
	};

	return cmocka_run_group_tests_name("commits", tests, NULL, NULL);
}
