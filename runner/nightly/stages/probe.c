/* Stage "probe": finds the selected devices of this machine and stores them with their environment.
 *
 * A selected device that does not exist is a warning; jobs that an earlier part of the night had
 * planned for it get the outcome `no_device`. */
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/try.h"
#include "nightly/night.h"
#include "nightly/plan/modules.h"
#include "worker/worker.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static const char *get_text(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));
	return s ? s : "";
}

/* --devices, else the configuration. */
static char *const *selected_names(const struct tk_night *n)
{
	return n->options->devices ? n->options->devices : n->config->devices;
}

static bool is_present(const struct tk_night *n, const char *name)
{
	for (size_t i = 0; i < n->device_count; i++) {
		const struct tk_night_device *d = &n->devices[i];
		if (tk_device_name_matches(
		            name, d->layer->name, d->index, get_text(d->info, "uuid")))
			return true;
	}
	return false;
}

static void warn_about_absent_devices(const struct tk_night *n)
{
	for (char *const *name = selected_names(n); *name; name++)
		if (!is_present(n, *name))
			tk_log(TK_LOG_WARN, "no_device", NULL,
			        "no device matches \"%s\"; `tracker doctor` lists the devices",
			        *name);
}

void tk_night_device_set_slug(struct tk_night_device *d, bool has_siblings)
{
	if (has_siblings)
		snprintf(d->slug, sizeof d->slug, "%s-%u", d->layer->name, d->index);
	else
		snprintf(d->slug, sizeof d->slug, "%s", d->layer->name);
}

/* What a timing depends on besides the code. Values that vary by themselves (load, temperature) are
 * telemetry, not environment. */
static int put_environment(struct tk_night *n, struct tk_night_device *d, struct tk_error *err)
{
	static const char *const keys[] = {
	        "driver", "arch", "compute_units", "cache_bytes", "memory_bytes", "attributes"};
	json_t *attributes = json_object();
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		json_t *v = json_object_get(d->info, keys[i]);
		if (v)
			json_object_set(attributes, keys[i], v);
	}
	AUTO_TEXT text = tk_check_memory(json_dumps(attributes, JSON_SORT_KEYS | JSON_COMPACT));
	json_decref(attributes);
	struct tk_environment_row row = {.device_id = d->device_id, .attributes = text};
	return tk_store_put(n->store, TK_TABLE_environment, &row, &d->environment_id, err);
}

/* ---- cores ---- */

static size_t count_gpus(const struct tk_night *n)
{
	size_t count = 0;
	for (size_t i = 0; i < n->device_count; i++)
		count += !tk_night_device_is_cpu(&n->devices[i]);
	return count;
}

static void pin_to(struct tk_night_device *d, const int *cores, size_t count)
{
	size_t len = 0;
	for (size_t i = 0; i < count && len < sizeof d->cores - 8; i++)
		len += (size_t)snprintf(
		        d->cores + len, sizeof d->cores - len, "%s%d", len ? "," : "", cores[i]);
}

/* Several GPUs share the cores: checking a large result uses all cores that a worker may use, which
 * must not be those of another device that is measuring. */
