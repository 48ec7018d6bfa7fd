/* series/: what the page of a series is given. */
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

#define PAGE "series/box.cpu.self.b.p1.cold.html"

static void begin(struct site_lab *lab, const char *template)
{
	lab_set_template(lab, "series", template);
	world_build(&lab->w, "r1", 1, "b", NULL, "first");
}

static void measure(struct site_lab *lab, int day, double value)
{
	world_night(&lab->w, day, "nightly");
	world_point(&lab->w, "b", "p1", value);
}

static void put_verdict(struct site_lab *lab, enum tk_verdict_status status, double before,
        double after, const char *detail)
{
	struct tk_verdict_row row = lab_verdict(1, status, before, after);

	row.detail = detail;
	lab_put_verdicts(lab, &row, 1);
}

static void expect(struct site_lab *lab, const char *text)
{
	lab_expect(lab, PAGE, text);
}

/* ---- what it is ---- */

static void the_title_names_problem_and_backend(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{title}}|{{description}}|{{root}}|{{site}}");
	measure(lab, 0, 1000);
	expect(lab, "p1 · b|1.000 µs, 1000 TFLOP/s on box/cpu|../|lab");
}

static void the_description_ends_with_the_verdict(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{description}}");
	measure(lab, 0, 2000);
	put_verdict(lab, TK_VERDICT_REGRESSED, 1000, 2000, "{}");
	expect(lab, "2.000 µs, 500.0 TFLOP/s on box/cpu; regressed");
}

static void a_series_without_a_point_is_not_measured(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{description}}|{{#measured}}measured{{/measured}}|{{newest}}|{{samples}}|"
	           "{{#failed}}{{failure_word}}: {{failure_message}}{{/failed}}");
	world_night(&lab->w, 0, "nightly");
	world_fail(&lab->w, "b", "p1", "timeout", "after 60 s");
	expect(lab, "Not measured on box/cpu||–|0|timeout: after 60 s");
}

static void facts_are_those_of_problem_device_and_newest_point(void **state)
{
	struct site_lab *lab = *state;

	begin(lab,
	        "{{problem_text}}|{{device_name}}|{{machine_href}}|{{op_href}}|"
	        "{{#has_op_page}}op page{{/has_op_page}}|{{op_name}}|{{mode}}|{{role}}|{{better}}|"
	        "{{work}}|{{intensity}}|{{newest}}|{{newest_s}}|{{samples}}|{{rev}}|{{subject}}");
	measure(lab, 0, 1000);
	expect(lab, "p1|cpu|../machines/box.html|../kernels/gemm.html|op page|GEMM|cold|suite|"
	            "lower is better|1 GFLOP, 1.000 MB compulsory|1000|2026-01-01 00:00|"
	            "1767225600|30|r1|first");
}

/* Unknown work, as of an imported problem, is left out. */
static void work_that_is_unknown_is_left_out(void **state)
{
	static const struct {
		const char *sql, *shown;
	} cases[] = {{"UPDATE problem SET flops = 0, bytes = 0", "|"},
	        {"UPDATE problem SET flops = 2e9, bytes = 0", "2 GFLOP|"},
	        {"UPDATE problem SET flops = 0, bytes = 4096", "4.096 kB compulsory|"},
	        {"UPDATE problem SET flops = 9e3, bytes = 1e3",
	                "9e-06 GFLOP, 1.000 kB compulsory|9.0"},
	        {"UPDATE problem SET flops = 1e4, bytes = 1e3",
	                "1e-05 GFLOP, 1.000 kB compulsory|10"}};
	struct site_lab *lab = *state;

	begin(lab, "{{work}}|{{intensity}}");
	measure(lab, 0, 1000);
	world_end_night(&lab->w);
	lab->options.full = true;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		lab_run_sql(lab, cases[i].sql);
		expect(lab, cases[i].shown);
	}
}

/* ---- its points ---- */

#define ROWS \
	"{{#rows}}{{night}}|{{value}}|{{half}}|{{change}}|{{direction}}|{{rev}}{{#new_rev}} new" \
	"{{/new_rev}}{{#new_env}} environment{{/new_env}}{{#has_page}} " \
	"page{{/has_page}}\n{{/rows}}"

