/* One instance of FlashAttention-2's forward pass. The build defines KERNEL (the symbol), SOURCE
 * (the library's file with the instance), TYPE, HEAD and, where the library has an instance for
 * each, CAUSAL. Parameters are set as in the library's set_params_fprop(). */
#include SOURCE
#include <cmath>

#ifdef FA2_HAS_NAMESPACE
using namespace FLASH_NAMESPACE;
#endif

#include "forward.h"

namespace
{

cudaError_t set_values(prepared_forward &f, const struct tk_attention *a)
{
	Flash_fwd_params &p = f.params;
	p.h_h_k_ratio = p.h / p.h_k;
	p.is_causal = a->causal != 0;
	p.scale_softmax_log2 = static_cast<float>(a->scale * M_LOG2E);
	p.scale_softmax_rp_dropout = p.scale_softmax;
	p.window_size_left = p.is_causal ? p.seqlen_k : -1;
	p.window_size_right = p.is_causal ? 0 : -1;
	p.is_seqlens_k_cumulative = true;
	return cudaSuccess;
}

const char *run(void *prepared, void *stream)
{
	Flash_fwd_params &params = static_cast<prepared_forward *>(prepared)->params;
	tk_first_error() = cudaSuccess;
#ifdef FA2_CAUSAL_IS_ARGUMENT
	run_mha_fwd_<TYPE, HEAD, CAUSAL>(params, static_cast<cudaStream_t>(stream));
#else
	run_mha_fwd_<TYPE, HEAD>(params, static_cast<cudaStream_t>(stream));
#endif
	return text(tk_first_error());
}

} // namespace

extern "C" {
extern const struct kernel KERNEL;
const struct kernel KERNEL = {prepare, run, destroy};
}
