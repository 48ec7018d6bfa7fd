/* A/B pairs by series, time and revisions; and the copy of a history that is in use. */
#include "row_fixture.h"

static void add_pair(struct history *h, int64_t series, int64_t bad, int64_t number, double ratio)
{
	struct tk_ab_pair_row row = {.night_id = h->night,
	        .series_id = series,
	        .good_build_id = h->build,
	        .bad_build_id = bad,
	        .pair = number,
	        .started_s = 1000 + number,
	        .wall_s = 1,
	        .first = "good",
	        .good_outcome = "ok",
	        .bad_outcome = "ok",
	        .message = "",
	        .good_median = 100,
	        .bad_median = 100 * ratio,
	        .good_min = NAN,
	        .bad_min = NAN};
	int64_t id;

	MUST(tk_store_put_ab_pair(h->store, &row, &id, &err));
}

/* "SERIES/PAIR ..." */
static void check_pairs(struct tk_rows *rows, const char *expected)
{
	char text[256] = "", one[48];

	for (size_t i = 0; i < rows->count; i++) {
		const struct tk_ab_pair_row *p = TK_ROWS_AT(rows, struct tk_ab_pair_row, i);
		snprintf(one, sizeof one, "%s%lld/%lld", i ? " " : "", (long long)p->series_id,
		        (long long)p->pair);
		strncat(text, one, sizeof text - strlen(text) - 1);
	}
	assert_string_equal(text, expected);
	tk_rows_free(rows);
}

static void pairs_are_listed_by_series_and_number(void **state)
{
	struct history *h = *state;
	struct tk_rows rows = {0};
	const int64_t second = history_put_series(h, "other", "cold", "time"),
	              bad = history_put_build(h, "bad", NULL);

	add_pair(h, second, bad, 1, 1.1);
	add_pair(h, h->series, bad, 2, 1.1);
	add_pair(h, h->series, bad, 1, 1.2);
	add_pair(h, h->series, bad, 1, 1.2); /* the same again */
	MUST(tk_store_list_ab_pairs(h->store, 0, 0, &rows, &err));
	check_pairs(&rows, "1/1 1/2 2/1");
	MUST(tk_store_list_ab_pairs(h->store, h->series, 0, &rows, &err));
	check_pairs(&rows, "1/1 1/2");
	MUST(tk_store_list_ab_pairs(h->store, second, 1000, &rows, &err));
	check_pairs(&rows, "2/1");
	MUST(tk_store_list_ab_pairs(h->store, 0, 1001, &rows, &err)); /* of later nights */
	check_pairs(&rows, "");
}

static void pairs_of_two_revisions(void **state)
{
	struct history *h = *state;
	struct tk_rows rows = {0}, builds = {0};
	const int64_t bad = history_put_build(h, "bad", NULL),
	              worse = history_put_build(h, "worse", NULL);
	int64_t revision[2] = {0};

	add_pair(h, h->series, bad, 1, 1.1);
	add_pair(h, h->series, worse, 1, 1.3);
	MUST(tk_store_list_builds(h->store, &builds, &err));
	for (size_t i = 0; i < builds.count; i++) {
		const struct tk_build_row *b = TK_ROWS_AT(&builds, struct tk_build_row, i);
		revision[0] = b->id == bad ? b->revision_id : revision[0];
		revision[1] = b->id == worse ? b->revision_id : revision[1];
	}
	for (int i = 0; i < 2; i++) {
		MUST(tk_store_list_ab_pairs_between(
		        h->store, h->series, h->revision, revision[i], &rows, &err));
		assert_int_equal(rows.count, 1);
		const struct tk_ab_pair_row *p = rows.rows;
		assert_float_equal(p->bad_median, i ? 130 : 110, 1e-9);
		assert_true(isnan(p->good_min));
		assert_string_equal(p->first, "good");
		tk_rows_free(&rows);
	}
	MUST(tk_store_list_ab_pairs_between(
	        h->store, h->series, revision[0], h->revision, &rows, &err));
	assert_int_equal(rows.count, 0);
	tk_rows_free(&rows);
	tk_rows_free(&builds);
}

/* Names of the files in the folder of the history, without SQLite's own. */
static void check_files(const struct history *h, const char *expected)
{
	char **names, text[256] = "";
	size_t count;

	MUST(tk_dir_list(h->dir, &names, &count, &err));
	for (size_t i = 0; i < count; i++)
		if (!strstr(names[i], "-wal") && !strstr(names[i], "-shm") &&
		        !strstr(names[i], ".lock")) {
			strncat(text, names[i], sizeof text - strlen(text) - 1);
			strncat(text, " ", sizeof text - strlen(text) - 1);
		}
	tk_names_free(names, count);
	assert_string_equal(text, expected);
}

static void a_backup_is_a_history_of_its_own(void **state)
{
	struct history *h = *state;
	struct tk_rows series = {0};
	char to[160];

	snprintf(to, sizeof to, "%s/copy", h->dir);
	MUST(tk_store_backup(h->store, to, &err));
	check_files(h, "copy tracker.db ");
	history_put_series(h, "later", "cold", "time"); /* the copy does not have it */
	history_reopen(h, TK_STORE_WRITE);
	struct tk_store *copy;
	MUST(tk_store_open(to, TK_STORE_READ, &copy, &err));
	MUST(tk_store_list_series(copy, &series, &err));
	assert_int_equal(series.count, 1);
	tk_rows_free(&series);
	tk_store_close(copy);
}

static void a_backup_that_fails_leaves_nothing(void **state)
{
	struct history *h = *state;
	char folder[160], nowhere[160];

	snprintf(folder, sizeof folder, "%s/folder", h->dir);
	snprintf(nowhere, sizeof nowhere, "%s/none/copy", h->dir);
	MUST(tk_dir_create(folder, &err));
	/* a folder is in its way */
	MUST_FAIL(TK_EUSAGE, "folder: is not a file", tk_store_backup(h->store, folder, &err));
	check_files(h, "folder tracker.db ");
	MUST_FAIL(TK_EIO, "none/copy", tk_store_backup(h->store, nowhere, &err));
	check_files(h, "folder tracker.db ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(pairs_are_listed_by_series_and_number),
	        TEST(pairs_of_two_revisions),
	        TEST(a_backup_is_a_history_of_its_own),
	        TEST(a_backup_that_fails_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
