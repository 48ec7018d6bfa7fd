/* How one job ended. Words, not numbers, are what is stored; this is the one list of them. */
#ifndef TK_CORE_OUTCOME_H
#define TK_CORE_OUTCOME_H
#include <stdbool.h>
#include <stddef.h>

/* id, word, 1 where the job produced a timing that counts, what it means (docs are made from this)
 */
#define TK_OUTCOMES(X) \
	X(TK_OUTCOME_OK, "ok", 1, "verified and measured") \
	X(TK_OUTCOME_THROTTLED, "throttled", 1, \
	        "verified and measured, a clock or power limit was active throughout") \
	X(TK_OUTCOME_UNSTABLE, "unstable", 1, \
	        "verified and measured, the interval is wider than asked") \
	X(TK_OUTCOME_WRONG, "wrong", 0, "the result differs from the reference: not timed") \
	X(TK_OUTCOME_UNSUPPORTED, "unsupported", 0, "the backend does not do this problem") \
	X(TK_OUTCOME_OUT_OF_MEMORY, "out_of_memory", 0, "it does not fit") \
	X(TK_OUTCOME_TIMEOUT, "timeout", 0, "no answer before the deadline: killed") \
	X(TK_OUTCOME_CRASHED, "crashed", 0, "the worker process died") \
	X(TK_OUTCOME_PROTOCOL, "protocol", 0, "the worker sent something that is not an answer") \
	X(TK_OUTCOME_FAILED, "failed", 0, "the backend or the device reported an error") \
	X(TK_OUTCOME_BUILD_FAILED, "build_failed", 0, "the revision could not be built") \
	X(TK_OUTCOME_NO_DEVICE, "no_device", 0, "the device it needs is not there") \
	X(TK_OUTCOME_SKIPPED, "skipped", 0, "the night's budget was spent before its turn")

enum tk_outcome {
#define TK_OUTCOME_ENUM(id, word, counts, meaning) id,
	TK_OUTCOMES(TK_OUTCOME_ENUM)
#undef TK_OUTCOME_ENUM
	        TK_OUTCOME_COUNT
};

const char *tk_outcome_name(enum tk_outcome o);
const char *tk_outcome_meaning(enum tk_outcome o);
bool tk_outcome_has_timing(enum tk_outcome o); /* has a timing that counts */
/* Whether unstable timings are the rule of a night, not the exception: then hardly anything can be
 * told from it. */
bool tk_outcome_is_night_unreliable(size_t unstable, size_t timed);
int tk_outcome_parse(const char *word, enum tk_outcome *out); /* 0, or TK_EDATA */

#endif
