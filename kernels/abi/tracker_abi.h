/* tracker_abi.h: the contract between the tracker and what it measures. For C11, C++11 and ctypes.
 *
 * A backend is a shared object that exports one function, tk_backend_entry(). A device layer is a
 * shared object that exports tk_device_entry(). `tracker worker` loads both; the tracker itself
 * never does.
 *
 *   open -> supports -> configs -> plan -> bind (each input set) -> launch ... -> fetch -> unplan
 *        -> close
 *
 * Rules (README.md explains them):
 *  - every struct begins with `size`, set by whoever fills it; it only grows; a member beyond
 *    `size` does not exist;
 *  - the major version must be equal, the minor one may differ;
 *  - out parameters are written on success only; functions return enum tk_abi_status and, unless
 *    OK, a sentence in `err`;
 *  - launch only enqueues one execution. A backend never times, flushes caches, prints or exits;
 *  - the tracker owns inputs and outputs (allocated through the device layer), the backend its
 *    workspace.
 *
 * Matrices and tensors are row-major (last index fastest), with the indices in the order that
 * `enum tk_tensor_id` gives. They are dense, but for the rows of GEMM's matrices where
 * tk_problem.row_padding is not 0. */
#ifndef TRACKER_ABI_H
#define TRACKER_ABI_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TK_ABI_MAJOR 1
#define TK_ABI_MINOR 13

#if defined(__GNUC__)
#define TK_EXPORT __attribute__((visibility("default")))
#else
#define TK_EXPORT
#endif

enum tk_abi_status {
	TK_ABI_OK = 0,
	TK_ABI_UNSUPPORTED = 1, /* an outcome, not an error: a type or shape that is not done */
	TK_ABI_NO_MEMORY = 2,   /* too little host or device memory */
	TK_ABI_INVALID = 3,     /* the caller broke the contract */
	TK_ABI_DEVICE = 4, /* the device or its library failed; the process should be replaced */
	TK_ABI_INTERNAL = 5,
	TK_ABI_NOT_BUILT = 6 /* its kernel did not compile: the compiler's error is in err */
};

struct tk_abi_error {
	uint32_t size;
	char message[508]; /* a sentence without the final full stop */
};

/* ---- what is computed ---- */

enum tk_dtype { TK_F64 = 1, TK_F32, TK_TF32, TK_F16, TK_BF16, TK_E4M3, TK_E5M2, TK_I32, TK_I64 };

enum tk_op {
	TK_OP_GEMM = 1,      /* C[b] = op(A[b]) op(B[b]) */
	TK_OP_ATTENTION = 2, /* O = softmax(scale Q K^T + mask) V */
	TK_OP_NSA =
	        3, /* native sparse attention: selected blocks, sliding window (arXiv 2502.11089) */
	TK_OP_COPY = 4, /* out[i] = in[i]: a ceiling, bytes = read + write */
	TK_OP_READ = 5, /* out = passes x sum of in: a ceiling of memory, or of the cache that holds
	                   `in` */
	TK_OP_FMA = 6   /* independent fused multiply-adds in registers: a ceiling of the arithmetic
	                   units */
};

/* What a backend declares in tk_backend.operations: bits. */
enum tk_operation {
	TK_OPERATION_GEMM = 1 << TK_OP_GEMM,
	TK_OPERATION_ATTENTION = 1 << TK_OP_ATTENTION, /* forward */
	TK_OPERATION_NSA = 1 << TK_OP_NSA,
	TK_OPERATION_COPY = 1 << TK_OP_COPY,
	TK_OPERATION_READ = 1 << TK_OP_READ,
	TK_OPERATION_FMA = 1 << TK_OP_FMA,
	TK_OPERATION_ATTENTION_BACKWARD = 1 << 16,
	/* From ABI 1.9 on: also on tensors that begin at any multiple of an element, at least for
	 * some problems (tk_problem.offset_bytes). Without it they get none. */
	TK_OPERATION_UNALIGNED = 1 << 17,
	/* From ABI 1.10 on: also gemm with space between the rows of its matrices, at least for
	 * some problems (tk_problem.row_padding). Without it they get none. */
	TK_OPERATION_PADDED_ROWS = 1 << 18
};

