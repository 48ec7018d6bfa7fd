#include "core/alert.h"

TK_VOCABULARY(alert_kind, "alert kind", TK_ALERT_KINDS);
TK_VOCABULARY_WRITTEN(alert_status, "alert status", TK_ALERT_STATUSES);
