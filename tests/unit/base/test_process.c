/* Real child processes that behave badly. No test depends on how fast the machine is. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"

static struct tk_process_result r;
static struct tk_error err;

static int run(const char *script, struct tk_process_spec spec)
{
	const char *argv[] = {"sh", "-c", script, NULL};
	int status;

	tk_process_result_free(&r);
	spec.argv = argv;
	status = tk_process_run(&spec, &r, &err);
	if (!status)
		tk_process_check(&spec, &r, &err);
	return status;
}

static int tear_down(void **state)
{
	tk_process_result_free(&r);
	memset(&r, 0, sizeof r);
	return 0;
}

static void output_and_exit_code(void **state)
{
	assert_int_equal(run("echo out; echo err >&2; exit 3", (struct tk_process_spec){0}), TK_OK);
	assert_int_equal(r.exit_code, 3);
	assert_int_equal(r.signal, 0);
	assert_string_equal(tk_buf_cstr(&r.out), "out\n");
	assert_string_equal(tk_buf_cstr(&r.err), "err\n");
	assert_int_equal(err.status, TK_EIO);
	assert_string_equal(err.message, "sh: exit code 3: err");
	memset(&err, 0, sizeof err);
	assert_int_equal(
	        run("printf 'fatal: no such repository\\n\\nPlease make sure\\n' >&2; exit 128",
	                (struct tk_process_spec){0}),
	        TK_OK);
	assert_string_equal(err.message, "sh: exit code 128: fatal: no such repository");
	assert_int_equal(run("exit 0", (struct tk_process_spec){0}), TK_OK);
	assert_int_equal(r.exit_code, 0);
}

static void check_names_subcommand(void **state)
{
	const char *argv[] = {"git", "frobnicate", NULL};
	struct tk_process_spec spec = {.argv = argv};

	assert_int_equal(tk_process_run(&spec, &r, &err), TK_OK);
	assert_int_equal(tk_process_check(&spec, &r, &err), TK_EIO);
	assert_memory_equal(err.message, "git frobnicate: exit code 1:", 28);
}

static void killed_by_signal(void **state)
{
	assert_int_equal(run("kill -SEGV $$", (struct tk_process_spec){0}), TK_OK);
	assert_int_equal(r.exit_code, -1);
	assert_int_equal(r.signal, SIGSEGV);
	assert_int_equal(err.status, TK_ECRASH);
	assert_string_equal(err.message, "sh: ended by signal 11 (Segmentation fault)");
}

static void much_output_is_no_deadlock(void **state)
{
	assert_int_equal(run("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2",
	                         (struct tk_process_spec){0}),
	        TK_OK);
	assert_int_equal(r.out.len, 3000000);
	assert_int_equal(r.err.len, 8192);
}

static void flood_is_refused(void **state)
{
	assert_int_equal(run("yes", (struct tk_process_spec){.capture_max = 1000}), TK_EDATA);
	assert_string_equal(err.message, "sh: more than 1000 bytes of output");
	assert_int_equal(
	        run("printf 0123456789", (struct tk_process_spec){.capture_max = 9}), TK_EDATA);
	assert_int_equal(
	        run("printf 0123456789", (struct tk_process_spec){.capture_max = 10}), TK_OK);
}

static bool is_alive(const char *pid_file)
{
	struct tk_buf b = TK_BUF_INIT;
	bool alive = false;

	assert_int_equal(tk_file_read(pid_file, 100, &b, &err), TK_OK);
	/* Who is killed may be a zombie of the init process for a moment. */
	for (int i = 0; i < 200; i++, tk_clock_sleep_ns(10000000)) {
		char path[64], state = 'X';
		FILE *f;

		snprintf(path, sizeof path, "/proc/%d/stat", atoi(tk_buf_cstr(&b)));
		f = fopen(path, "r");
		alive = f && fscanf(f, "%*d %*s %c", &state) == 1 && state != 'Z' && state != 'X';
		if (f)
			fclose(f);
		if (!alive)
			break;
	}
	tk_buf_free(&b);
	return alive;
}

