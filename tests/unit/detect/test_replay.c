/* Nights that are analysed again one after the other leave in the history what each of them left
 * when it ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "world.h"

#define NIGHTS 40
#define SERIES 10
#define STEP_NIGHT 26

/* What a history holds of its monitor and alerts. */
struct left {
	struct tk_monitor_state_row state;
	struct tk_rows events, nights, alerts, verdicts;
};

static struct left read_left(struct world *w)
{
	struct left l = {0};

	assert_int_equal(tk_store_read_monitor_state(w->store, w->device, &l.state, &w->err), 0);
	assert_int_equal(
	        tk_store_list_monitor_events(w->store, 0, INT64_MAX, &l.events, &w->err), 0);
	assert_int_equal(tk_store_list_monitored_nights(w->store, &l.nights, &w->err), 0);
	assert_int_equal(tk_store_list_alerts(w->store, &l.alerts, &w->err), 0);
	assert_int_equal(tk_store_list_verdicts(w->store, w->night, &l.verdicts, &w->err), 0);
	return l;
}

static void free_left(struct left *l)
{
	free((void *)l->state.options);
	free((void *)l->state.numbers);
	tk_rows_free(&l->events);
	tk_rows_free(&l->nights);
	tk_rows_free(&l->alerts);
	tk_rows_free(&l->verdicts);
}

static void expect_equal(const struct left *a, const struct left *b)
{
	assert_int_equal(a->state.as_of_s, b->state.as_of_s);
	assert_int_equal(a->state.nights, b->state.nights);
	assert_string_equal(a->state.options, b->state.options);
	assert_int_equal(a->state.count, b->state.count);
	assert_memory_equal(
	        a->state.numbers, b->state.numbers, a->state.count * sizeof *a->state.numbers);
	assert_int_equal(a->nights.count, b->nights.count);
	assert_int_equal(a->events.count, b->events.count);
	for (size_t i = 0; i < a->events.count; i++) {
		const struct tk_monitor_event_row *x = TK_ROWS_AT(&a->events,
		                                          struct tk_monitor_event_row, i),
		                                  *y = TK_ROWS_AT(&b->events,
		                                          struct tk_monitor_event_row, i);

		assert_int_equal(x->series_id, y->series_id);
		assert_int_equal(x->night_id, y->night_id);
		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->first_after_s, y->first_after_s);
		assert_memory_equal(&x->log_lr, &y->log_lr, sizeof x->log_lr);
	}
	assert_int_equal(a->alerts.count, b->alerts.count);
	assert_int_equal(a->verdicts.count, b->verdicts.count);
	for (size_t i = 0; i < a->alerts.count; i++)
		assert_string_equal(TK_ROWS_AT(&a->alerts, struct tk_alert_row, i)->uid,
		        TK_ROWS_AT(&b->alerts, struct tk_alert_row, i)->uid);
	for (size_t i = 0; i < a->verdicts.count; i++) {
		const struct tk_verdict_row *x = TK_ROWS_AT(&a->verdicts, struct tk_verdict_row, i),
		                            *y = TK_ROWS_AT(&b->verdicts, struct tk_verdict_row, i);

		assert_int_equal(x->status, y->status);
		assert_string_equal(x->detail, y->detail);
	}
}

/* A night of all series; two of them become 15 % slower. */
static void measure(struct world *w, int day, struct tk_rng *rng)
{
	char problem[16];
	struct tk_diff_report r;

	snprintf(problem, sizeof problem, "rev%d", day);
	world_build(w, problem, day + 1, "b", problem, "A change");
	world_night(w, day, "nightly");
	for (int i = 0; i < SERIES; i++) {
		const double level = i < 2 && day >= STEP_NIGHT ? 1.15e6 : 1e6;

		snprintf(problem, sizeof problem, "p%d", i);
		if (i != 3 || day % 2) /* one has a point every other night */
			world_point(w, "b", problem, level * (1 + 0.005 * tk_rng_normal(rng)));
	}
	r = world_detect_night(w);
	tk_diff_report_free(&r);
}

static struct tk_detect_replay_counts replay(struct world *w, const struct tk_detect_replay *what)
{
	const struct tk_detect_options options = world_options(w);
	struct tk_detect_replay_counts counts;

	assert_int_equal(tk_detect_replay(w->store, &options, what, &counts, &w->err), 0);
	return counts;
}

static void a_replay_leaves_what_the_nights_left(void **state)
{
	struct world w;
	struct tk_rng rng;
	struct left nightly, again;

	(void)state;
	tk_rng_seed(&rng, 5);
	world_open(&w, NULL);
	for (int day = 0; day < NIGHTS; day++)
		measure(&w, day, &rng);
	world_end_night(&w);
	nightly = read_left(&w);
	assert_true(nightly.events.count >= 2);
	assert_int_equal(
	        replay(&w, &(struct tk_detect_replay){.since_s = INT64_MIN}).nights, NIGHTS);
	again = read_left(&w);
	expect_equal(&nightly, &again);
	free_left(&again);
	assert_int_equal(replay(&w, &(struct tk_detect_replay){.days = 5}).nights, 6);
	again = read_left(&w);
	expect_equal(&nightly, &again);
	free_left(&again);
	free_left(&nightly);
	world_close(&w);
}

/* The next night goes on from the state that the replay stored. */
static void a_night_follows_a_replay(void **state)
{
	struct world w, x;
	struct tk_rng rng, same;
	struct left with, without;

	(void)state;
	tk_rng_seed(&rng, 6);
	tk_rng_seed(&same, 6);
	world_open(&w, NULL);
	world_open(&x, NULL);
	for (int day = 0; day < NIGHTS; day++) {
		measure(&w, day, &rng);
		measure(&x, day, &same);
		if (day == STEP_NIGHT) {
			world_end_night(&w);
			replay(&w, &(struct tk_detect_replay){.since_s = INT64_MIN});
		}
	}
	with = read_left(&w);
	without = read_left(&x);
	expect_equal(&with, &without);
	free_left(&with);
	free_left(&without);
	world_close(&w);
	world_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_replay_leaves_what_the_nights_left),
	        cmocka_unit_test(a_night_follows_a_replay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
