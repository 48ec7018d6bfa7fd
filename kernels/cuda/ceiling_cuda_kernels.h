/* Kernels that move memory as fast as it goes. They return the runtime's code of the launch. */
#ifndef TK_CEILING_CUDA_KERNELS_H
#define TK_CEILING_CUDA_KERNELS_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#define CEILING_BLOCKS_MAX 4096 /* blocks of the reading kernel: one partial sum each */

/* out = in, any type, 256-byte aligned. */
int ceiling_copy(const void *in, void *out, size_t bytes, void *stream);
/* *out = sum of n floats. partial: CEILING_BLOCKS_MAX floats; ticket: one word that is 0 and is left 0. */
int ceiling_read(
        const float *in, size_t n, float *out, float *partial, unsigned *ticket, unsigned blocks, void *stream);
#ifdef __cplusplus
}
#endif
#endif
