/* The formats of `tracker diff` for programs: JSON, NDJSON, CSV, SARIF and JUnit; and which rows a
 * format is given, in which order. */
#include "diff_rig.h"

#include <jansson.h>

static const char *text_at(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

static double number_at(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static json_t *parsed(const char *text)
{
	json_error_t why;
	json_t *o = json_loads(text, 0, &why);

	if (!o)
		fail_msg("%s in %s", why.text, text);
	return o;
}

/* ---- JSON ---- */

static void json_has_the_counts_and_the_method(void **state)
{
	struct diff_rig *f = *state;

	f->report.options.min_samples = 2;
	f->report.options.stale_days = 14;
	f->report.waiting = 6;
	f->report.newest_s = 86400 * 17;
	json_t *o = parsed(diff_written(f, "json"));
	const json_t *summary = json_object_get(o, "summary"),
	             *method = json_object_get(o, "method");

	assert_string_equal(text_at(o, "schema"), "tracker-diff/2");
	assert_string_equal(text_at(o, "since"), "1970-01-11T00:00:00Z");
	assert_int_equal(json_array_size(json_object_get(o, "rows")), ROWS);
	assert_int_equal(number_at(o, "rows_left_out"), 0);
	assert_int_equal(number_at(summary, "series"), 5);
	assert_int_equal(number_at(summary, "compared"), 4);
	assert_int_equal(number_at(summary, "waiting"), 6);
	assert_int_equal(number_at(json_object_get(summary, "counts"), "newly-failed"), 1);
	assert_int_equal(
	        json_object_size(json_object_get(summary, "counts")), TK_VERDICT_STATUS_COUNT);
	assert_true(json_is_true(json_object_get(summary, "found")));
	assert_string_equal(text_at(summary, "newest"), "1970-01-18T00:00:00Z");
	expect_contains(text_at(method, "test"), "Benjamini-Hochberg");
	assert_string_equal(text_at(method, "baseline"), "window");
	assert_int_equal(number_at(method, "min_samples"), 2);
	assert_int_equal(number_at(method, "stale_days"), 14);
	assert_int_equal(number_at(method, "window_nights"), 7);
	json_decref(o);
	f->report.options.uncorrected = true;
	f->report.options.baseline_name = "tag:v1";
	f->report.until_s = INT64_MAX;
	o = parsed(diff_written(f, "json"));
	method = json_object_get(o, "method");
	expect_contains(text_at(method, "test"), "p uncorrected");
	assert_string_equal(text_at(method, "baseline"), "tag:v1");
	assert_true(json_is_null(json_object_get(o, "until")));
	json_decref(o);
}

static void json_rows_have_every_number(void **state)
{
	struct diff_rig *f = *state;

	f->rows[SLOWER].verdict.first_bad_run_id = 17;
	json_t *o = parsed(diff_written(f, "json"));
	const json_t *row = json_array_get(json_object_get(o, "rows"), SLOWER),
	             *change = json_object_get(row, "change");

	assert_string_equal(text_at(row, "status"), "regressed");
	assert_string_equal(text_at(row, "mark"), "+");
	assert_string_equal(text_at(row, "better"), "lower");
	assert_string_equal(text_at(row, "change_by"), "nights");
	assert_float_equal(number_at(change, "value"), 0.1, 1e-12);
	assert_float_equal(number_at(change, "lo"), 0.09, 1e-12);
	assert_float_equal(number_at(json_object_get(row, "after"), "hi"), 1111, 1e-9);
	assert_float_equal(number_at(row, "q"), 0.004, 1e-12);
	assert_int_equal(number_at(row, "samples_before"), 7);
	assert_int_equal(number_at(row, "commits_between"), 3);
	assert_int_equal(number_at(row, "first_bad_run"), 17);
	assert_true(json_is_null(json_object_get(row, "last_good_run")));
	assert_true(json_is_null(json_object_get(row, "ab_test")));
	assert_true(json_is_null(json_object_get(row, "first_bad_commit")));
	assert_true(json_is_null(json_object_get(row, "accepted")));
	assert_true(json_is_null(json_object_get(row, "link")));
	row = json_array_get(json_object_get(o, "rows"), FAILED);
	assert_true(json_is_null(json_object_get(row, "change")));
	assert_true(json_is_null(json_object_get(row, "commits_between")));
	assert_string_equal(text_at(row, "reason"), "crashed: signal 11");
	row = json_array_get(json_object_get(o, "rows"), FASTER);
	assert_string_equal(text_at(row, "change_by"), "ab");
	row = json_object_get(row, "ab_test");
	assert_string_equal(text_at(row, "decision"), "lower");
	assert_int_equal(number_at(row, "count"), 16);
	assert_float_equal(number_at(json_object_get(row, "change"), "hi"), -0.19, 1e-12);
	json_decref(o);
}

static void json_has_what_people_accepted_and_bisections_found(void **state)
{
	struct diff_rig *f = *state;
	struct tk_diff_row *r = &f->rows[SLOWER];

	r->verdict.status = TK_VERDICT_ACKED;
	r->verdict.status_before_ack = TK_VERDICT_REGRESSED;
	strcpy(r->first_bad_commit, "cccc");
	strcpy(r->first_bad_author, "Ada");
	r->first_bad_time_s = 86400;
	r->first_bad_confidence = 0.9;
	f->view.site_url = "https://example.org";
	json_t *o = parsed(diff_written(f, "json"));
	const json_t *row = json_array_get(json_object_get(o, "rows"), SLOWER), *commit;

	assert_string_equal(text_at(row, "accepted"), "regressed");
	expect_contains(text_at(row, "link"), "https://example.org/series/");
	commit = json_object_get(row, "first_bad_commit");
	assert_string_equal(text_at(commit, "rev"), "cccc");
	assert_string_equal(text_at(commit, "author"), "Ada");
	assert_string_equal(text_at(commit, "author_time"), "1970-01-02T00:00:00Z");
	assert_float_equal(number_at(commit, "confidence"), 0.9, 1e-12);
	json_decref(o);
}

/* Names of other programs' histories need not be UTF-8. */
static void json_is_utf8(void **state)
{
	struct diff_rig *f = *state;

	strcpy(f->rows[SLOWER].bad_subject, "\xff\xfe");
	json_t *o = parsed(diff_written(f, "json"));
	assert_string_equal(
	        text_at(json_array_get(json_object_get(o, "rows"), SLOWER), "bad_subject"), "?");
	json_decref(o);
}

static void json_groups_follow_the_shown_rows(void **state)
{
	struct diff_rig *f = *state;

	strcpy(f->rows[SAME].backend, "blis");
	strcpy(f->rows[FAILED].backend, "blis");
	json_t *o = parsed(diff_written(f, "json"));
	assert_int_equal(json_array_size(json_object_get(o, "groups")), 0);
	json_decref(o);
	f->view.group = TK_DIFF_GROUP_BACKEND;
	o = parsed(diff_written(f, "json"));
	const json_t *groups = json_object_get(o, "groups"), *first = json_array_get(groups, 0);
	assert_int_equal(json_array_size(groups), 2);
	assert_string_equal(text_at(first, "name"), "blis");
	assert_int_equal(number_at(first, "series"), 2);
	assert_int_equal(number_at(first, "compared"), 1);
	assert_float_equal(number_at(first, "geomean_change"), 0.001, 1e-9);
	json_decref(o);
	f->view.limit = 2; /* both of the group "blis" */
	o = parsed(diff_written(f, "json"));
	assert_int_equal(json_array_size(json_object_get(o, "groups")), 1);
	assert_int_equal(number_at(o, "rows_left_out"), 3);
	json_decref(o);
}

static void ndjson_is_a_line_for_each_row_and_one_for_the_rest(void **state)
{
	struct diff_rig *f = *state;
	const char *text = diff_written(f, "ndjson");
	char line[8192];
	int lines = 0;

	assert_int_equal(count_of(text, "\n"), ROWS + 1);
	for (const char *at = text, *end; (end = strchr(at, '\n')); at = end + 1, lines++) {
		snprintf(line, sizeof line, "%.*s", (int)(end - at), at);
		json_t *o = parsed(line);
		assert_int_equal(json_object_get(o, "summary") != NULL, lines == ROWS);
		assert_int_equal(json_object_get(o, "series") != NULL, lines < ROWS);
		json_decref(o);
	}
}

/* ---- CSV ---- */

static void csv_rows_have_as_many_fields_as_the_head(void **state)
{
	struct diff_rig *f = *state;
	const char *text = diff_written(f, "csv"), *row = strstr(text, "\r\n") + 2;
	size_t columns = 1;

	for (const char *c = text; *c != '\r'; c++)
		columns += *c == ',';
	assert_int_equal(columns, 33);
	expect_contains(row, "regressed,\"rig/cpu/openblas/gemm\",\"gemm\",\"openblas\",\"blas\","
	                     "\"rig\",\"cpu\",\"time\",\"ns\",lower,1000,990,1010,1100,1089,1111,"
	                     "0.1,0.09,0.11,0.02,5,0.001,0.004,7,3,3,\"aaaaaaaaaaaaaaaa\","
	                     "\"bbbbbbbbbbbbbbbb\",\"unroll\",\"\",nights,,\r\n");
	expect_contains(
	        row, "lower,,,,,,,,,,0.02,,,,7,3,,\"\",\"\",\"\",\"crashed: signal 11\",,,\r\n");
	assert_int_equal(count_of(text, "\r\n"), ROWS + 1);
	for (int i = 0; i < ROWS; i++, row = strstr(row, "\r\n") + 2) {
		size_t fields = 1;
		for (const char *c = row; *c != '\r'; c++)
			fields += *c == ',';
		assert_int_equal(fields, columns);
	}
}

static void csv_keeps_to_its_limit(void **state)
{
	struct diff_rig *f = *state;

	f->view.limit = 2;
	assert_int_equal(count_of(diff_written(f, "csv"), "\r\n"), 3);
}

/* ---- SARIF ---- */

static const json_t *sarif_results(const json_t *o)
{
	return json_object_get(json_array_get(json_object_get(o, "runs"), 0), "results");
}

static void sarif_has_a_result_for_each_news(void **state)
{
	struct diff_rig *f = *state;

	f->view.fail_on[TK_VERDICT_REGRESSED] = false;
	json_t *o = parsed(diff_written(f, "sarif"));
	const json_t *results = sarif_results(o), *first = json_array_get(results, 0);

	assert_string_equal(text_at(o, "version"), "2.1.0");
	assert_int_equal(json_array_size(results), 4);
	assert_string_equal(text_at(first, "ruleId"), "regressed");
	assert_string_equal(text_at(first, "level"), "warning");
	assert_string_equal(text_at(json_object_get(first, "message"), "text"),
	        "regressed: gemm on rig, openblas: +10.0 % of time, lower is better; first bad "
	        "aaaaaaaaaaaa..bbbbbbbbbbbb (3 commits) unroll");
	assert_string_equal(text_at(json_object_get(json_array_get(results, 1), "message"), "text"),
	        "newly-failed: conv on rig, openblas; crashed: signal 11");
	assert_string_equal(text_at(json_array_get(results, 2), "level"), "note");
	json_decref(o);
	f->view.fail_on[TK_VERDICT_REGRESSED] = true;
	o = parsed(diff_written(f, "sarif"));
	assert_string_equal(text_at(json_array_get(sarif_results(o), 0), "level"), "error");
	json_decref(o);
}

static char *fingerprint(struct diff_rig *f)
{
	json_t *o = parsed(diff_written(f, "sarif"));
	char *copy = strdup(
	        text_at(json_object_get(json_array_get(sarif_results(o), 0), "partialFingerprints"),
	                "trackerStep/v1"));

	json_decref(o);
	return copy;
}

/* A forge opens one alert for a change, also when its numbers are measured again. */
static void fingerprints_are_of_the_change(void **state)
{
	struct diff_rig *f = *state;
	char *first = fingerprint(f), *again, *other;

	f->rows[SLOWER].verdict.change.value = 0.3;
	f->rows[SLOWER].commits_between = 9;
	again = fingerprint(f);
	assert_string_equal(first, again);
	f->rows[SLOWER].bad_rev[0] = 'x';
	other = fingerprint(f);
	assert_string_not_equal(first, other);
	free(first);
	free(again);
	free(other);
}

static void accepted_changes_are_suppressed(void **state)
{
	struct diff_rig *f = *state;

	f->report.count = 1;
	f->rows[SLOWER].verdict.status = TK_VERDICT_ACKED;
	tk_verdict_add_fact(&f->rows[SLOWER].verdict,
	        (struct tk_fact){.kind = TK_FACT_ACKNOWLEDGED}, "accepted by Ada: known");
	json_t *o = parsed(diff_written(f, "sarif"));
	const json_t *s = json_array_get(
	        json_object_get(json_array_get(sarif_results(o), 0), "suppressions"), 0);
	assert_string_equal(text_at(s, "status"), "accepted");
	expect_contains(text_at(s, "justification"), "accepted by Ada: known");
	json_decref(o);
}

/* A code scanner wants a file inside the repository. */
static void the_place_is_the_configuration(void **state)
{
	static const struct {
		const char *config, *uri;
	} cases[] = {{NULL, "tracker.yml"}, {"ci/perf.yml", "ci/perf.yml"},
	        {"/etc/tracker.yml", "tracker.yml"}};
	struct diff_rig *f = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		f->globals.config_path = cases[i].config;
		json_t *o = parsed(diff_written(f, "sarif"));
		const json_t *place = json_array_get(
		        json_object_get(json_array_get(sarif_results(o), 0), "locations"), 0);
		place = json_object_get(
		        json_object_get(place, "physicalLocation"), "artifactLocation");
		assert_string_equal(text_at(place, "uri"), cases[i].uri);
		json_decref(o);
	}
}

/* ---- JUnit ---- */

static void junit_has_a_case_for_each_series(void **state)
{
	struct diff_rig *f = *state;
	const char *text = diff_written(f, "junit");

	expect_contains(text, "tests=\"5\" failures=\"1\" errors=\"1\" skipped=\"1\">");
	assert_int_equal(count_of(text, "<testcase "), 5);
	assert_int_equal(count_of(text, "</testcase>"), 5);
	expect_contains(
	        text, "<testcase classname=\"rig.cpu.openblas\" name=\"fft time\"></testcase>");
	expect_contains(text, "<failure message=\"regressed +10.0 % (1.000\u00a0µs -&gt; "
	                      "1.100\u00a0µs)\" type=\"regressed\">first bad "
	                      "aaaaaaaaaaaa..bbbbbbbbbbbb (3 commits) unroll</failure>");
	expect_contains(text, "<error message=\"newly-failed: crashed: signal 11\" "
	                      "type=\"newly-failed\"></error>");
	expect_contains(text, "<skipped message=\"environment +5.0 % (");
}

/* What --fail-on names is a failure, whatever its status. */
static void fail_on_makes_failures(void **state)
{
	struct diff_rig *f = *state;

	f->view.fail_on[TK_VERDICT_IMPROVED] = f->view.fail_on[TK_VERDICT_ENVIRONMENT] = true;
	const char *text = diff_written(f, "junit");
	expect_contains(text, "failures=\"3\" errors=\"1\" skipped=\"0\"");
	expect_contains(text, "improved -20.0 % (A/B confirmed) (nights 2.000");
}

static void junit_escapes_what_upstreams_wrote(void **state)
{
	struct diff_rig *f = *state;

	strcpy(f->rows[SLOWER].bad_subject, "a<b & \"c\"\t\x01\xef\xbf\xbe end");
	expect_contains(diff_written(f, "junit"), "a&lt;b &amp; &quot;c&quot;&#9;?? end</failure>");
}

/* The reason of a failed run starts with its outcome, which may be the status as well. */
static void a_reason_does_not_repeat_the_status(void **state)
{
	struct diff_rig *f = *state;

	f->rows[FAILED].verdict.status = TK_VERDICT_UNSUPPORTED;
	tk_verdict_clear_facts(&f->rows[FAILED].verdict);
	tk_verdict_add_fact(&f->rows[FAILED].verdict, (struct tk_fact){.kind = TK_FACT_OUTCOME},
	        "unsupported: no bf16");
	expect_contains(diff_written(f, "junit"), "<skipped message=\"unsupported: no bf16\">");
}

/* ---- which rows, in which order ---- */

static void expect_order(struct diff_rig *f, const char *expected)
{
	char titles[200] = "";

	diff_choose(f, true);
	for (size_t i = 0; i < f->view.count; i++) {
		strcat(titles, f->view.rows[i]->title);
		strcat(titles, " ");
	}
	assert_string_equal(titles, expected);
}

static void rows_are_sorted(void **state)
{
	struct diff_rig *f = *state;

	expect_order(f, "gemm conv axpy fft sort ");
	f->view.sort = TK_DIFF_SORT_PERCENT; /* without a change: last */
	expect_order(f, "axpy gemm sort fft conv ");
	f->view.sort = TK_DIFF_SORT_ABSOLUTE; /* 400, 200, 100, 3 ns */
	expect_order(f, "axpy sort gemm fft conv ");
	f->view.sort = TK_DIFF_SORT_NAME;
	expect_order(f, "axpy conv fft gemm sort ");
	f->view.group = TK_DIFF_GROUP_MACHINE;
	strcpy(f->rows[MACHINE].machine, "a");
	expect_order(f, "sort axpy conv fft gemm ");
	f->view.group = TK_DIFF_GROUP_UPSTREAM;
	strcpy(f->rows[FASTER].upstream, "z");
	expect_order(f, "conv fft gemm sort axpy ");
}

static void news_are_chosen_unless_statuses_are_given(void **state)
{
	struct diff_rig *f = *state;

	for (int s = 0; s < TK_VERDICT_STATUS_COUNT; s++) {
		const bool quiet = s == TK_VERDICT_SAME || s == TK_VERDICT_NEW ||
		                   s == TK_VERDICT_FAILING || s == TK_VERDICT_UNSUPPORTED ||
		                   s == TK_VERDICT_STALE;
		f->rows[0].verdict.status = (enum tk_verdict_status)s;
		f->report.count = 1;
		diff_choose(f, false);
		assert_int_equal(f->view.count, quiet ? 0 : 1);
		diff_choose(f, true);
		assert_int_equal(f->view.count, 1);
	}
	f->view.explicit_statuses = true;
	memset(f->view.chosen, false, sizeof f->view.chosen);
	diff_choose(f, true);
	assert_int_equal(f->view.count, 0);
}

static void a_status_of_fail_on_is_found(void **state)
{
	struct diff_rig *f = *state;

	assert_true(tk_diff_has_fail_on(&f->view));
	f->view.fail_on[TK_VERDICT_REGRESSED] = false;
	assert_false(tk_diff_has_fail_on(&f->view));
	f->view.fail_on[TK_VERDICT_MISSING] = true;
	assert_false(tk_diff_has_fail_on(&f->view));
}

static void baselines_have_a_name(void **state)
{
	struct diff_rig *f = *state;
	char text[80];

	assert_string_equal(
	        tk_diff_describe_baseline(&f->report, text, sizeof text), "7-night median");
	f->report.options.baseline = TK_BASELINE_FIRST;
	assert_string_equal(
	        tk_diff_describe_baseline(&f->report, text, sizeof text), "the first 7 nights");
	f->report.options.baseline = TK_BASELINE_BEST;
	assert_string_equal(
	        tk_diff_describe_baseline(&f->report, text, sizeof text), "the best level");
	f->report.options.baseline = TK_BASELINE_PINNED;
	f->report.options.baseline_name = "tag:v1.0";
	assert_string_equal(tk_diff_describe_baseline(&f->report, text, sizeof text), "tag:v1.0");
}

static void the_summary_has_the_age_and_the_rotation(void **state)
{
	struct diff_rig *f = *state;
	char text[1024];

	f->report.machines = 2;
	f->report.newest_s = 86400 * 17;
	f->report.waiting = 4;
	f->report.waiting_nights = 1;
	diff_choose(f, true);
	tk_diff_summarize(&f->view, text, sizeof text);
	expect_contains(text, "diff: 5 series on 2 machines:");
	expect_contains(text, "; newest data 1 d old; 4 wait for their turn, measured up to 1 "
	                      "night ago");
	f->report.waiting_nights = 3;
	tk_diff_summarize(&f->view, text, sizeof text);
	expect_contains(text, "up to 3 nights ago");
	f->report.until_s = INT64_MAX; /* until now */
	tk_diff_summarize(&f->view, text, sizeof text);
	expect_contains(text, "1970-01-11..1970-01-19 vs");
}

static void links_need_an_address(void **state)
{
	struct diff_rig *f = *state;
	char url[512];

	assert_string_equal(tk_diff_series_url(&f->view, &f->rows[SLOWER], url, sizeof url), "");
	f->view.site_url = "";
	assert_string_equal(tk_diff_series_url(&f->view, &f->rows[SLOWER], url, sizeof url), "");
	f->view.site_url = "https://example.org/a/";
	tk_diff_series_url(&f->view, &f->rows[SLOWER], url, sizeof url);
	assert_ptr_equal(strstr(url, "https://example.org/a/series/"), url);
	expect_lacks(url + 8, "//");
}

static void documents_report_a_full_disk(void **state)
{
	static const char *const names[] = {"csv", "json", "ndjson", "sarif", "junit", "md"};
	struct diff_rig *f = *state;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct tk_error err = {0};
		FILE *full = fopen("/dev/full", "w");

		assert_non_null(full);
		setvbuf(full, NULL, _IONBF, 0);
		diff_choose(f, true);
		assert_int_equal(
		        tk_diff_format_find(names[i])->write(&f->view, full, &err), TK_ENOSPC);
		expect_contains(err.message, "No space left");
		fclose(full);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        DIFF_TEST(json_has_the_counts_and_the_method),
	        DIFF_TEST(json_rows_have_every_number),
	        DIFF_TEST(json_has_what_people_accepted_and_bisections_found),
	        DIFF_TEST(json_is_utf8),
	        DIFF_TEST(json_groups_follow_the_shown_rows),
	        DIFF_TEST(ndjson_is_a_line_for_each_row_and_one_for_the_rest),
	        DIFF_TEST(csv_rows_have_as_many_fields_as_the_head),
	        DIFF_TEST(csv_keeps_to_its_limit),
	        DIFF_TEST(sarif_has_a_result_for_each_news),
	        DIFF_TEST(fingerprints_are_of_the_change),
	        DIFF_TEST(accepted_changes_are_suppressed),
	        DIFF_TEST(the_place_is_the_configuration),
	        DIFF_TEST(junit_has_a_case_for_each_series),
	        DIFF_TEST(fail_on_makes_failures),
	        DIFF_TEST(junit_escapes_what_upstreams_wrote),
	        DIFF_TEST(a_reason_does_not_repeat_the_status),
	        DIFF_TEST(rows_are_sorted),
	        DIFF_TEST(news_are_chosen_unless_statuses_are_given),
	        DIFF_TEST(a_status_of_fail_on_is_found),
	        DIFF_TEST(baselines_have_a_name),
	        DIFF_TEST(the_summary_has_the_age_and_the_rotation),
	        DIFF_TEST(links_need_an_address),
	        DIFF_TEST(documents_report_a_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