static void points_are_listed_newest_first(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, ROWS);
	measure(lab, 0, 1000);
	measure(lab, 1, 1000);
	world_build(&lab->w, "r2", 2, "b", NULL, "second");
	measure(lab, 2, 1100);
	world_environment(&lab->w, "{\"driver\":\"555\"}");
	measure(lab, 3, 880);
	expect(lab, "2026-01-04 00:00|880.0|±0.1 %|−20.0 %|faster|r2 environment page\n"
	            "2026-01-03 00:00|1100|±0.1 %|+10.0 %|slower|r2 new page\n"
	            "2026-01-02 00:00|1000|±0.1 %|±0.0 %||r1 page\n"
	            "2026-01-01 00:00|1000|±0.1 %|–||r1 new page\n");
}

static void marks_of_a_point_are_shown(void **state)
{
	struct site_lab *lab = *state;

	begin(lab,
	        "{{#rows}}{{#throttled}}throttled{{/throttled}} {{#unstable}}unstable{{/unstable}}"
	        "\n{{/rows}}");
	for (int day = 0; day < 3; day++)
		measure(lab, day, 1000);
	world_end_night(&lab->w);
	lab_run_sql(lab, "UPDATE measurement SET flags = 1 WHERE as_of_s = 1767225600");
	lab_run_sql(lab, "UPDATE measurement SET flags = 2 WHERE as_of_s = 1767312000");
	expect(lab, " \n unstable\nthrottled \n");
}

static void at_most_thirty_points_are_listed(void **state)
{
	struct site_lab *lab = *state;
	int rows = 0;

	begin(lab, "{{#rows}}{{night}}\n{{/rows}}");
	for (int day = 0; day < 31; day++)
		measure(lab, day, 1000);
	lab_build(lab);
	const char *text = lab_read(lab, PAGE);
	for (const char *c = text; *c; c++)
		rows += *c == '\n';
	assert_int_equal(rows, 30);
	assert_int_equal(strncmp(text, "2026-01-31", 10), 0);
	assert_null(strstr(text, "2026-01-01 "));
}

/* ---- change points ---- */

static struct tk_change_point_row change_point(int day, int64_t run_id, double before, double after)
{
	return (struct tk_change_point_row){.series_id = 1,
	        .as_of_s = WORLD_START + day * WORLD_DAY,
	        .run_id = run_id,
	        .previous_run_id = run_id - 1,
	        .before_value = before,
	        .after_value = after,
	        .change_lo = 0.01,
	        .change_hi = 0.02,
	        .p = 0.001,
	        .cause = TK_CAUSE_CODE,
	        .confidence = 0.99,
	        .detail = "{}"};
}

static void change_points_are_listed_newest_first(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, "{{#changes}}{{number}} {{when}} {{change}} {{direction}} {{tone}} {{before}} "
	           "{{after}} {{cause}} {{range}}\n{{/changes}}");
	measure(lab, 0, 1000);
	world_build(w, "r2", 2, "b", NULL, "second");
	measure(lab, 1, 1100);
	measure(lab, 2, 880);
	const struct tk_change_point_row rows[] = {
	        change_point(1, 2, 1000, 1100), change_point(2, 3, 1100, 880)};
	assert_int_equal(tk_store_replace_change_points(w->store, 1, rows, 2, &w->err), 0);
	expect(lab, "2 2026-01-03 00:00 −20.0 % faster good 1.100 µs 880.0 ns code r2 (unchanged)\n"
	            "1 2026-01-02 00:00 +10.0 % slower bad 1.000 µs 1.100 µs code r1 → r2\n");
}

/* A verdict that no change point says yet. */
#define PENDING \
	"{{#pending}}{{change}} {{tone}} {{before}} {{after}} {{range}} {{first_bad}}" \
	"{{#alert_uid}} alert {{alert_uid}}{{/alert_uid}}{{/pending}}"

