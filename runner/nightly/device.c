/* The devices of a night and their workers: see night.h. */
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include "nightly/night.h"
#include "worker/worker.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Memory of a device for each worker that stays: a context takes about half a GiB, and the jobs
 * need the rest. */
#define MEMORY_PER_WORKER_BYTES ((double)((uint64_t)4 << 30))

size_t tk_night_find_device_index(const struct tk_night *n, int64_t device_id)
{
	size_t i = 0;
	while (i < n->device_count && n->devices[i].device_id != device_id)
		i++;
	return i;
}

struct tk_night_device *tk_night_find_device(struct tk_night *n, int64_t device_id)
{
	const size_t i = tk_night_find_device_index(n, device_id);
	return i < n->device_count ? &n->devices[i] : NULL;
}

bool tk_night_device_is_same_model(const struct tk_night_device *a, const struct tk_night_device *b)
{
	static const char *const keys[] = {"name", "arch"};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (!json_equal(
		            json_object_get(a->info, keys[i]), json_object_get(b->info, keys[i])))
			return false;
	return a->layer == b->layer;
}

/* A ceiling that was measured beside twice as many running processes as there are cores may be far
 * lower than what the device can do. */
static bool is_overloaded(const struct tk_night_device *d)
{
	double load;
	return tk_night_device_is_cpu(d) && getloadavg(&load, 1) == 1 &&
	       load > 2 * (double)sysconf(_SC_NPROCESSORS_ONLN);
}

int tk_night_load_limits(struct tk_night *n, struct tk_night_device *d, struct tk_error *err)
{
	const char *name = json_string_value(json_object_get(d->info, "name"));
	double cache_bytes = json_number_value(json_object_get(d->info, "cache_bytes"));
	struct tk_rows rows = {0};
	if (d->has_limits)
		return TK_OK;
	int status = n->store ? tk_store_list_ceilings(n->store, 0, &rows, err) : TK_OK;
	tk_limits_init(&d->limits, tk_device_kind_from_name(d->layer->name), name, cache_bytes);
	const bool overloaded = is_overloaded(d);
	for (size_t i = 0; !status && i < rows.count; i++) {
		const struct tk_ceiling_row *c = TK_ROWS_AT(&rows, struct tk_ceiling_row, i);
		bool is_of_this_night = c->night_id == n->night_id;
		if (c->device_id == d->device_id && c->source == TK_CEILING_MEASURED &&
		        !(is_of_this_night && overloaded))
			tk_limits_add_ceiling(&d->limits, c->name, c->unit, c->value);
	}
	tk_rows_free(&rows);
	d->has_limits = !status;
	return status;
}

/* ---- one worker ---- */

/* The cores that a worker is pinned to, "0,1,4": the first `threads` of those that this process may
 * use; NULL: not pinned. */
