/* `tracker tune`: a race of configurations, and A/B runs of its winner against the default. */
#include "compare_rig.h"

#include "detect/rules/race.h"
#include "nightly/tune/tune.h"
#include "nightly/tune/tune_race.h"

#define CONFIGS_MAX 40

static struct world_config configs[CONFIGS_MAX];

struct tuning {
	struct rig *rig;
	struct tk_tune_request request;
	struct tk_tune_report report;
};

/* The first problem has these configurations: "c0" is the default. */
static void set_configs(const double *ns, size_t count)
{
	memset(configs, 0, sizeof configs);
	for (size_t i = 0; i < count; i++) {
		snprintf(configs[i].name, sizeof configs[i].name, "c%zu", i);
		configs[i].ns = ns[i];
	}
	world.problems[0].configs = configs;
	world.problems[0].config_count = count;
}

static int tune_set_up(void **state)
{
	struct tuning *t = calloc(1, sizeof *t);
	void *rig;

	assert_non_null(t);
	set_up(&rig);
	t->rig = rig;
	request_problems(t->rig, 1);
	t->request = (struct tk_tune_request){.target = "base", .ab = t->rig->request};
	world.run_s = 1;
	*state = t;
	return 0;
}

static int tune_tear_down(void **state)
{
	struct tuning *t = *state;
	void *rig = t->rig;

	tk_tune_report_free(&t->report);
	tear_down(&rig);
	free(t);
	return 0;
}

static int tune(struct tuning *t, struct tk_error *err)
{
	tk_tune_report_free(&t->report);
	world.workers = world.verified = world.checks = 0;
	memset(world.pairs, 0, sizeof world.pairs);
	return tk_tune(&t->rig->config, &t->rig->options, &t->request, &t->report, err);
}

/* Of the only row. */
static const struct tk_tune_row *expect(
        struct tuning *t, enum tk_tune_verdict verdict, const char *chosen)
{
	MUST(tune(t, &err));
	assert_int_equal(t->report.count, 1);
	const struct tk_tune_row *row = &t->report.rows[0];
	if (row->verdict != verdict)
		fail_msg("%s", tk_tune_verdict_name(row->verdict));
	assert_int_equal(t->report.by_verdict[verdict], 1);
	assert_true(t->report.is_complete);
	if (chosen)
		assert_string_equal(row->candidates[row->chosen].config, chosen);
	else
		assert_int_equal(row->chosen, row->count);
	return row;
}

/* ---- verdicts ---- */

static void the_winner_is_confirmed(void **state)
{
	const double ns[] = {1000, 900, 1200, 2000};
	struct tuning *t = *state;

	set_configs(ns, 4);
	const struct tk_tune_row *row = expect(t, TK_TUNE_VERDICT_FASTER, "c1");
	assert_int_equal(row->winner, 1);
	assert_float_equal(row->ab.result.change, -0.1, 0.005);
	assert_float_equal(row->candidates[1].median_ns, 900, 5);
	assert_float_equal(row->candidates[0].slower, 0.11, 0.02);
	assert_float_equal(row->candidates[1].slower, 0, 1e-6);
	assert_true(row->candidates[3].is_dropped);
	assert_false(row->candidates[1].is_dropped);
	assert_true(row->candidates[3].evaluations < TK_RACE_ROUNDS_MAX);
	assert_int_equal(row->exhaustive_evaluations, 4 * TK_RACE_ROUNDS_MAX);
	assert_int_equal(row->failed, 0);
	assert_false(row->budget_spent);
	assert_int_equal(t->report.evaluations, row->evaluations);
	assert_string_equal(t->report.ab.side[TK_AB_HEAD].name, "winner");
}

static void the_default_may_be_the_fastest(void **state)
{
	const double ns[] = {900, 1000, 1100};
	struct tuning *t = *state;

	set_configs(ns, 3);
	const struct tk_tune_row *row = expect(t, TK_TUNE_VERDICT_DEFAULT, "c0");
	assert_int_equal(row->winner, 0);
	assert_int_equal(world.pairs[0], 0); /* it is not compared with itself */
	assert_int_equal(row->ab.result.count, 0);
}

