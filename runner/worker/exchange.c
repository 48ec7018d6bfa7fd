/* See exchange.h. */
#include "worker/exchange.h"
#include "base/base.h"
#include "base/process.h"
#include "base/sandbox.h"
#include "core/kernel_package.h"
#include "worker/answer.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLICE_MS 50 /* between two checks of memory, log and cancellation */
#define HELLO_S 30.0

/* The request may take that long from now on. */
static void set_deadline(struct tk_worker *w, double seconds)
{
	w->deadline_s = seconds;
	w->deadline_ns = tk_clock_monotonic_ns() + (int64_t)(seconds * 1e9);
}

void tk_worker_set_paused(struct tk_worker *w, bool paused)
{
	if (w->process.pid && !w->process.ended)
		kill(-w->process.pid, paused ? SIGSTOP : SIGCONT);
}

void tk_worker_end_process(struct tk_worker *w, double grace_s)
{
	if (!w)
		return;
	tk_worker_set_paused(w, false); /* a stopped process could not end */
	tk_worker_process_stop(&w->process, grace_s);
	tk_wire_reader_free(&w->reader);
	w->reader = (struct tk_wire_reader){.fd = -1};
	free(w->loaded_backend);
	free(w->python_package);
	free(w->readable_folder);
	w->loaded_backend = w->python_package = w->readable_folder = NULL;
	w->is_opening = false;
}

/* ---- how a request ends ---- */

int tk_exchange_give_up(struct tk_worker *w, enum tk_outcome outcome, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(w->message, sizeof w->message, fmt, ap);
	va_end(ap);
	w->outcome = outcome;
	tk_worker_end_process(w, 0);
	return TK_EXCHANGE_ENDED;
}

/* "SIGSEGV (Segmentation fault)" */
static void format_signal(int number, char *out, size_t size)
{
	const char *name = sigabbrev_np(number);
	if (name)
		snprintf(out, size, "SIG%s (%s)", name, sigdescr_np(number));
	else
		snprintf(out, size, "signal %d", number);
}

static bool was_oom_killed(const struct tk_worker *w)
{
	int status = w->process.status;
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && w->oom_kills >= 0 &&
	       tk_kernel_oom_kill_count() > w->oom_kills;
}

/* The process has ended by itself, or has closed its side of the wire. */
static int report_death(struct tk_worker *w)
{
	char line[256], name[64];
	tk_worker_process_wait(&w->process, 2);
	int status = w->process.status;
	bool ended = w->process.ended;
	w->sandbox_failed = ended && WIFEXITED(status) && w->process.sandbox &&
	                    tk_sandbox_has_failed(w->process.sandbox) &&
	                    tk_sandbox_give_up(w->process.sandbox);
	tk_worker_process_stop(&w->process, 0);
	tk_worker_log_last_line(&w->log, line, sizeof line);
	const char *separator = line[0] ? ": " : "";
	if (!ended)
		return tk_exchange_give_up(w, TK_OUTCOME_CRASHED,
		        "the worker closed its connection and continued: killed%s%s", separator,
		        line);
	if (was_oom_killed(w))
		return tk_exchange_give_up(
		        w, TK_OUTCOME_OUT_OF_MEMORY, "the kernel killed the worker: out of memory");
	if (!WIFSIGNALED(status) && strcmp(line, "tracker: out of memory") == 0) /* base/error.c */
		return tk_exchange_give_up(
		        w, TK_OUTCOME_OUT_OF_MEMORY, "the worker had no memory left");
	if (!WIFSIGNALED(status))
		return tk_exchange_give_up(w, TK_OUTCOME_CRASHED,
		        "the worker exited with code %d before it answered%s%s",
		        WEXITSTATUS(status), separator, line);
	format_signal(WTERMSIG(status), name, sizeof name);
	return tk_exchange_give_up(
	        w, TK_OUTCOME_CRASHED, "the worker was killed by %s%s%s", name, separator, line);
}

static int report_timeout(struct tk_worker *w)
{
	char line[256];
	tk_worker_log_last_line(&w->log, line, sizeof line);
	return tk_exchange_give_up(w, TK_OUTCOME_TIMEOUT, "no answer after %.3g s: killed%s%s",
	        w->deadline_s, line[0] ? ": " : "", line);
}

