/* One pair of an A/B test: each build runs in a process of its own. Where possible both run at the
 * same time and alternate, so that a change of the machine within a second affects both; else one
 * runs after the other. Private to nightly/. */
#ifndef TK_AB_PAIR_H
#define TK_AB_PAIR_H
#include "core/outcome.h"
#include <stdbool.h>

struct tk_ab_test;
struct tk_ab_variant;
struct tk_error;
struct tk_night;
struct tk_worker;

/* The caller sets the first two. */
struct tk_ab_run {
	const struct tk_ab_variant *variant;
	const char *name;         /* "good" or "bad", for the log file */
	struct tk_worker *worker; /* NULL: ended */
	bool done;
	enum tk_outcome outcome;
	double median, min; /* NAN without a timing */
	char message[512];
};

/* A run may end in any outcome; an error is about the worker itself, or a request to stop. */
int tk_ab_pair_measure(struct tk_night *n, struct tk_ab_test *t, struct tk_ab_run *first,
        struct tk_ab_run *second, struct tk_error *err);

#endif
