/* The backends under test: loaded from their modules as the worker does it, run on tensors in host
 * memory. */
#ifndef TEST_KERNELS_SUBJECT_H
#define TEST_KERNELS_SUBJECT_H
#include "tracker_abi.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct subject {
	const char *module, *options; /* "cpu", "isa=avx2" */
	uint32_t threads;
	const struct tk_backend *backend;
	struct tk_backend_ctx *ctx;
};

/* cpu with each instruction set this machine has, openblas where it is built, control. Opened; ends
 * with module == NULL. */
struct subject *subjects_open(void);
void subjects_close(struct subject *s);

/* Status of open(); the message goes to err. */
int subject_open(struct subject *s, const char *module, const char *options, uint32_t threads,
        struct tk_abi_error *err);
void subject_close(struct subject *s);

/* supports, plan, bind, launch (twice, with the outputs overwritten in between and compared),
 * unplan. Status of supports or plan. */
int subject_run(struct subject *s, const struct tk_problem *p, const char *config,
        struct tk_tensor *t, uint32_t count);

/* A tensor with memory that ends where the data ends, so that AddressSanitizer sees an access
 * beyond it. */
struct tk_tensor tensor_new(uint32_t dtype, bool output, int64_t elements);
void tensor_free(struct tk_tensor *t);
/* Uniform in [-1, 1), rounded to the type. */
void tensor_random(struct tk_tensor *t, uint64_t seed);

#endif
