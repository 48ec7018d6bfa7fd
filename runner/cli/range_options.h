/* The options of the commands that compare two revisions of one series: confirm, bisect,
 * bisect-step. */
#ifndef TK_RANGE_OPTIONS_H
#define TK_RANGE_OPTIONS_H
#include <argp.h>
#include <stdint.h>

enum { TK_OPT_GOOD = 'g', TK_OPT_BAD = 'b', TK_OPT_BUDGET = 't', TK_OPT_REV = 256 };

struct tk_range_options {
	const char *series; /* or an alert */
	const char *good, *bad, *rev;
	int64_t budget_s;
};

/* The parser for argp; state->input is a struct tk_range_options. */
error_t tk_range_options_parse(int key, char *arg, struct argp_state *state);

#endif
