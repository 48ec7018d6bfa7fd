/* Histories that describe the same facts differently, in every column of every table: the order in
 * which they are merged does not matter, a+b = b+a and (a+b)+c = a+(b+c), and a+a = a. */
#include "filled_rows.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS 1

struct drawn {
	struct history history;
	struct filled_rows rows;
};

static void drawn_new(struct drawn *d, uint64_t seed)
{
	history_new(&d->history);
	filled_rows_put_drawn(&d->rows, d->history.store, seed);
}

static void drawn_free(struct drawn *d)
{
	filled_rows_free(&d->rows);
	history_free(&d->history);
}

static void merge(struct history *into, struct history *from)
{
	MUST(tk_store_merge(into->store, from->store, NULL, &err));
}

/* The export of the histories merged in this order into an empty one; free(). */
static char *merged(struct history *const *from, size_t count)
{
	struct history into;

	history_new(&into);
	for (size_t i = 0; i < count; i++)
		merge(&into, from[i]);
	char *text = history_export(into.store);

	history_free(&into);
	return text;
}

/* ---- which of two descriptions wins ---------------------------------------------------------- */

/* Rows of these tables are taken as a whole. */
static bool is_atomic(const char *table)
{
	static const char *const atomic[] = {"resolution", "measurement", "verdict", "change_point",
	        "bisection", "tuning", "kernel_report", "monitor_event"};

	for (size_t i = 0; i < sizeof atomic / sizeof *atomic; i++)
		if (!strcmp(atomic[i], table))
			return true;
	return false;
}

static size_t count_characters(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += (*text & 0xc0) != 0x80;
	return count;
}

/* Null is the least; of two texts the longer one is greater, then the later one in the alphabet. */
static const json_t *greater(const json_t *a, const json_t *b)
{
	if (json_is_null(a) || json_is_null(b))
		return json_is_null(a) ? b : a;
	if (json_is_number(a))
		return json_number_value(a) > json_number_value(b) ? a : b;
	const size_t x = count_characters(json_string_value(a)),
	             y = count_characters(json_string_value(b));

	if (x != y)
		return x > y ? a : b;
	return strcmp(json_string_value(a), json_string_value(b)) > 0 ? a : b;
}

/* Statuses have an order of their own. */
static bool is_ranked(const char *table, const char *column)
{
	for (int t = 0; t < TK_TABLE_COUNT; t++)
		for (size_t i = 0; i < tk_tables[t].column_count; i++)
			if (!strcmp(tk_tables[t].name, table) &&
			        !strcmp(tk_tables[t].columns[i].name, column))
				return tk_tables[t].columns[i].flags & TK_COL_RANKED;
	return false;
}

/* *mixed: counts rows with columns of both. */
static void expect_winner(const json_t *a, const json_t *b, const json_t *merged, size_t *mixed)
{
	const char *table = json_string_value(json_object_get(merged, "table")), *key;
	json_t *value;

	if (is_atomic(table)) {
		if (!json_equal(merged, a) && !json_equal(merged, b))
			fail_msg("a row of %s is mixed", table);
		return;
	}
	*mixed += !json_equal(merged, a) && !json_equal(merged, b);
	json_object_foreach ((json_t *)(uintptr_t)merged, key, value) {
		const json_t *x = json_object_get(a, key), *y = json_object_get(b, key);

		if (!strcmp(table, "series") && !strcmp(key, "slug"))
			continue; /* follows from the names */
		if (json_equal(x, y) || is_ranked(table, key)) {
			assert_true(json_equal(value, x) || json_equal(value, y));
			continue;
		}
		if (!json_equal(value, greater(x, y)))
			fail_msg("%s.%s is not the greater value", table, key);
	}
}

/* Rows have one order in all three, as they have the same uids. Takes the texts. */
static void expect_winners(char *a, char *b, char *merged)
{
	char *rest[3] = {a, b, merged}, *line[3];
	size_t rows = 0, mixed = 0;

	while ((line[0] = strsep(&rest[0], "\n")) && *line[0]) {
		json_t *row[3];

		for (size_t i = 0; i < 3; i++) {
			line[i] = i ? strsep(&rest[i], "\n") : line[0];
			assert_non_null(line[i]);
			row[i] = json_loads(line[i], 0, NULL);
			assert_non_null(row[i]);
		}
		expect_winner(row[0], row[1], row[2], &mixed);
		for (size_t i = 0; i < 3; i++)
			json_decref(row[i]);
		rows++;
	}
	assert_int_equal(rows, FILLED_ROWS * TK_TABLE_COUNT);
	assert_true(mixed >= 5);
	free(a);
	free(b);
	free(merged);
}

static void the_order_of_merging_does_not_matter(void **state)
{
	struct tk_merge_counts counts = {0};
	struct tk_rows problems = {0};
	struct drawn a, b, c;

	(void)state;
	drawn_new(&a, 1);
	drawn_new(&b, 2);
	drawn_new(&c, 3);
	struct history *const forth[] = {&a.history, &b.history, &c.history}, *const back[] = {
	                                                                              &c.history,
	                                                                              &b.history,
	                                                                              &a.history};
	char *abc = merged(forth, 3);

	history_expect_same("a+b+c and c+b+a", strdup(abc), merged(back, 3));
	char *only_b = history_export(b.history.store), *only_c = history_export(c.history.store);

	merge(&b.history, &c.history);
	expect_winners(only_b, only_c, history_export(b.history.store));
	merge(&a.history, &b.history);
	history_expect_same("(a+b)+c and a+(b+c)", strdup(abc), history_export(a.history.store));
	/* again: nothing is new */
	MUST(tk_store_merge(a.history.store, b.history.store, &counts, &err));
	for (size_t i = 0; i < TK_MERGE_COUNTS; i++)
		assert_int_equal(counts.added[i], 0);
	history_expect_same("a+(b+c) and a+(b+c)+(b+c)", abc, history_export(a.history.store));
	MUST(tk_store_check(a.history.store, &problems, &err));
	assert_int_equal(problems.count, 0);
	tk_rows_free(&problems);
	drawn_free(&a);
	drawn_free(&b);
	drawn_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_order_of_merging_does_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
