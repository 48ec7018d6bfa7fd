/* The state of one night, shared by its stages. Private to nightly/. */
#ifndef TK_NIGHT_H
#define TK_NIGHT_H
#include "build/build.h"
#include "config/config.h"
#include "nightly/nightly.h"
#include "nightly/plan/modules.h"
#include "store/store.h"
#include "upstream/repo.h"
#include <jansson.h>
#include <string.h>

struct tk_job_request;
struct tk_worker;

#define TK_NIGHT_WORKERS_MAX 16

/* One device of this machine that the configuration wants, with the worker that serves it. */
struct tk_night_device {
	const struct tk_module *layer;
	uint32_t index;
	json_t *info;               /* what the device layer says of it */
	char slug[64], cores[1024]; /* cores of its workers; "": all */
	int64_t device_id, environment_id;
	struct tk_worker *worker;
	/* GPUs: a process for each backend stays, because a context and a library take longer to
	 * start than a job. */
	struct {
		char *backend;
		struct tk_worker *worker;
		uint64_t used; /* when: the number of the job */
	} kept[TK_NIGHT_WORKERS_MAX];
	uint64_t asked; /* jobs so far */
	bool lost;      /* it was there when the night began */
};

/* One upstream on its way from a branch to backends that can be measured. */
struct tk_likelihood_product {
	const struct tk_upstream_config *config;
	int64_t upstream_id, revision_id, build_id;
	char rev[128];
	enum tk_resolution_status status;
	char message[512];
	struct tk_artifact *artifacts[8]; /* one; builtin: one for each of its modules */
	size_t artifact_count;
	bool failed; /* there is a build row, but nothing that could be measured */
};

struct tk_night {
	const struct tk_config *config;
	struct tk_store *store;
	const struct tk_night_options *options;
	struct tk_night_report *report;
	struct tk_modules *modules;
	int64_t night_id, machine_id, as_of_s, started_s, started_mono_ns;
	uint64_t seed;
	json_t *asked;        /* asked.h; NULL: the night is of a tracker that stored none */
	char **asked_devices; /* words of it */
	struct tk_night_device *devices;
	size_t device_count;
	struct tk_likelihood_product *products;
	size_t product_count;
};

/* A CPU has one worker, and nothing else may run while it measures. */
static inline bool tk_night_device_is_cpu(const struct tk_night_device *d)
{
	return strcmp(d->layer->name, "cpu") == 0;
}
/* Whether what one leaves undone can be done on the other: the same kind, name and architecture. */
bool tk_night_device_is_same_model(
        const struct tk_night_device *a, const struct tk_night_device *b);
/* Whether a series was ever measured, tonight or before. plan_split.c */
int tk_night_series_has_points(
        struct tk_night *n, int64_t series_id, bool *out, struct tk_error *err);

/* The stages: each leaves its result in the store. An error ends the night; what merely failed is a
 * row. */
int tk_night_probe(struct tk_night *n, struct tk_error *err); /* machine, devices, environment */
int tk_night_resolve(struct tk_night *n, struct tk_error *err);
int tk_night_build(struct tk_night *n, struct tk_error *err);
int tk_night_plan(struct tk_night *n, struct tk_error *err);
int tk_night_measure(struct tk_night *n, struct tk_error *err);
int tk_night_confirm(struct tk_night *n, struct tk_error *err);
int tk_night_detect(struct tk_night *n, struct tk_error *err);
/* What a night's verdicts and alerts say, once more, with the pairs that have come since; *report
 * is the caller's. */
int tk_night_run_detection(
        struct tk_night *n, int64_t night_id, struct tk_diff_report *report, struct tk_error *err);
/* After a command that has stored all that it found: where this fails, the error says so. */
int tk_night_rerun_detection(
        struct tk_night *n, int64_t night_id, struct tk_diff_report *report, struct tk_error *err);
int tk_night_bisect(struct tk_night *n, struct tk_error *err);
int tk_night_publish(struct tk_night *n, struct tk_error *err);
int tk_night_tidy(struct tk_night *n, struct tk_error *err); /* retention: samples, artifacts */

/* The worker for a backend on a device; stays the device's. probe.c */
int tk_night_get_worker(struct tk_night *n, struct tk_night_device *d, const char *backend,
        struct tk_worker **out, struct tk_error *err);
/* Sends for that worker before a job asks for it, where there is a place for one more; and waits
 * for all that were sent for. */
int tk_night_prestart_worker(struct tk_night *n, struct tk_night_device *d, const char *backend,
        const char *options, struct tk_error *err);
int tk_night_device_await_workers(struct tk_night_device *d, struct tk_error *err);
/* A worker of its own, with no process yet; the caller's. */
int tk_night_new_worker(struct tk_night *n, const struct tk_night_device *d, struct tk_worker **out,
        struct tk_error *err);
/* One of two such workers that live at once. */
struct tk_ab_worker_spec {
	const char *name; /* of its log */
	int token_fd;     /* as in struct tk_worker_spec: both compute at once, each has half of the
	                     memory; 0: none */
};
int tk_night_new_ab_worker(struct tk_night *n, const struct tk_night_device *d,
        const struct tk_ab_worker_spec *half, struct tk_worker **out, struct tk_error *err);
void tk_night_device_stop_workers(struct tk_night_device *d); /* ends the workers that are kept */
void tk_night_device_request_stop(struct tk_night_device *d); /* they begin to end */
void tk_night_device_close(struct tk_night_device *d);
/* How a problem is measured tonight, as configured. execute.c */
struct tk_job_request tk_night_job_request(const struct tk_night *n,
        const struct tk_series_row *series, const struct tk_problem_row *problem,
        const char *backend_path, const char *options);

int tk_night_put_machine(struct tk_night *n, struct tk_error *err);
void tk_night_free(struct tk_night *n);
/* An upstream and a revision of it into the history, with their ids in *p. resolve.c */
int tk_night_put_revision(struct tk_night *n, struct tk_likelihood_product *p,
        const struct tk_revision *r, struct tk_error *err);
/* Its artifacts, and the row of the build, good or bad. products.c */
int tk_night_build_upstream(
        struct tk_night *n, struct tk_likelihood_product *p, struct tk_error *err);

void tk_night_announce_stage(const struct tk_night *n, const char *stage, const char *detail);

#endif
