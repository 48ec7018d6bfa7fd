/* The values of a page, and texts for C, JSON and addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render_groups.h"

#include "base/buf.h"
#include "base/rng.h"
#include "base/text.h"
#include "site_gen/render/c_text.h"
#include "site_gen/render/escape.h"
#include "site_gen/render/json.h"
#include "site_gen/render/stroke_font.h"
#include "site_gen/render/value.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---------------------------------------------------------------------------------- */

static const struct tk_value *member(const struct tk_value *object, const char *key)
{
	return tk_value_find_member(object, key, strlen(key), tk_value_hash_key(key, strlen(key)));
}

static void expect_text(const struct tk_value *object, const char *key, const char *text)
{
	const struct tk_value *v = member(object, key);

	assert_non_null(v);
	assert_int_equal(v->type, TK_VALUE_TEXT);
	assert_int_equal(v->len, strlen(text));
	assert_string_equal(v->text, text);
}

static void values_are_found_by_key(void **state)
{
	struct tk_arena *a = tk_arena_new();
	struct tk_value *o = tk_value_object(a);
	char text[8] = "first";

	(void)state;
	tk_value_set(a, o, "text", text);
	strcpy(text, "gone"); /* it was copied */
	tk_value_set(a, o, "none", NULL);
	tk_value_set_len(a, o, "part", "abcdef", 3);
	tk_value_set_fmt(a, o, "number", "%d of %s", 3, "five");
	tk_value_set_joined(a, o, "joined", "a", "", "bc");
	tk_value_set_int(a, o, "least", INT64_MIN);
	tk_value_set_int(a, o, "zero", 0);
	tk_value_set_flag(a, o, "flag", true);
	expect_text(o, "text", "first");
	expect_text(o, "none", "");
	expect_text(o, "part", "abc");
	expect_text(o, "number", "3 of five");
	expect_text(o, "joined", "abc");
	expect_text(o, "least", "-9223372036854775808");
	expect_text(o, "zero", "0");
	assert_true(member(o, "flag")->flag);
	assert_null(member(o, "tex"));
	assert_null(member(o, "texts"));
	assert_null(member(o, ""));
	assert_null(member(NULL, "text"));
	assert_null(member(member(o, "text"), "text")); /* a text has no members */
	tk_value_set(a, o, "text", "second");           /* the later one hides the earlier */
	expect_text(o, "text", "second");
	tk_arena_free(a);
}

/* More keys than buckets. */
static void many_keys(void **state)
{
	static char keys[300][16];
	struct tk_arena *a = tk_arena_new();
	struct tk_value *o = tk_value_object(a);

	(void)state;
	for (int i = 0; i < 300; i++) {
		snprintf(keys[i], sizeof keys[i], "k%d", i);
		tk_value_set_int(a, o, keys[i], i);
	}
	for (int i = 0; i < 300; i++) {
		char text[16];

		snprintf(text, sizeof text, "%d", i);
		expect_text(o, keys[i], text);
	}
	tk_arena_free(a);
}

static void lists_keep_their_order(void **state)
{
	struct tk_arena *a = tk_arena_new();
	struct tk_value *o = tk_value_object(a), *list = tk_value_set_list(a, o, "list");

	(void)state;
	assert_null(list->first);
	tk_value_append_text(a, list, "one");
	tk_value_set(a, tk_value_append_object(a, list), "name", "two");
	tk_value_append_text(a, list, "three");
	const struct tk_value *v = member(o, "list")->first;

	assert_string_equal(v->text, "one");
	expect_text(v->next, "name", "two");
	assert_string_equal(v->next->next->text, "three");
	assert_null(v->next->next->next);
	struct tk_value *inner = tk_value_set_object(a, o, "inner");

	tk_value_set(a, inner, "deep", "x");
	expect_text(member(o, "inner"), "deep", "x");
	tk_arena_free(a);
}

/* Texts longer than a chunk of the arena, and after a reset the same memory again. */
static void arenas_grow_and_are_reset(void **state)
{
	enum { LONG = 600000 };
	struct tk_arena *a = tk_arena_new();
	char *text = malloc(LONG + 1);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', LONG);
	text[LONG] = '\0';
	for (int round = 0; round < 3; round++) {
		struct tk_value *o = tk_value_object(a);

		tk_value_set(a, o, "long", text);
		tk_value_set_fmt(a, o, "formatted", "%s!", text);
		for (int i = 0; i < 100; i++)
			tk_value_set_len(a, o, "other", text, 10000);
		assert_int_equal(member(o, "long")->len, LONG);
		assert_int_equal(member(o, "formatted")->len, LONG + 1);
		assert_true(member(o, "formatted")->text[LONG] == '!');
		assert_false(tk_arena_has_failed(a));
		tk_arena_reset(a);
	}
	free(text);
	tk_arena_free(a);
	tk_arena_free(NULL);
}

