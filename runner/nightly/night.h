/* The state of one night, shared by its stages. Private to nightly/. */
#ifndef TK_NIGHT_H
#define TK_NIGHT_H
#include "base/base.h"
#include "build/build.h"
#include "config/config.h"
#include "core/limits.h"
#include "core/vocabulary.h"
#include "nightly/nightly.h"
#include "nightly/plan/modules.h"
#include "store/store.h"
#include "upstream/repo.h"

struct tk_lock;
struct tk_worker;
struct tk_job_request;
struct tk_sequence_entry;
struct tk_text_entry;

#define TK_NIGHT_WORKERS_MAX 16

/* The worker process of one backend. It is kept for all jobs, because a context and a library take
 * longer to start than a job takes. */
struct tk_backend_worker {
	char *backend; /* path; NULL: the place is free */
	struct tk_worker *worker;
	uint64_t last_job; /* number of the device's job that used it last */
};

struct tk_night_device {
	const struct tk_module *layer;
	uint32_t index;
	json_t *info; /* as the device layer describes it */
	char slug[64];
	char cores[1024]; /* that its workers are pinned to, "0,1,4"; "": as configured */
	int64_t device_id, environment_id;
	struct tk_worker *worker; /* with the device alone; on a CPU, also for its jobs */
	struct tk_backend_worker workers[TK_NIGHT_WORKERS_MAX];
	uint64_t job_count; /* so far */
	bool lost;          /* it was present when the night began */
	struct tk_limits limits;
	bool has_limits; /* `limits` has all ceilings that are stored */
};

#define TK_NIGHT_ARTIFACTS_MAX 8

/* One upstream on its way from a branch to backends that can be measured. */
struct tk_night_upstream {
	const struct tk_upstream_config *config;
	int64_t upstream_id, revision_id, build_id;
	char rev[128];
	enum tk_resolution_status status;
	char message[512];
	struct tk_artifact *artifacts[TK_NIGHT_ARTIFACTS_MAX]; /* builtin has one for each module */
	size_t artifact_count;
	bool failed; /* the build failed: there is nothing to measure */
};

struct tk_night {
	const struct tk_config *config;
	struct tk_store *store;
	const struct tk_night_options *options;
	struct tk_night_report *report;
	struct tk_modules *modules;
	struct tk_sequence_entry *sequences; /* of its modes, once they are needed */
	struct tk_text_entry *texts;         /* of its problems, once they are needed */
	int64_t night_id, machine_id, as_of_s, started_s, started_mono_ns;
	uint64_t seed;
	json_t *request;        /* the options that decide its jobs: night_start.c */
	char **request_devices; /* a list of strings in `request` */
	struct tk_night_device *devices;
	size_t device_count;
	struct tk_night_upstream *upstreams;
	size_t upstream_count;
};

/* Starts a new row of the history, or with --resume the newest night that was stopped: sets the
 * ids, times, seed and request of *n; with --resume also *options, which n->options points to.
 * TK_ENOTFOUND: no night can be resumed; TK_EUSAGE: an option differs from the stopped night's. */
int tk_night_start(struct tk_night *n, struct tk_night_options *options, struct tk_error *err);

/* The stages. Each stores its result. An error ends the night; a failed build or job is a row. */
int tk_night_probe(struct tk_night *n, struct tk_error *err);
int tk_night_resolve(struct tk_night *n, struct tk_error *err);
int tk_night_build(struct tk_night *n, struct tk_error *err);
int tk_night_plan(struct tk_night *n, struct tk_error *err);
int tk_night_measure(struct tk_night *n, struct tk_error *err);
int tk_night_confirm(struct tk_night *n, struct tk_error *err);
int tk_night_detect(struct tk_night *n, struct tk_error *err);
int tk_night_bisect(struct tk_night *n, struct tk_error *err);
int tk_night_trace(struct tk_night *n, struct tk_error *err);
int tk_night_tune(struct tk_night *n, struct tk_error *err);

/* Writes the verdicts and alerts of a night, with all A/B pairs so far, after a command that has
 * stored its own result: an error adds that the result is kept. The caller frees *report. */
int tk_night_rerun_detection(
        struct tk_night *n, int64_t night_id, struct tk_diff_report *report, struct tk_error *err);

/* How a problem is measured in this night, as configured. */
struct tk_job_request tk_night_job_request(struct tk_night *n, const struct tk_series_row *series,
        const struct tk_problem_row *problem, const char *backend_path, const char *options);

int tk_night_put_machine(struct tk_night *n, struct tk_error *err);
/* Stores a probed device of that machine with its environment; their ids are in *d. */
int tk_night_put_device(struct tk_night *n, struct tk_night_device *d, struct tk_error *err);
/* Stores an upstream and its revision; their ids are in *u. */
int tk_night_put_revision(struct tk_night *n, struct tk_night_upstream *u,
        const struct tk_revision *r, struct tk_error *err);
