/* One request and its answer, with every way in which the exchange can end: the parent's process
 * handle, connection and log of a worker. Private to worker/. */
#ifndef TK_WORKER_EXCHANGE_H
#define TK_WORKER_EXCHANGE_H
#include "base/process_tree.h"
#include "core/limits.h"
#include "core/outcome.h"
#include "worker/process.h"
#include "worker/wire.h"
#include "worker/worker_log.h"

/* Results of the functions below besides 0 and negative TK_E... . */
enum { TK_EXCHANGE_ENDED = 1, TK_EXCHANGE_PENDING = 2 };

/* A job that was sent and whose result has not been fetched yet. */
struct tk_pending_job {
	bool has_ended; /* before all of it was sent */
	enum tk_outcome outcome;
	double deadline_s;
	int64_t start_ns, deadline_ns;
	char message[1024];
	char problem[TK_PROBLEM_TEXT_MAX];
	struct tk_limits limits; /* all unknown: nothing is checked */
};

struct tk_worker {
	struct tk_pending_job pending;
	char *program, *device_kind, *device_layer, *modules_dir, *device_uuid, *cpu_list;
	uint32_t device_index, threads;
	uint64_t memory_limit_bytes;
	cpu_set_t cores;
	int token_fd, trace_fd;
	const char *const *profiler; /* NULL: none */
	struct tk_worker_log log;
	struct tk_worker_process process;
	struct tk_process_tree tree; /* of the process */
	bool sandbox_failed;         /* the last process ended before its program ran */
	struct tk_wire_reader reader;
	char *readable_folder;  /* of the backend that the process was started for; NULL: none */
	char *loaded_backend;   /* path; NULL: the process has loaded none */
	char *python_package;   /* path; the process was started in its Python; NULL: in none */
	double open_deadline_s; /* an open request was sent and may take this long; 0: none */
	int64_t open_deadline_ns;
	int64_t last_id;
	int64_t oom_kills; /* of the system, when the request was sent */
};

/* How a request ended; filled where a function returns TK_EXCHANGE_ENDED. */
struct tk_exchange_end {
	enum tk_outcome outcome;
	char *message;
	size_t size;
};

/* Its kind of device does not work within the sandbox. */
bool tk_worker_is_unsandboxed(const struct tk_worker *w);

/* Ends the process, and fills `end`. Returns TK_EXCHANGE_ENDED. */
int tk_exchange_give_up(struct tk_worker *w, struct tk_exchange_end *end, enum tk_outcome outcome,
        const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void tk_exchange_end_process(struct tk_worker *w, double grace_s);

/* Sends a request to a process that is ready for it, and starts one where necessary. The request
 * gets its id. 0: sent. */
int tk_exchange_post(struct tk_worker *w, json_t *request, double deadline_s,
        struct tk_exchange_end *end, struct tk_error *err);
/* Reads one line. 0: *line is a new reference. TK_EXCHANGE_PENDING: none yet; with `wait` this
 * returns only after a time slice, in which deadline, memory, processes, log and cancellation
 * are checked. */
int tk_exchange_poll(struct tk_worker *w, double deadline_s, int64_t deadline_ns, bool wait,
        json_t **line, struct tk_exchange_end *end, struct tk_error *err);
/* The same until there is a line. */
int tk_exchange_receive(struct tk_worker *w, double deadline_s, int64_t deadline_ns, json_t **line,
        struct tk_exchange_end *end, struct tk_error *err);
/* Unwraps an answer to the last request, and consumes it. 0: *result is a new reference. */
int tk_exchange_unwrap(
        struct tk_worker *w, json_t *answer, json_t **result, struct tk_exchange_end *end);
/* Monotonic time in `seconds` from now. */
int64_t tk_exchange_deadline_ns(double seconds);

/* As tk_worker_set_paused() and tk_worker_wait_open(). */
void tk_exchange_set_paused(struct tk_worker *w, bool paused);
int tk_exchange_wait_open(struct tk_worker *w, struct tk_error *err);

#endif
