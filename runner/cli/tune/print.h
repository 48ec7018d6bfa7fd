/* How `tracker tune` prints its report. */
#ifndef TK_TUNE_PRINT_H
#define TK_TUNE_PRINT_H
#include <stdio.h>

#include "nightly/tune/tune.h"

struct tk_error;
struct tk_globals;
struct tk_store;

int tk_tune_write_text(const struct tk_globals *g, const struct tk_tune_report *r, FILE *out,
        struct tk_error *err);
/* Stored tunings, newest first; `of`: a backend or upstream, NULL: all. */
int tk_tune_list(const struct tk_globals *g, struct tk_store *s, const char *of, bool json,
        struct tk_error *err);
/* The schema is in docs/reference/tune.md. */
int tk_tune_write_json(const struct tk_tune_report *r, FILE *out, struct tk_error *err);

#endif
