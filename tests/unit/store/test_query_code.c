/* Change points with their builds, comparisons of traces, logs, and whether tunings still hold. */
#include "query_rig.h"
#include "store/kernel_report.h"
#include "store/tuning_state.h"

static void builds_of_change_points(void **state)
{
	struct history *h = *state;
	int64_t build = history_put_build(h, "new", NULL);
	struct tk_environment_row row = {
	        .device_id = h->device, .attributes = "{\"driver\":\"2\"}"};
	int64_t environment, first, second;
	struct tk_rows rows = {0};

	MUST(tk_store_put_environment(h->store, &row, &environment, &err));
	first = query_put_run(h, 1, (struct query_run){.value = 1});
	second = query_put_run(h, 2,
	        (struct query_run){.build_id = build, .environment_id = environment, .value = 2});
	const struct tk_change_point_row changes[] = {
	        {.series_id = h->series, .as_of_s = 1001, .run_id = first, .detail = "{}"},
	        {.series_id = h->series,
	                .as_of_s = 1002,
	                .run_id = second,
	                .previous_run_id = first,
	                .detail = "{}"}};

	MUST(tk_store_replace_change_points(h->store, h->series, changes, 2, &err));
	MUST(tk_store_list_change_point_builds(h->store, &rows, &err));
	assert_int_equal(rows.count, 2);
	const struct tk_change_point_builds_row *b = rows.rows;

	assert_int_equal(b[0].series_id, h->series);
	assert_int_equal(b[0].run_id, first);
	assert_int_equal(b[0].build_id, h->build);
	assert_int_equal(b[0].previous_build_id, 0);
	assert_int_equal(b[0].previous_environment_id, 0);
	assert_int_equal(b[1].as_of_s, 1002);
	assert_int_equal(b[1].build_id, build);
	assert_int_equal(b[1].previous_build_id, h->build);
	assert_int_equal(b[1].environment_id, environment);
	assert_int_equal(b[1].previous_environment_id, h->environment);
	tk_rows_free(&rows);
}

static void logs_of_builds(void **state)
{
	struct history *h = *state;
	char *log = NULL;

	MUST(tk_store_read_build_log(h->store, h->build, &log, &err));
	assert_string_equal(log, "a long log");
	free(log);
	MUST_FAIL(TK_ENOTFOUND, "there is no build with the id 99",
	        tk_store_read_build_log(h->store, 99, &log, &err));
}

/* ---- traces that compare two revisions ------------------------------------------------------- */

static void put_comparison(struct history *h, int64_t started_s, const char *base,
        const char *revision, const char *result)
{
	struct tk_kernel_report_row row = {.device_id = h->device,
	        .environment_id = h->environment,
	        .problem_id = h->problem,
	        .kind = TK_KERNEL_REPORT_TRACE,
	        .upstream = "blas",
	        .revision = revision,
	        .artifact_key = "key",
	        .backend = "blas",
	        .options = "",
	        .config = "fast",
	        .mode = "cold",
	        .base = base,
	        .started_s = started_s,
	        .result = result,
	        .timeline = "[7]"};
	int64_t id;
	char *timeline = NULL;

	MUST(tk_store_put_kernel_report(h->store, &row, &id, &err));
	MUST(tk_store_read_kernel_timeline(h->store, id, &timeline, &err));
	assert_string_equal(timeline, "[7]");
	free(timeline);
}

