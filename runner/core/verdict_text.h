/* A verdict outside of memory: its facts as JSON, and the sentence that is made of them. */
#ifndef TK_CORE_VERDICT_TEXT_H
#define TK_CORE_VERDICT_TEXT_H
#include <jansson.h>

#include "core/verdict.h"

/* [{"kind", "numbers", "time_s", "text"}], the facts of a verdict. */
json_t *tk_verdict_facts_to_json(const struct tk_verdict *v);
char *tk_verdict_facts_write(const struct tk_verdict *v); /* the same as text; caller frees */
/* Adds the facts of a stored verdict to *v. Kinds that this version does not know are left out. */
void tk_verdict_facts_read(const char *json, struct tk_verdict *v);

#define TK_REASON_SIZE 768
/* "A/B confirmed: +9.5 % (95 % CI 9.3 to 9.7, 16 pairs); nightly estimate +9.9 %": the facts,
 * joined by "; ". Valid UTF-8 without control characters; "" if there are none. Returns out. */
const char *tk_verdict_format_reason(const struct tk_verdict *v, char out[TK_REASON_SIZE]);

#define TK_AB_RESULT_TEXT_SIZE 112
/* "+1.2 % (95 % CI 0.9 to 1.5, 16 pairs)"; "no timings" where no pair has them. */
const char *tk_ab_result_format(const struct tk_ab_result *r, char out[TK_AB_RESULT_TEXT_SIZE]);
const char *tk_ab_result_statistic_name(const struct tk_ab_result *r); /* "median", "min" */

#endif
