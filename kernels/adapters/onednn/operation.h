/* What backend.cpp knows of an operation that it has prepared. Errors are exceptions of oneDNN. */
#ifndef ONEDNN_OPERATION_H
#define ONEDNN_OPERATION_H
#include "library.h"
#include <memory>

struct bound { /* the memory of one input set */
	virtual ~bound() = default;
};

struct operation {
	virtual ~operation() = default;
	virtual std::unique_ptr<bound> bind(const struct tk_tensor *tensors) = 0;
	virtual void run(bound &set) = 0; /* returns when it is done */
};

std::unique_ptr<operation> make_gemm(
        const struct tk_gemm *gemm, const char *config, struct tk_plan_info *info);
/* attention.cpp, where the library has the graph API */
std::unique_ptr<operation> make_attention(
        const struct tk_attention *attention, struct tk_plan_info *info);

#endif
