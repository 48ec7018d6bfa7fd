/* The words of outcome.h, so that the list exists once. */
#include "core/outcome.h"

#include <string.h>

#include "base/error.h"

/* clang-format off */
static const struct { const char *word, *meaning; bool counts; } outcomes[] = {
#define ROW(id, word, counts, meaning) [id] = { word, meaning, counts },
	TK_OUTCOMES(ROW)
#undef ROW
};
/* clang-format on */

static bool known(enum tk_outcome o)
{
	return (unsigned)o < TK_OUTCOME_COUNT;
}

const char *tk_outcome_name(enum tk_outcome o)
{
	return known(o) ? outcomes[o].word : "unknown";
}

const char *tk_outcome_meaning(enum tk_outcome o)
{
	return known(o) ? outcomes[o].meaning : "not an outcome of this version";
}

bool tk_outcome_has_timing(enum tk_outcome o)
{
	return known(o) && outcomes[o].counts;
}

int tk_outcome_parse(const char *word, enum tk_outcome *out)
{
	for (unsigned i = 0; word && i < TK_OUTCOME_COUNT; i++)
		if (strcmp(word, outcomes[i].word) == 0) {
			*out = (enum tk_outcome)i;
			return TK_OK;
		}
	return TK_EDATA;
}

bool tk_outcome_is_night_unreliable(size_t unstable, size_t timed)
{
	return timed > 0 && 2 * unstable >= timed;
}
