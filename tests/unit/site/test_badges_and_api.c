/* badges/ and api/: what other pages and programs read of a site. */
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

#define BADGE "badges/box.cpu.self.b.p1.cold.svg"

static void measure(struct site_lab *lab, int day, double value)
{
	world_night(&lab->w, day, "nightly");
	world_point(&lab->w, "b", "p1", value);
}

static void begin(struct site_lab *lab)
{
	world_build(&lab->w, "r1", 1, "b", NULL, "first");
}

/* ---- badges ---- */

/* Seven units for each character and six on both sides of a text: "b" is 19 wide, "1.00 µs" 61. */
static void a_badge_has_label_and_value(void **state)
{
	struct site_lab *lab = *state;

	begin(lab);
	measure(lab, 0, 1000);
	lab_build(lab);
	assert_string_equal(lab_read(lab, BADGE),
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"80\" height=\"20\" "
	        "role=\"img\"><title>b: 1.00 µs</title>"
	        "<rect width=\"19\" height=\"20\" fill=\"#24292f\"/>"
	        "<rect x=\"19\" width=\"61\" height=\"20\" fill=\"#57606a\"/>"
	        "<g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\">"
	        "<text x=\"6\" y=\"14\" textLength=\"7\" lengthAdjust=\"spacingAndGlyphs\">b</text>"
	        "<text x=\"25\" y=\"14\" textLength=\"49\" lengthAdjust=\"spacingAndGlyphs\">"
	        "1.00 µs</text></g></svg>\n");
}

/* Three digits. */
static void values_of_badges_have_three_digits(void **state)
{
	static const struct {
		double ns;
		const char *shown;
	} cases[] = {{1234, "b: 1.23 µs<"}, {9994, "b: 9.99 µs<"}, {9996, "b: 10.0 µs<"},
	        {12340, "b: 12.3 µs<"}, {99940, "b: 99.9 µs<"}, {99960, "b: 100 µs<"},
	        {123400, "b: 123 µs<"}, {500, "b: 500 ns<"}, {2.5e6, "b: 2.50 ms<"}};
	struct site_lab *lab = *state;

	begin(lab);
	lab->options.full = true; /* else a badge stays for a small change */
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		measure(lab, (int)i, cases[i].ns);
		lab_build(lab);
		lab_assert_has(lab, BADGE, cases[i].shown);
	}
}

static void a_badge_has_the_tone_of_its_verdict(void **state)
{
	static const struct {
		enum tk_verdict_status status;
		const char *text, *colour;
	} cases[] = {{TK_VERDICT_REGRESSED, "b: 1.00 µs, regressed<", "#b3261e"},
	        {TK_VERDICT_IMPROVED, "b: 1.00 µs, improved<", "#1a7f4b"},
	        {TK_VERDICT_UNSURE, "b: 1.00 µs<", "#8a5a00"},
	        {TK_VERDICT_SAME, "b: 1.00 µs<", "#57606a"}};
	struct site_lab *lab = *state;

	begin(lab);
	measure(lab, 0, 1000);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_verdict_row row = lab_verdict(1, cases[i].status, 1000, 1000);
		lab_put_verdicts(lab, &row, 1);
		lab_build_now(lab);
		lab_assert_has(lab, BADGE, cases[i].text);
		lab_assert_has(lab, BADGE, cases[i].colour);
	}
}

static void a_badge_of_a_failure_names_it(void **state)
{
	struct site_lab *lab = *state;

	begin(lab);
	measure(lab, 0, 1000);
	world_night(&lab->w, 1, "nightly");
	world_fail(&lab->w, "b", "p1", "timeout", "");
	lab_build(lab);
	lab_assert_has(lab, BADGE, "<title>b: timeout</title>");
	lab_assert_has(lab, BADGE, "#b3261e");
}

/* A value that moved by up to 1 % keeps its badge. */
static void a_badge_changes_with_one_percent(void **state)
{
	struct site_lab *lab = *state;

	begin(lab);
	measure(lab, 0, 1000);
	lab_build(lab);
	measure(lab, 1, 1010);
	lab_build(lab);
	lab_assert_has(lab, BADGE, "1.00 µs");
	measure(lab, 2, 1012); /* against the value that the badge shows, 1000 */
	lab_build(lab);
	lab_assert_has(lab, BADGE, "1.01 µs");
	measure(lab, 3, 1000); /* 1.2 % less */
	lab_build(lab);
	lab_assert_has(lab, BADGE, "1.00 µs");
}

static void a_full_build_writes_all_badges(void **state)
{
	struct site_lab *lab = *state;

	begin(lab);
	measure(lab, 0, 1000);
	lab_build(lab);
	measure(lab, 1, 1006);
	lab_build(lab);
	lab_assert_has(lab, BADGE, "1.00 µs");
	lab->options.full = true;
	lab_build(lab);
	lab_assert_has(lab, BADGE, "1.01 µs");
}

