/* Change points joined with the revisions and environments around them, and the pages of
 * revisions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_model.h"

#include "base/error.h"
#include "site_gen/model/changes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_S 86400

struct lab {
	struct made_model made;
	struct tk_change_point_builds_row steps[MADE_MAX];
	size_t step_count;
	struct tk_site_series *lower, *higher;
};

static int setup(void **state)
{
	struct lab *lab = calloc(1, sizeof *lab);

	assert_non_null(lab);
	made_init(&lab->made);
	const struct tk_upstream_row *u = made_add_upstream(&lab->made, "lib", "git");
	const struct tk_site_device *d = made_add_device(&lab->made, "gpu", "a", "sm_90");
	const struct tk_problem_row *p = made_add_problem(&lab->made, "gemm", "f16", 1, 1);
	lab->lower = made_add_series(&lab->made, d, u, p, "lower");
	lab->higher = made_add_series(&lab->made, d, u, p, "higher");
	lab->made.series_rows[1].better = TK_BETTER_HIGHER;
	made_add_build(&lab->made, u, "r1");
	made_add_build(&lab->made, u, "r2");
	made_add_build(&lab->made, u, "r3");
	made_add_environment(&lab->made, d, "{}");
	made_add_environment(&lab->made, d, "{}");
	*state = lab;
	return 0;
}

static int teardown(void **state)
{
	struct lab *lab = *state;

	made_free(&lab->made);
	free(lab);
	return 0;
}

static void add(struct lab *lab, const struct tk_site_series *s, int64_t at_s, double after,
        int64_t previous_build, int64_t build, int64_t environment)
{
	const struct tk_change_point_row *c = made_add_change(&lab->made, s, at_s, 100, after);

	lab->steps[lab->step_count++] =
	        (struct tk_change_point_builds_row){.series_id = c->series_id,
	                .as_of_s = at_s,
	                .run_id = c->run_id,
	                .build_id = build,
	                .previous_build_id = previous_build,
	                .environment_id = environment,
	                .previous_environment_id = 1};
}

static const struct tk_site_changes *join(struct lab *lab)
{
	const struct tk_rows steps = {.rows = lab->steps, .count = lab->step_count};
	struct tk_error err = {0};

	made_join(&lab->made);
	if (tk_site_changes_join(&lab->made.model, &steps, &lab->made.model.revision_changes, &err))
		fail_msg("%s", err.message);
	return &lab->made.model.revision_changes;
}

static void changes_are_sorted_by_revision_environment_and_series(void **state)
{
	struct lab *lab = *state;

	add(lab, lab->higher, 1 * DAY_S, 110, 2, 3, 1);
	add(lab, lab->lower, 2 * DAY_S, 110, 1, 2, 2);
	add(lab, lab->lower, 3 * DAY_S, 90, 1, 2, 1);
	add(lab, lab->lower, 4 * DAY_S, 90, 2, 2, 1); /* not of the commit */
	add(lab, lab->lower, 5 * DAY_S, 90, 0, 0, 1); /* builds unknown */
	const struct tk_site_changes *c = join(lab);
	static const int order[] = {5, 3, 2, 4, 1};
	assert_int_equal(c->count, 5);
	for (int i = 0; i < 5; i++)
		assert_int_equal(c->all[i].change_point->as_of_s, order[i] * DAY_S);
	assert_null(c->all[0].bad);
	assert_string_equal(c->all[1].good->rev, "r1");
	assert_string_equal(c->all[1].bad->rev, "r2");
	assert_int_equal(c->all[2].environment->id, 2);
	assert_int_equal(c->all[2].environment_before->id, 1);
	assert_ptr_equal(c->all[4].series, lab->higher);
}

static void worse_depends_on_the_direction(void **state)
{
	struct lab *lab = *state;

	add(lab, lab->lower, 1 * DAY_S, 110, 1, 2, 1);
	add(lab, lab->lower, 2 * DAY_S, 90, 1, 2, 1);
	add(lab, lab->higher, 3 * DAY_S, 110, 1, 2, 1);
	add(lab, lab->higher, 4 * DAY_S, 90, 1, 2, 1);
	const struct tk_site_changes *c = join(lab);
	static const bool worse[] = {true, false, false, true};
	for (int i = 0; i < 4; i++)
		assert_int_equal(c->all[i].worse, worse[i]);
	const struct tk_site_revision *r =
	        tk_site_changes_find_revision(&lab->made.model, c, &lab->made.revisions[1]);
	assert_int_equal(r->first, 0);
	assert_int_equal(r->count, 4);
	assert_int_equal(r->worse, 2);
	assert_null(tk_site_changes_find_revision(&lab->made.model, c, NULL));
}

