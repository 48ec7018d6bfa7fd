/* The GEMM that Hopper's hardware was made for, between its backend (hopper_gemm_backend.c) and its
 * kernel (hopper_gemm.cu). */
#ifndef HOPPER_GEMM_H
#define HOPPER_GEMM_H
#include "tracker_abi.h"
#include <cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a block computes: tile_m x tile_n of C, 128 bytes of k at a time. */
struct hopper_gemm_config {
	const char *name;
	int tile_m, tile_n,
	        cluster; /* cluster: blocks that share the tiles of B, one above the other */
	int splits;      /* blocks that share the k of a tile */
};
extern const struct hopper_gemm_config hopper_gemm_configs[];
extern const uint32_t hopper_gemm_config_count;

/* How C is written. */
enum hopper_gemm_out { HOPPER_OUT_COPY, HOPPER_OUT_PLAIN, HOPPER_OUT_F32 };

struct hopper_gemm_args {
	int m, n, batch;
	int ldc;           /* elements from one row of C to the next */
	int steps;         /* of 128 bytes along k */
	int rows, columns; /* of clusters of tiles */
	int splits;
	enum hopper_gemm_out out;
	uint32_t c_type; /* enum tk_dtype */
	void *c;
	float *partial;    /* splits > 1: tile_m x tile_n sums for each block */
	unsigned *arrived; /* splits > 1: one for each warpgroup of each tile, 0 between launches */
};

struct hopper_gemm_call {
	CUtensorMap a, b, c; /* c: HOPPER_OUT_COPY only */
	struct hopper_gemm_args args;
	uint32_t a_type, b_type;
	int a_fast, b_fast; /* 1: k is the fast index in memory */
	uint32_t config;
	int multiprocessors;
};

/* 0 or the runtime's code. prepare: before the first launch. */
int hopper_gemm_prepare(const struct hopper_gemm_call *call);
int hopper_gemm_launch(const struct hopper_gemm_call *call, void *stream);

#ifdef __cplusplus
}
#endif
#endif
