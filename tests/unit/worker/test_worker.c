/* Jobs in real processes. This program is its own worker: started as `... worker` it serves.
 * Programs that only claim to be workers are shell scripts made here. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/device_token.h"
#include "base/error.h"
#include "base/file.h"
#include "worker/worker.h"
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define NULL_DEVICE TK_MODULES "/tk_device_null.so"
#define NULL_BACKEND TK_MODULES "/tk_backend_null.so"
#define PROBLEM "gemm:m=16,n=16,k=16"

static char *folder, *self, *log_path;

static struct tk_worker *worker_with(struct tk_worker_spec spec)
{
	struct tk_worker *w = NULL;
	struct tk_error err = {0};
	spec.program = spec.program ? spec.program : self;
	spec.device_kind = spec.device_kind ? spec.device_kind : "null";
	spec.device_layer = spec.device_layer ? spec.device_layer : NULL_DEVICE;
	spec.log_path = log_path;
	if (tk_worker_new(&spec, &w, &err))
		fail_msg("%s", err.message);
	return w;
}

static struct tk_job_request request(const char *options)
{
	return (struct tk_job_request){.backend_path = NULL_BACKEND,
	        .backend_options = options,
	        .problem = PROBLEM,
	        .mode = "cold",
	        .seed = 1,
	        .deadline_s = 60,
	        .measure_s = 1,
	        .relative_half_width = 0.01,
	        .confidence = 0.95,
	        .min_samples = 10,
	        .max_samples = 20,
	        .verify = true};
}

static void run(struct tk_worker *w, const struct tk_job_request *r, const char *outcome,
        const char *message)
{
	struct tk_job_result out;
	struct tk_error err = {0};
	if (tk_worker_measure(w, r, &out, &err))
		fail_msg("%s: %s", r->backend_options, err.message);
	if (strcmp(tk_outcome_name(out.outcome), outcome) != 0 || !strstr(out.message, message))
		fail_msg("%s: %s: \"%s\", expected %s: \"%s\"", r->backend_options,
		        tk_outcome_name(out.outcome), out.message, outcome, message);
	assert_true(tk_outcome_has_timing(out.outcome) ==
	            (out.result && json_object_get(out.result, "median")));
	assert_true(out.wall_s > 0);
	tk_job_result_free(&out);
}

static void run_fault(
        struct tk_worker *w, const char *options, const char *outcome, const char *message)
{
	struct tk_job_request r = request(options);
	run(w, &r, outcome, message);
}

static void many_jobs_in_one_process(void **state)
{
	struct tk_worker *w = worker_with((struct tk_worker_spec){0});
	for (int i = 0; i < 5; i++)
		run_fault(w, i % 2 ? "noise=0" : "seed=4", "ok", "");
	tk_worker_free(w);
}

/* What is asked of a worker that is stopped waits until it goes on. */
static void a_paused_worker_answers_later(void **state)
{
	struct tk_worker *w = worker_with((struct tk_worker_spec){0});
	struct tk_job_request r = request("noise=0");
	struct tk_job_result out = {0};
	bool done = false;
	assert_int_equal(tk_worker_start_open(w, r.backend_path, r.backend_options,
	                         TK_WORKER_OPEN_TIMEOUT_S, NULL),
	        0);
	assert_int_equal(tk_worker_wait_open(w, NULL), 0);
	tk_worker_set_paused(w, true);
	assert_int_equal(tk_worker_start_measure(w, &r, NULL), 0);
	struct pollfd answer = {.fd = tk_worker_fd(w), .events = POLLIN};
	assert_int_equal(poll(&answer, 1, 300), 0);
	assert_int_equal(tk_worker_poll_measure(w, &done, &out, NULL), 0);
	assert_false(done);
	tk_worker_set_paused(w, false);
	while (!done) {
		assert_int_equal(poll(&answer, 1, 30000), 1);
		assert_int_equal(tk_worker_poll_measure(w, &done, &out, NULL), 0);
	}
	assert_string_equal(tk_outcome_name(out.outcome), "ok");
	tk_job_result_free(&out);
	tk_worker_free(w);
}

/* Several that hang cost one deadline, not one each: it counts from when they were sent for, and
 * not from when somebody waits for them. */
