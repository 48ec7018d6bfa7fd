/* One instance of FlashAttention-2's forward pass. The build defines KERNEL (the symbol), SOURCE
 * (the library's file with the instance), TYPE, HEAD and, where the library has an instance for
 * each, CAUSAL. Parameters are set as in the library's set_params_fprop(). */
#include SOURCE

#ifdef FA2_HAS_NAMESPACE
using namespace FLASH_NAMESPACE;
#endif

#include "forward.h"
#include "version_2.h"

namespace
{

cudaError_t set_values(prepared_forward &f, const struct tk_attention *a)
{
	set_version_2_values(f.params, a);
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
