/* A tuning in the history. Private to nightly/tune/. */
#ifndef TK_TUNE_STORE_H
#define TK_TUNE_STORE_H
#include "nightly/ab/comparison.h"
#include "nightly/tune/tune.h"

/* Stores all rows of a report with their devices and problems, in one transaction. Rows of trials
 * that no configuration was listed for are left out. */
int tk_tune_store(struct tk_comparison *c, struct tk_store *store, int64_t started_s,
        const struct tk_tune_report *report, struct tk_error *err);

#endif
