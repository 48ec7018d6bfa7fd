/* The monitor on plain points: steps, machine steps, retractions, ids out of range, its state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "base/serializer.h"
#include "detect/monitor/monitor.h"

#define SERIES 12
#define STEP_DAY 60

struct run {
	struct tk_monitor *monitor;
	struct tk_monitor_events events;
	struct tk_rng rng;
	struct tk_error err;
};

static void start(struct run *r)
{
	const struct tk_monitor_options o = {.min_effect = 0.02, .fdr = 0.05};

	memset(r, 0, sizeof *r);
	tk_rng_seed(&r->rng, 7);
	assert_int_equal(tk_monitor_new(&o, &r->monitor, &r->err), TK_OK);
}

static void finish(struct run *r)
{
	tk_monitor_events_free(&r->events);
	tk_monitor_free(r->monitor);
}

/* Series 0 is `first` times its level, the others `others` times theirs. */
static void add_day(struct run *r, int64_t day, double first, double others)
{
	struct tk_monitor_point points[SERIES];

	for (int i = 0; i < SERIES; i++)
		points[i] = (struct tk_monitor_point){.series = i,
		        .value = 1e6 * (1 + i) * (i ? others : first) *
		                 (1 + 0.005 * tk_rng_normal(&r->rng)),
		        .at = day,
		        .day = day};
	assert_int_equal(
	        tk_monitor_add_night(r->monitor, points, SERIES, &r->events, &r->err), TK_OK);
}

static const struct tk_monitor_event *find_event(
        const struct run *r, enum tk_monitor_event_kind kind)
{
	for (size_t i = 0; i < r->events.count; i++)
		if (r->events.at[i].kind == kind)
			return &r->events.at[i];
	return NULL;
}

static void a_step_of_one_series(void **state)
{
	struct run r;
	const struct tk_monitor_event *e;

	start(&r);
	for (int64_t day = 0; day < STEP_DAY + 10; day++)
		add_day(&r, day, day < STEP_DAY ? 1 : 1.1, 1);
	e = find_event(&r, TK_MONITOR_STEP);
	assert_non_null(e);
	assert_int_equal(e->series, 0);
	assert_true(llabs(e->first - STEP_DAY) <= 1 && e->last_good == e->first - 1);
	assert_float_equal(e->after / e->before, 1.1, 0.01);
	assert_true(e->q <= 0.05 && e->log_lr >= 10);
	assert_float_equal(tk_monitor_level(r.monitor, 0) / 1.1e6, 1, 0.01);
	finish(&r);
}

static void a_step_of_the_machine(void **state)
{
	struct run r;

	start(&r);
	for (int64_t day = 0; day < STEP_DAY + 10; day++)
		add_day(&r, day, day < STEP_DAY ? 1 : 1.1, day < STEP_DAY ? 1 : 1.1);
	assert_null(find_event(&r, TK_MONITOR_STEP));
	assert_non_null(find_event(&r, TK_MONITOR_MACHINE_STEP));
	finish(&r);
}

/* Candidates of one night share the steps of that day; another night has its own. */
static void steps_of_two_series_then_of_the_machine(void **state)
{
	struct run r;
	bool stepped[SERIES] = {false};
	size_t machine_steps = 0;

	start(&r);
	for (int64_t day = 0; day < 2 * STEP_DAY; day++) {
		const double all = day < STEP_DAY + 40 ? 1 : 1.2;
		struct tk_monitor_point points[SERIES];

		for (int i = 0; i < SERIES; i++)
			points[i] = (struct tk_monitor_point){.series = i,
			        .value = 1e6 * all *
			                 (day < STEP_DAY || i > 1 ? 1
			                         : i              ? 0.9
			                                          : 1.1) *
			                 (1 + 0.005 * tk_rng_normal(&r.rng)),
			        .at = day,
			        .day = day};
		assert_int_equal(
		        tk_monitor_add_night(r.monitor, points, SERIES, &r.events, &r.err), TK_OK);
	}
	for (size_t i = 0; i < r.events.count; i++) {
		const struct tk_monitor_event *e = &r.events.at[i];

		assert_true(e->first < STEP_DAY + 30 ? e->kind == TK_MONITOR_STEP && e->series < 2
		                                     : e->kind == TK_MONITOR_MACHINE_STEP);
		stepped[e->series] |= e->kind == TK_MONITOR_STEP;
		machine_steps += e->kind == TK_MONITOR_MACHINE_STEP;
	}
	assert_true(stepped[0] && stepped[1]);
	assert_true(machine_steps >= SERIES / 2);
	finish(&r);
}

static void a_step_that_does_not_last(void **state)
{
	struct run r;
	const struct tk_monitor_event *step, *retracted;

	start(&r);
	for (int64_t day = 0; day < STEP_DAY + 20; day++)
		add_day(&r, day, day >= STEP_DAY && day < STEP_DAY + 5 ? 1.2 : 1, 1);
	step = find_event(&r, TK_MONITOR_STEP);
	retracted = find_event(&r, TK_MONITOR_RETRACTED);
	assert_non_null(step);
	assert_non_null(retracted);
	assert_int_equal(retracted->first, step->first);
	assert_int_equal(retracted->last_good, step->last_good);
	finish(&r);
}

