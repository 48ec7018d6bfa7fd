/* Stage "probe": which devices of this machine the configuration wants, and their environment.
 *
 * A device that was named and is not there is a warning, not the end of the night; jobs that a
 * resumed night had planned for it become `no_device`. */
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "nightly/night.h"
#include "nightly/plan/modules.h"
#include "worker/worker.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_MEMORY_BYTES \
	((double)((uint64_t)4 << 30)) /* of a device, for each process that stays */

static const char *text_of(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));
	return s ? s : "";
}

/* "all" takes every kind but the fake one; else "cuda", "cuda:1", a UUID, or "1" for a GPU. */
static bool means(const char *name, const char *kind, uint32_t index, const char *uuid)
{
	char numbered[48], number[16];
	snprintf(number, sizeof number, "%u", index);
	snprintf(numbered, sizeof numbered, "%s:%u", kind, index);
	if (strcmp(name, number) == 0)
		return strcmp(kind, "cpu") != 0 && strcmp(kind, "null") != 0;
	if (strcmp(name, "all") == 0)
		return strcmp(kind, "null") != 0;
	return strcmp(name, kind) == 0 || strcmp(name, numbered) == 0 ||
	       (*uuid && strcmp(name, uuid) == 0);
}

bool tk_device_is_selected(char *const *names, const char *kind, uint32_t index, const char *uuid)
{
	for (; *names; names++)
		if (means(*names, kind, index, uuid))
			return true;
	return false;
}

/* The command line's choice, else the configuration's. */
static char *const *devices_of(const struct tk_night *n)
{
	return n->options->devices ? n->options->devices : n->config->devices;
}

static void warn_of_absent(const struct tk_night *n)
{
	for (char *const *name = devices_of(n); *name; name++) {
		bool there = false;
		for (size_t i = 0; i < n->device_count && !there; i++) {
			const struct tk_night_device *d = &n->devices[i];
			there = means(*name, d->layer->name, d->index, text_of(d->info, "uuid"));
		}
		if (!there)
			tk_log(TK_LOG_WARN, "no_device", NULL,
			        "the device `%s` is not there: `tracker doctor` says why", *name);
	}
}

/* "cpu" where the kind has one device, "cuda-1" where it has several. */
static void device_slug(struct tk_night_device *d, bool several)
{
	if (several)
		snprintf(d->slug, sizeof d->slug, "%s-%u", d->layer->name, d->index);
	else
		snprintf(d->slug, sizeof d->slug, "%s", d->layer->name);
}

/* What a timing depends on beside the code. Values that move by themselves (load, temperature) are
 * telemetry, not environment. */
