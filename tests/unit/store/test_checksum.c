/* Checksums of measurements: what changes one, who notices, and what does not matter. */
#include "row_fixture.h"
#include "store/db/internal.h"

static int64_t read_checksum(struct history *h)
{
	int64_t checksum = 0;

	MUST(tk_db_get_int(h->store, "SELECT checksum FROM measurement LIMIT 1", &checksum, &err));
	return checksum;
}

/* The problems of a check: `count`, and `text` is in the first one. */
static void expect_problems(struct history *h, size_t count, const char *text)
{
	struct tk_rows problems;

	MUST(tk_store_check(h->store, &problems, &err));
	if (problems.count != count)
		fail_msg("%zu problems instead of %zu: %s", problems.count, count,
		        problems.count ? *TK_ROWS_AT(&problems, char *, 0) : "");
	if (count && !strstr(*TK_ROWS_AT(&problems, char *, 0), text))
		fail_msg("`%s` is not in `%s`", text, *TK_ROWS_AT(&problems, char *, 0));
	tk_rows_free(&problems);
}

#define COUNT_OF(list) (sizeof(list) / sizeof(*(list)))

/* Changes a row each: each is reported, by a text with its name. A check reports a row once. */
static void expect_each_change_reported(struct history *h, const char *table, const char *key,
        const int64_t *ids, const char *const *changes, size_t count, const char *name_format)
{
	struct tk_rows problems;

	expect_problems(h, 0, "");
	for (size_t i = 0; i < count; i++) {
		char sql[160];

		snprintf(sql, sizeof(sql), "UPDATE %s SET %s WHERE %s=%lld", table, changes[i], key,
		        (long long)ids[i]);
		history_run_sql(h, sql);
	}
	MUST(tk_store_check(h->store, &problems, &err));
	if (problems.count != count)
		fail_msg("%zu of %zu changes are reported", problems.count, count);
	for (size_t i = 0; i < count; i++) {
		char name[128];
		size_t at = 0;

		snprintf(name, sizeof(name), name_format, (long long)ids[i]);
		while (at < count && !strstr(*TK_ROWS_AT(&problems, char *, at), name))
			at++;
		if (at == count)
			fail_msg("`%s` is in no report", name);
	}
	tk_rows_free(&problems);
}

static void every_column_counts(void **state)
{
	static const char *const changes[] = {"value=value*1.0000000001", "lo=lo-1", "lo=NULL",
	        "hi=hi+1", "n=n+1", "min=0", "q25=NULL", "q75=q75+1e-9", "p95=p95+1", "flags=0",
	        "as_of_s=as_of_s+1", "environment_id=NULL", "night_id=night_id+1",
	        "build_id=build_id+1", "checksum=checksum+1"};
	struct history *h = *state;
	int64_t ids[COUNT_OF(changes)];

	for (size_t i = 0; i < COUNT_OF(changes); i++)
		MUST(history_put_run(h, (int64_t)i, 100, 5, &ids[i], &err));
	expect_each_change_reported(h, "measurement", "run_id", ids, changes, COUNT_OF(changes),
	        "measurement of run %lld, series box.cpu.blas.gemm-f32-512x512x512-nn.cold: was "
	        "changed");
}

static void a_row_of_another_program_has_no_checksum(void **state)
{
	struct history *h = *state;
	int64_t id;

	MUST(history_put_run(h, 1, 100, 0, &id, &err));
	history_run_sql(h, "UPDATE measurement SET checksum=0");
	expect_problems(h, 1, "has no checksum");
}

/* Nothing else notices a measurement of an environment that does not exist. */
static void a_missing_environment_is_not_none(void **state)
{
	struct history *h = *state;
	int64_t id;

	h->environment = 0;
	MUST(history_put_run(h, 1, 100, 0, &id, &err));
	expect_problems(h, 0, "");
	history_run_sql(h, "UPDATE measurement SET environment_id=77");
	expect_problems(h, 1, "was changed by hand");
}

