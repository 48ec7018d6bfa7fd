/* The verdicts of a night between reports and the history. Private to decide/. */
#ifndef TK_DECIDE_VERDICT_ROWS_H
#define TK_DECIDE_VERDICT_ROWS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

struct tk_catalog;
struct tk_diff_report;
struct tk_diff_row;

struct tk_verdict_rows {
	int64_t night_id;
	struct tk_verdict_row *at;
	char **facts; /* that the rows point at */
	size_t count;
};

/* Written by several threads; points into the report. */
void tk_verdict_rows_make(
        int64_t night_id, const struct tk_diff_report *report, struct tk_verdict_rows *out);
/* Replaces those of the night. */
int tk_verdict_rows_store(
        const struct tk_verdict_rows *rows, struct tk_store *s, struct tk_error *err);
void tk_verdict_rows_free(struct tk_verdict_rows *rows);

/* The row of a report that a stored verdict is. False: its series is not in the catalog. */
bool tk_diff_row_read(
        const struct tk_catalog *c, const struct tk_verdict_row *stored, struct tk_diff_row *row);

#endif
