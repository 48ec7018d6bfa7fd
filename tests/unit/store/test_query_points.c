/* Points: ranges, newest ones, columns that are not known, values that have a logarithm. */
#include "query_rig.h"

/* Five points of the series, values 10 to 50 at 1001 to 1005; one of another series. */
static int64_t put_points(struct history *h)
{
	int64_t other = history_put_series(h, "blas", "cold", "cpu_time");

	for (int64_t i = 1; i <= 5; i++)
		query_put_run(h, i, (struct query_run){.value = (double)(10 * i)});
	query_put_run(h, 6, (struct query_run){.series_id = other, .value = 99});
	return other;
}

/* "10@1001 20@1002". Frees the list. */
static const char *describe(struct tk_rows *points)
{
	static char text[512];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < points->count; i++) {
		const struct tk_point *p = TK_ROWS_AT(points, struct tk_point, i);

		len += (size_t)snprintf(text + len, sizeof text - len, "%s%g@%lld", len ? " " : "",
		        p->value, (long long)p->as_of_s);
	}
	tk_rows_free(points);
	return text;
}

#define EXPECT_POINTS(expected, call) \
	do { \
		struct tk_rows points = {0}; \
		MUST(call); \
		assert_string_equal(describe(&points), expected); \
	} while (0)

static void ranges_of_points(void **state)
{
	struct history *h = *state;
	struct tk_store *s = h->store;
	int64_t other = put_points(h);

	EXPECT_POINTS("10@1001 20@1002 30@1003 40@1004 50@1005",
	        tk_store_list_points(s, h->series, INT64_MIN, 0, &points, &err));
	EXPECT_POINTS(
	        "40@1004 50@1005", tk_store_list_points(s, h->series, 1004, 0, &points, &err));
	EXPECT_POINTS("50@1005", tk_store_list_points(s, h->series, INT64_MIN, 1, &points, &err));
	EXPECT_POINTS("30@1003 40@1004 50@1005",
	        tk_store_list_points(s, h->series, INT64_MIN, 3, &points, &err));
	EXPECT_POINTS(
	        "40@1004 50@1005", tk_store_list_points(s, h->series, 1004, 3, &points, &err));
	EXPECT_POINTS("10@1001 20@1002 30@1003 40@1004 50@1005",
	        tk_store_list_points(s, h->series, 0, 1024, &points, &err));
	EXPECT_POINTS("", tk_store_list_points(s, h->series, 1006, 0, &points, &err));
	EXPECT_POINTS("99@1006", tk_store_list_points(s, other, 0, 0, &points, &err));
	EXPECT_POINTS("", tk_store_list_points(s, 12345, 0, 0, &points, &err));
	EXPECT_POINTS("20@1002 30@1003",
	        tk_store_list_points_between(s, h->series, 1002, 1004, &points, &err));
	EXPECT_POINTS("", tk_store_list_points_between(s, h->series, 1004, 1004, &points, &err));
}

/* Each reader of points fills the columns it promises, and NAN for the others. */
static void columns_of_points(void **state)
{
	struct history *h = *state;
	struct tk_rows all = {0}, past = {0}, last = {0};
	struct tk_point newest;
	size_t count;

	put_points(h);
	MUST(tk_store_list_points(h->store, h->series, 1005, 0, &all, &err));
	MUST(tk_store_read_newest_points(h->store, h->series, &newest, 1, &count, &err));
	const struct tk_point *const whole[] = {TK_ROWS_AT(&all, struct tk_point, 0), &newest};

	for (size_t i = 0; i < 2; i++) {
		const struct tk_point *p = whole[i];

		assert_int_equal(p->series_id, h->series);
		assert_int_equal(p->as_of_s, 1005);
		assert_int_equal(p->night_id, h->night);
		assert_int_equal(p->build_id, h->build);
		assert_int_equal(p->environment_id, h->environment);
		assert_int_equal(p->n, 7);
		assert_int_equal(p->flags, TK_POINT_THROTTLED);
		assert_float_equal(p->value, 50, 0);
		assert_true(isnan(p->lo) && isnan(p->q75));
		assert_float_equal(p->hi, 51, 0);
		assert_float_equal(p->min, 48, 0);
		assert_float_equal(p->q25, 49, 0);
		assert_float_equal(p->p95, 53, 0);
	}
	MUST(tk_store_list_points_between(h->store, h->series, 1005, 2000, &past, &err));
	const struct tk_point *p = TK_ROWS_AT(&past, struct tk_point, 0);

	assert_int_equal(p->series_id, h->series);
	assert_int_equal(p->night_id, h->night);
	assert_int_equal(p->build_id, h->build);
	assert_int_equal(p->environment_id, h->environment);
	assert_int_equal(p->flags, TK_POINT_THROTTLED);
	assert_float_equal(p->p95, 53, 0);
	assert_float_equal(p->hi, 51, 0);
	assert_true(isnan(p->lo) && isnan(p->min) && isnan(p->q25) && isnan(p->q75));
	MUST(tk_store_list_last_points(h->store, h->series, 1005, 0, 1, &last, &err));
	p = TK_ROWS_AT(&last, struct tk_point, 0);
	assert_int_equal(p->series_id, h->series);
	assert_int_equal(p->run_id, newest.run_id);
	assert_int_equal(p->night_id, h->night);
	assert_int_equal(p->build_id, h->build);
	assert_int_equal(p->environment_id, h->environment);
	assert_int_equal(p->n, 7);
	assert_int_equal(p->flags, TK_POINT_THROTTLED);
	assert_float_equal(p->hi, 51, 0);
	assert_true(isnan(p->lo) && isnan(p->min) && isnan(p->p95));
	tk_rows_free(&all);
	tk_rows_free(&past);
	tk_rows_free(&last);
}

