#include "core/alert.h"

#define DEFINE(stem, subject, LIST) \
	TK_VOCABULARY_DEFINE(stem, subject, LIST, TK_VOCABULARY_WORD); \
	TK_VOCABULARY_FUNCTIONS(stem)
#define DEFINE_NAMES(stem, subject, LIST) \
	TK_VOCABULARY_DEFINE(stem, subject, LIST, TK_VOCABULARY_WORD); \
	TK_VOCABULARY_NAME(stem)

DEFINE(alert_kind, "alert kind", TK_ALERT_KINDS);
DEFINE_NAMES(alert_status, "alert status", TK_ALERT_STATUSES);
