/* Options of commands of the form `ACTION [NAME...] [--format=text|json]`. */
#ifndef TK_ACTION_OPTIONS_H
#define TK_ACTION_OPTIONS_H
#include <argp.h>
#include <stdbool.h>

struct tk_error;

struct tk_action_options {
	const char *action;
	char **names;
	int name_count;
	bool json;
};

/* A parser of argp whose input is a struct tk_action_options; `actions` is listed where the action
 * is missing: "import or list". */
error_t tk_action_options_parse(int key, char *arg, const char *actions, struct argp_state *state);

/* Of an action that takes no names. TK_EUSAGE: there are some. */
int tk_action_options_refuse_names(const struct tk_action_options *o, struct tk_error *err);

#endif
