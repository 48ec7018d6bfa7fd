/* See tune.h. */
#include "core/tune.h"

TK_VOCABULARY(tune_verdict, "verdict of tuning", TK_TUNE_VERDICTS);
TK_VOCABULARY(tune_state, "state of a tuning", TK_TUNE_STATES);
