/* What explains a change beside its numbers: the configuration of both runs, the machine code of
 * both builds, a trace of both revisions; and names that do not fit their row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "detect/history/catalog.h"
#include "detect/history/code_change.h"
#include "detect/history/config_change.h"
#include "store/kernel_report.h"
#include "world.h"

/* ---- configurations ---- */

/* Two runs of a series of this configuration, with these attributes. */
static struct tk_verdict two_runs(
        struct world *w, const char *config, const char *before, const char *after)
{
	struct tk_verdict v;

	tk_verdict_init(&v);
	world_build(w, "r1", 1, "b", "h1", "");
	w->config = config;
	world_night(w, 0, "nightly");
	w->attributes = before;
	v.last_good_run_id = world_point(w, "b", "p", 1e6);
	world_night(w, 1, "nightly");
	w->attributes = after;
	v.first_bad_run_id = world_point(w, "b", "p", 2e6);
	w->attributes = "{}";
	world_end_night(w);
	return v;
}

static void expect_config_change(struct world *w, const struct tk_verdict *v, const char *expected)
{
	const int64_t id = world_series(w, "b", "p");
	char text[TK_CONFIG_CHANGE_SIZE] = "not written";
	struct tk_catalog c;

	assert_int_equal(tk_catalog_load(w->store, &c, &w->err), 0);
	const struct tk_series_row *series = tk_id_table_find(&c.series, id);
	assert_non_null(series);
	assert_int_equal(tk_config_change_describe(&c, series, v, text, &w->err), 0);
	tk_catalog_free(&c);
	if (strcmp(text, expected) != 0)
		fail_msg("\"%s\", expected \"%s\"", text, expected);
}

