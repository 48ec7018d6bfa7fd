/* What the parts of the stage "plan" share: suites (plan.c), the control and the ceilings. */
#ifndef TK_NIGHTLY_PLAN_INTERNAL_H
#define TK_NIGHTLY_PLAN_INTERNAL_H
#include "core/mode.h"
#include "core/series.h"
#include "nightly/night.h"

/* The jobs of a night before they are stored. Grows by adding; the strings of the rows belong to
 * the list. Until tk_plan_order_jobs numbers the jobs, `seq` is the problem's `last` (selection.h).
 */
struct tk_job_list {
	struct tk_job_row *rows;
	size_t count, cap;
};

/* An empty backend_path is a failed build: there is nothing to run. options may be NULL. */
void tk_job_list_add(struct tk_job_list *list, int64_t series_id, int64_t build_id,
        const char *backend_path, const char *options);
void tk_job_list_free(struct tk_job_list *list);

/* Appends to *out: the ceilings, then the suite jobs in a random order, those with a `last`
 * after all others and problem by problem. The controls run before the first suite job, after
 * every `every` of them, and at the end. One seed gives one order. */
void tk_plan_order_jobs(const struct tk_job_list *suite, const struct tk_job_list *ceilings,
        const struct tk_job_list *controls, uint32_t every, uint64_t seed, struct tk_job_list *out);

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
