/* index.html: machines, alerts, what needs attention, and tiles. */
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

#define PAGE "index.html"

static void begin(struct site_lab *lab, const char *template)
{
	lab_set_template(lab, "overview", template);
	world_build(&lab->w, "r1", 1, "b", NULL, "first");
}

static const char *problem_name(int i)
{
	static char name[16];

	snprintf(name, sizeof name, "p%02d", i);
	return name;
}

static void expect(struct site_lab *lab, const char *text)
{
	lab_expect(lab, PAGE, text);
}

/* ---- headline ---- */

static void the_headline_names_the_author_where_it_is_known(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;
	struct tk_verdict_row row = lab_verdict(1, TK_VERDICT_REGRESSED, 1000, 1100);

	begin(lab, "{{headline}}|{{headline_rest}}");
	world_night(w, 0, "nightly");
	world_point(w, "b", "p1", 1000);
	world_build(w, "r2", 2, "b", NULL, "second");
	world_night(w, 1, "nightly");
	world_point(w, "b", "p1", 1100);
	row.detail = "{\"good_rev\":\"r1\",\"bad_rev\":\"r2\"}";
	lab_put_verdicts(lab, &row, 1);
	lab_build_now(lab);
	lab_assert_has(lab, PAGE, "Worst: p1, b +10.0 % on box, since r2 (A).");
	lab_run_sql(lab, "UPDATE revision SET author = ''");
	lab->options.full = true;
	lab_build(lab);
	lab_assert_has(lab, PAGE, "Worst: p1, b +10.0 % on box, since r2.");
}

/* ---- machines ---- */

static void a_machine_has_a_line_about_its_last_night(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, "{{series_count}} {{made}}\n{{#machines}}{{machine}} {{machine_href}} {{cards}} "
	           "{{state}} {{tone}} {{night}} {{took}} {{runs}} {{unstable}} {{failures}} "
	           "{{#skipped}}{{skipped}} skipped{{/skipped}}{{#unanalysed}} unanalysed"
	           "{{/unanalysed}}{{reason}}\n{{/machines}}");
	world_night(w, 0, "nightly");
	world_point(w, "b", "p1", 1000);
	world_point(w, "b", "p2", 1000);
	world_fail(w, "b", "p3", "crashed", "");
	world_fail(w, "b", "p4", "unsupported", "");
	world_fail(w, "b", "p5", "skipped", "");
	expect(lab,
	        "5 2026-01-02 00:00\n"
	        "box machines/box.html cpu complete good 2026-01-01 00:00 1 min 2 measurements 0 "
	        "1 1 skipped\n");
}

static void one_measurement_is_singular(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#machines}}{{runs}}{{#mostly_unstable}} unstable{{/mostly_unstable}}"
	           "{{#failed}} failed{{/failed}}{{#stale}} stale{{/stale}}{{/machines}}");
	world_night(&lab->w, 0, "nightly");
	world_point(&lab->w, "b", "p1", 1000);
	expect(lab, "1 measurement");
}

static void unstable_timings_are_counted(void **state)
{
	struct site_lab *lab = *state;

	begin(lab,
	        "{{#machines}}{{runs}} {{unstable}}{{#mostly_unstable}} mostly{{/mostly_unstable}}"
	        "{{/machines}}");
	world_night(&lab->w, 0, "nightly");
	for (int i = 0; i < 20; i++)
		world_fail(&lab->w, "b", problem_name(i), "unstable", "");
	world_fail(&lab->w, "b", "q", "wrong", "");
	expect(lab, "20 measurements 20 mostly");
}

/* A night that is a day and a half old is stale; the clock of the lab is a day after it. */
static void a_machine_without_a_recent_night_is_stale(void **state)
{
	static const struct {
		int64_t hours;
		const char *shown;
	} cases[] = {{36, "complete good"}, {37, "stale bad"}};
	struct site_lab *lab = *state;

	begin(lab, "{{#machines}}{{state}} {{tone}}{{/machines}}");
	world_night(&lab->w, 0, "nightly");
	for (size_t i = 0; i < 2; i++) {
		world_end_night(&lab->w);
		/* lab_build() adds a day */
		lab->w.as_of_s = WORLD_START - WORLD_DAY + cases[i].hours * 3600;
		lab_build_now(lab);
		assert_string_equal(lab_read(lab, PAGE), cases[i].shown);
	}
}

static void a_machine_without_a_night(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#machines}}{{machine}} {{state}} {{tone}}{{#has_night}} night{{/has_night}}\n"
	           "{{/machines}}");
	world_night(&lab->w, 0, "nightly");
	world_machine(&lab->w, "idle", "gpu");
	expect(lab, "box complete good night\nidle never quiet\n");
}