static void open_deadlines_count_from_the_request(void **state)
{
	struct tk_worker *w = worker_with((struct tk_worker_spec){0});
	assert_int_equal(
	        tk_worker_start_open(w, NULL_BACKEND, "fail=late,at=open,late_s=3.2", 2, NULL), 0);
	int64_t begun = tk_clock_monotonic_ns();
	poll(NULL, 0, 2100);
	bool early = tk_clock_monotonic_ns() - begun <
	             INT64_C(2600000000); /* else it may have been opened by now */
	assert_int_equal(tk_worker_wait_open(w, NULL), 0);
	if (early)
		assert_int_equal(tk_worker_fd(w), -1);
	run_fault(w, "seed=4", "ok", "");
	tk_worker_free(w);
}

/* What each of two workers of an A/B pair is told. */
struct two {
	const char *options[2], *config /* of the second one */, *mode;
	double wait_s;
};

/* A worker that stops itself goes on when the first one is done. */
static void measure_two(const struct two *t, struct tk_job_result out[2])
{
	int ends[2];
	struct tk_worker *w[2];
	bool done[2] = {false, false};
	assert_int_equal(tk_device_token_new_pair(ends, NULL), 0);
	for (int i = 0; i < 2; i++) {
		struct tk_job_request r = request(t->options[i]);
		r.mode = t->mode ? t->mode : "paced";
		r.config = i == 1 ? t->config : NULL;
		r.token_wait_s = t->wait_s > 0 ? t->wait_s : 30;
		w[i] = worker_with((struct tk_worker_spec){.token_fd = ends[i]});
		assert_int_equal(tk_worker_start_measure(w[i], &r, NULL), 0);
		out[i] = (struct tk_job_result){.outcome = TK_OUTCOME_FAILED};
	}
	close(ends[0]);
	close(ends[1]);
	for (int i = 0; !(done[0] && done[1]); i = !i) {
		struct pollfd answer = {.fd = tk_worker_fd(w[i]), .events = POLLIN};
		if (done[i])
			continue;
		poll(&answer, 1, 20);
		assert_int_equal(tk_worker_poll_measure(w[i], &done[i], &out[i], NULL), 0);
		if (i == 0 && done[i])
			tk_worker_set_paused(w[1], false);
	}
	tk_worker_free(w[0]);
	tk_worker_free(w[1]);
}

static void assert_outcome(const struct tk_job_result *r, const char *outcome)
{
	if (strcmp(tk_outcome_name(r->outcome), outcome) != 0)
		fail_msg("%s: \"%s\", expected %s", tk_outcome_name(r->outcome), r->message,
		        outcome);
}

static long long samples_of(const struct tk_job_result *r)
{
	return json_integer_value(json_object_get(r->result, "n"));
}

/* The second one passes the token on for the last time when the first one knows already that it has
 * enough. */
static void assert_as_many(struct tk_job_result out[2])
{
	assert_outcome(&out[0], "ok");
	assert_outcome(&out[1], "ok");
	assert_in_range(samples_of(&out[0]), samples_of(&out[1]), samples_of(&out[1]) + 10);
	tk_job_result_free(&out[0]);
	tk_job_result_free(&out[1]);
}

/* Each of them fails where the other one has the device between its own idle gap, or block, and the
 * end of its burst. */
static void bursts_of_a_pair_alternate(void **state)
{
	static const char *const modes[] = {"paced", "loaded", "cold"};
	struct tk_job_result out[2];
	char *options[2] = {NULL, NULL}, *path = tk_path_join(folder, "alone");
	assert_true(asprintf(&options[0], "seed=1,alone=%s", path) > 0);
	assert_true(asprintf(&options[1], "seed=2,slow=1.5,alone=%s", path) > 0);
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		measure_two(
		        &(struct two){.options = {options[0], options[1]}, .mode = modes[i]}, out);
		assert_outcome(&out[0], "ok");
		assert_outcome(&out[1], "ok");
		/* the device counts what both take */
		assert_true(json_is_null(json_object_get(out[0].result, "energy_j")));
		assert_true(strcmp(modes[i], "cold") == 0 || samples_of(&out[1]) >= 60);
		assert_as_many(out);
	}
	free(options[0]);
	free(options[1]);
	free(path);
}

