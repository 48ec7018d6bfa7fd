/* Requests: which files are read, in which order, what is guessed, and what is counted. */
#include "base/file.h"
#include "import_groups.h"
#include "import_rig.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../quoted_json.h"

static const char *write_file(struct import_rig *rig, const char *name, const char *text)
{
	static char paths[8][192];
	static size_t next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof paths[0], "%s/%s", rig->history.dir, name);
	MUST(tk_file_write(path, text, strlen(text), &err));
	return path;
}

static int import_paths(struct import_rig *rig, const char *format, const char *const *paths,
        size_t count, struct tk_error *err)
{
	struct tk_import_request request = IMPORT(format, .paths = paths, .path_count = count);

	return tk_store_import(rig->history.store, &request, &rig->counts, err);
}

static void formats_are_guessed(void **state)
{
	static const struct {
		const char *format, *text;
	} cases[] = {
	        {"asv", "{'commit_hash': 'c', 'date': 1600000000000, 'results': {'time_x': 1}}"},
	        {"asv", "{'commit_hash': 'c', 'date': 1600000000000, 'env_name': 'e', "
	                "'results': {'time_x': 1}}"},
	        {"github-action",
	                "window.BENCHMARK_DATA = {'entries': {'s': [{'commit': {'id': 'c'}, "
	                "'date': 1600000000000, 'benches': [{'name': 'n', 'value': 1}]}]}}"},
	        {"github-action",
	                "{'entries': {'s': [{'commit': {'id': 'c'}, 'date': 1600000000000, "
	                "'benches': [{'name': 'n', 'value': 1}]}]}}"},
	        {"google-benchmark",
	                "{'context': {}, 'benchmarks': [{'name': 'a', 'real_time': 1}]}"},
	        {"nvbench",
	                "{'devices': [{'id': 0, 'sm_version': 900}], 'benchmarks': [{'name': 'a', "
	                "'states': [{'summaries': [{'tag': 'nv/cold/time/gpu/mean', 'data': "
	                "[{'value': 1}]}]}]}]}"},
	        {"pytest-benchmark", "{'machine_info': {}, 'benchmarks': [{'name': 'a', 'stats': "
	                             "{'mean': 1}}]}"},
	        {"hyperfine", "{'results': [{'command': 'a', 'mean': 1}]}"},
	        {"kernels", "[{'kernel': 'k', 'latency_ms': 1}]"},
	        {"kernels", "[{'kernel': 'k', 'problem_size': 1, 'gflops': 1}]"},
	        {"gemm-csv", "M,N,K,us\n1,1,1,5\n"},
	        {"gemm-csv", "kernel;ms\nk;5\n"},
	        {"gemm-csv", "problem_size,rocblas-Gflops\n1,5\n"},
	        {"csv", "series_id,day,commit,value\na,1,c,5\n"},
	        {"csv", "commit\tday\ta\nc\t1\t5\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct import_rig rig;
		struct tk_rows problems = {0};

		import_rig_new(&rig);
		MUST(import_rig_read(&rig, IMPORT(NULL), quoted(cases[i].text), &err));
		MUST(tk_store_list_problems(rig.history.store, &problems, &err));
		assert_string_equal(
		        TK_ROWS_AT(&problems, struct tk_problem_row, 0)->source, cases[i].format);
		tk_rows_free(&problems);
		import_rig_free(&rig);
	}
	/* What is like none of them. */
	static const char *const none[] = {"hello\n", "{}", "a,b\n1,2\n", "day\n1\n", "us\n5\n"};

	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		import_must_fail(IMPORT(NULL), none[i], "its format cannot be guessed; name it: ");
}

static void names_of_formats(void **state)
{
	const char *what = NULL;
	size_t count = 0;

	(void)state;
	for (; tk_import_get_format_name(count, &what); count++)
		assert_true(what && *what);
	assert_int_equal(count, 10);
	assert_string_equal(tk_import_get_format_name(0, NULL), "tracker");
	assert_string_equal(tk_import_get_format_name(9, &what), "csv");
	assert_null(tk_import_get_format_name(10, NULL));
	struct import_rig rig;

	import_rig_new(&rig);
	MUST_FAIL(TK_EUSAGE, "unknown format \"cvs\"",
	        import_rig_read(&rig, IMPORT("cvs"), "x", &err));
	import_rig_free(&rig);
}

/* All files or none: an error in the last one takes the first ones back. */
static void files_are_imported_together(void **state)
{
	struct import_rig rig;

	(void)state;
	import_rig_new(&rig);
	const char *const paths[] = {write_file(&rig, "a.csv", "name,day,value\na,1,5\n"),
	        write_file(&rig, "b.csv", "name,day,value\nb,1,x\n")};

	MUST_FAIL(TK_EDATA, "b.csv:2: value", import_paths(&rig, "csv", paths, 2, &err));
	assert_int_equal(history_count(&rig.history, "measurement"), 0);
	write_file(&rig, "b.csv", "name,day,value\nb,1,6\n");
	MUST(import_paths(&rig, "csv", paths, 2, &err));
	assert_int_equal(rig.counts.files, 2);
	assert_int_equal(rig.counts.series, 2);
	assert_int_equal(rig.counts.nights, 1); /* of the same day */
	import_rig_free(&rig);
}

static void a_dry_run_writes_nothing(void **state)
{
	struct import_rig rig;

	(void)state;
	import_rig_new(&rig);
	MUST(import_rig_read(
	        &rig, IMPORT("csv", .dry_run = true), "name,day,value\na,1,5\n", &err));
	assert_int_equal(rig.counts.points, 1);
	assert_int_equal(rig.counts.series, 1);
	assert_int_equal(history_count(&rig.history, "measurement"), 0);
	assert_int_equal(history_count(&rig.history, "machine"), 0);
	MUST_FAIL(TK_EDATA, "is not a number",
	        import_rig_read(
	                &rig, IMPORT("csv", .dry_run = true), "name,day,value\na,1,x\n", &err));
	import_rig_free(&rig);
}

/* Stored values are kept; others are counted, and the first one is named. */
static void values_that_differ(void **state)
{
	struct import_rig rig;

	(void)state;
	import_rig_new(&rig);
	MUST(import_rig_read(&rig, IMPORT("csv"),
	        "name,day,commit,value\na,1,c1,5\na,2,c2,6\na,3,c3,7\n", &err));
	assert_int_equal(rig.counts.differing, 0);
	MUST(import_rig_read(&rig, IMPORT("csv"),
	        "name,day,commit,value\na,1,c1,5\na,2,c2,60\na,3,c3,70\na,4,c4,8\n", &err));
	assert_int_equal(rig.counts.differing, 2);
	assert_int_equal(rig.counts.points, 1);
	assert_int_equal(rig.counts.nights, 1);
	assert_int_equal(rig.counts.series, 0);
	assert_non_null(strstr(rig.counts.first_differing, "at c2: 6 is stored, 60 was read"));
	EXPECT_TEXT(import_rig_series(&rig, "csv"),
	        "a value  lower: 5@946771200 6@946857600 7@946944000 8@947030400\n");
	import_rig_free(&rig);
}

/* Options of the request take the place of what the file says. */
static void options_take_precedence(void **state)
{
	static const char text[] = "name,day,value,unit,better\na,1,5,ops,\n";

	(void)state;
	EXPECT_TEXT(import_series(IMPORT("csv"), text), "a throughput ops higher: 5@946771200\n");
	EXPECT_TEXT(import_series(IMPORT("csv", .better = "lower"), text),
	        "a throughput ops lower: 5@946771200\n");
	EXPECT_TEXT(import_places(IMPORT("csv", .upstream = "lib"), text),
	        "machine box {}\ndevice unknown\nupstream lib\n");
	EXPECT_TEXT(import_places(IMPORT_AS("csv", .at_s = 5), text),
	        "machine imported {}\ndevice unknown\nupstream imported\n");
	import_must_fail(
	        IMPORT("csv", .better = "sideways"), text, "neither \"lower\" nor \"higher\"");
}

/* A file that names no time has the one when it was written. */
static void the_time_of_a_file(void **state)
{
	struct import_rig rig;
	const struct timespec times[2] = {{.tv_sec = 1500000000}, {.tv_sec = 1500000000}};

	(void)state;
	import_rig_new(&rig);
	const char *const path = write_file(&rig, "t.csv", "M,us\n1,5\n");

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	struct tk_import_request request =
	        IMPORT_AS("gemm-csv", .machine = "box", .paths = &path, .path_count = 1);

	MUST(tk_store_import(rig.history.store, &request, &rig.counts, &err));
	EXPECT_TEXT(import_rig_series(&rig, "gemm-csv"), "M=1 time ns lower: 5000@1500000000\n");
	import_rig_free(&rig);
}

static void folders_have_the_files_of_known_endings(void **state)
{
	struct import_rig rig;
	char folder[128], inner[160];
	const char *const paths[] = {folder};

	(void)state;
	import_rig_new(&rig);
	snprintf(folder, sizeof folder, "%s/results", rig.history.dir);
	snprintf(inner, sizeof inner, "%s/inner", folder);
	assert_int_equal(mkdir(folder, 0777), 0);
	MUST_FAIL(TK_EDATA, "results: there is no file to import in it",
	        import_paths(&rig, NULL, paths, 1, &err));
	assert_int_equal(mkdir(inner, 0777), 0);
	write_file(&rig, "results/a.csv", "name,day,value\na,1,5\n");
	write_file(&rig, "results/inner/b.csv", "name,day,value\nb,1,5\n");
	write_file(&rig, "results/k.json", quoted("[{'kernel': 'k', 'latency_ns': 1}]"));
	write_file(&rig, "results/notes.txt", "not a history");
	write_file(&rig, "results/.csv", "not a history");
	MUST(import_paths(&rig, NULL, paths, 1, &err));
	assert_int_equal(rig.counts.files, 3);
	assert_int_equal(rig.counts.series, 3);
	import_rig_free(&rig);
}

static void files_that_cannot_be_read(void **state)
{
	struct import_rig rig;

	(void)state;
	import_rig_new(&rig);
	const char *paths[] = {"/nowhere/x.csv", NULL};

	MUST_FAIL(TK_ENOTFOUND, "/nowhere/x.csv", import_paths(&rig, "csv", paths, 1, &err));
	paths[0] = write_file(&rig, "empty.csv", "");
	MUST_FAIL(TK_EDATA, "empty.csv: is empty", import_paths(&rig, "csv", paths, 1, &err));
	paths[0] = "/dev/null";
	MUST_FAIL(TK_EDATA, "/dev/null: is empty", import_paths(&rig, "csv", paths, 1, &err));
	import_rig_free(&rig);
}

/* A pipe is read to its end before its format is guessed. */
static void a_pipe_is_read_like_a_file(void **state)
{
	static const char text[] = "name,day,value\na,1,5\nb,1,6\n";
	struct import_rig rig;
	char path[64];
	int ends[2];

	(void)state;
	import_rig_new(&rig);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
	close(ends[1]);
	snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
	const char *const paths[] = {path};

	MUST(import_paths(&rig, NULL, paths, 1, &err));
	assert_int_equal(rig.counts.points, 2);
	close(ends[0]);
	import_rig_free(&rig);
}

/* A file of the format without results is a run that measured nothing; anything else is a mistake,
 * and what it looks like is told. */
static void files_without_results(void **state)
{
	struct import_rig rig;

	(void)state;
	import_rig_new(&rig);
	const char *const empty = write_file(
	        &rig, "empty.json", quoted("{'context': {'host_name': 'h'}, 'benchmarks': []}"));
	const char *const full = write_file(&rig, "full.json",
	        quoted("{'context': {}, 'benchmarks': [{'name': 'a', 'real_time': 1}]}"));
	const char *const both[] = {empty, full}, *const one[] = {empty};

	MUST_FAIL(TK_EDATA, "empty.json: no results of the format google-benchmark in it",
	        import_paths(&rig, "google-benchmark", one, 1, &err));
	MUST(import_paths(&rig, "google-benchmark", both, 2, &err));
	assert_int_equal(rig.counts.empty, 1);
	assert_string_equal(rig.counts.first_empty, empty);
	assert_int_equal(rig.counts.files, 2);
	/* It leaves nothing behind, not even the machine that it names. */
	EXPECT_TEXT(import_rig_places(&rig), "machine box {}\ndevice unknown\nupstream imported\n");
	MUST_FAIL(TK_EDATA,
	        "no results of the format hyperfine in it; it looks like google-benchmark",
	        import_paths(&rig, "hyperfine", one, 1, &err));
	import_rig_free(&rig);
}

/* The name of a series has a limit; just below it is stored. */
static void a_name_that_is_too_long(void **state)
{
	struct tk_buf text = TK_BUF_INIT;

	(void)state;
	for (size_t len = 4096; len <= 4097; len++) {
		struct import_rig rig;

		tk_buf_clear(&text);
		tk_buf_add_str(&text, "name,day,value\n");
		for (size_t i = 0; i < len; i++)
			tk_buf_add_char(&text, 'n');
		tk_buf_add_str(&text, ",1,5\n");
		import_rig_new(&rig);
		struct tk_error err = {0};
		int status = import_rig_read(&rig, IMPORT("csv"), tk_buf_cstr(&text), &err);

		assert_int_equal(status, len > 4096 ? TK_EDATA : 0);
		if (status)
			assert_non_null(strstr(err.message, "longer than 4096 bytes"));
		import_rig_free(&rig);
	}
	tk_buf_free(&text);
}

int import_file_tests(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(formats_are_guessed),
	        cmocka_unit_test(names_of_formats),
	        cmocka_unit_test(files_are_imported_together),
	        cmocka_unit_test(a_dry_run_writes_nothing),
	        cmocka_unit_test(values_that_differ),
	        cmocka_unit_test(options_take_precedence),
	        cmocka_unit_test(the_time_of_a_file),
	        cmocka_unit_test(folders_have_the_files_of_known_endings),
	        cmocka_unit_test(files_that_cannot_be_read),
	        cmocka_unit_test(a_pipe_is_read_like_a_file),
	        cmocka_unit_test(files_without_results),
	        cmocka_unit_test(a_name_that_is_too_long),
	};

	return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}
