/* What the parts of `tracker show` share: show.c finds and shows series, show_run.c a run. */
#ifndef TK_SHOW_H
#define TK_SHOW_H
#include "cli/commands.h"

struct tk_show_options {
	const char *what;
	size_t limit; /* points of a series; 0: all */
	bool samples, json;
};

int tk_show_run(const struct tk_globals *g, const struct tk_show_options *o, int64_t run_id,
        struct tk_error *err);

#endif
