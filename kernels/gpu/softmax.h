/* Softmax over the rows of a score matrix in memory, for attention by a BLAS. Returns 0 or the
 * runtime's code of a failed launch. */
#ifndef GPU_SOFTMAX_H
#define GPU_SOFTMAX_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
/* scores: [rows][skv] f32. Row r belongs to query r % sq and sees its first skv keys, or, where
 * causal, r % sq + skv - sq + 1 of them; weights of the others are 0. weights: like scores, in
 * `dtype` (enum tk_dtype: f32, f16, bf16); may be the scores themselves if it is f32. lse: rows
 * floats, or NULL. */
int softmax_rows(const float *scores, void *weights, float *lse, int64_t rows, int64_t sq,
        int64_t skv, int causal, uint32_t dtype, void *stream);
const char *softmax_status_text(int status);
#ifdef __cplusplus
}
#endif
#endif