/* op(A) is m x k, op(B) is k x n, C is m x n. ta = 0: A is stored m x k; ta = 1: A is stored k x m
 * (transposed). tb = 0: B is stored k x n; tb = 1: n x k. `batch` >= 1 matrices follow each other.
 * TK_TF32 is stored as f32. */
struct tk_gemm {
	uint32_t size;
	int64_t m, n, k, batch;
	int32_t ta, tb;
	uint32_t a, b, c, acc; /* enum tk_dtype of the operands, the result and the accumulator */
};

enum tk_direction { TK_FWD = 0, TK_BWD = 1 };

/* Causal masks with sq != skv are aligned to the bottom right: query i sees keys j <= i + skv - sq
 * (FlashAttention >= 2.1). */
struct tk_attention {
	uint32_t size;
	int64_t b, h, hkv, sq, skv, d, dv; /* h is a multiple of hkv (GQA); dv = d by default */
	uint32_t dtype;
	int32_t causal, dir; /* dir: enum tk_direction */
	double scale;        /* never 0; d^-1/2 by default */
};

/* A group of query heads (h / hkv heads share a kv head) attends to `selected_blocks` blocks of
 * `block_size` keys, listed in TK_T_BLOCKS for each (batch, query, kv head), -1 = none. Where
 * window > 0 it also attends to the last `window` keys in a second branch. The outputs of both
 * branches are added with gate 1. */
struct tk_nsa {
	uint32_t size;
	int64_t b, h, hkv, s, d, block_size, selected_blocks, window;
	uint32_t dtype;
	int32_t causal;
	double scale;
};

/* copy, read: `bytes` is the size of the input; fma: the number of multiply-adds. read: the input
 * is read `passes` times (at least once) and all of it is added up. `cache` names the level meant
 * to serve it, 1 to 3: the backend arranges its reads so that this level can; for level 1 a compute
 * unit reads a part of its own again. 0: memory. Both are part of ABI 1.2. */
struct tk_ceiling_op {
	uint32_t size;
	int64_t bytes;
	uint32_t dtype;
	uint32_t cache;
	int64_t passes;
};

/* The pointer that `op` names is set, all others are NULL. `text` is the canonical name, e.g.
 * "gemm:a=f16,acc=f32,b=f16,c=f16,k=4096,m=128,n=4096,ta=n,tb=n". */
struct tk_problem {
	uint32_t size;
	uint32_t op;
	const char *text;
	const struct tk_gemm *gemm;
	const struct tk_attention *attention;
	const struct tk_nsa *nsa;
	const struct tk_ceiling_op *ceiling;
	/* From ABI 1.9 on: every tensor begins so many bytes after an aligned address. Only for
	 * backends that declare TK_OPERATION_UNALIGNED. */
	uint32_t offset_bytes;
	/* From ABI 1.10 on: of gemm, so many elements lie between the end of a row, as stored, and
	 * the next row (of the next matrix of a batch, too); they are neither read nor written.
	 * Only for backends that declare TK_OPERATION_PADDED_ROWS. */
	int64_t row_padding;
};

/* row_padding, also of a tracker that does not have it. */
static inline int64_t tk_problem_row_padding(const struct tk_problem *p)
{
	return p->size >= offsetof(struct tk_problem, row_padding) + sizeof p->row_padding
	               ? p->row_padding
	               : 0;
}

/* Index of a tensor in the array that bind() gets. */
/* clang-format off */
enum tk_tensor_id {
	/* gemm: [batch][rows][columns] */
	TK_T_A = 0, TK_T_B = 1, TK_T_C = 2,
	/* attention: [b][s][heads][d]; lse f32 [b][h][sq], natural log */
	TK_T_Q = 0, TK_T_K = 1, TK_T_V = 2, TK_T_O = 3, TK_T_LSE = 4,
	/* attention, dir = bwd: Q K V O LSE DO in, DQ DK DV out */
	TK_T_DO = 5, TK_T_DQ = 6, TK_T_DK = 7, TK_T_DV = 8,
	/* nsa: blocks i32 [b][s][hkv][selected_blocks] */
	TK_T_NSA_O = 3, TK_T_BLOCKS = 4,
	TK_T_IN = 0, TK_T_OUT = 1,                                    /* copy, read, fma */
	TK_T_MAX = 9
};
/* clang-format on */

