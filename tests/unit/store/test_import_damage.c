/* Files of every JSON format that end in their middle, go on behind their end, or have unusual
 * names: an error with the name of the file, and nothing is stored. */
#include "import_rig.h"

#include "../quoted_json.h"
#include <stdlib.h>

#define TIME "'2020-09-13T12:26:40Z'"

/* Each with one point of a series whose name is where %s stands. */
static const struct {
	const char *format, *text;
} files[] = {
        {"asv", "{'commit_hash': 'c1', 'date': 1600000000000, 'results': {'%s': 1.5}}"},
        {"github-action", "{'entries': {'suite': [{'commit': {'id': 'c', 'timestamp': " TIME
                          ", 'message': 'm'}, 'benches': [{'name': '%s', 'value': 1.5, 'unit': "
                          "'apples'}]}]}}"},
        {"google-benchmark", "{'context': {'date': " TIME "}, 'benchmarks': [{'name': '%s', "
                             "'real_time': 1.5, 'time_unit': 'ns'}]}"},
        {"nvbench", "{'devices': [{'id': 0, 'sm_version': 900}], 'benchmarks': [{'name': '%s', "
                    "'states': [{'summaries': [{'tag': "
                    "'nv/cold/time/gpu/mean', 'data': [{'value': '1.5e-9'}]}]}]}]}"},
        {"pytest-benchmark", "{'machine_info': {}, 'commit_info': {'id': 'c', 'time': " TIME
                             "}, 'benchmarks': [{'fullname': '%s', 'stats': {'median': 1.5e-9}}]}"},
        {"hyperfine", "{'results': [{'command': '%s', 'mean': 1.5e-9}]}"},
        {"kernels", "[{'kernel': '%s', 'latency_ns': 1.5}]"},
};
#define FILE_COUNT (sizeof files / sizeof *files)

/* The file with a name in it, and something behind its end; free(). */
static char *make_file(size_t i, const char *name, const char *tail)
{
	const char *text = quoted(files[i].text), *at = strstr(text, "%s");
	struct tk_buf out = TK_BUF_INIT;

	tk_buf_add(&out, text, (size_t)(at - text));
	tk_buf_add_printf(&out, "%s%s%s", name, at + 2, tail);
	return tk_buf_detach(&out, NULL);
}

/* The one series of the import of a file has this title. */
static void expect_title(size_t i, const char *name, const char *tail, const char *title)
{
	char *text = make_file(i, name, tail),
	     *series = import_series(IMPORT(files[i].format), text);

	if (strncmp(series, title, strlen(title)) || series[strlen(title)] != ' ' ||
	        !strstr(series, "1.5@"))
		fail_msg("%s became %s", text, series);
	free(series);
	free(text);
}

static void must_fail(size_t i, const char *name, const char *tail, const char *words)
{
	char *text = make_file(i, name, tail);

	import_must_fail(IMPORT(files[i].format), text, words);
	free(text);
}

static void names_come_as_they_are(void **state)
{
	static const char *const names[] = {"a", " ", "a b",
	        "\xc2\xb5 \xe2\x82\xac \xf0\x9f\x98\x80", "a/b.c[d=1]", "%%s", "'", "-"};

	(void)state;
	for (size_t i = 0; i < FILE_COUNT; i++)
		for (size_t n = i % 2; n < sizeof names / sizeof *names; n += 2)
			expect_title(i, names[n], "", names[n]);
}

static void a_name_has_a_greatest_length(void **state)
{
	char name[4098];

	(void)state;
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	for (size_t i = 0; i < FILE_COUNT; i++) {
		must_fail(i, name, "", "/file: the name of a series is longer than 4096 bytes");
		expect_title(i, name + 1, "", name + 1);
	}
}

static void a_name_without_an_end_is_none(void **state)
{
	(void)state;
	for (size_t i = 0; i < FILE_COUNT; i++) {
		must_fail(i, "a\\u0000b", "", "/file:1");
		must_fail(i, "a\xff", "", "/file:1");
		must_fail(i, "\\ud800", "", "/file:1");
		must_fail(i, "\xed\xa0\x80", "", "/file:1");
		must_fail(i, "a\nb", "", "/file:");
	}
}