/* 0: within all limits. */
static int check_limits(struct tk_worker *w, struct tk_error *err)
{
	if (tk_cancel_is_requested()) {
		tk_worker_end_process(w, 0);
		return tk_fail(err, TK_ECANCELED, "stopped");
	}
	if (w->spec.memory_limit_bytes) {
		uint64_t resident = tk_worker_process_resident_bytes(&w->process);
		if (resident > w->spec.memory_limit_bytes)
			return tk_exchange_give_up(w, TK_OUTCOME_OUT_OF_MEMORY,
			        "the worker used %.1f GiB, the limit is %.1f GiB: killed",
			        (double)resident / 0x1p30,
			        (double)w->spec.memory_limit_bytes / 0x1p30);
	}
	if (tk_process_tree_exceeds(
	            &w->tree, w->process.pid, TK_WORKER_PROCESS_MAX, tk_clock_monotonic_ns()))
		return tk_exchange_give_up(w, TK_OUTCOME_FAILED,
		        "the worker had more than %d processes: killed", TK_WORKER_PROCESS_MAX);
	if (tk_worker_log_is_flooded(&w->log)) {
		int status = tk_exchange_give_up(w, TK_OUTCOME_FAILED,
		        "the worker printed more than %lld MiB: killed",
		        TK_WORKER_LOG_MAX_BYTES >> 20);
		tk_worker_log_truncate(&w->log);
		return status;
	}
	return tk_clock_monotonic_ns() >= w->deadline_ns ? report_timeout(w) : 0;
}

/* ---- waiting ---- */

static bool wait_slice(int fd, short events, int64_t until_ns)
{
	struct pollfd p = {.fd = fd, .events = events};
	int64_t left_ms = (until_ns - tk_clock_monotonic_ns()) / 1000000 + 1;
	if (left_ms > SLICE_MS)
		left_ms = SLICE_MS;
	return poll(&p, 1, left_ms < 0 ? 0 : (int)left_ms) > 0;
}

/* Reads what is in the pipe. TK_EXCHANGE_PENDING: more may come. */
static int fill(struct tk_worker *w)
{
	enum tk_wire_read what;
	struct tk_error why = {0};
	if (tk_wire_read_more(&w->reader, &what, &why))
		return tk_exchange_give_up(w, TK_OUTCOME_PROTOCOL, "%s", why.message);
	return what == TK_WIRE_READ_END ? report_death(w) : TK_EXCHANGE_PENDING;
}

int tk_exchange_poll(struct tk_worker *w, bool wait, json_t **line, struct tk_error *err)
{
	for (;;) {
		enum tk_wire_read what;
		struct tk_error why = {0};
		if (tk_wire_next_line(&w->reader, &what, line, &why))
			return tk_exchange_give_up(w, TK_OUTCOME_PROTOCOL,
			        "cannot read the worker's answer: %s", why.message);
		if (what == TK_WIRE_READ_LINE)
			return 0;
		if (!wait_slice(w->process.from, POLLIN, wait ? w->deadline_ns : 0))
			break;
		int status = fill(w);
		if (status != TK_EXCHANGE_PENDING)
			return status;
	}
	/* A child of an ended worker may still hold the pipe open. */
	if (tk_worker_process_has_ended(&w->process))
		return report_death(w);
	int status = check_limits(w, err);
	return status ? status : TK_EXCHANGE_PENDING;
}

int tk_exchange_receive(struct tk_worker *w, json_t **line, struct tk_error *err)
{
	int status;
	do
		status = tk_exchange_poll(w, true, line, err);
	while (status == TK_EXCHANGE_PENDING);
	return status;
}

/* ---- sending ---- */

/* The pipe does not block: a worker that does not read must not block the tracker. */
static int send_request(struct tk_worker *w, const json_t *request, struct tk_error *err)
{
	AUTO_TEXT line = json_dumps(request, JSON_COMPACT | JSON_REAL_PRECISION(17));
	if (!line)
		return tk_fail(err, TK_EDATA, "cannot write the request: a text is not UTF-8");
	size_t len = strlen(line), done = 0;
	line[len++] = '\n'; /* in the place of the NUL */
	while (done < len) {
		ssize_t n = write(w->process.to, line + done, len - done);
		if (n > 0)
			done += (size_t)n;
		else if (errno == EINTR)
			continue;
		else if (errno != EAGAIN)
			return report_death(w);
		else if (!wait_slice(w->process.to, POLLOUT, w->deadline_ns))
			TRY(tk_worker_process_has_ended(&w->process) ? report_death(w)
			                                             : check_limits(w, err));
	}
	return 0;
}

