/* One instance of FlashInfer's prefill for Hopper, with and without a causal mask: the batches of
 * its BatchPrefillWithRaggedKVCacheWrapper, here all of one length. The build defines KERNEL (the
 * symbol), TYPE and HEAD, and what the revision's interface has. Parameters are set as in the
 * library's batch_prefill_sm90.cu. */
#include <flashinfer/attention/hopper/default_params.cuh>
#include <flashinfer/attention/hopper/prefill_sm90.cuh>
#include <flashinfer/attention/hopper/variants.cuh>
#include <flashinfer/attention/mask.cuh>
#include <flashinfer/attention/scheduler.cuh>

#include "kernel.h"
#include <exception>
#include <memory>
#include <new>
#include <vector>

namespace
{

using namespace flashinfer;
using index_type = int32_t;
using ragged_params = BatchPrefillRaggedParams<TYPE, TYPE, TYPE, index_type>;

struct prepared_prefill {
	ragged_params params{};
	void *schedule = nullptr; /* on the device: which block computes which tiles */
	~prepared_prefill()
	{
		cudaFree(schedule);
	}
};

const char *text(cudaError_t error)
{
	return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

/* [batch][rows][heads][d]: the batches are rows of one tensor. */
void set_tensors(ragged_params &p, const struct tk_attention *a, const struct tk_tensor *tensors)
{
	p.q_ptr = static_cast<TYPE *>(tensors[TK_T_Q].data);
	p.k_ptr = static_cast<TYPE *>(tensors[TK_T_K].data);
	p.v_ptr = static_cast<TYPE *>(tensors[TK_T_V].data);
	p.o_ptr = static_cast<TYPE *>(tensors[TK_T_O].data);
	p.lse_ptr = nullptr; /* the library's is to base 2: not asked for, as is its default */
	p.q_stride_n = p.o_stride_n = a->h * a->d;
	p.k_stride_n = p.v_stride_n = a->hkv * a->d;
	p.q_stride_h = p.k_stride_h = p.v_stride_h = p.o_stride_h = a->d;
	p.nnz_qo = a->b * a->sq;
	p.nnz_kv = a->b * a->skv;
	p.num_qo_heads = static_cast<int>(a->h);
	p.num_kv_heads = static_cast<int>(a->hkv);
	p.group_size = static_cast<int>(a->h / a->hkv);
	p.window_left = -1;
	p.causal = a->causal != 0;
	p.additional_params.sm_scale = static_cast<float>(a->scale);
}

void set_schedule(ragged_params &p, void *base, const PrefillPlanSM90Info &plan)
{
	const auto at = [base](int64_t offset) {
		return GetPtrFromBaseOffset<index_type>(base, offset);
	};
	p.qo_tile_indices = at(plan.qo_tile_indices_offset);
	p.qo_indptr = at(plan.qo_indptr_offset);
	p.kv_indptr = at(plan.kv_indptr_offset);
	p.qo_lens = at(plan.qo_len_offset);
	p.kv_lens = at(plan.kv_len_offset);
	p.head_indices = at(plan.head_indices_offset);
	p.work_indptr = at(plan.work_indptr_offset);
#ifdef FLASHINFER_HAS_BATCH_INDICES
	p.batch_indices = at(plan.batch_indices_offset);
#endif
}

/* The library's schedule of this problem, made on the host and copied to the device. */
cudaError_t make_schedule(prepared_prefill &f, const struct tk_attention *a)
{
	std::vector<index_type> q_begin(a->b + 1), kv_begin(a->b + 1);
	std::vector<index_type> kv_length(a->b, static_cast<index_type>(a->skv));
	for (int64_t i = 0; i <= a->b; i++) {
		q_begin[i] = static_cast<index_type>(i * a->sq);
		kv_begin[i] = static_cast<index_type>(i * a->skv);
	}
	/* Eight lists, each with an entry for every tile and one for every block. PrefillSM90Plan
	 * reserves ceil(rows / 128) + b - 1 tiles a head, where rows are those of all sequences. */
	const size_t tiles = ((a->b * a->sq + 127) / 128 + a->b) * a->h;
	const size_t bytes = 8 * (sizeof(index_type) * (tiles + 1024) + 16);
	std::vector<char> host(bytes);
	PrefillPlanSM90Info plan;
	cudaError_t error = cudaMalloc(&f.schedule, bytes);
	if (error == cudaSuccess)
		error = PrefillSM90Plan<index_type>(nullptr, 0, f.schedule, host.data(), bytes,
		        plan, q_begin.data(), kv_begin.data(), kv_length.data(), a->b * a->sq, a->b,
		        a->h, a->hkv, a->d, a->d, 1, a->causal != 0, false, sizeof(TYPE), nullptr);
	if (error == cudaSuccess)
		error = cudaStreamSynchronize(nullptr);
	if (error == cudaSuccess && plan.same_schedule_for_all_heads)
		error = cudaErrorNotSupported; /* library.h refuses such problems */
	set_schedule(f.params, f.schedule, plan);
	return error;
}

const char *prepare(
        const struct tk_attention *a, const struct tk_tensor *tensors, uint32_t, void **out)
{
	try {
		auto f = std::make_unique<prepared_prefill>();
		set_tensors(f->params, a, tensors);
		const cudaError_t error = make_schedule(*f, a);
		if (error != cudaSuccess)
			return text(error);
		*out = f.release();
		return nullptr;
	} catch (const std::bad_alloc &) {
		return "out of memory";
	} catch (const std::exception &) {
		return "the library cannot schedule this problem";
	}
}

template <MaskMode MASK> cudaError_t launch(ragged_params &params, cudaStream_t stream)
{
	return BatchPrefillWithRaggedKVCacheDispatched<HEAD, HEAD, MASK, false, false,
	        StandardAttention>(params,
#ifdef FLASHINFER_HAS_PDL
	        false,
#endif
	        stream);
}

const char *run(void *prepared, void *stream)
{
	auto &params = static_cast<prepared_prefill *>(prepared)->params;
	auto *cuda_stream = static_cast<cudaStream_t>(stream);
	return text(params.causal ? launch<MaskMode::kCausal>(params, cuda_stream)
	                          : launch<MaskMode::kNone>(params, cuda_stream));
}

void destroy(void *prepared)
{
	delete static_cast<prepared_prefill *>(prepared);
}

} // namespace

extern "C" {
extern const struct kernel KERNEL;
const struct kernel KERNEL = {prepare, run, destroy};
}
