/* The worker process: reads requests (describe a device or a backend, open both, measure), runs
 * them, answers. */
#include "worker/job.h"
#include "base/base.h"
#include "base/device_token.h"
#include "core/kernel_package.h"
#include "core/measurement_fields.h"
#include "core/problem.h"
#include "core/trace_file.h"
#include "measure/measure.h"
#include "worker/answer.h"
#include "worker/loader.h"
#include "worker/wire.h"
#include "worker/worker.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

/* Minimum length of a sample: ten thousand times the resolution of a processor's clock. */
#define MIN_SAMPLE_NS 100e3
#define SETS_MAX 4096
/* Limit of the warm-up: a share of the measuring time, but no less than WARMUP_MIN_S. */
#define WARMUP_SHARE 0.25
#define WARMUP_MIN_S 0.2
#define TOKEN_WAIT_S 30

static const char *get_text(const json_t *request, const char *name)
{
	return json_string_value(json_object_get(request, name));
}

static int require_text(
        const json_t *request, const char *name, const char **out, struct tk_error *err)
{
	*out = get_text(request, name);
	return *out ? TK_OK : tk_fail(err, TK_EDATA, "the request has no \"%s\"", name);
}

/* A failed status of the contract as an error, with its outcome. */
int tk_job_fail_status(int status, struct tk_abi_error *abi, const char *what,
        enum tk_outcome *outcome, struct tk_error *err)
{
	abi->message[sizeof abi->message - 1] = 0;
	*outcome = tk_outcome_from_abi(status);
	return tk_fail(err, status == TK_ABI_NO_MEMORY ? TK_ENOMEM : TK_EIO, "%s: %s", what,
	        abi->message[0] ? abi->message : "no reason given");
}

/* Opens the device at an index and reads its info. */
static int try_device(
        struct tk_worker_state *s, uint32_t index, enum tk_outcome *outcome, struct tk_error *err)
{
	struct tk_abi_error abi = {.size = sizeof abi};
	struct tk_device *device = NULL;
	int status = s->ops->open(index, &device, &abi);
	if (status != TK_ABI_OK)
		return tk_job_fail_status(status, &abi, "open device", outcome, err);
	s->info = (struct tk_device_info){.size = sizeof s->info};
	if ((status = s->ops->info(device, &s->info, &abi)) != TK_ABI_OK) {
		s->ops->close(device);
		return tk_job_fail_status(status, &abi, "device info", outcome, err);
	}
	s->device = device;
	return TK_OK;
}

/* A device that fell off the bus moves the indices of the later ones: search for the UUID,
 * beginning with the requested index. */
static int find_device(struct tk_worker_state *s, uint32_t index, const char *uuid,
        enum tk_outcome *outcome, struct tk_error *err)
{
	if (!uuid)
		return try_device(s, index, outcome, err);
	for (uint32_t i = 0; i <= s->device_count; i++) {
		struct tk_error why = {0};
		uint32_t candidate = i == 0 ? index : i - 1;
		if (candidate >= s->device_count || (i > 0 && candidate == index) ||
		        try_device(s, candidate, outcome, &why))
			continue;
		if (strcmp(s->info.uuid, uuid) == 0)
			return TK_OK;
		s->ops->close(s->device);
		s->device = NULL;
	}
	*outcome = TK_OUTCOME_NO_DEVICE;
	return tk_fail(err, TK_ENOTFOUND, "no device with UUID %s: found %u of kind %s", uuid,
	        s->device_count, s->ops->kind);
}

