/* Random numbers against published sequences; what a hash tells apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

/* First outputs of the reference splitmix64.c (Vigna) from the state 1234567. */
static void splitmix_as_published(void **state)
{
	assert_true(tk_splitmix64(1234567) == 6457827717110365317u);
	assert_true(tk_splitmix64(1234567 + 0x9e3779b97f4a7c15u) == 3203168211198807973u);
}

/* First outputs of the reference xoshiro256starstar.c from the state {1, 2, 3, 4}. */
static void xoshiro_as_published(void **state)
{
	static const uint64_t expected[] = {11520u, 0u, 1509978240u, 1215971899390074240u,
	        1216172134540287360u, 607988272756665600u};
	struct tk_rng r = {{1, 2, 3, 4}};

	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
		assert_true(tk_rng_next(&r) == expected[i]);
}

static void fields(const char *a, const char *b, char hex[TK_HASH_HEX_SIZE])
{
	struct tk_hash *h = tk_hash_new();

	tk_hash_add_str(h, a);
	tk_hash_add_str(h, b);
	tk_hash_add_i64(h, -1);
	tk_hash_finish(h, hex);
}

static void fields_have_borders(void **state)
{
	char x[TK_HASH_HEX_SIZE], y[TK_HASH_HEX_SIZE];

	fields("ab", "c", x);
	fields("a", "bc", y);
	assert_string_not_equal(x, y);
	fields("", "", x);
	fields("", NULL, y);
	assert_string_not_equal(x, y);
}

static void tree_hash(const char *dir, char hex[TK_HASH_HEX_SIZE])
{
	struct tk_hash *h = tk_hash_new();
	struct tk_error err = {0};

	if (tk_hash_add_tree(h, dir, &err))
		fail_msg("%s", err.message);
	tk_hash_finish(h, hex);
}

static void put(const char *dir, const char *name, const char *text)
{
	char *path = tk_path_join(dir, name);

	assert_int_equal(tk_file_write_nosync(path, text, strlen(text), NULL), TK_OK);
	free(path);
}

/* With files of these names, which are their texts as well, and one in a folder. */
static char *new_tree(const char *first, const char *second)
{
	char *dir;

	assert_int_equal(tk_dir_create_temp("/tmp", "tk-hash-", &dir, NULL), TK_OK);
	put(dir, first, first);
	put(dir, second, second);
	AUTO_TEXT deep = tk_path_join(dir, "sub/deep");
	assert_int_equal(tk_dir_create(deep, NULL), TK_OK);
	put(deep, "x", "");
	return dir;
}

static void tree_hash_sees_what_matters(void **state)
{
	char first[TK_HASH_HEX_SIZE], other[TK_HASH_HEX_SIZE], *dir, *copy, *file;

	dir = new_tree("b.c", "a.c");
	tree_hash(dir, first);
	copy = new_tree("a.c", "b.c");
	tree_hash(copy, other);
	assert_string_equal(first, other);
	put(copy, "a.c", "int A;");
	tree_hash(copy, other);
	assert_string_not_equal(first, other);
	file = tk_path_join(dir, "a.c");
	assert_int_equal(chmod(file, 0755), 0);
	tree_hash(dir, other);
	assert_string_not_equal(first, other);
	tk_dir_remove(dir, NULL);
	tk_dir_remove(copy, NULL);
	free(file);
	free(copy);
	free(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(splitmix_as_published),
	        cmocka_unit_test(xoshiro_as_published),
	        cmocka_unit_test(fields_have_borders),
	        cmocka_unit_test(tree_hash_sees_what_matters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
