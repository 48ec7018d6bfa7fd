/* The operations of the contract in double precision, written to be read: no blocking, no threads,
 * no vendor library. Verification compares with them; the module tk_backend_reference.so runs them
 * like any other backend.
 *
 * Tensors are host copies, indexed by enum tk_tensor_id, row-major (tracker_abi.h). The last
 * dimension of a matrix of gemm is the distance of its rows. Shapes are not checked. */
#ifndef TK_REFERENCE_H
#define TK_REFERENCE_H
#include "element.h"
#include "tracker_abi.h"
#include <stdbool.h>
#include <stdint.h>

/* C[batch][i][j] before it is rounded to the type of C. */
double tk_reference_gemm_entry(
        const struct tk_gemm *p, const struct tk_tensor *t, int64_t batch, int64_t i, int64_t j);
void tk_reference_gemm(const struct tk_gemm *p, const struct tk_tensor *t);

/* One query row: the keys it sees, their scaled scores, softmax weights, the output and the natural
 * log of the sum of exponentials. */
struct tk_reference_row {
	int64_t count; /* visible keys; 0: out is all zero and lse is -infinity */
	int64_t *key;
	double *score, *weight;
	double *out; /* dv values */
	double lse;
	double *vector; /* scratch: one row of Q, K or V */
	double *query;
};

/* Allocates rows of at most `keys` keys and vectors of at most `width` values. 0, or -1: out of
 * memory. */
int tk_reference_row_init(struct tk_reference_row *row, int64_t keys, int64_t width);
void tk_reference_row_free(struct tk_reference_row *row);

/* Row i of head h of batch b: softmax(scale q K^T + mask) V; causal is aligned to the bottom right;
 * GQA. */
void tk_reference_attention_row(const struct tk_attention *p, const struct tk_tensor *t, int64_t b,
        int64_t h, int64_t i, struct tk_reference_row *row);
/* Computes O, and LSE if its tensor has data. 0, or -1: out of memory. Forward only. */
int tk_reference_attention(const struct tk_attention *p, const struct tk_tensor *t);

/* One query and one key in the backward pass: load both, compute, read the results. The gradients
 * are sums of these. */
struct tk_reference_pair {
	double *q, *k, *v, *o, *d_o; /* as loaded */
	double lse, delta;           /* of the query; delta: dO o' */
	double score, weight;        /* scale q k', exp(score - lse) */
	double d_score;              /* weight (dO v' - delta) */
	double reach; /* weight (|dO v'| + |delta|): scale of the errors of d_score */
};

int tk_reference_pair_init(struct tk_reference_pair *r, const struct tk_attention *p);
void tk_reference_pair_free(struct tk_reference_pair *r);
void tk_reference_pair_query(const struct tk_attention *p, const struct tk_tensor *t, int64_t b,
        int64_t h, int64_t i, struct tk_reference_pair *r);
void tk_reference_pair_key(const struct tk_attention *p, const struct tk_tensor *t, int64_t b,
        int64_t kv_head, int64_t j, struct tk_reference_pair *r);
bool tk_reference_pair_visible(const struct tk_attention *p, int64_t i, int64_t j);
void tk_reference_pair_compute(const struct tk_attention *p, struct tk_reference_pair *r);
/* dQ dK dV from Q K V O LSE dO. 0, or -1 where memory is out. */
int tk_reference_attention_backward(const struct tk_attention *p, const struct tk_tensor *t);

/* The two branches of a sparse row; the output is their sum. A block that is listed twice counts
 * twice; -1 is no block. */
enum tk_reference_branch { TK_REFERENCE_SELECTED, TK_REFERENCE_WINDOW };
void tk_reference_nsa_row(const struct tk_nsa *p, const struct tk_tensor *t, int64_t b, int64_t h,
        int64_t i, enum tk_reference_branch branch, struct tk_reference_row *row);
int64_t tk_reference_nsa_max_keys(const struct tk_nsa *p);
int tk_reference_nsa(const struct tk_nsa *p, const struct tk_tensor *t);

/* Copy (exact) and read (out[0] = passes x sum of in, every other element of out 0). */
void tk_reference_copy(const struct tk_tensor *t);
void tk_reference_read(const struct tk_tensor *t, int64_t passes);

#endif
