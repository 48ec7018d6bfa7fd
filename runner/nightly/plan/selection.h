/* Which problems a night measures, by the rotation of their suites, and on which of several devices
 * of one model (--split). Private to nightly/. */
#ifndef TK_NIGHTLY_SELECTION_H
#define TK_NIGHTLY_SELECTION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_error;
struct tk_night;
struct tk_problem_spec;
struct tk_rows;

struct tk_plan_problem {
	int64_t id;
	uint32_t operation; /* enum tk_operation */
	uint32_t kinds;     /* bits of enum tk_device_kind: devices that measure it */
	double seconds;     /* estimate */
	uint32_t rotate_nights, rotation_key; /* config/suite.h */
	/* position among the problems that run at the end, from 1; 0: not one of them */
	int64_t last;
};

/* A rough estimate of what a problem takes, with all backends. */
double tk_plan_estimate_seconds(const struct tk_problem_spec *p);

/* Sets is_mine[device * count + problem], which the caller has cleared. Short new problems get a
 * `last`, the shortest the highest, so that another device can still take them over when the
 * night is nearly done. */
int tk_plan_share_problems(struct tk_night *n, struct tk_plan_problem *problems, size_t count,
        bool *is_mine, struct tk_error *err);

/* Removes the problems that are not due from the list. The series that they have on this machine
 * learn in how many nights each has its turn, so that nobody expects them before. */
int tk_plan_rotate(
        struct tk_night *n, struct tk_plan_problem *problems, size_t *count, struct tk_error *err);

/* Which devices have series of which problems of suites. */
struct tk_plan_history {
	int64_t device_id, problem_id;
	bool has_points;
};
/* Rows of struct tk_plan_history. */
int tk_plan_list_history(struct tk_night *n, struct tk_rows *out, struct tk_error *err);

#endif