static void each_changed_row_is_listed(void **state)
{
	struct history *h = *state;
	int64_t id;

	for (int64_t seq = 1; seq <= 5; seq++)
		MUST(history_put_run(h, seq, 100, 0, &id, &err));
	history_run_sql(h, "UPDATE measurement SET value=1 WHERE run_id<>2");
	expect_problems(h, 4, "measurement of run 1,");
}

/* The ids of rows differ between files, their uids do not. */
static void the_checksum_does_not_depend_on_ids(void **state)
{
	struct history *a = *state, b;
	int64_t id;

	history_new(&b);
	history_run_sql(&b, "INSERT INTO machine(id, uid, name) VALUES (77, 'other', 'other')");
	history_fill(&b);
	for (int64_t seq = 5; seq > 0; seq--)
		MUST(history_put_run(&b, seq, 50, 0, &id, &err));
	history_run_sql(&b, "DELETE FROM measurement WHERE run_id<>5");
	MUST(history_put_run(a, 1, 50, 0, &id, &err));
	assert_int_not_equal(a->machine, b.machine);
	assert_int_equal(read_checksum(a), read_checksum(&b));
	history_free(&b);
}

/* SQLite stores -0 as 0, and what is not finite as NULL. */
static void unusual_numbers_have_a_stable_checksum(void **state)
{
	static const double values[] = {
	        -0.0, 0.0, 5e-324, 1e308, -3, 1e15 + 0.5, 9007199254740993.0};
	struct history *h = *state;
	int64_t id;

	for (size_t i = 0; i < COUNT_OF(values); i++)
		MUST(history_put_run(h, (int64_t)i, values[i], 0, &id, &err));
	struct tk_run_row run = {.night_id = h->night,
	        .seq = 90,
	        .series_id = h->series,
	        .build_id = h->build,
	        .as_of_s = 1,
	        .started_s = 1,
	        .message = "",
	        .attributes = "{}"};
	struct tk_point point = {.series_id = h->series,
	        .value = 1,
	        .lo = NAN,
	        .hi = INFINITY,
	        .min = -INFINITY,
	        .q25 = NAN,
	        .q75 = NAN,
	        .p95 = NAN};
	MUST(tk_store_put_run(h->store, &run, &point, NULL, NULL, 1, &id, &err));
	expect_problems(h, 0, "");
}

static void a_merge_refuses_a_changed_row(void **state)
{
	struct history *a = *state, b;
	int64_t id;

	history_new(&b);
	MUST(history_put_run(a, 1, 100, 0, &id, &err));
	MUST(history_put_run(a, 2, 100, 0, &id, &err));
	history_run_sql(a, "UPDATE measurement SET value=50, lo=49, hi=51 WHERE run_id=2");
	MUST_FAIL(TK_EDATA, "measurement of run 2, series box.cpu.blas",
	        tk_store_merge(b.store, a->store, NULL, &err));
	assert_int_equal(history_count(&b, "machine"), 0);
	history_run_sql(a, "DELETE FROM measurement WHERE run_id=2");
	MUST(tk_store_merge(b.store, a->store, NULL, &err));
	assert_int_equal(history_count(&b, "measurement"), 1);
	assert_int_equal(read_checksum(a), read_checksum(&b));
	expect_problems(&b, 0, "");
	history_free(&b);
}

static void every_column_of_a_kernel_report_counts(void **state)
{
	static const char *const changes[] = {
	        "result='{}'", "timeline=''", "checksum=1", "checksum=0"};
	struct history *h = *state;
	int64_t ids[COUNT_OF(changes)], id;

	for (size_t i = 0; i < COUNT_OF(changes); i++)
		MUST(history_put_kernel_report(h, 1000 + (int64_t)i, &ids[i], &err));
	expect_each_change_reported(
	        h, "kernel_report", "id", ids, changes, COUNT_OF(changes), "backend blas: ");
	history_run_sql(h, "DELETE FROM kernel_report");
	MUST(history_put_kernel_report(h, 1000, &id, &err));
	history_run_sql(h, "UPDATE kernel_report SET base='other'");
	expect_problems(h, 2, "kernel_report"); /* its uid and its checksum */
}

