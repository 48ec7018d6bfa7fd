/* What A/B runs, a bisection and the monitor of a series conclude. */
#ifndef TK_CORE_AB_H
#define TK_CORE_AB_H
#include "core/vocabulary.h"

/* The two sides of a comparison: what it starts from, and what is compared with it. */
enum tk_ab_side_id { TK_AB_BASE, TK_AB_HEAD, TK_AB_SIDES };

/* Head against base, by pairs of runs one right after the other. */
#define TK_AB_DECISIONS(X) \
	X(TK_AB_NONE, "none", "there are no pairs") \
	X(TK_AB_INCONCLUSIVE, "inconclusive", "too few pairs, or too noisy", "open") \
	X(TK_AB_SAME, "same", "less than the threshold in either direction") \
	X(TK_AB_HIGHER, "higher", "head has the higher values", "up") \
	X(TK_AB_LOWER, "lower", "head has the lower values", "down")
enum tk_ab_decision { TK_AB_DECISIONS(TK_VOCABULARY_ENUM) };
extern const struct tk_vocabulary tk_ab_decision_words;
const char *tk_ab_decision_name(enum tk_ab_decision value);
int tk_ab_decision_parse(const char *name, enum tk_ab_decision *out);

/* What `tracker ab` says of one problem: head against base. */
#define TK_AB_VERDICTS(X) \
	X(TK_AB_VERDICT_NEWLY_FAILED, "newly-failed", "head fails or is wrong, base is not") \
	X(TK_AB_VERDICT_SLOWER, "slower", "A/B runs show that head is slower") \
	X(TK_AB_VERDICT_INCONCLUSIVE, "inconclusive", "the budget was spent, or it is too noisy") \
	X(TK_AB_VERDICT_FAILING, "failing", "both sides fail or are wrong") \
	X(TK_AB_VERDICT_FASTER, "faster", "A/B runs show that head is faster") \
	X(TK_AB_VERDICT_FIXED, "fixed", "base fails or is wrong, head is not") \
	X(TK_AB_VERDICT_SAME, "same", "a change above the threshold is excluded") \
	X(TK_AB_VERDICT_SAME_CODE, "same-code", "both have the same machine code: not measured") \
	X(TK_AB_VERDICT_UNSUPPORTED, "unsupported", "neither side does this problem")
enum tk_ab_verdict { TK_AB_VERDICTS(TK_VOCABULARY_ENUM) TK_AB_VERDICT_COUNT };
extern const struct tk_vocabulary tk_ab_verdict_words;
const char *tk_ab_verdict_name(enum tk_ab_verdict value);
int tk_ab_verdict_parse(const char *name, enum tk_ab_verdict *out);

#define TK_BISECT_OUTCOMES(X) \
	X(TK_BISECT_FOUND, "found", "one commit is the first bad one") \
	X(TK_BISECT_RANGE, "range", "what lies between two commits cannot be built or measured") \
	X(TK_BISECT_NO_CHANGE, "same", "good and bad do not differ on this machine") \
	X(TK_BISECT_INCONCLUSIVE, "inconclusive", \
	        "the budget was spent, or the pairs cannot tell", "open")
enum tk_bisect_outcome { TK_BISECT_OUTCOMES(TK_VOCABULARY_ENUM) };
extern const struct tk_vocabulary tk_bisect_outcome_words;
const char *tk_bisect_outcome_name(enum tk_bisect_outcome value);
int tk_bisect_outcome_parse(const char *name, enum tk_bisect_outcome *out);

#define TK_MONITOR_EVENT_KINDS(X) \
	X(TK_MONITOR_STEP, "step", "the level of the series changed") \
	X(TK_MONITOR_MACHINE_STEP, "machine", \
	        "the level changed together with the machine: no alarm") \
	X(TK_MONITOR_RETRACTED, "retracted", "the level is back: the last step is taken back")
enum tk_monitor_event_kind { TK_MONITOR_EVENT_KINDS(TK_VOCABULARY_ENUM) };
extern const struct tk_vocabulary tk_monitor_event_kind_words;
const char *tk_monitor_event_kind_name(enum tk_monitor_event_kind value);

#endif
