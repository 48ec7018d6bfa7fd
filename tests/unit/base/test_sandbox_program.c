/* A program that cannot be executed within bubblewrap: the sandbox is not to blame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "base/sandbox.h"
#include "base/sandbox_internal.h"

static char folder[] = "/tmp/tracker-program-XXXXXX";
static char path[64];

static int write_script(const char *text)
{
	FILE *script = fopen(path, "w");

	if (!script || fputs(text, script) < 0 || fclose(script) != 0)
		return -1;
	return chmod(path, 0755);
}

static int make_script(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof path, "%s/run", folder);
	return write_script("#!/bin/sh\nexit 7\n");
}

static int remove_script(void **state)
{
	tk_dir_remove(folder, NULL);
	return 0;
}

static void require_bubblewrap(void)
{
	tk_sandbox_configure(TK_SANDBOX_AUTO);
	if (tk_sandbox_method() != TK_SANDBOX_BUBBLEWRAP)
		skip();
}

/* `damage` is an option that bubblewrap refuses; NULL: none. */
static bool has_failed(const struct tk_sandbox_policy *policy, const char *damage, int exit_code)
{
	const char *const argv[] = {path, NULL};
	struct tk_process_spec spec = {.argv = argv, .deadline_s = 20};
	struct tk_process_result result = {0};
	struct tk_error err = {0};
	bool failed;

	assert_int_equal(tk_sandbox_new(policy, &spec.sandbox, &err), 0);
	if (damage) {
		free(spec.sandbox->prefix[1]);
		spec.sandbox->prefix[1] = strdup(damage);
	}
	assert_int_equal(tk_process_run(&spec, &result, &err), 0);
	assert_int_equal(result.exit_code, exit_code);
	failed = tk_sandbox_has_failed(spec.sandbox);
	tk_process_result_free(&result);
	tk_sandbox_free(spec.sandbox);
	return failed;
}

static void a_hidden_program_is_no_failure_of_the_sandbox(void **state)
{
	static const struct tk_sandbox_policy hides;
	const char *const readable[] = {folder, NULL};
	const struct tk_sandbox_policy shows = {.readable = readable};

	require_bubblewrap();
	assert_false(has_failed(&hides, NULL, 1));
	assert_false(has_failed(&shows, NULL, 7));
}

/* It can be executed by its mode bits, and by nothing else. */
static void a_script_without_its_interpreter_is_no_failure_of_the_sandbox(void **state)
{
	const char *const readable[] = {folder, NULL};
	const struct tk_sandbox_policy shows = {.readable = readable};

	require_bubblewrap();
	assert_int_equal(write_script("#!/nonexistent/shell\n"), 0);
	assert_false(has_failed(&shows, NULL, 1));
}

static void a_sandbox_that_runs_nothing_has_failed(void **state)
{
	static const struct tk_sandbox_policy policy;

	require_bubblewrap();
	assert_true(has_failed(&policy, "--no-such-option", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_hidden_program_is_no_failure_of_the_sandbox),
	        cmocka_unit_test(a_script_without_its_interpreter_is_no_failure_of_the_sandbox),
	        cmocka_unit_test(a_sandbox_that_runs_nothing_has_failed),
	};

	return cmocka_run_group_tests(tests, make_script, remove_script);
}
