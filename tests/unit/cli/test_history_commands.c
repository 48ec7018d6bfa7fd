/* Commands that read and keep a history, as a whole: log, machine, show, db, merge. */
#include "../store/history.h"
#include "capture.h"

#include <jansson.h>
#include <stdlib.h>

#include "cli/commands.h"

typedef int command(const struct tk_globals *g, int argc, char **argv);

static char *messages; /* what the last command wrote to stderr */

/* Arguments in one text, separated by blanks. The output is to be freed. */
static char *run(struct history *h, command *run_command, const char *arguments, int expected)
{
	const struct tk_globals g = {.db_path = h->path, .no_color = true};
	char program[] = "tracker test";
	char *line = strdup(arguments), *rest = line, *argv[8] = {program};
	int argc = 1;
	struct capture out, err;
	FILE *terminal = stdout, *errors = stderr;

	while (rest && *rest)
		argv[argc++] = strsep(&rest, " ");
	stdout = capture_open(&out);
	stderr = capture_open(&err);
	int code = run_command(&g, argc, argv);
	stdout = terminal;
	stderr = errors;
	char *text = strdup(capture_text(&out));
	free(messages);
	messages = strdup(capture_text(&err));
	capture_free(&out);
	capture_free(&err);
	free(line);
	if (code != expected)
		fail_msg("\"%s\" ended with %d instead of %d: %s", arguments, code, expected,
		        messages);
	return text;
}

/* Nothing is printed to stdout where a command is refused. */
static void refuse(
        struct history *h, command *run_command, const char *arguments, const char *message)
{
	char *text = run(h, run_command, arguments, TK_EXIT_USAGE);

	assert_string_equal(text, "");
	expect_contains(messages, message);
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
	refuse(h, tk_cmd_log, "99", "no night \"99\"");
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
	refuse(h, tk_cmd_machine, "rename", "expected the old and the new name");
	refuse(h, tk_cmd_machine, "rename box", "expected the old and the new name");
	refuse(h, tk_cmd_machine, "rename bux crate", "did you mean \"box\"?");
	refuse(h, tk_cmd_machine, "rename box crate --format=json", "--format belongs to list");
	refuse(h, tk_cmd_machine, "renmae box crate", "did you mean \"rename\"?");
	refuse(h, tk_cmd_machine, "list box", "unexpected argument \"box\"");
	refuse(h, tk_cmd_machine, "rename box other", "has a machine \"other\" already");
	char *text = run(h, tk_cmd_machine, "rename box crate", 0);
	expect_contains(text, "renamed box to crate; run `tracker site` to update the pages\n");
	free(text);
	text = run(h, tk_cmd_machine, "", 0);
	expect_contains(text, "\ncrate ");
	expect_lacks(text, "box");
	free(text);
}

/* ---- show ---- */

static const char slug[] = "box.cpu.blas.gemm-f32-512x512x512-nn.cold";

/* Expects one series in full, whichever way it was named. */
static void expect_series(struct history *h, const char *name)
{
	char *text = run(h, tk_cmd_show, name, 0);

	expect_contains(text, "series      box.cpu.blas.gemm-f32-512x512x512-nn.cold\n");
	free(text);
}

static void series_have_many_names(void **state)
{
	struct history *h = *state;
	const struct tk_problem_row other = {
	        .text = "gemm:a=f32,acc=f32,b=f32,c=f32,k=64,m=64,n=64,ta=n,tb=n",
	        .op = "gemm",
	        .dtype = "f32",
	        .title = "gemm f32 64x64x64 nn",
	        .source = "made",
	        .family = "square"};

	expect_series(h, slug);
	expect_series(h, "box.cpu");
	expect_series(h, "*512x512*");
	expect_series(h, "GEMM-F32");
	MUST(tk_store_put_problem(h->store, &other, &h->problem, &err));
	history_put_series(h, "blas", "cold", "time");
	expect_series(h, slug);
	char *text = run(h, tk_cmd_show, "gemm:m=64,n=64,k=64", 0);
	expect_contains(text, "problem     gemm f32 64x64x64 nn\n");
	free(text);
	text = run(h, tk_cmd_show, "box", 0);
	expect_contains(text, "SERIES");
	assert_int_equal(count_of(text, "\n"), 3);
	free(text);
	text = run(h, tk_cmd_show, "* --format=json", 0);
	json_t *list = json_loads(text, 0, NULL);
	assert_int_equal(json_array_size(list), 2);
	json_decref(list);
	free(text);
	refuse(h, tk_cmd_show, "gemm:m=32,n=32,k=32", "no series or run matches");
	refuse(h, tk_cmd_show, "box.cpu.blas.gemm-f32-512x512x512-nn.cald", slug);
}

