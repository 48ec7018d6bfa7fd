/* The table of commands, the exit codes of failures, and the options that every command has. */
#include "capture.h"

#include <argp.h>
#include <unistd.h>

#include "cli/commands.h"

static void commands_are_found_by_their_name(void **state)
{
	for (const struct tk_command *c = tk_commands; c->name; c++) {
		assert_ptr_equal(tk_command_find(c->name), c);
		assert_non_null(c->run);
		assert_non_null(c->argp);
		assert_true(*c->summary);
		assert_int_not_equal(c->summary[strlen(c->summary) - 1], '.');
	}
	assert_null(tk_command_find("dif"));
	assert_null(tk_command_find(""));
}

static void unknown_commands_are_suggested(void **state)
{
	char text[200];

	assert_string_equal(tk_command_describe_unknown("dif", text, sizeof text),
	        "unknown command \"dif\"; did you mean \"diff\"?");
	assert_string_equal(tk_command_describe_unknown("frobnicate", text, sizeof text),
	        "unknown command \"frobnicate\"; `tracker help` lists the commands");
}

/* Hidden ones are not in the list. */
static void the_overview_lists_commands_and_exit_codes(void **state)
{
	struct capture c;
	char line[40];

	tk_command_print_overview(capture_open(&c));
	const char *text = capture_text(&c);
	for (const struct tk_command *k = tk_commands; k->name; k++) {
		snprintf(line, sizeof line, "\n  %-12s  ", k->name);
		assert_int_equal(strstr(text, line) != NULL, !k->hidden);
	}
	for (int code = 0; code < TK_EXIT_COUNT; code++) {
		snprintf(line, sizeof line, "\n  %d  ", code);
		expect_contains(text, line);
		assert_true(*tk_exit_meaning((enum tk_exit)code));
	}
	assert_string_equal(tk_exit_meaning(TK_EXIT_COUNT), "");
	capture_free(&c);
}

static void failures_have_an_exit_code_and_a_message(void **state)
{
	static const struct {
		int status, code;
	} cases[] = {
	        {TK_EUSAGE, TK_EXIT_USAGE},
	        {TK_ECONFIG, TK_EXIT_USAGE},
	        {TK_EIO, TK_EXIT_FAILED},
	        {TK_ENOTFOUND, TK_EXIT_FAILED},
	        {TK_ENOSPC, TK_EXIT_FAILED},
	        {TK_EBUSY, TK_EXIT_FAILED},
	        {TK_ECANCELED, TK_EXIT_FAILED},
	        {TK_EINTERNAL, TK_EXIT_FAILED},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tk_error err = {
		        .status = cases[i].status, .message = "a\033[31m: b\n\tc"};
		FILE *terminal = stderr;
		struct capture c;
		stderr = capture_open(&c);
		assert_int_equal(tk_command_fail("diff", &err), cases[i].code);
		stderr = terminal;
		assert_string_equal(capture_text(&c), "tracker diff: a?[31m: b\n\tc\n");
		capture_free(&c);
	}
}

/* ---- options of every command ---- */

static void globals_are_set_by_their_options(void **state)
{
	static char config[] = "c.yml", db[] = "h.db", log[] = "l.json", root[] = "/";
	struct tk_globals *g = tk_globals_get();
	struct argp_state argp = {.flags = ARGP_NO_EXIT};
	char before[1000];

	assert_non_null(getcwd(before, sizeof before));
	for (const struct argp_option *o = tk_global_options; o->name || o->key; o++) {
		char *value = !o->name                         ? root
		              : strcmp(o->name, "config") == 0 ? config
		              : strcmp(o->name, "db") == 0     ? db
		              : strcmp(o->name, "log") == 0    ? log
		                                               : NULL;
		if (o->name && strcmp(o->name, "color") == 0)
			continue;
		assert_int_equal(tk_globals_parse_option(o->key, value, &argp), 0);
		assert_int_equal(o->arg != NULL, value != NULL);
		assert_true(*o->doc);
	}
	assert_string_equal(g->config_path, "c.yml");
	assert_string_equal(g->db_path, "h.db");
	assert_string_equal(g->log_path, "l.json");
	assert_true(g->quiet);
	assert_true(g->verbose);
	char after[1000];
	assert_string_equal(getcwd(after, sizeof after), "/");
	assert_int_equal(chdir(before), 0);
	assert_int_equal(tk_globals_parse_option('x', NULL, &argp), ARGP_ERR_UNKNOWN);
	*g = (struct tk_globals){0};
}

static const struct argp_option own_options[] = {{"note", 'n', "TEXT", 0, "A note", 0}, {0}};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	if (key != 'n')
		return ARGP_ERR_UNKNOWN;
	*(const char **)state->input = arg;
	return 0;
}

/* A global option may stand anywhere; the argument of another option is never one. */
static void own_and_global_options_are_parsed_together(void **state)
{
	static char program[] = "tracker x", q[] = "-q", note[] = "--note", v[] = "-v",
	            db[] = "--db=h.db", never[] = "--color=never";
	char *argv[] = {program, q, note, v, db, never, NULL};
	const struct argp argp = {.options = own_options, .parser = parse_own};
	struct tk_globals *g = tk_globals_get();
	const char *text = NULL;

	tk_command_parse(&argp, 6, argv, &text);
	assert_string_equal(text, "-v");
	assert_true(g->quiet);
	assert_false(g->verbose);
	assert_true(g->no_color);
	assert_string_equal(g->db_path, "h.db");
	*g = (struct tk_globals){0};
}

/* It may be any text, also one that looks like a mistyped option. */
static void values_of_options_are_not_options(void **state)
{
	static char program[] = "tracker x", note[] = "--note", n[] = "-n", value[] = "--quite";
	const struct argp argp = {.options = own_options, .parser = parse_own};
	char *const forms[] = {note, n};

	for (size_t i = 0; i < 2; i++) {
		char *argv[] = {program, forms[i], value, NULL};
		const char *text = NULL;
		tk_command_parse(&argp, 3, argv, &text); /* else it ends the program */
		assert_string_equal(text, "--quite");
	}
	*tk_globals_get() = (struct tk_globals){0};
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(commands_are_found_by_their_name),
	        cmocka_unit_test(unknown_commands_are_suggested),
	        cmocka_unit_test(the_overview_lists_commands_and_exit_codes),
	        cmocka_unit_test(failures_have_an_exit_code_and_a_message),
	        cmocka_unit_test(globals_are_set_by_their_options),
	        cmocka_unit_test(own_and_global_options_are_parsed_together),
	        cmocka_unit_test(values_of_options_are_not_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
