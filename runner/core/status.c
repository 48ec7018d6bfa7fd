#include "core/status.h"

#define STATUS_WORD(id, name, mark, meaning) [id] = {name, meaning},
TK_VOCABULARY_DEFINE(verdict_status, "status", TK_VERDICT_STATUSES, STATUS_WORD);
TK_VOCABULARY_FUNCTIONS(verdict_status);
TK_VOCABULARY_WRITTEN(verdict_state, "state of a change", TK_VERDICT_STATES);

static const char *const marks[] = {
#define STATUS_MARK(id, name, mark, meaning) [id] = mark,
        TK_VERDICT_STATUSES(STATUS_MARK)};

const char *tk_verdict_status_mark(enum tk_verdict_status value)
{
	return (unsigned)value < TK_VERDICT_STATUS_COUNT ? marks[value] : "";
}

const char *tk_verdict_status_meaning(enum tk_verdict_status value)
{
	return tk_vocabulary_meaning(&tk_verdict_status_words, (int)value);
}

const char *tk_verdict_status_phrase(enum tk_verdict_status value)
{
	return value == TK_VERDICT_NEW ? "new (no baseline yet)" : tk_verdict_status_name(value);
}
