/* Texts at random, with a fixed seed: what is valid stays as it is, everything else becomes valid,
 * and nothing is written beyond the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/rng.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/yaml.h"

/* The bytes of a character by the table of RFC 3629; returns how many. */
static size_t encode(uint32_t c, char out[5])
{
	memset(out, 0, 5);
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

static void every_character_is_decoded(void **state)
{
	(void)state;
	/* all of two bytes, and a step that meets every leading byte */
	for (uint32_t c = 0; c < 0x110000; c += c < 0x1000 ? 1 : 13) {
		char bytes[5];
		uint32_t code = 0;
		const size_t len = encode(c, bytes);
		const bool is_surrogate = c >= 0xd800 && c < 0xe000;

		assert_int_equal(tk_utf8_decode(bytes, len, &code), is_surrogate ? 0 : len);
		assert_int_equal(code, is_surrogate ? 0 : c);
		/* one byte less is no character, and nothing beyond is read */
		if (len > 1)
			assert_int_equal(tk_utf8_decode(bytes, len - 1, &code), 0);
	}
}

static void the_borders_of_characters(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} rows[] = {{"\x7f", 1}, {"\x80", 0}, {"\xbf", 0}, {"\xc0\x80", 0}, {"\xc1\xbf", 0},
	        {"\xc2\x80", 2}, {"\xdf\xbf", 2}, {"\xe0\x9f\xbf", 0}, {"\xe0\xa0\x80", 3},
	        {"\xed\x9f\xbf", 3}, {"\xed\xa0\x80", 0}, {"\xed\xbf\xbf", 0}, {"\xee\x80\x80", 3},
	        {"\xef\xbf\xbf", 3}, {"\xf0\x8f\xbf\xbf", 0}, {"\xf0\x90\x80\x80", 4},
	        {"\xf4\x8f\xbf\xbf", 4}, {"\xf4\x90\x80\x80", 0}, {"\xf5\x80\x80\x80", 0},
	        {"\xf8\x88\x80\x80\x80", 0}, {"\xff", 0}, {"\xc2", 0}, {"\xc2\x41", 0},
	        {"\xe2\x82", 0}, {"\xe2\x82\x41", 0}, {"\xf0\x9f\x98", 0}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (tk_utf8_decode(rows[i].bytes, SIZE_MAX, NULL) != rows[i].len)
			fail_msg("row %zu", i);
}

/* Characters of all lengths, control characters, and bytes that are none of them. */
static size_t make_text(struct tk_rng *rng, char *out, size_t pieces, bool is_valid)
{
	static const uint32_t some[] = {'a', 'Z', ' ', '"', '\\', '\n', '\t', 0x1b, 0x7f, 0x9b,
	        0xb5, 0x20ac, 0x200e, 0x202e, 0x2066, 0xfeff, 0xffff, 0x10000, 0x1f600, 0x10ffff};
	size_t len = 0;

	for (size_t i = 0; i < pieces; i++) {
		if (!is_valid && tk_rng_below(rng, 4) == 0)
			out[len++] = (char)(0x80 + tk_rng_below(rng, 0x80));
		else
			len += encode(
			        some[tk_rng_below(rng, sizeof some / sizeof *some)], out + len);
	}
	out[len] = '\0';
	return len;
}

static void any_bytes_become_valid(void **state)
{
	struct tk_buf once = TK_BUF_INIT, twice = TK_BUF_INIT;
	struct tk_rng rng;

	(void)state;
	tk_rng_seed(&rng, 1);
	for (int i = 0; i < 5000; i++) {
		char text[128];
		const size_t len = make_text(&rng, text, tk_rng_below(&rng, 24), i % 2);

		tk_buf_clear(&once);
		tk_buf_clear(&twice);
		tk_buf_add_utf8(&once, text, len);
		assert_true(tk_utf8_is_valid(tk_buf_cstr(&once)));
		/* what is valid stays, also what was made valid */
		if (tk_utf8_is_valid(text))
			assert_string_equal(tk_buf_cstr(&once), text);
		tk_buf_add_utf8(&twice, tk_buf_cstr(&once), once.len);
		assert_string_equal(tk_buf_cstr(&twice), tk_buf_cstr(&once));
		assert_true(once.len >= len && once.len <= 3 * len);
	}
	tk_buf_free(&once);
	tk_buf_free(&twice);
}

static bool is_printable(const char *text)
{
	bool unprintable = false;

	for (size_t n; (n = tk_text_next_char(text, &unprintable)) && !unprintable; text += n)
		;
	return !unprintable;
}

static void a_line_fits_and_is_printable(void **state)
{
	struct tk_rng rng;

	(void)state;
	tk_rng_seed(&rng, 2);
	for (int i = 0; i < 20000; i++) {
		char text[128], out[160], whole[512];
		const size_t size = 4 + tk_rng_below(&rng, 60);

		make_text(&rng, text, tk_rng_below(&rng, 24), i % 2);
		memset(out, '#', sizeof out);
		tk_text_copy_line(out, size, text);
		tk_text_copy_line(whole, sizeof whole, text);
		assert_true(strlen(out) < size);
		assert_int_equal(out[size], '#'); /* nothing is written behind it */
		assert_true(is_printable(out) && is_printable(whole));
		assert_true(tk_utf8_is_valid(out));
		if (strlen(whole) < size) {
			assert_string_equal(out, whole);
			continue;
		}
		const size_t kept = strlen(out) - 3;

		assert_string_equal(out + kept, "...");
		assert_memory_equal(out, whole, kept);
		/* no room is wasted: the next character did not fit */
		assert_true(kept + 3 + 4 >= size - 1);
	}
}

static void sanitized_text_has_the_same_length(void **state)
{
	struct tk_rng rng;

	(void)state;
	tk_rng_seed(&rng, 3);
	for (int i = 0; i < 5000; i++) {
		char text[128], clean[128];
		const size_t len = make_text(&rng, text, tk_rng_below(&rng, 24), i % 2);

		strcpy(clean, text);
		tk_text_sanitize(clean, "", '?');
		assert_int_equal(strlen(clean), len);
		assert_true(is_printable(clean));
		if (is_printable(text))
			assert_string_equal(clean, text);
		for (size_t k = 0; k < len; k++)
			assert_true(clean[k] == text[k] || clean[k] == '?');
		/* line ends stay where they are asked for */
		tk_text_sanitize(text, "\n", '?');
		for (size_t k = 0; k < len; k++)
			assert_true(text[k] == clean[k] || text[k] == '\n');
	}
}

/* ---- messages -------------------------------------------------------------------------------- */

/* A cut in the middle of a character would make the whole message unreadable as JSON. */
static void a_message_is_cut_between_characters(void **state)
{
	static const char *const characters[] = {
	        "x", "\xc2\xb5", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};

	(void)state;
	for (size_t c = 0; c < 4; c++)
		for (size_t lead = 0; lead < 4; lead++) {
			struct tk_error err;
			struct tk_buf text = TK_BUF_INIT;

			tk_buf_add(&text, "aaaa", lead);
			while (text.len < 3000)
				tk_buf_add_str(&text, characters[c]);
			tk_fail(&err, TK_EDATA, "%s", tk_buf_cstr(&text));
			assert_true(tk_utf8_is_valid(err.message));
			assert_true(strlen(err.message) >
			            sizeof err.message - 1 - strlen(characters[c]));
			assert_memory_equal(err.message, text.data, strlen(err.message));
			/* and again with something in front of it */
			tk_error_add_context(&err, "%s", "file");
			assert_true(tk_utf8_is_valid(err.message));
			assert_memory_equal(err.message, "file: ", 6);
			tk_buf_free(&text);
		}
}

/* Bytes that were no character before stay: the printer replaces them. */
static void only_a_cut_character_is_left_out(void **state)
{
	struct tk_error err;

	(void)state;
	tk_fail(&err, TK_EDATA, "%s", "a \xe2\x82");
	assert_string_equal(err.message, "a \xe2\x82");
	tk_fail(&err, TK_EDATA, "%s", "");
	assert_string_equal(err.message, "");
	tk_fail(&err, TK_EDATA, "%s", "\r\n\n");
	assert_string_equal(err.message, "");
}

/* ---- names ----------------------------------------------------------------------------------- */

/* A slug is a safe file name, and different names have different ones. */
static void slugs_are_safe_and_differ(void **state)
{
	char *slugs[400];
	struct tk_rng rng;

	(void)state;
	tk_rng_seed(&rng, 4);
	for (size_t i = 0; i < 400; i++) {
		char text[160];
		const size_t len = make_text(&rng, text, tk_rng_below(&rng, 30), true);

		snprintf(text + len, sizeof text - len, "%zu", i); /* all differ */
		slugs[i] = tk_path_make_slug(text);
		assert_non_null(slugs[i]);
		assert_true(strlen(slugs[i]) >= 1 && strlen(slugs[i]) <= 80);
		assert_int_equal(
		        strspn(slugs[i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		                         "0123456789._-"),
		        strlen(slugs[i]));
		assert_string_not_equal(slugs[i], ".");
		assert_string_not_equal(slugs[i], "..");
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(slugs[k], slugs[i]);
	}
	for (size_t i = 0; i < 400; i++)
		free(slugs[i]);
}

/* One mistake in a name of at least three letters: the right one is suggested. */
static void one_mistake_is_found(void **state)
{
	static const char *const names[] = {
	        "openblas", "cublaslt", "rocblas", "hipblaslt", "cpu", "null", "onednn", NULL};
	struct tk_rng rng;

	(void)state;
	tk_rng_seed(&rng, 5);
	for (int i = 0; i < 4000; i++) {
		const char *right = names[i % 7];
		const size_t len = strlen(right), at = tk_rng_below(&rng, len);
		char wrong[32];

		strcpy(wrong, right);
		switch (i / 7 % 4) {
		case 0: /* another letter */
			wrong[at] = '#';
			break;
		case 1: /* one more */
			memmove(wrong + at + 1, wrong + at, len - at + 1);
			wrong[at] = '#';
			break;
		case 2: /* one less */
			memmove(wrong + at, wrong + at + 1, len - at);
			break;
		default: /* two letters the other way round */
			if (at + 1 < len) {
				wrong[at] = right[at + 1];
				wrong[at + 1] = right[at];
			}
		}
		const char *found = tk_suggest_name(wrong, names);

		if (!found || strcmp(found, right))
			fail_msg("%s: %s, not %s", wrong, found ? found : "none", right);
	}
}

/* ---- YAML ------------------------------------------------------------------------------------ */

/* Whatever the text is, it is read, or refused with a place that is in it. */
static void any_yaml_ends(void **state)
{
	static const char *const pieces[] = {"a", "b: ", "- ", "\n", "  ", "[", "]", "{", "}", ",",
	        "\"", "'", "#", "|", ">", "&x ", "*x", "!t ", "~", "\t", "---", "...", "? ", "\\0",
	        "\xc2\xb5", "\xff", "%"};
	size_t read = 0, refused = 0;
	struct tk_rng rng;

	(void)state;
	tk_rng_seed(&rng, 6);
	for (int i = 0; i < 5000; i++) {
		struct tk_buf text = TK_BUF_INIT;
		struct tk_yaml *y = NULL;
		struct tk_error err = {0};
		size_t lines = 1, line, column;

		for (size_t n = tk_rng_below(&rng, 12) + 1; n; n--)
			tk_buf_add_str(
			        &text, pieces[tk_rng_below(&rng, sizeof pieces / sizeof *pieces)]);
		for (size_t k = 0; k < text.len; k++)
			lines += text.data[k] == '\n';
		if (!tk_yaml_parse("f.yml", text.data, text.len, &y, &err)) {
			for (size_t k = 0; k < tk_yaml_count(y, tk_yaml_root(y)); k++)
				assert_non_null(
				        tk_yaml_text(y, tk_yaml_item(y, tk_yaml_root(y), k)));
			tk_yaml_free(y);
			read++;
		} else {
			if (sscanf(err.message, "f.yml:%zu:%zu: ", &line, &column) != 2 || !line ||
			        !column || line > lines + 1)
				fail_msg("%s\ngives %s", tk_buf_cstr(&text), err.message);
			refused++;
		}
		tk_buf_free(&text);
	}
	assert_true(read > 500 && refused > 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_character_is_decoded),
	        cmocka_unit_test(the_borders_of_characters),
	        cmocka_unit_test(any_bytes_become_valid),
	        cmocka_unit_test(a_line_fits_and_is_printable),
	        cmocka_unit_test(sanitized_text_has_the_same_length),
	        cmocka_unit_test(a_message_is_cut_between_characters),
	        cmocka_unit_test(only_a_cut_character_is_left_out),
	        cmocka_unit_test(slugs_are_safe_and_differ),
	        cmocka_unit_test(one_mistake_is_found),
	        cmocka_unit_test(any_yaml_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
