/* What the parts of the stage "plan" share: suites (plan.c), the control and the ceilings. */
#ifndef TK_NIGHTLY_PLAN_INTERNAL_H
#define TK_NIGHTLY_PLAN_INTERNAL_H
#include "core/mode.h"
#include "core/series.h"
#include "nightly/night.h"
#include "nightly/plan/job_list.h"

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
/* enum tk_operation. All of a backend that declares none, or that cannot be loaded. */
uint32_t tk_plan_backend_operations(
        struct tk_plan *p, const struct tk_night_device *d, const char *path);
/* NULL: not part of this night. */
const struct tk_night_upstream *tk_plan_find_upstream(const struct tk_night *n, const char *name);
/* NULL: it has none; `u` may be NULL. */
const struct tk_artifact_backend *tk_plan_find_backend(
        const struct tk_night_upstream *u, const char *name);

int tk_plan_controls(struct tk_plan *p, struct tk_error *err);
int tk_plan_ceilings(struct tk_plan *p, struct tk_error *err);

#endif
