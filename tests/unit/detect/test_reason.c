/* Facts -> prose: every kind of fact has a clause, and the ones that people look for say the right
 * thing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "detect/detect.h"
#include "detect/report/reason.h"
#include "detect/report/verdict_detail.h"

static const char *reason_of(struct tk_fact fact, const char *text)
{
	static char out[TK_REASON_SIZE];
	struct tk_verdict v;

	tk_verdict_init(&v);
	tk_verdict_add_fact(&v, fact, text);
	return tk_verdict_format_reason(&v, out);
}

static void every_fact_has_a_clause(void **state)
{
	for (int kind = 0; kind < TK_FACT_COUNT; kind++) {
		const struct tk_fact fact = {
		        .kind = (enum tk_fact_kind)kind, .number = {1, 1, 1, 1}};

		if (!*reason_of(fact, "text"))
			fail_msg("%s has no clause", tk_fact_kind_name(fact.kind));
	}
}

static void clauses(void **state)
{
	static const struct {
		struct tk_fact fact;
		const char *text, *expected;
	} cases[] = {
	        {{.kind = TK_FACT_AB_CHANGE, .number = {0.095, 0.093, 0.097, 16}}, NULL,
	                "A/B confirmed: +9.5 % (95 % CI 9.3 to 9.7, 16 pairs)"},
	        {{.kind = TK_FACT_AB_CHANGE, .number = {-0.095, -0.097, -0.093, 1}}, "min",
	                "A/B confirmed: -9.5 % (95 % CI -9.7 to -9.3, 1 pair, fastest samples)"},
	        {{.kind = TK_FACT_LAST_MEASURED, .number = {1, 7}, .time_s = 86400}, NULL,
	                "last measured 1 night ago, 1970-01-02; its turn is one night in 7"},
	        {{.kind = TK_FACT_LAST_MEASURED, .time_s = 86400}, NULL,
	                "last measured 1970-01-02"},
	        {{.kind = TK_FACT_AB_INCONCLUSIVE, .number = {NAN, NAN, NAN, 0}}, NULL,
	                "A/B inconclusive: no timings"},
	        {{.kind = TK_FACT_TOO_NOISY, .number = {1.007, 3.02}}, NULL,
	                "noise of 100.7 % between nights; minimum detectable change: 302 %"},
	        {{.kind = TK_FACT_TOO_EARLY, .number = {0.12, 1}}, NULL,
	                "+12.0 % since 1 night: within this series' noise; more nights needed"},
	        {{.kind = TK_FACT_MORE_NIGHTS, .number = {0.03, 4}}, NULL,
	                "+3.0 % may be noise; about 4 more nights needed"},
	        {{.kind = TK_FACT_BACK_SINCE, .number = {2, 5, 0}}, NULL,
	                "2 of 5 nights since are at the level before; more nights needed"},
	        {{.kind = TK_FACT_BACK_SINCE, .number = {1, 5, 1}}, NULL,
	                "1 of 5 nights since is at the level before, the newest 1 among them; "
	                "more nights needed"},
	        {{.kind = TK_FACT_STILL_AT_ALERT, .time_s = 1767225600}, "bbb",
	                "still at the level of the alert of 2026-01-01 (bbb)"},
	        {{.kind = TK_FACT_SHARED_SHIFT, .number = {12, 1, 0.08, 0.002}}, NULL,
	                "12 series of this device with unchanged code, the control among them, "
	                "shifted by +8.0 % "
	                "that night; without that +0.2 %"},
	        {{.kind = TK_FACT_DATA_AGE, .number = {864000, 60, 60, 60}}, NULL,
	                "newest data is 10 d old"},
	        {{.kind = TK_FACT_OUTCOME_BEFORE}, "crashed: signal 11",
	                "no timing before: crashed: signal 11"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(reason_of(cases[i].fact, cases[i].text), cases[i].expected);
}

/* Each number of a fact is in its clause, in percent where it is a ratio, and so are its day and
 * its text. */
