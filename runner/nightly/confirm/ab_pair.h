/* One pair of a trial: either build measured in a process of its own. Both at once, by turns, where
 * that goes, so that what changes on the machine within a second meets both; else one after the
 * other. Private to nightly/. */
#ifndef TK_AB_PAIR_H
#define TK_AB_PAIR_H
#include "core/outcome.h"
#include <stdbool.h>

struct tk_error;
struct tk_night;
struct tk_ab_test;
struct tk_ab_variant;
struct tk_worker;

/* `side` and `name` ("good", "bad": its log) are the caller's; the rest is what came of it. */
struct tk_ab_run {
	const struct tk_ab_variant *side;
	const char *name;
	struct tk_worker *worker; /* while it is measured */
	bool done;
	enum tk_outcome outcome;
	double median, min; /* NAN without a timing that counts */
	char message[512];
};

/* Every way a job can end is TK_OK with an outcome. */
int tk_ab_pair_measure(struct tk_night *n, struct tk_ab_test *t, struct tk_ab_run *first,
        struct tk_ab_run *second, struct tk_error *err);

#endif
