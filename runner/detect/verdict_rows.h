/* The verdicts of a night as rows of the history. Private to detect/. */
#ifndef TK_DETECT_VERDICT_ROWS_H
#define TK_DETECT_VERDICT_ROWS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_diff_report;
struct tk_error;
struct tk_store;
struct tk_verdict_row;

struct tk_verdict_rows {
	int64_t night_id;
	struct tk_verdict_row *at;
	struct verdict_texts *texts; /* that the rows point at */
	size_t count;
};

/* Written by several threads. Free *out. */
int tk_verdict_rows_make(int64_t night_id, const struct tk_diff_report *report,
        struct tk_verdict_rows *out, struct tk_error *err);
/* Replaces those of the night. */
int tk_verdict_rows_store(
        const struct tk_verdict_rows *rows, struct tk_store *s, struct tk_error *err);
void tk_verdict_rows_free(struct tk_verdict_rows *rows);

#endif
