/* State and steps of one job of the timing engine, shared by its files. Private to measure/.
 *
 * Every step returns 0 to continue, TK_ENGINE_JOB_ENDED when the job has an outcome (already
 * written to `out`), or a negative TK_E... when the engine itself failed. */
#ifndef TK_MEASURE_ENGINE_H
#define TK_MEASURE_ENGINE_H
#include "base/device_token.h"
#include "measure/measure.h"

#define TK_ENGINE_JOB_ENDED 1
#define TK_ENGINE_GRAPHS_MAX 16
#define TK_ENGINE_STREAMS_MAX 4
/* Mode contended: the share of the time in which copies run beside the kernel. */
#define TK_ENGINE_MEMORY_LOAD_SHARE 0.5
#define TK_ENGINE_MARK_BYTES 256

/* Bytes of an output that were overwritten before a sample and that its launches must restore. */
struct tk_engine_mark {
	bool is_set;
	uint32_t set, tensor;
	size_t offset, bytes;
	unsigned char value;
	uint64_t next_sample; /* index of the sample before which the next mark is made */
};

struct tk_engine {
	const struct tk_device_ops *ops;
	struct tk_device *device;
	const struct tk_backend *backend;
	struct tk_backend_ctx *ctx;
	const struct tk_problem_spec *problem;
	const struct tk_measure_options *options;
	struct tk_measurement *out;
	struct tk_error *err;
	struct tk_abi_error abi; /* of the call that failed last */
	const char *call;        /* which of the calls of a sample it was */
	struct tk_device_info info;

	/* Host copies: inputs as filled, outputs as fetched last. */
	struct tk_tensor host[TK_T_MAX];
	size_t host_bytes[TK_T_MAX];  /* allocated */
	size_t host_filled[TK_T_MAX]; /* bytes that hold inputs */
	uint32_t tensor_count;

	/* Input sets on the device: equal values at different addresses. */
	struct tk_tensor (*sets)[TK_T_MAX];
	uint32_t set_count;
	uint32_t cold_set_count;   /* sets that it takes to keep the caches cold */
	uint32_t active_set_count; /* sets that the launches rotate over */
	uint32_t next_set;
	void *arena;              /* one allocation with all sets; NULL: each tensor has its own */
	void *verified[TK_T_MAX]; /* copies on the device of outputs that passed; NULL: not kept */
	uint64_t memory_before;   /* memory used on the device before the job, plus 1; 0: unknown */

	struct tk_plan *plan;
	void *streams
	        [TK_ENGINE_STREAMS_MAX]; /* bursts rotate over them: their host paths may differ */
	uint32_t stream_count, next_stream;
	void *stream; /* of the current burst */
	void *start_event, *end_event;
	void *start_stamp, *end_stamp;      /* NULL: the device has no clock stamps */
	void *graphs[TK_ENGINE_GRAPHS_MAX]; /* of one burst each; bursts rotate over them */
	uint32_t graph_first_sets[TK_ENGINE_GRAPHS_MAX]; /* that each of them launches on */
	uint32_t graph_count, next_graph;

	double launch_ns;   /* estimate that the batch was chosen by */
	uint64_t batch;     /* launches of one burst */
	uint64_t bursts;    /* of one sample */
	double block_ns;    /* the stream is blocked while a sample is enqueued; 0: not */
	double idle_gap_ns; /* mean time between two samples; 0: none */
	uint64_t idle_gap_count;
	double memory_load_ns; /* traffic beside one sample (mode contended); 0: none */

	struct tk_device_token
	        *token;    /* of an A/B pair; always held by a job that has the device alone */
	bool is_sampled;   /* this job needs no more samples; its peer may */
	bool has_interval; /* enough samples for the requested confidence */

	double sample_mhz; /* compute clock of the last sample; NAN: unknown */
	double peak_mhz;   /* highest of this job */
	double idle_mhz;   /* of the waiting device: no power limit lowers it; NAN: unknown */
	double *clocks;    /* MHz of each sample; NULL without stamps */

	struct tk_engine_sequence *sequence; /* NULL: the kernel is launched alone */
	struct tk_engine_trace *trace;       /* NULL: none */

	uint64_t random; /* of the checks between and after the samples */
	struct tk_engine_mark mark;
	uint64_t next_change;      /* index of the sample before which an input changes */
	double changes_s;          /* time of all bursts on changed inputs */
	uint32_t reference_checks; /* for timed results with other bits than the verified ones */
};

