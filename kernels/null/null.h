/* Options of the null backend, for open() ("key=value,key=value") or, for one plan, in its config.
 *
 * Times (struct null_times says what they do):
 *   seed=N revision=N run=N  slow=F  step=R:F  drift=F  noise=F  outliers=F  capturable=1
 * Results:
 *   any_size=1     also plan problems that are too large to compute: their results are then wrong
 *   throttle=1     telemetry reports throttling
 *   space=1        gemm has a space of 186 configurations of x, y and z instead of three names
 *   wrong=CONFIG   one entry of the output is wrong with this configuration; "best": with the
 *                  fastest one of the space
 * Beside another process:
 *   alone=PATH     locks that file from an idle gap or a block to the end of its burst; fails if
 *                  another process has it
 *
 * Faults:
 *   fail=MODE      one of NULL_FAULTS below, or the name of a status of the contract
 *   at=STAGE       open, supports, plan, bind, launch, fetch (default: launch)
 *   after=N        only from the N-th time on that the stage is reached (default: 0)
 *   only=TEXT      only for problems whose canonical text contains TEXT
 *   late_s=F       delay of `late` in seconds (default: 1) */
#ifndef TK_NULL_H
#define TK_NULL_H
#include "kit.h"
#include <stdint.h>

#define NULL_TEXT 256

enum null_stage {
	NULL_AT_OPEN,
	NULL_AT_SUPPORTS,
	NULL_AT_PLAN,
	NULL_AT_BIND,
	NULL_AT_LAUNCH,
	NULL_AT_FETCH,
	NULL_STAGES
};

/* clang-format off */
#define NULL_FAULTS(X) \
	X(NONE,         "none") \
	X(SEGV,         "segv")          /* writes to address 0 */ \
	X(ABORT,        "abort") \
	X(EXIT,         "exit")          /* exit(0), as if all were well */ \
	X(KILL,         "kill")          /* SIGKILL, as the kernel does when memory is out */ \
	X(HANG,         "hang") \
	X(STOP,         "stop")          /* SIGSTOP, once: alive, silent */ \
	X(LATE,         "late")          /* sleeps late_s once, then continues */ \
	X(LIE,          "lie")           /* one entry of the output is wrong */ \
	X(NAN,          "nan")           /* one entry of the output is NaN */ \
	X(IDLE,         "idle")          /* the output is never written */ \
	X(EAT,          "eat")           /* takes memory until something stops it */ \
	X(PRINT,        "print")         /* 1 MiB of binary garbage to stdout and stderr, once */ \
	X(FLOOD,        "flood")         /* prints for ever */ \
	X(WIRE,         "wire")          /* garbage on every pipe it can find */ \
	X(FORGE,        "forge")         /* its own valid answer on every pipe, then hangs */ \
	X(CHILD,        "child")         /* starts a program that holds all it inherits */ \
	X(ORPHAN,       "orphan")        /* leaves a child that holds all descriptors, dies */ \
	X(UNSUPPORTED,  "unsupported") \
	X(NO_MEMORY,    "no_memory") \
	X(INVALID,      "invalid") \
	X(DEVICE,       "device") \
	X(INTERNAL,     "internal") \
	X(UNKNOWN,      "unknown_status")    /* a status that the contract does not have */ \
	X(MARKUP,       "markup")            /* internal; markup, quotes, broken UTF-8 */ \
	X(UNENDED,      "unended")           /* internal, with a message that has no NUL */
/* clang-format on */

enum null_fault {
#define NULL_FAULT_ID(id, word) NULL_FAULT_##id,
	NULL_FAULTS(NULL_FAULT_ID)
#undef NULL_FAULT_ID
	        NULL_FAULT_COUNT
};

struct null_options {
	uint64_t seed, revision, run, step_at, after;
	double slow, step, drift, noise, outliers, late_s;
	uint32_t any_size, throttle, capturable, space;
	enum null_fault fault;
	enum null_stage at;
	char only[NULL_TEXT], alone[NULL_TEXT], wrong[NULL_TEXT];
	uint64_t reached[NULL_STAGES]; /* number of times that each stage was reached */
};

void null_options_default(struct null_options *o);
/* Applies `text`; TK_ABI_INVALID names the unknown key or the invalid value. */
int null_options_parse(struct null_options *o, const char *text, struct tk_abi_error *err);

/* Runs the fault if it is due. Most faults do not return; the others return a status to be passed
 * on. */
int null_fault_run(struct null_options *o, enum null_stage stage, const struct tk_problem *p,
        struct tk_abi_error *err);
/* Corrupts a correct output, for the faults `lie` and `nan`. */
void null_fault_corrupt(
        const struct null_options *o, const struct tk_problem *p, const struct tk_tensor *output);
/* The fault is `idle`: leave the output unwritten. */
int null_fault_is_idle(const struct null_options *o, const struct tk_problem *p);

/* Simulated times: a pure function of (options, problem, config, number of the launch).
 *
 *   t = base * slow * (1 + drift)^revision * (revision >= R ? F : 1) * config * e^(noise z)
 *       * outlier
 *
 *   base     2 us + max(flops / 1 TFLOP/s, bytes / 100 GB/s), times a factor in [0.75, 1.25) from
 *            (seed, problem)
 *   z        standard normal, from (seed, problem, revision, run, launch)
 *   outlier  1, or a factor in [1, 4) for the share `outliers` of the launches
 *   config   default 1, fast 0.9, slow 1.2 */
/* What all launches of a plan share. */
struct null_times {
	uint64_t run; /* of (seed, problem, revision, run) */
	double typical_ns;
};

struct null_times null_times_make(
        const struct null_options *o, const struct tk_problem *p, double config);
double null_time_ns(const struct null_options *o, const struct null_times *t, uint64_t launch);
/* Multiply-adds of a problem (0 for copies), and the bytes that it has to move. */
double null_problem_work(const struct tk_problem *p, double *bytes);

/* Correct outputs of the null backend: products of its own, attention by the reference.
 *
 * Verification treats the null device like any other: its results pass because fetch() computes
 * them. Problems beyond NULL_MULTIPLY_ADDS_MAX are unsupported, unless any_size=1. */
#define NULL_MULTIPLY_ADDS_MAX 268435456.0 /* 2^28: some tenths of a second */

/* Writes every output. TK_ABI_OK or TK_ABI_NO_MEMORY. */
int null_compute_outputs(const struct tk_problem *p, const struct tk_tensor *t);

#endif
