/* `tracker run` on the null backend, with real workers, which this program is too: exit codes, and
 * what is printed of each outcome. */
#include "command_rig.h"

#include "worker/worker.h"

#define P "gemm:m=16,n=16,k=16"
#define RUN "run null " P " --seconds=10ms"

static int set_up(void **state)
{
	setenv("TRACKER_DATADIR", TK_SOURCE_ROOT, 1);
	setenv("TRACKER_BACKENDS", TK_MODULES, 1);
	/* crashes shall be crashes, also where this program is built with AddressSanitizer */
	setenv("ASAN_OPTIONS", "handle_segv=0:handle_abort=0:detect_leaks=0", 1);
	if (command_folder_open(state))
		return -1;
	write_command_file("tracker.yml", "sandbox: off\n"); /* which takes time to try */
	return 0;
}

/* The rows of a line that ends with the code. */
static json_t *run_rows(const char *line, int code, size_t count)
{
	char *whole = NULL;
	assert_true(asprintf(&whole, "%s --format=json", line) > 0);
	struct ran r = run_line(whole);
	json_t *rows = json_loads(r.out, 0, NULL);
	if (r.code != code || json_array_size(rows) != count)
		fail_msg("%s: exit code %d, %zu rows\n%.2000s\n%.1000s", line, r.code,
		        json_array_size(rows), r.out, r.err);
	ran_free(&r);
	free(whole);
	return rows;
}

static const char *outcome_of(const json_t *rows, size_t i)
{
	return json_string_value(json_object_get(json_array_get(rows, i), "outcome"));
}

static void every_outcome_has_an_exit_code(void **state)
{
	static const struct {
		const char *options, *outcome;
		int code;
	} cases[] = {{"noise=0", "ok", TK_EXIT_OK}, {"throttle=1", "throttled", TK_EXIT_OK},
	        {"fail=unsupported,at=supports", "unsupported", TK_EXIT_OK},
	        {"fail=lie", "wrong", TK_EXIT_INCOMPLETE},
	        {"fail=nan", "wrong", TK_EXIT_INCOMPLETE},
	        {"fail=segv", "crashed", TK_EXIT_INCOMPLETE},
	        {"fail=exit", "crashed", TK_EXIT_INCOMPLETE},
	        {"fail=forge", "protocol", TK_EXIT_INCOMPLETE},
	        {"fail=no_memory,at=plan", "out_of_memory", TK_EXIT_INCOMPLETE},
	        {"fail=internal", "failed", TK_EXIT_INCOMPLETE},
	        {"no_such=1", "failed", TK_EXIT_INCOMPLETE}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char line[200];
		snprintf(line, sizeof line, RUN " --options=%s", cases[i].options);
		json_t *rows = run_rows(line, cases[i].code, 1);
		if (strcmp(outcome_of(rows, 0), cases[i].outcome) != 0)
			fail_msg("%s: %s", line, outcome_of(rows, 0));
		json_decref(rows);
	}
}

/* One that fails costs the others nothing. */
static void a_failure_is_that_of_its_problem(void **state)
{
	json_t *rows = run_rows("run null " P " gemm:m=17,n=16,k=16 copy:bytes=4096 "
	                        "--seconds=10ms --options=fail=segv,only=m=17",
	        TK_EXIT_INCOMPLETE, 3);
	assert_string_equal(outcome_of(rows, 0), "ok");
	assert_string_equal(outcome_of(rows, 1), "crashed");
	assert_string_equal(outcome_of(rows, 2), "ok");
	json_decref(rows);
	struct ran r = run_line(RUN " --options=fail=lie");
	assert_int_equal(r.code, TK_EXIT_INCOMPLETE);
	expect_contains(r.out, "wrong");
	expect_contains(r.out, "WHY");
	expect_contains(r.out, "expected");
	ran_free(&r);
	expect_line(RUN " --options=fail=lie --no-verify", TK_EXIT_OK, "ok", NULL);
}

/* A mistake in the last problem is found before the first is measured. */
static void mistakes_cost_no_time(void **state)
{
	expect_usage("run null " P " gemm:m=16,n=16,kk=16", "unknown key \"kk\"");
	expect_usage(
	        "run null " P " --suite=smok", "unknown suite \"smok\"; did you mean \"smoke\"?");
	expect_usage("run nul " P, "unknown backend \"nul\"; did you mean \"null\"?");
	expect_usage("run null " P " --cores=0-9999", "is not a list of cores");
	expect_usage("run null " P ",dist=text:none-00000000", "none-00000000");
	expect_usage("run  " P, "unknown backend \"\"");
	expect_line("run ./none.so " P, TK_EXIT_USAGE, NULL, "none.so");
}

static void what_is_asked_for_is_printed(void **state)
{
	json_t *rows = run_rows(RUN " --hot --options=noise=0", TK_EXIT_OK, 1);
	const json_t *row = json_array_get(rows, 0), *result = json_object_get(row, "result");
	assert_string_equal(json_string_value(json_object_get(result, "mode")), "hot");
	assert_null(json_object_get(result, "samples"));
	assert_true(json_number_value(json_object_get(result, "median")) > 0);
	json_decref(rows);
	rows = run_rows(RUN " --samples --sets=3", TK_EXIT_OK, 1);
	result = json_object_get(json_array_get(rows, 0), "result");
	assert_int_equal(json_array_size(json_object_get(result, "samples")),
	        json_integer_value(json_object_get(result, "n")));
	assert_int_equal(json_integer_value(json_object_get(result, "sets")), 3);
	json_decref(rows);
	rows = run_rows(RUN " --devices=all", TK_EXIT_OK, 2);
	json_decref(rows);
	rows = run_rows(RUN " --config-of-backend=slow", TK_EXIT_OK, 1);
	json_decref(rows);
	expect_line(RUN " --config-of-backend=none", TK_EXIT_INCOMPLETE, "failed", "");
}

int main(int argc, char **argv)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, command_folder_close)
	const struct CMUnitTest tests[] = {T(every_outcome_has_an_exit_code),
	        T(a_failure_is_that_of_its_problem), T(mistakes_cost_no_time),
	        T(what_is_asked_for_is_printed)};

	if (argc > 1 && strcmp(argv[1], "worker") == 0)
		return tk_worker_serve(0, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