static int open_device(struct tk_worker_state *s, const json_t *request, enum tk_outcome *outcome,
        struct tk_error *err)
{
	struct tk_abi_error abi = {.size = sizeof abi};
	const char *layer;
	uint32_t n = 0,
	         index = (uint32_t)json_integer_value(json_object_get(request, "device_index"));
	TRY(require_text(request, "device_layer", &layer, err));
	if (s->device && strcmp(layer, s->device_layer) != 0)
		return tk_fail(err, TK_EDATA,
		        "this worker has opened %s and cannot open a second device layer",
		        s->device_layer);
	if (s->device)
		return TK_OK;
	*outcome = TK_OUTCOME_NO_DEVICE;
	TRY(tk_loader_load_device(layer, &s->ops, err));
	int status = s->ops->count(&n, &abi);
	if (status != TK_ABI_OK) {
		status = tk_job_fail_status(status, &abi, "count devices", outcome, err);
		*outcome = TK_OUTCOME_NO_DEVICE;
		return status;
	}
	s->device_count = n;
	const char *uuid = get_text(request, "device_uuid");
	if (!uuid && index >= n)
		return tk_fail(err, TK_ENOTFOUND, "no device %u of kind %s: found %u", index,
		        s->ops->kind, n);
	TRY(find_device(s, index, uuid, outcome, err));
	s->device_layer = tk_strdup(layer);
	return TK_OK;
}

static bool is_package(const char *backend_path)
{
	return tk_kernel_package_device_kind(backend_path) != TK_DEVICE_OTHER;
}

/* The shared object of a backend: of a compiled kernel package the launcher, of a Python package
 * what calls its adapter. */
static char *module_path(const json_t *request, const char *backend_path)
{
	const char *dir = get_text(request, "modules_dir");
	if (!is_package(backend_path))
		return tk_strdup(backend_path);
	return tk_sprintf("%s/tk_%s_%s.so", dir ? dir : ".",
	        tk_kernel_package_is_python(backend_path) ? "python" : "backend_launcher",
	        tk_device_kind_name(tk_kernel_package_device_kind(backend_path)));
}

/* What the table of the host cannot know: its package is named after it was loaded. */
static int apply_python_package(struct tk_worker_state *s, const char *path, struct tk_error *err)
{
	AUTO(tk_python_package) p = {0};
	TRY(tk_python_package_read(path, &p, err));
	s->backend.operations = p.operations;
	s->package_version = tk_strdup(p.version);
	if (!p.returns_outputs)
		s->backend.fetch = NULL;
	return TK_OK;
}

/* One backend a process: two builds of one library would share their symbols, and the second would
 * measure the first. */
static int load_backend(struct tk_worker_state *s, const json_t *request, struct tk_error *err)
{
	const char *path;
	TRY(require_text(request, "backend", &path, err));
	if (s->backend_path && strcmp(path, s->backend_path) != 0)
		return tk_fail(err, TK_EDATA,
		        "this worker has loaded %s and must not load a second backend",
		        s->backend_path);
	if (s->backend_path)
		return TK_OK;
	AUTO_TEXT module = module_path(request, path);
	TRY(tk_loader_load_backend(module, &s->backend, err));
	if (tk_kernel_package_is_python(path))
		TRY(apply_python_package(s, path, err));
	s->backend_path = tk_strdup(path);
	return TK_OK;
}

static void close_backend(struct tk_worker_state *s)
{
	tk_job_close_company(s);
	if (s->ctx)
		s->backend.close(s->ctx);
	s->ctx = NULL;
	free(s->backend_options);
	s->backend_options = NULL;
}

/* Its adapter has imported the library only now. */
static void randomize_python_pages(const struct tk_worker_state *s, const json_t *request)
{
	if (!tk_kernel_package_is_python(s->backend_path) ||
	        tk_device_kind_from_name(s->backend.device_kind) != TK_DEVICE_CPU)
		return;
	AUTO_TEXT module = module_path(request, s->backend_path);
	tk_loader_randomize_pages(module);
}

