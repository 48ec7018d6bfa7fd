/* revisions/: what the page of a commit is given: the series that changed with it, its builds, and
 * what became of its functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "site_lab.h"

#include "base/error.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two revisions, measured a night each; the second one made the series 1 slower. */
static void begin(struct site_lab *lab, const char *template)
{
	struct world *w = &lab->w;

	lab_set_template(lab, "upstream", "{{#list}}{{rev}} {{rev_page}}\n{{/list}}");
	lab_set_template(lab, "revision", template);
	world_build(w, "r1", 1, "b", NULL, "first");
	world_night(w, 0, "nightly");
	world_point(w, "b", "p1", 1000);
	world_point(w, "b", "p2", 1000);
	world_point(w, "b", "p3", 1000);
	world_build(w, "r2", 2, "b", NULL, "second");
	world_night(w, 1, "nightly");
	world_point(w, "b", "p1", 1100);
	world_point(w, "b", "p2", 500);
	world_point(w, "b", "p3", 1500);
}

static void put_change(struct site_lab *lab, int64_t series, double after)
{
	lab_put_change_point(lab, series, series + 3, series, 1000, after, TK_CAUSE_CODE);
}

/* The page of the revision r2. */
static const char *read_page(struct site_lab *lab)
{
	char path[160];
	const char *line = strstr(lab_read(lab, "upstreams/self.html"), "r2 revisions/");

	assert_non_null(line);
	snprintf(path, sizeof path, "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
	return lab_read(lab, path);
}

static void expect(struct site_lab *lab, const char *text)
{
	lab_build(lab);
	assert_string_equal(read_page(lab), text);
}

/* ---- facts ---- */

static void a_revision_has_its_facts(void **state)
{
	struct site_lab *lab = *state;

	begin(lab,
	        "{{title}}:{{#revision}} {{rev}} {{full}} {{author}} {{commit_time}} {{upstream}} "
	        "{{subject}} {{range}}{{/revision}}");
	put_change(lab, 1, 1100);
	expect(lab, "second: r2 r2 A 2026-01-01 00:00 self second r1 → r2");
}

/* A library of the system has no date, and a first revision no commits since the one before. */
static void what_is_unknown_of_a_revision_is_left_out(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#revision}}{{rev}}{{#dated}} {{commit_time}}{{/dated}}{{#range}} "
	           "{{range}}{{/range}}{{/revision}}");
	put_change(lab, 1, 1100);
	lab_set_template(lab, "upstreams", "{{#list}}{{#dated}}{{commit_time}}{{/dated}}{{/list}}");
	world_end_night(&lab->w);
	lab_build(lab);
	assert_string_equal(read_page(lab), "r2 2026-01-01 00:00 r1 → r2");
	lab_assert_has(lab, "upstreams/index.html", "2026-01-01");
	lab_run_sql(lab, "DELETE FROM resolution WHERE build_id = 1;"
	                 "UPDATE revision SET commit_time_s = 0");
	lab->options.full = true;
	lab_build(lab);
	assert_string_equal(read_page(lab), "r2 r1 → r2");
	lab_assert_lacks(lab, "upstreams/index.html", "–");
}

/* ---- series that changed ---- */

#define CHANGES \
	"{{worse}} {{better}}:{{#change_points}} {{title}} {{change}} {{tone}} {{before}} " \
	"{{after}} " \
	"{{range}};{{/change_points}}"

/* The worse ones first, the larger change first. */
static void change_points_are_ordered_by_size(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, CHANGES);
	put_change(lab, 1, 1100);
	put_change(lab, 2, 500);
	put_change(lab, 3, 1500);
	expect(lab, "2 1: p3 +50.0 % bad 1.000 µs 1.500 µs r1 → r2; "
	            "p1 +10.0 % bad 1.000 µs 1.100 µs r1 → r2; "
	            "p2 −50.0 % good 1.000 µs 500.0 ns r1 → r2;");
}

