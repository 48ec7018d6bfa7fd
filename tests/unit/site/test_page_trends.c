/* trends/: the index of a kernel night by night, its changes and their causes; and what changed in
 * the last night, by cause, on the overview. */
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

#define PAGE "trends/gemm.html"
#define LIST "trends/index.html"
#define DATA "data/trends-gemm.js"

static void begin(struct site_lab *lab, const char *name, const char *template)
{
	lab_set_template(lab, name, template);
	world_build(&lab->w, "r1", 1, "b", NULL, "first");
}

static void measure(struct site_lab *lab, int day, double p1, double p2)
{
	world_night(&lab->w, day, "nightly");
	world_point(&lab->w, "b", "p1", p1);
	if (p2 > 0)
		world_point(&lab->w, "b", "p2", p2);
}

static void put_change(struct site_lab *lab, int64_t series, int64_t run, double before,
        double after, enum tk_cause cause)
{
	lab_put_change_point(lab, series, run, run - 2, before, after, cause);
}

/* ---- the index ---- */

/* p1 becomes twice and then four times as fast, p2 stays: the index is the geometric mean, sqrt(2)
 * and 2 times the first night's. */
static void the_index_is_the_mean_speed_up(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "trends",
	        "{{#list}}{{op}} {{op_file}} {{device}} {{anchor}} {{index}} {{series}} "
	        "{{noise}}:{{#changes}} {{span}} {{change}} {{tone}};{{/changes}}\n"
	        "{{/list}}");
	measure(lab, 0, 4000, 1000);
	lab_build(lab);
	assert_string_equal(lab_read(lab, LIST),
	        "GEMM gemm box/cpu box.cpu  2 : 7 d – quiet; 30 d – quiet; 90 d – quiet; "
	        "365 d – quiet; all – quiet;\n");
	measure(lab, 10, 2000, 1000);
	measure(lab, 20, 1000, 1000);
	lab_expect(lab, LIST,
	        "GEMM gemm box/cpu box.cpu 200.0 2 : 7 d +41.4 % good; 30 d – quiet; 90 d – quiet; "
	        "365 d – quiet; all 2.0× good;\n");
}

/* A change below the tie is even, a slower one bad. */
static void changes_have_tones(void **state)
{
	static const struct {
		double ns;
		const char *shown;
	} cases[] = {{1005, "−0.5 % quiet"}, {1030, "−2.9 % bad"}, {970, "+3.1 % good"}};
	struct site_lab *lab = *state;

	begin(lab, "trends", "{{#list}}{{#changes}}{{change}} {{tone}};{{/changes}}{{/list}}");
	measure(lab, 0, 1000, 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		measure(lab, 1 + (int)i, cases[i].ns, 0);
		lab_build(lab);
		/* the newest of the changes is since the first night */
		const char *text = lab_read(lab, LIST);
		const size_t len = strlen(cases[i].shown);
		assert_true(strlen(text) > len);
		assert_memory_equal(text + strlen(text) - len - 1, cases[i].shown, len);
	}
}

/* The median step of five or more nights, times 1.48: 2 % up and down. */
static void noise_needs_five_nights(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "trends", "{{#list}}{{noise}}{{/list}}");
	for (int day = 0; day < 5; day++)
		measure(lab, day, day % 2 ? 1020 : 1000, 0);
	lab_build(lab);
	assert_string_equal(lab_read(lab, LIST), "");
	measure(lab, 5, 1020, 0);
	lab_expect(lab, LIST, "±3.0 %"); /* exp(1.4826 log 1.02) - 1 = 2.98 % */
}

/* ---- the page of a kernel ---- */

