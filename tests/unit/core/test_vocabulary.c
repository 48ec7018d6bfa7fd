/* The words of core/: each is unique in its list, parses back, and is the one that histories
 * have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "core/ab.h"
#include "core/alert.h"
#include "core/cause.h"
#include "core/metric.h"
#include "core/mode.h"
#include "core/night.h"
#include "core/outcome.h"
#include "core/series.h"
#include "core/status.h"
#include "core/triage.h"
#include "core/upstream_kind.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Stored in databases and JSON files: a change here is a migration. */
static const struct {
	const struct tk_vocabulary *vocabulary;
	const char *words;
} stored[] = {
        {&tk_night_kind_words, "nightly backfill run import"},
        {&tk_night_status_words, "running complete incomplete failed stopped"},
        {&tk_stage_words, "probe resolve build plan measure confirm detect bisect trace tune "
                          "tidy publish"},
        {&tk_stage_status_words, "running done failed skipped"},
        {&tk_resolution_status_words, "new unchanged unreachable failed"},
        {&tk_build_status_words, "ok failed timeout"},
        {&tk_series_role_words, "suite control ceiling"},
        {&tk_better_words, "lower higher"},
        {&tk_ceiling_source_words, "measured datasheet"},
        {&tk_device_kind_words, "cpu cuda hip null other"},
        {&tk_metric_words, "time launch energy memory compile in_context_ratio other"},
        {&tk_unit_words, "ns J bytes gb_per_s gflop_per_s ratio other"},
        {&tk_cause_words, "unknown code code-or-environment environment failure missing-data none"},
        {&tk_alert_kind_words, "change failure missing-data"},
        {&tk_alert_status_words, "open closed"},
        {&tk_triage_state_words, "new acked expected ignored recovered"},
        {&tk_triage_action_words, "ack expect ignore link note reopen"},
        {&tk_upstream_kind_words, "self git package system builtin"},
        {&tk_ab_decision_words, "none inconclusive same higher lower"},
        {&tk_bisect_outcome_words, "found range same inconclusive"},
        {&tk_monitor_event_kind_words, "step machine retracted"},
        {&tk_mode_words, "cold hot paced sustained contended sequence"},
        {&tk_outcome_words,
                "ok throttled unstable wrong implausible unsupported out_of_memory timeout crashed "
                "protocol failed build_failed no_device skipped"},
        {&tk_verdict_status_words,
                "regressed newly-failed missing improved recovered fixed acked environment unsure "
                "not-comparable stale failing unsupported new same"},
};

static void test_names_are_those_that_are_stored(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(stored); i++) {
		const struct tk_vocabulary *v = stored[i].vocabulary;
		char words[512] = "";

		for (int k = 0; k < v->count; k++) {
			size_t len = strlen(words);

			snprintf(words + len, sizeof words - len, "%s%s", k ? " " : "",
			        tk_vocabulary_name(v, k));
		}
		assert_string_equal(words, stored[i].words);
	}
}

static void test_every_word_parses_back_and_has_a_meaning(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(stored); i++) {
		const struct tk_vocabulary *v = stored[i].vocabulary;

		assert_true(*v->subject);
		for (int k = 0; k < v->count; k++) {
			int value = -1;

			assert_int_equal(tk_vocabulary_parse(v, v->words[k].name, &value), TK_OK);
			assert_int_equal(value, k);
			assert_true(strlen(tk_vocabulary_meaning(v, k)) > 1);
		}
	}
}

static void test_other_words_are_refused(void **state)
{
	int value = 7;
	enum tk_night_kind kind = TK_NIGHT_IMPORT;

	(void)state;
	for (size_t i = 0; i < COUNT(stored); i++) {
		const struct tk_vocabulary *v = stored[i].vocabulary;

		assert_int_equal(tk_vocabulary_parse(v, "", &value), TK_EDATA);
		assert_int_equal(tk_vocabulary_parse(v, NULL, &value), TK_EDATA);
		assert_int_equal(tk_vocabulary_parse(v, "Nightly ", &value), TK_EDATA);
		assert_int_equal(value, 7);
		assert_string_equal(tk_vocabulary_name(v, v->count), "unknown");
		assert_string_equal(tk_vocabulary_name(v, -1), "unknown");
		assert_string_equal(tk_vocabulary_meaning(v, v->count), "");
	}
	assert_int_equal(tk_night_kind_parse("weekly", &kind), TK_EDATA);
	assert_int_equal(kind, TK_NIGHT_IMPORT);
}