static int check_hello(struct tk_worker *w, const json_t *hello, struct tk_error *err)
{
	const char *name = json_string_value(json_object_get(hello, "hello"));
	json_int_t version = json_integer_value(json_object_get(hello, "protocol"));
	if (name && strcmp(name, "tracker-worker") == 0 && version == TK_WIRE_PROTOCOL)
		return TK_OK;
	return tk_fail(err, TK_EVERSION,
	        "%s speaks version %lld of the worker protocol, expected %d", w->spec.program,
	        (long long)version, TK_WIRE_PROTOCOL);
}

/* GPU drivers reserve far more address space than they use: no limit for them. */
static bool can_limit_address_space(const struct tk_worker *w)
{
	enum tk_device_kind kind = tk_device_kind_from_name(w->spec.device_kind);
	return kind == TK_DEVICE_CPU || kind == TK_DEVICE_NULL;
}

/* The folder of a module, which may be below one that a sandbox hides. */
static char *copy_folder(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	return slash && slash > path ? tk_strndup(path, (size_t)(slash - path)) : NULL;
}

/* `python`: NULL if the process is the tracker itself. *again: the sandbox did not work, and there
 * is a weaker one. */
static int try_process(struct tk_worker *w, const struct tk_python_host *python,
        const char *const *readable, bool *again, struct tk_error *err)
{
	const enum tk_device_kind kind = tk_device_kind_from_name(w->spec.device_kind);
	struct tk_worker_process_spec spec = {.program = python ? python->program : w->spec.program,
	        .argv = python ? python->argv : NULL,
	        .profiler = w->spec.profiler,
	        .readable = readable,
	        .gpu = kind == TK_DEVICE_CUDA || kind == TK_DEVICE_HIP,
	        .unsandboxed = tk_worker_is_unsandboxed(w) || w->spec.referee_fd,
	        .cores = w->spec.cpu_list ? &w->cores : NULL,
	        .threads = w->spec.threads,
	        .memory_limit_bytes = w->spec.memory_limit_bytes,
	        .log_fd = w->log.fd,
	        .kept_fd = w->spec.token_fd   ? w->spec.token_fd
	                   : w->spec.trace_fd ? w->spec.trace_fd
	                                      : w->spec.referee_fd,
	        .limit_address_space = can_limit_address_space(w)};
	json_auto_t *hello = NULL;
	*again = false;
	TRY(tk_worker_process_start(&spec, &w->process, err));
	tk_process_tree_init(&w->tree, w->process.cgroup);
	w->sandbox_failed = false;
	w->reader = (struct tk_wire_reader){.fd = w->process.from};
	set_deadline(w, HELLO_S);
	int status = tk_exchange_receive(w, &hello, err);
	*again = status > 0 && w->sandbox_failed;
	if (status > 0)
		return tk_fail(
		        err, TK_EIO, "%s does not work as a worker: %s", spec.program, w->message);
	if (!status)
		status = check_hello(w, hello, err);
	if (status)
		tk_worker_end_process(w, 0);
	return status;
}

#define READABLE_MAX (6 + TK_PYTHON_HOST_FOLDERS_MAX)

static int start_process(struct tk_worker *w, const char *backend,
        const struct tk_python_host *python, struct tk_error *err)
{
	char *folders[] = {copy_folder(w->spec.program), copy_folder(w->spec.device_layer),
	        copy_folder(backend)};
	const char *readable[READABLE_MAX] = {tk_path_data_dir()};
	size_t n = 1;
	bool again = true;
	int status = TK_OK;
	for (size_t i = 0; i < 3; i++)
		if (folders[i])
			readable[n++] = folders[i];
	for (char *const *folder = python ? python->folders : NULL; folder && *folder; folder++)
		readable[n++] = *folder;
	readable[n] = w->spec.modules_dir;
	while (again)
		status = try_process(w, python, readable, &again, err);
	for (size_t i = 0; i < 2; i++)
		free(folders[i]);
	free(w->readable_folder);
	w->readable_folder = folders[2];
	return status;
}

