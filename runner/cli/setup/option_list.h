/* The options of an argp table as a sorted list: for the manual, docs/reference/commands.md and the
 * completion. */
#ifndef TK_CLI_OPTION_LIST_H
#define TK_CLI_OPTION_LIST_H
#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#define TK_OPTION_LIST_MAX 64

struct tk_option_row {
	const char *name; /* long name without dashes; NULL: none */
	char letter;      /* '\0': none */
	const char *arg;  /* NULL: none */
	bool arg_optional;
	const char *doc;
	int group;
	const char *header; /* heading of its group; NULL: none */
};

/* Visible options by group, then by name; an alias has the argument of its option. `rows` has room
 * for TK_OPTION_LIST_MAX. Returns how many there are. */
size_t tk_option_list(const struct argp_option *options, struct tk_option_row *rows);

#endif
