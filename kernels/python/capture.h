/* Work that a library enqueued on a stream, captured once and replayed without Python. */
#ifndef TK_PYTHON_CAPTURE_H
#define TK_PYTHON_CAPTURE_H
#include "tracker_abi.h"

struct capture;

/* Enqueues the work to capture; returns TK_ABI_OK or fails. */
typedef int capture_enqueue_fn(void *context, struct tk_abi_error *err);

/* Captures what `enqueue` enqueues on `stream`. */
int capture_new(void *stream, capture_enqueue_fn *enqueue, void *context, struct capture **out,
        struct tk_abi_error *err);
/* Of a graph (cudaGraph_t) that the library has captured itself, and keeps. */
int capture_adopt(void *graph, struct capture **out, struct tk_abi_error *err);
/* Enqueues one replay; on a stream that is being captured, the work becomes a part of that
 * graph. */
int capture_replay(struct capture *c, void *stream, struct tk_abi_error *err);
void capture_free(struct capture *c);

#endif
