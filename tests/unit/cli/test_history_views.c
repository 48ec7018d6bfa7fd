/* What commands read of a history: names by id, nights as people write them, the counts of a
 * night and its report. */
#include "../store/history.h"
#include "capture.h"

#include <math.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/history/log.h"
#include "cli/lookup.h"
#include "cli/night/report.h"
#include "cli/stored_place.h"
#include "nightly/nightly.h"

/* ---- names ---- */

static void names_are_found_by_id(void **state)
{
	struct history *h = *state;
	struct tk_lookup l = {0};

	MUST(tk_lookup_load(h->store, &l, &err));
	assert_string_equal(tk_lookup_machine(&l, h->machine)->name, "box");
	assert_string_equal(tk_lookup_device(&l, h->device)->slug, "cpu");
	assert_string_equal(tk_lookup_upstream(&l, h->upstream)->name, "blas");
	assert_string_equal(tk_lookup_build_revision(&l, h->build)->rev, "0123abcd");
	assert_null(tk_lookup_build_revision(&l, h->build + 1));
	assert_null(tk_lookup_series(&l, h->series + 1));
	assert_null(tk_lookup_problem(&l, 0));
	assert_null(tk_lookup_machine(&l, -1));
	tk_lookup_free(&l);
}

static void a_place_has_its_environment(void **state)
{
	struct history *h = *state;
	struct tk_lookup l = {0};

	MUST(tk_lookup_load(h->store, &l, &err));
	json_t *o = tk_stored_place_json(&l, h->device, h->environment, h->problem);
	assert_string_equal(json_string_value(json_object_get(o, "machine")), "box");
	assert_string_equal(json_string_value(json_object_get(o, "device_name")), "Some CPU");
	assert_string_equal(
	        json_string_value(json_object_get(o, "title")), "gemm f32 512x512x512 nn");
	assert_string_equal(
	        json_string_value(json_object_get(json_object_get(o, "environment"), "governor")),
	        "performance");
	json_decref(o);
	o = tk_stored_json("not json");
	assert_true(json_is_null(o));
	json_decref(o);
	tk_lookup_free(&l);
}

/* ---- nights ---- */

static int64_t next_night(struct history *h, enum tk_night_kind kind, const char *summary)
{
	const struct tk_night_row row = {.machine_id = h->machine,
	        .kind = kind,
	        .as_of_s = 90000,
	        .started_s = 90000,
	        .config_hash = "c",
	        .tracker_version = "1",
	        .summary = summary};
	int64_t id;

	MUST(tk_store_begin_night(h->store, &row, &id, &err));
	return id;
}

static void nights_are_named_by_number_or_uid(void **state)
{
	struct history *h = *state;
	const int64_t second = next_night(h, TK_NIGHT_NIGHTLY, "{}");
	const struct tk_night_row *night;
	struct tk_rows nights;
	char text[80];

	MUST(tk_store_list_nights(h->store, &nights, &err));
	MUST(tk_lookup_find_night(&nights, "last", &night, &err));
	assert_int_equal(night->id, second);
	snprintf(text, sizeof text, "%lld", (long long)h->night);
	MUST(tk_lookup_find_night(&nights, text, &night, &err));
	assert_int_equal(night->id, h->night);
	snprintf(text, sizeof text, "%.20s", TK_ROWS_AT(&nights, struct tk_night_row, 1)->uid);
	MUST(tk_lookup_find_night(&nights, text, &night, &err));
	assert_ptr_equal(night, TK_ROWS_AT(&nights, struct tk_night_row, 1));
	MUST_FAIL(TK_EUSAGE, "no night \"4711\"",
	        tk_lookup_find_night(&nights, "4711", &night, &err));
	MUST_FAIL(TK_EUSAGE, "no night \"\"", tk_lookup_find_night(&nights, "", &night, &err));
	MUST_FAIL(TK_EUSAGE, "no night \"LAST\"",
	        tk_lookup_find_night(&nights, "LAST", &night, &err));
	nights.count = 0;
	MUST_FAIL(TK_EUSAGE, "has no nights yet",
	        tk_lookup_find_night(&nights, "last", &night, &err));
	nights.count = 2;
	tk_rows_free(&nights);
}

static void the_start_of_a_uid_may_be_ambiguous(void **state)
{
	struct tk_night_row rows[] = {{.id = 1, .uid = "abc1"}, {.id = 2, .uid = "abc2"}};
	const struct tk_rows nights = {.rows = rows, .count = 2};
	const struct tk_night_row *night;

	MUST_FAIL(TK_EUSAGE, "\"abc\" is ambiguous: 2 nights start with it",
	        tk_lookup_find_night(&nights, "abc", &night, &err));
	MUST(tk_lookup_find_night(&nights, "abc2", &night, &err));
	assert_int_equal(night->id, 2);
}