static void comparisons_of_two_revisions(void **state)
{
	struct history *h = *state;
	const struct tk_series_row series = {.device_id = h->device,
	        .problem_id = h->problem,
	        .backend = "blas",
	        .config = "fast",
	        .mode = "cold"};
	char *result = NULL;

	put_comparison(h, 10, "good", "bad", "{\"n\":1}");
	put_comparison(h, 20, "good", "bad", "{\"n\":2}");
	put_comparison(h, 30, "good", "worse", "{\"n\":3}");
	put_comparison(h, 40, "", "bad", "{\"n\":4}");
	MUST(tk_store_find_comparison(h->store, &series, "blas", "good", "bad", &result, &err));
	assert_string_equal(result, "{\"n\":2}"); /* the newest */
	free(result);
	/* Of another kernel, mode, configuration or revision there is none. */
	struct tk_series_row others[6];

	for (size_t i = 0; i < 6; i++)
		others[i] = series;
	others[0].device_id++;
	others[1].problem_id++;
	others[2].backend = "own";
	others[3].config = "slow";
	others[4].mode = "hot";
	for (size_t i = 0; i < 5; i++) {
		MUST(tk_store_find_comparison(
		        h->store, &others[i], "blas", "good", "bad", &result, &err));
		assert_null(result);
	}
	static const char *const texts[][3] = {{"lib", "good", "bad"}, {"blas", "bad", "bad"},
	        {"blas", "good", "good"}, {"blas", "", "bad"}};

	for (size_t i = 0; i < 4; i++) {
		MUST(tk_store_find_comparison(
		        h->store, &series, texts[i][0], texts[i][1], texts[i][2], &result, &err));
		assert_null(result);
	}
}

/* ---- whether a tuning still holds ------------------------------------------------------------ */

static enum tk_tune_state state_of(struct history *h, struct tk_tuning_row tuning)
{
	struct tk_tuning_history history = {0};
	enum tk_tune_state state = TK_TUNE_STATE_UNKNOWN;

	tuning.device_id = tuning.device_id ? tuning.device_id : h->device;
	tuning.environment_id = h->environment;
	tuning.problem_id = h->problem;
	tuning.backend = "blas";
	MUST(tk_tuning_history_load(h->store, &history, &err));
	MUST(tk_tuning_state(&history, &tuning, &state, &err));
	tk_tuning_history_free(&history);
	return state;
}

#define OF_REVISION(rev) ((struct tk_tuning_row){.upstream = "blas", .revision = (rev)})

static void a_tuning_of_a_revision(void **state)
{
	struct history *h = *state;
	int64_t build = history_put_build(h, "newer", NULL),
	        energy = history_put_series(h, "blas", "cold", "energy");

	assert_int_equal(state_of(h, OF_REVISION("0123abcd")), TK_TUNE_STATE_UNKNOWN);
	query_put_run(h, 9, (struct query_run){.series_id = energy, .build_id = build, .value = 1});
	assert_int_equal(
	        state_of(h, OF_REVISION("0123abcd")), TK_TUNE_STATE_UNKNOWN); /* not of time */
	query_put_run(h, 1, (struct query_run){.value = 1});
	assert_int_equal(state_of(h, OF_REVISION("0123abcd")), TK_TUNE_STATE_CURRENT);
	assert_int_equal(state_of(h, OF_REVISION("newer")), TK_TUNE_STATE_NEW_REVISION);
	query_put_run(h, 2, (struct query_run){.build_id = build, .value = 1});
	assert_int_equal(state_of(h, OF_REVISION("0123abcd")), TK_TUNE_STATE_NEW_REVISION);
	assert_int_equal(state_of(h, OF_REVISION("newer")), TK_TUNE_STATE_CURRENT);
	/* Of another device nothing is known. */
	struct tk_tuning_row other = OF_REVISION("newer");

	other.device_id = 77;
	assert_int_equal(state_of(h, other), TK_TUNE_STATE_UNKNOWN);
	other = OF_REVISION("newer");
	other.upstream = "elsewhere";
	assert_int_equal(state_of(h, other), TK_TUNE_STATE_UNKNOWN);
}

