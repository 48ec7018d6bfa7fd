/* The stored results of `tracker tune`: by backend and problem, joined with their series. */
#ifndef TK_SITE_TUNINGS_H
#define TK_SITE_TUNINGS_H
#include "core/outcome.h"
#include "core/tune.h"
#include "core/tune_config.h"
#include <stdbool.h>
#include <stddef.h>

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

/* The candidates of a stored tuning and the parameters of their configurations. */

#define TK_TUNING_VALUES_MAX 24 /* of a parameter; one with more is left out */

struct tk_tuning_candidate {
	char config[128], message[200];
	enum tk_outcome outcome;
	double evaluations, median_ns, slower, lo, hi; /* NAN: unknown */
	bool is_dropped;
	/* once the parameters are found; NAN: it does not have the parameter */
	double values[TK_TUNE_PARAMETERS_MAX];
};

struct tk_tuning_parameter {
	char name[TK_TUNE_PARAMETER_SIZE];
	size_t place; /* in tk_tuning_candidate.values */
	/* ascending; one that some candidates do not have ends with NAN */
	double values[TK_TUNING_VALUES_MAX];
	size_t count;
	double effect; /* how far its values differ, as a variance of logarithms of times */
};

struct tk_tuning_space {
	struct tk_tuning_candidate *candidates; /* as stored */
	size_t count;
	/* once they are found; with at least two values, the largest effect first */
	struct tk_tuning_parameter parameters[TK_TUNE_PARAMETERS_MAX];
	size_t parameter_count;
	double best_ns; /* NAN: no candidate has a time */
};

/* The candidates; what another program wrote is left out where it makes no sense. Free in any
 * case. */
void tk_tuning_space_read(const struct tk_tuning_row *row, struct tk_tuning_space *out);
void tk_tuning_space_free(struct tk_tuning_space *s);
/* Once, before the landscape is drawn. */
void tk_tuning_space_find_parameters(struct tk_tuning_space *s);
/* The fastest candidate with these values; `b` may be NULL. NULL: none was timed. */
const struct tk_tuning_candidate *tk_tuning_space_find_best(const struct tk_tuning_space *s,
        const struct tk_tuning_parameter *a, double a_value, const struct tk_tuning_parameter *b,
        double b_value);

#endif
