/* Native sparse attention of the backend `cpu`, forward. */
#ifndef TK_CPU_NSA_H
#define TK_CPU_NSA_H
#include "attention.h"

struct tk_cpu_nsa {
	const struct tk_nsa *n; /* outlives this */
	struct tk_cpu_shape shape;
	const struct tk_cpu_isa *isa;
	uint32_t threads;
	struct tk_cpu_kv kv;
	struct tk_cpu_rows *rows; /* one a thread */
	float *both;              /* one a thread: group x d, the sum of the branches */
};

int tk_cpu_nsa_init(struct tk_cpu_nsa *x, const struct tk_nsa *n, const struct tk_cpu_isa *isa,
        uint32_t threads);
void tk_cpu_nsa_free(struct tk_cpu_nsa *x);
size_t tk_cpu_nsa_workspace(const struct tk_cpu_nsa *x);
void tk_cpu_nsa_run(const struct tk_cpu_nsa *x, struct tk_cpu_pool *pool, const void *q,
        const void *k, const void *v, void *o, const int32_t *blocks);

#endif
