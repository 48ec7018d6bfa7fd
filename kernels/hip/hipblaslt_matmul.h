/* hipBLASLt's matrix product as C functions: its header is C++ only. A matmul is one problem with
 * one of the kernels that the library ranks for it. */
#ifndef TK_HIPBLASLT_MATMUL_H
#define TK_HIPBLASLT_MATMUL_H
#include "tracker_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HEURISTICS_MAX 16

struct matmul;

/* The format of 8-bit operands. */
struct matmul_narrow {
	int fnuz;           /* 1: as FNUZ (CDNA3), 0: as OCP */
	const float *scale; /* on the device: the factor of both operands */
};

/* Version in the name of the library's file ("1.1"), "" if it has none. */
const char *matmul_version(void);
int matmul_library_open(void **out, struct tk_abi_error *err);
void matmul_library_close(void *library);

/* The kernel in place `place` of the library's ranking with at most `workspace_limit` bytes of
 * workspace. *count: how many there are, set even if there are too few. out = NULL: only counts.
 * TK_ABI_UNSUPPORTED: no kernel, or no such place. */
int matmul_new(void *library, const struct tk_gemm *g, const struct matmul_narrow *narrow,
        size_t workspace_limit, unsigned place, struct matmul **out, unsigned *count,
        struct tk_abi_error *err);
void matmul_free(struct matmul *m);
size_t matmul_workspace(const struct matmul *m);
/* Fills in the kernel's name, and tile, instruction and split as the algorithm. */
void matmul_describe(struct matmul *m, struct tk_plan_info *info);
int matmul_launch(const struct matmul *m, const void *a, const void *b, void *c, void *workspace,
        void *stream, struct tk_abi_error *err);

#ifdef __cplusplus
}
#endif
#endif
