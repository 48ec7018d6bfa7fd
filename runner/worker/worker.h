/* The parent's side of a worker: a process of its own that loads one device layer and one backend
 * at a time.
 *
 * The wire is JSON lines over two pipes (docs/reference/worker-protocol.md): requests
 * {"id":1,"cmd":"measure",...}, answers {"id":1,"ok":true,"result":{...}} or
 * {"id":1,"ok":false,"outcome":"failed","message":"..."}. What a backend prints goes to the
 * worker's log. A worker that crashes, hangs, exhausts memory or floods its log is killed: the
 * caller gets an outcome and the next job a new process. */
#ifndef TK_WORKER_H
#define TK_WORKER_H
#include "base/base.h"
#include "core/measurement_fields.h"
#include "core/vocabulary.h"

struct tk_limits;
struct tk_worker;

/* TK_EUSAGE names a core of "0-1,4" that this process may not use: the kernel would drop it
 * silently. */
int tk_cpu_list_check(const char *list, struct tk_error *err);

struct tk_worker_spec {
	const char *program;      /* absolute path of the tracker itself */
	const char *device_kind;  /* "cpu", "cuda", "null" ... */
	const char *device_layer; /* path of the device layer's shared object */
	const char
	        *modules_dir; /* folder of the launchers of compiled kernel packages; NULL: none */
	uint32_t device_index;
	const char *
	        /* selects the device even if its index has changed; NULL or "": by index */
	        device_uuid;
	const char *cpu_list; /* cores to pin the process to, "0-1,4"; NULL: all */
	uint32_t threads;
	uint64_t memory_limit_bytes; /* 0: none */
	const char *log_path; /* stdout and stderr of the process, appended; NULL: /dev/null */
	/* A program with its options that runs the worker, and records what it does; without the
	 * sandbox. Its path is absolute. NULL-terminated, borrowed; NULL: none. */
	const char *const *profiler;
	/* an end of tk_device_token_new_pair(), kept open by the caller until the first job is
	 * sent; 0: none */
	int token_fd;
	/* a file that jobs with `trace_launches` are written to, kept open by the caller; 0: none;
	 * not together with token_fd */
	int trace_fd;
	/* of a referee, which loads no backend and has no sandbox: its end of the socket to the
	 * worker that it judges; 0: none. Set by tk_worker_measure() itself. */
	int referee_fd;
};

/* The kernels of a layer, for mode sequence. Borrowed. */
struct tk_job_sequence {
	const char *const *kernels; /* problems, in the order of their launches */
	size_t count;
	/* Shared objects of backends, for kernels that the measured one does not do; the first one
	 * that does a kernel launches it. */
	const char *backends[4];
	size_t backend_count;
};

/* The tokens of text:NAME. Borrowed. */
struct tk_job_text {
	const char *name;
	const uint16_t *tokens;
	size_t count;
};

/* Zero or NULL selects the worker's default. */
struct tk_job_request {
	const char *backend_path, *backend_options, *problem, *config;
	const char *mode;                       /* as tk_mode_parse() reads it; NULL: cold */
	const struct tk_job_text *text;         /* of a problem with dist=text:NAME, else NULL */
	const struct tk_job_sequence *sequence; /* of mode sequence, else NULL */
	double idle_gap_s;                      /* paced, contended: between two bursts */
	uint32_t sets;                          /* input sets */
	uint64_t seed;                          /* of the inputs */
	uint64_t check_seed; /* of what is checked and when; 0: the worker draws one */
	double deadline_s;   /* of the whole job */
	double measure_s, relative_half_width, confidence;
	uint32_t min_samples, max_samples;
	double token_wait_s; /* how long to wait for the peer of an A/B pair in each turn */
	bool verify;
	bool profile; /* of a worker with a profiler: lets it record one launch */
	/* of a worker with a trace_fd: all launches record, so many are written; 0: none */
	uint32_t trace_launches;
	const struct tk_limits *limits; /* what the device can do at most; NULL: not checked */
	/* a referee judges the result of a job whose median is below this; 0: none, INFINITY: any.
	 * Not of a job that shares the device, records or runs under a profiler. */
	double referee_below_ns;
};