static void put_job(struct history *h, int64_t seq, enum tk_outcome outcome)
{
	int64_t id;

	if (outcome == TK_OUTCOME_OK) {
		MUST(history_put_run(h, seq, 100, 3, &id, &err));
		return;
	}
	const struct tk_run_row run = {.night_id = h->night,
	        .seq = seq,
	        .series_id = h->series,
	        .build_id = h->build,
	        .environment_id = h->environment,
	        .as_of_s = 1000 + seq,
	        .started_s = 1100 + seq,
	        .outcome = outcome,
	        .message = "",
	        .attributes = "{}"};
	MUST(tk_store_put_run(h->store, &run, NULL, NULL, NULL, 0, &id, &err));
}

static void outcomes_of_a_night_are_counted(void **state)
{
	struct history *h = *state;
	struct tk_night_counts c;

	put_job(h, 1, TK_OUTCOME_OK);
	put_job(h, 2, TK_OUTCOME_WRONG);
	put_job(h, 3, TK_OUTCOME_IMPLAUSIBLE);
	put_job(h, 4, TK_OUTCOME_SKIPPED);
	put_job(h, 5, TK_OUTCOME_UNSUPPORTED);
	put_job(h, 6, TK_OUTCOME_CRASHED);
	put_job(h, 7, TK_OUTCOME_TIMEOUT);
	MUST(tk_night_count(h->store, h->night, &c, &err));
	assert_int_equal(c.ok, 1);
	assert_int_equal(c.wrong, 1);
	assert_int_equal(c.implausible, 1);
	assert_int_equal(c.skipped, 1);
	assert_int_equal(c.unsupported, 1);
	assert_int_equal(c.failed, 2);
	assert_int_equal(c.unstable, 0);
	assert_int_equal(c.open, 0);
	MUST(tk_night_count(h->store, h->night + 1, &c, &err));
	assert_int_equal(c.ok + c.failed, 0);
}

static void new_revisions_are_counted(void **state)
{
	struct history *h = *state;
	struct tk_resolution_row row = {.night_id = h->night,
	        .upstream_id = h->upstream,
	        .revision_id = h->revision,
	        .status = TK_RESOLUTION_NEW,
	        .message = ""};
	struct tk_night_counts c;

	MUST(tk_store_put_resolution(h->store, &row, &err));
	MUST(tk_night_count(h->store, h->night, &c, &err));
	assert_int_equal(c.new_revisions, 1);
}

/* A backfill's night is told apart by the revision that it measured. */
static void a_backfill_shows_its_revision(void **state)
{
	static const struct {
		enum tk_night_kind kind;
		const char *summary, *revision;
	} cases[] = {
	        {TK_NIGHT_BACKFILL, "{\"request\":{\"upstream\":\"blas\"}}", "blas 0123abcd"},
	        {TK_NIGHT_BACKFILL, "{\"request\":{\"upstream\":\"other\"}}", ""},
	        {TK_NIGHT_BACKFILL, "{\"request\":{\"upstream\":17}}", ""},
	        {TK_NIGHT_BACKFILL, "{}", ""},
	        {TK_NIGHT_BACKFILL, "not json", ""},
	        {TK_NIGHT_NIGHTLY, "{\"request\":{\"upstream\":\"blas\"}}", ""},
	};
	struct history *h = *state;
	const struct tk_resolution_row row = {.night_id = h->night,
	        .upstream_id = h->upstream,
	        .revision_id = h->revision,
	        .status = TK_RESOLUTION_NEW,
	        .message = ""};
	struct tk_lookup l = {0};

	MUST(tk_store_put_resolution(h->store, &row, &err));
	MUST(tk_lookup_load(h->store, &l, &err));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tk_night_row night = {
		        .id = h->night, .kind = cases[i].kind, .summary = cases[i].summary};
		struct tk_night_counts c = {.revision = "left over"};
		MUST(tk_night_find_revision(h->store, &night, &l, &c, &err));
		assert_string_equal(c.revision, cases[i].revision);
	}
	tk_lookup_free(&l);
}

static void only_a_stopped_night_can_be_resumed(void **state)
{
	for (int status = 0; status < tk_night_status_words.count; status++) {
		struct tk_night_row night = {
		        .status = (enum tk_night_status)status, .kind = TK_NIGHT_NIGHTLY};
		assert_int_equal(tk_night_can_resume(&night), status == TK_NIGHT_STOPPED);
		night.kind = TK_NIGHT_BACKFILL;
		assert_false(tk_night_can_resume(&night));
	}
}