static void share_cores(struct tk_night *n)
{
	cpu_set_t allowed;
	int cores[CPU_SETSIZE];
	size_t gpus = count_gpus(n), count = 0, gpu = 0;
	if (gpus < 2 || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
		return;
	for (int c = 0; c < CPU_SETSIZE; c++)
		if (CPU_ISSET(c, &allowed))
			cores[count++] = c;
	if (count < 2 * gpus)
		return;
	for (size_t i = 0; i < n->device_count; i++) {
		if (tk_night_device_is_cpu(&n->devices[i]))
			continue;
		size_t first = gpu * count / gpus, end = ++gpu * count / gpus;
		pin_to(&n->devices[i], &cores[first], end - first);
	}
}

/* ---- devices ---- */

int tk_night_put_device(struct tk_night *n, struct tk_night_device *d, struct tk_error *err)
{
	struct tk_device_row row = {.machine_id = n->machine_id,
	        .kind = d->layer->name,
	        .name = get_text(d->info, "name"),
	        .uuid = get_text(d->info, "uuid"),
	        .arch = get_text(d->info, "arch"),
	        .slug = d->slug};
	TRY(tk_store_put(n->store, TK_TABLE_device, &row, &d->device_id, err));
	return put_environment(n, d, err);
}

/* Takes the worker over. A device that cannot be opened is left out; *count is the number of
 * devices of its kind, 0 where that is not known. */
static int probe_device(struct tk_night *n, const struct tk_module *layer, uint32_t index,
        struct tk_worker *worker, uint32_t *count, struct tk_error *err)
{
	struct tk_night_device d = {.layer = layer, .index = index, .worker = worker};
	struct tk_error reason = {0};
	int status = tk_worker_query_device(worker, &d.info, &reason);
	*count = (uint32_t)json_integer_value(json_object_get(d.info, "count"));
	if (status || !tk_device_is_selected(
	                      selected_names(n), layer->name, index, get_text(d.info, "uuid"))) {
		tk_night_device_close(&d);
		if (status == TK_ECANCELED)
			return tk_fail(err, status, "%s", reason.message);
		if (status)
			tk_log(TK_LOG_DEBUG, "no_device", NULL, "no %s device %u: %s", layer->name,
			        index, reason.message);
		return TK_OK;
	}
	tk_night_device_set_slug(&d, *count > 1);
	n->devices = tk_reallocarray(n->devices, n->device_count + 1, sizeof *n->devices);
	n->devices[n->device_count++] = d;
	return n->store ? tk_night_put_device(n, &n->devices[n->device_count - 1], err) : TK_OK;
}

/* Starts opening a device. Errors other than a request to stop are ignored: they recur when the
 * device is probed. */
static int start_probe(struct tk_night *n, const struct tk_module *layer, uint32_t index,
        struct tk_worker **out, struct tk_error *err)
{
	struct tk_night_device d = {.layer = layer, .index = index};
	struct tk_error reason = {0};
	TRY(tk_night_new_worker(n, &d, NULL, out, err));
	if (tk_worker_start_open(*out, NULL, NULL, TK_WORKER_OPEN_TIMEOUT_S, &reason) ==
	        TK_ECANCELED)
		return tk_fail(err, TK_ECANCELED, "%s", reason.message);
	return TK_OK;
}

/* All but the first are opened in parallel, because a driver takes its time for each. */
static int probe_others(
        struct tk_night *n, const struct tk_module *layer, uint32_t count, struct tk_error *err)
{
	struct tk_worker **workers = tk_calloc(count, sizeof *workers);
	uint32_t ignored;
	int status = TK_OK;
	for (uint32_t i = 1; !status && i < count; i++)
		status = start_probe(n, layer, i, &workers[i], err);
	for (uint32_t i = 1; i < count; i++)
		if (!status)
			status = probe_device(n, layer, i, workers[i], &ignored, err);
		else
			tk_worker_free(workers[i]);
	free(workers);
	return status;
}

/* The first device of a kind reports how many there are. */
static int probe_kind(struct tk_night *n, const struct tk_module *layer, struct tk_error *err)
{
	struct tk_worker *first = NULL;
	uint32_t count = 0;
	int status = start_probe(n, layer, 0, &first, err);
	if (status) {
		tk_worker_free(first);
		return status;
	}
	status = probe_device(n, layer, 0, first, &count, err);
	return status || count < 2 ? status : probe_others(n, layer, count, err);
}

int tk_night_probe(struct tk_night *n, struct tk_error *err)
{
	AUTO_TEXT logs = tk_path_join(n->config->cache_dir, "logs");
	TRY(tk_dir_create(logs, err));
	for (size_t i = 0; i < n->modules->device_count; i++)
		TRY(probe_kind(n, &n->modules->devices[i], err));
	if (n->device_count == 0)
		return tk_fail(err, TK_EUSAGE,
		        "none of the configured devices exists; `tracker doctor` lists the "
		        "devices");
	share_cores(n);
	warn_about_absent_devices(n);
	return TK_OK;
}
