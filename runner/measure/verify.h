/* Verification of one result: the state that the checks of all operations share. Private to
 * measure/. */
#ifndef TK_MEASURE_VERIFY_H
#define TK_MEASURE_VERIFY_H
#include "measure/measure.h"

struct tk_verify_state {
	struct tk_verify_result *out;
	double worst;    /* largest error / tolerance so far */
	uint64_t random; /* chooses the entries and rows to check */
};

uint64_t tk_verify_next_random(struct tk_verify_state *v);
/* Records one comparison. Error and tolerance are reported relative to `scale`; the message is kept
 * for the worst comparison. */
void tk_verify_add_error(struct tk_verify_state *v, double error, double tolerance, double scale,
        const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Every bit is set, as before the first launch: a backend without the optional log-sum-exp. */
bool tk_verify_is_untouched(const struct tk_tensor *t);

/* One check an operation. `t` is indexed by enum tk_tensor_id. TK_ENOMEM is the only failure. */
void tk_verify_gemm(struct tk_verify_state *v, const struct tk_gemm *p, enum tk_dist dist,
        const struct tk_tensor *t);
int tk_verify_attention(struct tk_verify_state *v, const struct tk_attention *p,
        const struct tk_tensor *t, struct tk_error *err);
int tk_verify_attention_backward(struct tk_verify_state *v, const struct tk_attention *p,
        const struct tk_tensor *t, struct tk_error *err);
int tk_verify_nsa(struct tk_verify_state *v, const struct tk_nsa *p, const struct tk_tensor *t,
        struct tk_error *err);

#endif