static const struct tk_night_counts some_counts = {
        .ok = 5, .unstable = 1, .wrong = 2, .regressed = 3, .improved = 4, .new_revisions = 6};

static void a_night_as_json(void **state)
{
	struct history *h = *state;
	const struct tk_night_row night = {.id = 7,
	        .uid = "abc",
	        .machine_id = h->machine,
	        .status = TK_NIGHT_STOPPED,
	        .started_s = 1000,
	        .config_hash = "c",
	        .tracker_version = "1",
	        .summary = "{\"a\":1}"};
	struct tk_lookup l = {0};

	MUST(tk_lookup_load(h->store, &l, &err));
	json_t *o = tk_night_json(&night, &some_counts, &l);
	assert_string_equal(json_string_value(json_object_get(o, "machine")), "box");
	assert_true(json_is_object(json_object_get(o, "summary")));
	assert_true(json_is_null(json_object_get(o, "finished_s")));
	assert_true(json_is_null(json_object_get(o, "revision")));
	expect_contains(json_string_value(json_object_get(o, "hint")), "nightly --resume");
	assert_int_equal(
	        json_integer_value(json_object_get(json_object_get(o, "jobs"), "wrong")), 2);
	assert_int_equal(
	        json_integer_value(json_object_get(json_object_get(o, "moved"), "improved")), 4);
	json_decref(o);
	tk_lookup_free(&l);
}

static void a_night_as_a_row(void **state)
{
	struct history *h = *state;
	struct tk_globals g = {.no_color = true};
	struct tk_night_row night = {.id = 7,
	        .uid = "abcdefghijk",
	        .machine_id = 4711, /* of a damaged history */
	        .status = TK_NIGHT_COMPLETE,
	        .started_s = 86400,
	        .finished_s = 86400 + 150};
	struct tk_table *t = tk_table_new(&g, tk_night_columns);
	struct tk_lookup l = {0};
	struct capture c;

	MUST(tk_lookup_load(h->store, &l, &err));
	tk_night_add_row(t, &night, &some_counts, &l);
	night.finished_s = 0;
	tk_night_add_row(t, &night, &(struct tk_night_counts){0}, &l);
	MUST(tk_table_print(t, capture_open(&c), &err));
	expect_contains(capture_text(&c), "1970-01-02 00:00 ?");
	expect_contains(capture_text(&c), "2 min 30 s");
	expect_contains(capture_text(&c), "3 regressed, 4 improved");
	expect_contains(capture_text(&c), "abcdefgh\n");
	expect_lacks(capture_text(&c), "OPEN");
	expect_lacks(capture_text(&c), "IMPLAUSIBLE");
	capture_free(&c);
	tk_table_free(t);
	tk_lookup_free(&l);
}

/* ---- the report of a night ---- */

static const char *reported(struct history *h, const struct tk_night_report *r, struct capture *c)
{
	FILE *terminal = stdout;

	stdout = capture_open(c);
	tk_night_report_print(h->store, r);
	stdout = terminal;
	return capture_text(c);
}

static void the_report_counts_what_happened(void **state)
{
	struct history *h = *state;
	struct tk_night_report r = {.night_id = h->night,
	        .uid = "0123456789abcdef",
	        .complete = true,
	        .builds = 6,
	        .builds_cached = 2,
	        .builds_failed = 1,
	        .upstreams_unreachable = 1,
	        .jobs = 20,
	        .measured = 10,
	        .verified = 9,
	        .wrong = 1,
	        .skipped = 2,
	        .suspects = 5,
	        .confirmed = 2,
	        .refuted = 1,
	        .pairs = 40,
	        .wall_s = 60};
	struct capture c;
	const char *text = reported(h, &r, &c);

	expect_contains(text, "night 0123456789ab complete in 1 min");
	expect_contains(text, "built:    3 from source, 2 from the cache, 1 failed, 1 upstream "
	                      "unreachable\n");
	expect_contains(text, "measured: 10 of 20 jobs, 9 verified, 1 wrong, 2 skipped\n");
	expect_contains(text, "re-measured: 2 of 5 confirmed, 1 unchanged, 2 inconclusive (40 A/B "
	                      "pairs)\n");
	expect_contains(text, "verdicts: first night, comparisons start with the next one\n");
	expect_contains(text, "history:  ");
	expect_lacks(text, "UNSTABLE");
	expect_lacks(text, "bisected");
	expect_lacks(text, "tuned");
	expect_lacks(text, "site:");
	capture_free(&c);
	r.complete = false;
	r.nights = 3;
	r.upstreams_unreachable = 2;
	r.unstable = 5;
	r.by_status[TK_VERDICT_SAME] = 4;
	r.by_status[TK_VERDICT_REGRESSED] = 1;
	r.first_bad_commits = 1;
	r.stale_tunings = 3;
	r.tuned = 2;
	strcpy(r.site_index, "site/index.html");
	text = reported(h, &r, &c);
	expect_contains(text, "incomplete in 1 min (the last of several)\n");
	expect_contains(text, "2 upstreams unreachable");
	expect_contains(text, "UNSTABLE: 5 of 10 timings missed their target interval");
	expect_contains(text, "verdicts: 1 regressed, 4 same\n");
	expect_contains(text, "bisected: 1 first bad commit found");
	expect_contains(text, "tuned:    2 of 3 stale or missing configurations");
	expect_contains(text, "site:     site/index.html\n");
	capture_free(&c);
}

