/* The one place that turns a verdict into prose. */
#ifndef TK_DETECT_REASON_H
#define TK_DETECT_REASON_H
#include "core/verdict.h"

#define TK_REASON_SIZE 768

/* "A/B confirmed: +9.5 % (95 % CI 9.3 to 9.7, 16 pairs); nightly estimate +9.9 %": the facts,
 * joined by "; ". Valid UTF-8 without control characters; "" if there are none. Returns out. */
const char *tk_verdict_format_reason(const struct tk_verdict *v, char out[TK_REASON_SIZE]);

#endif
