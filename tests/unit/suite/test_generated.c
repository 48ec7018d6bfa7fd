/* What suites generate: ranges of values, picks of combinations, and texts as inputs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/file.h"
#include "base/yaml.h"
#include "suite/range.h"
#include "suite/text_inputs.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- ranges ---- */

static int read_range(const char *text, struct tk_suite_range *out, struct tk_error *err)
{
	char copy[200];
	struct tk_yaml *y;

	snprintf(copy, sizeof copy, "%s", text);
	int status = tk_yaml_parse("s.yml", copy, strlen(copy), &y, err);
	if (!status) {
		status = tk_suite_range_read(y, tk_yaml_root(y), out, err);
		tk_yaml_free(y);
	}
	return status;
}

static void ranges_have_their_ends(void **state)
{
	static const struct {
		const char *text;
		size_t count;
		int64_t first, second, last;
	} cases[] = {
	        {"{ from: 16, to: 64, step: 16 }", 4, 16, 32, 64},
	        {"{ from: 16, to: 63, step: 16 }", 3, 16, 32, 48},
	        {"{ from: 3, to: 5 }", 3, 3, 4, 5},
	        {"{ from: 0, to: 1 }", 2, 0, 1, 1},
	        {"{ from: 7, to: 7, step: 9 }", 1, 7, 16, 7},
	        {"{ from: 16, to: 4096, times: 2 }", 9, 16, 32, 4096},
	        {"{ from: 16, to: 4095, times: 2 }", 8, 16, 32, 2048},
	        {"{ from: 5, to: 5, times: 3 }", 1, 5, 15, 5},
	        {"{ from: 1, to: 1000000000000, times: 10 }", 13, 1, 10, 1000000000000},
	        {"{ from: 1, to: 2, times: 1000000000000 }", 1, 1, 1000000000000, 1},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tk_error err = {0};
		struct tk_suite_range r;
		if (read_range(cases[i].text, &r, &err))
			fail_msg("%s: %s", cases[i].text, err.message);
		assert_int_equal(r.count, cases[i].count);
		assert_int_equal(tk_suite_range_value(&r, 0), cases[i].first);
		assert_int_equal(tk_suite_range_value(&r, 1), cases[i].second);
		assert_int_equal(tk_suite_range_value(&r, r.count - 1), cases[i].last);
	}
}

static void other_ranges_are_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
	        {"{ from: 1 }", "s.yml:1:1: expected from, to, and step or times"},
	        {"{ to: 1, step: 2 }", "expected from, to, and step or times"},
	        {"{ from: 1, to: 8, step: 1, times: 2 }", "expected from, to, and step or times"},
	        {"{ from: 9, to: 8 }", "to is not a whole number from 9 to 1000000000000"},
	        {"{ from: 0, to: 8, times: 2 }", "from is not a whole number from 1 to"},
	        {"{ from: 1, to: 8, times: 1 }", "times is not a whole number from 2 to"},
	        {"{ from: 1, to: 8, step: 0 }", "step is not a whole number from 1 to"},
	        {"{ from: 1, to: 8x }", "to is not a whole number"},
	        {"{ from: -1, to: 8 }", "from is not a whole number from 0 to"},
	        {"{ from: [1], to: 8 }", "from is not a whole number"},
	        {"{ from: 1, to: 1000000000001 }", "to is not a whole number"},
	        {"{ from: 1, to: 8, by: 2 }", "by"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tk_suite_range r = {.count = 4711};
		struct tk_error err = {0};
		if (read_range(cases[i].text, &r, &err) != TK_ECONFIG)
			fail_msg("%s is read", cases[i].text);
		if (!strstr(err.message, cases[i].message))
			fail_msg("%s: %s", cases[i].text, err.message);
		assert_int_equal(r.count, 4711);
	}
}

static void numbers_end_at_the_first_other_character(void **state)
{
	static const struct {
		const char *text;
		bool is_number;
		int64_t value;
		size_t length;
	} cases[] = {
	        {"0", true, 0, 1},
	        {"12x", true, 12, 2},
	        {"1000000000000", true, 1000000000000, 13},
	        {"007", true, 7, 3},
	        {"1000000000001", false, 0, 0},
	        {"99999999999999999999999999", false, 0, 0},
	        {"", false, 0, 0},
	        {"x1", false, 0, 0},
	        {"-1", false, 0, 0},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *at = cases[i].text;
		int64_t value;
		assert_int_equal(tk_suite_read_number(&at, &value), cases[i].is_number);
		if (!cases[i].is_number)
			continue;
		assert_int_equal(value, cases[i].value);
		assert_int_equal(at - cases[i].text, cases[i].length);
	}
}

/* ---- picks ---- */

