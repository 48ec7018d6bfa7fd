/* Tables as they come out of a pipe: nothing cut, nothing that steers a terminal. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/table.h"

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
	tk_table_add_row(t);
	tk_table_set_cell(t, "SERIES", "gemm %d", 1);
	tk_table_set_cell(t, "MEDIAN", "%.1f", 1.5);
	tk_table_add_row(t);
	tk_table_set_cell(t, "MEDIAN", "%.1f", 1234.5);
	tk_table_set_cell(t, "SERIES", "%s", "attention");
	assert_int_equal(tk_table_row_count(t), 2);
	text = printed(t);
	assert_string_equal(text, "SERIES    MEDIAN\ngemm 1       1.5\nattention 1234.5\n");
	free(text);
	t = tk_table_new(&g, columns);
	tk_table_add_row(t);
	tk_table_set_cell(t, "SERIES", "%s", name);
	tk_table_set_cell(t, "NOTE", "a note");
	text = printed(t);
	assert_non_null(strstr(text, name));
	assert_non_null(strstr(text, "NOTE"));
	free(text);
}

static const struct tk_column wide[] = {
        {"SERIES", TK_COLUMN_CUT},
        {"MEDIAN", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2)},
        {"P", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1)},
        {"WHY", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(3)},
        {0},
};

/* On a terminal of so many columns, without carriage returns. dropped: whether WHY was. */
static void on_terminal(unsigned short columns_there, char *out, size_t size, bool *dropped)
{
	struct tk_globals g = {.no_color = true};
	struct tk_table *t = tk_table_new(&g, wide);
	struct winsize w = {.ws_row = 24, .ws_col = columns_there};
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;
	struct tk_error err = {0};
	size_t n = 0;
	FILE *f;

	assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	assert_true(slave >= 0 && ioctl(slave, TIOCSWINSZ, &w) == 0);
	f = fdopen(slave, "w");
	tk_table_add_row(t);
	tk_table_set_cell(t, "SERIES", "gemm f32 4096 on a card"); /* 23 wide */
	tk_table_set_cell(t, "MEDIAN", "1.888 ms");
	tk_table_set_cell(t, "P", "0.19");
	tk_table_set_cell(t, "WHY",
	        "the nights say that it is slower since the commit which blocks by three");
	assert_int_equal(tk_table_print(t, f, &err), 0);
	fputs("end", f);
	fflush(f);
	*dropped = tk_table_is_dropped(t, "WHY");
	for (char c; n + 1 < size && !(n > 3 && memcmp(out + n - 3, "end", 3) == 0) &&
	             read(master, &c, 1) == 1;)
		if (c != '\r')
			out[n++] = c;
	out[n] = '\0';
	tk_table_free(t);
	fclose(f);
	close(master);
}

static void a_narrow_terminal_loses_numbers_first(void **state)
{
	char text[4096];
	bool dropped;

	unsetenv("COLUMNS");
	on_terminal(200, text, sizeof text, &dropped);
	assert_non_null(strstr(text,
	        "0.19 the nights say that it is slower since the commit which blocks by three"));
	on_terminal(75, text, sizeof text, &dropped); /* 23 + 8 + 4 + 37 and three spaces */
	assert_non_null(strstr(
	        text, "gemm f32 4096 on a card 1.888 ms 0.19 the nights say that it is slower\n"));
	assert_non_null(strstr(text, " since the commit which blocks by\n"));
	on_terminal(65, text, sizeof text, &dropped);
	assert_null(strstr(text, "0.19"));
	assert_non_null(strstr(text, "gemm f32 4096 on a card 1.888 ms the nights say"));
	assert_false(dropped);
	on_terminal(56, text, sizeof text, &dropped);
	assert_null(strstr(text, "1.888 ms"));
	assert_non_null(strstr(text, "gemm f32 4096 on a card the nights say that it is"));
	on_terminal(40, text, sizeof text, &dropped);
	assert_true(dropped);
	assert_non_null(strstr(text, "gemm f32 4096 on a card"));
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

	tk_table_add_row(t);
	tk_table_set_cell(t, "SERIES", "a\033[31mb\nc\td\u202ee");
	tk_table_set_color(t, "SERIES", "red");
	tk_table_set_cell(t, "MEDIAN", "1");
	text = printed(t);
	assert_null(strchr(text, '\033'));
	assert_null(strstr(text, "\u202e"));
	/* The columns are as wide as what is printed. */
	assert_string_equal(text, "SERIES          MEDIAN\na?[31mb?c?d???e      1\n");
	assert_non_null(strstr(text, "a?[31mb?c?d???e"));
	free(text);
}

static void colour_where_wanted(void **state)
{
	struct tk_globals g = {.no_color = false};
	struct tk_table *t = tk_table_new(&g, columns);
	char *text;

	tk_table_add_row(t);
	tk_table_set_cell(t, "SERIES", "worse");
	tk_table_set_color(t, "SERIES", "red");
	text = printed(t);
	assert_non_null(strstr(text, "\033[31mworse"));
	free(text);
}

static void unknown_column_is_an_error(void **state)
{
	struct tk_globals g = {.no_color = true};
	struct tk_table *t = tk_table_new(&g, columns);
	struct tk_error err;

	tk_table_add_row(t);
	tk_table_set_cell(t, "NO SUCH", "x");
	assert_int_equal(tk_table_print(t, stdout, &err), TK_EINTERNAL);
	tk_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(columns_are_aligned),
	        cmocka_unit_test(a_narrow_terminal_loses_numbers_first),
	        cmocka_unit_test(empty_table_prints_nothing),
	        cmocka_unit_test(control_characters_are_harmless),
	        cmocka_unit_test(colour_where_wanted),
	        cmocka_unit_test(unknown_column_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