static void a_new_change_is_pending(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, PENDING);
	measure(lab, 0, 1000);
	world_build(w, "r2", 2, "b", NULL, "second");
	measure(lab, 1, 1500);
	put_verdict(lab, TK_VERDICT_REGRESSED, 1000, 1500, "{}");
	const struct tk_alert_row alert = {.uid = "alert-1",
	        .kind = TK_ALERT_CHANGE,
	        .machine_id = w->machine,
	        .upstream_id = w->upstream,
	        .series_id = 1,
	        .night_id = w->night,
	        .status = TK_ALERT_OPEN,
	        .opened_s = w->as_of_s,
	        .change = 0.5,
	        .cause = TK_CAUSE_CODE,
	        .title = "slower",
	        .good_rev = "r1",
	        .bad_rev = "r2"};
	assert_int_equal(tk_store_put_alert(w->store, &alert, &w->err), 0);
	expect(lab, "+50.0 % bad 1.000 µs 1.500 µs r1 → r2  alert alert-1");
}

static void a_change_point_is_not_pending(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;
	const struct tk_change_point_row row = change_point(1, 2, 1000, 1500);

	begin(lab, PENDING);
	measure(lab, 0, 1000);
	measure(lab, 1, 1500);
	put_verdict(lab, TK_VERDICT_REGRESSED, 1000, 1500, "{}");
	assert_int_equal(tk_store_replace_change_points(w->store, 1, &row, 1, &w->err), 0);
	expect(lab, "");
}

/* An older change point does not explain the newest night. */
static void an_older_change_point_leaves_it_pending(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;
	const struct tk_change_point_row row = change_point(1, 2, 1000, 1500);

	begin(lab, "{{#pending}}{{tone}} {{first_bad}}{{/pending}}");
	measure(lab, 0, 1000);
	measure(lab, 1, 1500);
	measure(lab, 2, 500);
	put_verdict(lab, TK_VERDICT_IMPROVED, 1500, 500, "{}");
	assert_int_equal(tk_store_replace_change_points(w->store, 1, &row, 1, &w->err), 0);
	expect(lab, "good ");
}

/* The commits that the verdict names, not those of the two newest points; and the first bad one
 * where a bisection found it. */
static void the_range_of_a_verdict_and_its_first_bad_commit(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, "{{#pending}}{{range}}|{{first_bad}}|{{first_bad_subject}}|{{first_bad_author}}|"
	           "{{first_bad_confidence}}{{/pending}}");
	measure(lab, 0, 1000);
	world_build(w, "r2", 2, "b", NULL, "second");
	world_build(w, "r3", 3, "b", NULL, "third");
	measure(lab, 1, 1500);
	put_verdict(
	        lab, TK_VERDICT_REGRESSED, 1000, 1500, "{\"good_rev\":\"r1\",\"bad_rev\":\"r3\"}");
	const struct tk_bisection_row found = {.uid = "b1",
	        .series_id = 1,
	        .night_id = w->night,
	        .outcome = TK_BISECT_FOUND,
	        .good_rev = "r1",
	        .bad_rev = "r3",
	        .first_bad_rev = "r2",
	        .last_good_rev = "r1",
	        .subject = "second",
	        .author = "Ann",
	        .change = 0.5,
	        .change_lo = 0.4,
	        .change_hi = 0.6,
	        .confidence = 0.995};
	assert_int_equal(tk_store_put_bisection(w->store, &found, &w->err), 0);
	expect(lab, "r1 → r3|r2|second|Ann|99.5");
}

/* ---- nights without a timing ---- */

static void failed_nights_are_marks(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, "{{marks}}");
	measure(lab, 0, 1000);
	world_night(w, 1, "nightly");
	world_fail(w, "b", "p1", "crashed", "");
	world_night(w, 2, "nightly");
	world_fail(w, "b", "p1", "skipped", "");
	world_night(w, 3, "nightly");
	world_fail(w, "b", "p1", "unsupported", "");
	measure(lab, 4, 1000);
	expect(lab, "[{&quot;time&quot;:1767312000,&quot;word&quot;:&quot;crashed&quot;,"
	            "&quot;isVerdict&quot;:false,&quot;isWorse&quot;:true},"
	            "{&quot;time&quot;:1767398400,&quot;word&quot;:&quot;skipped&quot;,"
	            "&quot;isVerdict&quot;:false,&quot;isWorse&quot;:false}]");
}

static void a_pending_change_is_a_mark(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{marks}}");
	measure(lab, 0, 1000);
	measure(lab, 1, 1500);
	put_verdict(lab, TK_VERDICT_REGRESSED, 1000, 1500, "{}");
	lab_build(lab);
	lab_assert_has(lab, PAGE, "&quot;time&quot;:1767312000,&quot;word&quot;:&quot;+50.0");
	lab_assert_has(lab, PAGE, "&quot;isVerdict&quot;:true,&quot;isWorse&quot;:true}]");
}