/* A single night gives no change point yet: its verdicts show what changed. */
static void verdicts_of_the_last_night_are_listed(void **state)
{
	struct site_lab *lab = *state;
	struct tk_verdict_row rows[] = {lab_verdict(1, TK_VERDICT_REGRESSED, 1000, 1100),
	        lab_verdict(2, TK_VERDICT_IMPROVED, 1000, 500),
	        lab_verdict(3, TK_VERDICT_UNSURE, 1000, 1500)};

	begin(lab, "{{#verdicts}}{{title}} {{status}} {{before}} {{after}};{{/verdicts}}");
	put_change(lab, 3, 1500);
	lab_put_verdicts(lab, rows, 3);
	expect(lab, "p1 regressed 1.000 µs 1.100 µs;p2 improved 1.000 µs 500.0 ns;");
}

/* Only those whose newest commits are this one and another. */
static void verdicts_of_other_commits_are_left_out(void **state)
{
	struct site_lab *lab = *state;
	struct tk_verdict_row rows[] = {lab_verdict(1, TK_VERDICT_REGRESSED, 1000, 1100),
	        lab_verdict(2, TK_VERDICT_REGRESSED, 1000, 500)};

	begin(lab, "{{#verdicts}}{{title}};{{/verdicts}}");
	put_change(lab, 3, 1500);
	rows[0].detail = "{\"good_rev\":\"r1\",\"bad_rev\":\"r1\"}";
	lab_put_verdicts(lab, rows, 2);
	expect(lab, "p2;");
}

static void the_first_bad_commit_of_its_range(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;
	struct tk_verdict_row row = lab_verdict(1, TK_VERDICT_REGRESSED, 1000, 1100);
	const struct tk_bisection_row found = lab_bisection(TK_BISECT_FOUND);

	begin(lab, "{{first_bad}}{{#first_bad}} {{first_bad_subject}}{{/first_bad}}");
	put_change(lab, 3, 1500);
	lab_put_verdicts(lab, &row, 1);
	lab_build_now(lab);
	assert_string_equal(read_page(lab), "");
	assert_int_equal(tk_store_put_bisection(w->store, &found, &w->err), 0);
	expect(lab, "r15 unroll");
}

/* ---- builds ---- */

static void builds_are_listed_newest_first(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;
	struct tk_build_row b = {.revision_id = 2,
	        .artifact_key = "other",
	        .adapter = "a",
	        .toolchain = "gcc 12",
	        .flags = "-O3",
	        .arch = "sm_90",
	        .status = TK_BUILD_FAILED,
	        .message = "no space",
	        .log = "the log",
	        .wall_s = 90,
	        .size_bytes = 4096,
	        .built_s = WORLD_START + 3600};
	int64_t id;

	begin(lab,
	        "{{#builds}}{{state}} {{tone}} {{built}} {{took}} {{size}} {{toolchain}} {{flags}} "
	        "{{arch}} {{message}} {{log}}\n{{/builds}}");
	put_change(lab, 1, 1100);
	assert_int_equal(tk_store_put_build(w->store, &b, &id, &w->err), 0);
	expect(lab, "failed bad 2026-01-01 01:00 1 min 30 s 4.096 kB gcc 12 -O3 sm_90 no space the "
	            "log\n"
	            "ok good 2026-01-01 00:00 0 s  cc  x86-64  \n");
}

/* By their dates: merged histories have other ids. */
static void builds_of_merged_histories_are_listed_newest_first(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;
	struct tk_build_row b = {.revision_id = 2,
	        .artifact_key = "k",
	        .adapter = "a",
	        .toolchain = "",
	        .flags = "",
	        .arch = "",
	        .message = "",
	        .log = "",
	        .status = TK_BUILD_OK};
	static const char *const keys[] = {"x", "y", "z"};
	static const int hours[] = {5, 1, 3};
	int64_t id;

	begin(lab, "{{#builds}}{{built}}\n{{/builds}}");
	put_change(lab, 1, 1100);
	for (int i = 0; i < 3; i++) {
		b.artifact_key = keys[i];
		b.built_s = WORLD_START + (int64_t)hours[i] * 3600;
		assert_int_equal(tk_store_put_build(w->store, &b, &id, &w->err), 0);
	}
	expect(lab, "2026-01-01 05:00\n2026-01-01 03:00\n2026-01-01 01:00\n2026-01-01 00:00\n");
}

