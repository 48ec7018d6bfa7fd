/* Histories that describe the same facts differently, in every column of every table: the order in
 * which they are merged does not matter, a+b = b+a and (a+b)+c = a+(b+c), and a+a = a. */
#include "filled_rows.h"
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

/* Line by line, so that the failure shows the row. */
static void expect_equal(const char *what, char *a, char *b)
{
	char *rest_a = a, *rest_b = b, *x, *y;

	while ((x = strsep(&rest_a, "\n")) && (y = strsep(&rest_b, "\n")))
		if (strcmp(x, y))
			fail_msg("%s:\n%s\n%s", what, x, y);
	assert_true(!rest_a && !rest_b);
	free(a);
	free(b);
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

	expect_equal("a+b+c and c+b+a", strdup(abc), merged(back, 3));
	merge(&b.history, &c.history);
	merge(&a.history, &b.history);
	expect_equal("(a+b)+c and a+(b+c)", strdup(abc), history_export(a.history.store));
	/* again: nothing is new */
	MUST(tk_store_merge(a.history.store, b.history.store, &counts, &err));
	for (size_t i = 0; i < TK_MERGE_COUNTS; i++)
		assert_int_equal(counts.added[i], 0);
	expect_equal("a+(b+c) and a+(b+c)+(b+c)", abc, history_export(a.history.store));
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
