/* The parent's side of a worker: a process of its own that loads one device layer and one backend
 * at a time.
 *
 * The wire is JSON lines over two pipes (docs/reference/worker-protocol.md): requests
 * {"id":1,"cmd":"measure",...}, answers
 * {"id":1,"ok":true,"result":{...}} or {"id":1,"ok":false,"outcome":"failed","message":"..."}.
 * Whatever a backend prints goes to the worker's log, not to the wire. A worker that crashes,
 * hangs, blows up or babbles is killed; the caller gets an outcome and the next job a fresh worker.
 */
#ifndef TK_WORKER_H
#define TK_WORKER_H
#include "core/outcome.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct tk_error;
struct tk_worker;

/* TK_EUSAGE names a core of "0-1,4" that this process may not use: the kernel would silently leave
 * it out. */
int tk_cpu_list_check(const char *list, struct tk_error *err);

struct tk_worker_spec {
	const char *program;      /* absolute path of the tracker itself */
	const char *device_kind;  /* "cpu", "cuda", "null" ... */
	const char *device_layer; /* path of the device layer's shared object */
	uint32_t device_index;
	const char *device_uuid; /* where indices may have shifted, the device with this UUID is
	                            taken; NULL or "": whatever has the index */
	const char *cpu_list;    /* cores to be pinned to, "0-1,4"; NULL: all */
	uint32_t threads;
	uint64_t memory_limit_bytes; /* 0: none */
	const char *log_path; /* stderr and stdout of the process, appended; NULL: /dev/null */
	int token_fd;         /* an end of tk_device_token_new_pair() for the process; 0: none. The
	                         caller's, open until the first job is	 sent */
};

struct tk_job_request {
	const char *backend_path, *backend_options, *problem, *config;
	const char *mode; /* a word of problem/mode.h; NULL: cold */
	double rest_s;    /* paced: between bursts; 0: found for the kernel */
	uint32_t sets;    /* input sets; 0: as many as the mode asks for */
	uint64_t seed;
	double deadline_s; /* of the whole job */
	double measure_s, relative_half_width, confidence;
	uint32_t min_samples, max_samples;
	double baton_wait_s; /* for one turn of the worker at the baton's other end, once that has
	                        begun; 0: the worker's own idea */
	bool verify;
};

/* `result` is the worker's answer, checked against the schema in docs/reference/worker-protocol.md: a
 * reference of the caller's, NULL where there is none. */
struct tk_job_result {
	enum tk_outcome outcome;
	char message[1024];
	json_t *result;
	double wall_s;
};

/* Starts nothing yet: the process is made with the first job and replaced after one that ended
 * badly. */
int tk_worker_new(const struct tk_worker_spec *spec, struct tk_worker **out, struct tk_error *err);
void tk_worker_free(struct tk_worker *w);
/* Tells the process that nothing more will be asked, so that several end beside each other before
 * they are freed. */
void tk_worker_close_input(struct tk_worker *w);

/* Starts the process, the device and the backend (NULL: the device alone) before the first job asks
 * for them, so that none of it is in a job's wall time. How it fails says the job that follows
 * better: it has an outcome. The first only sends, so that many can start beside each other; the
 * second waits, and so does whatever is asked next: until the deadline, which counts from the
 * first. */
#define TK_WORKER_OPEN_TIMEOUT_S 120.0 /* drivers may have to be started */
int tk_worker_start_open(struct tk_worker *w, const char *backend_path, const char *options,
        double deadline_s, struct tk_error *err);
int tk_worker_wait_open(struct tk_worker *w, struct tk_error *err);
/* Every way a job can end is TK_OK with an outcome; errors are about not being able to start a
 * process at all, or cancellation. */
int tk_worker_measure(struct tk_worker *w, const struct tk_job_request *request,
        struct tk_job_result *out, struct tk_error *err);
/* The same in two steps, so that one caller can wait for the workers of several devices: the first
 * sends the job, the second looks at what has come, at the deadline and at the limits, and does not
 * wait. *done: `out` is filled. Poll tk_worker_fd for input between two looks. */
int tk_worker_start_measure(
        struct tk_worker *w, const struct tk_job_request *request, struct tk_error *err);
int tk_worker_poll_measure(
        struct tk_worker *w, bool *done, struct tk_job_result *out, struct tk_error *err);
int tk_worker_fd(const struct tk_worker *w); /* -1: no process */
/* Stops the process with all its threads, or lets it go on: two workers can run by turns. Deadlines
 * go on. */
void tk_worker_set_paused(struct tk_worker *w, bool hold);

void tk_job_result_free(struct tk_job_result *r);

/* The device as the worker sees it: fields of struct tk_device_info as a JSON object, `attributes`
 * as an object, and "count", the number of devices of this kind; new reference. */
int tk_worker_query_device(struct tk_worker *w, json_t **out, struct tk_error *err);
/* What a backend says of itself: {"name","description","device_kind","version","abi":[1,0]}; new
 * reference. */
int tk_worker_query_backend(
        struct tk_worker *w, const char *backend_path, json_t **out, struct tk_error *err);

/* The process itself (`tracker worker`, hidden): serves requests on the two descriptors until the
 * end of its input. Returns an exit code. */
int tk_worker_serve(int in_fd, int out_fd);

#endif
