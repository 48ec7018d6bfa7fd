/* A worker that ends, or misbehaves, at each message of the protocol: shell scripts in its place,
 * and the real one of the null backend. Each is one outcome, and the next request gets a new
 * process. */
#include "base/buf.h"
#include "base/file.h"
#include "worker_rig.h"
#include <poll.h>
#include <unistd.h>

#define ANSWER(id, rest) "echo '{\"id\":" #id "," rest "}'; "
#define OPENED(id) ANSWER(id, "\"ok\":true,\"result\":{}")
#define REFUSED(id, message) \
	ANSWER(id, "\"ok\":false,\"outcome\":\"unsupported\",\"message\":\"" message "\"")

static struct tk_worker *fake(const char *text, char **path)
{
	*path = fake_worker("fake", text);
	return worker_with((struct tk_worker_spec){.program = *path});
}

static void finish(struct tk_worker *w, char *path)
{
	tk_worker_free(w);
	free(path);
}

/* ---- the end, message by message ---- */

/* The first job ends as the case says; the script does the second one as a worker would. */
static void the_next_job_gets_a_new_process(void **state)
{
	/* clang-format off */
	static const char *const cases[][3] = {
		{FAKE_HELLO "exit 0", "crashed", "exited with code 0 before it answered"},
		{FAKE_HELLO "exit 41", "crashed", "exited with code 41"},
		{FAKE_HELLO "kill -TERM $$", "crashed", "SIGTERM (Terminated)"},
		{FAKE_HELLO "kill -ABRT $$", "crashed", "SIGABRT (Aborted)"},
		{FAKE_HELLO "printf '{\"id\"'; kill -KILL $$", "crashed", "SIGKILL (Killed)"},
		{FAKE_HELLO "printf '{\"id\":1,\"ok\":false}'; exit 5", "crashed", "code 5"},
		{FAKE_HELLO "echo; sleep 60", "protocol", "invalid JSON"},
		{FAKE_HELLO "echo null; sleep 60", "protocol", "cannot read the worker's answer"},
		{FAKE_HELLO ANSWER(1, "\"ok\":true") "sleep 60", "protocol", "result is missing"},
		{FAKE_HELLO ANSWER(0, "\"ok\":true,\"result\":{}") "sleep 60", "protocol",
			"not an answer to request 1"},
		{FAKE_HELLO ANSWER(1, "\"ok\":true,\"result\":{}") "sleep 60", "protocol",
			"outcome is missing"},
		{FAKE_HELLO ANSWER(1, "\"ok\":false,\"outcome\":\"ok\",\"message\":\"\"")
			"sleep 60", "protocol", "is not an outcome of a failed job"},
	};
	/* clang-format on */
	char *first = tk_path_join(rig_folder, "first");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *path, *text = NULL;
		assert_true(asprintf(&text,
		                    "if [ -e '%s' ]; then " FAKE_HELLO REFUSED(
		                            2, "again") "read line; exit; fi\n: >'%s'\n%s",
		                    first, first, cases[i][0]) > 0);
		struct tk_worker *w = fake(text, &path);
		run_fault(w, "", cases[i][1], cases[i][2]);
		assert_int_equal(tk_worker_fd(w), -1);
		run_fault(w, "", "unsupported", "again");
		assert_true(tk_worker_fd(w) >= 0);
		finish(w, path);
		assert_int_equal(unlink(first), 0);
		free(text);
	}
	free(first);
}

/* Neither exit code nor signal: it lives on, with its side of the wire closed. */
static void a_closed_connection_is_no_exit_code(void **state)
{
	char *path;
	struct tk_worker *w = fake(FAKE_HELLO "echo bye >&2; exec >&- <&-; sleep 60", &path);
	run_fault(w, "", "crashed", "the worker closed its connection and continued: killed: bye");
	finish(w, path);
}

