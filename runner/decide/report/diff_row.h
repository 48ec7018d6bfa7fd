/* Cases -> rows of a report. Private to decide/. */
#ifndef TK_DECIDE_DIFF_ROW_H
#define TK_DECIDE_DIFF_ROW_H
#include "decide/history/analysis.h"

/* Copies what fits into an array of characters; a text that was cut in the middle of a character
 * ends with '?' instead. */
void tk_text_copy_valid(char *to, size_t size, const char *from);
#define TK_COPY(field, from) tk_text_copy_valid(field, sizeof(field), from)

/* Clears the row and sets what it is about. */
void tk_diff_row_set_identity(
        const struct tk_series_case *k, int64_t newest_s, struct tk_diff_row *row);
/* Gathers the evidence of one case, decides, and fills the row. Several threads may decide cases of
 * a set at the same time. */
int tk_series_case_decide(struct tk_analysis *c, const struct tk_series_case *k,
        struct tk_diff_row *row, struct tk_error *err);
/* Adds what only the store knows about a step, and the acknowledgement: by one thread. */
int tk_series_case_explain(struct tk_analysis *c, const struct tk_series_case *k,
        struct tk_diff_row *row, struct tk_error *err);
/* Names and numbers of the revisions of these builds; 0: none. */
void tk_diff_row_set_revisions(const struct tk_analysis *c, int64_t good_build, int64_t bad_build,
        struct tk_diff_row *row);
/* Sets the status and clears the facts, which were about the earlier verdict. */
void tk_diff_row_set_status(struct tk_diff_row *row, enum tk_verdict_status status);

/* Decides all cases; rows[i] is of case i. */
int tk_analysis_decide(struct tk_analysis *c, struct tk_diff_report *out, struct tk_error *err);
/* Sets by_status alone. */
void tk_diff_report_count(struct tk_diff_report *r);
/* Counts, and sorts the rows: most severe first. */
void tk_diff_report_finish(struct tk_diff_report *r);

#endif
