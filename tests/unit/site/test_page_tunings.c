/* tunings/: what `tracker tune` found, its candidates, the landscape, whether it still holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "page_groups.h"
#include "site_lab.h"

#include "store/tuning.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../quoted_json.h"

#define PAGE "tunings/box.cpu.self.b.p1.cold.html"
#define INDEX "tunings/index.html"

/* Of problem p1 on backend b with the revision r1, at the time of the night. */
static struct tk_tuning_row tuning_of(struct site_lab *lab, const char *candidates)
{
	struct world *w = &lab->w;
	struct tk_tuning_row row = {.device_id = w->device,
	        .environment_id = w->environment,
	        .upstream = "self",
	        .revision = "r1",
	        .artifact_key = "0123456789abcdef",
	        .backend = "b",
	        .options = "threads=2",
	        .mode = "cold",
	        .started_s = w->as_of_s,
	        .verdict = TK_TUNE_VERDICT_FASTER,
	        .config = "t64",
	        .winner = "t64",
	        .default_ns = 2000,
	        .winner_ns = 1000,
	        .change = -0.5,
	        .change_lo = -0.52,
	        .change_hi = -0.48,
	        .pair_count = 12,
	        .evaluation_count = 7,
	        .candidates = candidates};
	const int64_t series = world_series(w, "b", "p1");
	struct tk_rows rows = {0};

	assert_int_equal(tk_store_list_series(w->store, &rows, &w->err), 0);
	for (size_t i = 0; i < rows.count; i++)
		if (TK_ROWS_AT(&rows, struct tk_series_row, i)->id == series)
			row.problem_id = TK_ROWS_AT(&rows, struct tk_series_row, i)->problem_id;
	tk_rows_free(&rows);
	return row;
}

static void put(struct site_lab *lab, const struct tk_tuning_row *row)
{
	int64_t id;

	if (tk_store_put_tuning(lab->w.store, row, &id, &lab->w.err))
		fail_msg("%s", lab->w.err.message);
}

/* A night that measured p1, and the template of the page of a tuning. */
static void begin(struct site_lab *lab, const char *template)
{
	lab_set_template(lab, "tuning", template);
	world_build(&lab->w, "r1", 1, "b", NULL, "first");
	world_night(&lab->w, 0, "nightly");
	world_point(&lab->w, "b", "p1", 1000);
}

/* The only page of a tuning, whatever its name. */
static const char *page_of(struct site_lab *lab)
{
	static char path[200];
	const char *text, *start, *end;

	lab_set_template(lab, "tunings", "{{#groups}}{{#rows}}{{href}}|{{/rows}}{{/groups}}");
	lab_build(lab);
	text = lab_read(lab, INDEX);
	start = text;
	end = strchr(text, '|');
	assert_non_null(end);
	snprintf(path, sizeof path, "tunings/%.*s", (int)(end - start), start);
	return path;
}

#define CANDIDATES \
	"[{'config': 't32', 'outcome': 'ok', 'evaluations': 3, 'median_ns': 2000}, " \
	"{'config': 't64', 'outcome': 'ok', 'evaluations': 2, 'median_ns': 1000, 'slower': 0, " \
	"'lo': 0, 'hi': 0}, " \
	"{'config': 't128', 'outcome': 'ok', 'evaluations': 1, 'median_ns': 1100, 'slower': 0.1, " \
	"'lo': 0.08, 'hi': 0.12, 'dropped': true}, " \
	"{'config': 't256', 'outcome': 'crashed', 'message': 'signal 11'}, " \
	"{'config': 't512', 'outcome': 'skipped'}]"

