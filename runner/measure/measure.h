/* The timing engine: one for all backends. It runs inside the worker process on top of a device
 * layer and stores nothing.
 *
 * One job: tensors and seeded inputs -> plan -> first launches -> verify -> warm up -> sample until
 * the confidence interval of the median is narrow enough or the budget is spent.
 * docs/explanation/measuring.md gives the reason for each step. */
#ifndef TK_MEASURE_H
#define TK_MEASURE_H
#include "base/base.h"
#include "core/problem.h"
#include "core/vocabulary.h"
#include "stats/summary.h"

struct tk_device_token;

/* All launches of the job record regions inside their kernels; those after the last sample are
 * written down (core/trace_file.h). */
struct tk_trace_request {
	int fd; /* of a file, written from its beginning */
	uint32_t launches;
	const struct tk_trace_kernel *const *kernels; /* of the backend */
	uint32_t kernel_count;
};

/* A kernel beside the measured one, in mode sequence, with the backend that launches it. */
struct tk_sequence_kernel {
	struct tk_problem_spec problem;
	const struct tk_backend *backend;
	struct tk_backend_ctx *ctx;
};

/* The kernels of a layer in the order of their launches. The measured problem takes the place of
 * kernel `position`, which has the same text; where none has, `position` is `count`, and it comes
 * after the last one. */
struct tk_sequence {
	struct tk_sequence_kernel *kernels;
	uint32_t count, position;
};

struct tk_measure_options {
	uint64_t seed;       /* of the inputs */
	uint64_t check_seed; /* of what is checked and when; 0: drawn, so that nobody knows it */
	enum tk_mode mode;
	/* In the modes with bursts the result is checked against the half-width; the engine aims at
	 * less. */
	struct tk_stop_rule stop;
	double max_warmup_s;
	double min_sample_ns; /* shorter launches are batched; a sample is a batch's mean */
	double idle_gap_ns;   /* paced, contended: between two bursts; 0: found for the kernel */
	uint32_t sets;        /* input sets to rotate over; 0: as many as the mode needs */
	bool verify;
	bool profile; /* let a profiler record one launch before the samples */
	const struct tk_trace_request *trace; /* NULL: none */
	const char *config;                   /* NULL: the backend's best guess */
	uint32_t threads;                     /* CPU */
	const struct tk_sequence *sequence;   /* mode sequence */
	struct tk_device_token *token; /* shared with the other worker of an A/B pair; NULL: none */
};

struct tk_verify_result {
	bool done, passed;
	char method[32];             /* "freivalds+entries", "rows" */
	double max_error, tolerance; /* relative, as docs/explanation/verification.md defines */
	int64_t checked;             /* entries or rows */
	char detail[256];            /* "row 17 of head 3: got nan, expected 0.1293" */
};

/* What mode sequence measures beside the time. NAN: another mode. */
struct tk_sequence_result {
	/* Median and its interval without the sequence, in the device's default mode. */
	double alone_ns, alone_lo_ns, alone_hi_ns, alone_mhz;
	double ratio, ratio_lo, ratio_hi; /* median in the sequence / alone, by their intervals */
	double event_cost_ns; /* what timing one launch by its own events adds; subtracted */
	double round_ns;      /* mean time of the whole sequence with the measured kernel */
	uint64_t kernels;     /* other kernels of the sequence */
};

/* Times are of one execution of the kernel. NAN: unknown. */
struct tk_measurement {
	enum tk_outcome outcome;
	char message[512]; /* the reason, unless the outcome is ok */
	double *samples;   /* ns, in order of time; owned */
	uint64_t sample_count;
	uint64_t launches_per_sample;
	struct tk_summary summary; /* of samples */
	double lo, hi;             /* confidence interval of the median, ns */
	double confidence;
	enum tk_stop stop;
	double warmup_s, measure_s, setup_s, verify_s;
	double inputs_s, plan_s; /* parts of setup_s: filling host tensors; plan() and bind() */
	double launch_ns;        /* host cost of enqueueing one launch, minimum */
	struct tk_verify_result verdict;
	uint64_t check_seed; /* with it the same checks are made again */
	uint32_t marks;      /* pieces of outputs that timed launches had to restore */
	struct tk_plan_info plan;
	double flops, bytes; /* of the problem; what the plan claims does not count */
	uint32_t sets;       /* input sets that were rotated over */
	struct tk_telemetry before, after;
	uint64_t throttled_samples;
	enum tk_mode mode;
	double clock_mhz, clock_min_mhz; /* compute clock during the samples: median, lowest */
	double cycles;                   /* median over the samples of time times clock */
	double idle_gap_ns;              /* mean, between two samples; 0: none */
	double energy_j; /* NAN with idle gaps and in A/B pairs: the counter includes others */
	struct tk_sequence_result sequence;
	uint64_t device_bytes; /* peak of the job's device memory when sampled; 0: unknown */
};

/* TK_OK with an outcome in *out, also if the backend rejects the problem, returns wrong results or
 * runs out of memory. Errors are the engine's own. Free *out with tk_measurement_free(). */
int tk_measure(const struct tk_device_ops *ops, struct tk_device *device,
        const struct tk_backend *backend, struct tk_backend_ctx *ctx,
        const struct tk_problem_spec *problem, const struct tk_measure_options *options,
        struct tk_measurement *out, struct tk_error *err);
void tk_measurement_free(struct tk_measurement *m);

/* Fills a tensor's host copy. Value i of tensor t is a function of (seed, t, i, distribution)
 * alone, so every backend gets the same bits. */
int tk_inputs_fill(const struct tk_problem_spec *problem, uint32_t tensor, uint64_t seed,
        void *data, struct tk_error *err);
/* The same for a tensor whose first `filled` bytes (whole elements, or all of it) are filled
 * already. */
int tk_inputs_fill_from(const struct tk_problem_spec *problem, uint32_t tensor, uint64_t seed,
        size_t filled, void *data, struct tk_error *err);

/* The tokens of text:NAME for the problems that follow. The last text is kept. */
int tk_text_inputs_set(
        const char *name, const uint16_t *tokens, size_t count, struct tk_error *err);

/* Verifies host copies of inputs and outputs (indexed by enum tk_tensor_id) in double precision. */
int tk_verify_outputs(const struct tk_problem_spec *problem, const struct tk_tensor *host_tensors,
        uint64_t seed, struct tk_verify_result *out, struct tk_error *err);

/* Element i of a tensor as double; rounds to nearest, ties to even. */
double tk_element_get(const struct tk_tensor *t, int64_t i);
void tk_element_set(struct tk_tensor *t, int64_t i, double value);

#endif
