/* The parent's side: one process at a time, one request at a time, and a word for every way in
 * which that can end. */
#include "worker/worker.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "worker/answer_check.h"
#include "worker/process.h"
#include "worker/wire.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLICE_MS 50 /* how often memory, log and cancellation are looked at */
#define HELLO_S 30.0
#define ASK_S TK_WORKER_OPEN_TIMEOUT_S /* device and backend questions */
#define LOG_MAX_BYTES (64ll << 20)     /* what one request may print */
#define LOG_ROLL_BYTES (16ll << 20)
#define LAST_WORDS 4096

/* A job that was sent and whose result nobody has taken yet. */
struct pending {
	bool ended; /* before it was sent in full */
	enum tk_outcome outcome;
	double deadline_s;
	int64_t started, until;
	char message[1024];
};

struct tk_worker {
	struct pending pending;
	char *program, *device_kind, *device_layer, *device_uuid, *cpu_list;
	uint32_t device_index, threads;
	uint64_t memory_limit_bytes;
	cpu_set_t cores;
	int token_fd, log_fd;
	bool log_is_file;
	struct tk_worker_process process;
	struct tk_wire_reader reader;
	char *loaded;     /* the backend that the process has loaded, NULL: none */
	double opening_s; /* a request to open is on its way, which may take so long; 0: none */
	int64_t opening_until;
	int64_t last_id;
	int64_t log_start, oom_kills; /* when the request was made */
};

/* How a request ended, while nobody knows yet what it was for. */
struct ending {
	enum tk_outcome outcome;
	char *message;
	size_t size;
};

static char *copy_or_null(const char *s)
{
	return s ? strdup(s) : NULL;
}

/* Nobody reads the output of last year's kernels: a log that has grown makes room, and the one
 * before it goes. */
static void roll_log(const char *path)
{
	struct stat st;
	char *old = NULL;
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < LOG_ROLL_BYTES ||
	        asprintf(&old, "%s.1", path) < 0)
		return;
	if (rename(path, old) != 0)
		tk_log(TK_LOG_WARN, "worker_log", NULL, "the log %s could not be moved aside",
		        path);
	free(old);
}

