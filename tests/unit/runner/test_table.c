/* Tables as they come out of a pipe: nothing cut, nothing that steers a terminal. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "commands.h"
#include "table.h"

static const struct tk_column columns[] = {
        {"SERIES", TK_COLUMN_CUT},
        {"MEDIAN", TK_COLUMN_RIGHT},
        {"NOTE", TK_COLUMN_OPTIONAL},
        {0},
};

static char *printed(struct tk_table *t)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct tk_error err = {0};

	if (tk_table_print(t, f, &err))
		fail_msg("%s", err.message);
	fclose(f);
	tk_table_free(t);
	return text;
}

static void columns_are_aligned(void **state)
{
	struct tk_globals g = {.no_color = true};
	struct tk_table *t = tk_table_new(&g, columns);
	char *text, name[301];

	memset(name, 'n', 300);
	name[300] = '\0';
	tk_table_row(t);
	tk_table_set(t, "SERIES", "gemm %d", 1);
	tk_table_set(t, "MEDIAN", "%.1f", 1.5);
	tk_table_row(t);
	tk_table_set(t, "MEDIAN", "%.1f", 1234.5);
	tk_table_set(t, "SERIES", "%s", "attention");
	assert_int_equal(tk_table_rows(t), 2);
	text = printed(t);
	assert_string_equal(text, "SERIES    MEDIAN\ngemm 1       1.5\nattention 1234.5\n");
	free(text);
	t = tk_table_new(&g, columns);
	tk_table_row(t);
	tk_table_set(t, "SERIES", "%s", name);
	tk_table_set(t, "NOTE", "a note");
	text = printed(t);
	assert_non_null(strstr(text, name));
	assert_non_null(strstr(text, "NOTE"));
	free(text);
}

static void empty_table_prints_nothing(void **state)
{
	struct tk_globals g = {.no_color = true};
	char *text = printed(tk_table_new(&g, columns));

	assert_string_equal(text ? text : "", "");
	free(text);
	tk_table_free(NULL);
}

static void control_characters_are_harmless(void **state)
{
	struct tk_globals g = {.no_color = true};
	struct tk_table *t = tk_table_new(&g, columns);
	char *text;

	tk_table_row(t);
	tk_table_set(t, "SERIES", "a\033[31mb\nc\td");
	tk_table_color(t, "SERIES", "red");
	text = printed(t);
	assert_null(strchr(text, '\033'));
	assert_non_null(strstr(text, "a\\x1b[31mb\\x0ac"));
	free(text);
}

static void colour_where_wanted(void **state)
{
	struct tk_globals g = {.no_color = false};
	struct tk_table *t = tk_table_new(&g, columns);
	char *text;

	tk_table_row(t);
	tk_table_set(t, "SERIES", "worse");
	tk_table_color(t, "SERIES", "red");
	text = printed(t);
	assert_non_null(strstr(text, "\033[31mworse"));
	free(text);
}

static void unknown_column_is_an_error(void **state)
{
	struct tk_globals g = {.no_color = true};
	struct tk_table *t = tk_table_new(&g, columns);
	struct tk_error err;

	tk_table_row(t);
	tk_table_set(t, "NO SUCH", "x");
	assert_int_equal(tk_table_print(t, stdout, &err), TK_EINTERNAL);
	tk_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(columns_are_aligned),
	        cmocka_unit_test(empty_table_prints_nothing),
	        cmocka_unit_test(control_characters_are_harmless),
	        cmocka_unit_test(colour_where_wanted),
	        cmocka_unit_test(unknown_column_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