static int open_context(struct tk_worker_state *s, const json_t *request, enum tk_outcome *outcome,
        struct tk_error *err)
{
	struct tk_abi_error abi = {.size = sizeof abi};
	const char *options = get_text(request, "options");
	struct tk_backend_ctx *ctx = NULL;
	options = options ? options : "";
	if (s->ctx && strcmp(options, s->backend_options) == 0)
		return TK_OK;
	close_backend(s);
	if (strcmp(s->backend.device_kind, s->ops->kind) != 0)
		return tk_fail(err, TK_EDATA,
		        "backend %s needs a device of kind %s, this one is of kind %s",
		        s->backend.name, s->backend.device_kind, s->ops->kind);
	struct tk_open_args args = {.size = sizeof args,
	        .threads = (uint32_t)json_integer_value(json_object_get(request, "threads")),
	        .device = s->device,
	        .device_ops = s->ops,
	        .device_info = s->info,
	        .options = options,
	        .package = is_package(s->backend_path) ? s->backend_path : NULL};
	if (s->is_paired)
		args.device_info.memory_bytes /= 2;
	int status = s->backend.open(&args, &ctx, &abi);
	if (status != TK_ABI_OK)
		return tk_job_fail_status(status, &abi, "open", outcome, err);
	s->ctx = ctx;
	randomize_python_pages(s, request);
	s->backend_options = tk_strdup(options);
	return TK_OK;
}

static int describe_device(struct tk_worker_state *s, const json_t *request, json_t **result,
        enum tk_outcome *outcome, struct tk_error *err)
{
	TRY(open_device(s, request, outcome, err));
	*result = tk_fields_encode(tk_device_info_fields, &s->info, true);
	json_object_set_new(*result, "count", json_integer(s->device_count));
	return TK_OK;
}

/* Operations that this tracker does not know have no problems here. */
static json_t *list_operations(uint32_t operations)
{
	json_t *list = json_array();
	for (uint32_t bit = 1; bit; bit <<= 1) {
		const char *name = tk_operation_name(operations & bit);
		if (name)
			json_array_append_new(list, json_string(name));
	}
	return list;
}

static int describe_backend(struct tk_worker_state *s, const json_t *request, json_t **result,
        enum tk_outcome *outcome, struct tk_error *err)
{
	TRY(load_backend(s, request, err));
	const char *version = s->package_version ? s->package_version : s->backend.version();
	json_t *abi = json_array();
	json_array_append_new(abi, json_integer(s->backend.abi_major));
	json_array_append_new(abi, json_integer(s->backend.abi_minor));
	*result = tk_fields_encode(tk_backend_fields, &s->backend, true);
	json_object_set_new(*result, "version", tk_wire_json_string(version, 256));
	json_object_set_new(*result, "abi", abi);
	if (s->backend.operations)
		json_object_set_new(*result, "operations", list_operations(s->backend.operations));
	return TK_OK;
}

/* Done before the first job, so that a context and a library do not count in its time. */
static int open_backend(struct tk_worker_state *s, const json_t *request, json_t **result,
        enum tk_outcome *outcome, struct tk_error *err)
{
	TRY(open_device(s, request, outcome, err));
	*outcome = TK_OUTCOME_FAILED;
	TRY(load_backend(s, request, err));
	TRY(open_context(s, request, outcome, err));
	*result = json_object();
	return TK_OK;
}

static double get_number(const json_t *request, const char *name, double fallback)
{
	const json_t *v = json_object_get(request, name);
	return json_is_number(v) && isfinite(json_number_value(v)) ? json_number_value(v)
	                                                           : fallback;
}

static int get_mode(const json_t *request, enum tk_mode *out, struct tk_error *err)
{
	const char *name = get_text(request, "mode");
	*out = TK_MODE_COLD;
	if (name && tk_mode_parse(name, out))
		return tk_fail(err, TK_EDATA, "unknown mode \"%.32s\"", name);
	if (*out == TK_MODE_SEQUENCE && json_object_get(request, "device_token"))
		return tk_fail(err, TK_EDATA, "two workers cannot alternate in mode sequence");
	return TK_OK;
}

