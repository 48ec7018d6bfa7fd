/* The manual as documents, made from the command table and the option tables. */
#ifndef TK_CLI_MANUAL_H
#define TK_CLI_MANUAL_H
#include <stdio.h>

struct tk_command;

/* docs/reference/commands.md */
void tk_manual_write_markdown(FILE *out);

/* tracker(1): the commands, the global options, exit codes, environment. */
void tk_manual_write_man_overview(FILE *out);

/* tracker-COMMAND(1) */
void tk_manual_write_man_command(const struct tk_command *c, FILE *out);

/* What both forms share, from argp's "before\vafter" text and the filter of the command: `before`
 * ends where `after` begins. Free with free(). NULL: out of memory. */
char *tk_manual_doc_before(const struct tk_command *c);
char *tk_manual_doc_after(const struct tk_command *c);

struct tk_manual_entry {
	const char *name, *meaning;
};
extern const struct tk_manual_entry tk_manual_environment[]; /* ends with name == NULL */

#endif
