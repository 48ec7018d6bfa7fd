/* The status of a series, which a verdict decides. One list for `tracker diff`, the pages, JSON and
 * notify.fail_on. */
#ifndef TK_CORE_STATUS_H
#define TK_CORE_STATUS_H
#include "core/vocabulary.h"

/* id, name, mark, meaning; most urgent first. The mark is the first column of `tracker diff`. */
#define TK_VERDICT_STATUSES(X) \
	X(TK_VERDICT_REGRESSED, "regressed", "+", \
	        "worse by more than its noise and the threshold") \
	X(TK_VERDICT_NEWLY_FAILED, "newly-failed", "!", \
	        "had a timing before, has an outcome that is none now (also: wrong result)") \
	X(TK_VERDICT_MISSING, "missing", "x", "was measured before, nothing in the range") \
	X(TK_VERDICT_IMPROVED, "improved", "-", "better by more than its noise and the threshold") \
	X(TK_VERDICT_RECOVERED, "recovered", "r", "was regressed, is back at its former level") \
	X(TK_VERDICT_FIXED, "fixed", "f", \
	        "had no timing before (it failed, or its result was wrong), has one now") \
	X(TK_VERDICT_ACKED, "acked", "a", "regressed, and somebody accepted it") \
	X(TK_VERDICT_ENVIRONMENT, "environment", "e", \
	        "moved together with the control or the machine's other series: not the code") \
	X(TK_VERDICT_UNSURE, "unsure", "?", \
	        "too few or too noisy nights to say; the reason says what is missing") \
	X(TK_VERDICT_NOT_COMPARABLE, "not-comparable", "*", \
	        "driver, clock policy, card or problem changed in between") \
	X(TK_VERDICT_STALE, "stale", "z", "its newest point is too old") \
	X(TK_VERDICT_FAILING, "failing", "!", "failed before and fails still") \
	X(TK_VERDICT_UNSUPPORTED, "unsupported", "u", "the backend does not do this problem") \
	X(TK_VERDICT_NEW, "new", "n", "no timing before the range: nothing to compare with") \
	X(TK_VERDICT_SAME, "same", "~", "no change beyond noise and threshold")

enum tk_verdict_status {
#define TK_VERDICT_STATUS_ENUM(id, name, mark, meaning) id,
	TK_VERDICT_STATUSES(TK_VERDICT_STATUS_ENUM)
#undef TK_VERDICT_STATUS_ENUM
	        TK_VERDICT_STATUS_COUNT
};
extern const struct tk_vocabulary tk_verdict_status_words;
const char *tk_verdict_status_name(enum tk_verdict_status value);
const char *tk_verdict_status_mark(enum tk_verdict_status value);
const char *tk_verdict_status_meaning(enum tk_verdict_status value);
int tk_verdict_status_parse(const char *name, enum tk_verdict_status *out);
/* For sentences that count series, "24 new (no baseline yet)": the name, or a phrase where the name
 * says too little. */
const char *tk_verdict_status_phrase(enum tk_verdict_status value);

/* Where a change stands over time. ACKNOWLEDGED wins over NEW and OPEN. */
#define TK_VERDICT_STATES(X) \
	X(TK_STATE_NONE, "none", "nothing changed, and no alert is open") \
	X(TK_STATE_NEW, "new", "reported by this night for the first time") \
	X(TK_STATE_OPEN, "open", "an alert of an earlier night lasts") \
	X(TK_STATE_RECOVERED, "recovered", "this night ended an alert") \
	X(TK_STATE_ACKNOWLEDGED, "acknowledged", "somebody accepted it")
enum tk_verdict_state { TK_VERDICT_STATES(TK_VOCABULARY_ENUM) };
extern const struct tk_vocabulary tk_verdict_state_words;
const char *tk_verdict_state_name(enum tk_verdict_state value);

#endif
