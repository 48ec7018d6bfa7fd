/* The devices of a night and their workers: see night.h. */
#include "base/base.h"
#include "nightly/night.h"
#include "nightly/plan/modules.h"
#include "worker/worker.h"
#include <sched.h>
#include <unistd.h>

/* Memory of a device for each worker that stays: a context takes about half a GiB, and the jobs
 * need the rest. */
#define MEMORY_PER_WORKER_BYTES ((double)((uint64_t)4 << 30))

static const char *get_text(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));
	return s ? s : "";
}

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

size_t tk_night_find_model(const struct tk_night *n, size_t device)
{
	const struct tk_night_device *d = &n->devices[device];
	size_t first = 0;
	for (; first < device; first++) {
		const struct tk_night_device *o = &n->devices[first];
		if (o->layer == d->layer &&
		        strcmp(get_text(o->info, "name"), get_text(d->info, "name")) == 0 &&
		        strcmp(get_text(o->info, "arch"), get_text(d->info, "arch")) == 0)
			break;
	}
	return first;
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
	AUTO(tk_rows) rows = {0};
	if (d->has_limits)
		return TK_OK;
	if (n->store)
		TRY(tk_store_list_ceilings(n->store, 0, &rows, err));
	tk_limits_init(&d->limits, tk_device_kind_from_name(d->layer->name), d->info);
	const bool overloaded = is_overloaded(d);
	for (size_t i = 0; i < rows.count; i++) {
		const struct tk_ceiling_row *c = TK_ROWS_AT(&rows, struct tk_ceiling_row, i);
		bool is_of_this_night = c->night_id == n->night_id;
		if (c->device_id == d->device_id && c->source == TK_CEILING_MEASURED &&
		        !(is_of_this_night && overloaded))
			tk_limits_add_ceiling(&d->limits, c->name, c->unit, c->value);
	}
	d->has_limits = true;
	return TK_OK;
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

int tk_night_get_worker(struct tk_night *n, struct tk_night_device *d, const char *backend,
        struct tk_worker **out, struct tk_error *err)
{
	if (tk_night_device_is_cpu(d)) {
		*out = d->worker;
		return TK_OK;
	}
	struct tk_backend_worker *w = find_place(d, backend);
	w->last_job = ++d->job_count;
	if (!serves(w, backend)) {
		end_worker(w);
		TRY(tk_night_new_worker(n, d, NULL, &w->worker, err));
		w->backend = tk_strdup(backend);
	}
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

static bool name_matches(const char *name, const char *kind, uint32_t index, const char *uuid)
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
		if (name_matches(*names, kind, index, uuid))
			return true;
	return false;
}

static bool is_device_name(const char *name)
{
	char kind[48];
	const size_t len = strcspn(name, ":");
	snprintf(kind, sizeof kind, "%.*s", (int)len, name);
	return strcmp(name, "all") == 0 || strspn(name, "0123456789") == strlen(name) ||
	       strchr(name, '-') || /* a UUID */
	       (tk_device_kind_from_name(kind) != TK_DEVICE_OTHER &&
	               (!name[len] ||
	                       (name[len + 1] &&
	                               !name[len + 1 + strspn(name + len + 1, "0123456789")])));
}

int tk_device_check_names(char *const *names, struct tk_error *err)
{
	for (; *names; names++)
		if (!is_device_name(*names))
			return tk_fail(err, TK_EUSAGE,
			        "\"%s\" is not a device; expected all, a kind (cpu, cuda, hip), "
			        "one of "
			        "a kind (cuda:0), a number or a UUID; `tracker doctor` lists the "
			        "devices",
			        *names);
	return TK_OK;
}

/* ---- stage "probe" ---- */

/* Finds the selected devices of this machine and stores them with their environment.
 *
 * A selected device that does not exist is a warning; jobs that an earlier part of the night had
 * planned for it get the outcome `no_device`. */

/* --devices, else the configuration. */
static char *const *selected_names(const struct tk_night *n)
{
	return n->options->devices ? n->options->devices : n->config->devices;
}

static void warn_about_absent_devices(const struct tk_night *n)
{
	for (char *const *name = selected_names(n); *name; name++) {
		bool found = false;
		for (size_t i = 0; !found && i < n->device_count; i++) {
			const struct tk_night_device *d = &n->devices[i];
			found = name_matches(
			        *name, d->layer->name, d->index, get_text(d->info, "uuid"));
		}
		if (!found)
			tk_log(TK_LOG_WARN, "no_device", NULL,
			        "no device matches \"%s\"; `tracker doctor` lists the devices",
			        *name);
	}
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
	json_auto_t *attributes = json_object();
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		json_object_set(attributes, keys[i], json_object_get(d->info, keys[i]));
	AUTO_TEXT text = tk_check_memory(json_dumps(attributes, JSON_SORT_KEYS | JSON_COMPACT));
	struct tk_environment_row row = {.device_id = d->device_id, .attributes = text};
	return tk_store_put(n->store, TK_TABLE_environment, &row, &d->environment_id, err);
}

/* ---- cores ---- */

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
	size_t gpus = 0, count = 0, gpu = 0;
	for (size_t i = 0; i < n->device_count; i++)
		gpus += !tk_night_device_is_cpu(&n->devices[i]);
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
	if (n->device_count) /* done before the night was stored */
		return TK_OK;
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