static void kernel_reports_are_merged(void **state)
{
	struct history *a = *state, b;
	char *timeline = NULL;
	int64_t id;

	history_new(&b);
	history_fill(&b);
	MUST(history_put_kernel_report(a, 1000, &id, &err));
	MUST(history_put_kernel_report(&b, 1000, &id, &err));
	MUST(history_put_kernel_report(&b, 2000, &id, &err));
	MUST(tk_store_merge(a->store, b.store, NULL, &err));
	assert_int_equal(history_count(a, "kernel_report"), 2);
	MUST(tk_store_read_kernel_timeline(a->store, 2, &timeline, &err));
	assert_string_equal(timeline, "[1]");
	free(timeline);
	expect_problems(a, 0, "");
	MUST(tk_store_rename_machine(a->store, "box", "crate", &err));
	assert_int_equal(history_count(a, "kernel_report"), 2);
	expect_problems(a, 0, "");
	history_run_sql(&b, "UPDATE kernel_report SET timeline='' WHERE started_s=2000");
	MUST_FAIL(TK_EDATA, "was changed by hand", tk_store_merge(a->store, b.store, NULL, &err));
	history_free(&b);
}

static void every_column_of_a_tuning_counts(void **state)
{
	static const char *const changes[] = {"verdict='same'", "config='default'", "winner=''",
	        "default_ns=201", "winner_ns=NULL", "change=-0.6", "change_lo=NULL", "change_hi=0",
	        "pair_count=13", "evaluation_count=7", "candidates='[1]'", "checksum=1"};
	struct history *h = *state;
	int64_t ids[COUNT_OF(changes)], id;

	for (size_t i = 0; i < COUNT_OF(changes); i++)
		MUST(history_put_tuning(h, 1000 + (int64_t)i, &ids[i], &err));
	expect_each_change_reported(h, "tuning", "id", ids, changes, COUNT_OF(changes),
	        "backend blas: was changed by hand");
	history_run_sql(h, "DELETE FROM tuning");
	MUST(history_put_tuning(h, 1000, &id, &err));
	history_run_sql(h, "UPDATE tuning SET backend='other'");
	expect_problems(h, 2, "tuning"); /* its uid and its checksum */
}

static void tunings_are_merged(void **state)
{
	struct history *a = *state, b;
	int64_t id, again;

	history_new(&b);
	history_fill(&b);
	MUST(history_put_tuning(a, 1000, &id, &err));
	MUST(history_put_tuning(a, 1000, &again, &err));
	assert_int_equal(id, again);
	MUST(history_put_tuning(&b, 1000, &id, &err));
	MUST(history_put_tuning(&b, 2000, &id, &err));
	MUST(tk_store_merge(a->store, b.store, NULL, &err));
	assert_int_equal(history_count(a, "tuning"), 2);
	expect_problems(a, 0, "");
	history_run_sql(&b, "UPDATE tuning SET config='slow' WHERE started_s=2000");
	MUST_FAIL(TK_EDATA, "was changed by hand", tk_store_merge(a->store, b.store, NULL, &err));
	history_free(&b);
}

static void a_renamed_machine_keeps_its_tunings(void **state)
{
	struct history *h = *state;
	int64_t id;

	MUST(history_put_tuning(h, 1000, &id, &err));
	MUST(tk_store_rename_machine(h->store, "box", "crate", &err));
	assert_int_equal(history_count(h, "tuning"), 1);
	expect_problems(h, 0, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(every_column_counts),
	        TEST(a_row_of_another_program_has_no_checksum),
	        TEST(a_missing_environment_is_not_none),
	        TEST(each_changed_row_is_listed),
	        TEST(the_checksum_does_not_depend_on_ids),
	        TEST(unusual_numbers_have_a_stable_checksum),
	        TEST(a_merge_refuses_a_changed_row),
	        TEST(every_column_of_a_kernel_report_counts),
	        TEST(kernel_reports_are_merged),
	        TEST(every_column_of_a_tuning_counts),
	        TEST(tunings_are_merged),
	        TEST(a_renamed_machine_keeps_its_tunings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
