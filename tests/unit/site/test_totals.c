/* The index of all series of a kernel, and the ticks of its chart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "site_gen/data/totals.h"
#include "site_gen/render/date_chart.h"
#include "store/store.h"
#include <math.h>
#include <stdlib.h>

#define DAY_S 86400

/* Two series of one total. */
static struct tk_totals make_totals(void)
{
	struct tk_totals t = {.at = calloc(1, sizeof *t.at),
	        .count = 1,
	        .total_of = calloc(2, sizeof *t.total_of)};
	assert_non_null(t.at);
	assert_non_null(t.total_of);
	return t;
}

static void add(struct tk_totals *t, size_t series, const double *values, size_t count)
{
	struct tk_point points[16] = {0};
	struct tk_error err;
	float previous = NAN;
	size_t used = 0;
	for (size_t i = 0; i < count; i++)
		if (values[i] > 0)
			points[used++] = (struct tk_point){
			        .as_of_s = (int64_t)(i + 1) * DAY_S, .value = values[i]};
	assert_int_equal(tk_totals_add_points(t, series, &previous, points, used, &err), 0);
}

static void a_new_or_missing_series_does_not_move_the_index(void **state)
{
	static const double steady[] = {100, 100, 50, 50, 50, 50},
	                    late[] = {0, 0, 900, 900, 0, 900};
	struct tk_totals t = make_totals();
	double levels[6];
	add(&t, 0, steady, 6);
	add(&t, 1, late, 6);
	assert_int_equal(t.at[0].count, 6);
	tk_total_levels(&t.at[0], levels);
	assert_float_equal(exp(levels[1]), 1, 1e-9);
	for (int i = 2; i < 6; i++)
		assert_float_equal(exp(levels[i]), 2, 1e-9);
	assert_float_equal(tk_total_change(&t.at[0], levels, 0), 1, 1e-9);
	assert_float_equal(tk_total_change(&t.at[0], levels, 2), 0, 1e-9);
	assert_true(isnan(tk_total_change(&t.at[0], levels, 30)));
	tk_totals_free(&t);
}

/* Two backfills of one commit have one time: what is between them is no change since it. */
static void the_first_night_is_the_base(void **state)
{
	static const double after[] = {0, 80, 40};
	struct tk_totals t = make_totals();
	const struct tk_point twice[] = {
	        {.as_of_s = DAY_S, .value = 100}, {.as_of_s = DAY_S, .value = 80}};
	struct tk_error err;
	float previous = NAN;
	double levels[3];
	assert_int_equal(tk_totals_add_points(&t, 0, &previous, twice, 2, &err), 0);
	add(&t, 1, after, 3);
	tk_total_levels(&t.at[0], levels);
	assert_int_equal(t.at[0].count, 3);
	assert_float_equal(levels[0], 0, 1e-12);
	assert_float_equal(levels[1], 0, 1e-12);
	assert_float_equal(exp(levels[2]), 2, 1e-9);
	assert_float_equal(tk_total_change(&t.at[0], levels, 0), 1, 1e-9);
	tk_totals_free(&t);
}

static void points_in_any_order_of_series_and_nights_give_one_index(void **state)
{
	static const double a[] = {100, 80, 80, 60}, b[] = {0, 10, 0, 20};
	struct tk_totals forward = make_totals(), backward = make_totals();
	add(&forward, 0, a, 4);
	add(&forward, 1, b, 4);
	add(&backward, 1, b, 4);
	add(&backward, 0, a, 4);
	assert_int_equal(forward.at[0].count, 4);
	assert_int_equal(backward.at[0].count, 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(forward.at[0].nights[i].as_of_s, (i + 1) * DAY_S);
		assert_int_equal(forward.at[0].nights[i].count, backward.at[0].nights[i].count);
		assert_float_equal(
		        forward.at[0].nights[i].log_sum, backward.at[0].nights[i].log_sum, 1e-12);
	}
	tk_totals_free(&forward);
	tk_totals_free(&backward);
}

static void totals_of_a_kernel_are_summed(void **state)
{
	static const double faster[] = {100, 50}, slower[] = {100, 200, 200};
	struct tk_totals a = make_totals(), b = make_totals();
	struct tk_error err;
	struct tk_total all;
	double levels[3], noise;
	add(&a, 0, faster, 2);
	add(&b, 0, slower, 3);
	const struct tk_total parts[] = {a.at[0], b.at[0]};
	assert_int_equal(tk_totals_merge(parts, 2, &all, &err), 0);
	assert_int_equal(all.count, 3);
	assert_int_equal(all.nights[1].count, 2);
	tk_total_levels(&all, levels);
	assert_float_equal(levels[2], 0, 1e-9);
	assert_int_equal(tk_total_noise(&all, &noise, &err), 0);
	assert_true(isnan(noise));
	free(all.nights);
	tk_totals_free(&a);
	tk_totals_free(&b);
}

static int64_t parse(const char *day)
{
	struct tk_error err;
	int64_t at_s = 0;
	assert_int_equal(tk_time_parse(day, &at_s, &err), 0);
	return at_s;
}

static void ticks_begin_months_weeks_and_hours(void **state)
{
	int64_t ticks[TK_DATE_TICKS_MAX];
	char day[TK_TIME_ISO_SIZE];
	bool by_day;
	assert_int_equal(
	        tk_date_choose_ticks(parse("2026-08-14"), parse("2026-11-20"), 7, ticks, &by_day),
	        7); /* every second Monday */
	assert_true(by_day);
	assert_string_equal(tk_time_format_day(ticks[0], day), "2026-08-17");
	assert_int_equal(
	        tk_date_choose_ticks(parse("2025-11-20"), parse("2026-11-20"), 7, ticks, &by_day),
	        6);
	assert_string_equal(tk_time_format_day(ticks[0], day), "2026-01-01");
	assert_string_equal(tk_time_format_day(ticks[5], day), "2026-11-01");
	assert_int_equal(tk_date_choose_ticks(parse("2026-11-20T10:20"), parse("2026-11-20T12:10"),
	                         7, ticks, &by_day),
	        4);
	assert_false(by_day);
	assert_int_equal(ticks[0], parse("2026-11-20T10:30"));
	assert_int_equal(tk_date_choose_ticks(0, INT64_C(9000000000), 7, ticks, &by_day), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_new_or_missing_series_does_not_move_the_index),
	        cmocka_unit_test(the_first_night_is_the_base),
	        cmocka_unit_test(points_in_any_order_of_series_and_nights_give_one_index),
	        cmocka_unit_test(totals_of_a_kernel_are_summed),
	        cmocka_unit_test(ticks_begin_months_weeks_and_hours),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
