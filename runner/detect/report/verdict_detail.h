/* What the store keeps of a verdict besides its numbers: one JSON object. */
#ifndef TK_DETECT_VERDICT_DETAIL_H
#define TK_DETECT_VERDICT_DETAIL_H
#include <jansson.h>

#include "core/verdict.h"

struct tk_diff_row;

/* [{"kind", "numbers", "time_s", "text"}], the facts of a verdict. NULL: out of memory. */
json_t *tk_verdict_facts_to_json(const struct tk_verdict *v);
/* Caller frees; NULL: out of memory. */
char *tk_verdict_detail_write(const struct tk_diff_row *row);
/* Rule and facts of a stored verdict into *v. Of an older version that stored prose alone, `reason`
 * is the fact. */
void tk_verdict_detail_read(const char *detail, const char *reason, struct tk_verdict *v);

#endif
