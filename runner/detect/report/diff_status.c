/* The words of a diff. */
#include <string.h>

#include "base/error.h"
#include "detect/detect.h"

static const struct {
	const char *word, *mark, *meaning;
} statuses[TK_VERDICT_STATUS_COUNT] = {
#define TK_DIFF_TEXT(id, word, mark, meaning) [id] = {word, mark, meaning},
        TK_VERDICT_STATUSES(TK_DIFF_TEXT)
#undef TK_DIFF_TEXT
};

const char *tk_verdict_status_name(enum tk_verdict_status s)
{
	return s < TK_VERDICT_STATUS_COUNT ? statuses[s].word : "";
}

const char *tk_verdict_status_mark(enum tk_verdict_status s)
{
	return s < TK_VERDICT_STATUS_COUNT ? statuses[s].mark : "";
}

const char *tk_verdict_status_meaning(enum tk_verdict_status s)
{
	return s < TK_VERDICT_STATUS_COUNT ? statuses[s].meaning : "";
}

int tk_verdict_status_parse(const char *word, enum tk_verdict_status *out)
{
	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
		if (strcmp(word, statuses[i].word) == 0) {
			*out = (enum tk_verdict_status)i;
			return TK_OK;
		}
	return TK_EDATA;
}
