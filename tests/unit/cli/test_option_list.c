/* Option tables as sorted lists, and what holds for the tables of all commands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/commands.h"
#include "cli/setup/option_list.h"

static void options_are_sorted_within_their_group(void **state)
{
	static const struct argp_option options[] = {
	        {"zebra", 'z', "N", 0, "Last", 1},
	        {"zoo", 0, NULL, OPTION_ALIAS, NULL, 0},
	        {"apple", 300, NULL, 0, "First", 1},
	        {"secret", 301, NULL, OPTION_HIDDEN, "Not shown", 1},
	        {0, 0, 0, 0, "Heading", 2},
	        {"late", 302, "FILE", OPTION_ARG_OPTIONAL, "In the second group", 2},
	        {0},
	};
	struct tk_option_row rows[TK_OPTION_LIST_MAX];

	assert_int_equal(tk_option_list(options, rows), 4);
	assert_string_equal(rows[0].name, "apple");
	assert_int_equal(rows[0].letter, '\0');
	assert_null(rows[0].arg);
	assert_string_equal(rows[1].name, "zebra");
	assert_int_equal(rows[1].letter, 'z');
	assert_string_equal(rows[2].name, "zoo");
	assert_string_equal(rows[2].arg, "N");
	assert_string_equal(rows[3].header, "Heading");
	assert_true(rows[3].arg_optional);
}

static void no_options_are_an_empty_list(void **state)
{
	struct tk_option_row rows[TK_OPTION_LIST_MAX];

	assert_int_equal(tk_option_list(NULL, rows), 0);
}

/* A command must not hide a global option behind one of its own. */
static void commands_leave_global_options_alone(void **state)
{
	struct tk_option_row globals[TK_OPTION_LIST_MAX], rows[TK_OPTION_LIST_MAX];
	size_t global_count = tk_option_list(tk_global_options, globals);

	for (const struct tk_command *c = tk_commands; c->name; c++) {
		size_t count = tk_option_list(c->argp->options, rows);

		for (size_t i = 0; i < count; i++)
			for (size_t k = 0; k < global_count; k++) {
				if (rows[i].letter && rows[i].letter == globals[k].letter)
					fail_msg("%s has -%c of its own", c->name, rows[i].letter);
				if (rows[i].name && globals[k].name &&
				        strcmp(rows[i].name, globals[k].name) == 0)
					fail_msg("%s has --%s of its own", c->name, rows[i].name);
			}
	}
}

static void help_starts_with_a_capital_and_has_no_full_stop(void **state)
{
	struct tk_option_row rows[TK_OPTION_LIST_MAX];

	for (const struct tk_command *c = tk_commands; c->name; c++) {
		size_t count = c->hidden ? 0 : tk_option_list(c->argp->options, rows);

		for (size_t i = 0; i < count; i++) {
			const char *colon = strstr(rows[i].doc, ": "), *doc = rows[i].doc;

			if (!*doc || doc[strlen(doc) - 1] == '.')
				fail_msg("%s --%s: \"%s\"", c->name, rows[i].name, doc);
			if (!(*doc >= 'A' && *doc <= 'Z') && !colon)
				fail_msg("%s --%s: \"%s\"", c->name, rows[i].name, doc);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(options_are_sorted_within_their_group),
	        cmocka_unit_test(no_options_are_an_empty_list),
	        cmocka_unit_test(commands_leave_global_options_alone),
	        cmocka_unit_test(help_starts_with_a_capital_and_has_no_full_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
