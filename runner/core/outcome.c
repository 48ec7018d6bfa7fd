#include "core/outcome.h"

#define OUTCOME_WORD(id, name, counts, meaning) [id] = {name, meaning},
TK_VOCABULARY_DEFINE(outcome, "outcome", TK_OUTCOMES, OUTCOME_WORD);
TK_VOCABULARY_FUNCTIONS(outcome);

static const bool has_timing[] = {
#define OUTCOME_TIMING(id, name, counts, meaning) [id] = counts,
        TK_OUTCOMES(OUTCOME_TIMING)};

const char *tk_outcome_meaning(enum tk_outcome value)
{
	return tk_vocabulary_meaning(&tk_outcome_words, (int)value);
}

bool tk_outcome_has_timing(enum tk_outcome value)
{
	return (unsigned)value < TK_OUTCOME_COUNT && has_timing[value];
}

bool tk_outcome_is_night_unreliable(size_t unstable, size_t timed)
{
	return timed > 0 && 2 * unstable >= timed;
}