/* ---- functions ---- */

static void put_kernel(
        struct site_lab *lab, int64_t build, const char *name, const char *hash, int64_t registers)
{
	struct world *w = &lab->w;
	const struct tk_kernel_row k = {.build_id = build,
	        .backend = "b",
	        .name = name,
	        .code_hash = hash,
	        .size_bytes = 100,
	        .registers = registers,
	        .spill_bytes = -1,
	        .shared_bytes = -1,
	        .threads = -1,
	        .occupancy_percent = -1,
	        .instructions = ""};
	int64_t id;

	assert_int_equal(tk_store_put_kernel(w->store, &k, &id, &w->err), 0);
}

#define FUNCTIONS \
	"{{#compared}}since {{#older}}{{rev}}{{/older}}, {{same_functions}} same\n{{#functions}}" \
	"{{backend}} {{function}} {{what}} {{code}} {{registers}} {{spills}} {{size}}\n" \
	"{{/functions}}{{/compared}}{{^compared}}not compared{{/compared}}"

static void functions_are_compared_with_the_build_before(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, FUNCTIONS);
	put_change(lab, 1, 1100);
	put_kernel(lab, 1, "changed", "aaaa", 100);
	put_kernel(lab, 1, "gone", "bbbb", 50);
	put_kernel(lab, 1, "same", "cccc", 32);
	put_kernel(lab, 2, "", "eeee", -1);
	put_kernel(lab, 2, "changed", "dddd", 128);
	put_kernel(lab, 2, "same", "cccc", 32);
	put_kernel(lab, 2, "znew", "ffff", 16);
	expect(lab, "since r1, 1 same\n"
	            "b (whole backend) new eeee – – 100\n"
	            "b changed changed dddd 100 → 128 – 100\n"
	            "b gone gone bbbb 50 – 100\n"
	            "b znew new ffff 16 – 100\n");
}

static void builds_without_known_code_are_not_compared(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, FUNCTIONS);
	put_change(lab, 1, 1100);
	put_kernel(lab, 2, "k", "aaaa", 1);
	expect(lab, "not compared");
}

/* A build of another architecture or adapter is no baseline. */
static void builds_of_another_kind_are_not_compared(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, FUNCTIONS);
	put_change(lab, 1, 1100);
	put_kernel(lab, 1, "k", "aaaa", 1);
	put_kernel(lab, 2, "k", "bbbb", 2);
	world_end_night(&lab->w);
	lab_run_sql(lab, "UPDATE build SET arch = 'sm_80' WHERE id = 1");
	expect(lab, "not compared");
	lab_run_sql(lab, "UPDATE build SET arch = 'x86-64', adapter = 'other' WHERE id = 1");
	expect(lab, "not compared");
	lab_run_sql(lab, "UPDATE build SET adapter = 'a' WHERE id = 1");
	expect(lab, "since r1, 0 same\nb k changed bbbb 1 → 2 – 100\n");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, lab_setup, lab_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_revision_has_its_facts),
	        TEST(what_is_unknown_of_a_revision_is_left_out),
	        TEST(change_points_are_ordered_by_size),
	        TEST(verdicts_of_the_last_night_are_listed),
	        TEST(verdicts_of_other_commits_are_left_out),
	        TEST(the_first_bad_commit_of_its_range),
	        TEST(builds_are_listed_newest_first),
	        TEST(builds_of_merged_histories_are_listed_newest_first),
	        TEST(functions_are_compared_with_the_build_before),
	        TEST(builds_without_known_code_are_not_compared),
	        TEST(builds_of_another_kind_are_not_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
