/* Which problems of rotated suites a night measures. Private to nightly/. */
#ifndef TK_NIGHTLY_ROTATION_H
#define TK_NIGHTLY_ROTATION_H
#include <stddef.h>

struct tk_error;
struct tk_night;
struct tk_plan_problem;

/* Removes the problems that are not due from the list. The series that they have on this machine
 * learn in how many nights each has its turn, so that nobody expects them before. */
int tk_plan_rotate(
        struct tk_night *n, struct tk_plan_problem *problems, size_t *count, struct tk_error *err);

#endif
