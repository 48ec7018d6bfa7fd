/* The tree of a YAML document: kinds, positions, look-ups, and what is refused with its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/yaml.h"

static struct tk_yaml *parse(const char *text)
{
	struct tk_yaml *y = NULL;
	struct tk_error err = {0};

	if (tk_yaml_parse("f.yml", text, strlen(text), &y, &err))
		fail_msg("%s", err.message);
	return y;
}

static void a_tree(void **state)
{
	struct tk_yaml *y = parse("name: x\nlist: [1, two]\nmap: {a: 3}\nempty:\ntilde: ~\n");
	int root = tk_yaml_root(y), list = tk_yaml_find(y, root, "list"),
	    map = tk_yaml_find(y, root, "map");

	assert_int_equal(tk_yaml_kind(y, root), TK_YAML_MAP);
	assert_int_equal(tk_yaml_count(y, root), 5);
	assert_string_equal(tk_yaml_text(y, tk_yaml_key(y, root, 1)), "list");
	assert_string_equal(tk_yaml_text(y, tk_yaml_find(y, root, "name")), "x");
	assert_string_equal(tk_yaml_text(y, tk_yaml_item(y, list, 1)), "two");
	assert_int_equal(tk_yaml_item(y, list, 2), 0);
	assert_string_equal(tk_yaml_text(y, tk_yaml_item(y, map, 0)), "3");
	assert_string_equal(tk_yaml_kind_name(y, list), "a list");
	assert_string_equal(tk_yaml_kind_name(y, map), "a mapping");
	assert_true(tk_yaml_is_empty(y, tk_yaml_find(y, root, "empty")));
	assert_true(tk_yaml_is_empty(y, tk_yaml_find(y, root, "tilde")));
	assert_int_equal(tk_yaml_find(y, root, "none"), 0);
	assert_int_equal(tk_yaml_line(y, map), 3);
	tk_yaml_free(y);
}

/* Node 0 may be given to every function. */
static void no_node(void **state)
{
	struct tk_yaml *y = parse("# nothing\n");
	struct tk_error err = {0};

	assert_int_equal(tk_yaml_root(y), 0);
	assert_int_equal(tk_yaml_kind(y, 0), TK_YAML_NONE);
	assert_int_equal(tk_yaml_count(y, 0), 0);
	assert_int_equal(tk_yaml_find(y, 0, "a"), 0);
	assert_string_equal(tk_yaml_text(y, 0), "");
	assert_true(tk_yaml_is_empty(y, 0));
	assert_int_equal(tk_yaml_fail(y, 0, &err, "%s", "why"), TK_ECONFIG);
	assert_string_equal(err.message, "f.yml:1:1: why");
	tk_yaml_free(y);
}

static void texts_of_keys(void **state)
{
	struct tk_yaml *y = parse("a: x\nb:\nc: [1]\n");
	struct tk_error err = {0};
	const char *text = "before";

	assert_int_equal(tk_yaml_find_text(y, tk_yaml_root(y), "b", &text, &err), 0);
	assert_int_equal(tk_yaml_find_text(y, tk_yaml_root(y), "none", &text, &err), 0);
	assert_string_equal(text, "before");
	assert_int_equal(tk_yaml_find_text(y, tk_yaml_root(y), "a", &text, &err), 0);
	assert_string_equal(text, "x");
	assert_int_equal(tk_yaml_find_text(y, tk_yaml_root(y), "c", &text, &err), TK_ECONFIG);
	assert_non_null(strstr(err.message, "f.yml:3:4: c is a list"));
	tk_yaml_free(y);
}

static void keys(void **state)
{
	static const char *const known[] = {"night", "build", NULL};
	static const struct {
		const char *text, *message;
	} rows[] = {
	        {"{night: 1, build: 2}", NULL},
	        {"{nigth: 1}",
	                "f.yml:1:2: unknown key \"nigth\" in budgets; did you mean \"night\"?"},
	        {"{xyzzy: 1}", "expected one of night, build"},
	        {"{night: 1, night: 2}", "f.yml:1:12: duplicate key \"night\" in budgets"},
	        {"{[a]: 1}", "f.yml:1:2: a key is a list"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tk_yaml *y = parse(rows[i].text);
		struct tk_error err = {0};
		int status = tk_yaml_check_keys(y, tk_yaml_root(y), "budgets", known, &err);

		assert_int_equal(status, rows[i].message ? TK_ECONFIG : 0);
		if (rows[i].message && !strstr(err.message, rows[i].message))
			fail_msg("no \"%s\" in: %s", rows[i].message, err.message);
		tk_yaml_free(y);
	}
}

static void aliases(void **state)
{
	static const char alias[] = "a: &x 1\nb: *x\n", star[] = "a: '*x'\nb: 2*3\n";
	struct tk_yaml *y = parse(alias);
	struct tk_error err = {0};

	assert_int_equal(tk_yaml_reject_aliases(y, alias, sizeof alias - 1, &err), TK_ECONFIG);
	assert_non_null(strstr(err.message, "f.yml:2:4: alias"));
	tk_yaml_free(y);
	y = parse(star);
	assert_int_equal(tk_yaml_reject_aliases(y, star, sizeof star - 1, &err), 0);
	tk_yaml_free(y);
}

static void refused_texts(void **state)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
	        {"a: [", "f.yml:2:1: not valid YAML"},
	        {"a: 1\n---\nb: 2\n", "f.yml:3:1: second document"},
	        {"a:\n\tb: 1\n", "f.yml:2:1: tab in the indentation"},
	        {"a: \xff\n", "f.yml:1:4: not valid YAML"},
	        {"a: b\nc: \"d\\0e\"\n", "f.yml:2:4: text with a NUL character"},
	        {"\"a\\0\": b\n", "f.yml:1:1: text with a NUL character"},
	        {"- [x, {y: \"\\0\"}]\n", "f.yml:1:11: text with a NUL character"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tk_yaml *y = NULL;
		struct tk_error err = {0};

		assert_int_equal(
		        tk_yaml_parse("f.yml", rows[i].text, strlen(rows[i].text), &y, &err),
		        TK_ECONFIG);
		if (!strstr(err.message, rows[i].message))
			fail_msg("no \"%s\" in: %s", rows[i].message, err.message);
		assert_null(y);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_tree),
	        cmocka_unit_test(no_node),
	        cmocka_unit_test(texts_of_keys),
	        cmocka_unit_test(keys),
	        cmocka_unit_test(aliases),
	        cmocka_unit_test(refused_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
