/* `tracker log` and `tracker machine` as a whole, on a small history. */
#include "../store/history.h"
#include "capture.h"

#include <jansson.h>
#include <stdlib.h>

#include "cli/commands.h"

typedef int command(const struct tk_globals *g, int argc, char **argv);

/* Arguments in one text, separated by blanks. The output is to be freed. */
static char *run(struct history *h, command *run_command, const char *arguments, int expected)
{
	const struct tk_globals g = {.db_path = h->path, .no_color = true};
	char program[] = "tracker test", *line = strdup(arguments), *rest = line,
	     *argv[8] = {program};
	int argc = 1;
	struct capture c;
	FILE *terminal = stdout;

	while (rest && *rest)
		argv[argc++] = strsep(&rest, " ");
	stdout = capture_open(&c);
	int code = run_command(&g, argc, argv);
	stdout = terminal;
	char *text = strdup(capture_text(&c));
	capture_free(&c);
	free(line);
	if (code != expected)
		fail_msg("\"%s\" ended with %d instead of %d", arguments, code, expected);
	return text;
}

/* Nothing is printed to stdout where a command is refused. */
static void refuse(struct history *h, command *run_command, const char *arguments)
{
	char *text = run(h, run_command, arguments, TK_EXIT_USAGE);

	assert_string_equal(text, "");
	free(text);
}

static int64_t put_night(struct history *h, int64_t machine, int64_t at_s)
{
	const struct tk_night_row row = {.machine_id = machine,
	        .kind = TK_NIGHT_NIGHTLY,
	        .as_of_s = at_s,
	        .started_s = at_s,
	        .config_hash = "c",
	        .tracker_version = "1",
	        .summary = "{}"};
	int64_t id;

	MUST(tk_store_begin_night(h->store, &row, &id, &err));
	return id;
}

static void finish(struct history *h, int64_t night, enum tk_night_status status)
{
	MUST(tk_store_finish_night(h->store, night, status, "{}", 200000, &err));
}

/* ---- log ---- */

static void log_lists_the_newest_nights(void **state)
{
	struct history *h = *state;
	int64_t second = put_night(h, h->machine, 100000), third = put_night(h, h->machine, 190000);

	finish(h, h->night, TK_NIGHT_COMPLETE);
	finish(h, second, TK_NIGHT_FAILED);
	finish(h, third, TK_NIGHT_COMPLETE);
	char *text = run(h, tk_cmd_log, "", 0);
	const char *newest = strstr(text, "1970-01-03"), *oldest = strstr(text, "1970-01-01");
	assert_true(newest && oldest && newest < oldest);
	assert_int_equal(count_of(text, "\n"), 4);
	expect_lacks(text, "--resume");
	free(text);
	text = run(h, tk_cmd_log, "--limit=2", 0);
	assert_int_equal(count_of(text, "\n"), 3);
	free(text);
	text = run(h, tk_cmd_log, "--failed --limit=1", 0);
	expect_contains(text, " failed ");
	assert_int_equal(count_of(text, "\n"), 2);
	free(text);
	finish(h, second, TK_NIGHT_COMPLETE);
	text = run(h, tk_cmd_log, "--failed", 0);
	assert_string_equal(text, "No night failed.\n");
	free(text);
	refuse(h, tk_cmd_log, "99");
}

/* The night of the history is running, by a process that is not there any more. */
static void log_says_how_to_resume(void **state)
{
	struct history *h = *state;
	char *text = run(h, tk_cmd_log, "", 0);

	expect_contains(text, " stopped ");
	expect_contains(text, "\n\n`tracker nightly --resume` continues");
	free(text);
	text = run(h, tk_cmd_log, "--format=json", 0);
	json_t *list = json_loads(text, 0, NULL), *night = json_array_get(list, 0);
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(json_string_value(json_object_get(night, "status")), "stopped");
	json_decref(list);
	free(text);
	history_run_sql(h, "DELETE FROM night");
	text = run(h, tk_cmd_log, "", 0);
	assert_string_equal(text, "No nights yet.\n");
	free(text);
	text = run(h, tk_cmd_log, "--format=json", 0);
	list = json_loads(text, 0, NULL);
	assert_int_equal(json_array_size(list), 0);
	assert_true(json_is_array(list));
	json_decref(list);
	free(text);
}

/* ---- machine ---- */

static void machines_have_what_is_theirs(void **state)
{
	struct history *h = *state;
	const struct tk_machine_row idle = {.name = "idle", .attributes = "{}"},
	                            other = {.name = "other", .attributes = "{}"};
	int64_t idle_id, other_id;

	MUST(tk_store_put_machine(h->store, &idle, &idle_id, &err));
	MUST(tk_store_put_machine(h->store, &other, &other_id, &err));
	history_put_series(h, "second", "cold", "time");
	put_night(h, h->machine, 100000);
	put_night(h, other_id, 190000);
	char *text = run(h, tk_cmd_machine, "list --format=json", 0);
	json_t *list = json_loads(text, 0, NULL);
	assert_int_equal(json_array_size(list), 3);
	for (size_t i = 0; i < 3; i++) {
		json_t *m = json_array_get(list, i);
		const char *name = json_string_value(json_object_get(m, "name")),
		           *newest = json_string_value(json_object_get(m, "newest"));
		bool is_box = !strcmp(name, "box"), is_idle = !strcmp(name, "idle");
		assert_int_equal(json_integer_value(json_object_get(m, "devices")), is_box);
		assert_int_equal(json_integer_value(json_object_get(m, "series")), is_box * 2);
		assert_int_equal(json_integer_value(json_object_get(m, "nights")), is_box    ? 2
		                                                                   : is_idle ? 0
		                                                                             : 1);
		if (is_idle)
			assert_null(newest);
		else
			assert_string_equal(
			        newest, is_box ? "1970-01-02T03:46:40Z" : "1970-01-03T04:46:40Z");
	}
	json_decref(list);
	free(text);
	text = run(h, tk_cmd_machine, "", 0);
	expect_contains(text, "1970-01-02");
	assert_int_equal(count_of(text, "\n"), 4);
	free(text);
}

static void a_machine_gets_another_name(void **state)
{
	struct history *h = *state;
	const struct tk_machine_row other = {.name = "other", .attributes = "{}"};
	int64_t id;

	MUST(tk_store_put_machine(h->store, &other, &id, &err));
	refuse(h, tk_cmd_machine, "rename");
	refuse(h, tk_cmd_machine, "rename box");
	refuse(h, tk_cmd_machine, "rename bux crate");
	refuse(h, tk_cmd_machine, "rename box crate --format=json");
	refuse(h, tk_cmd_machine, "renmae box crate");
	refuse(h, tk_cmd_machine, "list box");
	refuse(h, tk_cmd_machine, "rename box other");
	char *text = run(h, tk_cmd_machine, "rename box crate", 0);
	expect_contains(text, "renamed box to crate; run `tracker site` to update the pages\n");
	free(text);
	text = run(h, tk_cmd_machine, "", 0);
	expect_contains(text, "\ncrate ");
	expect_lacks(text, "box");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, history_set_up, history_tear_down)
	        TEST(log_lists_the_newest_nights),
	        TEST(log_says_how_to_resume),
	        TEST(machines_have_what_is_theirs),
	        TEST(a_machine_gets_another_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