static void a_kernel_has_a_row_for_each_type_and_backend(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, "trend",
	        "{{title}}:{{#devices}}{{device}} {{index}} {{series}}\n{{#panels}}{{type}}:"
	        "{{#keys}} {{label}}{{/keys}};{{/panels}}\n{{#rows}}{{backend}} {{type}} "
	        "{{index}} {{series}}\n{{/rows}}{{/devices}}");
	for (int day = 0; day < 2; day++) {
		world_night(w, day, "nightly");
		world_point(w, "a", "p1", day ? 500 : 1000);
		world_point(w, "b", "p1", 1000);
		world_point(w, "b", "p2", 1000);
	}
	world_end_night(w);
	lab_run_sql(lab, "UPDATE problem SET dtype = 'f16' WHERE title = 'p2'");
	/* the index of all three series: the third root of 2 */
	lab_expect(lab, PAGE,
	        "GEMM: trends:box/cpu 126.0 3\n"
	        "f16: b;f32: a b;\n"
	        "b f16 100.0 1\na f32 200.0 1\nb f32 100.0 1\n");
	assert_string_equal(lab_read(lab, DATA),
	        "tracker.data.add(\"trends\",{\"devices\":[\n{\"panels\":[\n"
	        "{\"lines\":[{\"time\":[1767225600,86400],\"index\":[10000,0]}]},\n"
	        "{\"lines\":[{\"time\":[1767225600,86400],\"index\":[10000,10000]},"
	        "{\"time\":[1767225600,86400],\"index\":[10000,0]}]}],\"marks\":[]}]});\n");
}

/* Before the last 400 days a line has one point for each week. */
static void old_points_are_one_a_week(void **state)
{
	struct site_lab *lab = *state;
	int points = 1;

	begin(lab, "trend", "-");
	for (int day = 0; day < 28; day++)
		measure(lab, day, 1000, 0);
	measure(lab, 1000, 1000, 0);
	lab_build(lab);
	const char *text = strstr(lab_read(lab, DATA), "\"time\":[");
	assert_non_null(text);
	for (const char *c = text; *c != ']'; c++)
		points += *c == ',';
	/* Weeks of the epoch begin on Thursdays, as 2026-01-01 is one: the first point, the last of
	 * each of the four weeks, and the newest. */
	assert_int_equal(points, 1 + 4 + 1);
}

/* ---- causes of a change ---- */

#define CAUSES \
	"{{#devices}}{{#causes}}{{number}} {{when}} {{effect}} {{tone}} {{count}} {{cause}} " \
	"{{rev}} " \
	"{{author}}\n{{/causes}}{{causes_more}}{{/devices}}"

/* The effect of a cause is on the index of all series of the night. */
static void causes_are_the_change_points_of_its_series(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "trend", CAUSES);
	measure(lab, 0, 1000, 1000);
	world_build(&lab->w, "r2", 2, "b", NULL, "second");
	measure(lab, 1, 2000, 2000);
	put_change(lab, 1, 3, 1000, 2000, TK_CAUSE_CODE);
	lab_build_now(lab);
	/* one of two series half as fast: the index falls by 1 - sqrt(1/2) */
	assert_string_equal(lab_read(lab, PAGE), "1 2026-01-02 −29.3 % bad 1 series code r2 A\n");
	put_change(lab, 2, 4, 1000, 2000, TK_CAUSE_CODE); /* the same cause */
	lab_expect(lab, PAGE, "1 2026-01-02 −50.0 % bad 2 series code r2 A\n");
	lab_assert_has(lab, DATA, "\"marks\":[[1767312000,1,1]]");
}

static void causes_differ_by_night_commit_and_kind(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "trend", CAUSES);
	measure(lab, 0, 1000, 1000);
	measure(lab, 1, 2000, 500);
	put_change(lab, 1, 3, 1000, 2000, TK_CAUSE_ENVIRONMENT);
	put_change(lab, 2, 4, 1000, 250, TK_CAUSE_CODE);
	lab_build(lab);
	lab_assert_has(lab, PAGE, "2026-01-02 2.0× good 1 series code  \n");
	lab_assert_has(lab, PAGE, "2026-01-02 −29.3 % bad 1 series environment  \n");
}