static struct tk_measure_options get_options(const json_t *request)
{
	double measure_s = get_number(request, "measure_s", 1);
	double max_samples = get_number(request, "max_samples", 1000);
	if (!(max_samples >= 1 && max_samples <= TK_MEASUREMENT_SAMPLES_MAX / 2))
		max_samples = TK_MEASUREMENT_SAMPLES_MAX / 2;
	return (struct tk_measure_options){
	        .seed = (uint64_t)json_integer_value(json_object_get(request, "seed")),
	        .check_seed = (uint64_t)json_integer_value(json_object_get(request, "check_seed")),
	        .idle_gap_ns = fmax(0, get_number(request, "idle_gap_s", 0)) * 1e9,
	        .stop = {.confidence = get_number(request, "confidence", 0.95),
	                .relative_half_width = get_number(request, "relative_half_width", 0.01),
	                .min_samples = (size_t)fmax(1, get_number(request, "min_samples", 10)),
	                .max_samples = (size_t)max_samples,
	                .budget_s = measure_s},
	        .max_warmup_s = fmax(WARMUP_MIN_S, WARMUP_SHARE * measure_s),
	        .min_sample_ns = MIN_SAMPLE_NS,
	        .sets = (uint32_t)fmin(fmax(0, get_number(request, "sets", 0)), SETS_MAX),
	        .verify = !json_is_false(json_object_get(request, "verify")),
	        .profile = json_is_true(json_object_get(request, "profile")),
	        .config = get_text(request, "config"),
	        .threads = (uint32_t)json_integer_value(json_object_get(request, "threads")),
	};
}

/* {"fd":5,"launches":4}. The backend is loaded. */
static int open_trace(const struct tk_worker_state *s, const json_t *request,
        struct tk_trace_request *out, enum tk_outcome *outcome, struct tk_error *err)
{
	const json_t *trace = json_object_get(request, "trace");
	*out = (struct tk_trace_request){
	        .fd = (int)json_integer_value(json_object_get(trace, "fd")),
	        .launches = (uint32_t)json_integer_value(json_object_get(trace, "launches"))};
	if (out->fd < 3 || out->launches < 1 || out->launches > TK_TRACE_LAUNCHES_MAX)
		return tk_fail(err, TK_EDATA, "trace: invalid descriptor or number of launches");
	int status = tk_loader_find_traced(s->backend_path, &out->kernels, &out->kernel_count, err);
	if (status || out->kernel_count)
		return status;
	*outcome = TK_OUTCOME_UNSUPPORTED;
	return tk_fail(err, TK_EUNSUPPORTED, "%s was not built to record regions", s->backend_path);
}

static int open_token(const json_t *request, struct tk_device_token *out, struct tk_error *err)
{
	int fd = (int)json_integer_value(json_object_get(request, "device_token"));
	double wait_s = fmax(0, get_number(request, "device_token_wait_s", TOKEN_WAIT_S));
	double start_s = fmax(wait_s, get_number(request, "device_token_start_s", wait_s));
	return tk_device_token_open(out, fd, start_s, wait_s, err);
}

static json_t *encode_measurement(const struct tk_measurement *m)
{
	bool is_timed = tk_outcome_has_timing(m->outcome);
	json_t *result = tk_fields_encode(tk_measurement_fields, m, is_timed);
	json_t *samples = is_timed ? json_array() : NULL;
	for (uint64_t i = 0; is_timed && i < m->sample_count; i++)
		json_array_append_new(samples, json_real(m->samples[i]));
	json_object_set_new(result, tk_measurement_field_key(TK_MEASUREMENT_SAMPLES), samples);
	return result;
}

/* {"name":"book-1a2b3c4d","tokens":"00a7..."}, four hexadecimal digits a token. */
int tk_job_read_text(const json_t *request, struct tk_error *err)
{
	const json_t *text = json_object_get(request, "text");
	const char *name = get_text(text, "name"), *digits = get_text(text, "tokens");
	if (!text)
		return TK_OK;
	size_t count = digits ? strlen(digits) / 4 : 0;
	if (digits && (strlen(digits) % 4 || digits[strspn(digits, "0123456789abcdefABCDEF")]))
		return tk_fail(err, TK_EDATA,
		        "text: \"tokens\" is not four hexadecimal digits for each token");
	uint16_t *tokens = tk_calloc(count + 1, sizeof *tokens);
	for (size_t i = 0; i < count; i++) {
		char word[5] = {0};
		memcpy(word, digits + 4 * i, 4);
		tokens[i] = (uint16_t)strtoul(word, NULL, 16);
	}
	int status = name ? tk_text_inputs_set(name, tokens, count, err)
	                  : tk_fail(err, TK_EDATA, "text: missing \"name\"");
	free(tokens);
	return status;
}

