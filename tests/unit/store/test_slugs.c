/* Names of devices and series for people, made of generated ones of all kinds: valid, unique, and
 * the same whatever the order in which the rows were stored. Fixed seeds. */
#include "base/buf.h"
#include "base/rng.h"
#include "filled_rows.h"
#include "history.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES 8
#define SERIES 40

/* Names that differ become equal slugs: case, signs, blanks, other scripts, and where they are
 * cut. */
struct names {
	char device[DEVICES][160], backend[SERIES][160];
	size_t device_of[SERIES];
};

static void make_name(struct tk_rng *rng, size_t number, char out[160])
{
	static const char *const pieces[] = {"a", "A", "b", "1", "-", "--", ".", "..", "/", " ",
	        "_", "\xc3\xa9", "\xe2\x82\xac", "!", "%2e"};
	char *end = out;

	for (size_t n = 1 + tk_rng_below(rng, 3); n; n--)
		end += sprintf(end, "%s", pieces[tk_rng_below(rng, 15)]);
	if (tk_rng_below(rng, 6) == 0) /* cut before its end */
		end += sprintf(end, "%0130d", 7);
	sprintf(end, "%.*s", (int)(number % 9), "!!!!!!!!!"); /* no two are the same */
}

static bool is_known(const struct names *n, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(n->backend[k], n->backend[i]) && n->device_of[k] == n->device_of[i])
			return true;
	return false;
}

static void make_names(struct names *n, uint64_t seed)
{
	struct tk_rng rng;

	tk_rng_seed(&rng, seed);
	for (size_t i = 0; i < DEVICES; i++) {
		make_name(&rng, i, n->device[i]);
		sprintf(n->device[i] + strlen(n->device[i]), "%.*s", (int)i, "!!!!!!!!!");
	}
	for (size_t i = 0; i < SERIES; i++)
		do {
			n->device_of[i] = tk_rng_below(&rng, DEVICES);
			make_name(&rng, i, n->backend[i]);
		} while (is_known(n, i));
}

static void put_device(struct history *h, const char *name)
{
	const struct tk_device_row device = {.machine_id = h->machine,
	        .kind = "cpu",
	        .name = name,
	        .uuid = "",
	        .arch = "",
	        .slug = name};

	MUST(tk_store_put_device(h->store, &device, &h->device, &err));
}

static void put_series(struct history *h, const struct names *n, size_t i)
{
	put_device(h, n->device[n->device_of[i]]);
	history_put_series(h, n->backend[i], "cold", "time");
}

/* All of them, in the order of the seed. Devices come before the series of any of them, as in a
 * night: a slug of a series has that of its device. */
static void fill(struct history *h, const struct names *n, uint64_t seed)
{
	struct tk_rng rng;
	size_t order[SERIES];

	history_new(h);
	history_fill(h);
	for (size_t i = 0; i < SERIES; i++)
		order[i] = i;
	tk_rng_seed(&rng, seed);
	tk_rng_shuffle(&rng, order, SERIES, sizeof *order);
	for (size_t i = 0; i < SERIES; i++)
		put_device(h, n->device[n->device_of[order[i]]]);
	for (size_t i = 0; i < SERIES; i++)
		put_series(h, n, order[i]);
}

static void expect_same(struct history *a, struct history *b)
{
	history_expect_same("two orders", history_export(a->store), history_export(b->store));
}

static void every_slug_is_valid_and_unique(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++) {
		struct names n;
		struct history h;
		struct tk_rows series = {0}, problems = {0};

		make_names(&n, seed);
		fill(&h, &n, seed);
		MUST(tk_store_list_series(h.store, &series, &err));
		assert_int_equal(series.count, SERIES + 1);
		for (size_t i = 0; i < series.count; i++) {
			const char *slug = TK_ROWS_AT(&series, struct tk_series_row, i)->slug;

			if (!tk_slug_is_valid(slug) || strlen(slug) > TK_SLUG_MAX_LEN)
				fail_msg("\"%s\" is no slug", slug);
			for (size_t k = 0; k < i; k++)
				assert_string_not_equal(
				        TK_ROWS_AT(&series, struct tk_series_row, k)->slug, slug);
		}
		MUST(tk_store_check(h.store, &problems, &err));
		assert_int_equal(problems.count, 0);
		tk_rows_free(&problems);
		tk_rows_free(&series);
		history_free(&h);
	}
}

static void the_order_of_storing_does_not_matter(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++) {
		struct names n;
		struct history a, b;

		make_names(&n, seed);
		fill(&a, &n, seed);
		fill(&b, &n, 100 + seed);
		expect_same(&a, &b);
		/* Again: each keeps its name. */
		for (size_t i = 0; i < SERIES; i++)
			put_series(&a, &n, i);
		expect_same(&a, &b);
		history_free(&a);
		history_free(&b);
	}
}

/* A machine that gets another name and its old one back is as it was; the other one stays. */
static void a_name_there_and_back(void **state)
{
	struct history h;
	struct filled_rows rows;

	(void)state;
	history_new(&h);
	filled_rows_put(&rows, h.store);
	const char *name = ((struct tk_machine_row *)(void *)rows.row[TK_TABLE_machine][0])->name;
	char *before = history_export(h.store);

	MUST(tk_store_rename_machine(h.store, name, "another name", &err));
	char *between = history_export(h.store);

	assert_string_not_equal(between, before);
	assert_non_null(strstr(between, "\"name\":\"another name\""));
	MUST(tk_store_rename_machine(h.store, "another name", name, &err));
	char *after = history_export(h.store);

	assert_string_equal(after, before);
	free(before);
	free(between);
	free(after);
	filled_rows_free(&rows);
	history_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_slug_is_valid_and_unique),
	        cmocka_unit_test(the_order_of_storing_does_not_matter),
	        cmocka_unit_test(a_name_there_and_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
