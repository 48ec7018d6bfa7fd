/* Results: a run with its points, samples and job is one transaction, and is read back by range. */
#include "row_fixture.h"

static void a_result_is_whole(void **state)
{
	struct history *h = *state;
	struct tk_job_row jobs[] = {{.night_id = h->night,
	                                    .seq = 1,
	                                    .series_id = h->series,
	                                    .build_id = h->build,
	                                    .backend_path = "/a.so",
	                                    .options = "x=1"},
	        {.night_id = h->night,
	                .seq = 2,
	                .series_id = h->series,
	                .build_id = h->build,
	                .backend_path = "/a.so",
	                .options = ""}};
	struct tk_rows list;
	int64_t id, again;
	double *samples;
	size_t count;

	MUST(tk_store_put_jobs(h->store, jobs, 2, &err));
	MUST(history_put_run(h, 1, 500.0, 100, &id, &err));
	MUST(history_put_run(h, 1, 999.0, 7, &again, &err));
	assert_int_equal(id, again);
	MUST(tk_store_list_jobs(h->store, h->night, true, &list, &err));
	assert_int_equal(list.count, 1);
	assert_int_equal(TK_ROWS_AT(&list, struct tk_job_row, 0)->seq, 2);
	tk_rows_free(&list);
	MUST(tk_store_list_jobs(h->store, h->night, false, &list, &err));
	assert_int_equal(list.count, 2);
	assert_int_equal(TK_ROWS_AT(&list, struct tk_job_row, 0)->run_id, id);
	tk_rows_free(&list);

	READ_ONE(tk_point, point,
	        tk_store_list_points(h->store, h->series, INT64_MIN, 0, out, &err));
	assert_true(point->value == 500.0 && point->lo == 499.0 && point->hi == 501.0 &&
	            point->min == 498.0);
	assert_true(point->q25 == 499.5 && point->q75 == 500.5 && point->p95 == 503.0);
	assert_int_equal(point->n, 100);
	assert_int_equal(point->flags, TK_POINT_UNSTABLE);
	assert_int_equal(point->run_id, id);
	assert_int_equal(point->as_of_s, 1001);
	assert_int_equal(point->build_id, h->build);
	assert_int_equal(point->environment_id, h->environment);
	MUST(tk_store_read_samples(h->store, id, h->series, &samples, &count, &err));
	assert_int_equal(count, 100);
	assert_true(samples[0] == 500.0 && samples[1] == 500.0 + 919.0 / 1000.0);
	free(samples);
	MUST(tk_store_read_samples(h->store, 77, h->series, &samples, &count, &err));
	assert_int_equal(count, 0);
	assert_null(samples);
	READ_ONE(tk_run_row, run, tk_store_list_night_runs(h->store, h->night, out, &err));
	assert_int_equal(run->outcome, TK_OUTCOME_OK);
	assert_string_equal(run->attributes, "{\"stop\":\"tight\"}");
	MUST(tk_store_list_unsuccessful_runs(h->store, h->night, &list, &err));
	assert_int_equal(list.count, 0);
	READ_ONE(tk_group_count, runs,
	        tk_store_list_night_counts(h->store, h->night, TK_COUNT_RUNS, out, &err));
	assert_int_equal(runs->count, 1);
	tk_rows_free(&runs_list);
	READ_ONE(tk_run_row, by_series, tk_store_list_series_runs(h->store, h->series, out, &err));
	assert_string_equal(run->uid, by_series->uid);
	READ_ONE(tk_run_row, at_time,
	        tk_store_list_series_runs_at(h->store, h->series, run->as_of_s, out, &err));
	assert_string_equal(run->uid, at_time->uid);
	MUST(tk_store_list_series_runs_at(h->store, h->series, run->as_of_s - 1, &list, &err));
	assert_int_equal(list.count, 0);
	READ_ONE(tk_run_row, by_uid, tk_store_find_runs(h->store, run->uid, out, &err));
	assert_int_equal(by_uid->id, id);
	READ_ONE(tk_run_row, by_id, tk_store_find_runs(h->store, "1", out, &err));
	assert_int_equal(by_id->id, 1);
	MUST(tk_store_find_runs(h->store, "' OR 1=1 --", &list, &err));
	assert_int_equal(list.count, 0);
	tk_rows_free(&point_list);
	tk_rows_free(&run_list);
	tk_rows_free(&by_series_list);
	tk_rows_free(&at_time_list);
	tk_rows_free(&by_uid_list);
	tk_rows_free(&by_id_list);
}

/* A second device of the same kind, with a series of the same problem. */
static int64_t put_second_device(struct history *h, int64_t *series_id)
{
	struct tk_device_row device = {.machine_id = h->machine,
	        .kind = "cpu",
	        .name = "second",
	        .uuid = "",
	        .arch = "x86",
	        .slug = "cpu-1"};
	int64_t id;
	MUST(tk_store_put_device(h->store, &device, &id, &err));
	struct tk_rows all;
	MUST(tk_store_list_series(h->store, &all, &err));
	struct tk_series_row series = *TK_ROWS_AT(&all, struct tk_series_row, 0);
	series.device_id = id;
	series.slug = NULL;
	MUST(tk_store_put_series(h->store, &series, series_id, &err));
	tk_rows_free(&all);
	return id;
}

