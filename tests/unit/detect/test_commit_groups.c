/* Which group an alert belongs to: the alerts about one commit, found by ranges of revisions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "detect/history/case_set.h"

enum { REVISIONS = 21 };

static struct tk_revision_row revisions[REVISIONS + 1]; /* the last has no position */
static const struct tk_device_row h100 = {.id = 1, .kind = "cuda", .name = "H100"},
                                  same_model = {.id = 2, .kind = "cuda", .name = "H100"},
                                  h200 = {.id = 3, .kind = "cuda", .name = "H200"};
static const struct tk_upstream_row blas = {.id = 1, .name = "blas"},
                                    other = {.id = 2, .name = "other"};

static int set_up(void **state)
{
	struct tk_case_set *c = calloc(1, sizeof *c);

	assert_non_null(c);
	for (int i = 0; i <= REVISIONS; i++)
		revisions[i] = (struct tk_revision_row){.id = i + 1,
		        .position = i < REVISIONS ? i + 1 : 0,
		        .commit_time_s = 100 * i};
	assert_int_equal(tk_row_index_build(&c->catalog.revisions.by_id, revisions, REVISIONS + 1,
	                         sizeof *revisions, NULL),
	        TK_OK);
	*state = c;
	return 0;
}

static int tear_down(void **state)
{
	struct tk_case_set *c = *state;

	tk_row_index_free(&c->catalog.revisions.by_id);
	tk_commit_groups_free(&c->groups);
	free(c);
	return 0;
}

/* An alert about ]good, bad]; "r3" is revision 3. 0: unknown. */
static struct tk_diff_row alert(int good, int bad)
{
	struct tk_diff_row row = {.good_revision_id = good, .bad_revision_id = bad};

	snprintf(row.good_rev, sizeof row.good_rev, "r%d", good);
	snprintf(row.bad_rev, sizeof row.bad_rev, "r%d", bad);
	return row;
}

/* The group of an alert, which then is one of it. */
static const char *group_of(struct tk_case_set *c, const struct tk_device_row *device,
        const struct tk_upstream_row *upstream, bool failure, int good, int bad)
{
	static char uids[16][TK_ALERT_UID_SIZE];
	static int next;
	char *uid = uids[next++ % 16];
	const struct tk_series_case k = {.device = device, .upstream = upstream};
	const struct tk_diff_row row = alert(good, bad);

	tk_commit_groups_find_uid(c, &k, failure, &row, uid);
	assert_true(*uid);
	assert_int_equal(tk_commit_groups_add(c, &k, failure, &row, uid, NULL), TK_OK);
	return uid;
}

static const char *change(struct tk_case_set *c, int good, int bad)
{
	return group_of(c, &h100, &blas, false, good, bad);
}

static void one_range_is_one_group(void **state)
{
	struct tk_case_set *c = *state;
	const char *first = change(c, 3, 5);

	assert_string_equal(change(c, 3, 5), first);
	assert_string_equal(group_of(c, &same_model, &blas, false, 3, 5), first);
	assert_int_equal(c->groups.count, 1);
}

/* Another model, upstream or kind of alert has its own. */
static void other_places_are_other_groups(void **state)
{
	struct tk_case_set *c = *state;
	const char *first = change(c, 3, 5);

	assert_string_not_equal(group_of(c, &h200, &blas, false, 3, 5), first);
	assert_string_not_equal(group_of(c, &h100, &other, false, 3, 5), first);
	assert_string_not_equal(group_of(c, &h100, &blas, true, 3, 5), first);
	assert_int_equal(c->groups.count, 4);
}

/* A series that is measured at every fourth revision narrows a step to four commits. */
static void overlapping_ranges_are_one_group(void **state)
{
	struct tk_case_set *c = *state;
	const char *first = change(c, 4, 8);

	assert_string_equal(change(c, 6, 7), first);
	assert_string_equal(change(c, 2, 7), first);
	assert_string_not_equal(change(c, 8, 9), first); /* after it */
	assert_string_not_equal(change(c, 2, 4), first); /* before it */
}

/* Each alert narrows the group: what overlaps only a part that is excluded is another commit. */
static void a_group_becomes_narrower(void **state)
{
	struct tk_case_set *c = *state;
	const char *first = change(c, 4, 12);

	assert_string_equal(change(c, 8, 12), first); /* ]8, 12] now */
	assert_string_not_equal(change(c, 4, 7), first);
	assert_string_equal(change(c, 11, 15), first); /* ]11, 12] */
	assert_string_not_equal(change(c, 12, 13), first);
}

