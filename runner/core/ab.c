#include "core/ab.h"

TK_VOCABULARY(ab_decision, "decision of A/B runs", TK_AB_DECISIONS);
TK_VOCABULARY(ab_verdict, "verdict of an A/B comparison", TK_AB_VERDICTS);
TK_VOCABULARY(bisect_outcome, "outcome of a bisection", TK_BISECT_OUTCOMES);
TK_VOCABULARY_WRITTEN(monitor_event_kind, "event of a monitor", TK_MONITOR_EVENT_KINDS);
