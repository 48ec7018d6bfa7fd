/* The reader of large JSON files: what it says of a document that is malformed, that every part of
 * one is refused, and that blanks and the ends of its blocks change nothing. */
#include "base/rng.h"
#include "history.h"
#include "store/import/import.h"
#include <errno.h>
#include <stdio.h>
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

/* ---- generated documents --------------------------------------------------------------------- */

static json_t *make_value(struct tk_rng *rng, int depth)
{
	static const char *const texts[] = {"", "a", "\"", "\\", "\n", "{", "]", ",", ":",
	        "\xc2\xb5", "\xf0\x9f\x98\x80", "NaN", "Infinity", "null", "a\\", "//"};
	const uint64_t kind = tk_rng_below(rng, depth ? 8 : 6);
	json_t *value;

	if (kind < 2)
		return json_string(texts[tk_rng_below(rng, sizeof texts / sizeof *texts)]);
	if (kind == 2)
		return json_integer((json_int_t)(tk_rng_next(rng) >> tk_rng_below(rng, 64)));
	if (kind == 3)
		return json_real((tk_rng_uniform(rng) - 0.5) * (double)(tk_rng_next(rng) >> 40));
	if (kind < 6)
		return kind == 4 ? json_boolean(tk_rng_below(rng, 2)) : json_null();
	value = kind == 6 ? json_array() : json_object();
	for (uint64_t n = tk_rng_below(rng, 4); n; n--) {
		if (kind == 6)
			json_array_append_new(value, make_value(rng, depth - 1));
		else
			json_object_set_new(value,
			        texts[tk_rng_below(rng, sizeof texts / sizeof *texts)],
			        make_value(rng, depth - 1));
	}
	return value;
}

static int collect(
        void *arg, const struct tk_import_path *path, json_t *value, struct tk_error *err)
{
	(void)err;
	assert_int_equal(path->depth, 1);
	return json_object_set(arg, path->key[0], value);
}

/* Read member by member it is what Jansson reads as a whole, also over the ends of blocks. */
static void any_document_is_read_as_by_jansson(void **state)
{
	static const char *const all[] = {"*", NULL};
	struct tk_rng rng;

	(void)state;
	tk_rng_seed(&rng, 1);
	for (int i = 0; i < 600; i++) {
		json_t *whole = json_object(), *members = json_object();
		struct tk_buf text = TK_BUF_INIT;

		for (uint64_t n = tk_rng_below(&rng, 6); n; n--) {
			char key[32];

			snprintf(key, sizeof key, "k%d \"\xc2\xb5", (int)n);
			json_object_set_new(whole, key, make_value(&rng, 4));
		}
		/* blanks before it, so that a block ends anywhere within it */
		if (i % 20 == 0)
			for (size_t blanks = 65536 - tk_rng_below(&rng, 60); blanks; blanks--)
				tk_buf_add_char(&text, " \n\t\r"[blanks % 4]);
		char *dumped = json_dumps(whole,
		        (i % 2 ? JSON_INDENT(3) : JSON_COMPACT) | (i % 3 ? 0 : JSON_ENSURE_ASCII));

		tk_buf_add_str(&text, dumped);
		FILE *in = fmemopen(text.data, text.len, "r");
		struct tk_import_file f = {.path = "file", .in = in, .head = "", .head_len = 0};

		MUST(tk_import_read_json(&f, all, collect, members, &err));
		if (!json_equal(members, whole))
			fail_msg("%s", dumped);
		fclose(in);
		free(dumped);
		tk_buf_free(&text);
		json_decref(members);
		json_decref(whole);
	}
}

/* A disk that fails after some bytes. */
struct failing {
	size_t at, good;
};

static ssize_t read_some(void *arg, char *to, size_t size)
{
	struct failing *f = arg;
	size_t n = f->good - f->at < size ? f->good - f->at : size;

	if (!n) {
		errno = EIO;
		return -1;
	}
	memcpy(to, document + f->at, n);
	f->at += n;
	return (ssize_t)n;
}

static int seek_to_start(void *arg, off64_t *offset, int whence)
{
	((struct failing *)arg)->at = 0;
	*offset = 0;
	return whence == SEEK_SET ? 0 : -1;
}

/* Not a document that ends too early: the disk is to blame. */
static void a_disk_that_fails_is_named(void **state)
{
	static const char *const all[] = {"*", NULL};

	(void)state;
	for (size_t good = 0; good < strlen(document); good += 9) {
		struct failing failing = {0, good};
		FILE *in = fopencookie(&failing, "r",
		        (cookie_io_functions_t){.read = read_some, .seek = seek_to_start});
		struct tk_import_file f = {.path = "file", .in = in, .head = "", .head_len = 0};
		struct visited v = {.text = TK_BUF_INIT};

		assert_non_null(in);
		MUST_FAIL(TK_EIO, "file: Input/output error",
		        tk_import_read_json(&f, all, note, &v, &err));
		tk_buf_free(&v.text);
		fclose(in);
	}
}

static int note_line(
        void *arg, const struct tk_import_path *path, json_t *value, struct tk_error *err)
{
	(void)err;
	assert_int_equal(path->line, json_integer_value(value));
	++*(size_t *)arg;
	return 0;
}

/* The line of each value, whatever stands before it. */
static void values_have_their_line(void **state)
{
	static const char *const items[] = {"list/*", NULL};
	struct tk_buf text = TK_BUF_INIT;
	size_t line = 1, count = 0;
	struct tk_rng rng;

	(void)state;
	tk_rng_seed(&rng, 2);
	tk_buf_add_str(&text, "{\"text\": \"a\\nb\", \"list\": [");
	for (int i = 0; i < 2000; i++) {
		for (uint64_t n = tk_rng_below(&rng, 3); n; n--, line++)
			tk_buf_add_str(&text, n % 2 ? "\n  " : "\r\n");
		tk_buf_add_printf(&text, "%zu%s", line, i < 1999 ? "," : "");
	}
	tk_buf_add_str(&text, "\n]}");
	FILE *in = fmemopen(text.data, text.len, "r");
	struct tk_import_file f = {.path = "file", .in = in, .head = "", .head_len = 0};

	MUST(tk_import_read_json(&f, items, note_line, &count, &err));
	assert_int_equal(count, 2000);
	fclose(in);
	tk_buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(values_that_match_are_visited),
	        cmocka_unit_test(malformed_documents),
	        cmocka_unit_test(any_document_is_read_as_by_jansson),
	        cmocka_unit_test(values_have_their_line),
	        cmocka_unit_test(a_disk_that_fails_is_named),
	        cmocka_unit_test(every_part_of_a_document_is_refused),
	        cmocka_unit_test(ends_of_blocks_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
