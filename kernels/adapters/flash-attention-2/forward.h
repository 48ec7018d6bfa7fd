/* The forward pass of FlashAttention, as far as the parameters of its versions 2 and 3 agree.
 * kernel.cu includes the library first; its set_values() does the rest. */
#ifndef FLASH_FORWARD_H
#define FLASH_FORWARD_H
#include "parameters.h"
#include <new>

namespace
{

struct prepared_forward {
	Flash_fwd_params params{};
	void *own_lse = nullptr;
	void *counter = nullptr; /* of version 3 */
	~prepared_forward()
	{
		cudaFree(own_lse);
		cudaFree(counter);
	}
};

/* Sets the parameters of the library's version alone. */
cudaError_t set_values(prepared_forward &f, const struct tk_attention *a);

void destroy(void *prepared)
{
	delete static_cast<prepared_forward *>(prepared);
}

const char *prepare(
        const struct tk_attention *a, const struct tk_tensor *t, uint32_t count, void **out)
{
	auto *f = new (std::nothrow) prepared_forward();
	if (!f)
		return "out of memory";
	set_inputs(f->params, a, t);
	cudaError_t error = set_values(*f, a);
	f->params.softmax_lse_ptr = count > TK_T_LSE ? t[TK_T_LSE].data : nullptr;
	if (error == cudaSuccess &&
	        !f->params.softmax_lse_ptr) { /* the kernel writes it in any case */
		error = cudaMalloc(&f->own_lse, sizeof(float) * a->sq * a->b * a->h);
		f->params.softmax_lse_ptr = f->own_lse;
	}
	if (error != cudaSuccess) {
		delete f;
		return text(error);
	}
	*out = f;
	return nullptr;
}

} // namespace

#endif