static void a_job_taken_over_is_done_by_its_new_device(void **state)
{
	struct history *h = *state;
	struct tk_job_row jobs[2] = {0};
	int64_t series_id, run_id, device_id = put_second_device(h, &series_id);
	for (int64_t i = 0; i < 2; i++)
		jobs[i] = (struct tk_job_row){.night_id = h->night,
		        .seq = i + 1,
		        .series_id = h->series,
		        .build_id = h->build,
		        .backend_path = "/a.so",
		        .options = ""};
	MUST(tk_store_put_jobs(h->store, jobs, 2, &err));
	MUST(tk_store_assign_jobs(h->store, (int64_t[]){1}, 1, device_id, &err));
	h->series = series_id; /* what runs now are of */
	MUST(history_put_run(h, 1, 500.0, 10, &run_id, &err));
	MUST(history_put_run(h, 2, 500.0, 10, &run_id, &err)); /* not assigned */
	READ_ONE(tk_job_row, left, tk_store_list_jobs(h->store, h->night, true, out, &err));
	assert_int_equal(left->seq, 2);
	assert_int_equal(left->device_id, 0);
	MUST_FAIL(TK_EDATA, "no job with the id 1",
	        tk_store_assign_jobs(h->store, (int64_t[]){2, 1}, 2, device_id, &err));
	READ_ONE(tk_job_row, still, tk_store_list_jobs(h->store, h->night, true, out, &err));
	assert_int_equal(still->device_id, 0); /* all or none */
	tk_rows_free(&left_list);
	tk_rows_free(&still_list);
}

static void a_refused_point_takes_its_run_with_it(void **state)
{
	struct history *h = *state;
	struct tk_job_row job = {.night_id = h->night,
	        .seq = 3,
	        .series_id = h->series,
	        .build_id = h->build,
	        .backend_path = "",
	        .options = ""};
	struct tk_rows list;
	int64_t id = -5;

	MUST(tk_store_put_jobs(h->store, &job, 1, &err));
	MUST_FAIL(TK_EDATA, "measurement.value", history_put_run(h, 3, NAN, 10, &id, &err));
	MUST_FAIL(TK_EDATA, "measurement.value", history_put_run(h, 3, INFINITY, 10, &id, &err));
	assert_int_equal(id, -5);
	assert_int_equal(history_count(h, "run"), 0);
	assert_int_equal(history_count(h, "sample"), 0);
	MUST(tk_store_list_jobs(h->store, h->night, true, &list, &err));
	assert_int_equal(list.count, 1);
	tk_rows_free(&list);
}

static void points_are_read_by_range(void **state)
{
	struct history *h = *state;
	struct tk_rows list;

	for (int64_t seq = 1; seq <= 20; seq++)
		MUST(history_put_run(h, seq, 100.0 + (double)seq, 0, NULL, &err));
	MUST(tk_store_list_points(h->store, h->series, 1011, 0, &list, &err));
	assert_int_equal(list.count, 10);
	assert_true(TK_ROWS_AT(&list, struct tk_point, 0)->value == 111.0);
	tk_rows_free(&list);
	MUST(tk_store_list_points(h->store, h->series, INT64_MIN, 3, &list, &err));
	assert_int_equal(list.count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(TK_ROWS_AT(&list, struct tk_point, i)->value == 118.0 + (double)i);
	tk_rows_free(&list);
	MUST(tk_store_list_points(h->store, 12345, INT64_MIN, 0, &list, &err));
	assert_int_equal(list.count, 0);
	tk_rows_free(&list);
}

/* A night may measure a series again: both points have the time of the night. */
static void a_run_has_its_own_point(void **state)
{
	struct history *h = *state;

	for (int64_t seq = 1; seq <= 2; seq++) {
		struct tk_run_row run = {.night_id = h->night,
		        .seq = seq,
		        .series_id = h->series,
		        .build_id = h->build,
		        .as_of_s = 1000,
		        .message = "",
		        .attributes = "{}"};
		const struct tk_point point = {.series_id = h->series, .value = 5.0 * (double)seq};

		MUST(tk_store_put_run(h->store, &run, &point, NULL, NULL, 1, &run.id, &err));
		READ_ONE(tk_point, read, tk_store_list_run_points(h->store, &run, out, &err));
		assert_true(read->run_id == run.id && read->value == point.value);
		tk_rows_free(&read_list);
		run.id += 10;
		struct tk_rows none;
		MUST(tk_store_list_run_points(h->store, &run, &none, &err));
		assert_int_equal(none.count, 0);
		tk_rows_free(&none);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_result_is_whole),
	        TEST(a_job_taken_over_is_done_by_its_new_device),
	        TEST(a_refused_point_takes_its_run_with_it),
	        TEST(points_are_read_by_range),
	        TEST(a_run_has_its_own_point),
	};

	return cmocka_run_group_tests_name("store results", tests, NULL, NULL);
}