struct tk_tensor {
	uint32_t size;
	uint32_t dtype;
	uint32_t ndim;
	uint32_t output;  /* 1: the backend writes it */
	int64_t dim[5];   /* as stored: the last one counts the padding of a row */
	const char *name; /* "A", "Q", "lse" */
	void *data;       /* on the device */
	size_t bytes;
};

/* ---- the device ---- */

struct tk_device; /* opaque: an open device of a device layer */

struct tk_device_info {
	uint32_t size;
	char kind[16];  /* "cpu", "cuda", "hip", "null" */
	char name[128]; /* "NVIDIA H200", "AMD EPYC 9654" */
	char uuid[80];  /* stable over reboots; "" if there is none */
	char arch[32];  /* "sm_90", "gfx942", "x86-64-v4" */
	uint64_t memory_bytes;
	uint64_t cache_bytes; /* last level; cold measurements rotate over at least twice as much */
	uint32_t compute_units; /* SMs, CUs, cores that may be used */
	uint32_t numa_node;
	char driver[64]; /* driver or kernel version */
	/* JSON object of what else describes the environment: governor, power cap, ECC, ... */
	char attributes[4096 - 24];
	/* From ABI 1.2 on, in what was the end of `attributes`: this struct is a member of
	 * tk_open_args and cannot grow. Bytes that stay in the cache of level 1, 2 or 3, and in
	 * none closer, while all compute units read them again and again; 0: unknown. */
	uint64_t resident_bytes[3];
};

/* NAN: unknown. */
struct tk_telemetry {
	uint32_t size;
	uint32_t throttled; /* 1: a clock or power limit was active */
	double clock_mhz, memory_clock_mhz, power_w, temperature_c, energy_j;
	double load;       /* by others: 1-minute load average of a CPU, share of a GPU */
	char reasons[128]; /* "sw_power_cap,thermal" or "" */
};

/* A device layer. Streams, events and graphs are opaque pointers; NULL is the default stream.
 * Members marked optional may be NULL. All calls come from the thread that opened the device. */
