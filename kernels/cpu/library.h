/* A CPU library as a backend. An adapter defines tk_library and links library_backend.c, which is
 * the rest of the contract of tracker_abi.h: plans, input sets, names of configurations. For C and
 * C++. Functions return enum tk_abi_status and explain a failure with tk_library_fail. */
#ifndef TK_LIBRARY_H
#define TK_LIBRARY_H
#include "tracker_abi.h"
#ifdef __cplusplus
extern "C" {
#endif

struct tk_library {
	const char *name, *description;
	uint32_t operations; /* bits of enum tk_operation */
	const char *(*version)(void);
	void (*set_threads)(uint32_t count); /* count >= 1 */
	/* TK_ABI_UNSUPPORTED: a type or shape that the library does not do. */
	int (*check)(const struct tk_problem *problem, struct tk_abi_error *err);
	/* Best guess first, ends with NULL; static data. NULL: "default" alone. */
	const char *const *(*configs)(const struct tk_problem *problem);
	/* *plan: what all input sets of a problem share. `config` is one of configs(). The problem
	 * outlives the plan. */
	int (*prepare)(const struct tk_problem *problem, const char *config, void **plan,
	        struct tk_plan_info *info, struct tk_abi_error *err);
	void (*release)(void *plan);
	/* *set: the plan with the memory of one input set. NULL: run() gets the tensors. */
	int (*bind)(
	        void *plan, const struct tk_tensor *tensors, void **set, struct tk_abi_error *err);
	void (*unbind)(void *set);
	/* One execution; only this is timed. `set` is from bind(), or NULL. */
	int (*run)(
	        void *plan, void *set, const struct tk_tensor *tensors, struct tk_abi_error *err);
};

extern const struct tk_library tk_library;

/* Writes the message and returns `status`. */
int tk_library_fail(struct tk_abi_error *err, int status, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* TK_ABI_UNSUPPORTED unless sums are f32 and the operands are f32, bf16 or f16 (`types`: bits
 * 1 << enum tk_dtype) of one type, with a result of that type or f32. */
int tk_library_check_gemm_types(
        const struct tk_gemm *gemm, uint32_t types, struct tk_abi_error *err);
/* TK_ABI_UNSUPPORTED unless forward, one of `types`, and dv = d. */
int tk_library_check_attention(
        const struct tk_attention *attention, uint32_t types, struct tk_abi_error *err);
/* Strides in elements of the matrices as the library sees them: op(A) is m x k, op(B) is k x n. */
struct tk_library_strides {
	int64_t a[2], b[2];
};
struct tk_library_strides tk_library_gemm_strides(const struct tk_gemm *gemm);
size_t tk_library_type_bytes(uint32_t dtype);

#ifdef __cplusplus
}
#endif
#endif
