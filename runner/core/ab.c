#include "core/ab.h"

#define DEFINE(stem, subject, LIST) \
	TK_VOCABULARY_DEFINE(stem, subject, LIST, TK_VOCABULARY_WORD); \
	TK_VOCABULARY_FUNCTIONS(stem)
#define DEFINE_NAMES(stem, subject, LIST) \
	TK_VOCABULARY_DEFINE(stem, subject, LIST, TK_VOCABULARY_WORD); \
	TK_VOCABULARY_NAME(stem)

DEFINE(ab_decision, "decision of A/B runs", TK_AB_DECISIONS);
DEFINE(ab_verdict, "verdict of an A/B comparison", TK_AB_VERDICTS);
DEFINE(bisect_outcome, "outcome of a bisection", TK_BISECT_OUTCOMES);
DEFINE_NAMES(monitor_event_kind, "event of a monitor", TK_MONITOR_EVENT_KINDS);
