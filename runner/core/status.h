/* The words for what became of a series: of `diff`, the pages, and notify.fail_on. */
#ifndef TK_CORE_STATUS_H
#define TK_CORE_STATUS_H
#include <string.h>

/* id, word, mark, meaning. One list for text, JSON, Markdown, site and --fail-on. */
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

/* In a sentence that counts series, "24 not measured before": the word, where it says enough. */
static inline const char *tk_verdict_status_phrase(const char *word)
{
	if (strcmp(word, "new") == 0)
		return "not measured before";
	return strcmp(word, "unsupported") == 0 ? "that their backend does not do" : word;
}

#endif