static void measured_nights_are_no_marks(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{marks}}");
	measure(lab, 0, 1000);
	measure(lab, 1, 1000);
	expect(lab, "");
}

/* ---- its neighbours ---- */

static void other_backends_of_a_problem_are_peers(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, "{{#peers}}{{label}} {{ratio}} {{value}} {{href}}{{#same_device}} "
	           "same{{/same_device}}"
	           " {{files}}\n{{/peers}}");
	world_night(w, 0, "nightly");
	world_point(w, "b", "p1", 1000);
	world_point(w, "c", "p1", 2500);
	world_point(w, "c", "p2", 1);
	world_fail(w, "d", "p1", "unsupported", ""); /* has no result */
	expect(lab, "c 2.50× 2.500 µs ../series/box.cpu.self.c.p1.cold.html same "
	            "data/000.recent.js data/000.hot.js\n");
}

/* A series of the problem p1, in another metric or mode. */
static void put_other(struct site_lab *lab, const char *backend, const char *mode,
        const char *metric, const char *unit, double value)
{
	const struct tk_series_row s = {.problem_id = 1,
	        .backend = backend,
	        .config = "",
	        .mode = mode,
	        .metric = metric,
	        .unit = unit,
	        .better = TK_BETTER_LOWER,
	        .role = TK_ROLE_SUITE};

	lab_put_point(lab, &s, value, "{}");
}

static void other_metrics_and_modes_of_a_series_are_linked(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#others}}{{other_metric}} {{other_mode}} {{other_href}}\n{{/others}}");
	measure(lab, 0, 1000);
	put_other(lab, "b", "cold", "energy", "J", 0.5);
	put_other(lab, "b", "warm", "time", "ns", 900);
	put_other(lab, "c", "warm", "time", "ns", 800);
	lab_build(lab);
	lab_assert_has(lab, PAGE, "energy cold box.cpu.self.b.p1.cold.energy.html\n");
	lab_assert_has(lab, PAGE, "time warm box.cpu.self.b.p1.warm.html\n");
	lab_assert_lacks(lab, PAGE, "self.c.");
	lab_assert_lacks(lab, PAGE, "time cold");
}

/* ---- what its newest run recorded ---- */

static void put_run_with(struct site_lab *lab, const char *attributes)
{
	struct tk_series_row s = {.backend = "b",
	        .config = "",
	        .mode = "cold",
	        .metric = "time",
	        .unit = "ns",
	        .better = TK_BETTER_LOWER,
	        .role = TK_ROLE_SUITE};

	world_series(&lab->w, "b", "p1");
	s.problem_id = 1;
	lab_put_point(lab, &s, 1000, attributes);
}

#define FACTS "{{#run_facts}}{{name}}: {{value}}\n{{/run_facts}}"

static void facts_of_the_newest_run_are_shown(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, FACTS);
	world_night(&lab->w, 0, "nightly");
	put_run_with(lab, "{\"plan\":{\"kernel\":\"dgemm\",\"algorithm\":\"tiled\","
	                  "\"workspace_bytes\":4096},\"device_bytes\":1048576,\"launch_ns\":1500,"
	                  "\"energy_j\":0.25,\"clock_mhz\":1980,"
	                  "\"verify\":{\"max_error\":1e-7,\"tolerance\":1e-5}}");
	expect(lab, "Function: dgemm\nAlgorithm: tiled\nWorkspace: 4.096 kB\n"
	            "Device memory: 1.049 MB\nLaunch cost: 1.500 µs\nEnergy: 250.0 mJ\n"
	            "Clock: 1980 MHz\nLargest error: 1e-07, allowed 1e-05\n");
}

/* What is zero, null or of another type is not shown. */
static void facts_that_are_unknown_are_left_out(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, FACTS);
	world_night(&lab->w, 0, "nightly");
	put_run_with(lab, "{\"plan\":{\"kernel\":\"\",\"algorithm\":7,\"workspace_bytes\":0},"
	                  "\"launch_ns\":null,\"energy_j\":\"x\",\"clock_mhz\":-1,"
	                  "\"verify\":{\"max_error\":null,\"tolerance\":1}}");
	expect(lab, "");
}