static void what_follows_the_end(void **state)
{
	(void)state;
	for (size_t i = 0; i < FILE_COUNT; i++) {
		must_fail(i, "a", "x", "/file:1");
		must_fail(i, "a", "\n\n{}", "/file:3");
		expect_title(i, "a", "\n \t\r\n", "a");
	}
}

static void a_file_that_ends_in_its_middle(void **state)
{
	(void)state;
	for (size_t i = 0; i < FILE_COUNT; i++) {
		char *text = make_file(i, "name", "");

		for (size_t len = strlen(text) - 1; len > 4; len -= len > 12 ? 7 : 1) {
			text[len] = '\0';
			import_must_fail(IMPORT(files[i].format), text, "/file");
		}
		free(text);
	}
}

/* As editors of Windows save it. */
static void a_byte_order_mark_is_skipped(void **state)
{
	(void)state;
	for (size_t i = 0; i < FILE_COUNT; i++) {
		char *text = make_file(i, "a", "\r\n"), with_mark[512];

		snprintf(with_mark, sizeof with_mark, "\xef\xbb\xbf%s", text);
		char *series = import_series(IMPORT(files[i].format), with_mark);

		assert_non_null(strstr(series, "1.5@"));
		free(series);
		/* also where nobody names the format; half of a mark is none */
		struct import_rig rig;

		import_rig_new(&rig);
		MUST(import_rig_read(&rig, IMPORT(NULL), with_mark, &err));
		assert_int_equal(rig.counts.points, 1);
		import_rig_free(&rig);
		snprintf(with_mark, sizeof with_mark, "\xef\xbb%s", text);
		import_must_fail(IMPORT(files[i].format), with_mark, "/file:1");
		free(text);
	}
	/* JSON lines and CSV */
	EXPECT_TEXT(import_series(IMPORT("kernels"),
	                    quoted("\xef\xbb\xbf{'kernel': 'a', 'latency_ns': 1}\n"
	                           "{'kernel': 'b', 'latency_ns': 2}\n")),
	        "a time ns lower: 1@1700000000\nb time ns lower: 2@1700000000\n");
	EXPECT_TEXT(import_series(IMPORT("csv"), "\xef\xbb\xbf"
	                                         "name,time,value\na,1600000000,1\n"),
	        "a value  lower: 1@1600000000\n");
	import_must_fail(IMPORT("csv"), "\xef\xbb\xbf", "/file");
	import_must_fail(IMPORT("hyperfine"), "\xef\xbb\xbf", "/file");
}

/* A subject of several bytes a character is not cut in the middle of one. */
static void a_long_subject_comes_whole(void **state)
{
	struct tk_buf message = TK_BUF_INIT, text = TK_BUF_INIT;

	(void)state;
	tk_buf_add_char(&message, 'a');
	for (int i = 0; i < 300; i++)
		tk_buf_add_str(&message, "\xe2\x82\xac");
	tk_buf_add_printf(&text,
	        "{\"entries\": {\"s\": [{\"commit\": {\"id\": \"c\", \"timestamp\": "
	        "\"2020-09-13T12:26:40Z\", \"message\": \"%s\\r\\n\\nbody\"}, \"benches\": "
	        "[{\"name\": \"a\", \"value\": 1}]}]}}",
	        tk_buf_cstr(&message));
	char *runs = import_runs(IMPORT("github-action"), tk_buf_cstr(&text));
	const char *subject = strstr(runs, ": ");

	assert_non_null(subject);
	assert_memory_equal(subject + 2, message.data, message.len);
	assert_int_equal(subject[2 + message.len], ' ');
	free(runs);
	tk_buf_free(&message);
	tk_buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(names_come_as_they_are),
	        cmocka_unit_test(a_name_has_a_greatest_length),
	        cmocka_unit_test(a_name_without_an_end_is_none),
	        cmocka_unit_test(what_follows_the_end),
	        cmocka_unit_test(a_file_that_ends_in_its_middle),
	        cmocka_unit_test(a_byte_order_mark_is_skipped),
	        cmocka_unit_test(a_long_subject_comes_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
