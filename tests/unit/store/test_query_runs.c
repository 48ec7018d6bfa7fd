/* Runs, nights and jobs: lists by owner and time, counts, searches, what detection asks for. */
#include "query_rig.h"

#define FAILED TK_OUTCOME_WRONG

/* "3 5": the seq of the runs. Frees the list. */
static const char *describe(struct tk_rows *runs)
{
	static char text[256];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < runs->count; i++)
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%lld", len ? " " : "",
		        (long long)TK_ROWS_AT(runs, struct tk_run_row, i)->seq);
	tk_rows_free(runs);
	return text;
}

#define EXPECT_RUNS(expected, call) \
	do { \
		struct tk_rows runs = {0}; \
		MUST(call); \
		assert_string_equal(describe(&runs), expected); \
	} while (0)

/* Runs 1 to 6: OK, failed, OK, skipped, no device, OK at the time of 3. Returns another series, of
 * which run 7 is. */
static int64_t put_runs(struct history *h)
{
	static const enum tk_outcome outcomes[] = {
	        TK_OUTCOME_OK, FAILED, TK_OUTCOME_OK, TK_OUTCOME_SKIPPED, TK_OUTCOME_NO_DEVICE};
	int64_t other = history_put_series(h, "blas", "cold", "cpu_time");

	for (int64_t i = 0; i < 5; i++)
		query_put_run(h, i + 1, (struct query_run){.outcome = outcomes[i], .value = 5});
	query_put_run(h, 6, (struct query_run){.as_of_s = 1003, .value = 6});
	query_put_run(h, 7, (struct query_run){.series_id = other, .outcome = FAILED});
	return other;
}

static void runs_by_owner_and_time(void **state)
{
	struct history *h = *state;
	struct tk_store *s = h->store;
	int64_t other = put_runs(h), night = h->night;

	EXPECT_RUNS("1 2 3 4 5 6 7", tk_store_list_night_runs(s, night, &runs, &err));
	EXPECT_RUNS("2 4 5 7", tk_store_list_unsuccessful_runs(s, night, &runs, &err));
	EXPECT_RUNS("1 2 3 6 4 5", tk_store_list_series_runs(s, h->series, &runs, &err));
	EXPECT_RUNS("3 6", tk_store_list_series_runs_at(s, h->series, 1003, &runs, &err));
	EXPECT_RUNS("", tk_store_list_series_runs_at(s, other, 1003, &runs, &err));
	EXPECT_RUNS("2 4 5", tk_store_list_series_unsuccessful_runs(s, h->series, 0, &runs, &err));
	EXPECT_RUNS("4 5", tk_store_list_series_unsuccessful_runs(s, h->series, 1004, &runs, &err));
	EXPECT_RUNS("7", tk_store_list_series_unsuccessful_runs(s, other, 0, &runs, &err));
	query_begin_night(h, 90000);
	EXPECT_RUNS("", tk_store_list_night_runs(s, h->night, &runs, &err));
}

static void point_of_a_run(void **state)
{
	struct history *h = *state;
	struct tk_rows runs = {0};

	put_runs(h);
	MUST(tk_store_list_series_runs(h->store, h->series, &runs, &err));
	for (size_t i = 0; i < runs.count; i++) {
		const struct tk_run_row *run = TK_ROWS_AT(&runs, struct tk_run_row, i);
		struct tk_rows points = {0};

		MUST(tk_store_list_run_points(h->store, run, &points, &err));
		assert_int_equal(points.count, run->outcome == TK_OUTCOME_OK);
		if (points.count)
			assert_float_equal(TK_ROWS_AT(&points, struct tk_point, 0)->value,
			        run->seq == 6 ? 6 : 5, 0);
		tk_rows_free(&points);
	}
	tk_rows_free(&runs);
}

static void runs_by_id_or_uid(void **state)
{
	struct history *h = *state;
	struct tk_store *s = h->store;
	struct tk_rows all = {0};
	char text[64];

	put_runs(h);
	MUST(tk_store_list_night_runs(s, h->night, &all, &err));
	const struct tk_run_row *third = TK_ROWS_AT(&all, struct tk_run_row, 2);

	snprintf(text, sizeof text, "%lld", (long long)third->id);
	EXPECT_RUNS("3", tk_store_find_runs(s, text, &runs, &err));
	EXPECT_RUNS("3", tk_store_find_runs(s, third->uid, &runs, &err));
	snprintf(text, sizeof text, "%.12s", third->uid);
	EXPECT_RUNS("3", tk_store_find_runs(s, text, &runs, &err));
	text[11] = text[11] == '0' ? '1' : '0';
	EXPECT_RUNS("", tk_store_find_runs(s, text, &runs, &err));
	snprintf(text, sizeof text, "%s0", third->uid); /* longer than a uid */
	EXPECT_RUNS("", tk_store_find_runs(s, text, &runs, &err));
	static const char *const none[] = {"", "x", "99999", "12345678901234567890", "-1", "1 "};

	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		EXPECT_RUNS("", tk_store_find_runs(s, none[i], &runs, &err));
	tk_rows_free(&all);
}

