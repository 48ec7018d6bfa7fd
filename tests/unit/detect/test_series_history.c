/* Alarms of whole histories, as `changepoints --online` prints them: which night reports a step,
 * whose step it is, and what must not change them: the unit, the order of the series, other
 * machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "detect/detect.h"
#include "detect/monitor/series_history.h"

#define NIGHTS 70
#define STEP 50
#define SERIES 10

static const struct tk_detect_options options = {.min_effect = 0.02, .fdr = 0.05};

/* Ten quiet series of one machine, a night a day. */
struct histories {
	double value[SERIES][NIGHTS];
	int64_t day[NIGHTS];
	struct tk_series_history at[SERIES];
	struct tk_alarms alarms[SERIES];
};

static struct histories *make_histories(uint64_t seed)
{
	struct histories *h = calloc(1, sizeof *h);
	struct tk_rng r;

	assert_non_null(h);
	tk_rng_seed(&r, seed);
	for (size_t i = 0; i < NIGHTS; i++)
		h->day[i] = 20000 + (int64_t)i;
	for (size_t s = 0; s < SERIES; s++) {
		for (size_t i = 0; i < NIGHTS; i++)
			h->value[s][i] = 1e5 * (double)(s + 1) * exp(0.004 * tk_rng_normal(&r));
		h->at[s] = (struct tk_series_history){
		        .id = "s", .machine = "", .n = NIGHTS, .value = h->value[s], .day = h->day};
	}
	return h;
}

static void multiply(struct histories *h, size_t series, size_t from, size_t to, double factor)
{
	for (size_t i = from; i < to; i++)
		h->value[series][i] *= factor;
}

static void replay(struct histories *h)
{
	struct tk_error err;

	tk_alarms_free(h->alarms, SERIES);
	assert_int_equal(tk_series_history_replay(h->at, SERIES, &options, h->alarms, &err), TK_OK);
}

static void free_histories(struct histories *h)
{
	tk_alarms_free(h->alarms, SERIES);
	free(h);
}

static size_t count_alarms(const struct histories *h)
{
	size_t count = 0;

	for (size_t s = 0; s < SERIES; s++)
		count += h->alarms[s].count;
	return count;
}

/* The one alarm of all series is of this one, about the step at STEP. */
static void expect_step(const struct histories *h, size_t series, double factor)
{
	const struct tk_alarm *a = h->alarms[series].at;

	assert_int_equal(count_alarms(h), 1);
	assert_int_equal(h->alarms[series].count, 1);
	assert_in_range(a->index, STEP - 1, STEP + 1);
	assert_in_range(a->night, STEP + 1, STEP + 9);
	assert_int_equal(a->retracted, 0);
	if (fabs(log(a->after / a->before / factor)) > 0.01)
		fail_msg("a step of %g, expected %g", a->after / a->before, factor);
}

static void quiet_series_have_no_alarms(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++) {
		struct histories *h = make_histories(seed);

		replay(h);
		assert_int_equal(count_alarms(h), 0);
		free_histories(h);
	}
}

static void a_step_is_reported_once_in_any_unit(void **state)
{
	static const double factors[] = {1.1, 0.9, 1.5}, units[] = {1, 1e-9, 1e12};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct histories *h = make_histories(4);

		multiply(h, 3, STEP, NIGHTS, factors[i]);
		for (size_t s = 0; s < SERIES; s++)
			multiply(h, s, 0, NIGHTS, units[i]);
		replay(h);
		expect_step(h, 3, factors[i]);
		free_histories(h);
	}
}

/* Times and rates have alarms on the same nights, about opposite changes. */
static void rates_have_the_alarms_of_times(void **state)
{
	struct histories *times = make_histories(5), *rates = make_histories(5);

	(void)state;
	multiply(times, 2, STEP, NIGHTS, 1.12);
	multiply(times, 7, 30, NIGHTS, 0.9);
	for (size_t s = 0; s < SERIES; s++)
		for (size_t i = 0; i < NIGHTS; i++)
			rates->value[s][i] = 1e9 / times->value[s][i];
	replay(times), replay(rates);
	assert_int_equal(count_alarms(times), 2);
	for (size_t s = 0; s < SERIES; s++) {
		assert_int_equal(times->alarms[s].count, rates->alarms[s].count);
		for (size_t k = 0; k < times->alarms[s].count; k++) {
			const struct tk_alarm *a = &times->alarms[s].at[k],
			                      *b = &rates->alarms[s].at[k];

			assert_int_equal(a->night, b->night);
			assert_int_equal(a->index, b->index);
			assert_true(fabs(log(a->before * b->before / 1e9)) < 1e-6);
			assert_true(fabs(log(a->after * b->after / 1e9)) < 1e-6);
		}
	}
	free_histories(times), free_histories(rates);
}