static void deadline_kills_the_whole_group(void **state)
{
	char *dir, script[512], pid_file[300];

	assert_int_equal(tk_dir_create_temp("/tmp", "tk-proc-", &dir, &err), TK_OK);
	snprintf(pid_file, sizeof pid_file, "%s/pid", dir);
	/* A grandchild that ignores SIGTERM, and a parent that ignores it too. */
	snprintf(script, sizeof script,
	        "trap '' TERM; (sleep 1000 & echo $! >%s; wait) & wait; sleep 1000", pid_file);
	assert_int_equal(run(script, (struct tk_process_spec){.deadline_s = 0.5}), TK_OK);
	assert_true(r.timed_out);
	assert_int_equal(r.signal, SIGKILL);
	assert_int_equal(err.status, TK_ETIMEOUT);
	assert_string_equal(err.message, "sh did not end within 500 ms");
	assert_false(is_alive(pid_file));
	tk_dir_remove(dir, NULL);
	free(dir);
}

static void background_children_end_with_their_parent(void **state)
{
	char *dir, script[512], pid_file[300];

	assert_int_equal(tk_dir_create_temp("/tmp", "tk-proc-", &dir, &err), TK_OK);
	snprintf(pid_file, sizeof pid_file, "%s/pid", dir);
	snprintf(script, sizeof script, "sleep 1000 & echo $! >%s; echo done", pid_file);
	assert_int_equal(run(script, (struct tk_process_spec){0}), TK_OK);
	assert_int_equal(r.exit_code, 0);
	assert_string_equal(tk_buf_cstr(&r.out), "done\n");
	assert_false(is_alive(pid_file));
	tk_dir_remove(dir, NULL);
	free(dir);
}

static void memory_limit(void **state)
{
	assert_int_equal(run("ulimit -v", (struct tk_process_spec){.memory_limit_bytes =
	                                                                   (uint64_t)512 << 20}),
	        TK_OK);
	assert_string_equal(tk_buf_cstr(&r.out), "524288\n");
}

static void disk_limit(void **state)
{
	char *dir = NULL, script[256];
	const char *paths[] = {NULL, NULL};
	struct tk_process_spec spec = {
	        .disk_paths = paths, .disk_max_bytes = 4 << 20, .deadline_s = 200};

	assert_int_equal(tk_dir_create_temp("/tmp", "tk-proc-", &dir, &err), TK_OK);
	paths[0] = dir;
	snprintf(script, sizeof script, "head -c 1M /dev/zero >%s/a; sleep 0.5", dir);
	assert_int_equal(run(script, spec), TK_OK);
	assert_int_equal(r.exceeded, TK_LIMIT_NONE);
	tk_process_result_free(&r);
	snprintf(script, sizeof script, "head -c 9M /dev/zero >%s/a; sleep 300", dir);
	assert_int_equal(run(script, spec), TK_OK);
	assert_int_equal(r.exceeded, TK_LIMIT_DISK);
	assert_int_equal(r.signal, SIGKILL);
	tk_dir_remove(dir, NULL);
	free(dir);
}

static void environment_is_scrubbed(void **state)
{
	static const char *const extra[] = {"EXTRA=with = sign", "LANG=C.UTF-8", NULL};

	setenv("OMP_NUM_THREADS", "3", 1);
	setenv("GIT_DIR", "/evil", 1);
	setenv("CUDA_VISIBLE_DEVICES", "1", 1);
	setenv("CUDA_TOKEN", "secret", 1);
	setenv("SSH_AUTH_SOCK", "/agent", 1);
	setenv("https_proxy", "http://proxy", 1);
	setenv("PIP_CERT", "/ca", 1);
	assert_int_equal(run("echo "
	                     "\"$OMP_NUM_THREADS|$GIT_DIR|$CUDA_VISIBLE_DEVICES|$LC_"
	                     "ALL|$LANG|$EXTRA|$CUDA_TOKEN|$SSH_AUTH_SOCK|$https_proxy\"",
	                         (struct tk_process_spec){.env = extra}),
	        TK_OK);
	assert_string_equal(tk_buf_cstr(&r.out), "||1|C|C.UTF-8|with = sign|||\n");
	assert_int_equal(run("echo \"$CUDA_TOKEN|$SSH_AUTH_SOCK|$https_proxy|$PIP_CERT\"",
	                         (struct tk_process_spec){.for_network = true}),
	        TK_OK);
	assert_string_equal(tk_buf_cstr(&r.out), "|/agent|http://proxy|/ca\n");
}

