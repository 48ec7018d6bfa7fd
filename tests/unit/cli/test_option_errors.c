/* The options of every command, from their own tables: mistyped, without their value, with one that
 * they do not take, with a word that is not in their list. Each is exit code 2, with a message that
 * begins with the command and names the option. */
#include "command_rig.h"

#include <ctype.h>

#include "cli/setup/option_list.h"

/* Nothing runs: the line ends with an option that no command has. */
#define STOP "--zzzzzz"

static size_t list_options(const struct tk_command *c, struct tk_option_row *rows)
{
	return c->argp->options ? tk_option_list(c->argp->options, rows) : 0;
}

/* Calls `check` for each named option of all commands that the test applies to. */
static size_t for_each_option(bool (*applies)(const struct tk_option_row *o),
        void (*check)(const struct tk_command *c, const struct tk_option_row *o))
{
	struct tk_option_row rows[TK_OPTION_LIST_MAX];
	size_t checked = 0;

	for (const struct tk_command *c = tk_commands; c->name; c++) {
		size_t count = list_options(c, rows);
		for (size_t i = 0; i < count; i++)
			if (rows[i].name && applies(&rows[i])) {
				check(c, &rows[i]);
				checked++;
			}
	}
	return checked;
}

static bool is_flag(const struct tk_option_row *o)
{
	return !o->arg;
}

static bool needs_value(const struct tk_option_row *o)
{
	return o->arg && !o->arg_optional;
}

/* "text|json": words in lower case alone */
static bool is_choice(const struct tk_option_row *o)
{
	size_t len = o->arg ? strlen(o->arg) : 0;

	for (size_t i = 0; i < len; i++)
		if (!islower((unsigned char)o->arg[i]) && !isdigit((unsigned char)o->arg[i]) &&
		        !strchr("|-_", o->arg[i]))
			return false;
	return len && strchr(o->arg, '|');
}

static bool is_any(const struct tk_option_row *o)
{
	return strlen(o->name) > 3;
}

static void expect_option(
        const struct tk_command *c, const char *option, const char *last, const char *message)
{
	char line[200];

	snprintf(
	        line, sizeof line, "%s %s%s%s", c->name, option, last ? " " : "", last ? last : "");
	expect_usage(line, message);
}

static void check_flag(const struct tk_command *c, const struct tk_option_row *o)
{
	char option[100], message[200];

	snprintf(option, sizeof option, "--%s=x", o->name);
	snprintf(message, sizeof message, "option '--%s' doesn't allow an argument", o->name);
	expect_option(c, option, STOP, message);
}

static void flags_take_no_value(void **state)
{
	assert_true(for_each_option(is_flag, check_flag) >= 20);
}

static void check_missing(const struct tk_command *c, const struct tk_option_row *o)
{
	char option[100], message[200];

	snprintf(option, sizeof option, "--%s", o->name);
	snprintf(message, sizeof message, "option '--%s' requires an argument", o->name);
	expect_option(c, option, NULL, message);
}

static void a_value_must_follow(void **state)
{
	assert_true(for_each_option(needs_value, check_missing) >= 50);
}

static void check_choice(const struct tk_command *c, const struct tk_option_row *o)
{
	static const char *const wrong[] = {"no-such-word", "", "TEXT"};
	char option[100], message[200];

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		snprintf(option, sizeof option, "--%s=%s", o->name, wrong[i]);
		snprintf(message, sizeof message, "--%s=%s: expected ", o->name, wrong[i]);
		expect_option(c, option, STOP, message);
	}
}

static void a_choice_has_its_words_alone(void **state)
{
	assert_true(for_each_option(is_choice, check_choice) >= 15);
}

/* "--formaat" */
static void check_mistyped(const struct tk_command *c, const struct tk_option_row *o)
{
	char option[100], message[200];
	size_t half = strlen(o->name) / 2;

	snprintf(option, sizeof option, "--%.*s%c%s", (int)half, o->name, o->name[half - 1],
	        o->name + half);
	snprintf(message, sizeof message, "unknown option \"%s\"; did you mean \"--", option);
	expect_option(c, option, NULL, message);
}

static void mistyped_options_are_suggested(void **state)
{
	assert_true(for_each_option(is_any, check_mistyped) >= 80);
}

static void unknown_options_and_letters(void **state)
{
	char line[100];

	for (const struct tk_command *c = tk_commands; c->name; c++) {
		snprintf(line, sizeof line, "%s --no-such-option-anywhere", c->name);
		expect_usage(line, "unrecognized option '--no-such-option-anywhere'");
		snprintf(line, sizeof line, "%s -%%", c->name);
		expect_usage(line, "invalid option -- '%'");
	}
}

/* Help wins over everything that follows it, and is on stdout. */
static void every_command_has_help(void **state)
{
	char line[100], usage[100];

	for (const struct tk_command *c = tk_commands; c->name; c++) {
		snprintf(line, sizeof line, "%s --help --no-such-option-anywhere", c->name);
		snprintf(usage, sizeof usage, "Usage: tracker %s ", c->name);
		struct ran r = run_line(line);
		assert_int_equal(r.code, TK_EXIT_OK);
		expect_contains(r.out, usage);
		assert_string_equal(r.err, "");
		ran_free(&r);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, command_folder_open, command_folder_close)
	const struct CMUnitTest tests[] = {T(flags_take_no_value), T(a_value_must_follow),
	        T(a_choice_has_its_words_alone), T(mistyped_options_are_suggested),
	        T(unknown_options_and_letters), T(every_command_has_help)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