static void a_worker_waits_for_its_peer_to_start(void **state)
{
	struct tk_job_result out[2];
	measure_two(&(struct two){.options = {"noise=0", "noise=0,fail=late,late_s=1,at=open"},
	                    .wait_s = 0.2},
	        out);
	assert_as_many(out);
}

static void a_worker_continues_without_its_peer(void **state)
{
	/* clang-format off */
	static const char *const faults[][3] = {{"fail=kill", "", "crashed"}, {"fail=segv,after=30", "", "crashed"},
	        {"fail=exit,at=open", "", "crashed"}, {"fail=no_memory,at=plan", "", "out_of_memory"},
	        {"fail=unsupported,at=open", "", "unsupported"}, /* its process stays */
	        {"fail=child,at=open", "fail=unsupported,at=plan", "unsupported"}};
	/* clang-format on */
	struct tk_job_result out[2];
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		measure_two(
		        &(struct two){.options = {"noise=0", faults[i][0]}, .config = faults[i][1]},
		        out);
		assert_outcome(&out[0], "ok");
		assert_outcome(&out[1], faults[i][2]);
		tk_job_result_free(&out[0]);
		tk_job_result_free(&out[1]);
	}
	measure_two(
	        &(struct two){.options = {"noise=0", "noise=0,fail=stop,after=30"}, .wait_s = 0.2},
	        out);
	assert_outcome(&out[0], "ok");
	assert_outcome(&out[1], "failed");
	assert_non_null(strstr(out[1].message, "went on alone"));
	tk_job_result_free(&out[0]);
	tk_job_result_free(&out[1]);
}

/* After each of these the same worker does an honest job. */
static void every_fault_is_one_outcome(void **state)
{
	/* clang-format off */
	static const char *const cases[][3] = {
		{"fail=segv", "crashed", "SIGSEGV"}, {"fail=segv,at=open", "crashed", "SIGSEGV"}, {"fail=segv,at=plan", "crashed", "SIGSEGV"},
		{"fail=segv,after=30", "crashed", "SIGSEGV"}, {"fail=abort", "crashed", "SIGABRT (Aborted)"}, {"fail=kill", "crashed", "SIGKILL"},
		{"fail=exit", "crashed", "exited with code 0 before it answered"}, {"fail=exit,at=open", "crashed", "exited with code 0"},
		{"fail=orphan", "crashed", "SIGKILL"}, {"fail=wire", "protocol", "cannot read the worker's answer"},
		{"fail=forge", "protocol", "the worker's answer is invalid: "}, {"fail=print", "ok", ""},
		{"fail=lie", "wrong", "expected"}, {"fail=nan", "wrong", "is nan"}, {"fail=idle", "wrong", "never written"},
		{"fail=late,late_s=0.05", "ok", ""}, {"fail=unsupported,at=supports", "unsupported", "told not to"},
		{"fail=no_memory,at=open", "out_of_memory", "open: told"}, {"fail=no_memory,at=plan", "out_of_memory", "plan: told"},
		{"fail=device", "failed", "told that the device failed"}, {"fail=internal,at=open", "failed", "open: told to fail inside"},
		{"fail=invalid,at=bind", "failed", "bind: told"}, {"fail=unknown_status", "failed", "4711"},
		{"fail=markup", "failed", "<script>alert(1)</script> \"quoted\" 'single'  ../../etc/passwd  [31m ?? %s%n"},
		{"fail=unended", "failed", "xxxxxxxx"}, {"noise=no", "failed", "open: null: noise cannot be `no`"},
	};
	/* clang-format on */
	struct tk_worker *w = worker_with((struct tk_worker_spec){0});
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		run_fault(w, cases[i][0], cases[i][1], cases[i][2]);
		if (i % 3 == 0)
			run_fault(w, "", "ok", "");
	}
	run_fault(w, "", "ok", "");
	tk_worker_free(w);
}

static void deadlines_are_kept(void **state)
{
	/* clang-format off */
	static const char *const cases[] = {"fail=hang", "fail=hang,at=open", "fail=hang,at=plan", "fail=stop", "fail=late,late_s=30"};
	/* clang-format on */
	struct tk_worker *w = worker_with((struct tk_worker_spec){0});
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_job_request r = request(cases[i]);
		r.deadline_s = 0.4;
		run(w, &r, "timeout", "no answer after 0.4 s: killed");
	}
	run_fault(w, "", "ok", "");
	tk_worker_free(w);
}

