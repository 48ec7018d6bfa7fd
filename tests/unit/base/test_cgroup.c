/* Programs in control groups of their own, where this machine lets the tracker make some
 * (tests/vm/run has one that does). */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/process.h"

#define MEMORY ((uint64_t)64 << 20)

static void run_in_group(
        const char *script, uint64_t memory, unsigned processes, struct tk_process_result *result)
{
	const char *const argv[] = {"sh", "-c", script, NULL};
	struct tk_process_spec spec = {.argv = argv, .deadline_s = 60, .process_max = processes};
	struct tk_cgroup *group = NULL;

	if (tk_cgroup_reason())
		skip();
	assert_int_equal(tk_cgroup_new(memory, processes, &group, NULL), TK_OK);
	assert_non_null(group);
	spec.cgroup = group;
	assert_int_equal(tk_process_run(&spec, result, NULL), TK_OK);
	tk_cgroup_free(group);
}

static void a_machine_without_groups_says_why(void **state)
{
	struct tk_cgroup *group = NULL;

	(void)state;
	if (!tk_cgroup_reason())
		skip();
	assert_true(strlen(tk_cgroup_reason()) > 0);
	assert_int_equal(tk_cgroup_new(MEMORY, 10, &group, NULL), TK_OK);
	assert_null(group);
	assert_false(tk_cgroup_is_out_of_memory(NULL));
	tk_cgroup_kill(NULL);
	tk_cgroup_free(NULL);
}

static void a_program_within_its_limits_runs(void **state)
{
	struct tk_process_result result;

	(void)state;
	run_in_group("echo done", MEMORY, 10, &result);
	assert_int_equal(result.exit_code, 0);
	assert_int_equal(result.exceeded, TK_LIMIT_NONE);
	assert_string_equal(tk_buf_cstr(&result.out), "done\n");
	tk_process_result_free(&result);
}

/* It leaves the session and the group of processes, and its parent has ended. */
static void an_orphan_dies_with_the_group(void **state)
{
	struct tk_process_result result;
	long orphan;

	(void)state;
	run_in_group("setsid sh -c 'echo $$; exec sleep 60 >/dev/null 2>&1' & sleep 1", MEMORY, 10,
	        &result);
	assert_int_equal(result.exit_code, 0);
	orphan = strtol(tk_buf_cstr(&result.out), NULL, 10);
	tk_process_result_free(&result);
	assert_true(orphan > 1);
	/* Killed, it exists until the first process of the system has waited for it. */
	for (int i = 0; i < 500 && kill((pid_t)orphan, 0) == 0; i++)
		tk_clock_sleep_ns(10000000);
	assert_int_not_equal(kill((pid_t)orphan, 0), 0);
}

static void too_many_processes_are_killed(void **state)
{
	struct tk_process_result result;

	(void)state;
	run_in_group(
	        "i=0; while [ $i -lt 8 ]; do (setsid sleep 20 &); i=$((i + 1)); done; sleep 20", 0,
	        5, &result);
	assert_int_equal(result.exceeded, TK_LIMIT_PROCESSES);
	assert_true(result.wall_s < 15);
	tk_process_result_free(&result);
}

/* Each of them alone has no more than it may. */
static void too_much_memory_together_is_killed(void **state)
{
	struct tk_process_result result;

	(void)state;
	run_in_group("for i in 1 2 3 4; do (head -c 40M /dev/zero; sleep 20) | tail -c 40M & done; "
	             "wait",
	        MEMORY, 0, &result);
	assert_int_equal(result.exceeded, TK_LIMIT_MEMORY);
	assert_true(result.wall_s < 15);
	tk_process_result_free(&result);
}

/* No file can be opened, so no limit can be set. */
static void a_group_that_cannot_be_made_is_done_without(void **state)
{
	struct rlimit before, none;
	struct tk_cgroup *group = NULL;
	int status;

	(void)state;
	if (tk_cgroup_reason())
		skip();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	status = tk_cgroup_new(MEMORY, 10, &group, NULL);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(status, TK_OK);
	assert_null(group);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_machine_without_groups_says_why),
	        cmocka_unit_test(a_program_within_its_limits_runs),
	        cmocka_unit_test(an_orphan_dies_with_the_group),
	        cmocka_unit_test(too_many_processes_are_killed),
	        cmocka_unit_test(too_much_memory_together_is_killed),
	        cmocka_unit_test(a_group_that_cannot_be_made_is_done_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