/* Of many runs with the same start of a uid at most eight are found, and all of fewer. */
static void runs_with_the_same_start(void **state)
{
	struct history *h = *state;

	for (int64_t i = 1; i <= 9; i++) {
		char sql[160];
		struct tk_rows runs = {0};
		int64_t id = query_put_run(h, i, (struct query_run){.value = 1});

		snprintf(sql, sizeof sql,
		        "UPDATE run SET uid='ab%02lld' || substr(uid, 5) WHERE id=%lld",
		        (long long)i, (long long)id);
		history_run_sql(h, sql);
		MUST(tk_store_find_runs(h->store, "ab0", &runs, &err));
		assert_int_equal(runs.count, i < 7 ? i : 7);
		for (size_t k = 1; k < runs.count; k++)
			assert_true(strcmp(TK_ROWS_AT(&runs, struct tk_run_row, k - 1)->uid,
			                    TK_ROWS_AT(&runs, struct tk_run_row, k)->uid) < 0);
		tk_rows_free(&runs);
	}
}

static void expect_counts(struct history *h, enum tk_night_count what, const char *expected)
{
	struct tk_rows rows = {0};
	char text[256] = "";
	size_t len = 0;

	MUST(tk_store_list_night_counts(h->store, h->night, what, &rows, &err));
	for (size_t i = 0; i < rows.count; i++) {
		const struct tk_group_count *g = TK_ROWS_AT(&rows, struct tk_group_count, i);

		len += (size_t)snprintf(text + len, sizeof text - len, "%s%s %lld", len ? ", " : "",
		        g->word, (long long)g->count);
	}
	tk_rows_free(&rows);
	assert_string_equal(text, expected);
}

static void put_verdicts(struct history *h, const enum tk_verdict_status *status, size_t count)
{
	struct tk_verdict_row rows[4] = {{0}};
	static const char *const metrics[] = {"a", "b", "c", "d"};

	for (size_t i = 0; i < count; i++)
		rows[i] = (struct tk_verdict_row){.night_id = h->night,
		        .series_id = history_put_series(h, "blas", "cold", metrics[i]),
		        .status = status[i],
		        .reason = "",
		        .detail = "{}"};
	MUST(tk_store_replace_verdicts(h->store, h->night, rows, count, &err));
}

/* The largest group first, equal ones by their word; other nights do not count. */
static void counts_of_a_night(void **state)
{
	static const enum tk_verdict_status statuses[] = {
	        TK_VERDICT_REGRESSED, TK_VERDICT_SAME, TK_VERDICT_SAME, TK_VERDICT_IMPROVED};
	struct history *h = *state;
	struct tk_job_row jobs[] = {
	        {.night_id = h->night, .seq = 1, .series_id = h->series, .build_id = h->build},
	        {.night_id = h->night, .seq = 8, .series_id = h->series, .build_id = h->build}};

	for (size_t i = 0; i < 2; i++)
		jobs[i].backend_path = jobs[i].options = "";
	MUST(tk_store_put_jobs(h->store, jobs, 2, &err));
	put_runs(h);
	put_verdicts(h, statuses, 4);
	expect_counts(h, TK_COUNT_OUTCOMES, "ok 3, wrong 2, no_device 1, skipped 1");
	expect_counts(h, TK_COUNT_VERDICTS, "same 2, improved 1, regressed 1");
	expect_counts(h, TK_COUNT_RUNS, "runs 7");
	expect_counts(h, TK_COUNT_OPEN_JOBS, "open 1"); /* run 1 did the other */
	query_begin_night(h, 90000);
	expect_counts(h, TK_COUNT_OUTCOMES, "");
	expect_counts(h, TK_COUNT_VERDICTS, "");
	expect_counts(h, TK_COUNT_RESOLUTIONS, "");
	expect_counts(h, TK_COUNT_RUNS, "runs 0");
	expect_counts(h, TK_COUNT_OPEN_JOBS, "open 0");
}