static void the_badge_of_the_site_counts_regressions(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;
	struct tk_verdict_row rows[] = {lab_verdict(1, TK_VERDICT_SAME, 1000, 1000),
	        lab_verdict(2, TK_VERDICT_SAME, 1000, 1000)};

	begin(lab);
	world_night(w, 0, "nightly");
	world_point(w, "b", "p1", 1000);
	world_point(w, "b", "p2", 1000);
	lab_build_now(lab);
	lab_assert_has(lab, "badges/status.svg", "<title>lab: not compared</title>");
	lab_assert_has(lab, "badges/status.svg", "#57606a");
	lab_put_verdicts(lab, rows, 2);
	lab_build_now(lab);
	lab_assert_has(lab, "badges/status.svg", "<title>lab: no regressions</title>");
	lab_assert_has(lab, "badges/status.svg", "#1a7f4b");
	rows[0].status = TK_VERDICT_REGRESSED;
	rows[1].status = TK_VERDICT_NEWLY_FAILED;
	lab_put_verdicts(lab, rows, 2);
	lab->options.title = "";
	lab_build(lab);
	lab_assert_has(lab, "badges/status.svg", "<title>tracker: 2 worse</title>");
	lab_assert_has(lab, "badges/status.svg", "#b3261e");
}

static void texts_of_badges_are_escaped(void **state)
{
	struct site_lab *lab = *state;

	begin(lab);
	lab->options.title = "a <b> & c";
	measure(lab, 0, 1000);
	lab_build(lab);
	lab_assert_has(
	        lab, "badges/status.svg", "<title>a &lt;b&gt; &amp; c: not compared</title>");
	/* nine characters, whatever their escapes are */
	lab_assert_has(lab, "badges/status.svg", "textLength=\"63\"");
}

/* ---- api/series.json ---- */

static void a_series_as_json(void **state)
{
	struct site_lab *lab = *state;

	begin(lab);
	measure(lab, 0, 1000);
	lab_build(lab);
	assert_string_equal(lab_read(lab, "api/series.json"),
	        "{\"format\":2,\"minor\":1,\"series\":[\n"
	        "{\"id\":\"box.cpu.self.b.p1.cold\",\"title\":\"p1\",\"label\":\"b\",\"op\":"
	        "\"gemm\","
	        "\"dtype\":\"f32\",\"problem\":\"p1\",\"machine\":\"box\",\"device\":\"cpu\","
	        "\"upstream\":\"self\",\"backend\":\"b\",\"config\":\"\",\"mode\":\"cold\","
	        "\"metric\":\"time\",\"unit\":\"ns\",\"better\":\"lower\",\"role\":\"suite\","
	        "\"night\":\"2026-01-01T00:00:00Z\",\"value\":1000,\"lo\":999,\"hi\":1001,\"n\":30,"
	        "\"revision\":\"r1\",\"status\":\"\",\"change\":null,\"change_by\":\"\","
	        "\"outcome\":\"\",\"rate\":1e+06,\"rate_unit\":\"gflop_per_s\","
	        "\"share_of_measured_ceiling\":null,\"share_of_datasheet_peak\":null,"
	        "\"flops\":1e+09,\"bytes\":1e+06,\"device_model\":\"cpu\","
	        "\"page\":\"series/box.cpu.self.b.p1.cold.html\","
	        "\"badge\":\"badges/box.cpu.self.b.p1.cold.svg\"}]}\n");
}

static void a_series_without_a_point_as_json(void **state)
{
	struct site_lab *lab = *state;

	begin(lab);
	world_night(&lab->w, 0, "nightly");
	world_fail(&lab->w, "b", "p1", "crashed", "");
	lab_build(lab);
	lab_assert_has(lab, "api/series.json",
	        "\"night\":null,\"value\":null,\"lo\":null,\"hi\":null,\"n\":0,\"revision\":\"\","
	        "\"status\":\"\",\"change\":null,\"change_by\":\"\",\"outcome\":\"crashed\","
	        "\"rate\":null,\"rate_unit\":\"\"");
}

/* Whether nights or A/B runs say how much a series changed. */
static void a_change_as_json(void **state)
{
	struct site_lab *lab = *state;
	struct tk_verdict_row row = lab_verdict(1, TK_VERDICT_REGRESSED, 1000, 1250);

	begin(lab);
	measure(lab, 0, 1000);
	lab_put_verdicts(lab, &row, 1);
	lab_build_now(lab);
	lab_assert_has(lab, "api/series.json",
	        "\"status\":\"regressed\",\"change\":0.25,\"change_by\":\"nights\"");
	row.detail = "{\"pairs\":{\"word\":\"higher\",\"count\":8}}";
	lab_put_verdicts(lab, &row, 1);
	lab_build_now(lab);
	lab_assert_has(lab, "api/series.json", "\"change\":0.25,\"change_by\":\"ab\"");
	row.detail = "{\"pairs\":{\"word\":\"inconclusive\",\"count\":8}}";
	lab_put_verdicts(lab, &row, 1);
	lab_build(lab);
	lab_assert_has(lab, "api/series.json", "\"change\":0.25,\"change_by\":\"nights\"");
}

