/* A program that starts many processes is killed, within each method of the sandbox. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/process.h"
#include "base/process_tree.h"
#include "base/sandbox.h"

#define FEW "3"
#define MANY "40"
#define LIMIT 20

enum { PASSED, SKIPPED, FAILED };

/* Starts $0 processes in sessions of their own, which end after 1 s. */
static const char script[] =
        "i=0; while [ $i -lt $0 ]; do setsid sleep 1 & i=$((i + 1)); done; wait";

static enum tk_process_limit run_script(const char *count, struct tk_process_result *result)
{
	static const struct tk_sandbox_policy policy;
	const char *const argv[] = {"sh", "-c", script, count, NULL};
	struct tk_process_spec spec = {.argv = argv, .deadline_s = 60, .process_max = LIMIT};
	int status = tk_sandbox_new(&policy, &spec.sandbox, NULL);

	if (!status)
		status = tk_process_run(&spec, result, NULL);
	tk_sandbox_free(spec.sandbox);
	tk_process_result_free(result);
	return status ? (enum tk_process_limit) - 1 : result->exceeded;
}

static int try_both(const char *method)
{
	struct tk_process_result result;

	setenv("TRACKER_SANDBOX_METHOD", method, 1);
	tk_sandbox_configure(TK_SANDBOX_AUTO);
	if (strcmp(tk_sandbox_method_name(tk_sandbox_method()), method) != 0)
		return SKIPPED;
	if (run_script(FEW, &result) != TK_LIMIT_NONE || result.exit_code != 0)
		return FAILED;
	return run_script(MANY, &result) == TK_LIMIT_PROCESSES ? PASSED : FAILED;
}

/* A process chooses its method once. */
static void many_processes_are_killed(void **state)
{
	const char *method = *state;
	int raw = 0;
	pid_t child = fork();

	if (child == 0)
		_exit(try_both(method));
	assert_int_equal(waitpid(child, &raw, 0), child);
	assert_true(WIFEXITED(raw));
	if (WEXITSTATUS(raw) == SKIPPED)
		skip();
	assert_int_equal(WEXITSTATUS(raw), PASSED);
}

static void a_child_and_its_descendants_count(void **state)
{
	int ends[2];
	char ready;
	unsigned found;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		setpgid(0, 0);
		if (fork() == 0) {
			setsid();
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (write(ends[1], "x", 1) == 1)
				pause();
			_exit(0);
		}
		pause();
	}
	assert_int_equal(read(ends[0], &ready, 1), 1);
	found = tk_process_tree_count(child);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(found, 2);
	assert_int_equal(tk_process_tree_count(child), 0);
}

#define TEST_OF(method) \
	cmocka_unit_test_prestate(many_processes_are_killed, (void *)(uintptr_t)(method))

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_child_and_its_descendants_count),
	        TEST_OF("none"),
	        TEST_OF("limits"),
	        TEST_OF("landlock"),
	        TEST_OF("bubblewrap"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
