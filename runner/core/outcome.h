/* How a job ended. */
#ifndef TK_CORE_OUTCOME_H
#define TK_CORE_OUTCOME_H
#include <stdbool.h>
#include <stddef.h>

#include "core/vocabulary.h"

/* id, name, whether the timing counts, meaning */
#define TK_OUTCOMES(X) \
	X(TK_OUTCOME_OK, "ok", true, "verified and measured") \
	X(TK_OUTCOME_THROTTLED, "throttled", true, \
	        "verified and measured, a clock or power limit was active throughout") \
	X(TK_OUTCOME_UNSTABLE, "unstable", true, \
	        "verified and measured, the interval is wider than asked") \
	X(TK_OUTCOME_WRONG, "wrong", false, "the result differs from the reference: not timed") \
	X(TK_OUTCOME_IMPLAUSIBLE, "implausible", false, \
	        "the time is less than the device can need: not counted") \
	X(TK_OUTCOME_UNSUPPORTED, "unsupported", false, "the backend does not do this problem") \
	X(TK_OUTCOME_OUT_OF_MEMORY, "out_of_memory", false, "it does not fit") \
	X(TK_OUTCOME_TIMEOUT, "timeout", false, "no answer before the deadline: killed") \
	X(TK_OUTCOME_CRASHED, "crashed", false, "the worker process died") \
	X(TK_OUTCOME_PROTOCOL, "protocol", false, \
	        "the worker sent something that is not an answer") \
	X(TK_OUTCOME_FAILED, "failed", false, "the backend or the device reported an error") \
	X(TK_OUTCOME_BUILD_FAILED, "build_failed", false, "the revision could not be built") \
	X(TK_OUTCOME_NO_DEVICE, "no_device", false, "the device it needs is not there") \
	X(TK_OUTCOME_SKIPPED, "skipped", false, "the night's budget was spent before its turn")

enum tk_outcome {
#define TK_OUTCOME_ENUM(id, name, counts, meaning) id,
	TK_OUTCOMES(TK_OUTCOME_ENUM)
#undef TK_OUTCOME_ENUM
	        TK_OUTCOME_COUNT
};
extern const struct tk_vocabulary tk_outcome_words;
const char *tk_outcome_name(enum tk_outcome value);
const char *tk_outcome_meaning(enum tk_outcome value);
int tk_outcome_parse(const char *name, enum tk_outcome *out);
bool tk_outcome_has_timing(enum tk_outcome value); /* a timing that counts */
/* Whether a night as a whole is unreliable: at least half of its timings are unstable. */
bool tk_outcome_is_night_unreliable(size_t unstable, size_t timed);

#endif
