/* See tune.h. */
#include "core/tune.h"

TK_VOCABULARY(tune_verdict, "verdict of tuning", TK_TUNE_VERDICTS);