static void a_clause_has_the_numbers_of_its_fact(void **state)
{
	static const struct {
		struct tk_fact fact;
		const char *text, *parts[5];
	} cases[] = {
	        {{.kind = TK_FACT_MONITOR_STEP, .number = {14.52}, .time_s = 1767225600}, NULL,
	                {"2026-01-01", "ratio 14.5"}},
	        {{.kind = TK_FACT_NIGHTLY_MEDIANS, .number = {-0.034}}, NULL, {"-3.4 %"}},
	        {{.kind = TK_FACT_SHARED_SHIFT, .number = {7, 0, -0.08, 0.012}}, NULL,
	                {"7 series", "-8.0 %", "+1.2 %"}},
	        {{.kind = TK_FACT_UNADJUSTED, .number = {0.021}}, NULL, {"+2.1 %"}},
	        {{.kind = TK_FACT_TOO_EARLY, .number = {-0.12, 3}}, NULL, {"-12.0 %", "3 nights"}},
	        {{.kind = TK_FACT_FEW_NIGHTS, .number = {0.05, 2, 3}}, NULL,
	                {"+5.0 %", "2 of 3 nights", "--confirm"}},
	        {{.kind = TK_FACT_FEW_SAMPLES, .number = {0.05, 9, 4, 10}}, NULL,
	                {"+5.0 %", "9 and 4 samples", "fewer than 10"}},
	        {{.kind = TK_FACT_SPIKE, .number = {1}}, NULL, {"no slower than"}},
	        {{.kind = TK_FACT_SPIKE, .number = {-1}}, NULL, {"no faster than"}},
	        {{.kind = TK_FACT_BACK_TO_BASELINE, .time_s = 86400}, "abc",
	                {"back at the level before", "1970-01-02", "(abc)"}},
	        {{.kind = TK_FACT_STEP_RETRACTED, .time_s = 86400}, NULL,
	                {"retracted", "1970-01-02"}},
	        {{.kind = TK_FACT_SHARED_STEP, .number = {0.1}, .time_s = 86400}, NULL,
	                {"+10.0 % since 1970-01-02", "other series"}},
	        {{.kind = TK_FACT_CHANGED_BEFORE, .number = {1}}, NULL, {"before this night"}},
	        {{.kind = TK_FACT_CHANGED_BEFORE}, NULL, {"before the range"}},
	        {{.kind = TK_FACT_MORE_NIGHTS, .number = {0.03, 1}}, NULL,
	                {"+3.0 %", "about 1 more night needed"}},
	        {{.kind = TK_FACT_WITHIN_NOISE, .number = {0.03, 0.015}}, NULL,
	                {"+3.0 %", "noise of 1.5 %"}},
	        {{.kind = TK_FACT_AB_NO_CHANGE, .number = {0.001, -0.002, 0.004, 12}}, NULL,
	                {"show no change", "+0.1 %", "-0.2 to 0.4", "12 pairs"}},
	        {{.kind = TK_FACT_AB_RETRACTED, .number = {0.001, -0.002, 0.004, 12}}, "min",
	                {"retracted", "show no change", "fastest samples"}},
	        {{.kind = TK_FACT_AB_INCONCLUSIVE, .number = {0.01, -0.02, 0.04, 11}}, NULL,
	                {"A/B inconclusive", "+1.0 %", "-2.0 to 4.0", "11 pairs"}},
	        {{.kind = TK_FACT_BASELINE_NOT_MEASURED}, "pinned:v1", {"\"pinned:v1\""}},
	        {{.kind = TK_FACT_ENVIRONMENT}, "driver 1 -> 2", {"driver 1 -> 2"}},
	        {{.kind = TK_FACT_CODE_CHANGE}, "registers 1 -> 2", {"code: registers 1 -> 2"}},
	        {{.kind = TK_FACT_CONFIG_CHANGE}, "a -> b", {"configuration", "a -> b"}},
	        {{.kind = TK_FACT_REGIONS}, "softmax", {"traced: softmax"}},
	        {{.kind = TK_FACT_ALREADY_REPORTED}, "abc", {"since abc", "already reported"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *reason = reason_of(cases[i].fact, cases[i].text);

		for (size_t k = 0; k < 5 && cases[i].parts[k]; k++)
			if (!strstr(reason, cases[i].parts[k]))
				fail_msg("%s: \"%s\" is not in \"%s\"",
				        tk_fact_kind_name(cases[i].fact.kind), cases[i].parts[k],
				        reason);
	}
}

/* A change that rounds to nothing is neither better nor worse. */
static void zero_has_no_sign(void **state)
{
	static const enum tk_fact_kind kinds[] = {TK_FACT_NIGHTLY_MEDIANS, TK_FACT_UNADJUSTED,
	        TK_FACT_NIGHTLY_ESTIMATE, TK_FACT_TOO_EARLY, TK_FACT_MORE_NIGHTS,
	        TK_FACT_WITHIN_NOISE, TK_FACT_SHARED_STEP, TK_FACT_AB_NO_CHANGE};

	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		const struct tk_fact fact = {
		        .kind = kinds[i], .number = {-0.00049, -0.00049, -0.00049, 9}};
		const char *reason = reason_of(fact, NULL);

		assert_null(strstr(reason, "-0.0"));
		assert_non_null(strstr(reason, "+0.0 %"));
	}
	assert_non_null(strstr(
	        reason_of((struct tk_fact){.kind = TK_FACT_UNADJUSTED, .number = {-0.00051}}, NULL),
	        "-0.1 %"));
}

static void clauses_are_joined_and_never_cut(void **state)
{
	static const char first[] = "same machine code before and after; nightly estimate +10.0 %";
	char out[TK_REASON_SIZE], text[300];
	struct tk_verdict v;

	tk_verdict_init(&v);
	assert_string_equal(tk_verdict_format_reason(&v, out), "");
	tk_verdict_add_fact(&v, (struct tk_fact){.kind = TK_FACT_SAME_CODE}, NULL);
	tk_verdict_add_fact(
	        &v, (struct tk_fact){.kind = TK_FACT_NIGHTLY_ESTIMATE, .number = {0.1}}, NULL);
	tk_verdict_format_reason(&v, out);
	assert_string_equal(out, first);

	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	for (size_t i = 0; i < TK_VERDICT_FACTS_MAX; i++)
		tk_verdict_add_fact(&v, (struct tk_fact){.kind = TK_FACT_ENVIRONMENT}, text);
	assert_true(strlen(tk_verdict_format_reason(&v, out)) < TK_REASON_SIZE);
	/* two of them fit behind the first clauses; the third is left out as a whole */
	assert_int_equal(
	        strlen(out), strlen(first) + 2 * (strlen("; environment changed: ") + 299));
}

/* Texts are cut to the room of their clause, revisions to 40 bytes: never within a character. */
static void a_cut_text_is_valid_utf8(void **state)
{
	static const enum tk_fact_kind kinds[] = {TK_FACT_RECORDED, TK_FACT_ENVIRONMENT,
	        TK_FACT_CODE_CHANGE, TK_FACT_STILL_AT_ALERT, TK_FACT_BACK_TO_BASELINE};

	(void)state;
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		for (size_t ascii = 0; ascii < 3; ascii++) {
			char text[601] = "";

			memset(text, 'a', ascii);
			for (size_t i = ascii; i + 3 < sizeof text; i += 3)
				memcpy(text + i, "\xe2\x82\xac", 4); /* a euro sign */
			const char *reason = reason_of((struct tk_fact){.kind = kinds[k]}, text);
			assert_true(tk_utf8_is_valid(reason));
			assert_non_null(strstr(reason, "\xe2\x82\xac"));
		}
}

static void facts_survive_the_store(void **state)
{
	struct tk_diff_row row = {.same_code = true};
	struct tk_verdict read;
	char written[TK_REASON_SIZE], again[TK_REASON_SIZE];

	tk_verdict_init(&row.verdict);
	row.verdict.decided_by = TK_RULE_AB_CONFIRMED;
	tk_verdict_add_fact(&row.verdict,
	        (struct tk_fact){.kind = TK_FACT_AB_CHANGE, .number = {0.095, 0.093, 0.097, 16}},
	        "min");
	tk_verdict_add_fact(&row.verdict,
	        (struct tk_fact){.kind = TK_FACT_STILL_AT_ALERT, .time_s = 86400}, "bbb");

	char *detail = tk_verdict_detail_write(&row);
	assert_non_null(detail);
	tk_verdict_init(&read);
	tk_verdict_detail_read(detail, "not used", &read);
	assert_int_equal(read.decided_by, TK_RULE_AB_CONFIRMED);
	assert_string_equal(tk_verdict_format_reason(&read, again),
	        tk_verdict_format_reason(&row.verdict, written));
	free(detail);
}

static void verdicts_of_older_versions(void **state)
{
	struct tk_verdict v;
	char out[TK_REASON_SIZE];

	tk_verdict_init(&v);
	tk_verdict_detail_read("{}", "seen on 1 of 2 nights", &v);
	assert_string_equal(tk_verdict_format_reason(&v, out), "seen on 1 of 2 nights");
	tk_verdict_detail_read("{}", "better since abc, reported then", &v);
	assert_int_equal(v.decided_by, TK_RULE_ALREADY_REPORTED);
	tk_verdict_detail_read(NULL, NULL, &v);
	assert_int_equal(v.fact_count, 0);
	tk_verdict_detail_read("{\"facts\":[{\"kind\":\"from the future\"},{}]}", "", &v);
	assert_int_equal(v.fact_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_fact_has_a_clause),
	        cmocka_unit_test(clauses),
	        cmocka_unit_test(a_clause_has_the_numbers_of_its_fact),
	        cmocka_unit_test(zero_has_no_sign),
	        cmocka_unit_test(clauses_are_joined_and_never_cut),
	        cmocka_unit_test(a_cut_text_is_valid_utf8),
	        cmocka_unit_test(facts_survive_the_store),
	        cmocka_unit_test(verdicts_of_older_versions),
	};

	return cmocka_run_group_tests_name("reason", tests, NULL, NULL);
}
