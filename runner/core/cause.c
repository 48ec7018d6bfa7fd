#include "core/cause.h"

TK_VOCABULARY(cause, "cause", TK_CAUSES);