static void a_step_of_all_series_is_the_machines(void **state)
{
	struct histories *h = make_histories(6);

	(void)state;
	for (size_t s = 0; s < SERIES; s++)
		multiply(h, s, STEP, NIGHTS, 1.1);
	replay(h);
	assert_int_equal(count_alarms(h), 0);
	free_histories(h);
}

/* Two machines: what one of them did is nothing to the other. A step of all series of the second is
 * its own, that of one series of the first is an alarm. */
static void machines_are_apart(void **state)
{
	enum { BOTH = 2 * SERIES };
	struct histories *a = make_histories(7), *b = make_histories(8);
	struct tk_series_history all[BOTH];
	struct tk_alarms alone[SERIES], out[BOTH];
	struct tk_error err;

	(void)state;
	multiply(a, 4, STEP, NIGHTS, 1.1);
	for (size_t s = 0; s < SERIES; s++)
		multiply(b, s, STEP, NIGHTS, 1.1);
	for (size_t s = 0; s < SERIES; s++) { /* one after the other: they are not sorted */
		all[2 * s] = a->at[s], all[2 * s].machine = "one";
		all[2 * s + 1] = b->at[s], all[2 * s + 1].machine = "another";
	}
	assert_int_equal(tk_series_history_replay(all, BOTH, &options, out, &err), TK_OK);
	assert_int_equal(tk_series_history_replay(a->at, SERIES, &options, alone, &err), TK_OK);
	for (size_t s = 0; s < SERIES; s++) {
		assert_int_equal(out[2 * s].count, alone[s].count);
		assert_int_equal(out[2 * s].count, s == 4);
		assert_int_equal(out[2 * s + 1].count, 0);
	}
	assert_int_equal(out[8].at[0].night, alone[4].at[0].night);
	assert_true(out[8].at[0].after == alone[4].at[0].after);
	tk_alarms_free(out, BOTH), tk_alarms_free(alone, SERIES);
	free_histories(a), free_histories(b);
}

/* The order in which the series are listed does not count. */
static void the_order_of_series_does_not_count(void **state)
{
	struct histories *h = make_histories(9), *reversed = make_histories(9);

	(void)state;
	multiply(h, 1, STEP, NIGHTS, 1.1);
	multiply(h, 8, 40, NIGHTS, 0.85);
	for (size_t s = 0; s < SERIES; s++)
		memcpy(reversed->value[SERIES - 1 - s], h->value[s], sizeof h->value[s]);
	replay(h), replay(reversed);
	assert_int_equal(count_alarms(h), 2);
	for (size_t s = 0; s < SERIES; s++) {
		const struct tk_alarms *a = &h->alarms[s], *b = &reversed->alarms[SERIES - 1 - s];

		assert_int_equal(a->count, b->count);
		for (size_t k = 0; k < a->count; k++) {
			assert_int_equal(a->at[k].night, b->at[k].night);
			assert_int_equal(a->at[k].index, b->at[k].index);
			assert_true(fabs(a->at[k].after / b->at[k].after - 1) < 1e-6);
		}
	}
	free_histories(h), free_histories(reversed);
}

/* A driver that came with the step explains it; one that came before or after does not. */
static void another_environment_explains_a_step(void **state)
{
	static const char *environments[NIGHTS];
	static const struct {
		size_t changed;
		size_t alarms;
	} cases[] = {{STEP, 0}, {STEP - 20, 1}, {NIGHTS, 1}};

	(void)state;
	for (size_t k = 0; k < 3; k++) {
		struct histories *h = make_histories(10);

		for (size_t i = 0; i < NIGHTS; i++)
			environments[i] = i < cases[k].changed ? "driver 550" : "driver 555";
		multiply(h, 5, STEP, NIGHTS, 1.1);
		h->at[5].environment = environments;
		replay(h);
		if (h->alarms[5].count != cases[k].alarms)
			fail_msg("case %zu: %zu alarms", k, h->alarms[5].count);
		free_histories(h);
	}
}

static void a_step_that_does_not_last_is_retracted(void **state)
{
	struct histories *h = make_histories(11);

	(void)state;
	multiply(h, 6, STEP, STEP + 5, 1.2);
	replay(h);
	assert_int_equal(count_alarms(h), 1);
	const struct tk_alarm *a = h->alarms[6].at;
	assert_int_equal(a->index, STEP);
	assert_true(a->night < STEP + 5);
	assert_in_range(a->retracted, STEP + 5, STEP + 12);
	free_histories(h);
}