/* The first stage that failed or did not end. */
static void the_reason_of_an_incomplete_night(void **state)
{
	static const struct {
		const char *name, *detail;
		enum tk_stage_status status;
	} stages[] = {{"probe", "", TK_STAGE_DONE}, {"build", "no compiler", TK_STAGE_FAILED},
	        {"measure", "", TK_STAGE_RUNNING}};
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, "{{#machines}}{{reason}}{{/machines}}");
	world_night(w, 0, "nightly");
	for (size_t i = 0; i < 3; i++) {
		const struct tk_stage_row row = {.night_id = w->night,
		        .name = stages[i].name,
		        .status = stages[i].status,
		        .started_s = w->as_of_s + (int64_t)i,
		        .detail = stages[i].detail};
		assert_int_equal(tk_store_put_stage(w->store, &row, &w->err), 0);
	}
	lab_build(lab); /* complete, whatever its stages say */
	assert_string_equal(lab_read(lab, PAGE), "");
	lab_run_sql(lab, "UPDATE night SET status = 'incomplete'");
	expect(lab, "build failed: no compiler");
	lab_run_sql(lab, "UPDATE stage SET status = 'done' WHERE name = 'build'");
	expect(lab, "measure running");
}

static void verdicts_of_a_machine_are_counted(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;
	struct tk_verdict_row rows[] = {lab_verdict(1, TK_VERDICT_REGRESSED, 1000, 1100),
	        lab_verdict(2, TK_VERDICT_REGRESSED, 1000, 1100),
	        lab_verdict(3, TK_VERDICT_SAME, 1000, 1000),
	        lab_verdict(4, TK_VERDICT_MISSING, NAN, NAN)};

	begin(lab, "{{#machines}}{{#counts}}{{count}} {{tone}};{{/counts}}{{/machines}}");
	world_night(w, 0, "nightly");
	for (int i = 1; i <= 3; i++)
		world_point(w, "b", problem_name(i), 1000);
	world_fail(w, "b", problem_name(4), "skipped", ""); /* is counted as such */
	lab_put_verdicts(lab, rows, 4);
	expect(lab, "2 bad;1 quiet;");
}

/* ---- what changed ---- */

/* An improvement has no alert; that of the last night reads like its regressions. */
static void changes_of_the_last_night_say_so(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;
	struct tk_verdict_row rows[] = {lab_verdict(1, TK_VERDICT_IMPROVED, 1000, 500)};

	begin(lab, "{{#causes}}{{kind}} {{title}} {{change}} since {{since}};{{/causes}}");
	world_night(w, 0, "nightly");
	world_point(w, "b", "p1", 1000);
	world_build(w, "r2", 2, "b", NULL, "second");
	world_night(w, 1, "nightly");
	world_point(w, "b", "p1", 500);
	rows[0].detail = "{\"good_rev\":\"r1\",\"bad_rev\":\"r2\"}";
	lab_put_verdicts(lab, rows, 1);
	expect(lab, "improvement p1 \u221250.0 % since last night;");
}

/* ---- open alerts ---- */

static void put_alert(struct site_lab *lab, const char *uid, const char *group, int day)
{
	struct tk_error err = {0};
	const struct tk_alert_row row = {.uid = uid,
	        .group_uid = group,
	        .kind = TK_ALERT_CHANGE,
	        .machine_id = 1,
	        .upstream_id = 1,
	        .series_id = 1,
	        .night_id = 1,
	        .status = TK_ALERT_OPEN,
	        .opened_s = WORLD_START + day * WORLD_DAY,
	        .change = 0.5,
	        .cause = TK_CAUSE_CODE,
	        .title = uid,
	        .good_rev = "",
	        .bad_rev = ""};

	if (tk_store_put_alert(lab->w.store, &row, &err))
		fail_msg("%s", err.message);
}

static void triage(struct site_lab *lab, const char *uid, enum tk_triage_action action)
{
	struct tk_error err = {0};
	const struct tk_triage_row row = {.alert_uid = uid,
	        .at_s = WORLD_START,
	        .author = "ann",
	        .action = action,
	        .note = ""};

	if (tk_store_append_triage(lab->w.store, &row, &err))
		fail_msg("%s", err.message);
}

static void open_alerts_are_listed_oldest_first(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{open_alerts}}|{{new_alerts}}|{{oldest_alert}}\n{{#open}}{{alert_title}} "
	           "{{alert_uid}} {{more}} {{opened}} {{age}} {{state}} {{tone}} "
	           "{{owner}}\n{{/open}}");
	world_night(&lab->w, 3, "nightly");
	world_point(&lab->w, "b", "p1", 1000);
	put_alert(lab, "a1", "g1", 4);
	put_alert(lab, "a2", "g2", 2);
	put_alert(lab, "a3", "g3", 3);
	put_alert(lab, "a4", "g3", 3);
	triage(lab, "a2", TK_ACTION_ACK);
	/* the clock is 2026-01-05 */
	expect(lab, "4 open alerts|3 of them new, |2026-01-03\n"
	            "a2 g2  2026-01-03 2 days acked note ann\n"
	            "a3 g3 and 1 more series 2026-01-04 1 day new bad \n"
	            "a1 g1  2026-01-05 new new bad \n");
}

