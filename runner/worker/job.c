/* The requests of a worker process: what is this device, what is this backend, measure this. */
#include "worker/job.h"
#include "base/device_token.h"
#include "base/error.h"
#include "measure/measure.h"
#include "worker/loader.h"
#include "worker/wire.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sample lasts at least this long: ten thousand times what reading the clock of a processor is
 * uncertain by. */
#define MIN_SAMPLE_NS 100e3
#define SETS_MOST 4096
/* Warm-up is over at the latest after this share of the measuring time, and this many seconds at
 * least are allowed. */
#define WARMUP_SHARE 0.25
#define WARMUP_LEAST_S 0.2
#define BATON_WAIT_S 30

static const char *text_of(const json_t *request, const char *name)
{
	return json_string_value(json_object_get(request, name));
}

static int need_text(
        const json_t *request, const char *name, const char **out, struct tk_error *err)
{
	*out = text_of(request, name);
	return *out ? TK_OK : tk_fail(err, TK_EDATA, "the request has no `%s`", name);
}

/* A status of the contract as an error, with the outcome it stands for. */
static int abi_failed(int status, struct tk_abi_error *abi, const char *what,
        enum tk_outcome *outcome, struct tk_error *err)
{
	abi->message[sizeof abi->message - 1] = 0;
	*outcome = status == TK_ABI_UNSUPPORTED ? TK_OUTCOME_UNSUPPORTED
	           : status == TK_ABI_NO_MEMORY ? TK_OUTCOME_OUT_OF_MEMORY
	                                        : TK_OUTCOME_FAILED;
	return tk_fail(err, status == TK_ABI_NO_MEMORY ? TK_ENOMEM : TK_EIO, "%s: %s", what,
	        abi->message[0] ? abi->message : "no reason was given");
}

/* The device at an index, opened and asked what it is. */
static int try_device(
        struct tk_worker_state *s, uint32_t index, enum tk_outcome *outcome, struct tk_error *err)
{
	struct tk_abi_error abi = {.size = sizeof abi};
	struct tk_device *device = NULL;
	int status = s->ops.open(index, &device, &abi);
	if (status != TK_ABI_OK)
		return abi_failed(status, &abi, "opening the device", outcome, err);
	s->info = (struct tk_device_info){.size = sizeof s->info};
	if ((status = s->ops.info(device, &s->info, &abi)) != TK_ABI_OK) {
		s->ops.close(device);
		return abi_failed(status, &abi, "asking for the device", outcome, err);
	}
	s->device = device;
	return TK_OK;
}

/* A device that fell off the bus moves the indices of those behind it: the one with the right UUID
 * is looked for, that index first. */
static int find_device(struct tk_worker_state *s, uint32_t index, const char *uuid,
        enum tk_outcome *outcome, struct tk_error *err)
{
	if (!uuid) {
		return try_device(s, index, outcome, err);
	}
	for (uint32_t i = 0; i < s->device_count; i++) {
		struct tk_error why = {0};
		uint32_t candidate = i == 0 ? index : i <= index ? i - 1 : i;
		if (candidate >= s->device_count || try_device(s, candidate, outcome, &why))
			continue;
		if (strcmp(s->info.uuid, uuid) == 0)
			return TK_OK;
		s->ops.close(s->device);
		s->device = NULL;
	}
	*outcome = TK_OUTCOME_NO_DEVICE;
	return tk_fail(err, TK_ENOTFOUND,
	        "the device %s is not there any more: %u of kind %s found", uuid, s->device_count,
	        s->ops.kind);
}

static int open_device(struct tk_worker_state *s, const json_t *request, enum tk_outcome *outcome,
        struct tk_error *err)
{
	struct tk_abi_error abi = {.size = sizeof abi};
	const char *layer;
	uint32_t n = 0,
	         index = (uint32_t)json_integer_value(json_object_get(request, "device_index"));
	int status = need_text(request, "device_layer", &layer, err);
	if (status)
		return status;
	if (s->device)
		return strcmp(layer, s->device_layer) == 0
		               ? TK_OK
		               : tk_fail(err, TK_EDATA,
		                         "this worker has opened %s and cannot open a second "
		                         "device layer",
		                         s->device_layer);
	*outcome = TK_OUTCOME_NO_DEVICE;
	if ((status = tk_loader_load_device(layer, &s->ops, err)))
		return status;
	if ((status = s->ops.count(&n, &abi)) != TK_ABI_OK) {
		status = abi_failed(status, &abi, "counting devices", outcome, err);
		*outcome = TK_OUTCOME_NO_DEVICE;
		return status;
	}
	s->device_count = n;
	const char *uuid = text_of(request, "device_uuid");
	if (!uuid && index >= n)
		return tk_fail(err, TK_ENOTFOUND, "there is no device %u of kind %s: %u found",
		        index, s->ops.kind, n);
	if ((status = find_device(s, index, uuid, outcome, err)))
		return status;
	s->device_layer = strdup(layer);
	return s->device_layer ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory");
}