struct tk_job_result {
	enum tk_outcome outcome;
	char message[1024];
	json_t *result; /* the worker's answer, checked against the protocol; owned; NULL: none */
	struct tk_measured_time time; /* of it; NAN where the outcome has no timing */
	double wall_s;
};
void tk_job_result_free(struct tk_job_result *r);

/* Does not start the process: the first request does, and a new process replaces it after a failed
 * job. */
int tk_worker_new(const struct tk_worker_spec *spec, struct tk_worker **out, struct tk_error *err);
void tk_worker_free(struct tk_worker *w);
TK_AUTO_PTR(tk_worker)
/* Gives the process that time to end by itself. The next request starts a new one. NULL: nothing.
 */
void tk_worker_end_process(struct tk_worker *w, double grace_s);
/* Closes the request pipe, so that several workers can exit at the same time before they are
 * freed. */
void tk_worker_close_input(struct tk_worker *w);

/* Starts the process, the device and the backend (NULL: the device alone) before the first job, so
 * that none of it is in a job's wall time. A failure is reported by the job that follows, with an
 * outcome. start only sends, so that many workers can start at the same time; wait waits, as does
 * the next request. The deadline counts from start. */
#define TK_WORKER_OPEN_TIMEOUT_S 120.0 /* a driver may have to be initialized */
int tk_worker_start_open(struct tk_worker *w, const char *backend_path, const char *options,
        double deadline_s, struct tk_error *err);
int tk_worker_wait_open(struct tk_worker *w, struct tk_error *err);

/* Runs one job. However it ends, this is TK_OK with an outcome; an error means that no process
 * could be started, or cancellation. */
int tk_worker_measure(struct tk_worker *w, const struct tk_job_request *request,
        struct tk_job_result *out, struct tk_error *err);
/* The same in two steps, to wait for several workers at once. start sends the job. poll reads what
 * has arrived and checks deadline and limits without waiting; *done: `out` is filled. Between two
 * polls, wait for input on tk_worker_fd(). */
int tk_worker_start_measure(
        struct tk_worker *w, const struct tk_job_request *request, struct tk_error *err);
int tk_worker_poll_measure(
        struct tk_worker *w, bool *done, struct tk_job_result *out, struct tk_error *err);
int tk_worker_fd(const struct tk_worker *w); /* -1: no process */
/* Stops or continues the process with all its threads. Deadlines keep running. */
void tk_worker_set_paused(struct tk_worker *w, bool paused);

/* The device as the worker sees it: members of struct tk_device_info, `attributes` as an object,
 * and "count", the number of devices of this kind. *out is a new reference. A GPU that is found
 * without the sandbox alone gets workers without it, where none is required. */
int tk_worker_query_device(struct tk_worker *w, json_t **out, struct tk_error *err);
/* The sandbox of workers for this kind of device: "bubblewrap", ... or "none". */
const char *tk_worker_sandbox_name(const char *device_kind);
/* One line about this process's workers and builds; new. */
char *tk_worker_describe_sandbox(void);
/* {"name","description","device_kind","version","abi":[1,0]} of a backend. *out is a new
 * reference. */
int tk_worker_query_backend(
        struct tk_worker *w, const char *backend_path, json_t **out, struct tk_error *err);

/* {"configs":[...],"space":bool}: the names of a backend's configurations for a problem, the one it
 * prefers first; empty if it has none. space: they are the points of a struct tk_space, as texts.
 * TK_EUNSUPPORTED: the backend does not do the problem. *out is a new
 * reference. */
int tk_worker_query_configs(struct tk_worker *w, const struct tk_job_request *request, json_t **out,
        struct tk_error *err);

/* The process itself (`tracker worker`, hidden): serves requests on two descriptors until the end
 * of its input. Returns an exit code. */
int tk_worker_serve(int in_fd, int out_fd);

#endif
