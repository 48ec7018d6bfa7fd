/* Kernels that reach a limit of the hardware. They return 0 or the runtime's code of a failed
 * launch. */
#ifndef GPU_CEILING_KERNELS_H
#define GPU_CEILING_KERNELS_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#define CEILING_BLOCKS_MAX 4096  /* blocks of the reading kernel; each has one partial sum */
#define CEILING_CHUNK_BYTES 8192 /* regions that are read repeatedly are a multiple of this */
#define CEILING_VALUES 64        /* random start values of the multiply-adds, and results */

/* out = in, any type, 256-byte aligned. */
int ceiling_copy(const void *in, void *out, size_t bytes, void *stream);
/* *out = sum of n floats. partial: CEILING_BLOCKS_MAX floats; ticket: one word that is 0 and is
 * left 0. */
int ceiling_read(const float *in, size_t n, float *out, float *partial, unsigned *ticket,
        unsigned blocks, void *stream);

/* *out = the sum of n floats, times `passes`: all of them are read that many times. `own`: every
 * block rereads its own part, so that the cache of its multiprocessor serves it; otherwise each
 * block reads all of them, bypassing that cache. */
int ceiling_read_passes(const float *in, size_t n, int64_t passes, int own, float *out,
        float *partial, unsigned *ticket, unsigned blocks, void *stream);

/* At least `count` multiply-adds on numbers of `in`; dtype: TK_F32, TK_F16 or TK_BF16. `units`:
 * multiprocessors. The results are unspecified, but depend on everything that was computed. */
int ceiling_rate(
        uint32_t dtype, const void *in, void *out, int64_t count, unsigned units, void *stream);

const char *ceiling_status_text(int status);
#ifdef __cplusplus
}
#endif
#endif
