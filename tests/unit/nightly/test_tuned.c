/* Which stored result of `tracker tune` a series with `config: tuned` uses. */
#include "../store/history.h"

#include <math.h>
#include <string.h>

#include "nightly/tune/tuned.h"

static struct tk_tuning_row result(const struct history *h, int64_t started_s,
        enum tk_tune_verdict verdict, const char *config)
{
	struct tk_tuning_row row = history_tuning_row(h, started_s);

	row.options = "";
	row.verdict = verdict;
	row.config = row.winner = config;
	return row;
}

static void put(struct history *h, struct tk_tuning_row row)
{
	int64_t id;

	MUST(tk_store_put_tuning(h->store, &row, &id, &err));
}

static struct tk_series_row series_of(const struct history *h)
{
	return (struct tk_series_row){.device_id = h->device,
	        .upstream_id = h->upstream,
	        .problem_id = h->problem,
	        .backend = "blas",
	        .config = TK_TUNE_CONFIG,
	        .mode = "cold"};
}

/* "": none is used. */
static void expect_config(struct history *h, const struct tk_series_row *series,
        const char *options, const char *expected)
{
	struct tk_tuned_results r;

	MUST(tk_tuned_load(h->store, &r, &err));
	const struct tk_tuning_row *found = tk_tuned_find(&r, series, options);
	assert_string_equal(found ? found->config : "", expected);
	tk_tuned_free(&r);
}

static void the_newest_decided_result_is_used(void **state)
{
	struct history *h = *state;
	const struct tk_series_row series = series_of(h);

	expect_config(h, &series, "", "");
	put(h, result(h, 100, TK_TUNE_VERDICT_FASTER, "old"));
	expect_config(h, &series, "", "old");
	put(h, result(h, 200, TK_TUNE_VERDICT_DEFAULT, "new"));
	expect_config(h, &series, "", "new");
	put(h, result(h, 300, TK_TUNE_VERDICT_INCONCLUSIVE, "open"));
	expect_config(h, &series, "", "new"); /* it stays in use */
	put(h, result(h, 400, TK_TUNE_VERDICT_FAILING, ""));
	expect_config(h, &series, "", ""); /* no configuration works */
}

static void results_are_of_one_place(void **state)
{
	struct history *h = *state;
	struct tk_series_row series = series_of(h);

	put(h, result(h, 100, TK_TUNE_VERDICT_FASTER, "fast"));
	series.backend = "other";
	expect_config(h, &series, "", "");
	series = series_of(h);
	series.problem_id++;
	expect_config(h, &series, "", "");
	series = series_of(h);
	series.device_id++;
	expect_config(h, &series, "", "");
	series = series_of(h);
	series.upstream_id++;
	expect_config(h, &series, "", "");
	series = series_of(h);
	expect_config(h, &series, "threads=1", ""); /* of other options */
	expect_config(h, &series, "", "fast");
}

/* The mode of the series, where a result of it exists. */
static void the_mode_of_the_series_is_preferred(void **state)
{
	struct history *h = *state;
	struct tk_series_row series = series_of(h);
	struct tk_tuning_row hot = result(h, 100, TK_TUNE_VERDICT_FASTER, "of hot");

	hot.mode = "hot";
	put(h, hot);
	expect_config(h, &series, "", "of hot");
	put(h, result(h, 50, TK_TUNE_VERDICT_FASTER, "of cold"));
	expect_config(h, &series, "", "of cold");
	series.mode = "hot";
	expect_config(h, &series, "", "of hot");
	series.mode = "paced"; /* neither: the newest */
	expect_config(h, &series, "", "of hot");
}

static void the_newest_result_may_be_open(void **state)
{
	struct history *h = *state;
	const struct tk_series_row series = series_of(h);
	struct tk_tuned_results r;

	put(h, result(h, 100, TK_TUNE_VERDICT_FASTER, "old"));
	put(h, result(h, 200, TK_TUNE_VERDICT_INCONCLUSIVE, "open"));
	MUST(tk_tuned_load(h->store, &r, &err));
	assert_string_equal(tk_tuned_find_newest(&r, &series, "")->config, "open");
	assert_null(tk_tuned_find_newest(&r, &series, "threads=1"));
	tk_tuned_free(&r);
}

static void inconclusive_results_in_a_row_are_counted(void **state)
{
	static const struct {
		enum tk_tune_verdict verdict;
		const char *mode;
		size_t count; /* after it */
	} cases[] = {
	        {TK_TUNE_VERDICT_INCONCLUSIVE, "cold", 1},
	        {TK_TUNE_VERDICT_INCONCLUSIVE, "cold", 2},
	        {TK_TUNE_VERDICT_FASTER, "hot", 2}, /* another mode */
	        {TK_TUNE_VERDICT_INCONCLUSIVE, "hot", 2},
	        {TK_TUNE_VERDICT_DEFAULT, "cold", 0},
	        {TK_TUNE_VERDICT_INCONCLUSIVE, "cold", 1},
	};
	struct history *h = *state;
	const struct tk_series_row series = series_of(h);

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_tuning_row row = result(h, 100 * (int64_t)i + 1, cases[i].verdict, "c");
		struct tk_tuned_results r;
		row.mode = cases[i].mode;
		put(h, row);
		MUST(tk_tuned_load(h->store, &r, &err));
		assert_int_equal(tk_tuned_count_inconclusive(&r, &series, ""), cases[i].count);
		tk_tuned_free(&r);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, history_set_up, history_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(the_newest_decided_result_is_used),
	        TEST(results_are_of_one_place),
	        TEST(the_mode_of_the_series_is_preferred),
	        TEST(the_newest_result_may_be_open),
	        TEST(inconclusive_results_in_a_row_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