/* It reads the beginning of a request and dies, or closes its input. */
static void the_end_within_a_long_request(void **state)
{
	char *path, *options = malloc(300001);
	memset(options, 'x', 300000);
	options[300000] = 0;
	struct tk_worker *w =
	        fake(FAKE_HELLO_ALONE "head -c 1000 >/dev/null; echo enough >&2; exit 3", &path);
	struct tk_job_request r = request(options);
	struct tk_job_result out;
	assert_int_equal(tk_worker_measure(w, &r, &out, NULL), 0);
	assert_string_equal(tk_outcome_name(out.outcome), "crashed");
	assert_non_null(strstr(out.message, "exited with code 3 before it answered: enough"));
	assert_null(out.result);
	tk_job_result_free(&out);
	finish(w, path);
	free(options);
}

/* What comes after an answer belongs to no request: that process is not used again. */
static void more_than_was_asked_for(void **state)
{
	char *path;
	struct tk_worker *w = fake(FAKE_HELLO REFUSED(1, "one")
	                                   REFUSED(2, "unasked") "read line; " REFUSED(2, "asked"),
	        &path);
	run_fault(w, "", "unsupported", "one");
	/* The new process answers request 1 again, which is not what was asked. */
	run_fault(w, "", "protocol", "not an answer to request 2");
	finish(w, path);
}

/* A process that ended between two jobs costs neither of them. */
static void the_end_between_two_jobs(void **state)
{
	char *path, *count = tk_path_join(rig_folder, "count"), *text = NULL;
	assert_true(
	        asprintf(&text,
	                FAKE_HELLO "echo x >>'%s'; n=$(wc -l <'%s'); "
	                           "echo \"{\\\"id\\\":$n,\\\"ok\\\":false,\\\"outcome\\\":"
	                           "\\\"unsupported\\\",\\\"message\\\":\\\"no $n\\\"}\"; exit 9",
	                count, count) > 0);
	struct tk_worker *w = fake(text, &path);
	run_fault(w, "", "unsupported", "no 1");
	struct pollfd gone = {.fd = tk_worker_fd(w), .events = POLLIN};
	assert_int_equal(poll(&gone, 1, 30000), 1); /* the end of its answers */
	run_fault(w, "", "unsupported", "no 2");
	finish(w, path);
	assert_int_equal(unlink(count), 0);
	free(count);
	free(text);
}

/* ---- opening before the first job ---- */

static void what_fails_to_open_is_told_by_the_job(void **state)
{
	struct tk_error err = {0};
	struct tk_worker *w = worker_with((struct tk_worker_spec){0});
	const char *bad = "fail=internal,at=open";
	assert_int_equal(tk_worker_start_open(w, NULL_BACKEND, bad, 60, &err), 0);
	assert_true(tk_worker_fd(w) >= 0);
	assert_int_equal(tk_worker_wait_open(w, &err), 0);
	assert_int_equal(tk_worker_fd(w), -1);
	assert_int_equal(tk_worker_wait_open(w, &err), 0); /* nothing to wait for */
	run_fault(w, bad, "failed", "open: told to fail inside");
	assert_int_equal(tk_worker_start_open(w, NULL_BACKEND, "fail=segv,at=open", 60, &err), 0);
	run_fault(w, "", "ok", ""); /* waits by itself */
	tk_worker_free(w);
}

static void a_device_alone_is_opened(void **state)
{
	struct tk_error err = {0};
	struct tk_worker *w = worker_with((struct tk_worker_spec){0});
	assert_int_equal(tk_worker_start_open(w, NULL, NULL, 60, &err), 0);
	assert_int_equal(tk_worker_wait_open(w, &err), 0);
	int fd = tk_worker_fd(w);
	assert_true(fd >= 0);
	run_fault(w, "", "ok", "");
	tk_worker_end_process(w);
	assert_int_equal(tk_worker_fd(w), -1);
	run_fault(w, "", "ok", "");
	tk_worker_free(w);
}

static void a_worker_that_is_no_worker_cannot_be_opened(void **state)
{
	struct tk_error err = {0};
	char *path;
	struct tk_worker *w = fake("exit 3", &path);
	assert_int_equal(tk_worker_start_open(w, NULL_BACKEND, "", 60, &err), TK_EIO);
	assert_non_null(strstr(err.message, "does not work as a worker"));
	finish(w, path);
}

/* ---- questions ---- */

