/* Parameters of FlashAttention-2 alone, forward and backward, as its set_params_fprop() sets them
 * without dropout. */
#ifndef FLASH_VERSION_2_H
#define FLASH_VERSION_2_H
#include "parameters.h"
#include <cmath>

namespace
{

void set_version_2_values(Flash_fwd_params &p, const struct tk_attention *a)
{
	p.h_h_k_ratio = p.h / p.h_k;
	p.is_causal = a->causal != 0;
	p.scale_softmax_log2 = static_cast<float>(a->scale * M_LOG2E);
	p.scale_softmax_rp_dropout = p.scale_softmax;
	p.window_size_left = p.is_causal ? p.seqlen_k : -1;
	p.window_size_right = p.is_causal ? 0 : -1;
	p.is_seqlens_k_cumulative = true;
}

} // namespace

#endif
