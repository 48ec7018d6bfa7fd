/* One request and its answer, with every way in which the exchange can end: the parent's process
 * handle, connection and log of a worker. Private to worker/. */
#ifndef TK_WORKER_EXCHANGE_H
#define TK_WORKER_EXCHANGE_H
#include "base/process.h"
#include "core/limits.h"
#include "core/vocabulary.h"
#include "worker/process.h"
#include "worker/wire.h"
#include "worker/worker.h"

/* Results of the functions below besides 0 and negative TK_E... . ENDED: the worker's `outcome` and
 * `message` say how. */
enum { TK_EXCHANGE_ENDED = 1, TK_EXCHANGE_PENDING = 2 };

/* A job that was sent and whose result has not been fetched yet. */
struct tk_pending_job {
	bool has_ended; /* before all of it was sent */
	int64_t start_ns;
	struct tk_process_usage used_before; /* by the process */
	char problem[TK_PROBLEM_TEXT_MAX];
	struct tk_limits limits; /* all unknown: nothing is checked */
	double referee_below_ns, deadline_s;
	json_t *request; /* as it was sent; NULL: no referee can be asked for */
};

struct tk_worker {
	struct tk_worker_spec spec; /* its texts are the worker's */
	cpu_set_t cores;
	struct tk_worker_log log;
	struct tk_worker_process process;
	struct tk_process_tree tree; /* of the process */
	bool sandbox_failed;         /* the last process ended before its program ran */
	struct tk_wire_reader reader;
	char *readable_folder; /* of the backend that the process was started for; NULL: none */
	char *loaded_backend;  /* path; NULL: the process has loaded none */
	char *python_package;  /* path; the process was started in its Python; NULL: in none */
	/* the last request */
	int64_t last_id, deadline_ns;
	double deadline_s;
	enum tk_outcome outcome; /* how it ended */
	char message[1024];
	int64_t oom_kills; /* of the system, when it was sent */
	bool is_opening;   /* it opens the device or a backend, and its answer was not read */
	struct tk_pending_job pending;
	struct tk_worker *referee;  /* judges the last job; NULL: none does */
	struct tk_job_result claim; /* what it judges */
	json_t *burst_answer;       /* of this worker to it; NULL: none yet */
};

/* Its kind of device does not work within the sandbox. */
bool tk_worker_is_unsandboxed(const struct tk_worker *w);

/* Ends the process, and sets how the request ended. Returns TK_EXCHANGE_ENDED. */
int tk_exchange_give_up(struct tk_worker *w, enum tk_outcome outcome, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

/* judging.c: whether the result of the job that has just ended is to be judged; starts a referee,
 * which takes the result over; waits for what it says, as tk_worker_poll_measure(). */
bool tk_judging_is_due(const struct tk_worker *w, const struct tk_job_result *result);
int tk_judging_start(
        struct tk_worker *w, bool *done, struct tk_job_result *result, struct tk_error *err);
int tk_judging_poll(struct tk_worker *w, bool wait, bool *done, struct tk_job_result *out,
        struct tk_error *err);
void tk_judging_end(struct tk_worker *w);

/* Sends a request to a process that is ready for it, and starts one where necessary. The request
 * gets its id, and is consumed. 0: sent; the deadline counts from then on. */
int tk_exchange_post(struct tk_worker *w, json_t *request, double deadline_s, struct tk_error *err);
/* Reads one line. 0: *line is a new reference. TK_EXCHANGE_PENDING: none yet; with `wait` this
 * returns only after a time slice, in which deadline, memory, processes, log and cancellation
 * are checked. */
int tk_exchange_poll(struct tk_worker *w, bool wait, json_t **line, struct tk_error *err);
/* The same until there is a line. */
int tk_exchange_receive(struct tk_worker *w, json_t **line, struct tk_error *err);
/* Unwraps an answer to the last request, and consumes it. 0: *result is a new reference. */
int tk_exchange_unwrap(struct tk_worker *w, json_t *answer, json_t **result);

#endif
