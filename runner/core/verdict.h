/* What was decided about one series, as data. Rules make it from evidence (decide/rules), the store
 * keeps it, core/verdict_text turns it into prose, which nobody reads back. */
#ifndef TK_CORE_VERDICT_H
#define TK_CORE_VERDICT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/ab.h"
#include "core/cause.h"
#include "core/status.h"
#include "core/triage.h"
#include "core/vocabulary.h"

/* The rule that made a verdict, in the order in which the rules are tried: the first one that
 * applies decides. The words are part of JSON documents. */
#define TK_RULES(X) \
	/* no timing in the range */ \
	X(TK_RULE_NEVER_MEASURED, "never-measured", "no run at all") \
	X(TK_RULE_GONE_UNSUPPORTED, "gone-unsupported", \
	        "the backend did not do it when last measured") \
	X(TK_RULE_NOT_DUE, "not-due", "the rotation of its suite measures it on another night") \
	X(TK_RULE_MISSING, "missing", "the newest full night left it out") \
	X(TK_RULE_NOT_MEASURED_RECENTLY, "not-measured-recently", "no run in the range") \
	X(TK_RULE_SKIPPED, "skipped", "the night had no time or no device for it") \
	X(TK_RULE_SKIPPED_NEW, "skipped-new", "the same, and it never had a timing") \
	X(TK_RULE_STILL_FAILING, "still-failing", "failed before and fails now") \
	X(TK_RULE_NEVER_TIMED, "never-timed", "fails, and never had a timing") \
	X(TK_RULE_NEWLY_FAILED, "newly-failed", "had a timing before and fails now") \
	/* nothing to compare with */ \
	X(TK_RULE_STALE, "stale", "its newest timing is too old") \
	X(TK_RULE_BASELINE_NOT_MEASURED, "baseline-not-measured", \
	        "the chosen baseline was never measured") \
	X(TK_RULE_FIRST_TIMING_AFTER_FAILURE, "first-timing-after-failure", \
	        "first timing, after a failure") \
	X(TK_RULE_FIRST_TIMING, "first-timing", "first timing") \
	/* the level changed */ \
	X(TK_RULE_BACK_AGAIN, "back-again", \
	        "the newest nights are at the level before, as A/B runs or a closed alert say") \
	X(TK_RULE_MACHINE_MOVED_ALONE, "machine-moved-alone", \
	        "the machine changed, the timings did not") \
	X(TK_RULE_TOO_EARLY, "too-early", "too few nights for this series") \
	X(TK_RULE_FEW_NIGHTS, "few-nights", "fewer nights than required") \
	X(TK_RULE_FEW_SAMPLES, "few-samples", "fewer samples than required") \
	X(TK_RULE_UNCHANGED_CODE, "unchanged-code", "the machine code is that of before") \
	X(TK_RULE_ENVIRONMENT_CHANGED, "environment-changed", \
	        "driver, card, clocks or method changed") \
	X(TK_RULE_SPIKE, "spike", "one night, no larger than an earlier spike") \
	X(TK_RULE_BACK_SINCE, "back-since", "newest or many nights are at the level before again") \
	X(TK_RULE_STILL_AT_ALERT, "still-at-alert", "the level that an alert reported") \
	X(TK_RULE_REGRESSED, "regressed", "the level got worse") \
	X(TK_RULE_BACK_AFTER_STEP, "back-after-step", "a step back to the level before an alert") \
	X(TK_RULE_IMPROVED, "improved", "the level got better") \
	/* it did not, as far as the nights show */ \
	X(TK_RULE_RETRACTED, "retracted", "the monitor retracted its step") \
	X(TK_RULE_SHARED_STEP, "shared-step", "a step of the whole machine") \
	X(TK_RULE_CHANGED_BEFORE, "changed-before", "the change is from before the range") \
	X(TK_RULE_BACK, "back", "back at the level before an alert") \
	X(TK_RULE_FIXED, "fixed", "has a timing again after a failure") \
	X(TK_RULE_SHARED_SHIFT, "shared-shift", "moved with the machine") \
	X(TK_RULE_SUGGESTIVE, "suggestive", "a change that may be noise") \
	X(TK_RULE_TOO_NOISY, "too-noisy", "only large changes would be seen") \
	X(TK_RULE_NO_CHANGE, "no-change", "no rule found a change") \
	/* A/B runs overrule the nights; a reported change is no news; people accept changes */ \
	X(TK_RULE_AB_CONFIRMED, "ab-confirmed", "A/B runs found the change") \
	X(TK_RULE_AB_REFUTED, "ab-refuted", "A/B runs found none") \
	X(TK_RULE_AB_NOT_REPRODUCED, "ab-not-reproduced", "A/B runs show no trace of it") \
	X(TK_RULE_ALREADY_REPORTED, "already-reported", "an earlier night reported the improvement")

