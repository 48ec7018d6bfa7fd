/* The device layer's comparison of two results. */
#ifndef TK_DEVICE_COMPARE_H
#define TK_DEVICE_COMPARE_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* *differs (on the device) becomes 1 if the two ranges differ, and is unchanged otherwise. Each may
 * begin at any address: results of problems with `offset` begin off their alignment. Returns 0 or
 * the runtime's code of a failed launch. */
int device_compare_enqueue(
        const void *a, const void *b, size_t bytes, unsigned *differs, void *stream);

#ifdef __cplusplus
}
#endif
#endif
