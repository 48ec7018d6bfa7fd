/* The commands of `tracker`: one row in the table of commands.c, one file cmd_NAME.c each.
 *
 * A command parses its own options with argp (so that --help and the bash completion come from one
 * table), does its work through the libraries, prints results to stdout, and returns an exit code:
 * 0 done, 1 something of --fail-on was found, 2 usage or configuration, 3 incomplete, 4 could not
 * finish. */
#ifndef TK_COMMANDS_H
#define TK_COMMANDS_H
#include "base/error.h"
#include <argp.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

enum tk_exit {
	TK_EXIT_OK = 0,
	TK_EXIT_FOUND = 1,
	TK_EXIT_USAGE = 2,
	TK_EXIT_INCOMPLETE = 3,
	TK_EXIT_FAILED = 4
};

struct tk_config;
struct tk_store;

/* Global options, given before or after the command's name; -C has been done already. */
struct tk_globals {
	const char *config_path; /* NULL: tracker.yml where there is one */
	const char *db_path;     /* NULL: as configured */
	const char *log_path;
	bool quiet, verbose;
	bool no_color; /* decided: --color, NO_COLOR, TERM, and whether stdout is a terminal */
	char *program; /* absolute path of this binary */
};

struct tk_command {
	const char *name, *summary; /* summary: one line, lower case, no full stop */
	int (*run)(const struct tk_globals *globals, int argc,
	        char **argv);    /* argv[0] is "tracker NAME", for argp's messages */
	const struct argp *argp; /* its options; NULL: none */
	bool hidden;
};

extern const struct tk_command tk_commands[]; /* ends with name == NULL */
extern const struct argp tk_argp_globals;     /* main.c */
const struct tk_command *tk_command_find(const char *name);
const char *tk_command_suggest(
        const char *name); /* the one that was meant; NULL: none is like it */

/* What `tracker` and `tracker help` say: the commands, where to start, the exit codes. */
void tk_command_print_overview(FILE *out);

/* Prints "tracker CMD: message" to stderr once, logs it and maps the status to an exit code. */
int tk_command_fail(const char *command, const struct tk_error *err);

/* Prints a document to stdout and frees it; NULL (it could not be made) is an error too. */
int tk_command_print_json(json_t *json, struct tk_error *err);

/* The configuration and, with mode >= 0 (enum tk_store_mode), the store it names. On failure prints
 * and returns the exit code; 0 otherwise. Free with tk_command_close. */
int tk_command_open(const struct tk_globals *g, const char *command, int mode,
        struct tk_config **config, struct tk_store **store);
void tk_command_close(struct tk_config *config, struct tk_store *store);

/* name, summary, hidden: the order of `tracker help` */
#define TK_COMMANDS(X) \
	X(nightly, "build, measure, verify, store, decide, publish", false) \
	X(run, "measure one problem on one backend now", false) \
	X(build, "build an upstream's revision, move builds between machines", false) \
	X(backfill, "measure past revisions of an upstream", false) \
	X(diff, "what got slower, what got faster, what failed", false) \
	X(detect, "judge stored nights: imported, merged, or with other thresholds", false) \
	X(alert, "what is open, and what people made of it", false) \
	X(confirm, "measure an old and a new build of a series in turns", false) \
	X(bisect, "the commit with which a series moved", false) \
	X(changepoints, "where the levels of histories in a CSV file changed", false) \
	X(log, "the nights and how they ended", false) \
	X(show, "one series or one run in full", false) \
	X(site, "write the dashboard", false) \
	X(export, "write runs with everything that names them", false) \
	X(import, "read nights of elsewhere, or the histories of other tools", false) \
	X(merge, "make one history of several", false) \
	X(suite, "list and check the suites", false) \
	X(doctor, "what this machine has, and why a backend is or is not available", false) \
	X(init, "write a commented tracker.yml", false) \
	X(db, "check, back up, shrink or export the history", false) \
	X(completion, "print the bash completion", false) \
	X(help, "help on a command", false) \
	X(worker, "serve a parent tracker (internal)", true)
#define TK_COMMAND_DECLARE(name, summary, hidden) \
	int tk_cmd_##name(const struct tk_globals *g, int argc, char **argv); \
	extern const struct argp tk_argp_##name;
TK_COMMANDS(TK_COMMAND_DECLARE)
#undef TK_COMMAND_DECLARE
/* Its name has a dash, as the words of `git bisect` have. */
int tk_cmd_bisect_step(const struct tk_globals *g, int argc, char **argv);
extern const struct argp tk_argp_bisect_step;

#endif