/* Where two groups overlap, neither is chosen: nothing says which of them it is. */
static void an_ambiguous_range_is_a_group_of_its_own(void **state)
{
	struct tk_case_set *c = *state;
	const char *first = change(c, 2, 4), *second = change(c, 6, 8), *both;

	assert_string_not_equal(first, second);
	both = change(c, 3, 7);
	assert_string_not_equal(both, first);
	assert_string_not_equal(both, second);
}

/* The uid names the first bad revision; a group of that name about an earlier commit is another. */
static void a_name_that_is_taken_gets_another(void **state)
{
	struct tk_case_set *c = *state;
	const char *first = change(c, 2, 8), *second;

	assert_string_equal(change(c, 2, 4), first); /* ]2, 4] now */
	second = change(c, 6, 8);
	assert_string_not_equal(second, first);
	assert_string_equal(change(c, 6, 8), second);
}

static void unknown_revisions_are_grouped_by_name(void **state)
{
	struct tk_case_set *c = *state;
	const char *first = change(c, 0, 8);

	assert_string_equal(change(c, 0, 8), first);
	assert_string_equal(change(c, 6, 8), first); /* the same first bad one */
	assert_string_not_equal(change(c, 0, 7), first);
	assert_string_equal(change(c, 7, 8), first); /* the group has a range since */
}

/* Where revisions have no positions, the times of their commits order them. */
static void times_order_what_has_no_position(void **state)
{
	struct tk_case_set *c = *state;

	for (int i = 0; i <= REVISIONS; i++)
		revisions[i].position = 0;
	const char *first = change(c, 4, 8);
	assert_string_equal(change(c, 6, 7), first);
	assert_string_not_equal(change(c, 9, 10), first);
	revisions[5].position = 5; /* one with and one without: no order */
	assert_string_not_equal(change(c, 5, 6), first);
	assert_string_not_equal(change(c, 8, 4), first); /* backwards: no range */
}

/* ---- stored alerts ---- */

static void stored_alerts_are_groups(void **state)
{
	static const struct tk_series_row series = {.id = 5, .device_id = 1, .upstream_id = 1};
	struct tk_case_set *c = *state;
	struct tk_alert_row rows[] = {
	        {.group_uid = "g1", .series_id = 5, .good_revision_id = 3, .bad_revision_id = 6},
	        {.group_uid = "g1", .series_id = 5, .good_revision_id = 4, .bad_revision_id = 9},
	        {.group_uid = "failures", .kind = TK_ALERT_FAILURE, .series_id = 5},
	        {.group_uid = "missing", .kind = TK_ALERT_MISSING_DATA, .series_id = 5},
	        {.group_uid = "of another series", .series_id = 6},
	        {.group_uid = "a name that is longer than the hash of a group can ever be, of a "
	                      "damaged history",
	                .series_id = 5},
	};

	c->catalog.alerts.rows = rows;
	c->catalog.alerts.count = sizeof rows / sizeof *rows;
	assert_int_equal(
	        tk_row_index_build(&c->catalog.series.by_id, &series, 1, sizeof series, NULL),
	        TK_OK);
	assert_int_equal(
	        tk_row_index_build(&c->catalog.devices.by_id, &h100, 1, sizeof h100, NULL), TK_OK);
	assert_int_equal(tk_commit_groups_load(c, NULL), TK_OK);
	assert_int_equal(c->groups.count, 2);
	assert_string_equal(change(c, 5, 6), "g1");
	assert_string_not_equal(change(c, 6, 7), "g1"); /* ]4, 6] is what both have */
	tk_row_index_free(&c->catalog.series.by_id);
	tk_row_index_free(&c->catalog.devices.by_id);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(one_range_is_one_group),
	        TEST(other_places_are_other_groups),
	        TEST(overlapping_ranges_are_one_group),
	        TEST(a_group_becomes_narrower),
	        TEST(an_ambiguous_range_is_a_group_of_its_own),
	        TEST(a_name_that_is_taken_gets_another),
	        TEST(unknown_revisions_are_grouped_by_name),
	        TEST(times_order_what_has_no_position),
	        TEST(stored_alerts_are_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
