/* The kinds of alerts, and whether one lasts. */
#ifndef TK_CORE_ALERT_H
#define TK_CORE_ALERT_H
#include "core/vocabulary.h"

#define TK_ALERT_KINDS(X) \
	X(TK_ALERT_CHANGE, "change", "a regression") \
	X(TK_ALERT_FAILURE, "failure", "a series that newly fails") \
	X(TK_ALERT_MISSING_DATA, "missing-data", \
	        "a series, an upstream or a machine without data for some nights", "stoppage")
enum tk_alert_kind { TK_ALERT_KINDS(TK_VOCABULARY_ENUM) };
extern const struct tk_vocabulary tk_alert_kind_words;
const char *tk_alert_kind_name(enum tk_alert_kind value);
int tk_alert_kind_parse(const char *name, enum tk_alert_kind *out);

#define TK_ALERT_STATUSES(X) \
	X(TK_ALERT_OPEN, "open", "it lasts") \
	X(TK_ALERT_CLOSED, "closed", "it ended: recovered, fixed, or data again")
enum tk_alert_status { TK_ALERT_STATUSES(TK_VOCABULARY_ENUM) };
extern const struct tk_vocabulary tk_alert_status_words;
const char *tk_alert_status_name(enum tk_alert_status value);

#endif
