/* The backward pass of FlashAttention, as far as the parameters of its versions 2 and 3 agree.
 * backward.cu includes the library first; its set_values() does the rest. */
#ifndef FLASH_BACKWARD_H
#define FLASH_BACKWARD_H
#include "parameters.h"
#include <new>

namespace
{

struct prepared_backward {
	Flash_bwd_params params{};
	char *buffer = nullptr;            /* all that the library allocates for a call */
	size_t sums = 0, sums_bytes = 0;   /* of version 3: the part that is zero at the start */
	void *dk = nullptr, *dv = nullptr; /* of version 2: the sums over groups, else NULL */
	~prepared_backward()
	{
		cudaFree(buffer);
	}
};

/* Sets the parameters of the library's version alone, and allocates the buffer. */
cudaError_t set_values(prepared_backward &f, const struct tk_attention *a);

/* Offsets of parts in a buffer, each aligned to 256 bytes. */
struct layout {
	size_t bytes = 0;
	size_t add(size_t part)
	{
		const size_t offset = bytes;
		bytes += (part + 255) / 256 * 256;
		return offset;
	}
};

/* The gradients have the shapes of what they are gradients of. */
void set_gradients(Flash_bwd_params &p, const struct tk_tensor *t)
{
	p.do_ptr = t[TK_T_DO].data;
	p.dq_ptr = t[TK_T_DQ].data;
	p.dk_ptr = t[TK_T_DK].data;
	p.dv_ptr = t[TK_T_DV].data;
	p.do_batch_stride = p.dq_batch_stride = p.q_batch_stride;
	p.do_row_stride = p.dq_row_stride = p.q_row_stride;
	p.do_head_stride = p.dq_head_stride = p.q_head_stride;
	p.dk_batch_stride = p.dv_batch_stride = p.k_batch_stride;
	p.dk_row_stride = p.dv_row_stride = p.k_row_stride;
	p.dk_head_stride = p.dv_head_stride = p.k_head_stride;
}

const char *prepare(
        const struct tk_attention *a, const struct tk_tensor *t, uint32_t count, void **out)
{
	if (count <= TK_T_DV)
		return "too few tensors";
	auto *f = new (std::nothrow) prepared_backward();
	if (!f)
		return "out of memory";
	set_inputs(f->params, a, t);
	set_gradients(f->params, t);
	f->params.softmax_lse_ptr = t[TK_T_LSE].data;
	const cudaError_t error = set_values(*f, a);
	if (error != cudaSuccess) {
		delete f;
		return text(error);
	}
	*out = f;
	return nullptr;
}

void destroy(void *prepared)
{
	delete static_cast<prepared_backward *>(prepared);
}

} // namespace

#endif
