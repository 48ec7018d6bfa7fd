/* Names that the completion offers for arguments: `tracker completion --names=KIND`. */
#ifndef TK_CLI_COMPLETION_NAMES_H
#define TK_CLI_COMPLETION_NAMES_H

struct tk_globals;

struct tk_completion_kind {
	const char *kind;     /* NULL ends the table */
	const char *argument; /* the word that stands for it in a command's arguments */
};
extern const struct tk_completion_kind tk_completion_kinds[];

/* Prints names one per line. Returns an exit code; a missing history or configuration prints
 * nothing, because a completion must never disturb the line that is being typed. */
int tk_completion_print_names(const struct tk_globals *g, const char *kind);

#endif