static void a_tuning_is_summarized(void **state)
{
	struct site_lab *lab = *state;

	begin(lab,
	        "{{title}}\n{{backend}} {{device}} {{mode}} {{options}} {{upstream}} {{revision}} "
	        "{{build}} {{series_href}}\n{{default}} {{default_time}} -> {{winner}} "
	        "{{winner_time}}: {{gain}} {{gain_range}} {{gain_tone}} {{pairs}} {{verdict}} "
	        "{{verdict_tone}} {{evaluations}}/{{candidate_count}} {{state}} {{when}}"
	        "{{#is_default}} default{{/is_default}}{{#is_stale}} stale{{/is_stale}}");
	const struct tk_tuning_row row = tuning_of(lab, quoted(CANDIDATES));

	put(lab, &row);
	assert_string_equal(lab_read(lab, page_of(lab)),
	        "Tuning of b · p1\n"
	        "b box/cpu cold threads=2 self r1 0123456789ab… "
	        "../series/box.cpu.self.b.p1.cold.html\n"
	        "t32 2.000 µs -> t64 1.000 µs: \u221250.0 % \u221252.0 to \u221248.0 % good 12 "
	        "faster "
	        "good 7/5 fresh 2026-01-01 00:00");
}

/* What is not known is left out: neither A/B runs nor times, nor a configuration to use. */
static void a_tuning_that_found_nothing(void **state)
{
	struct site_lab *lab = *state;

	begin(lab,
	        "{{default}}|{{default_time}}|{{winner}}|{{winner_time}}|{{gain}}|{{gain_range}}|"
	        "{{gain_tone}}|{{pairs}}|{{verdict}}|{{verdict_tone}}|{{evaluations}}|{{state}}");
	struct tk_tuning_row row = tuning_of(lab, "[]");

	row.verdict = TK_TUNE_VERDICT_FAILING;
	row.config = row.winner = "";
	row.default_ns = row.winner_ns = row.change = row.change_lo = row.change_hi = NAN;
	row.pair_count = 0;
	row.evaluation_count = -1;
	put(lab, &row);
	assert_string_equal(lab_read(lab, page_of(lab)), "|–||–|||quiet||failing|bad|–|fresh");
}

/* Times of the race stand in for those of the A/B runs. */
static void times_of_the_race(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{default_time}} {{winner_time}}{{#is_default}} default{{/is_default}}");
	struct tk_tuning_row row = tuning_of(lab, quoted(CANDIDATES));

	row.default_ns = NAN;
	row.config = "t128"; /* not the winner of the race */
	put(lab, &row);
	assert_string_equal(lab_read(lab, page_of(lab)), "2.000 µs 1.100 µs");
	row.started_s++;
	row.config = row.winner = "t32";
	row.winner_ns = 1900;
	put(lab, &row);
	assert_string_equal(lab_read(lab, page_of(lab)), "2.000 µs 1.900 µs default");
}

static void verdicts_have_a_tone(void **state)
{
	static const struct {
		enum tk_tune_verdict verdict;
		const char *tone;
	} cases[] = {{TK_TUNE_VERDICT_FASTER, "good good"}, {TK_TUNE_VERDICT_FIXED, "good good"},
	        {TK_TUNE_VERDICT_FAILING, "bad bad"}, {TK_TUNE_VERDICT_INCONCLUSIVE, "note note"},
	        {TK_TUNE_VERDICT_SLOWER, "note note"}, {TK_TUNE_VERDICT_SAME, "quiet quiet"}};
	struct site_lab *lab = *state;

	begin(lab, "{{verdict_tone}} {{gain_tone}}");
	struct tk_tuning_row row = tuning_of(lab, quoted(CANDIDATES));

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		row.started_s++;
		row.verdict = cases[i].verdict;
		/* An inconclusive one counts only where there is no other. */
		if (row.verdict == TK_TUNE_VERDICT_INCONCLUSIVE)
			continue;
		put(lab, &row);
		assert_string_equal(lab_read(lab, page_of(lab)), cases[i].tone);
	}
}

static void candidates_are_ranked(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#candidates}}{{config}} {{time}} {{slower}} {{range}} {{runs}} {{outcome}} "
	           "{{left}} {{message}}{{#is_default}} default{{/is_default}}{{#is_chosen}} chosen"
	           "{{/is_chosen}}\n{{/candidates}}{{more}}");
	const struct tk_tuning_row row = tuning_of(lab, quoted(CANDIDATES));

	put(lab, &row);
	assert_string_equal(lab_read(lab, page_of(lab)),
	        "t64 1.000 µs   2    chosen\n"
	        "t128 1.100 µs +10.0 % +8.0 to +12.0 % 1  dropped \n"
	        "t32 2.000 µs   3    default\n"
	        "t256 –   – crashed  signal 11\n"
	        "t512 –   –  not measured \n");
}

