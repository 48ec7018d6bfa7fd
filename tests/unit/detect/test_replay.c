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

/* ---- which nights ---- */

static void write_night(struct world *w, int day, const char *kind, enum tk_night_status status)
{
	w->status = status;
	world_night(w, day, kind);
	world_point(w, "b", "p", 1e6);
	world_end_night(w);
}

/* Two machines: seven nights up to day 9, and three up to day 30. */
static void write_two_machines(struct world *w)
{
	world_build(w, "a", 1, "b", "h1", "");
	for (int day = 0; day < 5; day++)
		write_night(w, day, "nightly", TK_NIGHT_COMPLETE);
	write_night(w, 5, "nightly", TK_NIGHT_INCOMPLETE);
	write_night(w, 9, "backfill", TK_NIGHT_COMPLETE);
	write_night(w, 8, "run", TK_NIGHT_COMPLETE); /* by hand: no night */
	world_machine(w, "second", "cpu2");
	world_environment(w, "{}");
	for (int day = 28; day <= 30; day++)
		write_night(w, day, "nightly", TK_NIGHT_COMPLETE);
}

static void nights_are_chosen_of_each_machine(void **state)
{
	static const struct {
		int64_t since_s, days;
		size_t nights, machines;
	} cases[] = {{INT64_MIN, 0, 10, 2}, {WORLD_START + 4 * WORLD_DAY, 0, 6, 2},
	        {WORLD_START + 10 * WORLD_DAY, 0, 3, 1}, {WORLD_START + 31 * WORLD_DAY, 0, 0, 0},
	        {0, 1, 3, 2}, {0, 5, 6, 2}, {0, 0, 2, 2}};
	struct world *w = *state;

	write_two_machines(w);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tk_detect_replay what = {
		        .since_s = cases[i].since_s, .days = cases[i].days};
		const struct tk_detect_replay_counts counts = replay(w, &what);

		if (counts.nights != cases[i].nights || counts.machines != cases[i].machines)
			fail_msg("case %zu: %zu nights of %zu machines", i, counts.nights,
			        counts.machines);
		assert_int_equal(counts.series, 2);
	}
}

/* A night that still runs is analysed when it ends. */
static void a_running_night_is_left_alone(void **state)
{
	struct world *w = *state;

	world_build(w, "a", 1, "b", "h1", "");
	for (int day = 0; day < 3; day++)
		write_night(w, day, "nightly", TK_NIGHT_COMPLETE);
	world_night(w, 3, "nightly");
	world_point(w, "b", "p", 1e6);
	assert_int_equal(tk_store_commit(w->store, &w->err), 0);
	w->open = false;
	assert_int_equal(replay(w, &(struct tk_detect_replay){.since_s = INT64_MIN}).nights, 3);
	world_end_night(w);
	assert_int_equal(replay(w, &(struct tk_detect_replay){.since_s = INT64_MIN}).nights, 4);
}

struct progress {
	size_t calls, total;
};

static void count_progress(void *context, size_t done, size_t total)
{
	struct progress *p = context;

	assert_int_equal(done, ++p->calls);
	p->total = total;
}

/* Progress is told after each night, and the verdicts of all nights are counted. */
static void a_replay_counts_what_it_did(void **state)
{
	struct world *w = *state;
	struct progress progress = {0};
	const struct tk_detect_replay what = {
	        .since_s = INT64_MIN, .progress = count_progress, .context = &progress};
	size_t verdicts = 0;

	write_two_machines(w);
	const struct tk_detect_replay_counts counts = replay(w, &what);
	assert_int_equal(progress.calls, 10);
	assert_int_equal(progress.total, 10);
	for (size_t i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
		verdicts += counts.by_status[i];
	assert_int_equal(verdicts, 10);
	assert_int_equal(counts.by_status[TK_VERDICT_NEW], 2); /* the first night of each */
	assert_int_equal(counts.by_status[TK_VERDICT_SAME], 8);
}

static void an_empty_history_is_replayed(void **state)
{
	const struct tk_detect_replay_counts counts =
	        replay(*state, &(struct tk_detect_replay){.since_s = INT64_MIN});

	assert_int_equal(counts.nights, 0);
	assert_int_equal(counts.machines, 0);
	assert_int_equal(counts.series, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_replay_leaves_what_the_nights_left),
	        cmocka_unit_test(a_night_follows_a_replay),
	        IN_WORLD(nights_are_chosen_of_each_machine),
	        IN_WORLD(a_running_night_is_left_alone),
	        IN_WORLD(a_replay_counts_what_it_did),
	        IN_WORLD(an_empty_history_is_replayed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