/* A Python that is gone or does not start is a failure of its backend, not of the night. */
static int start_python(struct tk_worker *w, const char *backend, struct tk_error *err)
{
	AUTO(tk_python_host) python = {.program = NULL};
	struct tk_error why = {0};
	int status = tk_python_host_open(backend, w->spec.modules_dir, &python, &why);
	if (!status)
		status = start_process(w, backend, &python, &why);
	if (status == TK_ECANCELED)
		return tk_fail(err, status, "%s", why.message);
	if (status)
		return tk_exchange_give_up(w, TK_OUTCOME_FAILED, "Python host: %s", why.message);
	w->python_package = tk_strdup(backend);
	return TK_OK;
}

/* A process that was started to ask for the device reads no folder of builds in its sandbox. */
static bool can_read(const struct tk_worker *w, const char *backend)
{
	char *folder = copy_folder(backend);
	char *const readable[] = {w->readable_folder, copy_folder(w->spec.program),
	        copy_folder(w->spec.device_layer)};
	bool found = !folder || !w->process.sandbox || !tk_sandbox_is_hidden(folder);
	for (size_t i = 0; i < 3 && !found; i++)
		found = readable[i] && strcmp(readable[i], folder) == 0;
	free(readable[1]);
	free(readable[2]);
	free(folder);
	return found;
}

/* The process is alive and has sent nothing without a request. */
static bool is_ready(struct tk_worker *w)
{
	return w->process.to >= 0 && w->reader.buf.len == 0 &&
	       !tk_worker_process_has_ended(&w->process) &&
	       !wait_slice(w->process.from, POLLIN, tk_clock_monotonic_ns());
}

/* A process loads one backend only, and its sandbox stays as it is: another backend needs a new
 * process. */
static int make_ready(struct tk_worker *w, const char *backend, struct tk_error *err)
{
	bool is_python = backend && tk_kernel_package_is_python(backend);
	bool has_other = w->process.pid && backend &&
	                 (w->loaded_backend ? strcmp(w->loaded_backend, backend) != 0
	                                    : !can_read(w, backend));
	has_other |= is_python && (!w->python_package || strcmp(w->python_package, backend) != 0);
	if (w->process.pid && (has_other || !is_ready(w)))
		tk_worker_end_process(w, has_other ? 1 : 0);
	if (w->process.pid)
		return TK_OK;
	return is_python ? start_python(w, backend, err) : start_process(w, backend, NULL, err);
}

int tk_exchange_post(struct tk_worker *w, json_t *consumed, double deadline_s, struct tk_error *err)
{
	json_auto_t *request = consumed;
	const char *backend = json_string_value(json_object_get(request, "backend"));
	TRY(tk_worker_wait_open(w, err));
	w->outcome = TK_OUTCOME_FAILED;
	w->message[0] = '\0';
	tk_worker_log_mark(&w->log);
	w->oom_kills = tk_kernel_oom_kill_count();
	TRY(make_ready(w, backend, err));
	if (backend && !w->loaded_backend)
		w->loaded_backend = tk_strdup(backend);
	json_object_set_new(request, "id", json_integer(++w->last_id));
	set_deadline(w, deadline_s);
	TRY(send_request(w, request, err));
	set_deadline(w, deadline_s);
	return 0;
}

int tk_exchange_unwrap(struct tk_worker *w, json_t *consumed, json_t **result)
{
	json_auto_t *answer = consumed;
	struct tk_error why = {0};
	if (tk_answer_unwrap(
	            answer, w->last_id, result, &w->outcome, w->message, sizeof w->message, &why))
		return tk_exchange_give_up(
		        w, TK_OUTCOME_PROTOCOL, "the worker's answer is invalid: %s", why.message);
	return *result ? 0 : TK_EXCHANGE_ENDED;
}

/* A process that failed to open is ended: the next job starts another one and reports the
 * reason. */
int tk_worker_wait_open(struct tk_worker *w, struct tk_error *err)
{
	json_t *answer = NULL;
	json_auto_t *result = NULL;
	if (!w->is_opening)
		return TK_OK;
	w->is_opening = false;
	int status = tk_exchange_receive(w, &answer, err);
	if (!status)
		status = tk_exchange_unwrap(w, answer, &result);
	if (status > 0)
		tk_worker_end_process(w, 0);
	return status < 0 ? status : TK_OK;
}