static int measure_problem(struct tk_worker_state *s, const json_t *request,
        struct tk_measure_options *options, json_t **result, enum tk_outcome *outcome,
        struct tk_error *err)
{
	struct tk_measurement m;
	struct tk_sequence sequence = {0};
	struct tk_problem_spec *problem = tk_calloc(1, sizeof *problem);
	int status = tk_problem_parse(problem, get_text(request, "problem"), err);
	if (!status)
		status = tk_job_read_text(request, err);
	if (!status && options->mode == TK_MODE_SEQUENCE) {
		status = tk_job_open_sequence(s, request, problem, &sequence, outcome, err);
		options->sequence = &sequence;
	}
	if (!status)
		status = tk_measure(
		        s->ops, s->device, &s->backend, s->ctx, problem, options, &m, err);
	if (!status) {
		*result = encode_measurement(&m);
		tk_measurement_free(&m);
	}
	free(sequence.kernels);
	free(problem);
	return status;
}

static int list_configs(struct tk_worker_state *s, const json_t *request, json_t **result,
        enum tk_outcome *outcome, struct tk_error *err)
{
	const char *text;
	json_auto_t *opened = NULL;
	struct tk_problem_spec problem;
	TRY(require_text(request, "problem", &text, err));
	TRY(tk_problem_parse(&problem, text, err));
	TRY(open_backend(s, request, &opened, outcome, err));
	return tk_job_list_problem_configs(s, &problem.abi, result, outcome, err);
}

static int measure(struct tk_worker_state *s, const json_t *request, json_t **result,
        enum tk_outcome *outcome, struct tk_error *err)
{
	const char *text;
	json_auto_t *opened = NULL;
	struct tk_measure_options options = get_options(request);
	struct tk_trace_request trace;
	struct tk_device_token token;
	/* First: what a driver or a library starts must not inherit it, and any failure must close
	 * it. */
	int status = open_token(request, &token, err);
	s->is_paired = token.fd >= 0;
	options.token = s->is_paired ? &token : NULL;
	if (!status)
		status = require_text(request, "problem", &text, err);
	if (!status)
		status = get_mode(request, &options.mode, err);
	if (!status)
		status = open_backend(s, request, &opened, outcome, err);
	if (!status && json_object_get(request, "trace")) {
		status = open_trace(s, request, &trace, outcome, err);
		options.trace = &trace;
	}
	if (!status)
		status = measure_problem(s, request, &options, result, outcome, err);
	tk_device_token_close(&token);
	return status;
}

static int serve_bursts(struct tk_worker_state *s, const json_t *request, json_t **result,
        enum tk_outcome *outcome, struct tk_error *err)
{
	json_auto_t *opened = NULL;
	TRY(open_backend(s, request, &opened, outcome, err));
	return tk_job_serve_bursts(s, request, result, outcome, err);
}

static int judge(struct tk_worker_state *s, const json_t *request, json_t **result,
        enum tk_outcome *outcome, struct tk_error *err)
{
	TRY(open_device(s, request, outcome, err));
	*outcome = TK_OUTCOME_FAILED;
	return tk_job_judge(s, request, result, outcome, err);
}

static void close_state(struct tk_worker_state *s)
{
	close_backend(s);
	if (s->device)
		s->ops->close(s->device);
	free(s->device_layer);
	free(s->backend_path);
	free(s->package_version);
}

/* ---- serving ---- */

/* The answers' descriptor, closed in a process that a backend forks and that goes on here. */
static int answers_fd = -1;

static void close_answers(void)
{
	close(answers_fd);
}

struct serve {
	int in, out;
	struct tk_worker_state state;
};

/* {"id":N,"ok":false,"outcome":"...","message":"..."} */
static json_t *new_refusal(json_int_t id, enum tk_outcome outcome, const char *message)
{
	return json_pack("{s:I, s:b, s:s, s:o}", "id", id, "ok", false, "outcome",
	        tk_outcome_name(outcome), "message", tk_wire_json_string(message, 1000));
}