/* The last builds and whether each has the machine code of the one before it. */
static void builds_are_compared_with_the_one_before(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#code_builds}}{{rev}} {{code}} {{what}}\n{{/code_builds}}");
	for (int i = 1; i <= 4; i++) {
		const char *const hashes[] = {"aaaaaaaaaaaa", "aaaaaaaaaaaa", NULL, "bbbbbbbbbbbb"};
		char rev[8];
		snprintf(rev, sizeof rev, "v%c", '0' + i);
		world_build(&lab->w, rev, 10 + i, "b", hashes[i - 1], "x");
		measure(lab, 2 * i, 1000);
		measure(lab, 2 * i + 1, 1000);
	}
	expect(lab, "v4 bbbbbbbbbb… changed\nv2 aaaaaaaaaa… unchanged\nv1 aaaaaaaaaa… \n");
}

static void at_most_six_builds_are_shown(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#code_builds}}{{rev}} {{/code_builds}}");
	for (int i = 1; i <= 7; i++) {
		char rev[8];
		snprintf(rev, sizeof rev, "v%c", '0' + i);
		world_build(&lab->w, rev, 10 + i, "b", "aaaa", "x");
		measure(lab, i, 1000);
	}
	expect(lab, "v7 v6 v5 v4 v3 v2 ");
}

static void facts_of_the_machine_code_are_shown(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;
	struct tk_kernel_row k = {.build_id = w->build,
	        .backend = "b",
	        .name = "dgemm",
	        .code_hash = "aaaa",
	        .size_bytes = 100,
	        .registers = 128,
	        .spill_bytes = 0,
	        .shared_bytes = 49152,
	        .threads = -1,
	        .occupancy_percent = 50,
	        .instructions = "total=816 LDL=143"};
	int64_t id;

	begin(lab, FACTS);
	k.build_id = w->build;
	assert_int_equal(tk_store_put_kernel(w->store, &k, &id, &w->err), 0);
	world_night(w, 0, "nightly");
	put_run_with(lab, "{\"plan\":{\"kernel\":\"dgemm\"}}");
	expect(lab, "Function: dgemm\nRegisters: 128\nSpilled bytes: 0\nShared bytes: 49,152\n"
	            "Maximum occupancy, %: 50\nInstructions: total=816 LDL=143\n");
}

/* ---- the files that it loads ---- */

static void the_page_loads_the_last_half_year(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#scripts}}{{.}}\n{{/scripts}}older: {{older}}");
	measure(lab, -400, 1000); /* 2024 */
	measure(lab, -100, 1000); /* 2025-09-23 */
	measure(lab, 0, 1000);
	expect(lab, "data/nights.js\ndata/environments.js\ndata/revisions-1.js\ndata/000.2025.js\n"
	            "data/000.recent.js\ndata/000.hot.js\nolder: data/000.2024.js");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, lab_setup, lab_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(the_title_names_problem_and_backend),
	        TEST(the_description_ends_with_the_verdict),
	        TEST(a_series_without_a_point_is_not_measured),
	        TEST(facts_are_those_of_problem_device_and_newest_point),
	        TEST(work_that_is_unknown_is_left_out),
	        TEST(points_are_listed_newest_first),
	        TEST(marks_of_a_point_are_shown),
	        TEST(at_most_thirty_points_are_listed),
	        TEST(change_points_are_listed_newest_first),
	        TEST(a_new_change_is_pending),
	        TEST(a_change_point_is_not_pending),
	        TEST(an_older_change_point_leaves_it_pending),
	        TEST(the_range_of_a_verdict_and_its_first_bad_commit),
	        TEST(failed_nights_are_marks),
	        TEST(a_pending_change_is_a_mark),
	        TEST(measured_nights_are_no_marks),
	        TEST(other_backends_of_a_problem_are_peers),
	        TEST(other_metrics_and_modes_of_a_series_are_linked),
	        TEST(facts_of_the_newest_run_are_shown),
	        TEST(facts_that_are_unknown_are_left_out),
	        TEST(builds_are_compared_with_the_one_before),
	        TEST(at_most_six_builds_are_shown),
	        TEST(facts_of_the_machine_code_are_shown),
	        TEST(the_page_loads_the_last_half_year),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