static void a_pick_is_a_set_of_its_seed(void **state)
{
	static const struct {
		uint64_t total;
		size_t count;
	} cases[] = {{1, 0}, {1, 1}, {10, 10}, {10, 3}, {UINT64_C(1) << 40, 500}, {500, 499}};

	for (size_t i = 0; i < COUNT(cases); i++)
		for (uint64_t seed = 1; seed <= 5; seed++) {
			const size_t n = cases[i].count;
			uint64_t *list = tk_suite_pick(cases[i].total, n, seed),
			         *again = tk_suite_pick(cases[i].total, n, seed);
			assert_non_null(list);
			for (size_t k = 0; k < n; k++) {
				assert_true(list[k] < cases[i].total);
				assert_true(!k || list[k] > list[k - 1]);
			}
			assert_memory_equal(list, again, n * sizeof *list);
			free(list);
			free(again);
		}
}

/* Every number is as likely as any other. */
static void a_pick_has_no_favourites(void **state)
{
	enum { TOTAL = 10, PICKED = 3, SEEDS = 4000 };
	size_t drawn[TOTAL] = {0};

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint64_t *list = tk_suite_pick(TOTAL, PICKED, seed);
		for (size_t k = 0; k < PICKED; k++)
			drawn[list[k]]++;
		free(list);
	}
	for (size_t i = 0; i < TOTAL; i++) /* 1,200 +- 5 standard deviations */
		assert_true(drawn[i] > 1055 && drawn[i] < 1345);
}

/* ---- texts ---- */

static struct tk_text text_of(const char *document)
{
	struct tk_text t = {.count = 0};
	struct tk_error err = {0};

	assert_int_equal(tk_text_add_document(&t, document, strlen(document), &err), TK_OK);
	return t;
}

static void words_and_signs_are_tokens(void **state)
{
	static const struct {
		const char *document;
		size_t tokens, distinct; /* with the 0 at the end */
	} cases[] = {
	        {"one two", 3, 3},
	        {"one  one\tone\n", 4, 2},
	        {"f(x_1, 2.5)", 9, 9},
	        {"caf\xc3\xa9 caf\xc3\xa9", 3, 2}, /* letters of UTF-8 belong to words */
	        {"...", 4, 2},
	        {"", 0, 0},
	        {" \n\t ", 0, 0},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tk_text t = text_of(cases[i].document);
		assert_int_equal(t.count, cases[i].tokens);
		assert_int_equal(tk_text_count_distinct(&t), cases[i].distinct);
		for (size_t k = 0; k < t.count; k++)
			assert_int_equal(t.tokens[k] == 0, k + 1 == t.count);
		tk_text_free(&t);
	}
}

static void equal_words_have_equal_tokens(void **state)
{
	struct tk_text t = text_of("alpha beta alpha Alpha");

	assert_int_equal(t.tokens[0], t.tokens[2]);
	assert_int_not_equal(t.tokens[0], t.tokens[1]);
	assert_int_not_equal(t.tokens[0], t.tokens[3]);
	tk_text_free(&t);
}

static void documents_end_with_zero(void **state)
{
	struct tk_text t = text_of("one two");
	struct tk_error err = {0};

	assert_int_equal(tk_text_count_documents(&t), 1);
	assert_int_equal(tk_text_add_document(&t, "three", 5, &err), TK_OK);
	assert_int_equal(tk_text_add_document(&t, "  ", 2, &err), TK_OK); /* none */
	assert_int_equal(tk_text_count_documents(&t), 2);
	assert_int_equal(t.count, 5);
	t.count = 4; /* one that is cut off has no end */
	assert_int_equal(tk_text_count_documents(&t), 2);
	tk_text_free(&t);
}

static void a_text_has_a_largest_size(void **state)
{
	enum { BYTES = 2 * TK_TEXT_TOKENS_MAX + 100 };
	char *document = malloc(BYTES);
	struct tk_text t = {.count = 0};
	struct tk_error err = {0};

	assert_non_null(document);
	for (int i = 0; i < BYTES; i++)
		document[i] = i % 2 ? ' ' : (char)('a' + i / 2 % 26);
	assert_int_equal(tk_text_add_document(&t, document, BYTES, &err), TK_OK);
	assert_int_equal(t.count, TK_TEXT_TOKENS_MAX);
	assert_int_not_equal(t.tokens[t.count - 1], 0);
	assert_int_equal(tk_text_add_document(&t, "more", 4, &err), TK_OK);
	assert_int_equal(t.count, TK_TEXT_TOKENS_MAX);
	assert_int_equal(tk_text_count_distinct(&t), 26);
	tk_text_free(&t);
	free(document);
}

/* ---- files of texts ---- */

static int folder_set_up(void **state)
{
	static char folder[40];

	strcpy(folder, "/tmp/tracker-texts-XXXXXX");
	*state = mkdtemp(folder);
	return *state ? 0 : -1;
}

static int folder_tear_down(void **state)
{
	return tk_dir_remove(*state, NULL);
}

