/* Machine code and configuration before and after a change. Private to decide/. */
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

#define TK_CONFIG_CHANGE_SIZE 300

/* Of a series that is measured with the stored winner: "default -> tile=128x64" where the two runs
 * of a verdict used different configurations; "": they did not, or it is not known. */
int tk_config_change_describe(struct tk_catalog *c, const struct tk_series_row *series,
        const struct tk_verdict *v, char out[TK_CONFIG_CHANGE_SIZE], struct tk_error *err);

#endif