/* What wins the race need not win against the default. */
static void ab_runs_have_the_last_word(void **state)
{
	const double ns[] = {1000, 900};
	struct tuning *t = *state;

	set_configs(ns, 2);
	configs[1].pair_ns = 1000;
	expect(t, TK_TUNE_VERDICT_SAME, "c0");
	configs[1].pair_ns = 1200;
	expect(t, TK_TUNE_VERDICT_SLOWER, "c0");
	t->request.no_ab = true;
	expect(t, TK_TUNE_VERDICT_UNCONFIRMED, "c1");
	assert_int_equal(world.pairs[0], 0);
}

static void wrong_configurations_are_out_of_the_race(void **state)
{
	const double ns[] = {1000, 100, 900, 50};
	struct tuning *t = *state;

	set_configs(ns, 4);
	configs[1].outcome = TK_OUTCOME_WRONG;
	configs[3].outcome = TK_OUTCOME_UNSUPPORTED;
	const struct tk_tune_row *row = expect(t, TK_TUNE_VERDICT_FASTER, "c2");
	assert_int_equal(row->candidates[1].outcome, TK_OUTCOME_WRONG);
	assert_int_equal(row->candidates[1].evaluations, 1);
	assert_string_equal(row->candidates[1].message, "as the test says");
	assert_true(isnan(row->candidates[1].median_ns));
	assert_false(row->candidates[1].is_dropped); /* it failed */
	assert_int_equal(row->failed, 1);            /* unsupported is no failure */
	assert_int_equal(t->report.failed_candidates, 1);
	assert_int_equal(row->exhaustive_evaluations, 2 * TK_RACE_ROUNDS_MAX + 2);
}

static void a_default_that_fails_is_fixed(void **state)
{
	const double ns[] = {1000, 900};
	struct tuning *t = *state;

	set_configs(ns, 2);
	configs[0].outcome = TK_OUTCOME_CRASHED;
	expect(t, TK_TUNE_VERDICT_FIXED, "c1");
	configs[1].outcome = TK_OUTCOME_CRASHED;
	expect(t, TK_TUNE_VERDICT_FAILING, NULL);
	configs[0].outcome = configs[1].outcome = TK_OUTCOME_UNSUPPORTED;
	expect(t, TK_TUNE_VERDICT_UNSUPPORTED, NULL);
}

/* Its default is measured, and how that ends is reported. */
static void a_backend_without_a_list_has_its_default(void **state)
{
	struct tuning *t = *state;

	world.list_status = TK_EUNSUPPORTED;
	const struct tk_tune_row *row = expect(t, TK_TUNE_VERDICT_DEFAULT, NULL);
	assert_int_equal(row->count, 0);
	world.list_status = TK_ECRASH;
	world.problems[0].outcome[0] = world.problems[0].outcome[1] = TK_OUTCOME_CRASHED;
	expect(t, TK_TUNE_VERDICT_FAILING, NULL);
}

/* An empty list: the backend has one way, which it does not name. */
static void an_empty_list_is_the_default(void **state)
{
	struct tuning *t = *state;

	set_configs(NULL, 0);
	MUST(tune(t, &err));
	assert_int_equal(t->report.rows[0].count, 1);
	assert_string_equal(t->report.rows[0].candidates[0].config, "default");
}

/* ---- runs ---- */

static void each_configuration_is_verified_once(void **state)
{
	const double ns[] = {900, 1000, 1100};
	struct tuning *t = *state;

	set_configs(ns, 3);
	expect(t, TK_TUNE_VERDICT_DEFAULT, "c0");
	assert_int_equal(world.verified, 3);
	assert_true(world.checks > 3);
	assert_true(world.last_check.measure_s <= 2); /* as configured, at most */
	assert_int_equal(world.workers, 1);
}

