/* Devices and backends, as a worker sees them. */
#include "cli/host/doctor.h"

#include "base/error.h"
#include "cli/host/survey.h"

#include "worker/worker.h"

#include <string.h>

#define DEVICES_MAX 64

static int open_worker(const struct tk_doctor *d, const struct tk_module *layer, uint32_t index,
        struct tk_worker **w, struct tk_error *err)
{
	struct tk_worker_spec spec = {.program = d->globals->program,
	        .device_kind = layer->name,
	        .device_layer = layer->path,
	        .modules_dir = d->modules->dir,
	        .device_index = index};

	return tk_worker_new(&spec, w, err);
}

/* Adds one device of a layer, also if it is missing. Returns how many the layer has; 0: unknown. */
static json_int_t add_device(struct tk_doctor *d, const struct tk_module *layer, uint32_t index)
{
	struct tk_error err = {0};
	struct tk_worker *w = NULL;
	json_t *device = NULL;
	int status = open_worker(d, layer, index, &w, &err);

	if (!status)
		status = tk_worker_query_device(w, &device, &err);
	tk_worker_free(w);
	if (status)
		device = json_pack("{s:o}", "reason", tk_doctor_text(err.message));
	json_object_set_new(device, "available", json_boolean(!status));
	json_object_set_new(device, "layer", tk_doctor_text(layer->name));
	json_object_set_new(device, "index", json_integer(index));
	json_array_append_new(json_object_get(d->report, "devices"), device);
	return json_integer_value(json_object_get(device, "count"));
}

static void add_devices(struct tk_doctor *d)
{
	for (size_t i = 0; d->modules && i < d->modules->device_count; i++) {
		json_int_t count = 1;

		for (uint32_t index = 0; index < count && index < DEVICES_MAX; index++) {
			json_int_t found = add_device(d, &d->modules->devices[i], index);

			count = found > count ? found : count;
		}
	}
}

const json_t *tk_doctor_find_device(const struct tk_doctor *d, const char *kind)
{
	size_t i;
	json_t *device;

	json_array_foreach (json_object_get(d->report, "devices"), i, device) {
		const char *layer = json_string_value(json_object_get(device, "layer"));

		if (layer && strcmp(layer, kind) == 0)
			return device;
	}
	return NULL;
}

bool tk_doctor_is_available(const json_t *entry)
{
	return json_is_true(json_object_get(entry, "available"));
}

/* A worker of any device can load a backend; the answer says which device it needs. */
static int query_backend(
        struct tk_doctor *d, const struct tk_module *m, json_t **answer, struct tk_error *err)
{
	const struct tk_module *layer = tk_modules_find_device(d->modules, "cpu");
	struct tk_worker *w = NULL;
	int status;

	if (!layer && d->modules->device_count)
		layer = &d->modules->devices[0];
	if (!layer)
		return tk_fail(err, TK_ENOTFOUND, "no device layer can load it");
	status = open_worker(d, layer, 0, &w, err);
	if (!status)
		status = tk_worker_query_backend(w, m->path, answer, err);
	tk_worker_free(w);
	return status;
}

static void add_backend(struct tk_doctor *d, const struct tk_module *m)
{
	struct tk_error err = {0};
	json_t *answer = NULL;
	const char *kind;
	const json_t *device;

	if (query_backend(d, m, &answer, &err)) {
		answer = json_pack(
		        "{s:o, s:b}", "reason", tk_doctor_text(err.message), "available", false);
	} else {
		kind = json_string_value(json_object_get(answer, "device_kind"));
		device = kind ? tk_doctor_find_device(d, kind) : NULL;
		json_object_set_new(
		        answer, "available", json_boolean(tk_doctor_is_available(device)));
		if (!device)
			json_object_set_new(answer, "reason",
			        json_sprintf("no device layer \"%s\"", kind ? kind : "?"));
		else if (!tk_doctor_is_available(device))
			json_object_set_new(answer, "reason", json_sprintf("no %s device", kind));
	}
	json_object_set_new(answer, "module", tk_doctor_text(m->name));
	json_object_set_new(answer, "path", tk_doctor_text(m->path));
	json_array_append_new(json_object_get(d->report, "backends"), answer);
}

/* A kind of GPU without modules: something is missing where such a GPU is here, else it is a
 * note. */
static void explain_missing_modules(struct tk_doctor *d)
{
	static const char *const kinds[] = {"cuda", "hip"};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct tk_buf why = TK_BUF_INIT;

		if (tk_modules_find_device(d->modules, kinds[i]))
			continue;
		tk_gpu_explain_missing(d->modules, kinds[i], &why);
		tk_doctor_add_line(d, tk_gpu_is_present(kinds[i]) ? "missing" : "notes", "%s",
		        tk_buf_cstr(&why));
		tk_buf_free(&why);
	}
}

static void note_hip(struct tk_doctor *d)
{
	if (tk_modules_find_device(d->modules, "hip"))
		tk_doctor_add_line(d, "notes",
		        "hip: these modules were compiled and linked, but no AMD GPU has run them "
		        "yet: look at the first figures as docs/explanation/kernels-hip.md says");
}

void tk_doctor_probe(struct tk_doctor *d)
{
	add_devices(d);
	for (size_t i = 0; i < d->modules->backend_count; i++)
		add_backend(d, &d->modules->backends[i]);
	explain_missing_modules(d);
	note_hip(d);
}
