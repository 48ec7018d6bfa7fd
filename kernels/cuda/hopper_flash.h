/* The interface between the backend (hopper_flash_backend.c) and the Hopper kernels of attention,
 * forward (hopper_flash.cu) and backward (hopper_backward.cu). */
#ifndef HOPPER_FLASH_H
#define HOPPER_FLASH_H
#include "tracker_abi.h"
#include <cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hopper_flash_args {
	int b, h, hkv, sq, skv, causal;
	float scale; /* times log2(e) */
	int tiles;   /* of queries in a head */
	int section; /* heads whose tiles are taken in turn: their keys and values fit into the L2
	                cache */
	float *lse;  /* may be NULL */
};

struct hopper_flash_call {
	CUtensorMap q, k, v,
	        o; /* d, heads, tokens, batch; boxes of 64 elements of d and one head */
	struct hopper_flash_args args;
	uint32_t dtype;
	int d, multiprocessors;
};

/* Queries and keys of a tile, by head dimension (64, 128, 256). A copy brings 64 queries, or all
 * keys of a tile. */
int hopper_flash_queries(int d);
int hopper_flash_keys(int d);

/* 0 or the runtime's code. prepare: before the first launch. */
int hopper_flash_prepare(const struct hopper_flash_call *call);
int hopper_flash_launch(const struct hopper_flash_call *call, void *stream);

/* ---- backward ---- */

enum { HOPPER_BACKWARD_ROWS = 64 }; /* of a copy, and of a warpgroup */

struct hopper_backward_args {
	int b, h, hkv, sq, skv, causal;
	float scale, scale_log2;           /* scale times log2(e) */
	int section_keys, section_queries; /* heads whose tiles are taken in turn: what passes them
	                                      fits into the L2 cache */
	int padded;                        /* sq, up to a multiple of HOPPER_BACKWARD_ROWS */
	const void *o, *d_o;               /* [b][sq][h][d] */
	const float *lse;                  /* [b][h][sq] */
	float *rows; /* [b][h][padded] of lse times log2(e), then of sum(dO o) */
};

struct hopper_backward_call {
	CUtensorMap q, k, v, d_o, dq, dk,
	        dv; /* d, heads, tokens, batch; boxes of 64 elements of d, one head, 64 tokens */
	struct hopper_backward_args args;
	uint32_t dtype;
	int d, multiprocessors;
};

/* 0 or the runtime's code. prepare: before the first launch. */
int hopper_backward_prepare(const struct hopper_backward_call *call);
int hopper_backward_launch(const struct hopper_backward_call *call, void *stream);

#ifdef __cplusplus
}
#endif
#endif
