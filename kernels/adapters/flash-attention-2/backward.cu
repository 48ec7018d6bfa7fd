/* One instance of FlashAttention-2's backward pass. The build defines KERNEL (the symbol), SOURCE
 * (the library's file with the instance), TYPE, HEAD and, where the library has an instance for
 * each, CAUSAL. Parameters are set as in the library's set_params_dgrad() and mha_bwd(). */
#include SOURCE

#ifdef FA2_HAS_NAMESPACE
using namespace FLASH_NAMESPACE;
#endif

#include "backward.h"
#include "version_2.h"

/* Not without a name: nvcc's own code for a kernel in such a namespace is ambiguous where the
 * library has one, too. */
namespace group_sum
{

constexpr int width = 16 / sizeof(TYPE); /* elements that a thread reads at once */

struct alignas(16) elements {
	TYPE at[width];
};

/* Adds up `group` heads that lie side by side, of `count` groups of HEAD values, in f32. */
static __global__ void add_groups(const elements *in, elements *out, size_t count, int group)
{
	constexpr size_t parts = HEAD / width;
	const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
	if (i >= count * parts)
		return;
	const elements *head = in + i / parts * group * parts + i % parts;
	float sums[width] = {};
	for (int g = 0; g < group; g++) {
		const elements value = head[g * parts];
		for (int j = 0; j < width; j++)
			sums[j] += static_cast<float>(value.at[j]);
	}
	elements result;
	for (int j = 0; j < width; j++)
		result.at[j] = TYPE(sums[j]);
	out[i] = result;
}

} // namespace group_sum

namespace
{

/* The library writes dK and dV of each head of Q, and has PyTorch add up those of a group. */
cudaError_t set_values(prepared_backward &f, const struct tk_attention *a)
{
	Flash_bwd_params &p = f.params;
	set_version_2_values(p, a);
	const size_t rows = static_cast<size_t>(a->b) * a->h * p.seqlen_q_rounded;
	const size_t keys = static_cast<size_t>(a->b) * a->h * a->skv * a->d;
	const size_t group_bytes = p.h != p.h_k ? keys * sizeof(TYPE) : 0;
	layout parts;
	const size_t sum = parts.add(rows * sizeof(float));
	const size_t dq = parts.add(rows * p.d_rounded * sizeof(float));
	const size_t dk = parts.add(group_bytes), dv = parts.add(group_bytes);
	const cudaError_t error = cudaMalloc(&f.buffer, parts.bytes);
	if (error != cudaSuccess)
		return error;
	p.dsoftmax_sum = f.buffer + sum;
	p.dq_accum_ptr = f.buffer + dq;
	if (group_bytes) {
		f.dk = p.dk_ptr;
		f.dv = p.dv_ptr;
		p.dk_ptr = f.buffer + dk;
		p.dv_ptr = f.buffer + dv;
		p.dk_head_stride = p.dv_head_stride = a->d;
		p.dk_row_stride = p.dv_row_stride = a->h * a->d;
		p.dk_batch_stride = p.dv_batch_stride = a->skv * a->h * a->d;
	}
	return cudaSuccess;
}

void add_groups_of(const prepared_backward &f, const void *in, void *out, cudaStream_t stream)
{
	const Flash_bwd_params &p = f.params;
	const size_t count = static_cast<size_t>(p.b) * p.seqlen_k * p.h_k;
	const unsigned threads = 256;
	const size_t blocks = (count * (HEAD / group_sum::width) + threads - 1) / threads;
	group_sum::add_groups<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(
	        static_cast<const group_sum::elements *>(in),
	        static_cast<group_sum::elements *>(out), count, p.h / p.h_k);
}

const char *run(void *prepared, void *stream)
{
	auto *f = static_cast<prepared_backward *>(prepared);
	auto *cuda_stream = static_cast<cudaStream_t>(stream);
	tk_first_error() = cudaSuccess;
#if defined FA2_CAUSAL_IS_ARGUMENT
	run_mha_bwd_<TYPE, HEAD, CAUSAL>(f->params, cuda_stream);
#elif defined FA2_BACKWARD_CONFIGURES
	run_mha_bwd_<TYPE, HEAD>(f->params, cuda_stream, false);
#else
	run_mha_bwd_<TYPE, HEAD>(f->params, cuda_stream);
#endif
	if (f->dk) {
		add_groups_of(*f, f->params.dk_ptr, f->dk, cuda_stream);
		add_groups_of(*f, f->params.dv_ptr, f->dv, cuda_stream);
		C10_CUDA_KERNEL_LAUNCH_CHECK();
	}
	return text(tk_first_error());
}

} // namespace

extern "C" {
extern const struct kernel KERNEL;
const struct kernel KERNEL = {prepare, run, destroy};
}
