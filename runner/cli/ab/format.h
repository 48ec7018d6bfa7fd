/* How `tracker ab` prints its report. A new format is a row of tk_ab_formats and a file
 * format_NAME.c. */
#ifndef TK_AB_FORMAT_H
#define TK_AB_FORMAT_H
#include <stdio.h>

#include "core/fields.h"
#include "nightly/compare/ab_compare.h"

struct tk_error;
struct tk_globals;

struct tk_ab_format {
	const char *name;
	int (*write)(const struct tk_globals *g, const struct tk_ab_report *r, FILE *out,
	        struct tk_error *err);
};
extern const struct tk_ab_format tk_ab_formats[];

int tk_ab_write_text(
        const struct tk_globals *g, const struct tk_ab_report *r, FILE *out, struct tk_error *err);
int tk_ab_write_json(
        const struct tk_globals *g, const struct tk_ab_report *r, FILE *out, struct tk_error *err);
int tk_ab_write_markdown(
        const struct tk_globals *g, const struct tk_ab_report *r, FILE *out, struct tk_error *err);
int tk_ab_write_csv(
        const struct tk_globals *g, const struct tk_ab_report *r, FILE *out, struct tk_error *err);
/* Workflow commands to `out`; the Markdown form to $GITHUB_STEP_SUMMARY, the counts to
 * $GITHUB_OUTPUT. */
int tk_ab_write_github(
        const struct tk_globals *g, const struct tk_ab_report *r, FILE *out, struct tk_error *err);

extern const struct tk_field tk_ab_row_fields[]; /* of a row in JSON and CSV */
/* "main (0123456789ab add a check)" */
#define TK_AB_SIDE_TEXT_SIZE 960
const char *tk_ab_format_side(const struct tk_ab_side_report *s, char out[TK_AB_SIDE_TEXT_SIZE]);
/* The last line, without a newline: "1 slower, 3 same; 60 A/B pairs in 31 s". */
#define TK_AB_SUMMARY_SIZE 512
const char *tk_ab_summarize(const struct tk_ab_report *r, char out[TK_AB_SUMMARY_SIZE]);
#endif