struct tk_device_ops {
	uint32_t size;
	uint32_t abi_major, abi_minor;
	const char *kind;
	int (*count)(uint32_t *n, struct tk_abi_error *err);
	int (*open)(uint32_t index, struct tk_device **out, struct tk_abi_error *err);
	void (*close)(struct tk_device *dev);
	int (*info)(struct tk_device *dev, struct tk_device_info *out, struct tk_abi_error *err);
	int (*alloc)(struct tk_device *dev, size_t bytes, void **out,
	        struct tk_abi_error *err); /* at least 256-byte aligned */
	void (*release)(struct tk_device *dev, void *memory);
	int (*upload)(struct tk_device *dev, void *to, const void *from, size_t bytes,
	        struct tk_abi_error *err);
	int (*download)(struct tk_device *dev, void *to, const void *from, size_t bytes,
	        struct tk_abi_error *err);
	int (*stream_new)(struct tk_device *dev, void **stream, struct tk_abi_error *err);
	void (*stream_free)(struct tk_device *dev, void *stream);
	int (*synchronize)(struct tk_device *dev, void *stream,
	        struct tk_abi_error *err); /* also reports asynchronous errors */
	int (*event_new)(struct tk_device *dev, void **event, struct tk_abi_error *err);
	void (*event_free)(struct tk_device *dev, void *event);
	int (*event_record)(
	        struct tk_device *dev, void *event, void *stream, struct tk_abi_error *err);
	/* Nanoseconds between two recorded events; waits for the second. */
	int (*event_elapsed_ns)(
	        struct tk_device *dev, void *from, void *to, double *ns, struct tk_abi_error *err);
	int (*telemetry)(struct tk_device *dev, struct tk_telemetry *out, struct tk_abi_error *err);
	/* Optional: graphs. What is enqueued between begin and end becomes one graph. */
	int (*graph_begin)(struct tk_device *dev, void *stream, struct tk_abi_error *err);
	int (*graph_end)(
	        struct tk_device *dev, void *stream, void **graph, struct tk_abi_error *err);
	int (*graph_launch)(
	        struct tk_device *dev, void *graph, void *stream, struct tk_abi_error *err);
	void (*graph_free)(struct tk_device *dev, void *graph);
	/* Optional: the device's own clocks. A stamp is written when the stream reaches it.
	 * stamp_mhz waits for the second one and returns the compute clock between the two, the
	 * median over the device's compute units; NAN: unknown. */
	int (*stamp_new)(struct tk_device *dev, void **stamp, struct tk_abi_error *err);
	void (*stamp_free)(struct tk_device *dev, void *stamp);
	int (*stamp_record)(
	        struct tk_device *dev, void *stamp, void *stream, struct tk_abi_error *err);
	int (*stamp_mhz)(
	        struct tk_device *dev, void *from, void *to, double *mhz, struct tk_abi_error *err);
	/* Optional: blocks the stream for about `ns`, so that what is enqueued meanwhile runs
	 * without waiting for the host. */
	union {
		int (*block_stream)(
		        struct tk_device *dev, void *stream, double ns, struct tk_abi_error *err);
		int (*hold)(struct tk_device *dev, void *stream, double ns,
		        struct tk_abi_error *err); /* its name in ABI 1.2 */
	};
	/* Optional: leaves the device idle for `ns` of its own time; otherwise the tracker
	 * sleeps. */
	union {
		int (*idle)(struct tk_device *dev, double ns, struct tk_abi_error *err);
		int (*rest)(struct tk_device *dev, double ns,
		        struct tk_abi_error *err); /* its name in ABI 1.2 */
	};
	/* Optional: loads the memory system from now on for about `ns`, for `share` (0 to 1) of the
	 * time, beside all streams; ends by itself. ns = 0: waits until the last one has ended. */
	union {
		int (*memory_load)(
		        struct tk_device *dev, double ns, double share, struct tk_abi_error *err);
		int (*strain)(struct tk_device *dev, double ns, double share,
		        struct tk_abi_error *err); /* its name in ABI 1.2 */
	};
	/* Optional, otherwise upload() is used: a copy within the device; one byte repeated. Both
	 * may return early; what is enqueued or copied later sees their result. */
	int (*copy)(struct tk_device *dev, void *to, const void *from, size_t bytes,
	        struct tk_abi_error *err);
	int (*fill)(struct tk_device *dev, void *to, unsigned char value, size_t bytes,
	        struct tk_abi_error *err);
	/* Optional: compares two ranges of the device's memory. */
	int (*same)(struct tk_device *dev, const void *a, const void *b, size_t bytes,
	        uint32_t *same, struct tk_abi_error *err);
	/* Optional: memory of the device in use now, by any process. */
	int (*memory_used)(struct tk_device *dev, uint64_t *bytes, struct tk_abi_error *err);
	/* Optional, from ABI 1.5 on: what the device does from now on is what a profiler records
	 * (on = 1), or is not (0). Without a profiler nothing happens. */
	int (*profile)(struct tk_device *dev, uint32_t on, struct tk_abi_error *err);
	/* Optional, from ABI 1.11 on: the time of a simulated device, which only its work advances.
	 * Warm-ups and budgets of measurements are counted in it. */
	double (*now_ns)(struct tk_device *dev);
	/* Optional, from ABI 1.13 on: memory of the device that a second process maps by a
	 * descriptor, aligned as by alloc(). share() makes it and attach() maps it, for as many
	 * bytes; each process ends its own mapping with detach(). The caller closes the
	 * descriptor. */
	int (*share)(
	        struct tk_device *dev, size_t bytes, void **out, int *fd, struct tk_abi_error *err);
	int (*attach)(
	        struct tk_device *dev, int fd, size_t bytes, void **out, struct tk_abi_error *err);
	void (*detach)(struct tk_device *dev, void *memory, size_t bytes);
	/* Optional, from ABI 1.13 on, where the host cannot write to the device's memory: inverts
	 * the highest bit of element i where bit i % 64 of splitmix64(seed + i / 64) is set. */
	int (*flip_signs)(struct tk_device *dev, void *memory, size_t count, size_t element_bytes,
	        uint64_t seed, struct tk_abi_error *err);
};

/* ---- the backend ---- */

struct tk_backend_ctx; /* opaque: an open backend */
struct tk_plan;        /* opaque: one problem with one configuration, ready to launch */