static void configurations_of_a_tuned_series(void **state)
{
	static const struct {
		const char *config, *before, *after, *expected;
	} cases[] = {
	        {"tuned", "{\"config\":\"a\"}", "{\"config\":\"b\"}", "a -> b"},
	        {"tuned", "{}", "{\"config\":\"b\"}", "default -> b"}, /* none was stored then */
	        {"tuned", "{\"config\":\"a\"}", "{}", "a -> default"},
	        {"tuned", "{\"config\":\"a\"}", "{\"config\":\"a\"}", ""},
	        {"tuned", "{}", "{}", ""},
	        {"tuned", "{\"config\":7}", "{\"config\":\"default\"}", ""}, /* not a text */
	        {"fast", "{\"config\":\"a\"}", "{\"config\":\"b\"}", ""},    /* it is chosen */
	        {"", "{\"config\":\"a\"}", "{\"config\":\"b\"}", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct world w;

		world_open(&w, NULL);
		const struct tk_verdict v =
		        two_runs(&w, cases[i].config, cases[i].before, cases[i].after);
		expect_config_change(&w, &v, cases[i].expected);
		world_close(&w);
	}
}

static void unknown_runs_have_no_configuration(void **state)
{
	struct world *w = *state;
	const struct tk_verdict known =
	        two_runs(w, "tuned", "{\"config\":\"a\"}", "{\"config\":\"b\"}");
	struct tk_verdict v = known;

	v.last_good_run_id = 0;
	expect_config_change(w, &v, "");
	v.last_good_run_id = 999; /* removed since */
	expect_config_change(w, &v, "");
	v = known;
	v.first_bad_run_id = 999;
	expect_config_change(w, &v, "");
	expect_config_change(w, &known, "a -> b");
}

/* The fact is part of the row, beside the verdict. */
static void a_row_names_both_configurations(void **state)
{
	struct world *w = *state;

	world_build(w, "r1", 1, "b", "h1", "");
	w->config = "tuned";
	for (int day = 0; day < 14; day++) {
		world_night(w, day, "nightly");
		w->attributes = day < 10 ? "{\"config\":\"slow\"}" : "{\"config\":\"slower\"}";
		if (day == 10)
			world_build(w, "r2", 2, "b", "h2", "");
		world_point(w, "b", "p", (day < 10 ? 1e6 : 1.2e6) * (1 + 0.0005 * (day % 3)));
	}
	struct tk_diff_report r = world_diff(w, 10);
	const struct tk_verdict *v = &world_row(&r, "b", "p")->verdict;
	assert_int_equal(v->status, TK_VERDICT_REGRESSED);
	const struct tk_fact *fact = tk_verdict_find_fact(v, TK_FACT_CONFIG_CHANGE);
	assert_non_null(fact);
	assert_string_equal(tk_fact_text(v, fact), "slow -> slower");
	tk_diff_report_free(&r);
}

/* ---- machine code ---- */

struct kernel {
	const char *name, *hash;
	int64_t registers;
};

static void add_kernels(struct world *w, const struct kernel *kernels, const char *backend)
{
	for (; kernels->name; kernels++)
		world_gpu_kernel(
		        w, backend, kernels->name, kernels->hash, kernels->registers, -1, "");
}

/* Builds of these kernels, compared for a series of problem "p" in the configuration "c". */
static void describe_code_change(struct world *w, const struct kernel *before,
        const struct kernel *after, const char *backend, char out[TK_CODE_CHANGE_SIZE])
{
	struct tk_verdict v;
	struct tk_catalog c;

	tk_verdict_init(&v);
	w->config = "c";
	world_build(w, "r1", 1, "b", NULL, "");
	add_kernels(w, before, backend);
	v.good_build_id = w->build;
	world_night(w, 0, "nightly");
	v.last_good_run_id = world_point(w, "b", "p", 1e6);
	world_build(w, "r2", 2, "b", NULL, "");
	add_kernels(w, after, backend);
	v.bad_build_id = w->build;
	v.first_bad_run_id = world_point(w, "b", "p", 1e6);
	const int64_t id = world_series(w, "b", "p");
	world_end_night(w);
	assert_int_equal(tk_catalog_load(w->store, &c, &w->err), 0);
	assert_int_equal(
	        tk_code_change_describe(&c, tk_id_table_find(&c.series, id), &v, out, &w->err), 0);
	tk_catalog_free(&c);
}

static void the_kernel_that_ran_is_compared(void **state)
{
	static const struct {
		struct kernel before[4], after[4];
		const char *backend, *expected;
	} cases[] = {
	        /* one kernel, whatever its name */
	        {{{"sm_90 a", "1", 10}}, {{"sm_90 b", "2", 20}}, "b", "registers 10 -> 20"},
	        {{{"sm_90 a", "1", 10}}, {{"sm_90 a", "2", 10}}, "b",
	                ""}, /* nothing known differs */
	        {{{"sm_90 a", "1", 10}}, {{"sm_90 a", "2", -1}}, "b", ""}, /* unknown now */
	        /* of two the one that changed, by its name */
	        {{{"sm_90 a", "1", 10}, {"sm_90 z", "1", 5}},
	                {{"sm_90 a", "2", 12}, {"sm_90 z", "1", 5}}, "b", "registers 10 -> 12"},
	        {{{"sm_90 a", "1", 10}, {"sm_90 z", "1", 5}},
	                {{"sm_90 a", "2", 12}, {"sm_90 z", "2", 6}}, "b", ""},
	        {{{"sm_90 a", "1", 10}, {"sm_90 z", "1", 5}},
	                {{"sm_90 a", "1", 10}, {"sm_90 z", "1", 5}}, "b", ""},
	        {{{"sm_90 a", "1", 10}}, {{"sm_90 b", "2", 12}, {"sm_90 c", "2", 6}}, "b", ""},
	        /* of a package the kernels of the problem and its configuration */
	        {{{"sm_90 e p c", "1", 10}, {"sm_90 e q c", "1", 5}, {"sm_90 e p d", "1", 6}},
	                {{"sm_90 e p c", "2", 11}, {"sm_90 e q c", "2", 7},
	                        {"sm_90 e p d", "2", 8}},
	                "b", "registers 10 -> 11"},
	        /* another backend's, and code for the host */
	        {{{"sm_90 a", "1", 10}}, {{"sm_90 a", "2", 20}}, "other", ""},
	        {{{"a", "1", 10}}, {{"a", "2", 20}}, "b", ""},
	        {{{0}}, {{"sm_90 a", "2", 20}}, "b", ""},
	        {{{"sm_90 a", "1", 10}}, {{0}}, "b", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[TK_CODE_CHANGE_SIZE] = "not written";
		struct world w;

		world_open(&w, NULL);
		describe_code_change(&w, cases[i].before, cases[i].after, cases[i].backend, text);
		if (strcmp(text, cases[i].expected) != 0)
			fail_msg("case %zu: \"%s\", expected \"%s\"", i, text, cases[i].expected);
		world_close(&w);
	}
}

static void verdicts_without_two_builds(void **state)
{
	static const struct kernel old[] = {{"sm_90 a", "1", 10}, {0}},
	                           new[] = {{"sm_90 a", "2", 20}, {0}};
	struct world *w = *state;
	char text[TK_CODE_CHANGE_SIZE];
	struct tk_catalog c;

	describe_code_change(w, old, new, "b", text);
	assert_string_equal(text, "registers 10 -> 20");
	assert_int_equal(tk_catalog_load(w->store, &c, &w->err), 0);
	const struct tk_series_row *series = tk_id_table_find(&c.series, world_series(w, "b", "p"));
	for (int k = 0; k < 3; k++) {
		struct tk_verdict v;

		tk_verdict_init(&v);
		v.good_build_id = k == 0 ? 0 : w->build;
		v.bad_build_id = k == 1 ? 0 : w->build; /* and once the same on both sides */
		strcpy(text, "not written");
		assert_int_equal(tk_code_change_describe(&c, series, &v, text, &w->err), 0);
		assert_string_equal(text, "");
	}
	tk_catalog_free(&c);
}

/* ---- traces ---- */

/* Ten nights of r1, then four of r2 at 1.2 times the time. */
static void write_step(struct world *w, const char *subject)
{
	world_build(w, "r1", 5, "b", "h1", "first");
	for (int day = 0; day < 14; day++) {
		world_night(w, day, "nightly");
		if (day == 10)
			world_build(w, "r2", 8, "b", "h2", subject);
		world_point(w, "b", "p", (day < 10 ? 1e6 : 1.2e6) * (1 + 0.0005 * (day % 3)));
	}
	world_end_night(w);
}

/* What the trace of two revisions adds to the row of the step; "": nothing. */
static void expect_regions(struct world *w, const char *base, const char *revision,
        const char *result, const char *expected)
{
	static int64_t started_s = 0; /* each trace is newer than the one before */

	started_s++;
	const struct tk_kernel_report_row report = {.device_id = w->device,
	        .environment_id = w->environment,
	        .problem_id = 1,
	        .uid = "",
	        .kind = TK_KERNEL_REPORT_TRACE,
	        .upstream = "self",
	        .revision = revision,
	        .artifact_key = "",
	        .backend = "b",
	        .options = "",
	        .config = "",
	        .mode = "cold",
	        .base = base,
	        .started_s = started_s,
	        .result = result,
	        .timeline = ""};
	int64_t id;

	assert_int_equal(tk_store_put_kernel_report(w->store, &report, &id, &w->err), 0);
	struct tk_diff_report r = world_diff(w, 10);
	const struct tk_verdict *v = &world_row(&r, "b", "p")->verdict;
	const struct tk_fact *fact = tk_verdict_find_fact(v, TK_FACT_REGIONS);
	assert_string_equal(fact ? tk_fact_text(v, fact) : "", expected);
	tk_diff_report_free(&r);
}

static void a_trace_of_both_revisions_is_summarized(void **state)
{
	static const char slower[] =
	        "{\"kernels\":[{\"name\":\"flash\",\"change\":{\"base_ns\":1000,"
	        "\"head_ns\":1200,\"change_ns\":200,\"changed\":true}}]}";
	struct world *w = *state;

	write_step(w, "second");
	expect_regions(w, "r0", "r2", slower, ""); /* of another range */
	expect_regions(w, "r1", "r3", slower, "");
	expect_regions(w, "", "r2", slower, ""); /* it compares nothing */
	expect_regions(w, "r1", "r2", slower, "flash: 20\xc2\xa0% slower");
	expect_regions(w, "r1", "r2", "{}", ""); /* the newest one counts */
}

/* ---- names ---- */

/* A subject that does not fit is cut between two characters, or ends in '?'. */
static void long_subjects_stay_text(void **state)
{
	char subject[400] = "";

	(void)state;
	for (size_t ascii = 0; ascii < 3; ascii++) {
		struct world w;

		memset(subject, 'a', ascii);
		for (size_t i = ascii; i + 3 < sizeof subject; i += 3)
			memcpy(subject + i, "\xe2\x82\xac", 4); /* a euro sign */
		world_open(&w, NULL);
		write_step(&w, subject);
		struct tk_diff_report r = world_diff(&w, 10);
		const struct tk_diff_row *row = world_row(&r, "b", "p");
		const size_t length = strlen(row->bad_subject);
		assert_int_equal(length, sizeof row->bad_subject - 1);
		for (size_t i = 0; i < length;) {
			const size_t n = tk_utf8_decode(row->bad_subject + i, SIZE_MAX, NULL);

			assert_true(n > 0);
			i += n;
		}
		assert_memory_equal(row->bad_subject, subject, length - 2);
		tk_diff_report_free(&r);
		world_close(&w);
	}
}

/* A first timing has no change, but it has samples; so has the first one after a failure. */
static void a_first_timing_has_its_samples(void **state)
{
	struct world *w = *state;

	world_build(w, "r1", 1, "b", "h1", "");
	world_night(w, 0, "nightly");
	world_fail(w, "b", "fixed", "crashed", "");
	world_night(w, 1, "nightly");
	w->samples = 25;
	world_point(w, "b", "new", 1e6);
	world_point(w, "b", "fixed", 1e6);
	world_end_night(w);
	struct tk_diff_report r = world_diff(w, 1);
	const struct tk_diff_row *first = world_row(&r, "b", "new"),
	                         *fixed = world_row(&r, "b", "fixed");
	assert_int_equal(first->verdict.decided_by, TK_RULE_FIRST_TIMING);
	assert_int_equal(fixed->verdict.decided_by, TK_RULE_FIRST_TIMING_AFTER_FAILURE);
	assert_int_equal(first->samples_after, 25);
	assert_int_equal(fixed->samples_after, 25);
	assert_int_equal(first->samples_before, 0);
	assert_int_equal(first->new_run_id, 0); /* nothing was compared */
	assert_false(first->same_code || first->new_code || first->unstable);
	tk_diff_report_free(&r);
}

static void the_newest_run_is_named(void **state)
{
	struct world *w = *state;

	write_step(w, "second");
	world_night(w, 14, "nightly");
	world_build(w, "r3", 9, "b", "h3", "third");
	const int64_t run = world_point(w, "b", "p", 1.2e6);
	struct tk_diff_report r = world_diff(w, 10);
	const struct tk_diff_row *row = world_row(&r, "b", "p");
	assert_int_equal(row->new_run_id, run);
	assert_int_equal(row->new_build_id, w->build);
	assert_string_equal(row->bad_rev, "r2");
	assert_int_equal(row->newest_s, w->as_of_s);
	tk_diff_report_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(configurations_of_a_tuned_series),
	        IN_WORLD(unknown_runs_have_no_configuration),
	        IN_WORLD(a_row_names_both_configurations),
	        cmocka_unit_test(the_kernel_that_ran_is_compared),
	        IN_WORLD(verdicts_without_two_builds),
	        IN_WORLD(a_trace_of_both_revisions_is_summarized),
	        cmocka_unit_test(long_subjects_stay_text),
	        IN_WORLD(a_first_timing_has_its_samples),
	        IN_WORLD(the_newest_run_is_named),
	};

	return cmocka_run_group_tests_name("details of rows", tests, NULL, NULL);
}