static void an_exhaustive_race_measures_everything(void **state)
{
	const double ns[] = {900, 1000, 5000};
	struct tuning *t = *state;

	set_configs(ns, 3);
	t->request.is_exhaustive = true;
	const struct tk_tune_row *row = expect(t, TK_TUNE_VERDICT_DEFAULT, "c0");
	assert_int_equal(row->evaluations, 3 * TK_RACE_ROUNDS_MAX);
	assert_int_equal(row->evaluations, row->exhaustive_evaluations);
}

/* A process takes as long to start as a dozen runs. */
static void races_of_a_backend_share_a_worker(void **state)
{
	const double ns[] = {900, 1000};
	struct tuning *t = *state;

	set_configs(ns, 2);
	for (int i = 1; i < 4; i++)
		world.problems[i] = world.problems[0];
	free(t->rig->problems[0]);
	request_problems(t->rig, 4);
	t->request.ab.problem_count = 4;
	MUST(tune(t, &err));
	assert_int_equal(t->report.count, 4);
	assert_int_equal(world.workers, 1);
}

/* ---- time ---- */

static void a_race_has_half_of_the_budget(void **state)
{
	const double ns[] = {900, 901, 902, 903, 904};
	struct tuning *t = *state;

	set_configs(ns, 5);
	t->request.ab.budget_s = 16; /* eight runs: the second round is broken off */
	const struct tk_tune_row *row = &t->report.rows[0];
	MUST(tune(t, &err));
	row = &t->report.rows[0];
	assert_int_equal(row->evaluations, 8);
	assert_true(row->budget_spent);
	assert_true(t->report.ab.budget_spent);
	assert_float_equal(row->race_s, 8, 1e-3);
	assert_true(t->report.ab.wall_s <= 18);
	t->request.no_ab = true; /* then it has all of it */
	MUST(tune(t, &err));
	assert_int_equal(t->report.rows[0].evaluations, 16);
}

static void a_default_that_leads_early_is_inconclusive(void **state)
{
	const double ns[] = {900, 1000};
	struct tuning *t = *state;

	set_configs(ns, 2);
	t->request.ab.budget_s = 4; /* one round */
	expect(t, TK_TUNE_VERDICT_INCONCLUSIVE, "c0");
}

static void later_races_get_what_is_left(void **state)
{
	const double ns[] = {900, 2000};
	struct tuning *t = *state;

	set_configs(ns, 2);
	world.problems[1] = world.problems[0];
	free(t->rig->problems[0]);
	request_problems(t->rig, 2);
	t->request.ab.problem_count = 2;
	t->request.ab.budget_s = 24;
	MUST(tune(t, &err));
	/* Each may use 6 s; the first needs less. */
	assert_true(t->report.rows[0].race_s <= 6);
	assert_true(t->report.rows[1].race_s <= 12 - t->report.rows[0].race_s);
}

/* ---- large spaces ---- */

static void make_space(void)
{
	memset(configs, 0, sizeof configs);
	for (int i = 0; i < 36; i++) {
		const int a = i % 6, b = i / 6;
		snprintf(configs[i].name, sizeof configs[i].name, "a=%d,b=%d", 1 << a, 1 << b);
		configs[i].ns = 1000 + 60 * ((a - 3) * (a - 3) + (b - 4) * (b - 4));
	}
	world.problems[0].configs = configs;
	world.problems[0].config_count = 36;
	world.is_space = true;
}

static void a_large_space_is_searched_by_a_model(void **state)
{
	struct tuning *t = *state;

	make_space();
	const struct tk_tune_row *row = expect(t, TK_TUNE_VERDICT_FASTER, "a=8,b=16");
	assert_true(row->evaluations < 36 * TK_RACE_ROUNDS_MAX / 2);
	assert_int_equal(row->exhaustive_evaluations, 36 * TK_RACE_ROUNDS_MAX);
	t->request.is_exhaustive = true;
	row = expect(t, TK_TUNE_VERDICT_FASTER, "a=8,b=16");
	assert_int_equal(row->evaluations, 36 * TK_RACE_ROUNDS_MAX);
}