/* What is expected or ignored is nobody's task. */
static void alerts_that_are_expected_are_not_counted(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{open_alerts}}|{{new_alerts}}|{{oldest_alert}}");
	world_night(&lab->w, 3, "nightly");
	world_point(&lab->w, "b", "p1", 1000);
	put_alert(lab, "a1", "g1", 1);
	triage(lab, "a1", TK_ACTION_EXPECT);
	expect(lab, "||");
	put_alert(lab, "a2", "g2", 2);
	expect(lab, "1 open alert||2026-01-03");
}

static void at_most_twelve_alerts_are_listed(void **state)
{
	struct site_lab *lab = *state;
	char uid[16];

	begin(lab, "{{#open}}x{{/open}}{{open_more}}");
	world_night(&lab->w, 3, "nightly");
	world_point(&lab->w, "b", "p1", 1000);
	for (int i = 0; i < 12; i++) {
		snprintf(uid, sizeof uid, "a%d", i);
		put_alert(lab, uid, uid, 1);
	}
	lab_build(lab);
	assert_string_equal(lab_read(lab, PAGE), "xxxxxxxxxxxx");
	put_alert(lab, "b", "b", 1);
	put_alert(lab, "c", "c", 1);
	expect(lab, "xxxxxxxxxxxx2");
}

/* ---- attention ---- */

#define ATTENTION \
	"{{#attention}}{{#is_group}}{{count}} {{/is_group}}{{^is_group}}{{title}} {{/is_group}}" \
	"{{status}} {{tone}} {{reason}} {{href}}\n{{/attention}}{{#attention_cut}}" \
	"{{attention_more}} more{{/attention_cut}}"

/* What is neither worse nor better, and not quiet: the larger change first. */
static void unclear_changes_need_attention(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;
	struct tk_verdict_row rows[] = {lab_verdict(1, TK_VERDICT_UNSURE, 1000, 1010),
	        lab_verdict(2, TK_VERDICT_UNSURE, 1000, 900),
	        lab_verdict(3, TK_VERDICT_SAME, 1000, 1000),
	        lab_verdict(4, TK_VERDICT_REGRESSED, 1000, 1100)};

	begin(lab, ATTENTION);
	world_night(w, 0, "nightly");
	for (int i = 1; i <= 4; i++)
		world_point(w, "b", problem_name(i), 1000);
	lab_put_verdicts(lab, rows, 4);
	expect(lab, "p02 unsure note because series/box.cpu.self.b.p02.cold.html\n"
	            "p01 unsure note because series/box.cpu.self.b.p01.cold.html\n");
}

/* Many series with one reason are one line. */
static void many_alike_are_one_line(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;
	struct tk_verdict_row rows[6];

	begin(lab, ATTENTION);
	world_night(w, 0, "nightly");
	for (int i = 0; i < 6; i++) {
		world_fail(w, "b", problem_name(i + 1), "crashed", "");
		rows[i] = lab_verdict(i + 1, TK_VERDICT_FAILING, NAN, NAN);
		rows[i].reason = i < 5 ? "alike" : "other";
	}
	lab_put_verdicts(lab, rows, 6);
	expect(lab, "5 failing note alike lists/index.html#status=failing\n"
	            "p06 failing note other series/box.cpu.self.b.p06.cold.html\n");
}

static void at_most_twelve_lines_need_attention(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;
	struct tk_verdict_row rows[15];

	begin(lab, "{{#attention}}x{{/attention}}{{#attention_cut}}{{attention_more}}"
	           "{{/attention_cut}}");
	world_night(w, 0, "nightly");
	for (int i = 0; i < 15; i++) {
		world_point(w, "b", problem_name(i + 1), 1000);
		rows[i] = lab_verdict(i + 1, TK_VERDICT_UNSURE, 1000, 1010);
	}
	lab_put_verdicts(lab, rows, 12);
	lab_build_now(lab);
	assert_string_equal(lab_read(lab, PAGE), "xxxxxxxxxxxx");
	lab_put_verdicts(lab, rows, 15);
	expect(lab, "xxxxxxxxxxxx3");
}

/* ---- what the page as a whole is about ---- */

#define FLAGS \
	"{{#compared}}compared{{/compared}}{{#nothing_analysed}}not analysed{{/nothing_analysed}}" \
	"{{#nothing_compared}}first night{{/nothing_compared}}"

