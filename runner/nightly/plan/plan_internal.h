/* What the parts of the stage "plan" share: suites (plan.c), the control and the ceilings. */
#ifndef TK_NIGHTLY_PLAN_INTERNAL_H
#define TK_NIGHTLY_PLAN_INTERNAL_H
#include "core/vocabulary.h"
#include "nightly/night.h"

/* The jobs of a night before they are stored. The strings of the rows are those of artifacts and of
 * the configuration. Until they are ordered, `seq` is the problem's `last` (below). */
struct tk_job_list {
	struct tk_job_row *rows;
	size_t count;
};

/* The jobs of one device. Each device has its own order, because devices work in parallel. */
struct tk_device_plan {
	struct tk_job_list suite, ceilings, controls;
};

struct tk_plan {
	struct tk_night *n;
	struct tk_device_plan *devices;
	json_t *backends; /* worker's answer by backend path; null: it cannot be loaded */
};

/* What a job measures: a problem on a backend of an upstream. */
struct tk_planned_job {
	const struct tk_night_upstream *upstream;
	const char *backend, *path; /* path "": the build failed */
	int64_t problem_id;
	enum tk_series_role role;
	uint32_t rotate_nights;
};

int tk_plan_put_problem(struct tk_night *n, const char *text, const char *source,
        const char *family, int64_t *id, struct tk_error *err);
/* Adds a job for the device in each configured mode; controls and ceilings have the first mode
 * only. */
int tk_plan_add_jobs(struct tk_plan *p, struct tk_job_list *list, size_t device,
        const struct tk_planned_job *job, struct tk_error *err);
int tk_plan_add_job(struct tk_plan *p, struct tk_job_list *list, size_t device,
        const struct tk_planned_job *job, const char *mode, struct tk_error *err);

/* Whether the backend is for this kind of device. One that cannot be loaded is for all: its failure
 * becomes a row of each job. */
bool tk_plan_backend_runs_on(struct tk_plan *p, const struct tk_night_device *d, const char *path);
/* NULL: not part of this night. */
const struct tk_night_upstream *tk_plan_find_upstream(const struct tk_night *n, const char *name);
/* NULL: it has none; `u` may be NULL. */
const struct tk_artifact_backend *tk_plan_find_backend(
        const struct tk_night_upstream *u, const char *name);

int tk_plan_controls(struct tk_plan *p, struct tk_error *err);
int tk_plan_ceilings(struct tk_plan *p, struct tk_error *err);
/* After the suites are planned: leaves those that this night needs. */
int tk_plan_choose_ceilings(struct tk_plan *p, struct tk_error *err);

/* ---- selection.c ---- */

/* Which problems a night measures, by the rotation of their suites, and on which of several devices
 * of one model (--split). */
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

#endif