/* What moves the index by less than 0.05 % is left out, and what no series was compared at. */
static void small_causes_are_left_out(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "trend", CAUSES);
	measure(lab, 0, 1000, 1000);
	measure(lab, 1, 1000, 1000);
	put_change(lab, 1, 3, 1000, 1000.9, TK_CAUSE_CODE);
	lab_expect(lab, PAGE, "");
	measure(lab, 2, 1000, 1000);
	put_change(lab, 1, 5, 1000, 1001.2, TK_CAUSE_CODE);
	lab_build(lab);
	lab_assert_has(lab, PAGE, "1 2026-01-03 −0.1 % bad");
}

/* ---- what changed in the last night ---- */

#define CHANGED \
	"{{#causes}}{{kind}} {{title}} {{change}} {{tone}} {{before}} {{after}} {{more}} " \
	"{{range}} " \
	"{{device}}{{other_devices}} {{since}}:{{#events}} {{title}} {{change}}{{/events}}\n" \
	"{{/causes}}{{causes_more}}"

static void series_of_one_commit_are_one_cause(void **state)
{
	struct site_lab *lab = *state;
	struct tk_verdict_row rows[] = {lab_verdict(1, TK_VERDICT_REGRESSED, 1000, 1100),
	        lab_verdict(2, TK_VERDICT_REGRESSED, 1000, 1500),
	        lab_verdict(3, TK_VERDICT_IMPROVED, 1000, 500)};

	begin(lab, "overview", CHANGED);
	measure(lab, 0, 1000, 1000);
	world_point(&lab->w, "b", "p3", 1000);
	world_build(&lab->w, "r2", 2, "b", NULL, "second");
	measure(lab, 1, 1100, 1500);
	world_point(&lab->w, "b", "p3", 500);
	lab_put_verdicts(lab, rows, 3);
	lab_build(lab);
	const char *page = "index.html";
	lab_assert_has(lab, page, " p2 +50.0 % bad 1.000 µs 1.500 µs 2 series r1 → r2 box/cpu ");
	lab_assert_has(lab, page, ": p2 +50.0 % p1 +10.0 %\n");
	lab_assert_has(lab, page, " p3 −50.0 % good 1.000 µs 500.0 ns  r1 → r2 box/cpu ");
}

static void a_night_without_changes_has_no_cause(void **state)
{
	struct site_lab *lab = *state;
	struct tk_verdict_row rows[] = {lab_verdict(1, TK_VERDICT_SAME, 1000, 1000),
	        lab_verdict(2, TK_VERDICT_UNSURE, 1000, 1010)};

	begin(lab, "overview", CHANGED);
	measure(lab, 0, 1000, 1000);
	lab_put_verdicts(lab, rows, 2);
	lab_expect(lab, "index.html", "");
}

/* ---- the leaderboard ---- */

static void backends_are_ranked_on_key_problems(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, "overview",
	        "{{#boards}}{{device}}:{{#heads}} {{name}}{{/heads}}\n{{#rows}}"
	        "{{problem}} {{op_href}}:{{#cells}} {{#any}}{{rate}} {{word}}{{/any}}"
	        "{{^any}}-{{/any}};{{/cells}}\n{{/rows}}{{/boards}}");
	world_night(w, 0, "nightly");
	world_point(w, "slow", "p1", 4000);
	world_point(w, "fast", "p1", 2000);
	lab_build(lab);
	lab_assert_has(lab, "index.html", "box/cpu: fast slow\n");
	lab_assert_has(
	        lab, "index.html", "p1 kernels/gemm.html: 500.0 TFLOP/s best; 250.0 TFLOP/s ;\n");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, lab_setup, lab_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(the_index_is_the_mean_speed_up),
	        TEST(changes_have_tones),
	        TEST(noise_needs_five_nights),
	        TEST(a_kernel_has_a_row_for_each_type_and_backend),
	        TEST(old_points_are_one_a_week),
	        TEST(causes_are_the_change_points_of_its_series),
	        TEST(causes_differ_by_night_commit_and_kind),
	        TEST(small_causes_are_left_out),
	        TEST(series_of_one_commit_are_one_cause),
	        TEST(a_night_without_changes_has_no_cause),
	        TEST(backends_are_ranked_on_key_problems),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