static void the_first_night_compares_nothing(void **state)
{
	struct site_lab *lab = *state;
	struct tk_verdict_row row = lab_verdict(1, TK_VERDICT_SAME, 1000, 1000);

	begin(lab, FLAGS);
	lab_build(lab);
	assert_string_equal(lab_read(lab, PAGE), "");
	world_night(&lab->w, 0, "nightly");
	world_point(&lab->w, "b", "p1", 1000);
	lab_build(lab);
	assert_string_equal(lab_read(lab, PAGE), "first night");
	world_night(&lab->w, 1, "nightly");
	world_point(&lab->w, "b", "p1", 1000);
	lab_build_now(lab);
	assert_string_equal(lab_read(lab, PAGE), "not analysed");
	lab_put_verdicts(lab, &row, 1);
	expect(lab, "compared");
}

/* ---- tiles ---- */

static void a_tile_has_the_best_rate_of_a_kernel(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, "{{#tiles}}{{op}} {{device}} {{op_href}} {{best_rate}} {{best_backend}} "
	           "{{best_type}} {{count}} {{#peak}}{{peak}} "
	           "{{peak_of}}{{/peak}}{{vendor}}\n{{/tiles}}");
	world_night(w, 0, "nightly");
	world_point(w, "slow", "p1", 4000);
	world_point(w, "fast", "p1", 2000);
	world_point(w, "fast", "p2", 8000);
	world_fail(w, "slow", "p2", "crashed", "");
	lab_build(lab);
	assert_string_equal(
	        lab_read(lab, PAGE), "GEMM box/cpu kernels/gemm.html 500.0 TFLOP/s fast f32 3 \n");
}

/* The datasheet's peak where it is known, else the measured ceiling. */
static void a_tile_has_its_share_of_the_peak(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;
	struct tk_ceiling_row ceiling = {.night_id = 0,
	        .device_id = w->device,
	        .name = "f32",
	        .source = TK_CEILING_MEASURED,
	        .unit = "gflop_per_s",
	        .value = 1e6};

	begin(lab, "{{#tiles}}{{peak}} {{peak_of}}{{/tiles}}");
	world_night(w, 0, "nightly");
	world_point(w, "b", "p1", 2000); /* 500 TFLOP/s */
	ceiling.night_id = w->night;
	assert_int_equal(tk_store_put_ceiling(w->store, &ceiling, &w->err), 0);
	lab_build_now(lab);
	assert_string_equal(lab_read(lab, PAGE), "50 % of measured ceiling");
	ceiling.source = TK_CEILING_DATASHEET;
	ceiling.value = 2e6;
	assert_int_equal(tk_store_put_ceiling(w->store, &ceiling, &w->err), 0);
	expect(lab, "25 % of datasheet peak");
}

/* 4 nights at 1000, 500, 500 and 250 ns: the index is 100, 200, 200 and 400. */
static void a_tile_has_the_index_of_its_kernel(void **state)
{
	static const double values[] = {1000, 500, 500, 250};
	struct site_lab *lab = *state;

	begin(lab, "{{#tiles}}{{index}}|{{index_nights}}|{{week}}|{{week_tone}}|{{month}}|"
	           "{{month_tone}}{{/tiles}}");
	world_night(&lab->w, 0, "nightly");
	world_point(&lab->w, "b", "p1", values[0]);
	lab_build(lab);
	assert_string_equal(lab_read(lab, PAGE), "|0||quiet||quiet");
	for (int i = 1; i < 4; i++) {
		world_night(&lab->w, 10 * i, "nightly");
		world_point(&lab->w, "b", "p1", values[i]);
	}
	expect(lab, "400.0|4|2.0×|good|4.0×|good");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, lab_setup, lab_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(the_headline_names_the_author_where_it_is_known),
	        TEST(a_machine_has_a_line_about_its_last_night),
	        TEST(one_measurement_is_singular),
	        TEST(unstable_timings_are_counted),
	        TEST(a_machine_without_a_recent_night_is_stale),
	        TEST(a_machine_without_a_night),
	        TEST(the_reason_of_an_incomplete_night),
	        TEST(verdicts_of_a_machine_are_counted),
	        TEST(changes_of_the_last_night_say_so),
	        TEST(open_alerts_are_listed_oldest_first),
	        TEST(alerts_that_are_expected_are_not_counted),
	        TEST(at_most_twelve_alerts_are_listed),
	        TEST(unclear_changes_need_attention),
	        TEST(many_alike_are_one_line),
	        TEST(at_most_twelve_lines_need_attention),
	        TEST(the_first_night_compares_nothing),
	        TEST(a_tile_has_the_best_rate_of_a_kernel),
	        TEST(a_tile_has_its_share_of_the_peak),
	        TEST(a_tile_has_the_index_of_its_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