static void shares_of_ceilings_as_json(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab);
	measure(lab, 0, 1000); /* 1000 TFLOP/s */
	for (int i = 0; i < 2; i++) {
		const struct tk_ceiling_row row = {.night_id = w->night,
		        .device_id = w->device,
		        .name = "f32",
		        .source = i ? TK_CEILING_DATASHEET : TK_CEILING_MEASURED,
		        .unit = "gflop_per_s",
		        .value = i ? 4e6 : 2e6};
		assert_int_equal(tk_store_put_ceiling(w->store, &row, &w->err), 0);
	}
	lab_build(lab);
	lab_assert_has(lab, "api/series.json",
	        "\"share_of_measured_ceiling\":0.5,\"share_of_datasheet_peak\":0.25");
}

/* ---- api/alerts.json, api/machines.json, api/summary.md ---- */

static void alerts_as_json(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;
	struct tk_alert_row row = {.uid = "a1",
	        .group_uid = "g1",
	        .kind = TK_ALERT_CHANGE,
	        .machine_id = 1,
	        .upstream_id = 1,
	        .series_id = 1,
	        .night_id = 1,
	        .status = TK_ALERT_OPEN,
	        .opened_s = WORLD_START,
	        .change = 0.5,
	        .cause = TK_CAUSE_CODE,
	        .title = "slower",
	        .good_rev = "r0",
	        .bad_rev = "r1"};
	const struct tk_bisection_row found = {.uid = "b1",
	        .series_id = 1,
	        .night_id = 1,
	        .outcome = TK_BISECT_FOUND,
	        .good_rev = "r0",
	        .bad_rev = "r1",
	        .first_bad_rev = "r05",
	        .last_good_rev = "r04",
	        .subject = "unroll",
	        .author = "Ann",
	        .change = 0.5,
	        .change_lo = 0.4,
	        .change_hi = 0.6,
	        .confidence = 0.75};

	begin(lab);
	lab_build(lab);
	assert_string_equal(
	        lab_read(lab, "api/alerts.json"), "{\"format\":1,\"minor\":1,\"alerts\":[]}\n");
	measure(lab, 0, 1000);
	assert_int_equal(tk_store_put_alert(w->store, &row, &w->err), 0);
	assert_int_equal(tk_store_put_bisection(w->store, &found, &w->err), 0);
	row = (struct tk_alert_row){.uid = "m1",
	        .kind = TK_ALERT_MISSING_DATA,
	        .machine_id = 1,
	        .night_id = 1,
	        .status = TK_ALERT_OPEN,
	        .opened_s = WORLD_START,
	        .title = "no data",
	        .good_rev = "",
	        .bad_rev = ""};
	assert_int_equal(tk_store_put_alert(w->store, &row, &w->err), 0); /* of no series */
	lab_build(lab);
	assert_string_equal(lab_read(lab, "api/alerts.json"),
	        "{\"format\":1,\"minor\":1,\"alerts\":[\n"
	        "{\"id\":\"a1\",\"status\":\"open\",\"state\":\"new\",\"group\":\"g1\","
	        "\"series\":\"box.cpu.self.b.p1.cold\",\"title\":\"slower\","
	        "\"opened\":\"2026-01-01T00:00:00Z\",\"closed\":null,\"change\":0.5,"
	        "\"cause\":\"code\",\"good\":\"r0\",\"bad\":\"r1\",\"first_bad\":\"r05\","
	        "\"first_bad_author\":\"Ann\",\"first_bad_subject\":\"unroll\","
	        "\"first_bad_confidence\":0.75}]}\n");
}

static void machines_as_json(void **state)
{
	struct site_lab *lab = *state;

	begin(lab);
	measure(lab, 0, 1000);
	world_machine(&lab->w, "idle", "gpu");
	lab_build(lab);
	assert_string_equal(lab_read(lab, "api/machines.json"),
	        "{\"format\":1,\"made\":\"2026-01-02T00:00:00Z\",\"machines\":[\n"
	        "{\"name\":\"box\",\"night\":\"2026-01-01T00:00:00Z\","
	        "\"finished\":\"2026-01-01T00:01:00Z\",\"status\":\"complete\"},\n"
	        "{\"name\":\"idle\",\"night\":null,\"finished\":null,\"status\":\"\"}]}\n");
}

static void the_summary_is_a_report(void **state)
{
	struct site_lab *lab = *state;

	begin(lab);
	measure(lab, 0, 1000);
	lab_build(lab);
	assert_int_equal(strncmp(lab_read(lab, "api/summary.md"), "# lab", 5), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, lab_setup, lab_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_badge_has_label_and_value),
	        TEST(values_of_badges_have_three_digits),
	        TEST(a_badge_has_the_tone_of_its_verdict),
	        TEST(a_badge_of_a_failure_names_it),
	        TEST(a_badge_changes_with_one_percent),
	        TEST(a_full_build_writes_all_badges),
	        TEST(the_badge_of_the_site_counts_regressions),
	        TEST(texts_of_badges_are_escaped),
	        TEST(a_series_as_json),
	        TEST(a_series_without_a_point_as_json),
	        TEST(a_change_as_json),
	        TEST(shares_of_ceilings_as_json),
	        TEST(alerts_as_json),
	        TEST(machines_as_json),
	        TEST(the_summary_is_a_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
