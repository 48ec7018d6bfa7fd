/* Registers, spills and instructions before and after a change. Private to decide/. */
#ifndef TK_DECIDE_CODE_CHANGE_H
#define TK_DECIDE_CODE_CHANGE_H
#include "core/verdict.h"
#include "store/query/code_facts.h"

struct tk_catalog;
struct tk_error;

/* What is known to differ in the kernel of a series between the two builds of a verdict:
 * "registers 168 -> 255"; "": nothing, or it is not known which kernel ran. */
int tk_code_change_describe(struct tk_catalog *c, const struct tk_series_row *series,
        const struct tk_verdict *v, char out[TK_CODE_CHANGE_SIZE], struct tk_error *err);

#endif
