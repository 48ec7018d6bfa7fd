/* The reader of large JSON files: what it says of a document that is malformed, that every part of
 * one is refused, and that blanks and the ends of its blocks change nothing. */
#include "history.h"
#include "store/import/import.h"
#include <stdlib.h>
#include <string.h>

struct visited {
	struct tk_buf text; /* "path=value;" of each */
	size_t values;
};

static int note(void *arg, const struct tk_import_path *path, json_t *value, struct tk_error *err)
{
	struct visited *v = arg;
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

	(void)err;
	v->values++;
	tk_buf_add_printf(&v->text, "%s=%s;", path->text, text);
	free(text);
	return 0;
}

static int read_text(const char *text, size_t len, struct visited *v, struct tk_error *err)
{
	static const char *const patterns[] = {
	        "!skipped", "list/*/value", "list/*/deep/*", "*", NULL};
	FILE *in = fmemopen((void *)(uintptr_t)text, len, "r");
	struct tk_import_file f = {.path = "file", .in = in, .head = text, .head_len = len};
	int status;

	assert_non_null(in);
	*v = (struct visited){.text = TK_BUF_INIT};
	status = tk_import_read_json(&f, patterns, note, v, err);
	fclose(in);
	return status;
}

static const char document[] =
        "{\"name\": \"a \\\"b\\\" \\u00e9\", \"skipped\": {\"x\": [1, {}]},\n"
        "\"list\": [{\"value\": 1.5e-3, \"no\": null}, {\"value\": true,\n"
        "\"deep\": {\"k\": [[], -2]}}, 7], \"last\": NaN}";

static void values_that_match_are_visited(void **state)
{
	struct visited v;

	(void)state;
	MUST(read_text(document, strlen(document), &v, &err));
	assert_string_equal(tk_buf_cstr(&v.text),
	        "name=\"a \\\"b\\\" é\";list[0].value=0.0015;list[1].value=true;"
	        "list[1].deep.k=[[],-2];last=null;");
	tk_buf_free(&v.text);
}

/* Each with what its message contains. */
static void malformed_documents(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
	        {" ", "file:1: the document: ends too early"},
	        {"7", "expected an object or a list, found \"7\""},
	        {"\x01", "expected an object or a list, found the byte 0x01"},
	        {"window.x = {}", "expected window.BENCHMARK_DATA, found \"x\""},
	        {"{} x", "something follows the end"},
	        {"{a: 1}", "expected a name in quotes, found \"a\""},
	        {"{\"a\" 1}", "expected \":\", found \"1\""},
	        {"{\"a\\q\": 1}", "a name is not well-formed"},
	        {"{\"a\\u0000\": 1}", "a name is not well-formed"},
	        {"{\"a\": }", "a: expected a value, found \"}\""},
	        {"{\"a\": \n\nnul}", "file:3: a: expected a value, found \"nul\""},
	        {"{\"a\": %}", "expected a value, found \"%\""},
	        {"{\"a\": 1 \"b\": 2}", "expected"},
	        {"{\"list\": [{\"value\": 1} {}]}", "expected \",\" or \"]\", found \"{\""},
	        {"{\"list\": [{\"value\": \"open}]}", "list[0].value: ends inside a string"},
	        {"{\"list\": [{\"value\": 1..2}]}", "list[0].value: "},
	        {"{\"list\": [{\"value\": [1}]}", "list[0].value: "},
	        {"{\"skipped\": [[[", "skipped: ends too early"},
	        {"{\"a\": 1,}", "expected a name in quotes, found \"}\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct visited v;

		MUST_FAIL(TK_EDATA, cases[i].message,
		        read_text(cases[i].text, strlen(cases[i].text), &v, &err));
		tk_buf_free(&v.text);
	}
}

static void every_part_of_a_document_is_refused(void **state)
{
	(void)state;
	for (size_t len = 1; len < strlen(document); len++) {
		struct visited v;
		struct tk_error err = {0};

		assert_int_equal(read_text(document, len, &v, &err), TK_EDATA);
		assert_true(strstr(err.message, "file:") == err.message);
		tk_buf_free(&v.text);
	}
}

/* The file is read in blocks of 64 KiB: blanks shift the end of the first one over every byte. */
static void ends_of_blocks_change_nothing(void **state)
{
	size_t len = strlen(document), room = 65536 + len;
	char *text = malloc(room), *expected;
	struct visited v;

	(void)state;
	MUST(read_text(document, len, &v, &err));
	expected = strdup(tk_buf_cstr(&v.text));
	tk_buf_free(&v.text);
	assert_true(expected && text);
	for (size_t at = 0; at < len; at++) {
		size_t blanks = 65536 - at;

		memset(text, ' ', blanks);
		memcpy(text + blanks, document, len);
		MUST(read_text(text, blanks + len, &v, &err));
		assert_string_equal(tk_buf_cstr(&v.text), expected);
		tk_buf_free(&v.text);
	}
	free(expected);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(values_that_match_are_visited),
	        cmocka_unit_test(malformed_documents),
	        cmocka_unit_test(every_part_of_a_document_is_refused),
	        cmocka_unit_test(ends_of_blocks_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