static void test_typed_functions(void **state)
{
	enum tk_verdict_status status;
	enum tk_triage_state triage;

	(void)state;
	assert_int_equal(tk_verdict_status_parse("not-comparable", &status), TK_OK);
	assert_int_equal(status, TK_VERDICT_NOT_COMPARABLE);
	assert_string_equal(tk_verdict_status_mark(TK_VERDICT_REGRESSED), "+");
	assert_string_equal(tk_verdict_status_mark(TK_VERDICT_STATUS_COUNT), "");
	assert_string_equal(tk_verdict_status_phrase(TK_VERDICT_NEW), "not measured before");
	assert_true(tk_triage_action_state(TK_ACTION_EXPECT, &triage));
	assert_int_equal(triage, TK_TRIAGE_EXPECTED);
	assert_false(tk_triage_action_state(TK_ACTION_LINK, &triage));
	assert_false(tk_triage_action_state(
	        (enum tk_triage_action)tk_triage_action_words.count, &triage));
	assert_int_equal(triage, TK_TRIAGE_EXPECTED);
	assert_true(tk_outcome_has_timing(TK_OUTCOME_THROTTLED));
	assert_false(tk_outcome_has_timing(TK_OUTCOME_WRONG));
	assert_false(tk_outcome_has_timing(TK_OUTCOME_COUNT));
	assert_false(tk_outcome_is_night_unreliable(0, 0));
	assert_false(tk_outcome_is_night_unreliable(1, 3));
	assert_true(tk_outcome_is_night_unreliable(2, 4));
}

/* Imports bring metrics, units and devices that no list has. */
static void test_open_lists_have_an_other(void **state)
{
	(void)state;
	assert_int_equal(tk_metric_from_name("energy"), TK_METRIC_ENERGY);
	assert_int_equal(tk_metric_from_name("requests"), TK_METRIC_OTHER);
	assert_int_equal(tk_unit_from_name("gb_per_s"), TK_UNIT_GB_PER_S);
	assert_int_equal(tk_unit_from_name(NULL), TK_UNIT_OTHER);
	assert_int_equal(tk_device_kind_from_name("hip"), TK_DEVICE_HIP);
	assert_int_equal(tk_device_kind_from_name("tpu"), TK_DEVICE_OTHER);
	assert_int_equal(tk_metric_unit(TK_METRIC_LAUNCH), TK_UNIT_NS);
	assert_int_equal(tk_metric_better(TK_METRIC_ENERGY), TK_BETTER_LOWER);
	assert_true(tk_metric_is_time("time", "ns"));
	assert_false(tk_metric_is_time("time", "s"));
}

static void test_former_names_are_still_parsed(void **state)
{
	enum tk_ab_decision decision = TK_AB_NONE;
	enum tk_bisect_outcome outcome = TK_BISECT_FOUND;
	enum tk_cause cause = TK_CAUSE_NONE;
	enum tk_alert_kind kind = TK_ALERT_CHANGE;

	(void)state;
	assert_int_equal(tk_ab_decision_parse("up", &decision), 0);
	assert_int_equal(decision, TK_AB_HIGHER);
	assert_int_equal(tk_ab_decision_parse("down", &decision), 0);
	assert_int_equal(decision, TK_AB_LOWER);
	assert_int_equal(tk_ab_decision_parse("open", &decision), 0);
	assert_int_equal(decision, TK_AB_INCONCLUSIVE);
	assert_int_equal(tk_bisect_outcome_parse("open", &outcome), 0);
	assert_int_equal(outcome, TK_BISECT_INCONCLUSIVE);
	assert_int_equal(tk_cause_parse("stoppage", &cause), 0);
	assert_int_equal(cause, TK_CAUSE_MISSING_DATA);
	assert_int_equal(tk_alert_kind_parse("stoppage", &kind), 0);
	assert_int_equal(kind, TK_ALERT_MISSING_DATA);
	assert_string_equal(tk_alert_kind_name(kind), "missing-data");
	assert_int_equal(tk_ab_decision_parse("sideways", &decision), TK_EDATA);
}

