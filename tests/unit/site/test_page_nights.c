/* nights/: what the list and the page of a night are given. */
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

/* The page of the newest night, from its address in the list. */
static const char *read_newest_night(struct site_lab *lab)
{
	char path[160], *end;

	snprintf(path, sizeof path, "nights/%s", lab_read(lab, "nights/index.html"));
	end = strstr(path, ".html");
	assert_non_null(end);
	end[5] = 0;
	return lab_read(lab, path);
}

static void begin(struct site_lab *lab, const char *night_template)
{
	lab_set_template(lab, "nights", "{{#nights}}{{href}}\n{{/nights}}");
	lab_set_template(lab, "night", night_template);
	world_build(&lab->w, "r1", 1, "b", NULL, "first");
}

static void put_stage(struct site_lab *lab, const char *name, enum tk_stage_status status,
        int64_t took_s, const char *detail)
{
	struct world *w = &lab->w;
	const struct tk_stage_row row = {.night_id = w->night,
	        .name = name,
	        .status = status,
	        .started_s = w->as_of_s,
	        .finished_s = took_s ? w->as_of_s + took_s : 0,
	        .detail = detail};

	assert_int_equal(tk_store_put_stage(w->store, &row, &w->err), 0);
}

/* Without numbers. */
static struct tk_verdict_row failed_verdict(
        int64_t series_id, enum tk_verdict_status status, const char *reason)
{
	struct tk_verdict_row v = lab_verdict(series_id, status, NAN, NAN);

	v.reason = reason;
	return v;
}

/* ---- the list ---- */

static void the_list_has_the_newest_night_first(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "-");
	lab_set_template(lab, "nights",
	        "{{count}} nights{{#cut}} cut{{/cut}}\n"
	        "{{#nights}}{{when}} {{machine}} {{kind}} {{state}} {{tone}} {{took}} {{version}}"
	        "{{#page}} page{{/page}} {{machine_href}}\n{{/nights}}");
	for (int day = 0; day < 2; day++) {
		world_night(&lab->w, day, day ? "run" : "nightly");
		world_point(&lab->w, "b", "p1", 1000);
	}
	lab_build(lab);
	assert_string_equal(lab_read(lab, "nights/index.html"),
	        "2 nights\n"
	        "2026-01-02 00:00 box run complete good 1 min 0 page ../machines/box.html\n"
	        "2026-01-01 00:00 box nightly complete good 1 min 0 page ../machines/box.html\n");
}

/* No process holds the lock of this history, so that its night is not under way any more. */
static void a_night_without_a_process_is_stopped(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "-");
	lab_set_template(lab, "nights", "{{#nights}}{{state}} {{tone}} {{took}}\n{{/nights}}");
	world_night(&lab->w, 0, "nightly");
	lab_build_now(lab);
	assert_string_equal(lab_read(lab, "nights/index.html"), "stopped bad not finished\n");
}

/* The states of a night and what they look like. */
static void states_have_tones(void **state)
{
	static const struct {
		enum tk_night_status status;
		const char *shown;
	} cases[] = {{TK_NIGHT_COMPLETE, "complete good\n"},
	        {TK_NIGHT_INCOMPLETE, "incomplete note\n"}, {TK_NIGHT_FAILED, "failed bad\n"}};
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, "-");
	lab_set_template(lab, "nights", "{{#nights}}{{state}} {{tone}}\n{{/nights}}");
	world_night(w, 0, "nightly");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(tk_store_finish_night(w->store, w->night, cases[i].status, "{}",
		                         w->as_of_s + 5, &w->err),
		        0);
		lab_build_now(lab);
		assert_string_equal(lab_read(lab, "nights/index.html"), cases[i].shown);
	}
}

/* ---- the night itself ---- */

static void a_night_that_measured_another_day_names_it(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#night}}{{when}}|{{past}}|{{started}}{{/night}}");
	world_night(&lab->w, 0, "backfill");
	lab_run_sql(lab, "SELECT 1");
	lab_build(lab);
	assert_string_equal(read_newest_night(lab), "2026-01-01 00:00||2026-01-01 00:00");
	/* started two days after the day that it measured */
	lab_run_sql(lab, "UPDATE night SET started_s = as_of_s + 172800,"
	                 " finished_s = as_of_s + 172860");
	lab_build(lab);
	assert_string_equal(
	        read_newest_night(lab), "2026-01-01 00:00|2026-01-01 00:00|2026-01-03 00:00");
	lab_run_sql(lab, "UPDATE night SET started_s = as_of_s + 86400,"
	                 " finished_s = as_of_s + 86460");
	lab_build(lab);
	assert_string_equal(read_newest_night(lab), "2026-01-01 00:00||2026-01-02 00:00");
}

