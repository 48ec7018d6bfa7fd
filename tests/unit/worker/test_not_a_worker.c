/* Programs that only claim to be workers: shell scripts that say nothing, or anything. */
#include "worker_rig.h"

static void programs_that_are_not_workers(void **state)
{
	/* clang-format off */
	static const char *const cases[][2] =
	{{"exit 3", "does not work as a worker: the worker exited with code 3"},
		{"echo hello", "cannot read"}, {"echo '{}'; sleep 60", "speaks version 0"},
		{"echo '{\"hello\":\"tracker-worker\",\"protocol\":99}'; sleep 60",
			"speaks version 99 of the worker protocol, expected 2"},
		{"echo 'no such library' >&2; exit 127",
			"code 127 before it answered: no such library"}};
	/* clang-format on */
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *path = fake_worker("no-worker", cases[i][0]);
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
		{FAKE_HELLO "printf '{\"id\":1,\"ok\":tr'; exit 0", "crashed",
			"exited with code 0"},
		{FAKE_HELLO "printf '{\"id\":1,\"ok\":tr\\n'; sleep 60", "protocol",
			"answer: invalid JSON"},
		{FAKE_HELLO "head -c 17000000 /dev/zero | tr '\\0' x; sleep 60", "protocol",
			"more than 16777216 bytes"},
		{FAKE_HELLO "head -c 100000 /dev/zero | tr '\\0' '['; echo; sleep 60", "protocol",
			"nested deeper than 16"},
		{FAKE_HELLO "echo '{\"id\":1,\"ok\":true,\"result\":{\"outcome\":\"ok\",\"message\":\"\",\"samples\":[NaN]}}'; sleep 60", "protocol", "invalid JSON"},
		{FAKE_HELLO "echo '{\"id\":1,\"ok\":true,\"result\":{\"outcome\":\"ok\",\"message\":\"\",\"samples\":\"x\"}}'; sleep 60", "protocol", "samples is not an array"},
		{FAKE_HELLO "echo '{\"id\":2,\"ok\":true,\"result\":{}}'; sleep 60", "protocol",
			"not an answer to request 1"},
		{FAKE_HELLO "echo '{\"id\":1,\"ok\":false,\"outcome\":\"failed\",\"message\":\"no\"}'; sleep 60", "failed", "no"},
		{FAKE_HELLO "echo last words >&2; kill -SEGV $$", "crashed",
			"SIGSEGV (Segmentation fault): last words"},
		{FAKE_HELLO "sleep 60 & exec >&-; exit 1", "crashed", "exited with code 1"},
		{FAKE_HELLO "sleep 60 & exit 1", "crashed", "exited with code 1"},
	};
	/* clang-format on */
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *path = fake_worker("babbler", cases[i][0]);
		struct tk_worker *w = worker_with((struct tk_worker_spec){.program = path});
		struct tk_job_request r = request(cases[i][0]);
		run(w, &r, cases[i][1], cases[i][2]);
		tk_worker_free(w);
		free(path);
	}
}

static void a_request_that_nobody_reads(void **state)
{
	char *path = fake_worker("deaf", FAKE_HELLO_ALONE "sleep 60");
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

static const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_that_are_not_workers),
        cmocka_unit_test(workers_that_send_garbage),
        cmocka_unit_test(a_request_that_nobody_reads),
};

RIG_MAIN(tests)