static void runs_have_numbers_and_ids(void **state)
{
	struct history *h = *state;
	int64_t id;

	for (int i = 1; i <= 2; i++)
		MUST(history_put_run(h, i, 1000 * i, 20, &id, &err));
	char *text = run(h, tk_cmd_show, "2 --format=json", 0);
	json_t *o = json_loads(text, 0, NULL);
	assert_int_equal(json_integer_value(json_object_get(o, "seq")), 2);
	char uid[16];
	snprintf(uid, sizeof uid, "%.10s", json_string_value(json_object_get(o, "uid")));
	json_decref(o);
	free(text);
	text = run(h, tk_cmd_show, uid, 0);
	expect_contains(text, "job 2\n");
	free(text);
	history_run_sql(h, "UPDATE run SET uid='abcd' || substr(uid, 5)");
	refuse(h, tk_cmd_show, "abcd", "\"abcd\" is ambiguous: several runs start with it");
}

/* ---- db ---- */

static void options_belong_to_actions(void **state)
{
	struct history *h = *state;

	refuse(h, tk_cmd_db, "chekc", "did you mean \"check\"?");
	refuse(h, tk_cmd_db, "backup", "backup: missing FILE");
	refuse(h, tk_cmd_db, "check file", "check: unexpected argument");
	refuse(h, tk_cmd_db, "check --output=x", "this option belongs to export");
	refuse(h, tk_cmd_db, "export --drop-samples-older=1d", "this option belongs to vacuum");
	refuse(h, tk_cmd_db, "vacuum --drop-samples-older=soon", "--drop-samples-older: \"soon\"");
	char *text = run(h, tk_cmd_db, "migrate", 0);
	expect_contains(text, ": is up to date (history version ");
	free(text);
	text = run(h, tk_cmd_db, "vacuum --drop-samples-older=1d", 0);
	expect_contains(text, ": vacuumed\n");
	free(text);
}

static void damage_is_found(void **state)
{
	struct history *h = *state;
	char *text = run(h, tk_cmd_db, "check", 0);

	expect_contains(text, ": no damage found\n");
	free(text);
	history_run_sql(h, "UPDATE machine SET name='edited'");
	text = run(h, tk_cmd_db, "check", TK_EXIT_FOUND);
	expect_contains(text, "machine");
	expect_lacks(text, "no damage");
	assert_string_equal(messages, ""); /* the file can be read: no advice about copies */
	free(text);
}

/* A copy has the same facts, and merging it adds nothing. */
static void a_copy_is_merged(void **state)
{
	struct history *h = *state;
	char arguments[300], copy[100], new[100];
	int64_t id;

	MUST(history_put_run(h, 1, 1000, 20, &id, &err));
	snprintf(copy, sizeof copy, "%s/copy.db", h->dir);
	snprintf(new, sizeof new, "%s/new.db", h->dir);
	snprintf(arguments, sizeof arguments, "backup %s", copy);
	char *text = run(h, tk_cmd_db, arguments, 0);
	expect_contains(text, copy);
	free(text);
	text = run(h, tk_cmd_merge, copy, 0);
	expect_contains(text, ": added 0 nights, 0 series, 0 points\n");
	free(text);
	text = run(h, tk_cmd_merge, h->path, 0); /* with itself */
	expect_contains(text, ": added 0 nights, 0 series, 0 points\n");
	free(text);
	snprintf(arguments, sizeof arguments, "%s --output=%s", copy, new);
	text = run(h, tk_cmd_merge, arguments, 0);
	expect_contains(text, "new.db: added 1 night, 1 series, 1 point\n");
	free(text);
	refuse(h, tk_cmd_merge, arguments, "already exists; --into merges into it");
	unlink(copy);
	unlink(new);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, history_set_up, history_tear_down)
	        TEST(log_lists_the_newest_nights),
	        TEST(log_says_how_to_resume),
	        TEST(machines_have_what_is_theirs),
	        TEST(a_machine_gets_another_name),
	        TEST(series_have_many_names),
	        TEST(runs_have_numbers_and_ids),
	        TEST(options_belong_to_actions),
	        TEST(damage_is_found),
	        TEST(a_copy_is_merged),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(messages);
	return failed;
}