/* A driver that is not known on one side is no other driver. */
static void a_tuning_of_a_driver(void **state)
{
	static const struct {
		const char *then, *now;
		enum tk_tune_state state;
	} cases[] = {
	        {"{\"driver\":\"580\"}", "{\"driver\":\"580\"}", TK_TUNE_STATE_CURRENT},
	        {"{\"driver\":\"580\"}", "{\"driver\":\"590\"}", TK_TUNE_STATE_NEW_DRIVER},
	        {"{\"driver\":\"580\"}", "{}", TK_TUNE_STATE_CURRENT},
	        {"{\"governor\":\"x\"}", "{\"driver\":\"590\"}", TK_TUNE_STATE_CURRENT},
	        {"{\"driver\":\"580\"}", "{\"driver\":7}", TK_TUNE_STATE_CURRENT},
	        {"{\"driver\":\"\"}", "{\"driver\":\"590\"}", TK_TUNE_STATE_CURRENT},
	};
	struct history *h = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_environment_row then = {.device_id = h->device,
		                                  .attributes = cases[i].then},
		                          now = {.device_id = h->device,
		                                  .attributes = cases[i].now};
		int64_t environment;

		MUST(tk_store_put_environment(h->store, &then, &h->environment, &err));
		MUST(tk_store_put_environment(h->store, &now, &environment, &err));
		query_put_run(h, (int64_t)i + 1,
		        (struct query_run){.environment_id = environment, .value = 1});
		if (state_of(h, OF_REVISION("0123abcd")) != cases[i].state)
			fail_msg("%s, %s", cases[i].then, cases[i].now);
	}
	assert_true(tk_tune_state_is_stale(TK_TUNE_STATE_NEW_DRIVER));
	assert_true(tk_tune_state_is_stale(TK_TUNE_STATE_NEW_REVISION));
	assert_false(tk_tune_state_is_stale(TK_TUNE_STATE_CURRENT));
	assert_false(tk_tune_state_is_stale(TK_TUNE_STATE_UNKNOWN));
}

/* An installed library has the hash of its file; where that only loads another one, the revision of
 * the night before the tuning tells which it was. */
static void a_tuning_of_an_installed_library(void **state)
{
	struct history *h = *state;
	struct tk_upstream_row upstream = {.name = "builtin", .kind = "builtin", .url = ""};
	int64_t first, second;

	MUST(tk_store_put_upstream(h->store, &upstream, &h->upstream, &err));
	h->series = history_put_series(h, "blas", "cold", "time");
	first = history_put_build(h, "1.0", NULL);
	second = history_put_build(h, "2.0", NULL);
	history_run_sql(
	        h, "UPDATE build SET artifact_key='file' WHERE artifact_key IN ('1.0', '2.0')");
	const struct tk_tuning_row tuning = {.upstream = "",
	                                   .artifact_key = "file",
	                                   .started_s = 1500},
	                           other = {.upstream = "", .artifact_key = "x", .started_s = 1500};

	query_put_run(h, 1, (struct query_run){.build_id = first, .value = 1});
	assert_int_equal(state_of(h, tuning), TK_TUNE_STATE_CURRENT);
	assert_int_equal(state_of(h, other), TK_TUNE_STATE_NEW_REVISION);
	query_put_run(h, 2, (struct query_run){.build_id = first, .as_of_s = 1600, .value = 1});
	assert_int_equal(state_of(h, tuning), TK_TUNE_STATE_CURRENT);
	query_put_run(h, 3, (struct query_run){.build_id = second, .as_of_s = 1700, .value = 1});
	assert_int_equal(state_of(h, tuning), TK_TUNE_STATE_NEW_REVISION);
	struct tk_tuning_row later = tuning; /* tuned after the new library came */

	later.started_s = 1700;
	assert_int_equal(state_of(h, later), TK_TUNE_STATE_CURRENT);
}

int query_code_tests(void)
{
	const struct CMUnitTest tests[] = {
	        QUERY_TEST(builds_of_change_points),
	        QUERY_TEST(logs_of_builds),
	        QUERY_TEST(comparisons_of_two_revisions),
	        QUERY_TEST(a_tuning_of_a_revision),
	        QUERY_TEST(a_tuning_of_a_driver),
	        QUERY_TEST(a_tuning_of_an_installed_library),
	};

	return cmocka_run_group_tests_name("code", tests, NULL, NULL);
}
