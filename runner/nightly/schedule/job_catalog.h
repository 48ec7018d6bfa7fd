/* What the jobs of a night refer to, read once from the history. Private to nightly/. */
#ifndef TK_NIGHTLY_JOB_CATALOG_H
#define TK_NIGHTLY_JOB_CATALOG_H
#include "store/store.h"

struct tk_error;
struct tk_night;
struct tk_scheduler;

/* Jobs are named by their index in `jobs`, which also has those that are done. */
struct tk_job_catalog {
	struct tk_rows jobs, series, problems, builds;
};

/* One job with what it refers to; the rows are the catalog's. */
struct tk_catalog_job {
	const struct tk_job_row *row;
	const struct tk_series_row *series; /* that it was planned for */
	const struct tk_problem_row *problem;
	const struct tk_build_row *build;
};

/* TK_EDATA: a job refers to a row that does not exist. Free in any case. */
int tk_job_catalog_load(struct tk_night *n, struct tk_job_catalog *out, struct tk_error *err);
void tk_job_catalog_free(struct tk_job_catalog *c);

struct tk_catalog_job tk_job_catalog_get(const struct tk_job_catalog *c, size_t job);
/* The night's jobs and devices as the scheduler sees them. */
int tk_job_catalog_schedule(struct tk_night *n, const struct tk_job_catalog *c,
        struct tk_scheduler **out, struct tk_error *err);

#endif