/* Values that are not positive are counted, and are as if they had not been. */
static void values_that_were_not_measured(void **state)
{
	static const double gaps[] = {0, -1, NAN, INFINITY};
	struct histories *h = make_histories(12);

	(void)state;
	multiply(h, 3, STEP, NIGHTS, 1.1);
	for (size_t i = 0; i < 4; i++)
		h->value[3][10 + 7 * i] = h->value[4][20 + 5 * i] = gaps[i];
	replay(h);
	expect_step(h, 3, 1.1);
	free_histories(h);
}

/* A series that was measured every other night, and one that begins later: positions are their
 * own. */
static void series_with_days_of_their_own(void **state)
{
	struct histories *h = make_histories(13);
	int64_t every_other[NIGHTS / 2];
	double thinned[NIGHTS / 2];

	(void)state;
	multiply(h, 3, STEP, NIGHTS, 1.1);
	multiply(h, 5, STEP, NIGHTS, 1.15);
	for (size_t i = 0; i < NIGHTS / 2; i++) {
		every_other[i] = h->day[2 * i];
		thinned[i] = h->value[3][2 * i];
	}
	h->at[3].day = every_other, h->at[3].value = thinned, h->at[3].n = NIGHTS / 2;
	h->at[5].day += 20, h->at[5].value += 20, h->at[5].n -= 20;
	replay(h);
	assert_int_equal(count_alarms(h), 2);
	assert_in_range(h->alarms[3].at[0].index, STEP / 2 - 1, STEP / 2 + 1);
	assert_in_range(h->alarms[5].at[0].index, STEP - 21, STEP - 19);
	assert_true(h->alarms[3].at[0].night < NIGHTS / 2);
	free_histories(h);
}

/* What is known of a night does not depend on the nights after it. */
static void alarms_of_a_shorter_history_are_the_first_ones(void **state)
{
	struct histories *h = make_histories(14), *shorter = make_histories(14);

	(void)state;
	multiply(h, 3, 30, NIGHTS, 1.1), multiply(shorter, 3, 30, NIGHTS, 1.1);
	multiply(h, 3, 55, NIGHTS, 1.1), multiply(shorter, 3, 55, NIGHTS, 1.1);
	replay(h);
	assert_int_equal(h->alarms[3].count, 2);
	for (size_t n = 0; n <= NIGHTS; n += 20) {
		size_t known = 0;

		for (size_t s = 0; s < SERIES; s++)
			shorter->at[s].n = n;
		replay(shorter);
		while (known < h->alarms[3].count && h->alarms[3].at[known].night < n)
			known++;
		assert_int_equal(shorter->alarms[3].count, known);
		for (size_t k = 0; k < known; k++) {
			assert_int_equal(shorter->alarms[3].at[k].night, h->alarms[3].at[k].night);
			assert_true(shorter->alarms[3].at[k].after == h->alarms[3].at[k].after);
		}
	}
	free_histories(h), free_histories(shorter);
}

static void nothing_to_replay(void **state)
{
	const struct tk_series_history empty = {.id = "s", .machine = ""};
	struct tk_alarms out = {.count = 7};
	struct tk_error err;

	(void)state;
	assert_int_equal(tk_series_history_replay(NULL, 0, &options, &out, &err), TK_OK);
	assert_int_equal(out.count, 7);
	assert_int_equal(tk_series_history_replay(&empty, 1, &options, &out, &err), TK_OK);
	assert_int_equal(out.count, 0);
	assert_null(out.at);
	tk_alarms_free(&out, 1);
	tk_alarms_free(NULL, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(quiet_series_have_no_alarms),
	        cmocka_unit_test(a_step_is_reported_once_in_any_unit),
	        cmocka_unit_test(rates_have_the_alarms_of_times),
	        cmocka_unit_test(a_step_of_all_series_is_the_machines),
	        cmocka_unit_test(machines_are_apart),
	        cmocka_unit_test(the_order_of_series_does_not_count),
	        cmocka_unit_test(another_environment_explains_a_step),
	        cmocka_unit_test(a_step_that_does_not_last_is_retracted),
	        cmocka_unit_test(values_that_were_not_measured),
	        cmocka_unit_test(series_with_days_of_their_own),
	        cmocka_unit_test(alarms_of_a_shorter_history_are_the_first_ones),
	        cmocka_unit_test(nothing_to_replay),
	};

	return cmocka_run_group_tests_name("histories as arrays", tests, NULL, NULL);
}
