/* The timing engine: one for every backend. Runs inside the worker process, stands on a device
 * layer, stores nothing.
 *
 * One job: tensors and seeded inputs -> plan -> first launches -> verify -> warm up -> sample until
 * the interval of the median is tight or the budget is spent. docs/explanation/measuring.md says
 * why each step is as it is. */
#ifndef TK_MEASURE_H
#define TK_MEASURE_H
#include "core/mode.h"
#include "core/outcome.h"
#include "core/problem.h"
#include "stats/summary/stopping.h"
#include "stats/summary/summary.h"
#include <stdbool.h>
#include <stdint.h>

struct tk_device_token;
struct tk_error;

struct tk_measure_options {
	uint64_t seed; /* of the inputs */
	enum tk_mode mode;
	struct tk_stop_rule stop; /* paced, sustained, loaded: the width is what is promised, the
	                             engine aims at less */
	double max_warmup_s;
	double min_sample_ns; /* shorter launches are timed in batches of at least this; the sample
	                         is the mean of the batch */
	double rest_ns;       /* paced, loaded: between two bursts; 0: found for the kernel */
	uint32_t sets;        /* input sets to rotate over; 0: as many as the mode asks for */
	bool verify;
	const char *config;            /* NULL: the backend's best guess */
	uint32_t threads;              /* CPU */
	struct tk_device_token *baton; /* another process measures on this device by turns with this
	                                  one; NULL: none does */
};

struct tk_verify_result { /* what verification found */
	bool done, passed;
	char method[32];             /* "freivalds+entries", "rows" */
	double max_error, tolerance; /* relative to the size of the operands;
	                                docs/explanation/verification.md */
	int64_t checked;             /* entries or rows */
	char detail[256];            /* "row 17 of head 3: got nan, expected 0.1293" */
};

struct tk_measurement {
	enum tk_outcome outcome;
	char message[512]; /* why, where the outcome is not ok */
	double *samples;   /* ns of one execution each, in time order; owned */
	uint64_t sample_count;
	uint64_t launches_per_sample;
	struct tk_summary summary; /* of samples */
	double lo, hi;             /* interval of the median */
	double confidence;
	enum tk_stop stop;
	double warmup_s, measure_s, setup_s, verify_s;
	double inputs_s, plan_s; /* parts of setup_s: filling host tensors, plan() and bind() */
	double launch_ns; /* host cost of enqueueing one launch, the least; NAN where unknown */
	struct tk_verify_result verdict;
	struct tk_plan_info plan;
	double flops, bytes; /* of one execution: the plan's where it said so, else the formula's */
	uint32_t sets;       /* input sets that were rotated */
	struct tk_telemetry before, after;
	uint64_t throttled_samples;
	enum tk_mode mode;
	double clock_mhz, clock_min_mhz; /* compute clock during the samples: median, lowest; NAN
	                                    where the device does not stamp it */
	double cycles;  /* of one execution: median of each sample's time and clock; NAN likewise */
	double rest_ns; /* between two bursts; 0 where there is none */
	double energy_j; /* of one execution; NAN where unknown, where there were rests, and by
	                    turns */
	uint64_t device_bytes; /* most memory that the job had on the device when that was looked
	                          at; 0: unknown */
};

/* TK_OK with an outcome in *out, also where the backend said no, lied or ran out of memory. Errors
 * are the engine's own. */
int tk_measure(const struct tk_device_ops *ops, struct tk_device *device,
        const struct tk_backend *backend, struct tk_backend_ctx *ctx,
        const struct tk_problem_spec *problem, const struct tk_measure_options *options,
        struct tk_measurement *out, struct tk_error *err);
void tk_measurement_free(struct tk_measurement *m);

/* As tk_inputs_fill, of a tensor whose first `filled` bytes hold its values already, whole elements
 * or all. */
int tk_inputs_fill_from(const struct tk_problem_spec *problem, uint32_t tensor, uint64_t seed,
        size_t filled, void *data, struct tk_error *err);
/* Fills a tensor's host copy: value i of tensor t depends on (seed, t, i, dist) alone, so every
 * backend gets the same bits. */
int tk_inputs_fill(const struct tk_problem_spec *problem, uint32_t tensor, uint64_t seed,
        void *data, struct tk_error *err);

/* Checks host copies of inputs and outputs (indexed by enum tk_tensor_id) against double precision.
 */
int tk_verify(const struct tk_problem_spec *problem, const struct tk_tensor *host_tensors,
        uint64_t seed, struct tk_verify_result *out, struct tk_error *err);

/* Reads and writes element i of a tensor as double; rounding is to nearest even. */
double tk_element_get(const struct tk_tensor *t, int64_t i);
void tk_element_set(struct tk_tensor *t, int64_t i, double value);

#endif