/* Sets the outcome and its message. Returns TK_ENGINE_JOB_ENDED. */
int tk_engine_end_job(struct tk_engine *e, enum tk_outcome outcome, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
/* 0 for TK_ABI_OK; otherwise ends the job with the outcome of that status. `what`: the call,
 * "plan". */
int tk_engine_check_status(struct tk_engine *e, int status, const char *what);
/* Whether a backend declares that it takes tensors where this problem has them: 0, or the job ends
 * as unsupported. */
int tk_engine_check_layout(
        struct tk_engine *e, const struct tk_backend *b, const struct tk_problem *p);
/* The power limit is the only reason for throttling. The text is the one that tracker_abi.h
 * defines. */
bool tk_telemetry_is_power_limit(const struct tk_telemetry *t);

/* checks.c: the first launches and their verification. If the device can block a stream,
 * verification runs in a thread during the warm-up, between start and finish; otherwise start does
 * all of it. Call finish in any case. */
struct tk_engine_verification;
int tk_engine_verify_start(struct tk_engine *e, struct tk_engine_verification **out);
int tk_engine_verify_finish(struct tk_engine *e, struct tk_engine_verification *v);

/* checks.c: that timed launches did their work. Draws the seed that decides where and when;
 * overwrites a piece of an output before some samples; looks at it after them. */
void tk_engine_seed_checks(struct tk_engine *e);
int tk_engine_mark_output(struct tk_engine *e);
int tk_engine_check_mark(struct tk_engine *e);
/* Between samples, at random distances: a burst on an input whose signs have changed, which is not
 * recorded. */
int tk_engine_check_changed_input(struct tk_engine *e);
/* After the samples: the sets of the last one, and a burst on a changed input once more. */
int tk_engine_verify_timed(struct tk_engine *e);

/* trace.c: launches that record regions inside their kernels. end: in any case. */
int tk_engine_trace_start(struct tk_engine *e);
int tk_engine_trace_write(struct tk_engine *e);
void tk_engine_trace_end(struct tk_engine *e);

/* tensors.c: as many input sets on the device as the cache mode needs, and access to outputs. */
int tk_engine_make_sets(struct tk_engine *e);
void tk_engine_free_sets(struct tk_engine *e);
/* Fills the outputs of a set with NaN, so that verification finds elements that a kernel does not
 * write; padding between rows with zeros, which a kernel is to leave. */
int tk_engine_poison_outputs(struct tk_engine *e, uint32_t set);
/* Waits for the launches, and lets the backend convert the outputs of a set. */
int tk_engine_finish_outputs(struct tk_engine *e, uint32_t set);
int tk_engine_fetch_outputs(struct tk_engine *e, uint32_t set); /* into e->host */
/* Keeps the verified outputs of a set; compares those of another set with them, bit by bit. */
int tk_engine_save_outputs(struct tk_engine *e, uint32_t set);
int tk_engine_compare_outputs(struct tk_engine *e, uint32_t set, bool *same);
void tk_engine_sample_memory(struct tk_engine *e); /* updates the job's peak of device memory */

/* timing.c: one sample; samples until the stopping rule is met. */
int tk_engine_collect_samples(struct tk_engine *e);
int tk_engine_launch(struct tk_engine *e, uint32_t set);
int tk_engine_enqueue_launches(struct tk_engine *e);
int tk_engine_synchronize(struct tk_engine *e);
int tk_engine_time_sample(struct tk_engine *e, double *ns); /* mean time of one launch */
int tk_engine_measure_launch_cost(struct tk_engine *e);
int tk_engine_read_telemetry(struct tk_engine *e, struct tk_telemetry *out);
/* Waits for the device token; ends the job if the peer has gone on without this process. */
int tk_engine_acquire_device(struct tk_engine *e);
/* Monotonic time minus the time in which the peer held the device; a simulated device has a time of
 * its own. */
int64_t tk_engine_now_ns(const struct tk_engine *e);

/* warm_up.c: keeps off the power governor, or waits until it has settled; chooses the batch,
 * captures graphs, and warms up. */
bool tk_engine_is_paced(const struct tk_engine *e);
bool tk_engine_has_bursts(const struct tk_engine *e);               /* paced or sustained */
struct tk_stop_rule tk_engine_stop_rule(const struct tk_engine *e); /* valid after the warm-up */
int tk_engine_wait_idle_gap(struct tk_engine *e);
int tk_engine_warm_up(struct tk_engine *e);
void tk_engine_free_graphs(struct tk_engine *e);

/* Until two windows agree; for devices with a power governor, until that has settled. */
int tk_engine_settle(struct tk_engine *e);

/* sequence.c: mode sequence. start: after the warm-up alone; from then on e->options are the given
 * ones. free: in any case. */
int tk_engine_start_sequence(struct tk_engine *e, const struct tk_measure_options *options);
void tk_engine_summarize_sequence(struct tk_engine *e);
void tk_engine_free_sequence(struct tk_engine *e);
/* One sample, and the time of a launch in it; read: *ns has that of a round before. */
int tk_engine_enqueue_sequence(struct tk_engine *e);
int tk_engine_read_sequence(struct tk_engine *e, double *ns);

#endif
