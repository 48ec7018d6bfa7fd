/* Rows of what was found out about kernels: reports of traces and profiles, tuning results. */
#include "row_fixture.h"
#include "store/kernel_report.h"
#include "store/tuning.h"

static void kernel_reports_come_back(void **state)
{
	struct history *h = *state;
	char *timeline = NULL;
	int64_t id;

	MUST(history_put_kernel_report(h, 1000, &id, &err));
	READ_ONE(tk_kernel_report_row, kernel_report,
	        tk_store_list_kernel_reports(h->store, out, &err));
	assert_int_equal(kernel_report->kind, TK_KERNEL_REPORT_TRACE);
	assert_int_equal(kernel_report->device_id, h->device);
	assert_string_equal(kernel_report->config, "fast");
	assert_string_equal(kernel_report->result, "{\"schema\":\"tracker-trace/1\"}");
	MUST(tk_store_read_kernel_timeline(h->store, kernel_report->id, &timeline, &err));
	assert_string_equal(timeline, "[1]");
	MUST_FAIL(TK_ENOTFOUND, "no kernel report",
	        tk_store_read_kernel_timeline(h->store, 99, &timeline, &err));
	free(timeline);
	tk_rows_free(&kernel_report_list);
}

static void tunings_come_back(void **state)
{
	struct history *h = *state;
	int64_t id;

	MUST(history_put_tuning(h, 1000, &id, &err));
	READ_ONE(tk_tuning_row, tuning, tk_store_list_tunings(h->store, out, &err));
	assert_int_equal(tuning->device_id, h->device);
	assert_int_equal(tuning->environment_id, h->environment);
	assert_int_equal(tuning->problem_id, h->problem);
	assert_int_equal(tuning->verdict, TK_TUNE_VERDICT_FASTER);
	assert_string_equal(tuning->options, "threads=1");
	assert_string_equal(tuning->config, "fast");
	assert_true(tuning->change == -0.5 && isnan(tuning->change_hi));
	assert_int_equal(tuning->pair_count, 12);
	tk_rows_free(&tuning_list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(kernel_reports_come_back),
	        TEST(tunings_come_back),
	};

	return cmocka_run_group_tests_name("store kernel results", tests, NULL, NULL);
}