static void the_report_names_upstreams(void **state)
{
	struct history *h = *state;
	const struct tk_upstream_row other = {.name = "other", .kind = "git", .url = ""};
	struct tk_resolution_row row = {.night_id = h->night,
	        .upstream_id = h->upstream,
	        .revision_id = h->revision,
	        .status = TK_RESOLUTION_NEW,
	        .message = ""};
	const struct tk_night_report r = {.night_id = h->night};
	struct capture c;

	MUST(tk_store_put_resolution(h->store, &row, &err));
	MUST(tk_store_put_upstream(h->store, &other, &row.upstream_id, &err));
	row.revision_id = 0;
	row.status = TK_RESOLUTION_UNREACHABLE;
	row.message = "no route\033[2J";
	MUST(tk_store_put_resolution(h->store, &row, &err));
	const char *text = reported(h, &r, &c);
	expect_contains(text, "  blas                 0123abcd     new         gemm: unroll\n");
	expect_contains(text, "  other                -            unreachable no route");
	expect_lacks(text, "\033");
	capture_free(&c);
}

static void the_exit_code_of_a_night(void **state)
{
	static char regressed[] = "regressed", missing[] = "missing", unknown[] = "nonsense";
	char *const fail_on[] = {unknown, regressed, missing, NULL};
	struct tk_night_report r = {.complete = true};

	assert_int_equal(tk_night_report_exit_code(&r, fail_on), TK_EXIT_OK);
	r.by_status[TK_VERDICT_IMPROVED] = 1;
	assert_int_equal(tk_night_report_exit_code(&r, fail_on), TK_EXIT_OK);
	r.complete = false;
	assert_int_equal(tk_night_report_exit_code(&r, fail_on), TK_EXIT_INCOMPLETE);
	r.by_status[TK_VERDICT_MISSING] = 1;
	assert_int_equal(tk_night_report_exit_code(&r, fail_on), TK_EXIT_FOUND);
	assert_int_equal(tk_night_report_exit_code(&r, NULL), TK_EXIT_INCOMPLETE);
}

static void statuses_of_fail_on(void **state)
{
	char **list;

	MUST(tk_fail_on_parse("regressed,,missing", &list, &err));
	assert_string_equal(list[0], "regressed");
	assert_string_equal(list[1], "missing");
	assert_null(list[2]);
	tk_fail_on_free(list);
	MUST(tk_fail_on_parse("none", &list, &err));
	assert_null(list[0]);
	tk_fail_on_free(list);
	MUST_FAIL(TK_EUSAGE, "unknown status \"regresed\"; did you mean \"regressed\"",
	        tk_fail_on_parse("missing,regresed", &list, &err));
	tk_fail_on_free(NULL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, history_set_up, history_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(names_are_found_by_id),
	        TEST(a_place_has_its_environment),
	        TEST(nights_are_named_by_number_or_uid),
	        cmocka_unit_test(the_start_of_a_uid_may_be_ambiguous),
	        TEST(outcomes_of_a_night_are_counted),
	        TEST(new_revisions_are_counted),
	        TEST(a_backfill_shows_its_revision),
	        cmocka_unit_test(only_a_stopped_night_can_be_resumed),
	        TEST(a_night_as_json),
	        TEST(a_night_as_a_row),
	        TEST(the_report_counts_what_happened),
	        TEST(the_report_names_upstreams),
	        cmocka_unit_test(the_exit_code_of_a_night),
	        cmocka_unit_test(statuses_of_fail_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
