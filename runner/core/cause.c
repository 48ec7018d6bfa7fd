#include "core/cause.h"

TK_VOCABULARY_DEFINE(cause, "cause", TK_CAUSES, TK_VOCABULARY_WORD);
TK_VOCABULARY_FUNCTIONS(cause);
