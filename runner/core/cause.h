/* What a change, a failure or missing data comes from. */
#ifndef TK_CORE_CAUSE_H
#define TK_CORE_CAUSE_H
#include "core/vocabulary.h"

#define TK_CAUSES(X) \
	X(TK_CAUSE_UNKNOWN, "unknown", "neither the code nor the environment is known to differ") \
	X(TK_CAUSE_CODE, "code", "the code of the backend differs") \
	X(TK_CAUSE_CODE_OR_ENVIRONMENT, "code-or-environment", "both differ") \
	X(TK_CAUSE_ENVIRONMENT, "environment", "the environment differs, the code does not") \
	X(TK_CAUSE_FAILURE, "failure", "the job has no timing any more") \
	X(TK_CAUSE_MISSING_DATA, "missing-data", "no data where data was expected", "stoppage") \
	X(TK_CAUSE_NONE, "none", "nothing changed")
enum tk_cause { TK_CAUSES(TK_VOCABULARY_ENUM) };
extern const struct tk_vocabulary tk_cause_words;
const char *tk_cause_name(enum tk_cause value);
int tk_cause_parse(const char *name, enum tk_cause *out);

#endif
