/* Printing a series, several series, a run. */
#ifndef TK_SHOW_H
#define TK_SHOW_H
#include "cli/commands.h"
#include "cli/lookup.h"

struct tk_show_options {
	const char *what;
	size_t limit; /* points of a series; 0: all */
	bool samples, json;
};

int tk_show_series(struct tk_store *s, const struct tk_globals *g, const struct tk_show_options *o,
        const struct tk_lookup *l, const struct tk_series_row *series, struct tk_error *err);
int tk_show_series_list(struct tk_store *s, const struct tk_globals *g,
        const struct tk_show_options *o, const struct tk_lookup *l,
        const struct tk_series_row *const *found, size_t count, struct tk_error *err);
int tk_show_run(struct tk_store *s, const struct tk_show_options *o, const struct tk_lookup *l,
        const struct tk_run_row *run, struct tk_error *err);

#endif