/* Sixty candidates are shown; of more, how many are left. Strange ones are left out. */
static void many_and_strange_candidates(void **state)
{
	struct site_lab *lab = *state;
	struct tk_buf text = TK_BUF_INIT;

	begin(lab, "{{candidate_count}} {{more}} {{#candidates}}x{{/candidates}}");
	tk_buf_add_str(&text,
	        "[7, {}, {\"config\": \"\", \"outcome\": \"ok\"}, {\"config\": \"a\"}, "
	        "{\"config\": \"a\", \"outcome\": \"dancing\"}");
	for (int i = 0; i < 63; i++)
		tk_buf_add_printf(&text, ", {\"config\": \"t%d\", \"outcome\": \"ok\"}", i);
	tk_buf_add_str(&text, "]");
	const struct tk_tuning_row row = tuning_of(lab, tk_buf_cstr(&text));

	put(lab, &row);
	const char *page = lab_read(lab, page_of(lab));

	assert_true(strncmp(page, "63 3 x", 6) == 0);
	assert_int_equal(strlen(page), strlen("63 3 ") + 60);
	tk_buf_free(&text);
}

/* ---- the landscape --------------------------------------------------------------------------- */

#define GRID(config, ns) "{'config': '" config "', 'outcome': 'ok', 'median_ns': " #ns "}"

/* The parameter with the larger effect comes first; the map has the one with more values across. */
static void the_landscape_of_two_parameters(void **state)
{
	struct site_lab *lab = *state;

	begin(lab,
	        "{{#map}}{{row_name}}/{{column_name}}:{{#map_columns}} {{column}}{{/map_columns}}\n"
	        "{{#map_rows}}{{row}}:{{#cells}} {{#any}}{{slower}}@{{level}}{{/any}}{{^any}}-"
	        "{{/any}}{{/cells}}\n{{/map_rows}}{{/map}}{{#others}}others{{/others}}"
	        "{{#parameters}}{{#is_first}}{{parameter}}({{values}}){{/is_first}} {{value}} "
	        "{{time}};{{/parameters}}");
	const struct tk_tuning_row row =
	        tuning_of(lab, quoted("[" GRID("a1-b8", 1000) ", " GRID("a1-b16", 1004) ", " GRID(
	                               "a1-b32", 1030) ", " GRID("a2-b8", 1090) ", " GRID("a2-b16",
	                               1200) ", "
	                                     "{'config': 'a2-b32', 'outcome': 'crashed'}]"));

	put(lab, &row);
	assert_string_equal(lab_read(lab, page_of(lab)),
	        "a/b: 8 16 32\n"
	        "1: best@0 +0.4 %@0 +3.0 %@2\n"
	        "2: +9.0 %@3 +20.0 %@4 -\n"
	        "a(2) 1 1.000 µs; 2 1.090 µs;b(3) 8 1.000 µs; 16 1.004 µs; 32 1.030 µs;");
}

static void a_landscape_of_one_parameter_has_no_map(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#map}}map{{/map}}{{#parameters}}{{parameter}} {{value}} {{slower}};"
	           "{{/parameters}}");
	const struct tk_tuning_row row = tuning_of(lab,
	        quoted("[" GRID("a1-c5", 1000) ", " GRID("a2-c5", 1300) ", " GRID("c5", 1100) "]"));

	put(lab, &row);
	/* One configuration does not have the parameter. */
	assert_string_equal(lab_read(lab, page_of(lab)), "a 1 best;a 2 +30.0 %;a none +10.0 %;");
}

/* ---- results before it, and whether they hold ------------------------------------------------ */

