/* Every key of tracker.yml by its row in the table: the least value, the greatest one, those just
 * beyond, and texts at their limits. A new key is tested without another line here. */
#include <math.h>
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
#include "config/config.h"
#include "config/keys.h"

#define ROOT "/srv/bench"

/* ---- a file with one key --------------------------------------------------------------------- */

/* An upstream has its value in a list of mappings; package has most keys that are not of git. */
static bool is_upstream(const struct tk_config_section *s)
{
	return strcmp(s->name, "upstreams") == 0;
}

/* What is needed beside a key of an upstream so that the file is right. */
static const char *companions(const struct tk_config_key *key)
{
	static const char *const of_git[] = {"branch", "path", NULL};

	if (strcmp(key->name, "name") == 0)
		return "kind: package, adapter: a";
	if (strcmp(key->name, "kind") == 0)
		return "name: u, url: x, adapter: a";
	if (strcmp(key->name, "url") == 0)
		return "name: u, kind: git, adapter: a";
	if (strcmp(key->name, "adapter") == 0)
		return "name: u, kind: package";
	for (size_t i = 0; of_git[i]; i++)
		if (strcmp(key->name, of_git[i]) == 0)
			return "name: u, kind: git, url: x, adapter: a";
	return "name: u, kind: package, adapter: a";
}

/* What keys that are compared with others need: the other one at its limit. */
static const char *partner(const struct tk_config_section *s, const struct tk_config_key *key)
{
	static const struct {
		const char *section, *key, *other;
	} partners[] = {{"budgets", "measure", "job: 1d"}, {"budgets", "job", "measure: 1ms"},
	        {"measure", "min_samples", "max_samples: 1000000"},
	        {"measure", "max_samples", "min_samples: 1"}};

	for (size_t i = 0; i < sizeof partners / sizeof *partners; i++)
		if (strcmp(partners[i].section, s->name) == 0 &&
		        strcmp(partners[i].key, key->name) == 0)
			return partners[i].other;
	return NULL;
}

/* The file whose one key has a value, with double quotes around it. The value stands in line 2 of
 * keys in a section, else in line 1. */
static void make_file(struct tk_buf *out, const struct tk_config_section *s,
        const struct tk_config_key *key, const char *value)
{
	const char *other = partner(s, key);

	tk_buf_clear(out);
	if (is_upstream(s))
		tk_buf_add_printf(
		        out, "upstreams:\n  - {%s: %s, %s}\n", key->name, value, companions(key));
	else if (*s->name)
		tk_buf_add_printf(out, "%s:\n  %s: %s\n%s%s\n", s->name, key->name, value,
		        other ? "  " : "", other ? other : "");
	else
		tk_buf_add_printf(out, "%s: %s\n", key->name, value);
}

/* The object that the offset of a key counts from. */
static const void *base_of(const struct tk_config *c, const struct tk_config_section *s)
{
	return is_upstream(s) ? (const void *)c->upstreams : c;
}

static const void *load_field(const struct tk_config_section *s, const struct tk_config_key *key,
        const char *value, struct tk_config **c)
{
	struct tk_buf text = TK_BUF_INIT;
	struct tk_error err = {0};

	make_file(&text, s, key, value);
	if (tk_config_load_text(ROOT, "tracker.yml", text.data, text.len, c, &err))
		fail_msg("%s\n%s", text.data, err.message);
	tk_buf_free(&text);
	return (const char *)base_of(*c, s) + key->offset;
}

/* The value is refused at its place, and the message names the key and has the phrase. */
static void expect_refused(const struct tk_config_section *s, const struct tk_config_key *key,
        const char *value, const char *phrase)
{
	struct tk_buf text = TK_BUF_INIT;
	struct tk_config *c = NULL;
	struct tk_error err = {0};
	char place[256];
	const bool is_top = !*s->name && !is_upstream(s);

	make_file(&text, s, key, value);
	int status = tk_config_load_text(ROOT, "tracker.yml", text.data, text.len, &c, &err);

	snprintf(place, sizeof place, "tracker.yml:%d:%zu: %s%s%s: ", is_top ? 1 : 2,
	        strlen(key->name) +
	                (is_upstream(s)    ? 5
	                        : *s->name ? 2
	                                   : 0) +
	                3,
	        s->name, *s->name ? "." : "", key->name);
	if (status != TK_ECONFIG || strncmp(err.message, place, strlen(place)) != 0 ||
	        !strstr(err.message, phrase))
		fail_msg("%s\ngives    %s\nexpected %s... %s", text.data,
		        status ? err.message : "no error", place, phrase);
	assert_null(c);
	tk_buf_free(&text);
}

