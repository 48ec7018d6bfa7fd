/* What `tracker tune` decides about one problem. */
#ifndef TK_CORE_TUNE_H
#define TK_CORE_TUNE_H
#include "core/vocabulary.h"

/* The configuration of a series that is measured with the stored winner of its backend, problem
 * and device, whichever that is; runs have the one that they used (TK_RUN_CONFIG). */
#define TK_TUNE_CONFIG "tuned"

/* Attributes of such a run: the configuration, and the uid of the result that chose it. Both are
 * absent where none is stored. */
#define TK_RUN_CONFIG "config"
#define TK_RUN_TUNING "tuning"

#define TK_TUNE_VERDICTS(X) \
	X(TK_TUNE_VERDICT_FASTER, "faster", "A/B runs confirm that the winner is faster") \
	X(TK_TUNE_VERDICT_FIXED, "fixed", "the default fails, the winner works") \
	X(TK_TUNE_VERDICT_INCONCLUSIVE, "inconclusive", "A/B runs could not decide") \
	X(TK_TUNE_VERDICT_SAME, "same", "A/B runs find no difference to the default") \
	X(TK_TUNE_VERDICT_SLOWER, "slower", "A/B runs find the winner slower than the default") \
	X(TK_TUNE_VERDICT_UNCONFIRMED, "unconfirmed", "A/B runs were not requested") \
	X(TK_TUNE_VERDICT_DEFAULT, "default", "the default is the fastest") \
	X(TK_TUNE_VERDICT_FAILING, "failing", "no configuration works, the default included") \
	X(TK_TUNE_VERDICT_UNSUPPORTED, "unsupported", "the backend does not do the problem")

enum tk_tune_verdict { TK_TUNE_VERDICTS(TK_VOCABULARY_ENUM) TK_TUNE_VERDICT_COUNT };
extern const struct tk_vocabulary tk_tune_verdict_words;
const char *tk_tune_verdict_name(enum tk_tune_verdict value);
int tk_tune_verdict_parse(const char *name, enum tk_tune_verdict *out);

/* Whether what the newest run of the problem was measured with is what a result was found with. */
#define TK_TUNE_STATES(X) \
	X(TK_TUNE_STATE_UNKNOWN, "unknown", "no night has measured the problem") \
	X(TK_TUNE_STATE_CURRENT, "current", "the same revision and driver") \
	X(TK_TUNE_STATE_NEW_REVISION, "new-revision", "the backend was built anew since") \
	X(TK_TUNE_STATE_NEW_DRIVER, "new-driver", "the device has another driver since")

enum tk_tune_state { TK_TUNE_STATES(TK_VOCABULARY_ENUM) TK_TUNE_STATE_COUNT };
extern const struct tk_vocabulary tk_tune_state_words;
const char *tk_tune_state_name(enum tk_tune_state value);
int tk_tune_state_parse(const char *name, enum tk_tune_state *out);

#endif