static json_t *run_request(struct serve *s, const json_t *request)
{
	static const struct {
		const char *name;
		int (*run)(struct tk_worker_state *state, const json_t *request, json_t **result,
		        enum tk_outcome *outcome, struct tk_error *err);
	} commands[] = {{"device", describe_device}, {"backend", describe_backend},
	        {"open", open_backend}, {"configs", list_configs}, {"measure", measure},
	        {"bursts", serve_bursts}, {"referee", judge}};
	const char *name = json_string_value(json_object_get(request, "cmd"));
	json_int_t id = json_integer_value(json_object_get(request, "id"));
	for (size_t i = 0; name && i < sizeof commands / sizeof *commands; i++) {
		struct tk_error err = {0};
		enum tk_outcome outcome = TK_OUTCOME_FAILED;
		json_t *result = NULL;
		if (strcmp(commands[i].name, name) != 0)
			continue;
		int status = commands[i].run(&s->state, request, &result, &outcome, &err);
		if (status)
			return new_refusal(id,
			        status == TK_ENOMEM ? TK_OUTCOME_OUT_OF_MEMORY : outcome,
			        err.message);
		return json_pack("{s:I, s:b, s:o}", "id", id, "ok", true, "result", result);
	}
	return new_refusal(id, TK_OUTCOME_PROTOCOL, "unknown cmd");
}

static int send_hello(struct serve *s, struct tk_error *err)
{
	json_auto_t *hello = json_pack("{s:s, s:i, s:i}", "hello", "tracker-worker", "protocol",
	        TK_WIRE_PROTOCOL, "abi", TK_ABI_MAJOR);
	return tk_wire_write(s->out, hello, err);
}

/* The wire moves to descriptors of its own; output of libraries by printf goes to stderr, which is
 * the log. */
static int move_wire(struct serve *s, int in_fd, int out_fd, struct tk_error *err)
{
	s->in = fcntl(in_fd, F_DUPFD_CLOEXEC, 3);
	s->out = fcntl(out_fd, F_DUPFD_CLOEXEC, 3);
	if (s->in < 0 || s->out < 0)
		return tk_fail_errno(err, "descriptors of the wire");
	answers_fd = s->out;
	pthread_atfork(NULL, NULL, close_answers);
	int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (in_fd == STDIN_FILENO && null_fd >= 0)
		dup2(null_fd, STDIN_FILENO);
	if (out_fd == STDOUT_FILENO)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	if (null_fd >= 0)
		close(null_fd);
	setvbuf(stdout, NULL, _IOLBF, 0);
	return TK_OK;
}

static int serve_requests(struct serve *s, struct tk_error *err)
{
	AUTO(tk_wire_reader) reader = {.fd = s->in};
	enum tk_wire_read what = TK_WIRE_READ_MORE;
	int status = send_hello(s, err);
	while (!status) {
		json_t *request = NULL;
		status = tk_wire_next_line(&reader, &what, &request, err);
		if (!status && what == TK_WIRE_READ_LINE) {
			json_t *answer = run_request(s, request);
			json_decref(request);
			status = tk_wire_write(s->out, answer, err);
			json_decref(answer);
			continue;
		}
		if (!status && !(status = tk_wire_read_more(&reader, &what, err)) &&
		        what == TK_WIRE_READ_END)
			break;
	}
	return status;
}

int tk_worker_serve(int in_fd, int out_fd)
{
	struct serve s = {.in = -1, .out = -1};
	struct tk_error err = {0};
	signal(SIGPIPE, SIG_IGN);
	int status = move_wire(&s, in_fd, out_fd, &err);
	if (!status)
		status = serve_requests(&s, &err);
	close_state(&s.state);
	if (s.in >= 0)
		close(s.in);
	if (s.out >= 0)
		close(s.out);
	if (status)
		dprintf(STDERR_FILENO, "tracker worker: %s\n", err.message);
	return status ? 4 : 0;
}
