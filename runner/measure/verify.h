/* What the checks of the operations share: a worst case, and the scan for values that are no
 * numbers. Private to measure/. */
#ifndef TK_MEASURE_VERIFY_H
#define TK_MEASURE_VERIFY_H
#include "measure/measure.h"

struct tk_verify {
	struct tk_verify_result *out;
	double worst;    /* largest error / tolerance so far */
	uint64_t random; /* state of the choice of samples */
};

uint64_t tk_verify_next_random(struct tk_verify *v);
/* One comparison. scale: what error and tolerance are reported in units of. The worst one keeps its
 * words. */
void tk_verify_add_error(struct tk_verify *v, double error, double tolerance, double scale,
        const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Adds what a thread found, which had a verdict of its own, to the whole. */
void tk_verify_merge(struct tk_verify *whole, const struct tk_verify *part);

/* Row n of the sample of an attention problem: first and last rows in turn over all batch entries
 * and kv heads, then anything. */
struct tk_verify_row {
	int64_t b, kv, h, i;
};
struct tk_verify_row tk_verify_choose_row(struct tk_verify *v, int64_t n, int64_t batches,
        int64_t heads, int64_t kv_heads, int64_t rows);
/* How many rows, where one costs `cost` multiply-adds. */
int64_t tk_verify_row_count(
        int64_t batches, int64_t kv_heads, int64_t heads, int64_t rows, double cost);

int tk_verify_gemm(struct tk_verify *v, const struct tk_gemm *p, enum tk_dist dist,
        const struct tk_tensor *t, struct tk_error *err);
int tk_verify_attention(struct tk_verify *v, const struct tk_attention *p,
        const struct tk_tensor *t, struct tk_error *err);
int tk_verify_attention_backward(struct tk_verify *v, const struct tk_attention *p,
        const struct tk_tensor *t, struct tk_error *err);
int tk_verify_nsa(struct tk_verify *v, const struct tk_nsa *p, const struct tk_tensor *t,
        struct tk_error *err);

#endif