/* Markup that could not be made fails the page, as a missing allocation does. */
static void markup_that_failed(void **state)
{
	struct tk_arena *a = tk_arena_new();
	struct tk_value *o = tk_value_object(a);
	struct tk_buf markup = TK_BUF_INIT;

	(void)state;
	tk_buf_add_str(&markup, "<b>");
	tk_value_set_markup(a, o, "good_markup", &markup);
	assert_int_equal(member(o, "good_markup")->type, TK_VALUE_MARKUP);
	assert_false(tk_arena_has_failed(a));
	markup.max = 3;
	tk_buf_add_str(&markup, "more");
	tk_value_set_markup(a, o, "bad_markup", &markup);
	assert_true(tk_arena_has_failed(a));
	tk_arena_reset(a);
	assert_false(tk_arena_has_failed(a));
	tk_buf_free(&markup);
	tk_arena_free(a);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* What a function adds for a text; valid until the next call. */
static const char *made(void (*add)(struct tk_buf *out, const char *text), const char *text)
{
	static char out[256];
	struct tk_buf b = TK_BUF_INIT;

	add(&b, text);
	snprintf(out, sizeof out, "%s", tk_buf_cstr(&b));
	tk_buf_free(&b);
	return out;
}

static void texts_for_c(void **state)
{
	static const struct {
		const char *text, *string, *comment, *name;
	} cases[] = {
	        {"plain 1", "\"plain 1\"", "plain 1", "plain_1"},
	        {"a\"b\\c", "\"a\\\"b\\\\c\"", "a\"b_c", "a_b_c"},
	        {"*/ x", "\"*/ x\"", "_/ x", "___x"},
	        {"\?\?/", "\"\\?\\?/\"", "__/", "___"},
	        {"new\nline", "\"new\\012line\"", "new_line", "new_line"},
	        {"\xc2\xb5", "\"\\302\\265\"", "__", "__"},
	        {"\x7f~", "\"\\177~\"", "_~", "__"},
	        {"", "\"\"", "", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_string_equal(made(tk_c_add_string, cases[i].text), cases[i].string);
		assert_string_equal(made(tk_c_add_comment, cases[i].text), cases[i].comment);
		assert_string_equal(made(tk_c_add_name, cases[i].text), cases[i].name);
	}
	assert_string_equal(made(tk_c_add_string, NULL), "\"\"");
}

static void members_of_json(void **state)
{
	struct tk_buf b = TK_BUF_INIT;
	char text[600];

	(void)state;
	tk_json_add_text(&b, "t", "<a \"b\">");
	tk_json_add_number(&b, "n", 1.5);
	tk_json_add_number(&b, "none", NAN);
	tk_json_add_time(&b, "at", 1600000000);
	tk_json_add_time(&b, "never", 0);
	assert_string_equal(tk_buf_cstr(&b), ",\"t\":\"\\u003ca \\\"b\\\"\\u003e\",\"n\":1.5,"
	                                     "\"none\":null,\"at\":\"2020-09-13T12:26:40Z\","
	                                     "\"never\":null");
	/* Long texts are cut, at a character. */
	memset(text, 'x', 399);
	strcpy(text + 399, "\xc2\xb5zzz");
	tk_buf_clear(&b);
	tk_json_add_text(&b, "t", text);
	assert_int_equal(b.len, strlen(",\"t\":\"\"") + 399);
	tk_buf_free(&b);
}

static void texts_are_cut_at_characters(void **state)
{
	static const struct {
		const char *text;
		size_t max, len;
	} cases[] = {{"abc", 5, 3}, {"abc", 3, 3}, {"abc", 2, 2}, {"abc", 0, 0},
	        {"a\xc2\xb5", 2, 1}, {"a\xc2\xb5", 3, 3}, {"\xe2\x80\x93x", 2, 0},
	        {"\xe2\x80\x93x", 3, 3}, {"\xf0\x9f\x98\x80", 3, 0}, {"\xf0\x9f\x98\x80", 4, 4}};
	static const struct {
		const char *text;
		size_t max, len;
	} clauses[] = {{"one; two; three", 100, 15}, {"one; two; three", 15, 15},
	        {"one; two; three", 14, 8}, {"one; two; three", 8, 8}, {"one; two; three", 7, 3},
	        {"one; two; three", 3, 3}, {"one; two", 2, 2}, {"no clause at all", 5, 5}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(tk_utf8_clip_len(cases[i].text, cases[i].max), cases[i].len);
	for (size_t i = 0; i < sizeof clauses / sizeof *clauses; i++)
		if (tk_utf8_clip_clauses_len(clauses[i].text, clauses[i].max) != clauses[i].len)
			fail_msg("%s, %zu: %zu", clauses[i].text, clauses[i].max,
			        tk_utf8_clip_clauses_len(clauses[i].text, clauses[i].max));
}

static void addresses(void **state)
{
	(void)state;
	assert_string_equal(made(tk_escape_url, "aZ09-._~"), "aZ09-._~");
	assert_string_equal(made(tk_escape_url, "a b/c?d&e=f#g"), "a%20b%2Fc%3Fd%26e%3Df%23g");
	assert_string_equal(made(tk_escape_url, "\xc2\xb5%\""), "%C2%B5%25%22");
}

/* Whatever bytes come from outside: the result is valid UTF-8 without markup. */
static void any_bytes_are_escaped(void **state)
{
	struct tk_rng rng;
	struct tk_buf b = TK_BUF_INIT;

	(void)state;
	tk_rng_seed(&rng, 11);
	for (int round = 0; round < 2000; round++) {
		char text[40];
		size_t len = (size_t)tk_rng_below(&rng, sizeof text);

		for (size_t i = 0; i < len; i++)
			text[i] = (char)tk_rng_below(&rng, 256);
		for (int json = 0; json < 2; json++) {
			tk_buf_clear(&b);
			(json ? tk_escape_json : tk_escape_html)(&b, text, len);
			for (size_t i = 0, n; i < b.len; i += n) {
				n = tk_utf8_decode(b.data + i, b.len - i, NULL);
				assert_true(n > 0);
			}
			assert_null(memchr(tk_buf_cstr(&b), '<', b.len));
			assert_null(memchr(tk_buf_cstr(&b), '>', b.len));
			if (!json)
				assert_null(memchr(tk_buf_cstr(&b), '"', b.len));
		}
	}
	tk_buf_free(&b);
}

/* Each letter has its edges, and strokes between them that the pen can draw. */
static void letters_of_the_font(void **state)
{
	(void)state;
	for (unsigned letter = ' '; letter <= '~'; letter++) {
		const char *g = tk_stroke_font_find(letter);

		assert_true(strlen(g) >= 2 && strlen(g) % 2 == 0);
		assert_true(g[0] < g[1]);
		for (size_t i = 2; g[i]; i += 2) {
			bool lifts = g[i] == ' ' && g[i + 1] == 'R';

			assert_true(lifts || (g[i] >= g[0] - 2 && g[i] <= g[1] + 2));
		}
		assert_true(letter == '?' || strcmp(g, tk_stroke_font_find('?')) != 0);
	}
	assert_int_equal(strlen(tk_stroke_font_find(' ')), 2);
	assert_string_equal(tk_stroke_font_find(0xb5), tk_stroke_font_find('?'));
	assert_string_equal(tk_stroke_font_find('\n'), tk_stroke_font_find('?'));
	assert_string_equal(tk_stroke_font_find(127), tk_stroke_font_find('?'));
}

int render_text_tests(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(values_are_found_by_key),
	        cmocka_unit_test(many_keys),
	        cmocka_unit_test(lists_keep_their_order),
	        cmocka_unit_test(arenas_grow_and_are_reset),
	        cmocka_unit_test(markup_that_failed),
	        cmocka_unit_test(texts_for_c),
	        cmocka_unit_test(members_of_json),
	        cmocka_unit_test(texts_are_cut_at_characters),
	        cmocka_unit_test(addresses),
	        cmocka_unit_test(any_bytes_are_escaped),
	        cmocka_unit_test(letters_of_the_font),
	};

	return cmocka_run_group_tests_name("texts", tests, NULL, NULL);
}