static void ids_out_of_range(void **state)
{
	static const int64_t ids[] = {-1, TK_MONITOR_SERIES_MAX + 1, INT64_MAX};
	struct run r;

	start(&r);
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
		const struct tk_monitor_point p = {.series = ids[i], .value = 1};

		assert_int_equal(
		        tk_monitor_add_night(r.monitor, &p, 1, &r.events, &r.err), TK_EDATA);
		assert_non_null(strstr(r.err.message, "out of range"));
	}
	finish(&r);
}

static void values_without_a_logarithm(void **state)
{
	static const double values[] = {0, -1, NAN, INFINITY};
	struct run r;
	int64_t at;
	double value;

	start(&r);
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		const struct tk_monitor_point p = {.series = 3, .value = values[i]};

		assert_int_equal(tk_monitor_add_night(r.monitor, &p, 1, &r.events, &r.err), TK_OK);
	}
	assert_int_equal(tk_monitor_find_last_point(r.monitor, 3, &at, &value), 0);
	assert_true(isnan(tk_monitor_level(r.monitor, 3)));
	finish(&r);
}

/* The state continues where it was written: both see the same events. */
static void the_state_continues(void **state)
{
	struct run whole, first, second;
	struct tk_serializer io = {0};

	start(&whole), start(&first), start(&second);
	for (int64_t day = 0; day < STEP_DAY; day++)
		add_day(&whole, day, 1, day == 50 ? 1.03 : 1),
		        add_day(&first, day, 1, day == 50 ? 1.03 : 1);
	assert_int_equal(tk_monitor_serialize(first.monitor, &io, &first.err), TK_OK);
	io.reading = true;
	assert_int_equal(tk_monitor_serialize(second.monitor, &io, &second.err), TK_OK);
	second.rng = first.rng;
	for (int64_t day = STEP_DAY; day < STEP_DAY + 10; day++)
		add_day(&whole, day, 1.1, 1), add_day(&second, day, 1.1, 1);
	assert_int_equal(second.events.count, whole.events.count - first.events.count);
	assert_float_equal(find_event(&second, TK_MONITOR_STEP)->log_lr,
	        find_event(&whole, TK_MONITOR_STEP)->log_lr, 0);
	tk_serializer_free(&io);
	finish(&whole), finish(&first), finish(&second);
}

static void a_damaged_state(void **state)
{
	struct run r, read;
	struct tk_serializer io = {0};

	start(&r);
	for (int64_t day = 0; day < 30; day++)
		add_day(&r, day, 1, 1);
	assert_int_equal(tk_monitor_serialize(r.monitor, &io, &r.err), TK_OK);
	const size_t count = io.count;
	for (size_t cut = 0; cut < count; cut += 1 + count / 50) {
		io.reading = true, io.failed = false, io.next = 0, io.count = cut;
		start(&read);
		assert_int_equal(tk_monitor_serialize(read.monitor, &io, &read.err), TK_EDATA);
		finish(&read);
	}
	io.count = count;
	tk_serializer_free(&io);
	finish(&r);
}

#define MANY 200 /* series: enough for several threads */

/* Every third series steps on a day of its own, all of them on day 90. */
static void monitor_many(struct run *r)
{
	struct tk_monitor_point points[MANY];

	start(r);
	for (int64_t day = 0; day < 100; day++) {
		for (int i = 0; i < MANY; i++)
			points[i] = (struct tk_monitor_point){.series = i,
			        .value = 1e6 * (i % 3 || day < 40 + i % 30 ? 1 : 1.1) *
			                 (day < 90 ? 1 : 1.2) *
			                 (1 + 0.005 * tk_rng_normal(&r->rng)),
			        .at = day,
			        .day = day};
		assert_int_equal(
		        tk_monitor_add_night(r->monitor, points, MANY, &r->events, &r->err), TK_OK);
	}
}

static void threads_change_nothing(void **state)
{
	cpu_set_t all, one;
	struct run alone, together;
	(void)state;

	assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
		if (CPU_ISSET(cpu, &all))
			CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	monitor_many(&alone);
	assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
	monitor_many(&together);
	assert_true(together.events.count > MANY / 3);
	assert_int_equal(together.events.count, alone.events.count);
	for (size_t i = 0; i < alone.events.count; i++) {
		const struct tk_monitor_event *a = &alone.events.at[i], *b = &together.events.at[i];

		assert_int_equal(a->series, b->series);
		assert_int_equal(a->kind, b->kind);
		assert_int_equal(a->first, b->first);
		assert_memory_equal(&a->after, &b->after, sizeof a->after);
		assert_memory_equal(&a->q, &b->q, sizeof a->q);
	}
	finish(&alone);
	finish(&together);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_step_of_one_series),
	        cmocka_unit_test(threads_change_nothing),
	        cmocka_unit_test(a_step_of_the_machine),
	        cmocka_unit_test(steps_of_two_series_then_of_the_machine),
	        cmocka_unit_test(a_step_that_does_not_last),
	        cmocka_unit_test(ids_out_of_range),
	        cmocka_unit_test(values_without_a_logarithm),
	        cmocka_unit_test(the_state_continues),
	        cmocka_unit_test(a_damaged_state),
	};

	return cmocka_run_group_tests_name("monitor", tests, NULL, NULL);
}