enum tk_rule_id { TK_RULES(TK_VOCABULARY_ENUM) TK_RULE_COUNT };
extern const struct tk_vocabulary tk_rule_id_words;
const char *tk_rule_id_name(enum tk_rule_id value);
int tk_rule_id_parse(const char *name, enum tk_rule_id *out);

/* What a verdict rests on: kind, word in the store, what its numbers, its time and its text are.
 * Changes and shares are ratios: 0.02 is 2 %. */
#define TK_FACTS(X) \
	X(TK_FACT_NOT_MEASURED, "not-measured", "no number") \
	X(TK_FACT_WAS_UNSUPPORTED, "was-unsupported", "no number") \
	X(TK_FACT_LAST_MEASURED, "last-measured", \
	        "nights ago, nights of its rotation (0: none); time") \
	X(TK_FACT_DATA_AGE, "data-age", "seconds") \
	X(TK_FACT_OUTCOME, "outcome", "text: word and message") \
	X(TK_FACT_OUTCOME_BEFORE, "outcome-before", "text: the same, of the previous run") \
	X(TK_FACT_NO_TIMING_YET, "no-timing-yet", "no number") \
	X(TK_FACT_NEVER_TIMED, "never-timed", "no number") \
	X(TK_FACT_BASELINE_NOT_MEASURED, "baseline-not-measured", "text: name of the baseline") \
	X(TK_FACT_MONITOR_STEP, "monitor-step", "log-likelihood ratio; time") \
	X(TK_FACT_NIGHTLY_MEDIANS, "nightly-medians", "change") \
	X(TK_FACT_SHARED_SHIFT, "shared-shift", "series, controls, shift, change without it") \
	X(TK_FACT_ENVIRONMENT, "environment", "text: what changed") \
	X(TK_FACT_NO_CONTROL, "no-control", "no number") \
	X(TK_FACT_UNADJUSTED, "unadjusted", "change of the timings themselves") \
	X(TK_FACT_TOO_EARLY, "too-early", "change, nights") \
	X(TK_FACT_FEW_NIGHTS, "few-nights", "change, nights, nights required") \
	X(TK_FACT_FEW_SAMPLES, "few-samples", "change, samples before, after, required") \
	X(TK_FACT_SAME_CODE, "same-code", "no number") \
	X(TK_FACT_CODE_CHANGED_LATER, "code-changed-later", "no number") \
	X(TK_FACT_CODE_CHANGE, "code-change", "text: registers, spills, instructions") \
	X(TK_FACT_CONFIG_CHANGE, "config-change", "text: configuration before and after") \
	X(TK_FACT_REGIONS, "regions", "text: what changed inside the kernel, by a trace") \
	X(TK_FACT_SPIKE, "spike", "-1: better, +1: worse") \
	X(TK_FACT_BACK_SINCE, "back-since", "nights at the level before, nights, newest of them") \
	X(TK_FACT_STILL_AT_ALERT, "still-at-alert", "time; text: first bad revision") \
	X(TK_FACT_BACK_TO_BASELINE, "back-to-baseline", "time; text: first bad revision") \
	X(TK_FACT_STEP_RETRACTED, "step-retracted", "time") \
	X(TK_FACT_SHARED_STEP, "shared-step", "change; time") \
	X(TK_FACT_CHANGED_BEFORE, "changed-before", "1: before the night, 0: before the range") \
	X(TK_FACT_MORE_NIGHTS, "more-nights", "change, nights still needed") \
	X(TK_FACT_WITHIN_NOISE, "within-noise", "change, noise of one night") \
	X(TK_FACT_TOO_NOISY, "too-noisy", "noise of one night, minimum detectable change") \
	X(TK_FACT_AB_CHANGE, "ab-change", "change, lo, hi, pairs; text 'min': fastest samples") \
	X(TK_FACT_AB_NO_CHANGE, "ab-no-change", "the same") \
	X(TK_FACT_AB_RETRACTED, "ab-retracted", "the same: the nights had found a change") \
	X(TK_FACT_AB_INCONCLUSIVE, "ab-inconclusive", "the same") \
	X(TK_FACT_NIGHTLY_ESTIMATE, "nightly-estimate", "change") \
	X(TK_FACT_ALREADY_REPORTED, "already-reported", "text: first revision that is better") \
	X(TK_FACT_ACKNOWLEDGED, "acknowledged", "text: state, author and note")