static void test_a_name_finds_its_current_and_its_first_name(void **state)
{
	(void)state;
	assert_string_equal(tk_vocabulary_current_name(&tk_mode_words, "loaded"), "contended");
	assert_string_equal(tk_vocabulary_current_name(&tk_mode_words, "contended"), "contended");
	assert_string_equal(tk_vocabulary_first_name(&tk_mode_words, "contended"), "loaded");
	assert_string_equal(tk_vocabulary_first_name(&tk_mode_words, "loaded"), "loaded");
	assert_string_equal(tk_vocabulary_first_name(&tk_mode_words, "cold"), "cold");
	assert_string_equal(tk_vocabulary_first_name(&tk_mode_words, "their own"), "their own");
	assert_string_equal(tk_vocabulary_current_name(&tk_mode_words, ""), "");
}

static void test_modes(void **state)
{
	enum tk_mode mode = TK_MODE_COLD;

	assert_int_equal(tk_mode_parse("contended", &mode), 0);
	assert_int_equal(mode, TK_MODE_CONTENDED);
	assert_int_equal(tk_mode_parse("loaded", &mode), 0);
	assert_int_equal(mode, TK_MODE_CONTENDED);
	(void)state;
	assert_int_equal(tk_mode_default("cuda"), TK_MODE_PACED);
	assert_int_equal(tk_mode_default("hip"), TK_MODE_PACED);
	assert_int_equal(tk_mode_default("cpu"), TK_MODE_COLD);
	assert_int_equal(tk_mode_default(NULL), TK_MODE_COLD);
	assert_true(tk_mode_rotates_inputs(TK_MODE_PACED));
	assert_false(tk_mode_rotates_inputs(TK_MODE_HOT));
	assert_false(tk_mode_rotates_inputs(TK_MODE_COUNT));
}

static void test_the_word_of_a_sequence(void **state)
{
	static const char *const refused[] = {"sequence:", "sequence:@12345678", "sequence:a b",
	        "sequence:a@12g", "sequence", "paced:a"};
	char word[TK_MODE_WORD_SIZE], name[TK_MODE_WORD_SIZE], longest[200];
	enum tk_mode mode = TK_MODE_COLD;

	(void)state;
	assert_int_equal(tk_mode_format_sequence("a-b_1.2", "0123456789abcdef", word, NULL), 0);
	assert_string_equal(word, "sequence:a-b_1.2@01234567");
	assert_true(tk_mode_get_sequence(word, name));
	assert_string_equal(name, "a-b_1.2");
	assert_int_equal(tk_mode_parse(word, &mode), 0);
	assert_int_equal(mode, TK_MODE_SEQUENCE);
	assert_true(tk_mode_get_sequence("sequence:x", name));
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		assert_false(tk_mode_get_sequence(refused[i], name));
	memset(longest, 'a', sizeof longest - 1);
	longest[sizeof longest - 1] = 0;
	assert_int_equal(tk_mode_format_sequence(longest, "01234567", word, NULL), TK_EDATA);
	assert_int_equal(tk_mode_format_sequence("a/b", "01234567", word, NULL), TK_EDATA);
	assert_int_equal(tk_mode_format_sequence("", "01234567", word, NULL), TK_EDATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_names_are_those_that_are_stored),
	        cmocka_unit_test(test_every_word_parses_back_and_has_a_meaning),
	        cmocka_unit_test(test_other_words_are_refused),
	        cmocka_unit_test(test_typed_functions),
	        cmocka_unit_test(test_open_lists_have_an_other),
	        cmocka_unit_test(test_former_names_are_still_parsed),
	        cmocka_unit_test(test_a_name_finds_its_current_and_its_first_name),
	        cmocka_unit_test(test_modes),
	        cmocka_unit_test(test_the_word_of_a_sequence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