/* One backend a process: two builds of one library would share their symbols, and the second would
 * measure the first.
 */
static int load_backend(struct tk_worker_state *s, const json_t *request, struct tk_error *err)
{
	const char *path;
	int status = need_text(request, "backend", &path, err);
	if (status)
		return status;
	if (s->backend_path)
		return strcmp(path, s->backend_path) == 0
		               ? TK_OK
		               : tk_fail(err, TK_EDATA,
		                         "this worker has loaded %s and must not load a second "
		                         "backend",
		                         s->backend_path);
	if ((status = tk_loader_load_backend(path, &s->backend, err)))
		return status;
	s->backend_path = strdup(path);
	return s->backend_path ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory");
}

static void close_backend(struct tk_worker_state *s)
{
	if (s->ctx)
		s->backend.close(s->ctx);
	s->ctx = NULL;
	free(s->backend_options);
	s->backend_options = NULL;
}

static int open_backend(struct tk_worker_state *s, const json_t *request, enum tk_outcome *outcome,
        struct tk_error *err)
{
	struct tk_abi_error abi = {.size = sizeof abi};
	const char *options = text_of(request, "options");
	struct tk_backend_ctx *ctx = NULL;
	options = options ? options : "";
	if (s->ctx && strcmp(options, s->backend_options) == 0)
		return TK_OK;
	close_backend(s);
	if (strcmp(s->backend.device_kind, s->ops.kind) != 0)
		return tk_fail(err, TK_EDATA,
		        "backend %s needs a device of kind %s, this one is of kind %s",
		        s->backend.name, s->backend.device_kind, s->ops.kind);
	struct tk_open_args args = {.size = sizeof args,
	        .threads = (uint32_t)json_integer_value(json_object_get(request, "threads")),
	        .device = s->device,
	        .device_ops = &s->ops,
	        .device_info = s->info,
	        .options = options};
	if (s->shared)
		args.device_info.memory_bytes /= 2;
	int status = s->backend.open(&args, &ctx, &abi);
	if (status != TK_ABI_OK)
		return abi_failed(status, &abi, "open", outcome, err);
	s->ctx = ctx;
	s->backend_options = strdup(options);
	return s->backend_options ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory");
}

int tk_job_describe_device(struct tk_worker_state *s, const json_t *request, json_t **result,
        enum tk_outcome *outcome, struct tk_error *err)
{
	int status = open_device(s, request, outcome, err);
	if (status)
		return status;
	*result = tk_device_info_to_json(&s->info);
	json_object_set_new(*result, "count", json_integer(s->device_count));
	return TK_OK;
}

int tk_job_describe_backend(struct tk_worker_state *s, const json_t *request, json_t **result,
        enum tk_outcome *outcome, struct tk_error *err)
{
	int status = load_backend(s, request, err);
	if (status)
		return status;
	const char *version = s->backend.version();
	json_t *o = json_object(), *abi = json_array();
	json_array_append_new(abi, json_integer(s->backend.abi_major));
	json_array_append_new(abi, json_integer(s->backend.abi_minor));
	json_object_set_new(o, "name", tk_wire_json_string(s->backend.name, 64));
	json_object_set_new(o, "description", tk_wire_json_string(s->backend.description, 512));
	json_object_set_new(o, "device_kind", tk_wire_json_string(s->backend.device_kind, 15));
	json_object_set_new(o, "version", tk_wire_json_string(version, 256));
	json_object_set_new(o, "abi", abi);
	*result = o;
	return TK_OK;
}

/* What the first job would do otherwise, and its time with it: a context and a library may take
 * longer than a job. */