static void results_of_the_same_kind_are_listed(void **state)
{
	struct site_lab *lab = *state;

	begin(lab,
	        "{{#results}}{{when}} {{config}} {{revision}} {{verdict}} {{gain}};{{/results}}");
	struct tk_tuning_row row = tuning_of(lab, quoted(CANDIDATES));

	put(lab, &row);
	row.started_s += 60;
	row.revision = "0123456789abcdef";
	row.verdict = TK_TUNE_VERDICT_SAME;
	row.change = NAN;
	put(lab, &row);
	row.started_s += 60; /* with other options it is another kind */
	row.options = "threads=4";
	row.config = "other";
	put(lab, &row);
	lab_set_template(
	        lab, "tunings", "{{#groups}}{{options}}:{{#rows}}{{href}}{{/rows}};{{/groups}}");
	lab_build(lab);
	const char *index = lab_read(lab, INDEX);
	char path[200];

	assert_true(strncmp(index, "threads=2:", 10) == 0);
	snprintf(path, sizeof path, "tunings/%.*s", (int)strcspn(index + 10, ";"), index + 10);
	assert_string_equal(lab_read(lab, path), "2026-01-01 00:01 t64 0123456789ab… same ;"
	                                         "2026-01-01 00:00 t64 r1 faster \u221250.0 %;");
}

static void a_result_can_be_stale(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{state}}{{#is_stale}} stale{{/is_stale}}");
	struct tk_tuning_row row = tuning_of(lab, quoted(CANDIDATES));

	put(lab, &row);
	assert_string_equal(lab_read(lab, page_of(lab)), "fresh");
	world_build(&lab->w, "r2", 2, "b", NULL, "second");
	world_night(&lab->w, 1, "nightly");
	world_point(&lab->w, "b", "p1", 1000);
	assert_string_equal(lab_read(lab, page_of(lab)), "stale: new revision stale");
	row.revision = "r2";
	row.started_s += WORLD_DAY;
	put(lab, &row);
	assert_string_equal(lab_read(lab, page_of(lab)), "fresh");
	world_environment(&lab->w, "{\"driver\":\"560\"}");
	world_night(&lab->w, 2, "nightly");
	world_point(&lab->w, "b", "p1", 1000);
	assert_string_equal(lab_read(lab, page_of(lab)), "stale: new driver stale");
}

static void the_index_groups_backends(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "-");
	lab_set_template(lab, "tunings",
	        "{{#groups}}{{backend}} of {{upstream}} {{device}} {{mode}}:{{#rows}} {{problem}} "
	        "{{winner}} {{gain}}{{/rows}}{{#rules}} {{sweep}}: {{rule}}{{/rules}}\n{{/groups}}"
	        "{{#places}}{{device}} {{mode}}{{/places}}");
	struct tk_tuning_row row = tuning_of(lab, quoted(CANDIDATES));

	put(lab, &row);
	row.mode = "paced";
	row.config = "t32";
	put(lab, &row);
	row.upstream = row.backend;
	put(lab, &row);
	lab_build(lab);
	assert_string_equal(lab_read(lab, INDEX), "b of  box/cpu paced: p1 t32 \u221250.0 %\n"
	                                          "b of self box/cpu cold: p1 t64 \u221250.0 %\n"
	                                          "b of self box/cpu paced: p1 t32 \u221250.0 %\n");
}

static void a_site_without_tunings_has_no_page(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "-");
	lab_build(lab);
	assert_false(lab_has(lab, INDEX));
}

int page_tuning_tests(void)
{
	const struct CMUnitTest tests[] = {
	        LAB_TEST(a_tuning_is_summarized),
	        LAB_TEST(a_tuning_that_found_nothing),
	        LAB_TEST(times_of_the_race),
	        LAB_TEST(verdicts_have_a_tone),
	        LAB_TEST(candidates_are_ranked),
	        LAB_TEST(many_and_strange_candidates),
	        LAB_TEST(the_landscape_of_two_parameters),
	        LAB_TEST(a_landscape_of_one_parameter_has_no_map),
	        LAB_TEST(results_of_the_same_kind_are_listed),
	        LAB_TEST(a_result_can_be_stale),
	        LAB_TEST(the_index_groups_backends),
	        LAB_TEST(a_site_without_tunings_has_no_page),
	};

	return cmocka_run_group_tests_name("tunings", tests, NULL, NULL);
}
