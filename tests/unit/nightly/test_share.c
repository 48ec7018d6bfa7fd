/* Which of several devices of one model measures which problem (--split): a problem stays where its
 * history is, new ones go to the device with the least to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../store/history.h"
#include "core/problem.h"
#include "nightly/night.h"
#include "nightly/plan/share.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define PROBLEMS 4
#define DEVICES 3

static char cuda_name[] = "cuda";
static const struct tk_module cuda = {.name = cuda_name};

struct rig {
	struct history h;
	struct tk_night_device devices[DEVICES];
	struct tk_night night;
	struct tk_plan_problem problems[PROBLEMS];
	bool is_mine[DEVICES * PROBLEMS];
};

static int64_t add_device(struct rig *r, const char *uuid)
{
	struct tk_device_row row = {.machine_id = r->h.machine,
	        .kind = "cuda",
	        .name = "card",
	        .uuid = uuid,
	        .arch = "sm_90",
	        .slug = uuid};
	int64_t id;

	MUST(tk_store_put_device(r->h.store, &row, &id, &err));
	return id;
}

/* Three devices of one model, and four problems that take 4, 3, 2 and 1 seconds. */
static int setup(void **state)
{
	static const char *const uuids[] = {"GPU-0", "GPU-1", "GPU-2"};
	static const char *const texts[] = {
	        "fma:count=4", "fma:count=3", "fma:count=2", "fma:count=1"};
	struct rig *r = calloc(1, sizeof *r);

	assert_non_null(r);
	history_new(&r->h);
	history_fill(&r->h);
	for (int d = 0; d < DEVICES; d++) {
		r->devices[d].layer = &cuda;
		r->devices[d].device_id = add_device(r, uuids[d]);
		r->devices[d].info = json_pack("{s:s, s:s}", "name", "card", "arch", "sm_90");
	}
	for (int i = 0; i < PROBLEMS; i++) {
		struct tk_problem_row row = {.text = texts[i],
		        .op = "fma",
		        .dtype = "f32",
		        .title = texts[i],
		        .source = "",
		        .family = ""};
		MUST(tk_store_put_problem(r->h.store, &row, &r->problems[i].id, &err));
		r->problems[i].seconds = PROBLEMS - i;
	}
	r->night = (struct tk_night){
	        .store = r->h.store, .devices = r->devices, .device_count = DEVICES};
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	for (int d = 0; d < DEVICES; d++)
		json_decref(r->devices[d].info);
	history_free(&r->h);
	free(r);
	return 0;
}

static void add_series(struct rig *r, int device, int problem, enum tk_series_role role, bool timed)
{
	struct tk_series_row row = {.device_id = r->devices[device].device_id,
	        .upstream_id = r->h.upstream,
	        .problem_id = r->problems[problem].id,
	        .backend = "b",
	        .config = "",
	        .mode = "cold",
	        .metric = "time",
	        .unit = "ns",
	        .better = TK_BETTER_LOWER,
	        .role = role};
	int64_t id;

	MUST(tk_store_put_series(r->h.store, &row, &row.id, &err));
	if (!timed)
		return;
	struct tk_run_row run = {.night_id = r->h.night,
	        .seq = row.id,
	        .series_id = row.id,
	        .build_id = r->h.build,
	        .environment_id = r->h.environment,
	        .as_of_s = 1000,
	        .started_s = 1000,
	        .message = "",
	        .attributes = "{}"};
	struct tk_point point = {.series_id = row.id, .value = 5, .n = 1};
	const double *const samples[] = {NULL};
	const size_t counts[] = {0};
	MUST(tk_store_put_run(r->h.store, &run, &point, samples, counts, 1, &id, &err));
}

/* Devices by problem: "0120" gives the first and the last problem to device 0. */
static void check_share(struct rig *r, const char *expected)
{
	char got[PROBLEMS + 1] = "----";

	memset(r->is_mine, 0, sizeof r->is_mine);
	MUST(tk_plan_share_problems(&r->night, r->problems, PROBLEMS, r->is_mine, &err));
	for (int d = 0; d < (int)r->night.device_count; d++)
		for (int i = 0; i < PROBLEMS; i++) {
			if (!r->is_mine[d * PROBLEMS + i])
				continue;
			assert_int_equal(got[i], '-'); /* nobody else's */
			got[i] = (char)('0' + d);
		}
	assert_string_equal(got, expected);
}