static void stages_have_state_duration_and_detail(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#stages}}{{name}}|{{state}}|{{tone}}|{{took}}|{{detail}}\n{{/stages}}");
	world_night(&lab->w, 0, "nightly");
	put_stage(lab, "probe", TK_STAGE_DONE, 90, "1 device");
	put_stage(lab, "build", TK_STAGE_FAILED, 5, "no compiler");
	put_stage(lab, "measure", TK_STAGE_SKIPPED, 1, "");
	put_stage(lab, "publish", TK_STAGE_RUNNING, 0, "");
	lab_build(lab);
	assert_string_equal(read_newest_night(lab), "probe|done|good|1 min 30 s|1 device\n"
	                                            "build|failed|bad|5.0 s|no compiler\n"
	                                            "measure|skipped|note|1.0 s|\n"
	                                            "publish|running|note|–|\n");
}

/* ---- upstreams and builds ---- */

static int64_t put_build(struct site_lab *lab, enum tk_build_status status, const char *log)
{
	struct world *w = &lab->w;
	int64_t revision, build;
	const struct tk_revision_row r = {.upstream_id = w->upstream,
	        .rev = "r2",
	        .parent = "",
	        .position = 2,
	        .author = "A",
	        .subject = "second"};

	assert_int_equal(tk_store_put_revision(w->store, &r, &revision, &w->err), 0);
	const struct tk_build_row b = {.revision_id = revision,
	        .artifact_key = "r2",
	        .adapter = "a",
	        .toolchain = "cc",
	        .flags = "",
	        .arch = "x86-64",
	        .status = status,
	        .message = "see the log",
	        .log = log,
	        .wall_s = 75};
	assert_int_equal(tk_store_put_build(w->store, &b, &build, &w->err), 0);
	return build;
}

static void resolve(struct site_lab *lab, enum tk_resolution_status status, int64_t revision_id,
        int64_t build_id, const char *message)
{
	struct world *w = &lab->w;
	const struct tk_resolution_row row = {.night_id = w->night,
	        .upstream_id = w->upstream,
	        .revision_id = revision_id,
	        .build_id = build_id,
	        .status = status,
	        .message = message};

	assert_int_equal(tk_store_put_resolution(w->store, &row, &w->err), 0);
}

#define UPSTREAMS \
	"{{#upstreams}}{{name}}|{{state}}|{{tone}}|{{message}}|{{rev}}|{{subject}}|" \
	"{{#built}}{{build_state}}|{{build_tone}}|{{build_took}}|{{build_message}}|{{/built}}" \
	"{{log}}{{#log_cut}} cut{{/log_cut}}\n{{/upstreams}}"

static void an_upstream_has_its_revision_and_build(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, UPSTREAMS);
	world_night(&lab->w, 0, "nightly");
	resolve(lab, TK_RESOLUTION_NEW, 1, 1, "");
	lab_build(lab);
	assert_string_equal(read_newest_night(lab), "self|new|note||r1|first|ok|good|0 s||\n");
}

static void the_log_of_a_failed_build_is_shown(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, UPSTREAMS);
	world_night(&lab->w, 0, "nightly");
	resolve(lab, TK_RESOLUTION_NEW, 2, put_build(lab, TK_BUILD_FAILED, "line 1\nline <2>"), "");
	lab_build(lab);
	assert_string_equal(read_newest_night(lab), "self|new|note||r2|second|failed|bad|1 min 15 "
	                                            "s|see the log|line 1\nline &lt;2&gt;\n");
}

/* Its last 8,000 bytes. */
static void a_long_log_loses_its_beginning(void **state)
{
	struct site_lab *lab = *state;
	char log[8011];

	memset(log, 'x', 8010);
	log[8010] = 0;
	memcpy(log, "beginning", 9);
	log[10] = 'y'; /* the first byte that is shown */
	begin(lab, "{{#upstreams}}{{log}}{{#log_cut}} cut{{/log_cut}}{{/upstreams}}");
	world_night(&lab->w, 0, "nightly");
	resolve(lab, TK_RESOLUTION_NEW, 2, put_build(lab, TK_BUILD_TIMEOUT, log), "");
	lab_build(lab);
	const char *text = read_newest_night(lab);
	assert_int_equal(strlen(text), 8000 + strlen(" cut"));
	assert_int_equal(text[0], 'y');
	assert_string_equal(text + 8000, " cut");
}