/* Calls visit for every key. */
static void each_key(
        void (*visit)(const struct tk_config_section *s, const struct tk_config_key *key))
{
	for (const struct tk_config_section *s = tk_config_sections; s->name; s++)
		for (const struct tk_config_key *key = s->keys; key->name; key++)
			visit(s, key);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* A number in the smallest unit of its type. */
static const char *write_number(const struct tk_config_key *key, double value, char out[64])
{
	switch (key->type) {
	case TK_CONFIG_DURATION:
	case TK_CONFIG_DAYS:
		snprintf(out, 64, "%.0fms", value * 1e3);
		break;
	case TK_CONFIG_TIME_NS:
		snprintf(out, 64, "%.0fns", value * 1e9);
		break;
	case TK_CONFIG_FRACTION:
		snprintf(out, 64, "%.6f%%", value * 100);
		break;
	default:
		snprintf(out, 64, "%.0f", value);
	}
	return out;
}

/* The step to the next number that can be written, or a little more. */
static double step_of(const struct tk_config_key *key)
{
	switch (key->type) {
	case TK_CONFIG_DURATION:
	case TK_CONFIG_DAYS:
		return 1e-3;
	case TK_CONFIG_TIME_NS:
		return 1e-9;
	case TK_CONFIG_FRACTION:
		return 1e-6;
	default:
		return 1;
	}
}

static bool is_number(const struct tk_config_key *key)
{
	return key->type >= TK_CONFIG_DURATION && key->type <= TK_CONFIG_COUNT;
}

/* The value of a field as the table says it: seconds, a fraction, a count. */
static double read_number(const struct tk_config_key *key, const void *field)
{
	switch (key->type) {
	case TK_CONFIG_DAYS:
		return *(const uint32_t *)field * 86400.0;
	case TK_CONFIG_TIME_NS:
		return *(const double *)field / 1e9;
	case TK_CONFIG_SIZE:
		return (double)*(const uint64_t *)field;
	case TK_CONFIG_COUNT:
		return *(const uint32_t *)field;
	default:
		return *(const double *)field;
	}
}

static void expect_number(
        const struct tk_config_section *s, const struct tk_config_key *key, double value)
{
	struct tk_config *c;
	char text[64];
	const double got = read_number(key, load_field(s, key, write_number(key, value, text), &c));

	if (fabs(got - value) > 1e-12 * fabs(value))
		fail_msg("%s.%s: %s is %.17g", s->name, key->name, text, got);
	tk_config_free(c);
}

static void numbers_at_their_limits(
        const struct tk_config_section *s, const struct tk_config_key *key)
{
	char text[64];

	if (!is_number(key))
		return;
	assert_true(key->min >= 0 && key->min < key->max);
	expect_number(s, key, key->min);
	expect_number(s, key, key->max);
	expect_refused(s, key, write_number(key, key->max + step_of(key), text), "is out of range");
	if (key->min > 0)
		expect_refused(s, key, write_number(key, key->min - step_of(key), text),
		        "is out of range");
	else
		expect_refused(s, key, "-1", "expected");
}

static void every_number_has_its_range(void **state)
{
	(void)state;
	each_key(numbers_at_their_limits);
}

static void no_number(const struct tk_config_section *s, const struct tk_config_key *key)
{
	static const char *const texts[] = {"many", "1e3", "0x10", "nan", "inf", "'1 2'", "+1",
	        "1.", "'1,5'", "99999999999999999999", "'\xc2\xb2'", "--1", "'1 parsec'"};

	for (size_t i = 0; is_number(key) && i < sizeof texts / sizeof *texts; i++)
		expect_refused(s, key, texts[i], "expected");
}

static void what_is_no_number_is_refused(void **state)
{
	(void)state;
	each_key(no_number);
}

/* ---- switches and words ---------------------------------------------------------------------- */

static void switch_values(const struct tk_config_section *s, const struct tk_config_key *key)
{
	static const char *const yes[] = {"yes", "true", "on"},
	                         *const no[] = {"no", "false", "off"},
	                         *const wrong[] = {"y", "YES", "1", "0", "maybe", "yess"};

	if (key->type != TK_CONFIG_BOOL)
		return;
	for (size_t i = 0; i < 3; i++) {
		struct tk_config *c;

		assert_true(*(const bool *)load_field(s, key, yes[i], &c));
		tk_config_free(c);
		assert_false(*(const bool *)load_field(s, key, no[i], &c));
		tk_config_free(c);
	}
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		expect_refused(s, key, wrong[i], "is not a switch; expected yes or no");
}

static void every_switch_has_two_states(void **state)
{
	(void)state;
	each_key(switch_values);
}

static void wrong_words(const struct tk_config_section *s, const struct tk_config_key *key)
{
	if (key->type != TK_CONFIG_UPSTREAM_KIND && key->type != TK_CONFIG_SANDBOX_MODE &&
	        key->type != TK_CONFIG_TUNED)
		return;
	expect_refused(s, key, "'none of these words'", "expected ");
	expect_refused(s, key, "'auto '", "expected ");
	expect_refused(s, key, "GIT", "expected ");
}

static void words_that_are_unknown_are_refused_with_the_known_ones(void **state)
{
	(void)state;
	each_key(wrong_words);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static bool is_text(const struct tk_config_key *key)
{
	return key->type <= TK_CONFIG_URL;
}

/* A value of `len` bytes that a key of the type takes. */
static char *make_text(const struct tk_config_key *key, size_t len)
{
	const char *lead = key->type == TK_CONFIG_URL           ? "https://"
	                   : strcmp(key->name, "baseline") == 0 ? "tag:"
	                                                        : "";
	const char *tail = strcmp(key->name, "commit_url") == 0 ? "/commit/{rev}" : "";
	char *text = malloc(len + 3);

	assert_non_null(text);
	memset(text, 'x', len + 2);
	text[0] = text[len + 1] = '"';
	text[len + 2] = '\0';
	memcpy(text + 1, lead, strlen(lead));
	memcpy(text + 1 + len - strlen(tail), tail, strlen(tail));
	return text;
}

static size_t max_bytes(const struct tk_config_key *key)
{
	return key->type == TK_CONFIG_NAME ? 80 : 4096;
}

/* The name of the control must be that of an upstream. */
static bool is_reference(const struct tk_config_section *s, const struct tk_config_key *key)
{
	return strcmp(s->name, "control") == 0 && strcmp(key->name, "upstream") == 0;
}

static void texts_at_their_limits(
        const struct tk_config_section *s, const struct tk_config_key *key)
{
	struct tk_config *c;

	if (!is_text(key))
		return;
	char *longest = make_text(key, max_bytes(key)),
	     *longer = make_text(key, max_bytes(key) + 1);

	if (!is_reference(s, key)) {
		const char *got = *(char *const *)load_field(s, key, longest, &c);

		/* a path is a longer one in the folder of the file */
		assert_int_equal(
		        strlen(got), max_bytes(key) + (*got == '/' ? strlen(ROOT "/") : 0));
		tk_config_free(c);
	}
	expect_refused(s, key, longer, "expected");
	free(longest);
	free(longer);
}

static void every_text_has_a_greatest_length(void **state)
{
	(void)state;
	each_key(texts_at_their_limits);
}

static void control_characters(const struct tk_config_section *s, const struct tk_config_key *key)
{
	static const char *const values[] = {
	        "\"\"", "\"a\\nb\"", "\"a\\x1b[31mb\"", "\"\\x7f\"", "\"https://a.b/c\\td\""};

	for (size_t i = 0; is_text(key) && i < sizeof values / sizeof *values; i++)
		expect_refused(s, key, values[i], "expected");
}

static void no_text_is_empty_or_has_control_characters(void **state)
{
	(void)state;
	each_key(control_characters);
}

static void bytes_of_nul(const struct tk_config_section *s, const struct tk_config_key *key)
{
	struct tk_buf text = TK_BUF_INIT;
	struct tk_config *c = NULL;
	struct tk_error err = {0};

	if (!is_text(key))
		return;
	make_file(&text, s, key, "\"smoke\\0hidden\"");
	if (tk_config_load_text(ROOT, "tracker.yml", text.data, text.len, &c, &err) != TK_ECONFIG)
		fail_msg("%s: what follows the NUL is lost", text.data);
	assert_int_equal(strncmp(err.message, "tracker.yml:", 12), 0);
	tk_buf_free(&text);
}

static void no_text_ends_at_a_nul(void **state)
{
	(void)state;
	each_key(bytes_of_nul);
}

/* ---- what a value is ------------------------------------------------------------------------- */

static void lists_and_mappings(const struct tk_config_section *s, const struct tk_config_key *key)
{
	struct tk_buf text = TK_BUF_INIT;
	static const char *const wrong[] = {"{a: b}", "[[a]]", "[{a: b}]"};

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct tk_config *c = NULL;
		struct tk_error err = {0};

		make_file(&text, s, key, wrong[i]);
		if (tk_config_load_text(ROOT, "tracker.yml", text.data, text.len, &c, &err) !=
		        TK_ECONFIG)
			fail_msg("%s is read", text.data);
		if (strncmp(err.message, "tracker.yml:", 12) || !strstr(err.message, "expected"))
			fail_msg("%s: %s", text.data, err.message);
	}
	tk_buf_free(&text);
}

static void a_mapping_is_no_value(void **state)
{
	(void)state;
	each_key(lists_and_mappings);
}

static void twice(const struct tk_config_section *s, const struct tk_config_key *key)
{
	struct tk_buf text = TK_BUF_INIT;
	struct tk_config *c = NULL;
	struct tk_error err = {0};

	if (is_upstream(s))
		tk_buf_add_printf(
		        &text, "upstreams:\n  - {%s: a,\n     %s: a}\n", key->name, key->name);
	else if (*s->name)
		tk_buf_add_printf(&text, "%s:\n  %s: a\n  %s: a\n", s->name, key->name, key->name);
	else
		tk_buf_add_printf(&text, "\n%s: a\n%s: a\n", key->name, key->name);
	if (tk_config_load_text(ROOT, "tracker.yml", text.data, text.len, &c, &err) != TK_ECONFIG ||
	        strncmp(err.message, "tracker.yml:3:", 14) || !strstr(err.message, "duplicate") ||
	        !strstr(err.message, key->name))
		fail_msg("%s: %s", text.data, err.message);
	tk_buf_free(&text);
}

static void a_key_that_is_given_twice_is_refused(void **state)
{
	(void)state;
	each_key(twice);
}

/* One letter more: unknown, with the right one as a suggestion. */
static void mistyped(const struct tk_config_section *s, const struct tk_config_key *key)
{
	struct tk_config_key other = *key;
	struct tk_buf text = TK_BUF_INIT;
	struct tk_config *c = NULL;
	struct tk_error err = {0};
	char name[64], phrase[96];

	snprintf(name, sizeof name, "%sx", key->name);
	snprintf(phrase, sizeof phrase, "did you mean \"%s\"", key->name);
	other.name = name;
	make_file(&text, s, &other, "1");
	if (tk_config_load_text(ROOT, "tracker.yml", text.data, text.len, &c, &err) != TK_ECONFIG ||
	        !strstr(err.message, phrase))
		fail_msg("%s: %s", text.data, err.message);
	tk_buf_free(&text);
}

static void a_mistyped_key_is_named_with_the_right_one(void **state)
{
	(void)state;
	each_key(mistyped);
}

/* ---- some of them together ------------------------------------------------------------------- */

static void expect_error(const char *text, const char *words)
{
	struct tk_config *c = NULL;
	struct tk_error err = {0};

	if (tk_config_load_text(ROOT, "tracker.yml", text, strlen(text), &c, &err) != TK_ECONFIG ||
	        !strstr(err.message, words))
		fail_msg("%s: \"%s\" instead of \"%s\"", text, err.message, words);
	assert_null(c);
}

/* Each part of a path with colons is a path inside the repository. */
static void paths_of_an_upstream(void **state)
{
	static const char *const wrong[] = {"/etc", "-x", ":a", "a:/etc", "a:-x", "a::b",
	        "a:", "..", "../a", "a/../../b", "a:..", "a/.."};
	static const char *const right[] = {"a", "a:b", "csrc/flash_attn:csrc/cutlass", "..a",
	        "a..b", ".github", "a/..b", "./a"};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		snprintf(text, sizeof text,
		        "upstreams:\n  - {name: u, kind: git, url: x, adapter: a, path: '%s'}\n",
		        wrong[i]);
		expect_error(text, "tracker.yml:2:52: upstream \"u\": not a path inside");
	}
	for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
		struct tk_config *c = NULL;
		struct tk_error err = {0};

		snprintf(text, sizeof text,
		        "upstreams:\n  - {name: u, kind: git, url: x, adapter: a, path: '%s'}\n",
		        right[i]);
		if (tk_config_load_text(ROOT, "tracker.yml", text, strlen(text), &c, &err))
			fail_msg("%s: %s", text, err.message);
		assert_string_equal(c->upstreams[0].path, right[i]);
		tk_config_free(c);
	}
}