static int open_log(struct tk_worker *w, const char *path, struct tk_error *err)
{
	struct stat st;
	if (path)
		roll_log(path);
	w->log_fd = open(path ? path : "/dev/null", O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (w->log_fd < 0)
		return tk_fail_errno(err, "%s", path ? path : "/dev/null");
	w->log_is_file = fstat(w->log_fd, &st) == 0 && S_ISREG(st.st_mode);
	return TK_OK;
}

int tk_worker_new(const struct tk_worker_spec *spec, struct tk_worker **out, struct tk_error *err)
{
	struct tk_worker *w = calloc(1, sizeof *w);
	if (!w)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	w->process.to = w->process.from = w->log_fd = -1;
	w->program = copy_or_null(spec->program);
	w->device_kind = copy_or_null(spec->device_kind);
	w->device_layer = copy_or_null(spec->device_layer);
	w->device_uuid = copy_or_null(spec->device_uuid);
	w->cpu_list = copy_or_null(spec->cpu_list);
	w->device_index = spec->device_index;
	w->threads = spec->threads;
	w->memory_limit_bytes = spec->memory_limit_bytes;
	w->token_fd = spec->token_fd;
	int status = w->program && w->device_kind && (w->device_layer || !spec->device_layer) &&
	                             (w->cpu_list || !spec->cpu_list)
	                     ? TK_OK
	                     : tk_fail(err, TK_ENOMEM, "out of memory");
	if (status == TK_OK && w->cpu_list)
		status = tk_cpu_list_parse(w->cpu_list, &w->cores, err);
	if (status == TK_OK)
		status = open_log(w, spec->log_path, err);
	if (status)
		tk_worker_free(w);
	else
		*out = w;
	return status;
}

static void end_process(struct tk_worker *w, double grace_s)
{
	tk_worker_set_paused(w, false); /* stopped it could not end */
	tk_worker_process_stop(&w->process, grace_s);
	tk_wire_reader_free(&w->reader);
	w->reader = (struct tk_wire_reader){.fd = -1};
	free(w->loaded);
	w->loaded = NULL;
	w->opening_s = 0;
}

void tk_worker_close_input(struct tk_worker *w)
{
	if (w && w->process.to >= 0)
		close(w->process.to);
	if (w)
		w->process.to = -1;
}

void tk_worker_free(struct tk_worker *w)
{
	if (!w)
		return;
	end_process(w, 0.5);
	if (w->log_fd >= 0)
		close(w->log_fd);
	free(w->program);
	free(w->device_kind);
	free(w->device_layer);
	free(w->device_uuid);
	free(w->cpu_list);
	free(w);
}

/* ---- what went wrong ---- */

static int64_t log_size(const struct tk_worker *w)
{
	struct stat st;
	return w->log_is_file && fstat(w->log_fd, &st) == 0 ? (int64_t)st.st_size : 0;
}

/* The last line that was printed since the request was made; "" where there is none. */
static void last_words(const struct tk_worker *w, char *out, size_t size)
{
	char tail[LAST_WORDS + 1];
	int64_t end = log_size(w),
	        start = end - LAST_WORDS > w->log_start ? end - LAST_WORDS : w->log_start;
	out[0] = 0;
	ssize_t n = end > start ? pread(w->log_fd, tail, (size_t)(end - start), start) : 0;
	for (ssize_t i = 0; i < n; i++)
		if (tail[i] == 0)
			tail[i] = ' ';
	while (n > 0 && (tail[n - 1] == '\n' || tail[n - 1] == ' '))
		n--;
	if (n <= 0)
		return;
	tail[n] = 0;
	const char *line = strrchr(tail, '\n');
	snprintf(out, size, "%.200s", line ? line + 1 : tail);
	tk_wire_sanitize(out);
}

/* "SIGSEGV (Segmentation fault)" */
static void signal_name(int number, char *out, size_t size)
{
	const char *name = sigabbrev_np(number);
	if (name)
		snprintf(out, size, "SIG%s (%s)", name, sigdescr_np(number));
	else
		snprintf(out, size, "signal %d", number);
}

static void describe_death(struct tk_worker *w, struct ending *end)
{
	char words[256], name[64];
	int status = w->process.status;
	int64_t kills = tk_kernel_oom_kill_count();
	last_words(w, words, sizeof words);
	end->outcome = TK_OUTCOME_CRASHED;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && kills > w->oom_kills &&
	        w->oom_kills >= 0) {
		end->outcome = TK_OUTCOME_OUT_OF_MEMORY;
		snprintf(end->message, end->size,
		        "the kernel killed the worker because memory was out");
		return;
	}
	if (WIFSIGNALED(status)) {
		signal_name(WTERMSIG(status), name, sizeof name);
		snprintf(end->message, end->size, "the worker was killed by %s%s%s", name,
		        words[0] ? ": " : "", words);
	} else {
		snprintf(end->message, end->size,
		        "the worker exited with code %d before it answered%s%s",
		        WEXITSTATUS(status), words[0] ? ": " : "", words);
	}
}