static void an_upstream_that_failed_has_no_build(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, UPSTREAMS);
	world_night(&lab->w, 0, "nightly");
	resolve(lab, TK_RESOLUTION_UNREACHABLE, 0, 0, "timed out");
	lab_build(lab);
	assert_string_equal(read_newest_night(lab), "self|unreachable|bad|timed out|||\n");
}

/* ---- measurements ---- */

#define RUNS \
	"{{measured}}/{{jobs}}:{{#outcomes}} {{count}} {{word}} {{tone}}{{/outcomes}}\n" \
	"{{failure_count}} failed{{#failures_cut}} cut{{/failures_cut}}\n" \
	"{{#failures}}{{title}}|{{label}}|{{several}}|{{outcome}}|{{tone}}|{{message}}\n" \
	"{{/failures}}"

static void outcomes_are_counted(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, RUNS);
	world_night(w, 0, "nightly");
	world_point(w, "b", "p1", 1000);
	world_point(w, "b", "p2", 1000);
	world_fail(w, "b", "p3", "crashed", "signal 11");
	world_fail(w, "b", "p4", "unsupported", "");
	world_fail(w, "b", "p5", "crashed", "another");
	lab_build(lab);
	assert_string_equal(read_newest_night(lab),
	        "2/5: 2 ok good 1 unsupported quiet 2 crashed bad\n"
	        "3 failed\n"
	        "p5|b||crashed|bad|another\n"
	        "p3|b||crashed|bad|signal 11\n"
	        "p4|b||unsupported|quiet|\n");
}

/* Runs that failed alike are one row from the fourth on, or as many as make a group. */
static void failures_of_one_kind_are_one_row(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;
	char name[16];

	begin(lab, "{{failure_count}}:{{#failures}} {{title}}{{#several}} x{{several}}{{/several}}"
	           "{{/failures}}");
	world_night(w, 0, "nightly");
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof name, "p%d", i);
		world_fail(w, "b", name, "crashed", "alike");
	}
	world_fail(w, "b", "q1", "crashed", "other");
	world_fail(w, "b", "q2", "crashed", "other");
	lab_build(lab);
	assert_string_equal(read_newest_night(lab), "7: p0 x5 q1 q2");
}

/* A timing that is marked counts as measured and is no failure. */
static void throttled_runs_are_measured(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, RUNS);
	world_night(&lab->w, 0, "nightly");
	world_fail(&lab->w, "b", "p1", "throttled", "");
	world_fail(&lab->w, "b", "p2", "skipped", "no time");
	lab_build(lab);
	assert_string_equal(read_newest_night(lab), "1/2: 1 throttled note 1 skipped note\n"
	                                            "1 failed\n"
	                                            "p2|b||skipped|note|no time\n");
}

static void at_most_200_rows_of_failures(void **state)
{
	struct site_lab *lab = *state;
	char name[16], message[16];
	int rows = 0;

	begin(lab, "{{failure_count}}{{#failures_cut}} "
	           "cut{{/failures_cut}}{{#failures}}\n{{/failures}}");
	world_night(&lab->w, 0, "nightly");
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof name, "p%d", i);
		snprintf(message, sizeof message, "%d", i);
		world_fail(&lab->w, "b", name, "crashed", message);
	}
	lab_build(lab);
	for (const char *c = read_newest_night(lab); *c; c++)
		rows += *c == '\n';
	assert_int_equal(rows, 200);
	lab_assert_lacks(lab, "nights/index.html", "cut");
	assert_null(strstr(read_newest_night(lab), "cut"));
	world_night(&lab->w, 1, "nightly");
	for (int i = 0; i <= 200; i++) {
		snprintf(name, sizeof name, "p%d", i);
		snprintf(message, sizeof message, "%d", i);
		world_fail(&lab->w, "b", name, "crashed", message);
	}
	lab_build(lab);
	assert_non_null(strstr(read_newest_night(lab), "201 cut"));
}

/* ---- verdicts ---- */

#define VERDICTS \
	"{{#analysed}}{{quiet}} quiet{{/analysed}}{{^analysed}}not analysed{{/analysed}}\n" \
	"{{#verdicts}}{{title}}|{{several}}|{{status}}|{{tone}}|{{change}}|{{direction}}|" \
	"{{before}}|{{after}}|{{reason}}{{#ab_confirmed}} A/B{{/ab_confirmed}}\n{{/verdicts}}"