static void memory_is_limited(void **state)
{
	struct tk_worker *w = worker_with((struct tk_worker_spec){.memory_limit_bytes = 400 << 20});
	run_fault(w, "fail=eat", "out_of_memory", "the limit is 0.4 GiB: killed");
	run_fault(w, "", "ok", "");
	tk_worker_free(w);
}

static void printing_is_limited(void **state)
{
	struct tk_worker *w = worker_with((struct tk_worker_spec){0});
	struct stat st;
	run_fault(w, "fail=flood", "failed", "printed more than 64 MiB");
	assert_int_equal(stat(log_path, &st), 0);
	assert_true(st.st_size < 40 << 20);
	run_fault(w, "", "ok", "");
	tk_worker_free(w);
	assert_int_equal(truncate(log_path, 0), 0);
}

static void only_the_problem_that_is_named_fails(void **state)
{
	struct tk_worker *w = worker_with((struct tk_worker_spec){0});
	struct tk_job_request r = request("fail=segv,only=m=17");
	run(w, &r, "ok", "");
	r.problem = "gemm:m=17,n=16,k=16";
	run(w, &r, "crashed", "SIGSEGV");
	r.backend_options = "";
	r.config = "fail=abort,at=plan";
	run(w, &r, "crashed", "SIGABRT");
	tk_worker_free(w);
}

static void requests_that_cannot_be_served(void **state)
{
	struct tk_worker *w = worker_with((struct tk_worker_spec){0});
	struct tk_job_request r = request("");
	r.problem = "gemm:mm=3";
	run(w, &r, "failed", "unknown key `mm`");
	r.problem = PROBLEM;
	r.backend_path = TK_MODULES "/no_such.so";
	run(w, &r, "failed", "cannot load ");
	r.backend_path = NULL_DEVICE;
	run(w, &r, "failed", "is not a backend: it does not export tk_backend_entry");
	r.backend_path = TK_MODULES "/tk_backend_reference.so";
	run(w, &r, "failed",
	        "backend reference needs a device of kind cpu, this one is of kind null");
	r.backend_path = NULL_BACKEND;
	r.problem = "\xff\xfe";
	run(w, &r, "failed", "the request has no \"problem\"");
	tk_worker_free(w);
	w = worker_with((struct tk_worker_spec){.device_index = 7});
	r = request("");
	run(w, &r, "no_device", "no device 7 of kind null: found 2");
	tk_worker_free(w);
	w = worker_with((struct tk_worker_spec){.device_layer = NULL_BACKEND});
	run(w, &r, "no_device", "is not a device layer: it does not export tk_device_entry");
	tk_worker_free(w);
}

static void another_backend_gets_a_new_process(void **state)
{
	struct tk_worker *w = worker_with((struct tk_worker_spec){
	        .device_kind = "cpu", .device_layer = TK_MODULES "/tk_device_cpu.so"});
	struct tk_job_request r = request("");
	json_t *about = NULL;
	struct tk_error err = {0};
	r.backend_path = TK_MODULES "/tk_backend_reference.so";
	r.mode = "hot";
	r.relative_half_width = 10;
	run(w, &r, "ok", "");
	assert_int_equal(tk_worker_query_backend(w, NULL_BACKEND, &about, &err),
	        0); /* loaded without its device */
	assert_string_equal(json_string_value(json_object_get(about, "name")), "null");
	assert_string_equal(json_string_value(json_object_get(about, "device_kind")), "null");
	json_decref(about);
	run(w, &r, "ok", "");
	tk_worker_free(w);
}

