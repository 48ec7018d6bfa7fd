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

/* cron and LC_ALL=C: whatever a cell holds, it has no escapes of bytes. */
static void signs_have_a_plain_form_where_a_character_is_one_byte(void **state)
{
	struct tk_globals g = {.no_color = true};
	struct tk_table *t = tk_table_new(&g, columns);

	tk_table_add_row(t);
	tk_table_set_cell(t, "SERIES", "1.234\u00a0TFLOP/s");
	tk_table_set_time(t, "MEDIAN", 1500);
	tk_table_set_cell(t, "NOTE", "±2\u00a0%% × 3");
	char *text = printed(t);
	assert_non_null(strstr(text, "1.234 TFLOP/s 1.500 us +-2 % x 3\n"));
	free(text);
}

static const struct tk_column wide[] = {
        {"SERIES", TK_COLUMN_CUT},
        {"MEDIAN", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2)},
        {"P", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1)},
        {"WHY", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(3)},
        {0},
};

/* What the table prints on a terminal of so many columns, without carriage returns. */
static void print_on_terminal(
        struct tk_table *t, unsigned short columns_there, char *out, size_t size)
{
	struct winsize w = {.ws_row = 24, .ws_col = columns_there};
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;
	struct tk_error err = {0};
	size_t n = 0;
	FILE *f;

	assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	assert_true(slave >= 0 && ioctl(slave, TIOCSWINSZ, &w) == 0);
	f = fdopen(slave, "w");
	assert_int_equal(tk_table_print(t, f, &err), 0);
	fputs("end", f);
	fflush(f);
	for (char c; n + 1 < size && !(n > 3 && memcmp(out + n - 3, "end", 3) == 0) &&
	             read(master, &c, 1) == 1;)
		if (c != '\r')
			out[n++] = c;
	out[n] = '\0';
	fclose(f);
	close(master);
}

/* dropped: whether WHY was */
static void on_terminal(unsigned short columns_there, char *out, size_t size, bool *dropped)
{
	struct tk_globals g = {.no_color = true};
	struct tk_table *t = tk_table_new(&g, wide);

	tk_table_add_row(t);
	tk_table_set_cell(t, "SERIES", "gemm f32 4096 on a card"); /* 23 wide */
	tk_table_set_cell(t, "MEDIAN", "1.888 ms");
	tk_table_set_cell(t, "P", "0.19");
	tk_table_set_cell(t, "WHY",
	        "the nights say that it is slower since the commit which blocks by three");
	print_on_terminal(t, columns_there, out, size);
	*dropped = tk_table_is_dropped(t, "WHY");
	tk_table_free(t);
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

static size_t widest_line(const char *text)
{
	size_t widest = 0;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		size_t width = strcspn(text, "\n");
		widest = width > widest ? width : widest;
	}
	return widest;
}

/* Whatever the flags of its columns allow. */
static void no_table_is_wider_than_the_terminal(void **state)
{
	static const struct tk_column rigid[] = {{"SERIES", TK_COLUMN_LEFT},
	        {"MEDIAN", TK_COLUMN_RIGHT}, {"RATE", TK_COLUMN_RIGHT}, {"STATUS", TK_COLUMN_LEFT},
	        {0}};
	struct tk_globals g = {.no_color = true};
	char text[4096];

	unsetenv("COLUMNS");
	for (unsigned short there = 80; there >= 6; there--) {
		struct tk_table *t = tk_table_new(&g, rigid);

		tk_table_add_row(t);
		tk_table_set_cell(t, "SERIES", "gemm.f32.4096.on.a.card.of.the.lab");
		tk_table_set_cell(t, "MEDIAN", "1.888 ms");
		tk_table_set_cell(t, "RATE", "807.3 TFLOP/s");
		tk_table_set_cell(t, "STATUS", "same");
		print_on_terminal(t, there, text, sizeof text);
		if (widest_line(text) > there)
			fail_msg("%zu columns on a terminal of %d:\n%s", widest_line(text), there,
			        text);
		assert_non_null(strstr(text, "gemm"));
		assert_int_equal(strstr(text, "807.3 TFLOP/s") != NULL, there >= 36);
		assert_int_equal(strstr(text, "1.888 ms") != NULL, there >= 22);
		assert_int_equal(strstr(text, "STATUS") != NULL, there >= 13);
		tk_table_free(t);
	}
}

/* A subject is cut before a number is dropped, and dropped before it is shorter than 16. */
static void a_text_is_shortened_before_numbers_are_dropped(void **state)
{
	static const struct tk_column shortened[] = {{"REVISION", TK_COLUMN_LEFT},
	        {"SUBJECT", TK_COLUMN_SHORTEN | TK_COLUMN_DROP(2)},
	        {"SECONDS", TK_COLUMN_RIGHT | TK_COLUMN_DROP(1)}, {0}};
	static const struct {
		unsigned short columns;
		bool subject, seconds;
	} cases[] = {{80, true, true}, {60, true, true}, {33, true, true}, {32, true, false},
	        {25, true, false}, {24, false, false}};
	struct tk_globals g = {.no_color = true};
	char text[4096];

	unsetenv("COLUMNS");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_table *t = tk_table_new(&g, shortened);

		tk_table_add_row(t);
		tk_table_set_cell(t, "REVISION", "5eed5eed");
		tk_table_set_cell(t, "SUBJECT", "%s",
		        "gemm: block by three lines of the cache, in turns of sixteen");
		tk_table_set_cell(t, "SECONDS", "12.5");
		print_on_terminal(t, cases[i].columns, text, sizeof text);
		assert_true(widest_line(text) <= cases[i].columns);
		assert_int_equal(strstr(text, "gemm: block by t") != NULL, cases[i].subject);
		assert_int_equal(strstr(text, "12.5") != NULL, cases[i].seconds);
		tk_table_free(t);
	}
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
	        cmocka_unit_test(signs_have_a_plain_form_where_a_character_is_one_byte),
	        cmocka_unit_test(columns_are_aligned),
	        cmocka_unit_test(a_narrow_terminal_loses_numbers_first),
	        cmocka_unit_test(no_table_is_wider_than_the_terminal),
	        cmocka_unit_test(a_text_is_shortened_before_numbers_are_dropped),
	        cmocka_unit_test(empty_table_prints_nothing),
	        cmocka_unit_test(control_characters_are_harmless),
	        cmocka_unit_test(colour_where_wanted),
	        cmocka_unit_test(unknown_column_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