/* A change where the build did not change is not the commit's. */
static void only_changes_of_the_code_count_for_a_revision(void **state)
{
	struct lab *lab = *state;

	add(lab, lab->lower, 1 * DAY_S, 110, 2, 2, 2);
	add(lab, lab->lower, 2 * DAY_S, 110, 1, 2, 1);
	add(lab, lab->lower, 3 * DAY_S, 110, 0, 3, 1); /* the build before is unknown */
	const struct tk_site_changes *c = join(lab);
	assert_int_equal(c->revisions[0].count, 0);
	assert_int_equal(c->revisions[1].count, 1);
	assert_int_equal(c->revisions[1].first, 0);
	assert_int_equal(c->revisions[2].count, 1);
	assert_int_equal(c->revisions[2].first, 2);
}

static void rows_that_do_not_belong_together_are_left_out(void **state)
{
	struct lab *lab = *state;

	for (int i = 0; i < 4; i++)
		add(lab, lab->lower, (i + 1) * DAY_S, 110, 1, 2, 1);
	lab->steps[0].run_id++;
	lab->steps[1].series_id = lab->higher->row->id;
	lab->made.changes[2].series_id = lab->steps[2].series_id = 99;
	const struct tk_site_changes *c = join(lab);
	assert_int_equal(c->count, 1);
	assert_int_equal(c->all[0].change_point->as_of_s, 4 * DAY_S);
}

static void revisions_have_pages_where_they_are_new_or_changed_something(void **state)
{
	static char revs[TK_SITE_REVISION_PAGES + 3][16];
	struct lab *lab = *state;

	for (int i = 0; i < TK_SITE_REVISION_PAGES + 3; i++) {
		snprintf(revs[i], sizeof revs[i], "s%d", i);
		made_add_build(&lab->made, &lab->made.upstreams[0], revs[i]);
	}
	made_add_upstream(&lab->made, "other", "git");
	made_add_build(&lab->made, &lab->made.upstreams[1], "only");
	add(lab, lab->lower, DAY_S, 110, 1, 2, 1);
	const struct tk_site_changes *c = join(lab);
	const size_t count = TK_SITE_REVISION_PAGES + 7;
	assert_int_equal(c->revision_count, count);
	assert_non_null(c->revisions[count - 1].file); /* of the other upstream */
	for (size_t i = 0; i < count - 1; i++)
		if ((c->revisions[i].file != NULL) !=
		        (i == 1 || i >= count - 1 - TK_SITE_REVISION_PAGES))
			fail_msg(
			        "revision %zu: %s", i, c->revisions[i].file ? "a page" : "no page");
}

/* Twelve digits identify a commit. Other names need the end of the uid. */
static void names_of_pages_are_unique(void **state)
{
	static const struct {
		const char *rev, *file;
	} cases[] = {{"0123456789abcdef0123456789abcdef01234567", "lib-0123456789ab"},
	        {"v1.2", "lib-v1.2-01234567"}, {"0123456789abcdef", "lib-0123456789ab-01234567"},
	        {"2026110100000100000000000000000000000000", "lib-202611010000-01234567"}};
	struct lab *lab = *state;

	for (size_t i = 0; i < 4; i++) {
		made_add_build(&lab->made, &lab->made.upstreams[0], cases[i].rev);
		lab->made.revisions[3 + i].uid = "0123456789";
	}
	const struct tk_site_changes *c = join(lab);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(c->revisions[3 + i].file, cases[i].file);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(changes_are_sorted_by_revision_environment_and_series),
	        TEST(worse_depends_on_the_direction),
	        TEST(only_changes_of_the_code_count_for_a_revision),
	        TEST(rows_that_do_not_belong_together_are_left_out),
	        TEST(revisions_have_pages_where_they_are_new_or_changed_something),
	        TEST(names_of_pages_are_unique),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