static void devices_describe_themselves(void **state)
{
	json_t *d = NULL;
	struct tk_error err = {0};
	struct tk_worker *w = worker_with((struct tk_worker_spec){.device_kind = "cpu",
	        .device_layer = TK_MODULES "/tk_device_cpu.so",
	        .cpu_list = "0"});
	if (tk_worker_query_device(w, &d, &err))
		fail_msg("%s", err.message);
	assert_string_equal(json_string_value(json_object_get(d, "kind")), "cpu");
	assert_true(json_integer_value(json_object_get(d, "cache_bytes")) > 0);
	/* A level that is there has room, and each more than twice the one before. */
	const json_t *bytes, *resident = json_object_get(d, "resident_bytes");
	const char *level;
	json_int_t inner = 0;
	json_object_foreach ((json_t *)(uintptr_t)resident, level, bytes) {
		assert_true(json_integer_value(bytes) >= 2 * inner &&
		            json_integer_value(bytes) % 512 == 0);
		inner = json_integer_value(bytes);
	}
	assert_int_equal(json_integer_value(json_object_get(d, "compute_units")),
	        1); /* pinned to one core */
	assert_int_equal(json_integer_value(json_object_get(d, "count")), 1);
	assert_non_null(json_object_get(json_object_get(d, "attributes"), "kernel"));
	json_decref(d);
	tk_worker_free(w);
	w = worker_with((struct tk_worker_spec){.device_layer = "/no/such.so"});
	assert_int_equal(tk_worker_query_device(w, &d, &err), TK_ENOTFOUND);
	assert_non_null(strstr(err.message, "cannot load /no/such.so"));
	tk_worker_free(w);
}

static void lists_of_cores(void **state)
{
	static const char *const bad[] = {
	        "", "x", "1-", "3-1", "1,,2", "0-99999", "-1", "1 ", "0,"};
	struct tk_error err = {0};
	struct tk_worker *w = NULL;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct tk_worker_spec spec = {.program = self,
		        .device_kind = "null",
		        .device_layer = NULL_DEVICE,
		        .cpu_list = bad[i]};
		assert_int_equal(tk_worker_new(&spec, &w, &err), TK_EUSAGE);
		assert_non_null(strstr(err.message, "is not a list of cores"));
	}
	w = worker_with((struct tk_worker_spec){.cpu_list = "1023"});
	struct tk_job_request r = request("");
	struct tk_job_result out;
	assert_int_not_equal(tk_worker_measure(w, &r, &out, &err), 0);
	assert_non_null(strstr(err.message, "its cores"));
	tk_worker_free(w);
}

/* ---- programs that are no workers ---- */

static char *script(const char *name, const char *text)
{
	char *path = tk_path_join(folder, name);
	struct tk_buf b = TK_BUF_INIT;
	tk_buf_add_printf(&b, "#!/bin/sh\n%s\n", text);
	assert_int_equal(tk_file_write(path, b.data, b.len, NULL), 0);
	assert_int_equal(chmod(path, 0755), 0);
	tk_buf_free(&b);
	return path;
}

#define HELLO "echo '{\"hello\":\"tracker-worker\",\"protocol\":2}'; read line; "

static void programs_that_are_not_workers(void **state)
{
	/* clang-format off */
	static const char *const cases[][2] = {{"exit 3", "does not work as a worker: the worker exited with code 3"},
		{"echo hello", "cannot read"}, {"echo '{}'; sleep 60", "speaks version 0"},
		{"echo '{\"hello\":\"tracker-worker\",\"protocol\":99}'; sleep 60", "speaks version 99 of the worker protocol, expected 2"},
		{"echo 'no such library' >&2; exit 127", "code 127 before it answered: no such library"}};
	/* clang-format on */
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *path = script("no-worker", cases[i][0]);
		struct tk_worker *w = worker_with((struct tk_worker_spec){.program = path});
		struct tk_job_request r = request("");
		struct tk_job_result out;
		struct tk_error err = {0};
		assert_int_not_equal(tk_worker_measure(w, &r, &out, &err), 0);
		if (!strstr(err.message, cases[i][1]))
			fail_msg("%s: %s", cases[i][0], err.message);
		tk_worker_free(w);
		free(path);
	}
	struct tk_worker *w = worker_with((struct tk_worker_spec){.program = "/no/such/program"});
	struct tk_job_request r = request("");
	struct tk_job_result out;
	struct tk_error err = {0};
	assert_int_equal(tk_worker_measure(w, &r, &out, &err), TK_ENOTFOUND);
	assert_non_null(strstr(err.message, "the worker cannot be started (/no/such/program"));
	tk_worker_free(w);
}