struct tk_open_args {
	uint32_t size;
	uint32_t threads; /* CPU: number of threads (already pinned); 0: the backend's choice */
	struct tk_device *device;
	const struct tk_device_ops *device_ops;
	struct tk_device_info device_info;
	const char *options; /* "key=value,key=value" from tracker.yml, may be "" */
	/* From ABI 1.3 on: the folder of a compiled kernel package, for the launcher; NULL:
	 * none. */
	const char *package;
};

/* What the backend knows better than the formula. The tracker sets the defaults, plan() overwrites
 * what it knows. */
struct tk_plan_info {
	uint32_t size;
	char kernel[128];    /* name of the kernel that will run, "" = unknown */
	char algorithm[128]; /* the choice of a heuristic: tile, split, algorithm id; "" = none */
	/* Not used: the tracker counts the work of a problem itself. A claim far above it makes the
	 * job implausible. */
	double flops, bytes;
	uint64_t workspace_bytes;
	uint32_t capturable;    /* 1: may be captured in a graph */
	uint32_t deterministic; /* 1: equal inputs give equal bits */
	/* From ABI 1.4 on: the part of each launch that is the caller's, not the kernel's: the call
	 * of a function in an interpreter. It is not subtracted. NAN: unknown, or none. */
	double call_ns;
};

/* From ABI 1.8 on: the configurations of a problem as a space of parameters, where a list of names
 * would be long. A configuration is then a text "NAME=VALUE,..." with every parameter once, in the
 * order of the space; plan() takes it like a name of configs(). */
#define TK_SPACE_PARAMETERS_MAX 16
struct tk_parameter {
	const char *name;      /* [a-z][a-z0-9_]*, at most 31 characters */
	const int64_t *values; /* ascending; neighbours differ least */
	uint32_t count;
};
struct tk_space {
	uint32_t size;
	uint32_t count; /* of parameters */
	const struct tk_parameter *parameters;
	const int64_t *best; /* the best guess: a value of each parameter */
	/* Optional: 1 where these values, one of each parameter, are a configuration of the
	 * problem. Cheap. NULL: all are. */
	int (*allows)(struct tk_backend_ctx *ctx, const struct tk_problem *problem,
	        const int64_t *values);
};

struct tk_backend {
	uint32_t size;
	uint32_t abi_major, abi_minor;
	const char *name;        /* "cpu", "openblas": [a-z0-9_-]+ */
	const char *device_kind; /* which device layer it needs: "cpu", "cuda", "hip", "null" */
	const char *description; /* one line for people */
	/* The version that the library reports ("0.3.21", "git 1a2b3c"); "" if it has none. Needs
	 * no open(). */
	const char *(*version)(void);
	int (*open)(const struct tk_open_args *args, struct tk_backend_ctx **out,
	        struct tk_abi_error *err);
	void (*close)(struct tk_backend_ctx *ctx);
	/* TK_ABI_OK, or TK_ABI_UNSUPPORTED or _NOT_BUILT with the reason in err. Cheap; allocates
	 * nothing. */
	int (*supports)(struct tk_backend_ctx *ctx, const struct tk_problem *problem,
	        struct tk_abi_error *err);
	/* Optional. The tunable configurations of a problem, best guess first: `count` names, valid
	 * until close(). NULL = one configuration, "default". */
	int (*configs)(struct tk_backend_ctx *ctx, const struct tk_problem *problem,
	        const char *const **names, uint32_t *count, struct tk_abi_error *err);
	/* config: NULL or "" = the best guess. The problem outlives the plan. `sets` input sets
	 * will be bound. */
	int (*plan)(struct tk_backend_ctx *ctx, const struct tk_problem *problem,
	        const char *config, uint32_t sets, struct tk_plan **out, struct tk_plan_info *info,
	        struct tk_abi_error *err);
	/* Gives the plan the tensors of input set `set` (0 .. sets-1). May repack B
	 * of gemm; the values of all other inputs may change between two launches. */
	int (*bind)(struct tk_plan *plan, uint32_t set, const struct tk_tensor *tensors,
	        uint32_t count, struct tk_abi_error *err);
	/* Enqueues one execution on input set `set`. Only this call is timed. */
	int (*launch)(struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err);
	/* Optional. Makes the outputs of `set` readable in the bound tensors, for a backend with a
	 * layout of its own. */
	int (*fetch)(struct tk_plan *plan, uint32_t set, struct tk_abi_error *err);
	void (*unplan)(struct tk_plan *plan);
	/* From ABI 1.3 on: enum tk_operation, what this backend does for at least some types and
	 * shapes. A night plans no job for any other operation. 0: not declared, every problem is
	 * planned and supports() decides. */
	uint32_t operations;
	/* Optional, from ABI 1.8 on: the space of configurations of a problem, valid until the next
	 * call and until close(). configs() may still name some of its points. */
	int (*space)(struct tk_backend_ctx *ctx, const struct tk_problem *problem,
	        const struct tk_space **out, struct tk_abi_error *err);
};

