/* The stored results of `tracker tune`: by backend and problem, joined with their series. */
#ifndef TK_SITE_TUNINGS_H
#define TK_SITE_TUNINGS_H
#include "core/tune.h"

struct tk_error;
struct tk_model;
struct tk_problem_row;
struct tk_site_device;
struct tk_tuning_group;
struct tk_tuning_row;

/* What holds for one problem on one backend, its options, mode and device. */
struct tk_site_tuning {
	const struct tk_site_device *device;
	const struct tk_problem_row *problem;
	const struct tk_tuning_row *row;     /* the newest that decided, else the newest */
	const struct tk_tuning_group *group; /* that it is part of */
	enum tk_tune_state state;
	char *file;
};

/* Reads the results, and finds those of each series, which must be joined. */
int tk_model_join_tunings(struct tk_model *m, struct tk_error *err);
void tk_model_free_tunings(struct tk_model *m);

#endif
