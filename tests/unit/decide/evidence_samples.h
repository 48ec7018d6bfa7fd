/* Evidence about one quiet series, to be changed by a test, and what is checked of its verdict. */
#ifndef TK_TEST_EVIDENCE_SAMPLES_H
#define TK_TEST_EVIDENCE_SAMPLES_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "decide/rules/rules.h"

#define DAY INT64_C(86400)
#define NOW (100 * DAY)

static const struct tk_detect_options options = {.min_effect = 0.02,
        .fdr = 0.05,
        .min_samples = 1,
        .now_s = NOW,
        .baseline_name = "pinned:v1"};

static inline struct tk_run_evidence run(enum tk_outcome outcome, int64_t day)
{
	return (struct tk_run_evidence){.exists = true,
	        .has_timing = tk_outcome_has_timing(outcome),
	        .outcome = outcome,
	        .message = "",
	        .as_of_s = day * DAY,
	        .run_id = day,
	        .build_id = day};
}

/* A quiet series: forty nights at 1 ms with 0.5 % noise, measured last night. */
static inline struct tk_evidence quiet_series(void)
{
	const struct tk_level_change flat = {.split = 37,
	        .before = log(1e6),
	        .after = log(1e6),
	        .se_before = 0.001,
	        .se_after = 0.003,
	        .se = 0.004,
	        .p = 1};
	const struct tk_level_test test = {.sigma = 0.005, .df = 20, .whole = flat, .best = flat};
	const struct tk_estimate level = {1e6, 0.99e6, 1.01e6}, none = {0, -0.01, 0.01};

	return (struct tk_evidence){.options = &options,
	        .better = TK_BETTER_LOWER,
	        .min_effect = options.min_effect,
	        .within = run(TK_OUTCOME_OK, 99),
	        .newest = run(TK_OUTCOME_OK, 99),
	        .previous = run(TK_OUTCOME_OK, 96),
	        .point_count = 40,
	        .last_value = level,
	        .last_point_s = 99 * DAY,
	        .last_point_build_id = 99,
	        .last_point_run_id = 99,
	        .has_baseline = true,
	        .raw = test,
	        .adjusted = test,
	        .step = {.levels = flat,
	                .start_s = 97 * DAY,
	                .before = level,
	                .after = level,
	                .change = none,
	                .median_change = NAN,
	                .threshold = log(1.02),
	                .q = 1,
	                .nights = 3,
	                .samples_before = 100,
	                .samples_after = 30,
	                .good_build_id = 96,
	                .bad_build_id = 97,
	                .newest_bad_build_id = 99,
	                .last_good_run_id = 96,
	                .first_bad_run_id = 97,
	                .is_new_build = true},
	        .alert = {.baseline = NAN},
	        .monitor = {.level = NAN}};
}

/* The same with a step of this size. */
static inline struct tk_evidence with_step(double change)
{
	struct tk_evidence e = quiet_series();

	e.is_step = true;
	e.step.levels.after += log1p(change);
	e.step.levels.p = e.step.q = 0.001;
	e.step.after.value = 1e6 * (1 + change);
	e.step.change = (struct tk_estimate){change, change - 0.01, change + 0.01};
	e.adjusted.best = e.raw.best = e.step.levels;
	return e;
}

static inline struct tk_verdict decide(
        const struct tk_evidence *e, enum tk_rule_id rule, enum tk_verdict_status status)
{
	struct tk_verdict v;

	tk_rules_decide(e, &v);
	if (v.decided_by != rule || v.status != status)
		fail_msg("expected %s by %s, got %s by %s", tk_verdict_status_name(status),
		        tk_rule_id_name(rule), tk_verdict_status_name(v.status),
		        tk_rule_id_name(v.decided_by));
	assert_int_equal(v.status_before_ack, v.status);
	return v;
}

static inline void expect_fact(const struct tk_verdict *v, enum tk_fact_kind kind)
{
	if (!tk_verdict_find_fact(v, kind))
		fail_msg("no fact %s", tk_fact_kind_name(kind));
}

/* ---- absence ---- */

static inline struct tk_alert_evidence alert(double change)
{
	return (struct tk_alert_evidence){.exists = true,
	        .opened_s = 90 * DAY,
	        .bad_rev = "bbb",
	        .baseline = log(1e6),
	        .change = change};
}

#endif