static void small_spaces_and_lists_are_raced(void **state)
{
	struct tuning *t = *state;

	make_space();
	world.is_space = false;
	MUST(tune(t, &err));
	for (int i = 0; i < 36; i++)
		assert_true(t->report.rows[0].candidates[i].evaluations >= TK_RACE_ROUNDS_MIN);
	world.is_space = true;
	world.problems[0].config_count = 24;
	MUST(tune(t, &err));
	for (int i = 0; i < 24; i++)
		assert_true(t->report.rows[0].candidates[i].evaluations >= TK_RACE_ROUNDS_MIN);
}

static void what_is_no_point_of_the_space_is_an_error(void **state)
{
	struct tuning *t = *state;
	struct tk_error err = {0};

	make_space();
	strcpy(configs[7].name, "a=1");
	assert_int_equal(tune(t, &err), TK_EDATA);
	assert_non_null(strstr(err.message, "\"a=1\" is not a point of its space"));
	assert_false(t->report.is_complete);
}

/* ---- failures ---- */

static void a_stop_ends_the_tuning(void **state)
{
	const double ns[] = {1000, 900};
	struct tuning *t = *state;
	struct tk_error err = {0};

	set_configs(ns, 2);
	world.list_status = TK_ECANCELED;
	assert_int_equal(tune(t, &err), TK_ECANCELED);
	world.list_status = 0;
	world.pair_status = TK_ECANCELED;
	assert_int_equal(tune(t, &err), TK_ECANCELED);
	world.pair_status = 0;
	world.file_status = TK_EDATA; /* the backend was replaced meanwhile */
	assert_int_equal(tune(t, &err), TK_EDATA);
}

static void candidates_as_json(void **state)
{
	const double ns[] = {1000, 900, 100};
	struct tuning *t = *state;

	set_configs(ns, 3);
	configs[2].outcome = TK_OUTCOME_WRONG;
	json_t *list = tk_tune_candidates_json(expect(t, TK_TUNE_VERDICT_FASTER, "c1"));
	assert_int_equal(json_array_size(list), 3);
	const json_t *k = json_array_get(list, 2);
	assert_string_equal(json_string_value(json_object_get(k, "config")), "c2");
	assert_string_equal(json_string_value(json_object_get(k, "outcome")), "wrong");
	assert_true(json_is_null(json_object_get(k, "median_ns")));
	assert_true(json_is_null(json_object_get(k, "slower")));
	assert_int_equal(json_integer_value(json_object_get(k, "evaluations")), 1);
	k = json_array_get(list, 1);
	assert_float_equal(json_real_value(json_object_get(k, "median_ns")), 900, 5);
	json_decref(list);
}

#define TUNE_TEST(f) cmocka_unit_test_setup_teardown(f, tune_set_up, tune_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TUNE_TEST(the_winner_is_confirmed),
	        TUNE_TEST(the_default_may_be_the_fastest),
	        TUNE_TEST(ab_runs_have_the_last_word),
	        TUNE_TEST(wrong_configurations_are_out_of_the_race),
	        TUNE_TEST(a_default_that_fails_is_fixed),
	        TUNE_TEST(a_backend_without_a_list_has_its_default),
	        TUNE_TEST(an_empty_list_is_the_default),
	        TUNE_TEST(each_configuration_is_verified_once),
	        TUNE_TEST(an_exhaustive_race_measures_everything),
	        TUNE_TEST(races_of_a_backend_share_a_worker),
	        TUNE_TEST(a_race_has_half_of_the_budget),
	        TUNE_TEST(a_default_that_leads_early_is_inconclusive),
	        TUNE_TEST(later_races_get_what_is_left),
	        TUNE_TEST(a_large_space_is_searched_by_a_model),
	        TUNE_TEST(small_spaces_and_lists_are_raced),
	        TUNE_TEST(what_is_no_point_of_the_space_is_an_error),
	        TUNE_TEST(a_stop_ends_the_tuning),
	        TUNE_TEST(candidates_as_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
