/* Two workers that measure on one device by turns, each of them a real process. */
#include "base/device_token.h"
#include "base/file.h"
#include "worker_rig.h"
#include <poll.h>
#include <unistd.h>

/* The requests of the two workers of an A/B pair. */
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
	char *options[2] = {NULL, NULL}, *path = tk_path_join(rig_folder, "alone");
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
	measure_two(&(struct two){.options = {"noise=0", "noise=0,fail=late,late_s=2,at=open"},
	                    .wait_s = 0.8},
	        out);
	assert_as_many(out);
}

static void a_worker_continues_without_its_peer(void **state)
{
	/* clang-format off */
	static const char *const faults[][3] = {{"fail=kill", "", "crashed"},
		{"fail=segv,after=30", "", "crashed"},
	        {"fail=exit,at=open", "", "crashed"}, {"fail=no_memory,at=plan", "",
	        	"out_of_memory"},
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
	        &(struct two){.options = {"noise=0", "noise=0,fail=stop,after=30"}, .wait_s = 0.8},
	        out);
	assert_outcome(&out[0], "ok");
	assert_outcome(&out[1], "failed");
	assert_non_null(strstr(out[1].message, "went on alone"));
	tk_job_result_free(&out[0]);
	tk_job_result_free(&out[1]);
}

static const struct CMUnitTest tests[] = {
        cmocka_unit_test(bursts_of_a_pair_alternate),
        cmocka_unit_test(a_worker_waits_for_its_peer_to_start),
        cmocka_unit_test(a_worker_continues_without_its_peer),
};

RIG_MAIN(tests)
