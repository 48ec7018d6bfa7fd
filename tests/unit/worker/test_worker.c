/* Jobs in real processes: faults, limits, deadlines, questions. */
#include "base/clock.h"
#include "core/limits.h"
#include "worker_rig.h"
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* After each of these the same worker does an honest job. */
static void every_fault_is_one_outcome(void **state)
{
	/* clang-format off */
	static const char *const cases[][3] = {
		{"fail=segv", "crashed", "SIGSEGV"}, {"fail=segv,at=open", "crashed", "SIGSEGV"},
		{"fail=segv,at=plan", "crashed", "SIGSEGV"},
		{"fail=segv,after=30", "crashed", "SIGSEGV"},
		{"fail=abort", "crashed", "SIGABRT (Aborted)"}, {"fail=kill", "crashed", "SIGKILL"},
		{"fail=exit", "crashed", "exited with code 0 before it answered"},
		{"fail=exit,at=open", "crashed", "exited with code 0"},
		{"fail=orphan", "crashed", "SIGKILL"},
		{"fail=wire", "protocol", "cannot read the worker's answer"},
		{"fail=forge", "protocol", "the worker's answer is invalid: "},
		{"fail=print", "ok", ""},
		{"fail=lie", "wrong", "expected"}, {"fail=nan", "wrong", "is nan"},
		{"fail=idle", "wrong", "never written"},
		{"fail=late,late_s=0.05", "ok", ""}, {"fail=unsupported,at=supports", "unsupported",
			"told not to"},
		{"fail=no_memory,at=open", "out_of_memory", "open: told"},
		{"fail=no_memory,at=plan", "out_of_memory", "plan: told"},
		{"fail=device", "failed", "told that the device failed"},
		{"fail=internal,at=open", "failed", "open: told to fail inside"},
		{"fail=invalid,at=bind", "failed", "bind: told"}, {"fail=unknown_status", "failed",
			"4711"},
		{"fail=markup", "failed", "<script>alert(1)</script> \"quoted\" 'single'  ../../etc/passwd  [31m ?? %s%n"},
		{"fail=unended", "failed", "xxxxxxxx"},
		{"noise=no", "failed", "open: null: noise cannot be \"no\""},
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

/* The figures stay, so that people can see what was claimed; they are no timing. */
static void impossible_times_do_not_count(void **state)
{
	struct tk_worker *w = worker_with((struct tk_worker_spec){0});
	struct tk_limits limits = {.gflop_per_s[TK_F32] = 1e-3};
	struct tk_job_request r = request("");
	struct tk_job_result out;
	r.limits = &limits;
	assert_int_equal(tk_worker_measure(w, &r, &out, NULL), 0);
	assert_int_equal(out.outcome, TK_OUTCOME_IMPLAUSIBLE);
	assert_non_null(strstr(out.message, "in f32; this device can do at most"));
	assert_true(json_number_value(json_object_get(out.result, "median")) > 0);
	assert_string_equal(
	        json_string_value(json_object_get(out.result, "outcome")), "implausible");
	assert_string_equal(json_string_value(json_object_get(out.result, "message")), out.message);
	tk_job_result_free(&out);
	limits.gflop_per_s[TK_F32] = 1e9;
	run(w, &r, "ok", "");
	tk_worker_free(w);
}

static void deadlines_are_kept(void **state)
{
	/* clang-format off */
	static const char *const cases[] = {"fail=hang", "fail=hang,at=open", "fail=hang,at=plan",
		"fail=stop", "fail=late,late_s=30"};
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
	assert_int_equal(stat(rig_log_path, &st), 0);
	assert_true(st.st_size < 40 << 20);
	run_fault(w, "", "ok", "");
	tk_worker_free(w);
	assert_int_equal(truncate(rig_log_path, 0), 0);
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
	run(w, &r, "failed", "unknown key \"mm\"");
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

static void backends_list_their_configurations(void **state)
{
	struct tk_worker *w = worker_with((struct tk_worker_spec){0});
	struct tk_job_request r = request("");
	struct tk_error err = {0};
	json_t *answer = NULL;
	assert_int_equal(tk_worker_query_configs(w, &r, &answer, &err), 0);
	const json_t *list = json_object_get(answer, "configs");
	assert_int_equal(json_array_size(list), 3);
	assert_string_equal(json_string_value(json_array_get(list, 1)), "fast");
	json_decref(answer);
	r.problem = "gemm:m=8192,n=8192,k=8192";
	assert_int_equal(tk_worker_query_configs(w, &r, &answer, &err), TK_EUNSUPPORTED);
	r = request("fail=segv,at=supports");
	assert_int_equal(tk_worker_query_configs(w, &r, &answer, &err), TK_ECRASH);
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
		struct tk_worker_spec spec = {.program = rig_program,
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

static const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_jobs_in_one_process),
        cmocka_unit_test(a_paused_worker_answers_later),
        cmocka_unit_test(open_deadlines_count_from_the_request),
        cmocka_unit_test(every_fault_is_one_outcome),
        cmocka_unit_test(impossible_times_do_not_count),
        cmocka_unit_test(deadlines_are_kept),
        cmocka_unit_test(memory_is_limited),
        cmocka_unit_test(printing_is_limited),
        cmocka_unit_test(only_the_problem_that_is_named_fails),
        cmocka_unit_test(requests_that_cannot_be_served),
        cmocka_unit_test(another_backend_gets_a_new_process),
        cmocka_unit_test(backends_list_their_configurations),
        cmocka_unit_test(devices_describe_themselves),
        cmocka_unit_test(lists_of_cores),
};

RIG_MAIN(tests)