static void jobs_that_are_open(void **state)
{
	struct history *h = *state;
	struct tk_job_row jobs[3];
	struct tk_rows rows = {0};

	for (int64_t i = 0; i < 3; i++)
		jobs[i] = (struct tk_job_row){.night_id = h->night,
		        .seq = 3 - i,
		        .series_id = h->series,
		        .build_id = h->build,
		        .backend_path = "p",
		        .options = "o"};
	MUST(tk_store_put_jobs(h->store, jobs, 3, &err));
	query_put_run(h, 2, (struct query_run){.value = 1});
	MUST(tk_store_list_jobs(h->store, h->night, false, &rows, &err));
	assert_int_equal(rows.count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(TK_ROWS_AT(&rows, struct tk_job_row, i)->seq, i + 1);
	assert_true(TK_ROWS_AT(&rows, struct tk_job_row, 1)->run_id > 0);
	tk_rows_free(&rows);
	MUST(tk_store_list_jobs(h->store, h->night, true, &rows, &err));
	assert_int_equal(rows.count, 2);
	assert_int_equal(TK_ROWS_AT(&rows, struct tk_job_row, 0)->seq, 1);
	assert_int_equal(TK_ROWS_AT(&rows, struct tk_job_row, 1)->seq, 3);
	tk_rows_free(&rows);
}

static void runs_that_were_executed(void **state)
{
	struct history *h = *state;
	int64_t other = put_runs(h), third = history_put_series(h, "blas", "cold", "energy");
	bool executed;

	query_put_run(h, 8, (struct query_run){.series_id = third, .outcome = TK_OUTCOME_SKIPPED});
	query_put_run(
	        h, 9, (struct query_run){.series_id = third, .outcome = TK_OUTCOME_NO_DEVICE});
	const struct {
		int64_t series_id, since_s;
		bool executed;
	} cases[] = {
	        {h->series, 0, true},
	        {h->series, 1003, true},
	        {h->series, 1004, false}, /* skipped and without a device since */
	        {other, 0, true},         /* failed, but executed */
	        {other, 1007, true},
	        {other, 1008, false},
	        {third, 0, false},
	        {999, 0, false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		MUST(tk_store_has_executed_run(
		        h->store, cases[i].series_id, cases[i].since_s, &executed, &err));
		if (executed != cases[i].executed)
			fail_msg("case %zu", i);
	}
}

/* The earliest night that measured a revision, or resolved to it. */
static void night_of_a_revision(void **state)
{
	struct history *h = *state;
	int64_t first = h->night, night_id, revision;
	const int64_t build = history_put_build(h, "new", &revision);

	MUST(tk_store_find_revision_night(h->store, revision, &night_id, &err));
	assert_int_equal(night_id, 0);
	query_begin_night(h, 90000);
	query_put_run(h, 1, (struct query_run){.build_id = build, .as_of_s = 90000, .value = 1});
	MUST(tk_store_find_revision_night(h->store, revision, &night_id, &err));
	assert_int_equal(night_id, h->night);
	struct tk_resolution_row resolution = {.night_id = first,
	        .upstream_id = h->upstream,
	        .revision_id = revision,
	        .status = TK_RESOLUTION_NEW,
	        .message = ""};

	MUST(tk_store_put_resolution(h->store, &resolution, &err));
	MUST(tk_store_find_revision_night(h->store, revision, &night_id, &err));
	assert_int_equal(night_id, first);
	MUST(tk_store_find_revision_night(h->store, 999, &night_id, &err));
	assert_int_equal(night_id, 0);
}

/* Runs of nights that were known already, such as those of a merge. */
static void late_runs(void **state)
{
	struct history *h = *state;
	int64_t first = h->night, known = query_put_run(h, 1, (struct query_run){.value = 1}),
	        newest, id;
	bool late;

	MUST(tk_store_find_late_runs(h->store, known, first, first, &late, &newest, &err));
	assert_false(late);
	assert_int_equal(newest, known);
	query_begin_night(h, 90000);
	id = query_put_run(h, 2, (struct query_run){.as_of_s = 90000, .value = 1});
	MUST(tk_store_find_late_runs(h->store, known, first, first, &late, &newest, &err));
	assert_false(late); /* of a night after them */
	assert_int_equal(newest, id);
	MUST(tk_store_find_late_runs(h->store, known, first, h->night, &late, &newest, &err));
	assert_true(late);
	MUST(tk_store_find_late_runs(h->store, known, h->night + 1, 99, &late, &newest, &err));
	assert_false(late);
	MUST(tk_store_find_late_runs(h->store, id, first, h->night, &late, &newest, &err));
	assert_false(late);
}

static void versions_of_verdicts(void **state)
{
	static const enum tk_verdict_status same[] = {TK_VERDICT_SAME},
	                                    regressed[] = {TK_VERDICT_REGRESSED};
	struct history *h = *state;
	int64_t none = -1, once, twice, first = h->night, before;

	MUST(tk_store_get_verdict_version(h->store, h->night, &none, &err));
	assert_int_equal(none, 0);
	put_verdicts(h, same, 1);
	MUST(tk_store_get_verdict_version(h->store, h->night, &once, &err));
	assert_true(once > 0);
	put_verdicts(h, regressed, 1);
	MUST(tk_store_get_verdict_version(h->store, h->night, &twice, &err));
	assert_true(twice > once);
	/* A later night does not change what is known of the earlier ones. */
	query_begin_night(h, 90000);
	put_verdicts(h, same, 1);
	MUST(tk_store_get_verdict_version(h->store, first, &before, &err));
	assert_int_equal(before, twice);
	MUST(tk_store_get_verdict_version(h->store, h->night, &once, &err));
	assert_true(once > twice);
}

/* ---- what detection reads of the runs -------------------------------------------------------- */

static struct tk_history_window window_of(
        struct history *h, int64_t since_s, int64_t until_s, size_t before)
{
	const struct tk_window_query query = {
	        .since_s = since_s, .until_s = until_s, .runs_s = since_s, .before = before};
	struct tk_rows windows = {0}, points = {0};

	MUST(tk_store_list_windows(h->store, &query, &windows, &points, &err));
	struct tk_history_window w = *TK_ROWS_AT(&windows, struct tk_history_window, 0);

	assert_int_equal(w.series_id, h->series);
	w.points = NULL;
	/* Texts belong to the list. */
	assert_string_equal(w.last_within.message, w.last_within.run_id ? "why" : "");
	tk_rows_free(&windows);
	tk_rows_free(&points);
	return w;
}

/* Skipped runs tell nothing of the state before a night; the newest run of a night is one that was
 * not skipped. */
static void marks_of_a_window(void **state)
{
	struct history *h = *state;
	struct tk_history_window w;

	put_runs(h); /* at 1001 to 1005; 1003 twice */
	w = window_of(h, 1003, 1003, 9);
	assert_int_equal(w.before, 1);
	assert_int_equal(w.within, 2);
	assert_int_equal(w.last_before.as_of_s, 1002);
	assert_int_equal(w.last_before.outcome, FAILED);
	assert_int_equal(w.last_before.build_id, h->build);
	assert_int_equal(w.last_before.environment_id, h->environment);
	assert_int_equal(w.last_before.night_id, h->night);
	assert_int_equal(w.first_within.run_id, 0); /* there is one before */
	assert_int_equal(w.last_within.as_of_s, 1003);
	w = window_of(h, 1004, 1009, 9);
	assert_int_equal(w.before, 1); /* nothing in the range to compare with */
	assert_int_equal(w.within, 0);
	assert_int_equal(w.last_before.as_of_s, 1003);
	assert_int_equal(w.last_within.outcome, TK_OUTCOME_NO_DEVICE);
	w = window_of(h, 1006, 1009, 0);
	assert_int_equal(w.before, 0);
	assert_int_equal(w.last_before.as_of_s, 1003); /* not the skipped ones */
	assert_int_equal(w.last_within.run_id, 0);
	assert_int_equal(w.last_within.outcome, TK_OUTCOME_COUNT);
	w = window_of(h, 1000, 1002, 9);
	assert_int_equal(w.before, 0);
	assert_int_equal(w.within, 1);
	assert_int_equal(w.last_before.run_id, 0);
	assert_int_equal(w.first_within.as_of_s, 1001);
	assert_int_equal(w.last_within.outcome, FAILED);
}

/* An imported run is of many series: the run of the point stands for that of the series. */
static void marks_of_an_imported_history(void **state)
{
	struct history *h = *state;
	struct tk_history_window w;

	for (int64_t i = 1; i <= 4; i++)
		query_put_run(h, i, (struct query_run){.value = 5});
	history_run_sql(h, "UPDATE run SET series_id=NULL");
	w = window_of(h, 1003, 1009, 9);
	assert_int_equal(w.last_before.as_of_s, 1002);
	assert_int_equal(w.last_within.as_of_s, 1004);
	assert_int_equal(w.first_within.run_id, 0);
	w = window_of(h, 1001, 1009, 9);
	assert_int_equal(w.last_before.run_id, 0);
	assert_int_equal(w.first_within.as_of_s, 1001);
	assert_int_equal(w.last_within.outcome, TK_OUTCOME_OK);
}

int query_run_tests(void)
{
	const struct CMUnitTest tests[] = {
	        QUERY_TEST(runs_by_owner_and_time),
	        QUERY_TEST(point_of_a_run),
	        QUERY_TEST(runs_by_id_or_uid),
	        QUERY_TEST(runs_with_the_same_start),
	        QUERY_TEST(counts_of_a_night),
	        QUERY_TEST(jobs_that_are_open),
	        QUERY_TEST(runs_that_were_executed),
	        QUERY_TEST(night_of_a_revision),
	        QUERY_TEST(late_runs),
	        QUERY_TEST(versions_of_verdicts),
	        QUERY_TEST(marks_of_a_window),
	        QUERY_TEST(marks_of_an_imported_history),
	};

	return cmocka_run_group_tests_name("runs", tests, NULL, NULL);
}
