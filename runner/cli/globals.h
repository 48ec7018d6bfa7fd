/* The options of every command. They may stand before or after the command's name.
 *
 * argp parses them in both places together with the command's own options, so "-qv", "-C/tmp" and
 * "--db FILE" mean the same everywhere, and the argument of a command's option is never taken for a
 * global option. */
#ifndef TK_CLI_GLOBALS_H
#define TK_CLI_GLOBALS_H
#include <argp.h>
#include <stdbool.h>

struct tk_globals {
	const char *config_path; /* NULL: tracker.yml if it exists */
	const char *db_path;     /* NULL: as configured */
	const char *log_path;
	bool quiet, verbose;
	bool no_color; /* from --color, NO_COLOR, TERM and whether stdout is a terminal */
	char *program; /* absolute path of this binary */
};

extern const struct argp_option tk_global_options[]; /* for help, the manual and the completion */

/* There is one command line in a process, so there is one set of globals. */
struct tk_globals *tk_globals_get(void);

/* One option of tk_global_options; -C changes the folder at once. */
error_t tk_globals_parse_option(int key, char *arg, struct argp_state *state);

/* Ends the program with argp_err_exit_status and a suggestion if an option before the command's
 * name is unknown and near to a global one. */
void tk_globals_check_names(int argc, char **argv);

/* Parses a command's line, argv[0] being "tracker NAME": its own options into `options` and the
 * global ones. Applies the globals (colour, log level, log file). Ends the program with
 * argp_err_exit_status if anything is wrong. */
void tk_command_parse(const struct argp *argp, int argc, char **argv, void *options);

#endif
