/* The interface between the backend (hopper_nsa_backend.c) and the Hopper kernels of native sparse
 * attention (hopper_nsa.cu). */
#ifndef HOPPER_NSA_H
#define HOPPER_NSA_H
#include "tracker_abi.h"
#include <cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	HOPPER_NSA_KEYS = 64, /* of a step; blocks are multiples of it */
	HOPPER_NSA_STEPS =
	        8192, /* of a sequence at most: the lists of a tile are made in shared memory */
	HOPPER_NSA_MIN_GROUP = 8, /* heads: a mask of 32 bits names a tile's tokens */
};

/* Which keys (64 from `key` on), and which of the tile's tokens look at them. */
struct hopper_nsa_step {
	int key;
	uint32_t tokens;
};

struct hopper_nsa_args {
	int b, h, hkv, s, group, tokens; /* tokens: of a warpgroup, 64 / group */
	int block_size, selected, window, causal;
	float scale;           /* times log2(e) */
	int tiles, limit;      /* tiles of a kv head; steps that a list has room for */
	const int32_t *blocks; /* [b][s][hkv][selected] */
	int *counts;           /* of each tile, and its list */
	struct hopper_nsa_step *lists;
	float *sums; /* for each block that runs at a time, hopper_nsa_rows() x d: what waits of the
	                first branch */
};

struct hopper_nsa_call {
	CUtensorMap q, k, v, o; /* d, heads, tokens, batch; boxes of 64 elements of d and 64 rows */
	struct hopper_nsa_args args;
	uint32_t dtype, config;
	int d, multiprocessors;
};

extern const char *const hopper_nsa_configs[];
extern const uint32_t hopper_nsa_config_count;

/* Rows (token and head) of a tile. */
int hopper_nsa_rows(uint32_t config);

/* 0 or the runtime's code. prepare: before the first launch. */
int hopper_nsa_prepare(const struct hopper_nsa_call *call);
int hopper_nsa_launch(const struct hopper_nsa_call *call, void *stream);

#ifdef __cplusplus
}
#endif
#endif
