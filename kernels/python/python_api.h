/* The functions of Python that the host calls, found in the process that it runs in: no header and
 * no library of Python is needed to build it, and one build serves every Python since 3.9. Only
 * what the stable ABI has.
 *
 * The worker holds the interpreter's lock all the time. */
#ifndef TK_PYTHON_API_H
#define TK_PYTHON_API_H
#include "tracker_abi.h"

struct python_object;

struct python_api {
	struct python_object *(*import)(const char *);
	struct python_object *(*attribute)(struct python_object *, const char *);
	struct python_object *(*call)(struct python_object *, struct python_object *);
	struct python_object *(*call_with)(struct python_object *, const char *format, ...);
	struct python_object *(*item)(struct python_object *, intptr_t); /* borrowed */
	long (*to_long)(struct python_object *);
	unsigned long long (*to_address)(struct python_object *);
	struct python_object *(*to_utf8)(struct python_object *);
	char *(*bytes)(struct python_object *);
	struct python_object *(*to_text)(struct python_object *);
	void (*fetch_error)(
	        struct python_object **, struct python_object **, struct python_object **);
	void (*normalize_error)(
	        struct python_object **, struct python_object **, struct python_object **);
	void (*clear_error)(void);
	void (*retain)(struct python_object *);
	void (*release)(struct python_object *);
	struct python_object *none; /* Py_None */
};
extern struct python_api python;

/* TK_ABI_INVALID: this process is not a Python. */
int python_api_load(struct tk_abi_error *err);
/* Copies a str; "" if it is none. */
void python_copy_text(struct python_object *text, char *out, size_t size);
/* Takes the current exception as an error: TK_ABI_NO_MEMORY for any MemoryError, otherwise
 * TK_ABI_INTERNAL. `what` failed; "": the caller knows. */
int python_take_error(const char *what, struct tk_abi_error *err);

/* ---- work that a library enqueued on a stream, captured once and replayed without Python: CUDA
 * alone, capture_cuda.c ---- */

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