static void foreign_descriptors_are_closed(void **state)
{
	int fd = open(
	        "/dev/null", O_RDONLY); /* without O_CLOEXEC, as a careless library leaves them */

	assert_true(fd >= 0);
	assert_int_equal(run("ls /proc/self/fd | wc -l", (struct tk_process_spec){0}), TK_OK);
	assert_string_equal(tk_buf_cstr(&r.out), "4\n"); /* 0, 1, 2 and ls's own */
	close(fd);
}

static void working_folder_and_log(void **state)
{
	struct tk_buf b = TK_BUF_INIT;
	char *dir, *log;

	assert_int_equal(tk_dir_create_temp("/tmp", "tk-proc-", &dir, &err), TK_OK);
	log = tk_path_join(dir, "log");
	assert_int_equal(
	        run("pwd; echo e >&2", (struct tk_process_spec){.cwd = "/usr", .log_path = log}),
	        TK_OK);
	assert_int_equal(run("echo again", (struct tk_process_spec){.log_path = log}), TK_OK);
	assert_int_equal(r.out.len, 0);
	assert_int_equal(tk_file_read(log, 0, &b, &err), TK_OK);
	assert_string_equal(tk_buf_cstr(&b), "/usr\ne\nagain\n");
	assert_int_equal(run("cat", (struct tk_process_spec){.stdin_path = log}), TK_OK);
	assert_string_equal(tk_buf_cstr(&r.out), "/usr\ne\nagain\n");
	tk_buf_free(&b);
	tk_dir_remove(dir, NULL);
	free(log);
	free(dir);
}

static void cannot_start(void **state)
{
	const char *argv[] = {"no-such-program-here", NULL};
	struct tk_process_spec spec = {.argv = argv};

	assert_int_equal(tk_process_run(&spec, &r, &err), TK_ENOTFOUND);
	assert_string_equal(err.message, "no-such-program-here: no such program in PATH");
	argv[0] = "/nowhere/program";
	assert_int_equal(tk_process_run(&spec, &r, &err), TK_ENOTFOUND);
	assert_string_equal(err.message, "starting /nowhere/program: No such file or directory");
	assert_int_equal(run("true", (struct tk_process_spec){.cwd = "/nowhere"}), TK_ENOTFOUND);
	assert_string_equal(err.message, "sh: working folder /nowhere: No such file or directory");
	assert_int_equal(
	        run("true", (struct tk_process_spec){.log_path = "/nowhere/log"}), TK_ENOTFOUND);
	assert_string_equal(err.message, "log file /nowhere/log: No such file or directory");
	assert_int_equal(
	        run("true", (struct tk_process_spec){.stdin_path = "/nowhere"}), TK_ENOTFOUND);
}

static void finding_programs(void **state)
{
	char *path = NULL;

	assert_true(tk_process_find_program("sh", &path));
	assert_true(path[0] == '/');
	free(path);
	assert_false(tk_process_find_program("no-such-program-here", &path));
}

/* In a child, because a cancellation is for the rest of a process. */
static void cancellation(void **state)
{
	int raw;
	pid_t child = fork();

	if (child == 0) {
		struct tk_error e = {0};
		struct tk_process_result res;
		const char *argv[] = {"sh", "-c", "kill -INT $PPID; sleep 1000", NULL};
		struct tk_process_spec spec = {.argv = argv};
		int status;

		tk_cancel_install_handlers();
		status = tk_process_run(&spec, &res, &e);
		tk_process_result_free(&res);
		_exit(status == TK_ECANCELED && tk_cancel_is_requested() &&
		                        strcmp(e.message, "canceled") == 0 && res.wall_s < 100
		                ? 0
		                : 1);
	}
	assert_int_equal(waitpid(child, &raw, 0), child);
	assert_int_equal(raw, 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, tear_down)
	const struct CMUnitTest tests[] = {
	        T(output_and_exit_code),
	        T(check_names_subcommand),
	        T(killed_by_signal),
	        T(much_output_is_no_deadlock),
	        T(flood_is_refused),
	        T(deadline_kills_the_whole_group),
	        T(background_children_end_with_their_parent),
	        T(memory_limit),
	        T(disk_limit),
	        T(environment_is_scrubbed),
	        T(foreign_descriptors_are_closed),
	        T(working_folder_and_log),
	        T(cannot_start),
	        T(finding_programs),
	        T(cancellation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
