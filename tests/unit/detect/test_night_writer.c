/* Verdicts of a night, stored by a thread while the next night is computed: as a whole or not at
 * all. */
#include "../store/history.h"

#include <math.h>
#include <string.h>

#include "detect/detect.h"
#include "detect/night_writer.h"

static struct tk_verdict_rows verdicts_of(struct history *h, int64_t night_id, double change)
{
	struct tk_diff_row row = {.series_id = h->series};
	const struct tk_diff_report report = {.rows = &row, .count = 1};
	struct tk_verdict_rows out;

	tk_verdict_init(&row.verdict);
	row.verdict.status = TK_VERDICT_REGRESSED;
	row.verdict.change.value = change;
	MUST(tk_verdict_rows_make(night_id, &report, &out, &err));
	return out;
}

/* The change of the only verdict of the night; NAN: there is none. */
static double stored_change(struct history *h)
{
	struct tk_rows rows;

	MUST(tk_store_list_verdicts(h->store, h->night, &rows, &err));
	assert_true(rows.count <= 1);
	const double change =
	        rows.count ? TK_ROWS_AT(&rows, struct tk_verdict_row, 0)->change : NAN;
	tk_rows_free(&rows);
	return change;
}

static void a_night_is_stored_by_a_thread(void **state)
{
	struct history *h = *state;
	struct tk_night_writer w = {0};
	struct tk_verdict_rows verdicts = verdicts_of(h, h->night, 0.1);

	MUST(tk_night_writer_begin(&w, h->store, &err));
	tk_night_writer_set(&w, &verdicts);
	assert_null(verdicts.at); /* they belong to the writer */
	tk_night_writer_start(&w);
	tk_night_writer_start(&w); /* once */
	MUST(tk_night_writer_finish(&w, &err));
	assert_float_equal(stored_change(h), 0.1, 1e-6);
	assert_true(w.is_open); /* the transaction of the next night */
	verdicts = verdicts_of(h, h->night, 0.2);
	tk_night_writer_set(&w, &verdicts);
	MUST(tk_night_writer_end(&w, &err)); /* without a thread */
	assert_false(w.is_open);
	assert_float_equal(stored_change(h), 0.2, 1e-6);
}

static void without_verdicts_nothing_happens(void **state)
{
	struct history *h = *state;
	struct tk_night_writer w = {0};

	tk_night_writer_start(NULL);
	MUST(tk_night_writer_finish(NULL, &err));
	MUST(tk_night_writer_begin(&w, h->store, &err));
	tk_night_writer_start(&w);
	assert_false(w.is_running);
	MUST(tk_night_writer_finish(&w, &err));
	assert_true(w.is_open);                          /* still that of this night */
	MUST(tk_night_writer_begin(&w, h->store, &err)); /* no second one */
	MUST(tk_night_writer_end(&w, &err));
	assert_false(w.is_open);
	assert_true(isnan(stored_change(h)));
	MUST(tk_night_writer_end(&w, &err));
}

static void abandoned_nights_are_not_stored(void **state)
{
	struct history *h = *state;
	struct tk_night_writer w = {0};
	struct tk_verdict_rows verdicts = verdicts_of(h, h->night, 0.1);

	MUST(tk_night_writer_begin(&w, h->store, &err));
	tk_night_writer_set(&w, &verdicts);
	tk_night_writer_abandon(&w);
	assert_false(w.is_open);
	assert_true(isnan(stored_change(h)));
	tk_night_writer_abandon(&w);
}

/* A failure of the thread is reported by the next call, and everything is rolled back. */
static void a_failed_night_is_rolled_back(void **state)
{
	struct history *h = *state;

	for (int with_thread = 0; with_thread < 2; with_thread++) {
		struct tk_night_writer w = {0};
		struct tk_verdict_rows verdicts = verdicts_of(h, h->night + 7, 0.1);
		struct tk_error failure = {0};
		MUST(tk_night_writer_begin(&w, h->store, &err));
		tk_night_writer_set(&w, &verdicts);
		if (with_thread)
			tk_night_writer_start(&w);
		assert_int_not_equal(tk_night_writer_finish(&w, &failure), TK_OK);
		assert_true(*failure.message);
		assert_false(w.is_open);
		assert_false(w.is_running);
		assert_true(isnan(stored_change(h)));
	}
	struct tk_night_writer next = {0};
	MUST(tk_night_writer_begin(&next, h->store, &err)); /* the store can be used again */
	MUST(tk_night_writer_end(&next, &err));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, history_set_up, history_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_night_is_stored_by_a_thread),
	        TEST(without_verdicts_nothing_happens),
	        TEST(abandoned_nights_are_not_stored),
	        TEST(a_failed_night_is_rolled_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
