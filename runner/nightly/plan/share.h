/* Which of several devices of one model measures which problem (--split). Private to nightly/. */
#ifndef TK_NIGHTLY_SHARE_H
#define TK_NIGHTLY_SHARE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_error;
struct tk_night;
struct tk_problem_spec;

struct tk_plan_problem {
	int64_t id;
	uint32_t operation; /* enum tk_operation */
	uint32_t kinds;     /* bits of enum tk_device_kind: devices that measure it */
	double seconds;     /* estimate */
	uint32_t rotate_nights, rotation_key; /* suite/rotation.h */
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

#endif
