/* Texts of others in the formats that several commands write. */
#ifndef TK_CLI_MARKUP_H
#define TK_CLI_MARKUP_H

#include "base/base.h"

struct tk_buf;
struct tk_error;
struct tk_vocabulary;

/* Markdown: the text makes no markup, links or references, mentions nobody and ends no cell. */
void tk_markdown_put_text(struct tk_buf *b, const char *s);
/* The data of a workflow command of GitHub; in a property ':' and ',' are escaped too. */
void tk_github_put_escaped(FILE *out, const char *s, bool property);
/* Appends what `write` writes of a report to the file that an environment variable of GitHub names;
 * nothing where the variable is not set. */
int tk_github_append(const char *variable,
        int (*write)(const void *report, FILE *out, struct tk_error *err), const void *report,
        struct tk_error *err);
/* {"WORD": counts[value], ...} of all words. */
json_t *tk_json_counts(const struct tk_vocabulary *words, const size_t *counts);
/* Writes a value and a newline, with flags of json_dumpf(), and frees it. */
int tk_json_write(json_t *json, size_t flags, FILE *out, struct tk_error *err);
/* Writes what was made in memory to `out`. */
int tk_markup_write(const struct tk_buf *b, FILE *out, struct tk_error *err);
/* Prints one line: a control character of its texts becomes '?'. */
void tk_print_line(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
