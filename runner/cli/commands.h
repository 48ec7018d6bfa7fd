/* The commands of `tracker`: one row of TK_COMMANDS each, and what they share.
 *
 * A command is data: its name, how it is called (base/options.h), what it needs open, and a
 * function that works through the libraries and prints results to stdout. */
#ifndef TK_COMMANDS_H
#define TK_COMMANDS_H
#include "base/base.h"
#include "base/options.h"

enum tk_exit {
	TK_EXIT_OK,
	TK_EXIT_FOUND,
	TK_EXIT_USAGE,
	TK_EXIT_INCOMPLETE,
	TK_EXIT_FAILED,
	TK_EXIT_COUNT,
};
const char *tk_exit_meaning(enum tk_exit code);

struct tk_night_observer;
struct tk_progress;
struct tk_vocabulary;

/* The options of every command, which may stand before or after its name, and what was opened. */
struct tk_globals {
	const char *config_path; /* NULL: tracker.yml if it exists */
	const char *db_path;     /* NULL: as configured */
	const char *log_path;
	bool quiet, verbose;
	bool no_color; /* from --color, NO_COLOR, TERM and whether stdout is a terminal */
	char *program; /* absolute path of this binary */
	struct tk_config *config;
	struct tk_store *store;
};
extern const struct tk_option tk_global_options[];

enum tk_opens {
	TK_OPENS_NOTHING,
	TK_OPENS_CONFIG,
	TK_OPENS_READ, /* the configuration, and the history that it names */
	TK_OPENS_WRITE,
	TK_OPENS_CREATE,
};

struct tk_command {
	const char *name, *summary; /* summary: one line, lower case, no full stop */
	struct tk_usage usage;
	enum tk_opens opens;
	/* Returns an exit code, or the status of an error, which is printed. */
	int (*run)(struct tk_globals *g, struct tk_error *err);
	bool hidden;                  /* internal: not in help, manual and completion */
	int usage_exit, failure_exit; /* other exit codes of errors; 0: the usual ones */
};

extern const struct tk_command *const tk_commands[]; /* ends with NULL */
extern const char tk_command_purpose[];              /* what tracker is for, in one sentence */
const struct tk_command *tk_command_find(const char *name);

/* Parses `tracker [OPTION...] COMMAND ...`, runs the command and returns the exit code. */
int tk_command_main(int argc, char **argv);

/* Of a command that chooses by its options what it opens. */
int tk_command_open(struct tk_globals *g, enum tk_opens opens, struct tk_error *err);

/* The position of an action in a table of structs that begin with its name, or TK_EUSAGE. */
int tk_action_find(
        const void *rows, size_t count, size_t size, const char *name, struct tk_error *err);
#define TK_FIND_ACTION(table, name, err) \
	tk_action_find(table, sizeof(table) / sizeof *(table), sizeof *(table), name, err)

/* Where a command writes: a file, or with path NULL the standard output. */
struct tk_command_output {
	const char *path;
	int fd;
};
int tk_command_open_output(struct tk_command_output *out, const char *path, struct tk_error *err);
/* Returns `status`, that of writing, or that of closing the file. */
int tk_command_close_output(const struct tk_command_output *out, int status, struct tk_error *err);

/* `unknown command "dif"; did you mean "diff"?` Returns `out`. */
const char *tk_command_describe_unknown(const char *name, char *out, size_t size);

/* What `tracker` and `tracker help` print: the commands, where to start, the exit codes. */
void tk_command_print_overview(FILE *out);

/* Prints "tracker CMD: message" to stderr, logs it and returns the exit code of its status. */
int tk_command_fail(const char *command, const struct tk_error *err);

/* Prints a document to stdout and frees it. */
int tk_command_print_json(json_t *json, struct tk_error *err);

/* ---- texts in the formats that several commands write ---------------------------------------- */

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
/* tk_vsprintf() for a terminal: a control character of its texts becomes '?'. */
char *tk_plain_vsprintf(const char *fmt, va_list args) __attribute__((format(printf, 1, 0)));
/* Prints one such line. */
void tk_print_line(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- progress ---------------------------------------------------------------------------------
 *
 * Of a long command: one live line on a terminal, a plain line every few seconds elsewhere, nothing
 * with --quiet. Goes to stderr; the live line is wiped for lines of the log. */

struct tk_progress *tk_progress_new(const struct tk_globals *g); /* NULL with --quiet */
const struct tk_night_observer *tk_progress_observer(
        struct tk_progress *p);               /* NULL for NULL; valid until tk_progress_free */
void tk_progress_free(struct tk_progress *p); /* wipes the live line */

/* Prints the `git log` of a range and a ready `git bisect run tracker bisect-step ...`, each after
 * `indent`. Revisions and names come from histories, so they are quoted for the shell. */
void tk_git_bisect_hint_print(FILE *out, const char *indent, const struct tk_globals *g,
        const struct tk_config *config, const char *upstream, const char *series, const char *good,
        const char *bad);

/* In the order of `tracker help` */
#define TK_COMMANDS(X) \
	X(nightly) \
	X(run) \
	X(build) \
	X(backfill) \
	X(revisions) \
	X(adapter) \
	X(diff) \
	X(ab) \
	X(profile) \
	X(trace) \
	X(tune) \
	X(detect) \
	X(alert) \
	X(confirm) \
	X(bisect) \
	X(changepoints) \
	X(log) \
	X(show) \
	X(report) \
	X(site) \
	X(export) \
	X(import) \
	X(merge) \
	X(push) \
	X(pull) \
	X(machine) \
	X(series) \
	X(suite) \
	X(inputs) \
	X(doctor) \
	X(init) \
	X(db) \
	X(completion) \
	X(help) \
	X(manual) \
	X(worker) \
	X(bisect_step)
#define TK_COMMAND_DECLARE(name) extern const struct tk_command tk_command_##name;
TK_COMMANDS(TK_COMMAND_DECLARE)
#undef TK_COMMAND_DECLARE

#endif