static void questions_have_a_status_for_each_outcome(void **state)
{
#define SAYS(outcome) \
	FAKE_HELLO ANSWER( \
	        1, "\"ok\":false,\"outcome\":\"" outcome "\",\"message\":\"because\"") "sleep 60"
	static const struct {
		const char *text, *message;
		int status;
	} cases[] = {{SAYS("no_device"), "because", TK_ENOTFOUND},
	        {SAYS("crashed"), "because", TK_ECRASH}, {SAYS("timeout"), "because", TK_ETIMEOUT},
	        {SAYS("out_of_memory"), "because", TK_ENOMEM},
	        {SAYS("unsupported"), "because", TK_EUNSUPPORTED},
	        {SAYS("failed"), "because", TK_EDATA}, {SAYS("protocol"), "because", TK_EDATA},
	        {FAKE_HELLO "kill -BUS $$", "SIGBUS (Bus error)", TK_ECRASH},
	        {FAKE_HELLO OPENED(1) "sleep 60", "", TK_EDATA},
	        {FAKE_HELLO OPENED(2) "sleep 60", "not an answer to request 1", TK_EDATA}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_job_request r = request("");
		for (int question = 0; question < 3; question++) {
			struct tk_error err = {0};
			json_t *answer = NULL;
			char *path;
			struct tk_worker *w = fake(cases[i].text, &path);
			int status =
			        question == 0 ? tk_worker_query_device(w, &answer, &err)
			        : question == 1
			                ? tk_worker_query_backend(w, NULL_BACKEND, &answer, &err)
			                : tk_worker_query_configs(w, &r, &answer, &err);
			if (status != cases[i].status || !strstr(err.message, cases[i].message))
				fail_msg("%s: status %d, \"%s\"", cases[i].text, status,
				        err.message);
			assert_null(answer);
			assert_int_equal(tk_worker_fd(w), -1);
			finish(w, path);
		}
	}
}

/* ---- the end of the parent's side ---- */

/* Whether the `sleep` of that number has ended, or does so soon. Of a zombie nothing is read. */
static bool is_over(long pid)
{
	char command_line[64];
	snprintf(command_line, sizeof command_line, "/proc/%ld/cmdline", pid);
	for (int i = 0; i < 1000; i++) {
		char name[6] = "";
		FILE *f = fopen(command_line, "r");
		size_t len = f ? fread(name, 1, 5, f) : 0;
		if (f)
			fclose(f);
		if (len < 5 || strcmp(name, "sleep") != 0)
			return true;
		poll(NULL, 0, 10);
	}
	return false;
}

/* A worker ignores the end of its input: it is killed with all its children. */
static void children_of_a_worker_end_with_it(void **state)
{
	char *path, *pid_path = tk_path_join(rig_folder, "pid"), *text = NULL;
	long pid = 0;
	assert_true(
	        asprintf(&text, FAKE_HELLO "sleep 600 & echo $! >'%s'; " REFUSED(1, "no") "wait",
	                pid_path) > 0);
	struct tk_worker *w = fake(text, &path);
	run_fault(w, "", "unsupported", "no");
	FILE *pid_file = fopen(pid_path, "r");
	assert_int_equal(fscanf(pid_file, "%ld", &pid), 1);
	fclose(pid_file);
	finish(w, path);
	assert_true(is_over(pid));
	assert_int_equal(unlink(pid_path), 0);
	free(pid_path);
	free(text);
}

/* ---- what a process is given ---- */

/* The variables of a worker of so many threads, one a line. */
static char *environment_of(uint32_t threads)
{
	char *path, *text = NULL, *file = tk_path_join(rig_folder, "env");
	struct tk_buf content = TK_BUF_INIT;
	assert_true(
	        asprintf(&text, FAKE_HELLO "env >'%s'; " REFUSED(1, "no") "read line", file) > 0);
	path = fake_worker("fake", text);
	struct tk_worker *w =
	        worker_with((struct tk_worker_spec){.program = path, .threads = threads});
	run_fault(w, "", "unsupported", "no");
	finish(w, path);
	assert_int_equal(tk_file_read(file, 1 << 20, &content, NULL), 0);
	char *out = strdup(tk_buf_cstr(&content));
	tk_buf_free(&content);
	assert_int_equal(unlink(file), 0);
	free(file);
	free(text);
	return out;
}