static void rotations(void **state)
{
	(void)state;
	expect_error("suites: [smoke]\nrotate: [smoke]\n", "2:10: \"smoke\" is not a rotation");
	expect_error("suites: [smoke]\nrotate: [smoke:0]\n", "2:10: \"smoke:0\" is not a rotation");
	expect_error("suites: [smoke]\nrotate: [':3']\n", "2:10: \":3\" is not a rotation");
	expect_error("suites: [smoke]\nrotate: ['smoke: 3']\n", "2:10: \"smoke: 3\" is not");
	expect_error("suites: [smoke]\nrotate: [smoke:-3]\n", "2:10: \"smoke:-3\" is not");
	expect_error("suites: [smoke]\nrotate: [smoke:3x]\n", "2:10: \"smoke:3x\" is not");
	expect_error("suites: [smoke]\nrotate: [smoke:99999999999999999999999]\n", "is not a rot");
	expect_error("suites: [smoke]\nrotate: [smok:3]\n", "2:10: \"smok\" is not in `suites`");
	expect_error("suites: [smoke]\nrotate: [smoke:3, smoke:4]\n",
	        "2:19: duplicate rotation of \"smoke\"");
}

static void nights_of_a_rotation(void **state)
{
	static const char text[] = "suites: ['cpu:smoke', gemm-core]\nrotate: [smoke:365]\n";
	struct tk_config *c = NULL;
	struct tk_error err = {0};

	(void)state;
	if (tk_config_load_text(ROOT, "tracker.yml", text, strlen(text), &c, &err))
		fail_msg("%s", err.message);
	assert_int_equal(tk_config_rotate_nights(c, "smoke", 7), 365);
	assert_int_equal(tk_config_rotate_nights(c, "gemm-core", 7), 7);
	assert_int_equal(tk_config_rotate_nights(c, "smok", 7), 7);
	assert_int_equal(tk_config_rotate_nights(c, "smoke2", 7), 7);
	tk_config_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_number_has_its_range),
	        cmocka_unit_test(what_is_no_number_is_refused),
	        cmocka_unit_test(every_switch_has_two_states),
	        cmocka_unit_test(words_that_are_unknown_are_refused_with_the_known_ones),
	        cmocka_unit_test(every_text_has_a_greatest_length),
	        cmocka_unit_test(no_text_is_empty_or_has_control_characters),
	        cmocka_unit_test(no_text_ends_at_a_nul),
	        cmocka_unit_test(a_mapping_is_no_value),
	        cmocka_unit_test(a_key_that_is_given_twice_is_refused),
	        cmocka_unit_test(a_mistyped_key_is_named_with_the_right_one),
	        cmocka_unit_test(paths_of_an_upstream),
	        cmocka_unit_test(rotations),
	        cmocka_unit_test(nights_of_a_rotation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