static void workers_that_send_garbage(void **state)
{
	/* clang-format off */
	static const char *const cases[][3] = {
		{HELLO "printf '{\"id\":1,\"ok\":tr'; exit 0", "crashed", "exited with code 0"},
		{HELLO "printf '{\"id\":1,\"ok\":tr\\n'; sleep 60", "protocol", "answer: invalid JSON"},
		{HELLO "head -c 17000000 /dev/zero | tr '\\0' x; sleep 60", "protocol", "more than 16777216 bytes"},
		{HELLO "head -c 100000 /dev/zero | tr '\\0' '['; echo; sleep 60", "protocol", "nested deeper than 16"},
		{HELLO "echo '{\"id\":1,\"ok\":true,\"result\":{\"outcome\":\"ok\",\"message\":\"\",\"samples\":[NaN]}}'; sleep 60", "protocol", "invalid JSON"},
		{HELLO "echo '{\"id\":1,\"ok\":true,\"result\":{\"outcome\":\"ok\",\"message\":\"\",\"samples\":\"x\"}}'; sleep 60", "protocol", "samples is not an array"},
		{HELLO "echo '{\"id\":2,\"ok\":true,\"result\":{}}'; sleep 60", "protocol", "not an answer to request 1"},
		{HELLO "echo '{\"id\":1,\"ok\":false,\"outcome\":\"failed\",\"message\":\"no\"}'; sleep 60", "failed", "no"},
		{HELLO "echo last words >&2; kill -SEGV $$", "crashed", "SIGSEGV (Segmentation fault): last words"},
		{HELLO "sleep 60 & exec >&-; exit 1", "crashed", "exited with code 1"},
		{HELLO "sleep 60 & exit 1", "crashed", "exited with code 1"},
	};
	/* clang-format on */
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *path = script("babbler", cases[i][0]);
		struct tk_worker *w = worker_with((struct tk_worker_spec){.program = path});
		struct tk_job_request r = request(cases[i][0]);
		run(w, &r, cases[i][1], cases[i][2]);
		tk_worker_free(w);
		free(path);
	}
}

static void a_request_that_nobody_reads(void **state)
{
	char *path =
	        script("deaf", "echo '{\"hello\":\"tracker-worker\",\"protocol\":2}'; sleep 60");
	struct tk_worker *w = worker_with((struct tk_worker_spec){.program = path});
	char *options = malloc(300000);
	memset(options, 'x', 299999);
	options[299999] = 0;
	struct tk_job_request r = request(options);
	r.deadline_s = 0.3;
	run(w, &r, "timeout", "no answer after 0.3 s");
	tk_worker_free(w);
	free(options);
	free(path);
}

static int set_up(void **state)
{
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	if (n < 0 || tk_dir_create_temp("/tmp", "tracker-worker-test", &folder, NULL))
		return -1;
	exe[n] = 0;
	self = strdup(exe);
	log_path = tk_path_join(folder, "log");
	/* crashes shall be crashes, also where this program is built with AddressSanitizer */
	return setenv(
	        "ASAN_OPTIONS", "handle_segv=0:handle_sigbus=0:handle_abort=0:detect_leaks=0", 1);
}

static int tear_down(void **state)
{
	int status = tk_dir_remove(folder, NULL);
	free(folder);
	free(self);
	free(log_path);
	return status;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "worker") == 0)
		return tk_worker_serve(STDIN_FILENO, STDOUT_FILENO);
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_jobs_in_one_process), cmocka_unit_test(every_fault_is_one_outcome),
		cmocka_unit_test(deadlines_are_kept), cmocka_unit_test(memory_is_limited), cmocka_unit_test(printing_is_limited),
		cmocka_unit_test(only_the_problem_that_is_named_fails), cmocka_unit_test(requests_that_cannot_be_served),
		cmocka_unit_test(another_backend_gets_a_new_process), cmocka_unit_test(devices_describe_themselves),
		cmocka_unit_test(lists_of_cores), cmocka_unit_test(programs_that_are_not_workers), cmocka_unit_test(workers_that_send_garbage),
		cmocka_unit_test(a_request_that_nobody_reads), cmocka_unit_test(a_paused_worker_answers_later), cmocka_unit_test(open_deadlines_count_from_the_request),
		cmocka_unit_test(bursts_of_a_pair_alternate), cmocka_unit_test(a_worker_waits_for_its_peer_to_start), cmocka_unit_test(a_worker_continues_without_its_peer),
	};
	/* clang-format on */
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
