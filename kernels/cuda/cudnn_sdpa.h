/* cuDNN's scaled dot product attention, as a C interface over its header-only C++ frontend
 * (cudnn_sdpa.cpp): the graphs that the library recognises as flash attention are long, and the
 * frontend is where NVIDIA keeps them. No exception leaves these functions. */
#ifndef TK_CUDNN_SDPA_H
#define TK_CUDNN_SDPA_H
#include "tracker_abi.h"

#ifdef __cplusplus
extern "C" {
#endif
struct cudnn_sdpa;

/* A graph for one problem, forward (with log-sum-exp) or backward. TK_ABI_UNSUPPORTED, with the
 * library's message, if it has no kernel. algorithm: the name of the chosen execution plan. handle:
 * a cudnnHandle_t. */
int cudnn_sdpa_new(void *handle, const struct tk_attention *a, struct cudnn_sdpa **out,
        size_t *workspace_bytes, char algorithm[128], struct tk_abi_error *err);
/* tensors: indexed by enum tk_tensor_id. Enqueued on the stream of the handle. */
int cudnn_sdpa_run(struct cudnn_sdpa *s, void *handle, void *const *tensors, void *workspace,
        struct tk_abi_error *err);
void cudnn_sdpa_free(struct cudnn_sdpa *s);
#ifdef __cplusplus
}
#endif
#endif