static void a_saved_text_is_read_again(void **state)
{
	struct tk_text t = text_of("one two\nthree"), read;
	struct tk_error err = {0};

	if (tk_text_save(&t, *state, "prose", &err))
		fail_msg("%s", err.message);
	assert_memory_equal(t.name, "prose-", 6);
	assert_int_equal(strlen(t.name), 6 + TK_TEXT_HASH_DIGITS);
	if (tk_text_load(*state, t.name, &read, &err))
		fail_msg("%s", err.message);
	assert_string_equal(read.name, t.name);
	assert_int_equal(read.count, t.count);
	assert_memory_equal(read.tokens, t.tokens, t.count * sizeof *t.tokens);
	tk_text_free(&read);
	tk_text_free(&t);
}

/* A name never means other data. */
static void other_tokens_have_another_name(void **state)
{
	struct tk_text a = text_of("one"), b = text_of("two");
	struct tk_error err = {0};
	char **names;
	size_t count;

	assert_int_equal(tk_text_save(&b, *state, "prose", &err), TK_OK);
	assert_int_equal(tk_text_save(&a, *state, "prose", &err), TK_OK);
	assert_string_not_equal(a.name, b.name);
	assert_int_equal(tk_text_list_names(*state, &names, &count, &err), TK_OK);
	size_t listed = 0;
	for (size_t i = 0; i < count; i++) {
		listed += !strcmp(names[i], a.name) || !strcmp(names[i], b.name);
		assert_true(!i || strcmp(names[i - 1], names[i]) < 0);
	}
	assert_int_equal(listed, 2);
	tk_names_free(names, count);
	tk_text_free(&a);
	tk_text_free(&b);
}

static void invalid_texts_are_not_saved(void **state)
{
	struct tk_text t = text_of("one"), none = {.count = 0};
	struct tk_error err = {0};

	assert_int_equal(tk_text_save(&t, *state, "../x", &err), TK_EUSAGE);
	assert_non_null(strstr(err.message, "invalid name of a text \"../x\"; expected at most"));
	assert_int_equal(tk_text_save(&t, *state, "", &err), TK_EUSAGE);
	assert_int_equal(tk_text_save(&none, *state, "x", &err), TK_EDATA);
	assert_non_null(strstr(err.message, "have no words"));
	tk_text_free(&t);
}

static void damaged_files_are_refused(void **state)
{
	static const struct {
		size_t cut;  /* bytes that are kept; 0: all */
		size_t flip; /* byte that is changed */
		const char *message;
	} cases[] = {
	        {0, 0, "this is no text of `tracker inputs import`"},
	        {0, 16, "its tokens have the hash"},
	        {15, 99, "this is no text"}, /* the first line alone */
	        {3, 99, "this is no text"},
	        {18, 99, "this is no text"}, /* half a token */
	        {17, 99, "its tokens have the hash"},
	};
	struct tk_text t = text_of("one two"), read;
	char path[120], bytes[64];

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tk_error err = {0};
		assert_int_equal(tk_text_save(&t, *state, "x", &err), TK_OK);
		snprintf(path, sizeof path, "%s/inputs/%s.tokens", (char *)*state, t.name);
		FILE *f = fopen(path, "r+e");
		assert_non_null(f);
		size_t len = fread(bytes, 1, sizeof bytes, f);
		fclose(f);
		if (cases[i].flip < len)
			bytes[cases[i].flip] ^= 1;
		f = fopen(path, "we");
		assert_non_null(f);
		fwrite(bytes, 1, cases[i].cut ? cases[i].cut : len, f);
		fclose(f);
		if (tk_text_load(*state, t.name, &read, &err) != TK_EDATA)
			fail_msg("case %zu is read", i);
		if (!strstr(err.message, cases[i].message))
			fail_msg("case %zu: %s", i, err.message);
	}
	tk_text_free(&t);
}

static void unknown_texts_are_not_found(void **state)
{
	static const char *const names[] = {"none-0123456789ab", "none", "../../etc/passwd", ""};
	struct tk_text read;

	for (size_t i = 0; i < COUNT(names); i++) {
		struct tk_error err = {0};
		assert_int_equal(tk_text_load(*state, names[i], &read, &err), TK_ENOTFOUND);
		assert_non_null(strstr(err.message, "unknown text \""));
	}
}

#define FOLDER_TEST(f) cmocka_unit_test_setup_teardown(f, folder_set_up, folder_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(ranges_have_their_ends),
	        cmocka_unit_test(other_ranges_are_refused),
	        cmocka_unit_test(numbers_end_at_the_first_other_character),
	        cmocka_unit_test(a_pick_is_a_set_of_its_seed),
	        cmocka_unit_test(a_pick_has_no_favourites),
	        cmocka_unit_test(words_and_signs_are_tokens),
	        cmocka_unit_test(equal_words_have_equal_tokens),
	        cmocka_unit_test(documents_end_with_zero),
	        cmocka_unit_test(a_text_has_a_largest_size),
	        FOLDER_TEST(a_saved_text_is_read_again),
	        FOLDER_TEST(other_tokens_have_another_name),
	        FOLDER_TEST(invalid_texts_are_not_saved),
	        FOLDER_TEST(damaged_files_are_refused),
	        FOLDER_TEST(unknown_texts_are_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
