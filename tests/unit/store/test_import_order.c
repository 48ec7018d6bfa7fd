/* Generated histories in CSV: the order of the rows, the layout of the file and the number of files
 * do not matter, because times order a series. Fixed seeds. */
#include "base/rng.h"
#include "import_rig.h"
#include <stdio.h>
#include <stdlib.h>

#define SERIES 4
#define COMMITS 12

/* Units and directions of the series; that of the last one is not known. */
static const char *const units[SERIES] = {"ms", "GB/s", "fps", "apples"};

struct generated {
	double value[SERIES][COMMITS]; /* 0: none */
	int64_t time_s[COMMITS];       /* some commits have the same time */
};

static void generate(struct generated *g, uint64_t seed)
{
	struct tk_rng rng;
	int64_t t = 1600000000;

	tk_rng_seed(&rng, seed);
	for (size_t c = 0; c < COMMITS; c++) {
		t += (int64_t)tk_rng_below(&rng, 3) * 86400;
		g->time_s[c] = t;
		for (size_t s = 0; s < SERIES; s++)
			g->value[s][c] = tk_rng_below(&rng, 5)
			                         ? 1 + (double)tk_rng_below(&rng, 1000) / 8
			                         : 0;
		g->value[0][c] = 1 + (double)c; /* every commit has a result */
	}
}

#define ROWS (SERIES * COMMITS)

/* A row a value, the rows in any order, of the commits from `first` to `last`; free(). */
static char *write_long(const struct generated *g, size_t first, size_t last, struct tk_rng *order)
{
	struct tk_buf text = TK_BUF_INIT;
	size_t rows[ROWS];

	for (size_t i = 0; i < ROWS; i++)
		rows[i] = i;
	if (order)
		tk_rng_shuffle(order, rows, ROWS, sizeof *rows);
	tk_buf_add_str(&text, "series_id,time,commit,value,unit\n");
	for (size_t i = 0; i < ROWS; i++) {
		const size_t s = rows[i] % SERIES, c = rows[i] / SERIES;

		if (c >= first && c <= last && g->value[s][c] > 0)
			tk_buf_add_printf(&text, "s%zu,%lld,c%02zu,%.17g,%s\n", s,
			        (long long)g->time_s[c], c, g->value[s][c], units[s]);
	}
	return tk_buf_detach(&text, NULL);
}

/* A row a commit, newest first; without units. */
static char *write_wide(const struct generated *g)
{
	struct tk_buf text = TK_BUF_INIT;

	tk_buf_add_str(&text, "commit;s0;s1;time;s2;s3\r\n");
	for (size_t c = COMMITS; c-- > 0;) {
		tk_buf_add_printf(&text, "c%02zu", c);
		for (size_t s = 0; s < SERIES; s++) {
			if (s == 2)
				tk_buf_add_printf(&text, ";%lld", (long long)g->time_s[c]);
			tk_buf_add_char(&text, ';');
			if (g->value[s][c] > 0)
				tk_buf_add_printf(&text, "%.17g", g->value[s][c]);
		}
		tk_buf_add_str(&text, "\r\n");
	}
	return tk_buf_detach(&text, NULL);
}

static size_t count_values(const struct generated *g)
{
	size_t count = 0;

	for (size_t s = 0; s < SERIES; s++)
		for (size_t c = 0; c < COMMITS; c++)
			count += g->value[s][c] > 0;
	return count;
}

/* Takes the text. */
static void read_text(struct import_rig *rig, char *text)
{
	MUST(import_rig_read(rig, IMPORT("csv", .upstream = "u"), text, &err));
	assert_int_equal(rig->counts.differing, 0);
	free(text);
}

/* Takes the text. Returns the whole history; free(). */
static char *history_of(char *text, size_t values)
{
	struct import_rig rig;

	import_rig_new(&rig);
	read_text(&rig, text);
	assert_int_equal(rig.counts.points, values);
	assert_int_equal(rig.counts.series, SERIES);
	char *all = history_export(rig.history.store);

	import_rig_free(&rig);
	return all;
}

