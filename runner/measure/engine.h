/* One job of the timing engine, as its files share it. Private to measure/.
 *
 * Functions return 0 to go on, TK_ENGINE_JOB_ENDED where the outcome is decided (and written), or a
 * negative TK_E... where the engine itself could not. */
#ifndef TK_MEASURE_ENGINE_H
#define TK_MEASURE_ENGINE_H
#include "base/device_token.h"
#include "measure/measure.h"

#define TK_ENGINE_JOB_ENDED 1
#define TK_ENGINE_GRAPHS_MAX 16
#define TK_ENGINE_STREAMS_MAX 4

struct tk_engine {
	const struct tk_device_ops *ops;
	struct tk_device *device;
	const struct tk_backend *backend;
	struct tk_backend_ctx *ctx;
	const struct tk_problem_spec *problem;
	const struct tk_measure_options *options;
	struct tk_measurement *out;
	struct tk_error *err;

	struct tk_device_info info;
	struct tk_tensor host[TK_T_MAX]; /* inputs as filled, outputs as fetched last */
	size_t host_bytes[TK_T_MAX];     /* what was allocated for it */
	size_t host_filled[TK_T_MAX];    /* how much of it holds inputs */
	uint32_t tensor_count;
	struct tk_tensor (*sets)[TK_T_MAX]; /* on the device */
	uint32_t set_count;
	uint32_t cold_sets; /* how many of them keep the caches cold */
	uint32_t turn;      /* how many of them are gone through: set_count, or no more than a burst
	                       reaches */
	uint32_t next_set;

	void *arena; /* all sets, where the device can copy by itself; else each tensor is its own
	              */
	void *verified[TK_T_MAX]; /* on the device: the outputs that were checked, where it can
	                             compare by itself */
	uint64_t memory_before;   /* of the device, before the first allocation */

	struct tk_plan *plan;
	void *streams[TK_ENGINE_STREAMS_MAX]; /* of bursts: they take turns, because the way from
	                                       * host to device may differ
	                                       */
	uint32_t stream_count, next_stream;
	void *stream, *from, *to;           /* stream: the one whose turn it is */
	void *graphs[TK_ENGINE_GRAPHS_MAX]; /* of one burst each; they take turns, so that all sets
	                                       are gone through */
	uint32_t graph_count, next_graph;
	void *stamp_from, *stamp_to; /* NULL where the device has no clock stamps */
	bool has_interval;           /* enough samples for the confidence that was asked */
	double launch_ns;            /* of one launch, about: what the batch was chosen by */
	uint64_t batch;              /* launches of one burst */
	uint64_t bursts;             /* of one sample */
	double block_ns; /* how long the stream waits for the host to enqueue a sample; 0: it does
	                    not */
	double rest_ns;  /* between two samples, on average */
	uint64_t rests;  /* how many there were */
	struct tk_device_token *baton; /* of two that share the device, or of one that has it */
	bool enough;                   /* samples: the other one may need more */
	double memory_load_ns;         /* how much traffic belongs to a sample; 0: none */
	double mhz, full_mhz; /* compute clock of the last sample, NAN; highest of this job */
	double idle_mhz; /* the same while the device waits, which nothing limits; NAN where that is
	                    not known */
	double *clocks;  /* of each sample; NULL without stamps */
};

/* Decides the outcome. Returns TK_ENGINE_JOB_ENDED. */
int tk_engine_end_job(struct tk_engine *e, enum tk_outcome outcome, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
/* 0 for TK_ABI_OK, else the outcome that belongs to a status of the contract. `what` says who was
 * asked: "plan", "launch". */
int tk_engine_check_status(
        struct tk_engine *e, int status, const char *what, struct tk_abi_error *abi_err);
struct tk_abi_error tk_engine_abi_error(void);

#define TK_ENGINE_MEMORY_LOAD_SHARE 0.5 /* of the time that copies run beside a loaded kernel */

/* check.c: the first launches and their verification. On a device with a stream that can be held,
 * the host works beside the warm-up, begin to end; elsewhere all is done at the beginning. end is
 * to be called in any case. */
struct tk_engine_verification;
int tk_engine_verify_start(struct tk_engine *e, struct tk_engine_verification **out);
int tk_engine_verify_finish(struct tk_engine *e, struct tk_engine_verification *c);
int tk_engine_verify_set(struct tk_engine *e, uint32_t set); /* what a set's outputs are now */

/* sets.c: host copies with seeded inputs, as many input sets on the device as the cache mode asks
 * for, fetching of outputs. */
int tk_engine_make_sets(struct tk_engine *e);
int tk_engine_poison_outputs(struct tk_engine *e, uint32_t set);
int tk_engine_fetch_outputs(struct tk_engine *e, uint32_t set); /* outputs of a set into e->host */
/* Keeps the outputs of a set, which were checked; whether those of a set are the same bit by bit.
 */
int tk_engine_save_outputs(struct tk_engine *e, uint32_t set);
int tk_engine_compare_outputs(struct tk_engine *e, uint32_t set, bool *same);
void tk_engine_sample_memory(struct tk_engine *e); /* looks at the device's memory now */
void tk_engine_free_sets(struct tk_engine *e);

/* forward.c: O and LSE of a backward pass, by the backend's own forward pass; nothing for other
 * problems. */
int tk_engine_run_forward(struct tk_engine *e);

/* timing.c */
int tk_engine_launch(struct tk_engine *e, uint32_t set);
int tk_engine_synchronize(struct tk_engine *e);
int tk_engine_warm_up(struct tk_engine *e); /* also decides the batch, and captures the graph */
int tk_engine_measure_launch_cost(struct tk_engine *e);
int tk_engine_collect_samples(struct tk_engine *e);
int tk_engine_time_sample(
        struct tk_engine *e, double *ns); /* one sample: nanoseconds of one launch */
int tk_engine_measure_idle_clock(struct tk_engine *e);
void tk_engine_free_graphs(struct tk_engine *e);
int tk_engine_read_telemetry(struct tk_engine *e, struct tk_telemetry *out);

/* timing.c, of two that share the device: a burst takes the baton, unless the rest before it has,
 * and passes it on. */
int tk_engine_acquire_device(struct tk_engine *e);
int64_t tk_engine_now_ns(
        const struct tk_engine *e); /* a clock that stands while the other one has the device */

/* pace.c: what the mode asks of the samples; tk_engine_warm_up calls the second. */
bool tk_engine_is_paced(const struct tk_engine *e);
bool tk_engine_has_bursts(
        const struct tk_engine *e); /* paced or sustained: a device with a governor */
struct tk_stop_rule tk_engine_stop_rule(const struct tk_engine *e); /* after the warm-up */
int tk_engine_settle_clocks(struct tk_engine *e);
int tk_engine_wait_idle_gap(struct tk_engine *e);

#endif