/* Builds the revision u->rev, or takes it from the cache, and stores the build, also a failed
 * one. */
int tk_night_build_upstream(struct tk_night *n, struct tk_night_upstream *u, struct tk_error *err);

/* Since the night began. */
double tk_night_elapsed_s(const struct tk_night *n);
/* What a stage may take of its budget: no more than is left of the night's. */
double tk_night_find_share_s(const struct tk_night *n, double budget_s);
/* Whether a failure within a stage ends it. Others cost what failed: a build, a comparison. */
bool tk_night_is_fatal(int status);
/* Shows what the night is doing; detail may be NULL. */
void tk_night_announce_stage(const struct tk_night *n, const char *stage, const char *detail);
void tk_night_free(struct tk_night *n);

/* ---- devices (device.c) ---- */

/* A CPU has one worker, and nothing else may run while it measures. */
static inline bool tk_night_device_is_cpu(const struct tk_night_device *d)
{
	return tk_device_kind_from_name(d->layer->name) == TK_DEVICE_CPU;
}
/* By its id in the history. NULL: the night does not measure it. */
struct tk_night_device *tk_night_find_device(struct tk_night *n, int64_t device_id);
/* Its index in n->devices; their number where the night does not measure it. */
size_t tk_night_find_device_index(const struct tk_night *n, int64_t device_id);
/* The number of its model: the index of the first device of the same kind, name and architecture.
 * They can do each other's jobs. */
size_t tk_night_find_model(const struct tk_night *n, size_t device);

/* "cpu" if the kind has one device, "cuda-1" if it has several. */
void tk_night_device_set_slug(struct tk_night_device *d, bool has_siblings);

/* Brings `limits` up to date: the data sheet and the newest measured ceilings of the device. */
int tk_night_load_limits(struct tk_night *n, struct tk_night_device *d, struct tk_error *err);

/* The worker for a backend on a device, owned by the device. It may replace the one that was idle
 * longest. */
int tk_night_get_worker(struct tk_night *n, struct tk_night_device *d, const char *backend,
        struct tk_worker **out, struct tk_error *err);
/* Starts that worker before its first job, unless all places are taken. Does not wait for it. */
int tk_night_prestart_worker(struct tk_night *n, struct tk_night_device *d, const char *backend,
        const char *options, struct tk_error *err);
/* Waits until all prestarted workers are ready. */
int tk_night_device_await_workers(struct tk_night_device *d, struct tk_error *err);

/* What the worker of an A/B test, a race or a trace has of its own. */
struct tk_ab_worker_spec {
	const char
	        *name; /* of its log file, if it is one of two that run at the same time; or NULL */
	uint32_t threads; /* 0: as configured */
	/* as in struct tk_worker_spec; each worker may use half of the memory; 0: none */
	int token_fd;
	int trace_fd; /* as there; 0: none */
};
/* A worker without a process yet; the caller frees it. ab NULL: as configured. */
int tk_night_new_worker(struct tk_night *n, const struct tk_night_device *d,
        const struct tk_ab_worker_spec *ab, struct tk_worker **out, struct tk_error *err);

/* Ends the workers of all backends. */
void tk_night_device_stop_workers(struct tk_night_device *d);
/* Tells all workers to end, without waiting: call for each device before closing any. */
void tk_night_device_request_stop(struct tk_night_device *d);
void tk_night_device_close(struct tk_night_device *d);

/* What `devices` in tracker.yml and --devices select: "all" (every kind but the simulated one), a
 * kind ("cuda"), one device of a kind ("cuda:1"), a GPU by number ("1"), or a UUID, "" where the
 * device has none. names: NULL-terminated. */
bool tk_device_is_selected(char *const *names, const char *kind, uint32_t index, const char *uuid);

/* TK_EUSAGE: one of the names can be none. */
int tk_device_check_names(char *const *names, struct tk_error *err);

/* ---- commands outside of a night (night_start.c) ---- */

/* A command that measures (bisect, confirm): the lock of the history, modules and devices. */
struct tk_session {
	struct tk_night night; /* night_id is 0 */
	struct tk_night_options options;
	struct tk_night_report report;
	struct tk_lock *lock;
};

/* program and observer are taken from `options`. TK_EBUSY: a night is running. Close in any
 * case. */
int tk_session_open(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, struct tk_session *s, struct tk_error *err);
/* Without a history: nothing is stored. A night that is running in the history at db_path still
 * excludes it; the file need not exist. devices are taken from `options` too. */
int tk_session_open_unstored(const struct tk_config *config, const char *db_path,
        const struct tk_night_options *options, struct tk_session *s, struct tk_error *err);
void tk_session_close(struct tk_session *s);

#endif
