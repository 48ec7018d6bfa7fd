/* The commands of `tracker`: one row of TK_COMMANDS and one file cli/FOLDER/NAME.c each.
 *
 * A command parses its options with tk_command_parse (--help, the manual and the completion come
 * from the same table), works through the libraries, prints results to stdout, and returns an exit
 * code. */
#ifndef TK_COMMANDS_H
#define TK_COMMANDS_H
#include <argp.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/globals.h"

enum tk_exit {
	TK_EXIT_OK,
	TK_EXIT_FOUND,
	TK_EXIT_USAGE,
	TK_EXIT_INCOMPLETE,
	TK_EXIT_FAILED,
	TK_EXIT_COUNT,
};
const char *tk_exit_meaning(enum tk_exit code);

struct tk_config;
struct tk_store;

struct tk_command {
	const char *name, *summary; /* summary: one line, lower case, no full stop */
	/* argv[0] is "tracker NAME", for the messages of argp */
	int (*run)(const struct tk_globals *globals, int argc, char **argv);
	const struct argp *argp;
	bool hidden; /* internal: not in help, manual and completion */
};

extern const struct tk_command tk_commands[]; /* ends with name == NULL */
extern const char tk_command_purpose[];       /* what tracker is for, in one sentence */
const struct tk_command *tk_command_find(const char *name);

/* `unknown command "dif"; did you mean "diff"?` Returns `out`. */
const char *tk_command_describe_unknown(const char *name, char *out, size_t size);

/* The visible commands with their summaries, one per line. */
void tk_commands_print(FILE *out);

/* What `tracker` and `tracker help` print: the commands, where to start, the exit codes. */
void tk_command_print_overview(FILE *out);

/* Prints "tracker CMD: message" to stderr, logs it and returns the exit code of its status. */
int tk_command_fail(const char *command, const struct tk_error *err);

/* Prints a document to stdout and frees it. NULL (it could not be made) is an error too. */
int tk_command_print_json(json_t *json, struct tk_error *err);

/* The configuration and, with mode >= 0 (enum tk_store_mode), the store it names. On failure prints
 * and returns the exit code; 0 otherwise. Free with tk_command_close. */
int tk_command_open(const struct tk_globals *g, const char *command, int mode,
        struct tk_config **config, struct tk_store **store);
void tk_command_close(struct tk_config *config, struct tk_store *store);

/* name, summary, hidden: in the order of `tracker help` */
#define TK_COMMANDS(X) \
	X(nightly, "build, measure, verify, store, analyse and publish one night", false) \
	X(run, "measure problems on one backend now, without storing them", false) \
	X(build, "build the revisions of upstreams; move builds between machines", false) \
	X(backfill, "measure past revisions of an upstream", false) \
	X(diff, "show regressions, improvements and failures", false) \
	X(ab, "compare two revisions, builds or backends now: is my branch slower?", false) \
	X(profile, "read counters of one kernel: bytes, tensor cores, stalls", false) \
	X(trace, "show where the time goes inside a kernel, and what changed there", false) \
	X(tune, "find the fastest configuration of a backend for each problem", false) \
	X(detect, "analyse stored nights: imported, merged, or with other thresholds", false) \
	X(alert, "list open alerts and triage them", false) \
	X(confirm, "compare an old and a new build of a series by A/B runs", false) \
	X(bisect, "find the commit that changed a series", false) \
	X(changepoints, "find the level changes of histories in a CSV file", false) \
	X(log, "list the nights and how they ended", false) \
	X(show, "show one series or one run in full", false) \
	X(report, "write a report of changes, best backends and statistics", false) \
	X(site, "write the dashboard", false) \
	X(export, "write runs for other programs and machines", false) \
	X(import, "read exported nights, or the histories of other tools", false) \
	X(merge, "merge several histories into one", false) \
	X(push, "send the history to a server", false) \
	X(pull, "fetch the histories that machines have sent", false) \
	X(machine, "list the machines of the history, rename one", false) \
	X(suite, "list, check and show the suites", false) \
	X(inputs, "import and list texts that inputs are made of", false) \
	X(doctor, "show what this machine has, and why a backend is unavailable", false) \
	X(init, "write a commented tracker.yml", false) \
	X(db, "check, back up, shrink or export the history", false) \
	X(completion, "print the bash completion", false) \
	X(help, "show help on a command", false) \
	X(manual, "write the manual (internal)", true) \
	X(worker, "serve a parent tracker (internal)", true)
#define TK_COMMAND_DECLARE(name, summary, hidden) \
	int tk_cmd_##name(const struct tk_globals *g, int argc, char **argv); \
	extern const struct argp tk_argp_##name;
TK_COMMANDS(TK_COMMAND_DECLARE)
#undef TK_COMMAND_DECLARE
/* Its name has a dash, like `git bisect` commands have. */
int tk_cmd_bisect_step(const struct tk_globals *g, int argc, char **argv);
extern const struct argp tk_argp_bisect_step;

#endif