int tk_job_open_backend(struct tk_worker_state *s, const json_t *request, json_t **result,
        enum tk_outcome *outcome, struct tk_error *err)
{
	int status = open_device(s, request, outcome, err);
	if (status)
		return status;
	*outcome = TK_OUTCOME_FAILED;
	if ((status = load_backend(s, request, err)) ||
	        (status = open_backend(s, request, outcome, err)))
		return status;
	*result = json_object();
	return TK_OK;
}

static double number_of(const json_t *request, const char *name, double otherwise)
{
	const json_t *v = json_object_get(request, name);
	return json_is_number(v) && isfinite(json_number_value(v)) ? json_number_value(v)
	                                                           : otherwise;
}

static int mode_of(const json_t *request, enum tk_mode *out, struct tk_error *err)
{
	const char *word = text_of(request, "mode");
	*out = TK_MODE_COLD;
	if (word && tk_mode_parse(word, out))
		return tk_fail(err, TK_EDATA, "`%.32s` is no mode", word);
	return TK_OK;
}

static struct tk_measure_options options_of(const json_t *request)
{
	double measure_s = number_of(request, "measure_s", 1),
	       samples = number_of(request, "max_samples", 1000);
	double most = samples >= 1 && samples <= TK_WIRE_SAMPLES_MAX / 2 ? samples
	                                                                 : TK_WIRE_SAMPLES_MAX / 2;
	return (struct tk_measure_options){
	        .seed = (uint64_t)json_integer_value(json_object_get(request, "seed")),
	        .idle_gap_ns = fmax(0, number_of(request, "rest_s", 0)) * 1e9,
	        .stop = {.confidence = number_of(request, "confidence", 0.95),
	                .relative_half_width = number_of(request, "relative_half_width", 0.01),
	                .min_samples = (size_t)fmax(1, number_of(request, "min_samples", 10)),
	                .max_samples = (size_t)most,
	                .budget_s = measure_s},
	        .max_warmup_s = fmax(WARMUP_LEAST_S, WARMUP_SHARE * measure_s),
	        .min_sample_ns = MIN_SAMPLE_NS,
	        .sets = (uint32_t)fmin(fmax(0, number_of(request, "sets", 0)), SETS_MOST),
	        .verify = !json_is_false(json_object_get(request, "verify")),
	        .config = text_of(request, "config"),
	        .threads = (uint32_t)json_integer_value(json_object_get(request, "threads")),
	};
}

static int take_baton(const json_t *request, struct tk_device_token *out, struct tk_error *err)
{
	double wait_s = fmax(0, number_of(request, "baton_wait_s", BATON_WAIT_S));
	double begin_s = fmax(wait_s, number_of(request, "baton_begin_s", wait_s));
	return tk_device_token_open(out, (int)json_integer_value(json_object_get(request, "baton")),
	        begin_s, wait_s, err);
}

int tk_job_measure(struct tk_worker_state *s, const json_t *request, json_t **result,
        enum tk_outcome *outcome, struct tk_error *err)
{
	const char *text;
	struct tk_measurement m;
	json_t *opened = NULL;
	struct tk_problem_spec *problem = calloc(1, sizeof *problem);
	struct tk_measure_options options = options_of(request);
	struct tk_device_token token;
	/* first of all: what a driver or a library starts must not inherit it, and a failure must
	 * close it */
	int status = take_baton(request, &token, err);
	s->shared = token.fd >= 0;
	options.token = s->shared ? &token : NULL;
	if (status == TK_OK)
		status = problem ? need_text(request, "problem", &text, err)
		                 : tk_fail(err, TK_ENOMEM, "out of memory");
	if (status || (status = mode_of(request, &options.mode, err)) ||
	        (status = tk_job_open_backend(s, request, &opened, outcome, err)) ||
	        (status = tk_problem_parse(problem, text, err)))
		goto out;
	status = tk_measure(&s->ops, s->device, &s->backend, s->ctx, problem, &options, &m, err);
	if (status == TK_OK) {
		*result = tk_measurement_to_json(&m);
		tk_measurement_free(&m);
	}
out:
	tk_device_token_close(&token);
	json_decref(opened);
	free(problem);
	return status;
}

void tk_worker_state_close(struct tk_worker_state *s)
{
	close_backend(s);
	if (s->device)
		s->ops.close(s->device);
	free(s->device_layer);
	free(s->backend_path);
}