/* As many as are wanted, oldest first, at the start of the array. */
static void newest_points(void **state)
{
	struct history *h = *state;

	put_points(h);
	for (size_t want = 0; want <= 8; want++) {
		struct tk_point points[8] = {{0}};
		size_t count = 99, expected = want < 5 ? want : 5;

		MUST(tk_store_read_newest_points(h->store, h->series, points, want, &count, &err));
		assert_int_equal(count, expected);
		for (size_t i = 0; i < count; i++)
			assert_int_equal(points[i].as_of_s, 1006 - (int64_t)expected + (int64_t)i);
	}
	struct tk_point none;
	size_t count = 99;

	MUST(tk_store_read_newest_points(h->store, 777, &none, 1, &count, &err));
	assert_int_equal(count, 0);
}

static void first_times(void **state)
{
	struct history *h = *state;
	static const struct {
		int64_t from_s, before_s, found;
	} cases[] = {
	        {0, 5000, 1001},
	        {1001, 5000, 1001},
	        {1002, 5000, 1002},
	        {1005, 1006, 1005},
	        {1006, 5000, 5000}, /* none */
	        {0, 1001, 1001},    /* none before the end */
	        {0, 900, 900},
	};

	put_points(h);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int64_t found = -1;

		MUST(tk_store_get_first_time(
		        h->store, h->series, cases[i].from_s, cases[i].before_s, &found, &err));
		assert_int_equal(found, cases[i].found);
	}
}

static void newest_point_of_each_series(void **state)
{
	struct history *h = *state;
	struct tk_rows rows = {0};
	int64_t other = put_points(h);

	history_put_series(h, "blas", "cold", "energy"); /* without a point */
	MUST(tk_store_list_newest_points(h->store, &rows, &err));
	assert_int_equal(rows.count, 2);
	const struct tk_newest_point *p = rows.rows;

	assert_int_equal(p[0].series_id, h->series);
	assert_int_equal(p[0].as_of_s, 1005);
	assert_int_equal(p[0].night_id, h->night);
	assert_int_equal(p[1].series_id, other);
	assert_int_equal(p[1].as_of_s, 1006);
	tk_rows_free(&rows);
}

/* Zero, negative and infinite values have no logarithm. */
static void values_with_a_logarithm(void **state)
{
	struct history *h = *state;
	struct tk_store *s = h->store;
	struct tk_rows values = {0};

	put_points(h);
	history_run_sql(h, "UPDATE measurement SET value=0 WHERE as_of_s=1002;"
	                   "UPDATE measurement SET value=-1 WHERE as_of_s=1003;"
	                   "UPDATE measurement SET value=9e999 WHERE as_of_s=1004;");
	MUST(tk_store_list_values(s, h->series, 2000, &values, &err));
	assert_int_equal(values.count, 2);
	assert_int_equal(TK_ROWS_AT(&values, struct tk_timed_value, 0)->as_of_s, 1001);
	assert_float_equal(TK_ROWS_AT(&values, struct tk_timed_value, 1)->value, 50, 0);
	tk_rows_free(&values);
	MUST(tk_store_list_values(s, h->series, 1005, &values, &err));
	assert_int_equal(values.count, 1);
	tk_rows_free(&values);
	EXPECT_POINTS("10@1001", tk_store_list_first_points(s, h->series, 1005, 9, &points, &err));
	EXPECT_POINTS("10@1001", tk_store_list_first_points(s, h->series, 2000, 1, &points, &err));
	EXPECT_POINTS("10@1001 50@1005",
	        tk_store_list_first_points(s, h->series, 2000, 9, &points, &err));
	EXPECT_POINTS("10@1001 50@1005",
	        tk_store_list_last_points(s, h->series, 1005, 0, 9, &points, &err));
	EXPECT_POINTS(
	        "10@1001", tk_store_list_last_points(s, h->series, 1005, 1, 9, &points, &err));
	EXPECT_POINTS(
	        "10@1001", tk_store_list_last_points(s, h->series, 1004, 0, 9, &points, &err));
	EXPECT_POINTS(
	        "50@1005", tk_store_list_last_points(s, h->series, 1005, 0, 1, &points, &err));
	EXPECT_POINTS("", tk_store_list_last_points(s, h->series, 1005, 2, 9, &points, &err));
}

int query_point_tests(void)
{
	const struct CMUnitTest tests[] = {
	        QUERY_TEST(ranges_of_points),
	        QUERY_TEST(columns_of_points),
	        QUERY_TEST(newest_points),
	        QUERY_TEST(first_times),
	        QUERY_TEST(newest_point_of_each_series),
	        QUERY_TEST(values_with_a_logarithm),
	};

	return cmocka_run_group_tests_name("points", tests, NULL, NULL);
}