static void verdicts_are_ordered_by_status_and_series(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, VERDICTS);
	world_night(w, 0, "nightly");
	for (int i = 0; i < 5; i++)
		world_point(w, "b", (const char *const[]){"p1", "p2", "p3", "p4", "p5"}[i], 1000);
	struct tk_verdict_row rows[] = {lab_verdict(5, TK_VERDICT_IMPROVED, 1000, 750),
	        lab_verdict(4, TK_VERDICT_REGRESSED, 1000, 1500),
	        lab_verdict(3, TK_VERDICT_SAME, 1000, 1001),
	        lab_verdict(2, TK_VERDICT_REGRESSED, 1000, 1100),
	        lab_verdict(1, TK_VERDICT_NEW, 1000, NAN)};
	rows[3].detail = "{\"pairs\":{\"word\":\"higher\",\"count\":8}}";
	lab_put_verdicts(lab, rows, 5);
	lab_build(lab);
	const char *text = read_newest_night(lab);
	if (strstr(text, "p2|") > strstr(text, "p4|"))
		fail_msg("%s", text);
	assert_string_equal(text, "2 quiet\n"
	                          "p2||regressed|bad|+10.0 %|slower|1.000 µs|1.100 µs|because A/B\n"
	                          "p4||regressed|bad|+50.0 %|slower|1.000 µs|1.500 µs|because\n"
	                          "p5||improved|good|−25.0 %|faster|1.000 µs|750.0 ns|because\n");
}

static void a_night_without_verdicts_is_not_analysed(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, VERDICTS);
	world_night(&lab->w, 0, "nightly");
	world_point(&lab->w, "b", "p1", 1000);
	lab_build(lab);
	assert_string_equal(read_newest_night(lab), "not analysed\n");
}

/* Failures for one reason are one row; those with numbers stand alone. */
static void verdicts_for_one_reason_are_one_row(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;
	struct tk_verdict_row rows[9];
	char name[16];

	begin(lab,
	        "{{#verdicts}}{{title}}{{#several}} x{{several}}{{/several}} {{before}} {{reason}}"
	        "\n{{/verdicts}}");
	world_night(w, 0, "nightly");
	for (int i = 0; i < 9; i++) {
		snprintf(name, sizeof name, "p%d", i);
		world_fail(w, "b", name, "crashed", "");
		rows[i] = failed_verdict(i + 1, TK_VERDICT_NEWLY_FAILED, i < 6 ? "alike" : "other");
	}
	rows[8] = lab_verdict(9, TK_VERDICT_NEWLY_FAILED, 1000, 1500);
	lab_put_verdicts(lab, rows, 9);
	lab_build(lab);
	assert_string_equal(read_newest_night(lab), "p8 1.000 µs because\n"
	                                            "p0 x6 – alike\n"
	                                            "p6 – other\n"
	                                            "p7 – other\n");
}

/* ---- pages of older nights ---- */

/* A finished night's page is not made again. */
static void the_page_of_a_finished_night_stays(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "page");
	world_night(&lab->w, 0, "nightly");
	world_point(&lab->w, "b", "p1", 1000);
	lab_build(lab);
	char path[160];
	snprintf(path, sizeof path, "nights/%s", lab_read(lab, "nights/index.html"));
	*strchr(path, '\n') = 0;
	lab_overwrite(lab, path, "as it was");
	const size_t pages = lab->report.pages;
	world_night(&lab->w, 1, "nightly");
	world_point(&lab->w, "b", "p1", 1000);
	lab_build(lab);
	assert_string_equal(lab_read(lab, path), "as it was");
	assert_int_equal(lab->report.pages, pages + 1);
	lab->options.full = true;
	lab_build(lab);
	assert_string_equal(lab_read(lab, path), "page");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, lab_setup, lab_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(the_list_has_the_newest_night_first),
	        TEST(a_night_without_a_process_is_stopped),
	        TEST(states_have_tones),
	        TEST(a_night_that_measured_another_day_names_it),
	        TEST(stages_have_state_duration_and_detail),
	        TEST(an_upstream_has_its_revision_and_build),
	        TEST(the_log_of_a_failed_build_is_shown),
	        TEST(a_long_log_loses_its_beginning),
	        TEST(an_upstream_that_failed_has_no_build),
	        TEST(outcomes_are_counted),
	        TEST(failures_of_one_kind_are_one_row),
	        TEST(throttled_runs_are_measured),
	        TEST(at_most_200_rows_of_failures),
	        TEST(verdicts_are_ordered_by_status_and_series),
	        TEST(a_night_without_verdicts_is_not_analysed),
	        TEST(verdicts_for_one_reason_are_one_row),
	        TEST(the_page_of_a_finished_night_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