/* Ends the process and says why. Returns 1: the request has an outcome. */
static int give_up(struct tk_worker *w, struct ending *end, enum tk_outcome outcome,
        const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static int give_up(
        struct tk_worker *w, struct ending *end, enum tk_outcome outcome, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(end->message, end->size, fmt, ap);
	va_end(ap);
	end->outcome = outcome;
	end_process(w, 0);
	return 1;
}

static int died(struct tk_worker *w, struct ending *end)
{
	tk_worker_process_stop(&w->process, 2);
	describe_death(w, end);
	end_process(w, 0);
	return 1;
}

/* ---- one request ---- */

/* What is looked at while waiting. 0: go on. */
static int watch(struct tk_worker *w, double deadline_s, int64_t until, struct ending *end,
        struct tk_error *err)
{
	char words[256];
	if (tk_cancel_is_requested()) {
		end_process(w, 0);
		return tk_fail(err, TK_ECANCELED, "stopped");
	}
	if (w->memory_limit_bytes) {
		uint64_t resident = tk_worker_process_resident_bytes(&w->process);
		if (resident > w->memory_limit_bytes)
			return give_up(w, end, TK_OUTCOME_OUT_OF_MEMORY,
			        "the worker used %.1f GiB, the limit is %.1f GiB: killed",
			        (double)resident / 0x1p30, (double)w->memory_limit_bytes / 0x1p30);
	}
	if (log_size(w) - w->log_start > LOG_MAX_BYTES) {
		int status = give_up(w, end, TK_OUTCOME_FAILED,
		        "the worker printed more than %lld MiB: killed", LOG_MAX_BYTES >> 20);
		if (ftruncate(w->log_fd, w->log_start + (1 << 20)) != 0)
			tk_log(TK_LOG_WARN, "worker_log", NULL,
			        "the log of a worker could not be cut");
		return status;
	}
	if (tk_clock_monotonic_ns() >= until) {
		last_words(w, words, sizeof words);
		return give_up(w, end, TK_OUTCOME_TIMEOUT, "no answer after %.3g s: killed%s%s",
		        deadline_s, words[0] ? ": " : "", words);
	}
	return 0;
}

static int wait_slice(int fd, short events, int64_t until)
{
	struct pollfd p = {.fd = fd, .events = events};
	int64_t left_ms = (until - tk_clock_monotonic_ns()) / 1000000 + 1;
	int ready = poll(&p, 1, left_ms < 0 ? 0 : left_ms < SLICE_MS ? (int)left_ms : SLICE_MS);
	return ready > 0;
}

#define NOT_YET 2

/* Looks for one line from the worker, and waits a slice for it where it may. 0: *line is a new
 * reference; 1: the request has an outcome; NOT_YET; negative: an error. */
static int look(struct tk_worker *w, double deadline_s, int64_t until, bool wait, json_t **line,
        struct ending *end, struct tk_error *err)
{
	for (;;) {
		enum tk_wire_read what;
		struct tk_error why = {0};
		if (tk_wire_next_line(&w->reader, &what, line, &why))
			return give_up(w, end, TK_OUTCOME_PROTOCOL,
			        "the worker's answer cannot be read: %s", why.message);
		if (what == TK_WIRE_READ_LINE)
			return 0;
		if (wait_slice(w->process.from, POLLIN, wait ? until : 0)) {
			if (tk_wire_read_more(&w->reader, &what, &why))
				return give_up(w, end, TK_OUTCOME_PROTOCOL, "%s", why.message);
			if (what == TK_WIRE_READ_END)
				return died(w, end);
			continue;
		}
		if (tk_worker_process_has_ended(&w->process))
			return died(w, end); /* a child of it may still hold the pipe open */
		int status = watch(w, deadline_s, until, end, err);
		return status ? status : NOT_YET;
	}
}

static int64_t after(double seconds)
{
	return tk_clock_monotonic_ns() + (int64_t)(seconds * 1e9);
}

static int receive(struct tk_worker *w, double deadline_s, int64_t until, json_t **line,
        struct ending *end, struct tk_error *err)
{
	int status;
	do
		status = look(w, deadline_s, until, true, line, end, err);
	while (status == NOT_YET);
	return status;
}

/* The pipe is not blocking: a worker that does not read cannot hold the tracker. */
static int deliver(struct tk_worker *w, const json_t *request, double deadline_s,
        struct ending *end, struct tk_error *err)
{
	int64_t until = after(deadline_s);
	char *text = json_dumps(request, JSON_COMPACT | JSON_REAL_PRECISION(17));
	if (!text)
		return tk_fail(
		        err, TK_EDATA, "the request cannot be written: a text in it is no UTF-8");
	size_t len = strlen(text), done = 0;
	int status = 0;
	text[len++] = '\n';
	while (status == 0 && done < len) {
		ssize_t n = write(w->process.to, text + done, len - done);
		if (n > 0)
			done += (size_t)n;
		else if (errno == EAGAIN && !wait_slice(w->process.to, POLLOUT, until))
			status = tk_worker_process_has_ended(&w->process)
			                 ? died(w, end)
			                 : watch(w, deadline_s, until, end, err);
		else if (errno != EAGAIN && errno != EINTR)
			status = died(w, end);
	}
	free(text);
	return status;
}

static int start(struct tk_worker *w, struct ending *end, struct tk_error *err)
{
	struct tk_worker_process_spec spec = {.program = w->program,
	        .cores = w->cpu_list ? &w->cores : NULL,
	        .threads = w->threads,
	        .memory_limit_bytes = w->memory_limit_bytes,
	        .log_fd = w->log_fd,
	        .token_fd = w->token_fd,
	        .limit_address_space =
	                strcmp(w->device_kind, "cpu") == 0 || strcmp(w->device_kind, "null") == 0};
	json_t *hello = NULL;
	int status = tk_worker_process_start(&spec, &w->process, err);
	if (status)
		return status;
	w->reader = (struct tk_wire_reader){.fd = w->process.from};
	status = receive(w, HELLO_S, after(HELLO_S), &hello, end, err);
	if (status > 0)
		return tk_fail(
		        err, TK_EIO, "%s does not work as a worker: %s", w->program, end->message);
	if (status < 0)
		return status;
	const char *word = json_string_value(json_object_get(hello, "hello"));
	json_int_t version = json_integer_value(json_object_get(hello, "protocol"));
	if (!word || strcmp(word, "tracker-worker") != 0 || version != TK_WIRE_PROTOCOL)
		status = tk_fail(err, TK_EVERSION,
		        "%s speaks version %lld of the worker protocol, expected %d", w->program,
		        (long long)version, TK_WIRE_PROTOCOL);
	json_decref(hello);
	if (status)
		end_process(w, 0);
	return status;
}

/* A process that is there, has said nothing unasked, and has not loaded another backend. */
static int ready(struct tk_worker *w, const char *backend, struct ending *end, struct tk_error *err)
{
	bool stale = w->loaded && backend && strcmp(w->loaded, backend) != 0;
	if (w->process.pid && (stale || w->process.to < 0 || w->reader.buf.len > 0 ||
	                              tk_worker_process_has_ended(&w->process) ||
	                              wait_slice(w->process.from, POLLIN, tk_clock_monotonic_ns())))
		end_process(w, stale ? 1 : 0);
	return w->process.pid ? TK_OK : start(w, end, err);
}

/* `request` gets its id. 0: it is on its way; 1: `end` says how it ended; negative: an error. */
static int post(struct tk_worker *w, json_t *request, double deadline_s, struct ending *end,
        struct tk_error *err)
{
	const char *backend = json_string_value(json_object_get(request, "backend"));
	int status = tk_worker_wait_open(w, err);
	if (status)
		return status;
	w->log_start = log_size(w);
	w->oom_kills = tk_kernel_oom_kill_count();
	if ((status = ready(w, backend, end, err)))
		return status;
	if (backend && !w->loaded && !(w->loaded = strdup(backend)))
		return tk_fail(err, TK_ENOMEM, "out of memory");
	json_object_set_new(request, "id", json_integer(++w->last_id));
	return deliver(w, request, deadline_s, end, err);
}

/* 0: *result is a new reference; 1: `end` says how it ended. */
static int open_answer(struct tk_worker *w, json_t *answer, json_t **result, struct ending *end)
{
	struct tk_error why = {0};
	int status = tk_answer_unwrap(
	        answer, w->last_id, result, &end->outcome, end->message, end->size, &why);
	json_decref(answer);
	if (status)
		return give_up(w, end, TK_OUTCOME_PROTOCOL, "the worker's answer is wrong: %s",
		        why.message);
	return *result ? 0 : 1;
}

static int ask(struct tk_worker *w, json_t *request, double deadline_s, json_t **result,
        struct ending *end, struct tk_error *err)
{
	json_t *answer = NULL;
	int status = post(w, request, deadline_s, end, err);
	if (status == 0)
		status = receive(w, deadline_s, after(deadline_s), &answer, end, err);
	return status ? status : open_answer(w, answer, result, end);
}

/* A process whose open failed goes: the job that follows gets another one, and its reason. */
int tk_worker_wait_open(struct tk_worker *w, struct tk_error *err)
{
	char message[1024] = "";
	struct ending end = {TK_OUTCOME_FAILED, message, sizeof message};
	json_t *answer = NULL, *nothing = NULL;
	double deadline_s = w->opening_s;
	if (!(deadline_s > 0))
		return TK_OK;
	w->opening_s = 0;
	int status = receive(w, deadline_s, w->opening_until, &answer, &end, err);
	if (status == 0)
		status = open_answer(w, answer, &nothing, &end);
	json_decref(nothing);
	if (status > 0)
		end_process(w, 0);
	return status < 0 ? status : TK_OK;
}

static void add_text(json_t *request, const char *name, const char *value)
{
	if (value)
		json_object_set_new(request, name, json_string(value));
}

static json_t *new_request(const struct tk_worker *w, const char *command)
{
	json_t *r = json_object();
	add_text(r, "cmd", command);
	add_text(r, "device_layer", w->device_layer);
	json_object_set_new(r, "device_index", json_integer(w->device_index));
	add_text(r, "device_uuid", w->device_uuid && *w->device_uuid ? w->device_uuid : NULL);
	json_object_set_new(r, "threads", json_integer(w->threads));
	return r;
}

int tk_worker_start_open(struct tk_worker *w, const char *backend_path, const char *options,
        double deadline_s, struct tk_error *err)
{
	char message[1024] = "";
	struct ending end = {TK_OUTCOME_FAILED, message, sizeof message};
	json_t *request = new_request(w, backend_path ? "open" : "device");
	add_text(request, "backend", backend_path);
	add_text(request, "options", options);
	int status = post(w, request, deadline_s, &end, err);
	json_decref(request);
	if (status == 0) {
		w->opening_s = deadline_s;
		w->opening_until = after(deadline_s);
	}
	return status < 0 ? status : TK_OK;
}

static json_t *measure_request(const struct tk_worker *w, const struct tk_job_request *q)
{
	json_t *r = new_request(w, "measure");
	add_text(r, "backend", q->backend_path);
	add_text(r, "options", q->backend_options);
	add_text(r, "problem", q->problem);
	add_text(r, "config", q->config);
	add_text(r, "mode", q->mode);
	if (q->sets)
		json_object_set_new(r, "sets", json_integer(q->sets));
	if (q->rest_s > 0)
		json_object_set_new(r, "rest_s", json_real(q->rest_s));
	json_object_set_new(r, "seed", json_integer((json_int_t)q->seed));
	json_object_set_new(r, "measure_s", json_real(q->measure_s));
	json_object_set_new(r, "relative_half_width", json_real(q->relative_half_width));
	json_object_set_new(r, "confidence", json_real(q->confidence));
	json_object_set_new(r, "min_samples", json_integer(q->min_samples));
	json_object_set_new(r, "max_samples", json_integer(q->max_samples));
	json_object_set_new(r, "verify", json_boolean(q->verify));
	if (w->token_fd > 0) {
		json_object_set_new(r, "baton", json_integer(w->token_fd));
		json_object_set_new(r, "baton_begin_s", json_real(q->deadline_s));
	}
	if (w->token_fd > 0 && q->baton_wait_s > 0)
		json_object_set_new(r, "baton_wait_s", json_real(q->baton_wait_s));
	return r;
}

int tk_worker_start_measure(
        struct tk_worker *w, const struct tk_job_request *request, struct tk_error *err)
{
	struct pending *p = &w->pending;
	*p = (struct pending){
	        .deadline_s = request->deadline_s, .started = tk_clock_monotonic_ns()};
	struct ending end = {TK_OUTCOME_FAILED, p->message, sizeof p->message};
	json_t *question = measure_request(w, request);
	int status = post(w, question, request->deadline_s, &end, err);
	json_decref(question);
	p->until = after(request->deadline_s);
	p->ended = status > 0;
	p->outcome = end.outcome;
	return status < 0 ? status : TK_OK;
}

/* The result of a job that has ended, in a process that is then fit for the next one. */
static void close_measure(struct tk_worker *w, json_t *raw, struct tk_job_result *out)
{
	struct pending *p = &w->pending;
	struct ending end = {p->outcome, p->message, sizeof p->message};
	struct tk_error why = {0};
	*out = (struct tk_job_result){.outcome = TK_OUTCOME_FAILED};
	if (raw && tk_answer_check_measurement(
	                   raw, &end.outcome, p->message, sizeof p->message, &out->result, &why))
		give_up(w, &end, TK_OUTCOME_PROTOCOL, "the worker's answer is wrong: %s",
		        why.message);
	json_decref(raw);
	memcpy(out->message, p->message, sizeof out->message);
	out->outcome = end.outcome;
	out->wall_s = (double)(tk_clock_monotonic_ns() - p->started) * 1e-9;
	/* What failed may have left the process in any state: the next job gets another one. */
	if (!tk_outcome_has_timing(out->outcome) && out->outcome != TK_OUTCOME_UNSUPPORTED)
		end_process(w, 0);
}

static int poll_measure(
        struct tk_worker *w, bool wait, bool *done, struct tk_job_result *out, struct tk_error *err)
{
	struct pending *p = &w->pending;
	struct ending end = {TK_OUTCOME_FAILED, p->message, sizeof p->message};
	json_t *answer = NULL, *raw = NULL;
	*done = p->ended;
	if (!p->ended) {
		int status = look(w, p->deadline_s, p->until, wait, &answer, &end, err);
		if (status < 0 || status == NOT_YET)
			return status < 0 ? status : TK_OK;
		if (status == 0)
			open_answer(w, answer, &raw, &end);
		p->outcome = end.outcome;
		*done = true;
	}
	close_measure(w, raw, out);
	return TK_OK;
}

int tk_worker_poll_measure(
        struct tk_worker *w, bool *done, struct tk_job_result *out, struct tk_error *err)
{
	return poll_measure(w, false, done, out, err);
}

int tk_worker_measure(struct tk_worker *w, const struct tk_job_request *request,
        struct tk_job_result *out, struct tk_error *err)
{
	bool done = false;
	int status = tk_worker_start_measure(w, request, err);
	*out = (struct tk_job_result){.outcome = TK_OUTCOME_FAILED};
	while (status == TK_OK && !done)
		status = poll_measure(w, true, &done, out, err);
	return status;
}

int tk_worker_fd(const struct tk_worker *w)
{
	return w->process.pid ? w->process.from : -1;
}

void tk_worker_set_paused(struct tk_worker *w, bool hold)
{
	if (w->process.pid && !w->process.ended)
		kill(-w->process.pid, hold ? SIGSTOP : SIGCONT);
}

void tk_job_result_free(struct tk_job_result *r)
{
	if (!r)
		return;
	json_decref(r->result);
	r->result = NULL;
}

static int status_of(enum tk_outcome outcome)
{
	switch (outcome) {
	case TK_OUTCOME_NO_DEVICE:
		return TK_ENOTFOUND;
	case TK_OUTCOME_CRASHED:
		return TK_ECRASH;
	case TK_OUTCOME_TIMEOUT:
		return TK_ETIMEOUT;
	case TK_OUTCOME_OUT_OF_MEMORY:
		return TK_ENOMEM;
	case TK_OUTCOME_UNSUPPORTED:
		return TK_EUNSUPPORTED;
	default:
		return TK_EDATA;
	}
}

/* A question whose answer is an object or an error. */
static int describe(struct tk_worker *w, json_t *request,
        int (*check)(const json_t *, json_t **, struct tk_error *), json_t **out,
        struct tk_error *err)
{
	char message[1024] = "";
	struct ending end = {TK_OUTCOME_FAILED, message, sizeof message};
	json_t *raw = NULL;
	int status = ask(w, request, ASK_S, &raw, &end, err);
	json_decref(request);
	if (status > 0)
		status = tk_fail(err, status_of(end.outcome), "%s", message);
	else if (status == 0)
		status = check(raw, out, err);
	json_decref(raw);
	if (status && status != TK_ECANCELED)
		end_process(w, 0);
	return status;
}

int tk_worker_query_device(struct tk_worker *w, json_t **out, struct tk_error *err)
{
	return describe(w, new_request(w, "device"), tk_answer_check_device, out, err);
}

int tk_worker_query_backend(
        struct tk_worker *w, const char *backend_path, json_t **out, struct tk_error *err)
{
	json_t *request = new_request(w, "backend");
	add_text(request, "backend", backend_path);
	return describe(w, request, tk_answer_check_backend, out, err);
}