static void the_order_of_rows_does_not_matter(void **state)
{
	struct tk_rng order;

	(void)state;
	tk_rng_seed(&order, 99);
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct generated g;

		generate(&g, seed);
		const size_t values = count_values(&g);
		char *sorted = history_of(write_long(&g, 0, COMMITS, NULL), values),
		     *shuffled = history_of(write_long(&g, 0, COMMITS, &order), values);

		assert_string_equal(shuffled, sorted);
		free(sorted);
		free(shuffled);
	}
}

static void several_files_are_as_one(void **state)
{
	struct generated g;
	struct import_rig rig;

	(void)state;
	generate(&g, 4);
	char *whole = history_of(write_long(&g, 0, COMMITS, NULL), count_values(&g));

	import_rig_new(&rig);
	read_text(&rig, write_long(&g, 8, COMMITS, NULL)); /* the newest first */
	read_text(&rig, write_long(&g, 0, 3, NULL));
	read_text(&rig, write_long(&g, 4, 7, NULL));
	char *parts = history_export(rig.history.store);

	assert_string_equal(parts, whole);
	/* All of it again adds nothing. */
	read_text(&rig, write_long(&g, 0, COMMITS, NULL));
	assert_int_equal(rig.counts.points + rig.counts.nights + rig.counts.series, 0);
	char *again = history_export(rig.history.store);

	assert_string_equal(again, whole);
	free(again);
	free(parts);
	free(whole);
	import_rig_free(&rig);
}

/* Sum of all values of the points, in the order of their times. */
static double read_series(struct import_rig *rig, const char *name, size_t *count, bool *is_sorted)
{
	struct tk_rows series = {0}, problems = {0}, points = {0};
	double sum = 0;

	*count = 0;
	*is_sorted = true;
	MUST(tk_store_list_series(rig->history.store, &series, &err));
	MUST(tk_store_list_problems(rig->history.store, &problems, &err));
	for (size_t i = 0; i < series.count; i++) {
		const struct tk_series_row *row = TK_ROWS_AT(&series, struct tk_series_row, i);

		for (size_t p = 0; p < problems.count; p++) {
			const struct tk_problem_row *problem =
			        TK_ROWS_AT(&problems, struct tk_problem_row, p);

			if (problem->id != row->problem_id || strcmp(problem->title, name))
				continue;
			MUST(tk_store_list_points(
			        rig->history.store, row->id, INT64_MIN, 0, &points, &err));
		}
	}
	for (size_t i = 0; i < points.count; i++) {
		const struct tk_point *point = TK_ROWS_AT(&points, struct tk_point, i);

		sum += point->value;
		++*count;
		*is_sorted &= !i || point[-1].as_of_s <= point->as_of_s;
	}
	tk_rows_free(&points);
	tk_rows_free(&problems);
	tk_rows_free(&series);
	return sum;
}

static void a_wide_file_has_the_same_values(void **state)
{
	struct generated g;
	struct import_rig rig;

	(void)state;
	generate(&g, 5);
	import_rig_new(&rig);
	read_text(&rig, write_wide(&g));
	assert_int_equal(rig.counts.points, count_values(&g));
	assert_int_equal(rig.counts.without_value, ROWS - count_values(&g));
	for (size_t s = 0; s < SERIES; s++) {
		char name[8];
		double expected = 0;
		size_t values = 0, count;
		bool is_sorted;

		for (size_t c = 0; c < COMMITS; c++) {
			expected += g.value[s][c]; /* eighths: exact in any order */
			values += g.value[s][c] > 0;
		}
		snprintf(name, sizeof name, "s%zu", s);
		assert_true(read_series(&rig, name, &count, &is_sorted) == expected);
		assert_int_equal(count, values);
		assert_true(is_sorted);
	}
	import_rig_free(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_order_of_rows_does_not_matter),
	        cmocka_unit_test(several_files_are_as_one),
	        cmocka_unit_test(a_wide_file_has_the_same_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