static int put_environment(struct tk_night *n, struct tk_night_device *d, struct tk_error *err)
{
	json_t *a = json_object();
	static const char *const keys[] = {
	        "driver", "arch", "compute_units", "cache_bytes", "memory_bytes", "attributes"};
	for (size_t i = 0; a && i < sizeof keys / sizeof *keys; i++) {
		json_t *v = json_object_get(d->info, keys[i]);
		if (v)
			json_object_set(a, keys[i], v);
	}
	char *text = a ? json_dumps(a, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
	json_decref(a);
	if (!text)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	struct tk_environment_row row = {.device_id = d->device_id, .attributes = text};
	int status = tk_store_put_environment(n->store, &row, &d->environment_id, err);
	free(text);
	return status;
}

/* The cores that a worker is bound to, "0,1,4": the first `threads` of those that we may use
 * ourselves; NULL: no binding. */
static char *cpu_list(const struct tk_measure_config *m)
{
	struct tk_buf list = TK_BUF_INIT;
	cpu_set_t allowed;
	uint32_t taken = 0;
	if (!m->pin || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
		return NULL;
	for (int cpu = 0; cpu < CPU_SETSIZE && (!m->threads || taken < m->threads); cpu++)
		if (CPU_ISSET(cpu, &allowed))
			tk_buf_add_printf(&list, "%s%d", taken++ ? "," : "", cpu);
	return tk_buf_detach(&list, NULL);
}

static int new_worker(struct tk_night *n, const struct tk_night_device *d,
        const struct tk_ab_worker_spec *half, struct tk_worker **out, struct tk_error *err)
{
	char name[64] = "worker.log";
	if (half)
		snprintf(name, sizeof name, "worker-%s.log", half->name);
	char *log = tk_path_join3(n->config->cache_dir, "logs", name);
	char *cpus = *d->cores ? strdup(d->cores) : cpu_list(&n->config->measure);
	struct tk_worker_spec spec = {
	        .program = n->options->program,
	        .device_kind = d->layer->name,
	        .device_layer = d->layer->path,
	        .device_index = d->index,
	        .device_uuid = d->info ? text_of(d->info, "uuid") : NULL,
	        .threads = n->config->measure.threads,
	        .cpu_list = cpus,
	        .memory_limit_bytes = n->config->budgets.job_memory_bytes,
	        .log_path = log,
	};
	if (half && half->token_fd > 0) {
		spec.token_fd = half->token_fd;
		spec.memory_limit_bytes /= 2;
	}
	int status = tk_worker_new(&spec, out, err);
	free(log);
	free(cpus);
	return status;
}

int tk_night_new_worker(struct tk_night *n, const struct tk_night_device *d, struct tk_worker **out,
        struct tk_error *err)
{
	return new_worker(n, d, NULL, out, err);
}

int tk_night_new_ab_worker(struct tk_night *n, const struct tk_night_device *d,
        const struct tk_ab_worker_spec *half, struct tk_worker **out, struct tk_error *err)
{
	return new_worker(n, d, half, out, err);
}

void tk_night_device_request_stop(struct tk_night_device *d)
{
	for (size_t i = 0; i < TK_NIGHT_WORKERS_MAX; i++)
		tk_worker_close_input(d->kept[i].worker);
	tk_worker_close_input(d->worker);
}

void tk_night_device_stop_workers(struct tk_night_device *d)
{
	for (size_t i = 0; i < TK_NIGHT_WORKERS_MAX; i++) {
		tk_worker_free(d->kept[i].worker);
		free(d->kept[i].backend);
		d->kept[i].worker = NULL;
		d->kept[i].backend = NULL;
	}
}

void tk_night_device_close(struct tk_night_device *d)
{
	tk_night_device_stop_workers(d);
	tk_worker_free(d->worker);
	json_decref(d->info);
}

/* A context takes about half a GiB of a GPU's memory: the more there is, the more of them stay. */
static size_t room(const struct tk_night_device *d)
{
	double bytes = json_number_value(json_object_get(d->info, "memory_bytes")),
	       fit = bytes / KEPT_MEMORY_BYTES;
	return fit < 2 ? 2 : fit > TK_NIGHT_WORKERS_MAX ? TK_NIGHT_WORKERS_MAX : (size_t)fit;
}

/* The process that has this backend; else a free place; else the one that was not asked for the
 * longest time. */
static size_t place_for(const struct tk_night_device *d, const char *backend)
{
	size_t oldest = 0;
	for (size_t i = 0; i < TK_NIGHT_WORKERS_MAX; i++)
		if (d->kept[i].backend && strcmp(d->kept[i].backend, backend) == 0)
			return i;
	for (size_t i = 0; i < room(d); i++) {
		if (!d->kept[i].backend)
			return i;
		if (d->kept[i].used < d->kept[oldest].used)
			oldest = i;
	}
	return oldest;
}

/* On a CPU, a second process with its threads and memory would disturb the first: it has one. */
int tk_night_get_worker(struct tk_night *n, struct tk_night_device *d, const char *backend,
        struct tk_worker **out, struct tk_error *err)
{
	size_t at = place_for(d, backend);
	int status = TK_OK;
	*out = d->worker;
	if (strcmp(d->layer->name, "cpu") == 0)
		return TK_OK;
	d->kept[at].used = ++d->asked;
	if (!d->kept[at].backend || strcmp(d->kept[at].backend, backend) != 0) {
		tk_worker_free(d->kept[at].worker);
		free(d->kept[at].backend);
		d->kept[at].worker = NULL;
		d->kept[at].backend = strdup(backend);
		status = d->kept[at].backend ? tk_night_new_worker(n, d, &d->kept[at].worker, err)
		                             : tk_fail(err, TK_ENOMEM, "out of memory");
	}
	if (status) {
		free(d->kept[at].backend);
		d->kept[at].backend = NULL;
	}
	*out = d->kept[at].worker;
	return status;
}

int tk_night_prestart_worker(struct tk_night *n, struct tk_night_device *d, const char *backend,
        const char *options, struct tk_error *err)
{
	struct tk_worker *w;
	const char *there = d->kept[place_for(d, backend)].backend;
	if (strcmp(d->layer->name, "cpu") == 0 || there)
		return TK_OK;
	int status = tk_night_get_worker(n, d, backend, &w, err);
	return status ? status
	              : tk_worker_start_open(w, backend, options, n->config->budgets.job_s, err);
}

int tk_night_device_await_workers(struct tk_night_device *d, struct tk_error *err)
{
	int status = TK_OK;
	for (size_t i = 0; status == TK_OK && i < TK_NIGHT_WORKERS_MAX; i++)
		if (d->kept[i].worker)
			status = tk_worker_wait_open(d->kept[i].worker, err);
	return status;
}

/* Checks of large results use all cores that they may: not those of the device next to theirs. */
static void share_cores(struct tk_night *n)
{
	size_t gpus = 0, turn = 0;
	cpu_set_t set;
	int cores[CPU_SETSIZE], count = 0;
	for (size_t i = 0; i < n->device_count; i++)
		gpus += strcmp(n->devices[i].layer->name, "cpu") != 0;
	if (gpus < 2 || sched_getaffinity(0, sizeof set, &set) != 0)
		return;
	for (int c = 0; c < CPU_SETSIZE; c++)
		if (CPU_ISSET(c, &set))
			cores[count++] = c;
	for (size_t i = 0; i < n->device_count && (size_t)count >= 2 * gpus; i++) {
		struct tk_night_device *d = &n->devices[i];
		size_t len = 0;
		if (strcmp(d->layer->name, "cpu") == 0)
			continue;
		for (size_t c = turn * (size_t)count / gpus;
		        c < (turn + 1) * (size_t)count / gpus && len < sizeof d->cores - 8; c++)
			len += (size_t)snprintf(d->cores + len, sizeof d->cores - len, "%s%d",
			        len ? "," : "", cores[c]);
		turn++;
	}
}

/* Opens one device, with a worker that is taken over; *more tells how many of its kind there are.
 */
static int probe_one(struct tk_night *n, const struct tk_module *layer, uint32_t index,
        struct tk_worker *worker, uint32_t *more, struct tk_error *err)
{
	struct tk_night_device d = {.layer = layer, .index = index, .worker = worker};
	struct tk_error why = {0};
	int status = tk_worker_query_device(d.worker, &d.info, &why);
	if (status == TK_ECANCELED || status == TK_ENOMEM) {
		tk_night_device_close(&d);
		return tk_fail(err, status, "%s", why.message);
	}
	if (status != TK_OK) {
		tk_log(TK_LOG_DEBUG, "no_device", NULL, "no %s device %u: %s", layer->name, index,
		        why.message);
		tk_night_device_close(&d);
		*more = 0;
		return TK_OK;
	}
	*more = (uint32_t)json_integer_value(json_object_get(d.info, "count"));
	if (!tk_device_is_selected(devices_of(n), layer->name, index, text_of(d.info, "uuid"))) {
		tk_night_device_close(&d);
		return TK_OK;
	}
	device_slug(&d, *more > 1);
	struct tk_device_row row = {.machine_id = n->machine_id,
	        .kind = layer->name,
	        .name = text_of(d.info, "name"),
	        .uuid = text_of(d.info, "uuid"),
	        .arch = text_of(d.info, "arch"),
	        .slug = d.slug};
	struct tk_night_device *grown = realloc(n->devices, (n->device_count + 1) * sizeof *grown);
	if (!grown) {
		tk_night_device_close(&d);
		return tk_fail(err, TK_ENOMEM, "out of memory");
	}
	n->devices = grown;
	n->devices[n->device_count++] = d;
	struct tk_night_device *kept = &n->devices[n->device_count - 1];
	if ((status = tk_store_put_device(n->store, &row, &kept->device_id, err)) != TK_OK)
		return status;
	return put_environment(n, kept, err);
}

static int probing_worker(struct tk_night *n, const struct tk_module *layer, uint32_t index,
        struct tk_worker **out, struct tk_error *err)
{
	struct tk_night_device d = {.layer = layer, .index = index};
	struct tk_error why = {0}; /* but for a request to stop, it is told once more when the
	                              device is asked for */
	int status = tk_night_new_worker(n, &d, out, err);
	if (status == TK_OK && tk_worker_start_open(*out, NULL, NULL, TK_WORKER_OPEN_TIMEOUT_S,
	                               &why) == TK_ECANCELED)
		status = tk_fail(err, TK_ECANCELED, "%s", why.message);
	return status;
}

/* The first device of a kind tells how many there are; the others are opened beside each other,
 * since a driver takes its time for each. */
static int probe_kind(struct tk_night *n, const struct tk_module *layer, struct tk_error *err)
{
	struct tk_worker *first = NULL, **others = NULL;
	uint32_t count = 1, same;
	int status = probing_worker(n, layer, 0, &first, err);
	if (status == TK_OK)
		status = probe_one(n, layer, 0, first, &count, err);
	else
		tk_worker_free(first);
	if (status || count < 2)
		return status;
	if (!(others = calloc(count, sizeof *others)))
		return tk_fail(err, TK_ENOMEM, "out of memory");
	for (uint32_t i = 1; status == TK_OK && i < count; i++)
		status = probing_worker(n, layer, i, &others[i], err);
	for (uint32_t i = 1; i < count; i++)
		if (status == TK_OK)
			status = probe_one(n, layer, i, others[i], &same, err);
		else
			tk_worker_free(others[i]);
	free(others);
	return status;
}

int tk_night_probe(struct tk_night *n, struct tk_error *err)
{
	char *logs = tk_path_join(n->config->cache_dir, "logs");
	int status = logs ? tk_dir_create(logs, err) : tk_fail(err, TK_ENOMEM, "out of memory");
	free(logs);
	for (size_t i = 0; status == TK_OK && i < n->modules->device_count; i++)
		status = probe_kind(n, &n->modules->devices[i], err);
	if (status == TK_OK)
		share_cores(n);
	if (status == TK_OK && n->device_count == 0)
		return tk_fail(err, TK_EUSAGE,
		        "none of the configured devices is there: `tracker doctor` says why");
	if (status == TK_OK)
		warn_of_absent(n);
	return status;
}