static char *list_cores(const struct tk_measure_config *m, uint32_t threads)
{
	struct tk_buf list = TK_BUF_INIT;
	cpu_set_t allowed;
	uint32_t count = 0;
	if (!m->pin || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
		return NULL;
	for (int cpu = 0; cpu < CPU_SETSIZE && (!threads || count < threads); cpu++)
		if (CPU_ISSET(cpu, &allowed))
			tk_buf_add_printf(&list, "%s%d", count++ ? "," : "", cpu);
	return tk_buf_detach(&list, NULL);
}

int tk_night_new_worker(struct tk_night *n, const struct tk_night_device *d,
        const struct tk_ab_worker_spec *ab, struct tk_worker **out, struct tk_error *err)
{
	char name[64] = "worker.log";
	uint32_t threads = ab && ab->threads ? ab->threads : n->config->measure.threads;
	if (ab && ab->name)
		snprintf(name, sizeof name, "worker-%s.log", ab->name);
	AUTO_TEXT log = tk_path_join3(n->config->cache_dir, "logs", name);
	AUTO_TEXT cores =
	        *d->cores ? tk_strdup(d->cores) : list_cores(&n->config->measure, threads);
	struct tk_worker_spec spec = {
	        .program = n->options->program,
	        .device_kind = d->layer->name,
	        .device_layer = d->layer->path,
	        .modules_dir = n->modules->dir,
	        .device_index = d->index,
	        .device_uuid = json_string_value(json_object_get(d->info, "uuid")),
	        .threads = threads,
	        .cpu_list = cores,
	        .memory_limit_bytes = n->config->budgets.job_memory_bytes,
	        .log_path = log,
	};
	if (ab)
		spec.trace_fd = ab->trace_fd;
	if (ab && ab->token_fd > 0) {
		spec.token_fd = ab->token_fd;
		spec.memory_limit_bytes /= 2;
	}
	return tk_worker_new(&spec, out, err);
}

/* ---- persistent workers ---- */

static size_t worker_limit(const struct tk_night_device *d)
{
	double bytes = json_number_value(json_object_get(d->info, "memory_bytes"));
	double fit = bytes / MEMORY_PER_WORKER_BYTES;
	return fit < 2 ? 2 : fit > TK_NIGHT_WORKERS_MAX ? TK_NIGHT_WORKERS_MAX : (size_t)fit;
}

static bool serves(const struct tk_backend_worker *w, const char *backend)
{
	return w->backend && strcmp(w->backend, backend) == 0;
}

/* The place of this backend, else a free one, else the one that was idle longest. */
static struct tk_backend_worker *find_place(struct tk_night_device *d, const char *backend)
{
	struct tk_backend_worker *oldest = &d->workers[0];
	size_t limit = worker_limit(d);
	for (size_t i = 0; i < TK_NIGHT_WORKERS_MAX; i++)
		if (serves(&d->workers[i], backend))
			return &d->workers[i];
	for (size_t i = 0; i < limit; i++) {
		if (!d->workers[i].backend)
			return &d->workers[i];
		if (d->workers[i].last_job < oldest->last_job)
			oldest = &d->workers[i];
	}
	return oldest;
}

static void end_worker(struct tk_backend_worker *w)
{
	tk_worker_free(w->worker);
	free(w->backend);
	w->worker = NULL;
	w->backend = NULL;
}

static int replace_worker(struct tk_night *n, const struct tk_night_device *d,
        struct tk_backend_worker *w, const char *backend, struct tk_error *err)
{
	end_worker(w);
	char *name = tk_strdup(backend);
	int status = tk_night_new_worker(n, d, NULL, &w->worker, err);
	if (status)
		free(name);
	else
		w->backend = name;
	return status;
}

int tk_night_get_worker(struct tk_night *n, struct tk_night_device *d, const char *backend,
        struct tk_worker **out, struct tk_error *err)
{
	if (tk_night_device_is_cpu(d)) {
		*out = d->worker;
		return TK_OK;
	}
	struct tk_backend_worker *w = find_place(d, backend);
	w->last_job = ++d->job_count;
	TRY(serves(w, backend) ? TK_OK : replace_worker(n, d, w, backend, err));
	*out = w->worker;
	return TK_OK;
}

int tk_night_prestart_worker(struct tk_night *n, struct tk_night_device *d, const char *backend,
        const char *options, struct tk_error *err)
{
	struct tk_worker *w;
	if (tk_night_device_is_cpu(d) || find_place(d, backend)->backend)
		return TK_OK;
	TRY(tk_night_get_worker(n, d, backend, &w, err));
	return tk_worker_start_open(w, backend, options, n->config->budgets.job_s, err);
}

int tk_night_device_await_workers(struct tk_night_device *d, struct tk_error *err)
{
	for (size_t i = 0; i < TK_NIGHT_WORKERS_MAX; i++)
		if (d->workers[i].worker)
			TRY(tk_worker_wait_open(d->workers[i].worker, err));
	return TK_OK;
}

void tk_night_device_stop_workers(struct tk_night_device *d)
{
	for (size_t i = 0; i < TK_NIGHT_WORKERS_MAX; i++)
		end_worker(&d->workers[i]);
}

void tk_night_device_request_stop(struct tk_night_device *d)
{
	for (size_t i = 0; i < TK_NIGHT_WORKERS_MAX; i++)
		tk_worker_close_input(d->workers[i].worker);
	tk_worker_close_input(d->worker);
}

void tk_night_device_close(struct tk_night_device *d)
{
	tk_night_device_stop_workers(d);
	tk_worker_free(d->worker);
	json_decref(d->info);
}

/* ---- selection ---- */

bool tk_device_name_matches(const char *name, const char *kind, uint32_t index, const char *uuid)
{
	const enum tk_device_kind known = tk_device_kind_from_name(kind);
	char kind_and_number[48], number[16];

	snprintf(number, sizeof number, "%u", index);
	snprintf(kind_and_number, sizeof kind_and_number, "%s:%u", kind, index);
	if (strcmp(name, number) == 0)
		return known != TK_DEVICE_CPU && known != TK_DEVICE_NULL;
	if (strcmp(name, "all") == 0)
		return known != TK_DEVICE_NULL;
	return strcmp(name, kind) == 0 || strcmp(name, kind_and_number) == 0 ||
	       (*uuid && strcmp(name, uuid) == 0);
}

bool tk_device_is_selected(char *const *names, const char *kind, uint32_t index, const char *uuid)
{
	for (; *names; names++)
		if (tk_device_name_matches(*names, kind, index, uuid))
			return true;
	return false;
}