/* The one symbol of a backend; the one symbol of a device layer. Both return static data and never
 * fail. */
TK_EXPORT const struct tk_backend *tk_backend_entry(void);
TK_EXPORT const struct tk_device_ops *tk_device_entry(void);

/* ---- regions inside a kernel, from ABI 1.6 on ---- */

/* What a warp does in a region. */
enum tk_trace_kind {
	TK_TRACE_WAIT = 1, /* for another warp, or for data */
	TK_TRACE_LOAD = 2, /* starts copies, or loads */
	/* Matrix products; asynchronous ones from their start until a group has awaited them. */
	TK_TRACE_TENSOR = 3,
	TK_TRACE_COMPUTE = 4,
	TK_TRACE_STORE = 5
};

struct tk_trace_region {
	const char *name; /* "softmax" */
	uint32_t kind;    /* enum tk_trace_kind */
};

/* A record says what a group does from now on, and may begin or end what goes on beside it. */
enum tk_trace_event {
	TK_TRACE_DOES = 0,
	TK_TRACE_BEGIN_ASYNC = 1,
	TK_TRACE_END_ASYNC = 2,
	TK_TRACE_BEGIN_TILE = 3 /* ABI 1.7: as DOES, and the group begins another tile */
};

#define TK_TRACE_NOTHING 255 /* instead of a region: the group is in none */
/* Instead of a region: some records in a row at the beginning, which show what a record costs. */
#define TK_TRACE_CALIBRATION 254
#define TK_TRACE_TURN_MAX 16         /* records that kernels/gpu/trace.h makes before it advances */
#define TK_TRACE_IS_FULL 0x80000000u /* in `next`, from ABI 1.7 on */

struct tk_trace_record {
	uint32_t clock; /* cycles of the multiprocessor; wraps around */
	uint8_t does;   /* index of the region that the group enters, leaving the one before */
	uint8_t event;  /* enum tk_trace_event */
	uint8_t async;  /* index of the region that begins or ends beside it */
	uint8_t token;  /* tells apart what is asynchronous in the same region */
};

/* One group of warps of a block. begin_ns 0: it has not run. */
struct tk_trace_ring {
	uint32_t block, group, multiprocessor;
	/* The slot after that of the newest record. With TK_TRACE_IS_FULL the newest ones are
	 * missing; a ring whose slot `next` is in use has come around instead, and lost the oldest
	 * ones. */
	uint32_t next;
	uint32_t begin_clock, end_clock;
	uint64_t begin_ns, end_ns; /* the device's common clock, read beside the clocks above */
};

/* On the device, zeroed before a launch: `groups` rings for each of the first `blocks` blocks, and
 * `slots` records for each ring; one of zeroes was not made. `records` is a multiple of the bytes
 * of one ring's slots, and all addresses of records have the same upper half. */
struct tk_trace_memory {
	struct tk_trace_ring *rings; /* NULL: nothing is recorded */
	struct tk_trace_record *records;
	uint32_t blocks, groups;
	uint32_t slots; /* a power of 2; from ABI 1.7 on at least 2 * TK_TRACE_TURN_MAX */
};

/* The kernels of one source file that record with the same regions. */
struct tk_trace_kernel {
	uint32_t size;
	const char *name;
	const char *const *groups; /* names of the groups of a block: "producer" */
	uint32_t group_count;
	const struct tk_trace_region *regions;
	uint32_t region_count; /* at most 64 */
	/* What all launches after it record into. 0, or a code of the vendor's runtime. */
	int (*record)(const struct tk_trace_memory *memory);
};

/* The second symbol of a backend that was built to record (kernels/gpu/trace.h). */
TK_EXPORT const struct tk_trace_kernel *const *tk_trace_entry(uint32_t *count);

#ifdef __cplusplus
}
#endif
#endif
