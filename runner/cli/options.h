/* Words of the command line that several commands take, checked in one way. */
#ifndef TK_OPTIONS_H
#define TK_OPTIONS_H
#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

/* `--format=text|json`: is it json? Anything else ends the program with a message (argp_error). */
bool tk_option_parse_json(const char *arg, struct argp_state *state);

/* `--NAME=N`, N a whole number that is not negative; else the program ends with a message. */
size_t tk_option_parse_count(const char *arg, const char *name, struct argp_state *state);

#endif