static void the_environment_is_scrubbed(void **state)
{
	static const char *const names[] = {
	        "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS"};
	setenv("SECRET_TOKEN", "hunter2", 1);
	setenv("OMP_NUM_THREADS", "99", 1);
	setenv("UBSAN_OPTIONS", "print_stacktrace=1", 1);
	char *three = environment_of(3), *any = environment_of(0), line[64];
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(line, sizeof line, "%s=3\n", names[i]);
		assert_non_null(strstr(three, line));
		assert_null(strstr(any, names[i])); /* the library's own choice */
	}
	assert_null(strstr(three, "hunter2"));
	assert_non_null(strstr(any, "UBSAN_OPTIONS=print_stacktrace=1\n"));
	assert_non_null(strstr(any, "PATH="));
	unsetenv("SECRET_TOKEN");
	unsetenv("OMP_NUM_THREADS");
	unsetenv("UBSAN_OPTIONS");
	free(three);
	free(any);
}

static void texts_are_sent_with_their_tokens(void **state)
{
	static const uint16_t tokens[] = {0xabcd, 0, 1, 0xffff, 7};
	const struct tk_job_text text = {"book-1a2b3c4d", tokens, 5};
	struct tk_worker *w = worker_with((struct tk_worker_spec){0});
	struct tk_job_request r = request("");
	r.problem = PROBLEM ",dist=text:book-1a2b3c4d";
	run(w, &r, "failed", "the tokens of text:book-1a2b3c4d are missing");
	r.text = &text;
	run(w, &r, "ok", "");
	r.text = NULL; /* the worker keeps the last one */
	run(w, &r, "ok", "");
	r.problem = PROBLEM ",dist=text:other-1a2b3c4d";
	run(w, &r, "failed", "text:other-1a2b3c4d are missing");
	tk_worker_free(w);
}

static void freeing_is_always_possible(void **state)
{
	tk_worker_free(NULL);
	tk_worker_close_input(NULL);
	struct tk_worker *w = worker_with((struct tk_worker_spec){0});
	assert_int_equal(tk_worker_fd(w), -1);
	tk_worker_end_process(w); /* there is none */
	tk_worker_set_paused(w, true);
	tk_worker_close_input(w);
	run_fault(w, "", "ok", "");
	tk_worker_set_paused(w, true); /* a stopped one must end too */
	tk_worker_end_process(w);
	assert_int_equal(tk_worker_fd(w), -1);
	run_fault(w, "", "ok", "");
	tk_worker_close_input(w);
	run_fault(w, "", "ok", ""); /* of a new process */
	tk_worker_free(w);
	struct tk_job_result none = {.result = NULL};
	tk_job_result_free(&none);
	tk_job_result_free(NULL);
}

static void cores_that_are_not_there(void **state)
{
	struct tk_error err = {0};
	assert_int_equal(tk_cpu_list_check("0", &err), 0);
	assert_int_equal(tk_cpu_list_check("0-1000", &err), TK_EUSAGE);
	assert_non_null(strstr(err.message, "of \"0-1000\" is not available"));
	assert_int_equal(tk_cpu_list_check("0,,1", &err), TK_EUSAGE);
	assert_non_null(strstr(err.message, "is not a list of cores"));
}

static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_job_gets_a_new_process),
        cmocka_unit_test(a_closed_connection_is_no_exit_code),
        cmocka_unit_test(the_end_within_a_long_request),
        cmocka_unit_test(more_than_was_asked_for),
        cmocka_unit_test(the_end_between_two_jobs),
        cmocka_unit_test(what_fails_to_open_is_told_by_the_job),
        cmocka_unit_test(a_device_alone_is_opened),
        cmocka_unit_test(a_worker_that_is_no_worker_cannot_be_opened),
        cmocka_unit_test(questions_have_a_status_for_each_outcome),
        cmocka_unit_test(children_of_a_worker_end_with_it),
        cmocka_unit_test(the_environment_is_scrubbed),
        cmocka_unit_test(texts_are_sent_with_their_tokens),
        cmocka_unit_test(freeing_is_always_possible),
        cmocka_unit_test(cores_that_are_not_there),
};

RIG_MAIN(tests)