static void new_problems_go_to_the_device_with_the_least_to_do(void **state)
{
	struct rig *r = *state;

	check_share(r, "0122");
	r->night.device_count = 2;
	check_share(r, "0110");
	r->night.device_count = 1;
	check_share(r, "0000");
}

/* The shorter half of the new problems runs at the end, where idle devices can take it over. */
static void the_shorter_half_comes_last(void **state)
{
	static const int64_t all_new[] = {0, 0, 3, 4}, two_new[] = {0, 0, 0, 2};
	struct rig *r = *state;

	check_share(r, "0122");
	for (int i = 0; i < PROBLEMS; i++) {
		assert_int_equal(r->problems[i].last, all_new[i]);
		r->problems[i].last = 0;
	}
	add_series(r, 0, 0, TK_ROLE_SUITE, true);
	add_series(r, 0, 1, TK_ROLE_SUITE, true);
	check_share(r, "0012");
	for (int i = 0; i < PROBLEMS; i++)
		assert_int_equal(r->problems[i].last, two_new[i]);
}

static void a_problem_stays_where_its_history_is(void **state)
{
	struct rig *r = *state;

	add_series(r, 2, 0, TK_ROLE_SUITE, true);
	check_share(r, "2011");
	add_series(r, 1, 3, TK_ROLE_SUITE, true);
	check_share(r, "2011");
	add_series(r, 2, 1, TK_ROLE_SUITE, true);
	check_share(r, "2201");
}

/* A series without points was planned there and measured by another device. */
static void points_are_a_stronger_claim_than_a_series(void **state)
{
	struct rig *r = *state;

	add_series(r, 1, 0, TK_ROLE_SUITE, false);
	check_share(r, "1022");
	add_series(r, 2, 0, TK_ROLE_SUITE, true);
	check_share(r, "2011");
}

static void controls_are_no_claim(void **state)
{
	struct rig *r = *state;

	add_series(r, 2, 0, TK_ROLE_CONTROL, true);
	check_share(r, "0122");
}

/* Every model measures every problem. */
static void another_model_shares_by_itself(void **state)
{
	struct rig *r = *state;

	json_object_set_new(r->devices[1].info, "name", json_string("other card"));
	MUST(tk_plan_share_problems(&r->night, r->problems, PROBLEMS, r->is_mine, &err));
	static const bool expected[DEVICES][PROBLEMS] = {
	        {true, false, false, true}, {true, true, true, true}, {false, true, true, false}};
	assert_memory_equal(r->is_mine, expected, sizeof expected);
}

static void estimates_grow_with_the_work(void **state)
{
	struct tk_problem_spec p;

	(void)state;
	assert_int_equal(tk_problem_parse(&p, "gemm:m=1,n=1,k=1", NULL), 0);
	assert_float_equal(tk_plan_estimate_seconds(&p), 0.6, 1e-3); /* set-up */
	/* f16, 8 TFLOP: 10 ms a launch, 25 bursts with gaps of seven times their length */
	assert_int_equal(tk_problem_parse(&p, "gemm:m=20000,n=20000,k=10000,a=f16", NULL), 0);
	assert_float_equal(
	        tk_plan_estimate_seconds(&p), 0.6 + tk_problem_bytes(&p) / 1e9 + 25 * 0.08, 1e-6);
	/* f32 is sixteen times slower: the gaps end at 100 ms */
	assert_int_equal(tk_problem_parse(&p, "gemm:m=20000,n=20000,k=10000", NULL), 0);
	assert_float_equal(
	        tk_plan_estimate_seconds(&p), 0.6 + tk_problem_bytes(&p) / 1e9 + 25 * 0.26, 1e-6);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(new_problems_go_to_the_device_with_the_least_to_do),
	        TEST(the_shorter_half_comes_last),
	        TEST(a_problem_stays_where_its_history_is),
	        TEST(points_are_a_stronger_claim_than_a_series),
	        TEST(controls_are_no_claim),
	        TEST(another_model_shares_by_itself),
	        cmocka_unit_test(estimates_grow_with_the_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