enum tk_fact_kind { TK_FACTS(TK_VOCABULARY_ENUM) TK_FACT_COUNT };
extern const struct tk_vocabulary tk_fact_kind_words;
const char *tk_fact_kind_name(enum tk_fact_kind value);
int tk_fact_kind_parse(const char *name, enum tk_fact_kind *out);

#define TK_FACT_NUMBERS_MAX 4
struct tk_fact {
	enum tk_fact_kind kind;
	uint16_t text; /* see tk_fact_text() */
	int64_t time_s;
	double number[TK_FACT_NUMBERS_MAX];
};

/* A value and its 95 % interval; NAN: none. */
struct tk_estimate {
	double value, lo, hi;
};

#define TK_VERDICT_FACTS_MAX 12
#define TK_VERDICT_TEXT_SIZE 960
struct tk_verdict {
	enum tk_verdict_status status;
	enum tk_verdict_status status_before_ack; /* what it is called had nobody accepted it */
	enum tk_cause cause;
	enum tk_rule_id decided_by;
	struct tk_estimate before, after;
	struct tk_estimate change;           /* after / before - 1 */
	double threshold, severity;          /* what had to be exceeded; |change| / threshold */
	double p, q;                         /* q: corrected for the number of series */
	int64_t good_build_id, bad_build_id; /* the change lies between them; 0: none was found */
	int64_t last_good_run_id,
	        first_bad_run_id; /* on both sides of what was compared; 0: none */
	struct tk_fact facts[TK_VERDICT_FACTS_MAX];
	size_t fact_count;
	char text[TK_VERDICT_TEXT_SIZE]; /* texts of the facts, each ended by NUL */
	size_t text_size;
};

/* What A/B runs of an old and a new build say of a series. */
struct tk_ab_result {
	enum tk_ab_decision decision;
	uint32_t count, failed; /* pairs with two timings; others */
	bool fastest;           /* by the fastest samples: the medians are too noisy */
	double change, lo, hi;  /* new / old - 1, and its 95 % interval; NAN: none */
};

static inline bool tk_ab_result_is_changed(const struct tk_ab_result *r)
{
	return r->decision == TK_AB_HIGHER || r->decision == TK_AB_LOWER;
}

/* Nothing decided: every number NAN. */
void tk_verdict_init(struct tk_verdict *v);
/* Appends; text may be NULL. Facts beyond TK_VERDICT_FACTS_MAX are dropped, texts are cut to the
 * room that is left, between two characters. */
void tk_verdict_add_fact(struct tk_verdict *v, struct tk_fact fact, const char *text);
void tk_verdict_clear_facts(struct tk_verdict *v);
/* Somebody accepted it: the status becomes ACKED, and a fact says who and why. */
void tk_verdict_accept(
        struct tk_verdict *v, enum tk_triage_state state, const char *author, const char *note);
const struct tk_fact *tk_verdict_find_fact(
        const struct tk_verdict *v, enum tk_fact_kind kind);                      /* NULL: none */
const char *tk_fact_text(const struct tk_verdict *v, const struct tk_fact *fact); /* "": none */

#endif
