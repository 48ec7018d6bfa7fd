/* A device of this machine that the night measures on, and the worker processes that serve it.
 */
#ifndef TK_NIGHTLY_DEVICE_H
#define TK_NIGHTLY_DEVICE_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/limits.h"
#include "core/series.h"
#include "nightly/plan/modules.h"

struct tk_error;
struct tk_night;
struct tk_worker;

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

/* A CPU has one worker, and nothing else may run while it measures. */
static inline bool tk_night_device_is_cpu(const struct tk_night_device *d)
{
	return tk_device_kind_from_name(d->layer->name) == TK_DEVICE_CPU;
}
/* By its id in the history. NULL: the night does not measure it. */
struct tk_night_device *tk_night_find_device(struct tk_night *n, int64_t device_id);
/* Its index in n->devices; their number where the night does not measure it. */
size_t tk_night_find_device_index(const struct tk_night *n, int64_t device_id);
/* Whether they can do each other's jobs: same kind, name and architecture. */
bool tk_night_device_is_same_model(
        const struct tk_night_device *a, const struct tk_night_device *b);

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
 * device has none. */
bool tk_device_name_matches(const char *name, const char *kind, uint32_t index, const char *uuid);
/* names: NULL-terminated. */
bool tk_device_is_selected(char *const *names, const char *kind, uint32_t index, const char *uuid);

#endif
