// Native sparse attention forward (Yuan et al., arXiv 2502.11089, section 3.4): branches "selected
// blocks" and "sliding window". Tensors are [b][s][heads][d], f16 or bf16, d = 64 or 128.
//
// A warp has one query token with up to 16 heads of a group, which share keys, values and the list
// of blocks: the 16 rows of a matrix block. It goes through its own list with its own copies in
// flight, without barriers. Then the block's warps, whose tokens are neighbours, go through the
// keys of their windows together. The outputs of the branches are added.
#include "flash_launch.h"
#include "trace.h"

#define REGIONS(X) \
	X(LOAD, "load", LOAD) \
	X(WAIT, "wait for keys", WAIT) \
	X(ATTEND, "attend to blocks", TENSOR) \
	X(WAIT_WINDOW, "wait for the window", WAIT) \
	X(WINDOW, "attend to the window", TENSOR) \
	X(STORE, "store", STORE)
TK_TRACE_KERNEL("nsa_forward", REGIONS, "warp 0")

// KEYS keys a step; STAGES steps in flight; WARPS tokens a block.
template <int D_, int KEYS_, int STAGES_, int WARPS_> struct tiling {
	static constexpr int D = D_, KEYS = KEYS_, STAGES = STAGES_, WARPS = WARPS_,
	                     THREADS = WARPS * GPU_LANES, ROW_ELEMENTS = D + FLASH_PAD;
	static constexpr int KEYS_ELEMENTS = KEYS * ROW_ELEMENTS, STAGE = 2 * KEYS_ELEMENTS,
	                     ELEMENTS = WARPS * STAGES * STAGE;
};

struct nsa_problem {
	int b, h, hkv, s, group, block_size, selected, window, causal;
	float scale; // times log2(e)
};

// Iterates over a list of blocks, at most KEYS keys at a time, without those that the query does
// not see.
struct block_list {
	const int32_t *list;
	int index, offset, key, valid;

	template <int KEYS> GPU_INLINE bool next(const nsa_problem &p, int end)
	{
		for (; index < p.selected; index++, offset = 0) {
			int block = list[index];
			key = block * p.block_size + offset;
			valid = min(min(p.block_size - offset, end - key), KEYS);
			if (block >= 0 && offset < p.block_size && valid > 0) {
				offset += KEYS;
				return true;
			}
		}
		return false;
	}
};

// Keys and values of one kv head.
template <typename T> struct kv_tensors {
	const T *k, *v;
	size_t step;
};

template <class Tiling, int THREADS, typename T>
GPU_INLINE void load_stage(T *stage, const kv_tensors<T> &c, int key, int valid)
{
	flash_load_tile<Tiling::KEYS, Tiling::D, THREADS>(stage, c.k + key * c.step, c.step, valid);
	flash_load_tile<Tiling::KEYS, Tiling::D, THREADS>(
	        stage + Tiling::KEYS_ELEMENTS, c.v + key * c.step, c.step, valid);
}

// The 16 rows attend to the keys [first, last) of a stage.
template <class Tiling, typename T, class Query>
GPU_INLINE void attend(flash_rows<Tiling::D, 1> &r, const Query &query, const T *stage, int first,
        int last, float scale)
{
	gpu_sum s[1][Tiling::KEYS / 16];
	flash_scores<Tiling::D, 1, Tiling::KEYS, T>(s, query, stage);
	if (last < Tiling::KEYS)
		flash_mask<1, Tiling::KEYS, false>(s, [=](int) { return last; });
	if (first > 0)
		flash_mask<1, Tiling::KEYS, true>(s, [=](int) { return first; });
	flash_softmax<Tiling::D, 1, Tiling::KEYS>(r, s, scale);
	flash_accumulate<Tiling::D, 1, Tiling::KEYS, T>(r.o, s, stage + Tiling::KEYS_ELEMENTS);
}

template <class Tiling, typename T, class Query>
GPU_INLINE void selected(flash_rows<Tiling::D, 1> &r, const Query &query, const nsa_problem &p,
        const kv_tensors<T> &c, T *memory, const int32_t *list, int token, tk_trace_ref trace)
{
	int end = p.causal ? min(token + 1, p.s) : p.s, slot = 0;
	block_list ahead = {list, 0, 0, 0, 0}, current = ahead;
	memory += gpu_warp() * Tiling::STAGES * Tiling::STAGE;
	for (int i = 0; i < Tiling::STAGES - 1; i++) {
		if (ahead.next<Tiling::KEYS>(p, end))
			load_stage<Tiling, GPU_LANES>(
			        memory + i * Tiling::STAGE, c, ahead.key, ahead.valid);
		gpu_copy_commit();
	}
	while (current.next<Tiling::KEYS>(p, end)) {
		tk_trace_enter<0>(trace, REGION_WAIT);
		gpu_copy_wait<Tiling::STAGES - 2>();
		gpu_warp_barrier();
		tk_trace_enter<1>(trace, REGION_LOAD);
		if (ahead.next<Tiling::KEYS>(p, end))
			load_stage<Tiling, GPU_LANES>(memory + (slot + Tiling::STAGES - 1) %
			                                               Tiling::STAGES *
			                                               Tiling::STAGE,
			        c, ahead.key, ahead.valid);
		gpu_copy_commit();
		tk_trace_enter<2>(trace, REGION_ATTEND);
		tk_trace_advance<3>(trace);
		attend<Tiling>(r, query, memory + slot * Tiling::STAGE, 0, current.valid, p.scale);
		slot = (slot + 1) % Tiling::STAGES;
	}
	gpu_copy_wait<0>();
}

// All warps together: the keys of the windows of tokens [first, first + WARPS).
template <class Tiling, typename T, class Query>
GPU_INLINE void window(flash_rows<Tiling::D, 1> &r, const Query &query, const nsa_problem &p,
        const kv_tensors<T> &c, T *memory, int first, int token, tk_trace_ref trace)
{
	int end = min(first + Tiling::WARPS, p.s), begin = max(0, first + 1 - p.window), half = 0;
	tk_trace_enter(trace, REGION_WAIT_WINDOW);
	__syncthreads();
	tk_trace_enter(trace, REGION_LOAD);
	load_stage<Tiling, Tiling::THREADS>(memory, c, begin, end - begin);
	gpu_copy_commit();
	for (int key = begin; key < end; key += Tiling::KEYS, half ^= 1) {
		tk_trace_enter<0>(trace, REGION_WAIT_WINDOW);
		gpu_copy_wait<0>();
		__syncthreads();
		tk_trace_enter<1>(trace, REGION_LOAD);
		if (key + Tiling::KEYS < end)
			load_stage<Tiling, Tiling::THREADS>(memory + (half ^ 1) * Tiling::STAGE, c,
			        key + Tiling::KEYS, end - key - Tiling::KEYS);
		gpu_copy_commit();
		tk_trace_enter<2>(trace, REGION_WINDOW);
		tk_trace_advance<3>(trace);
		if (key <= token && key + Tiling::KEYS > token + 1 - p.window)
			attend<Tiling>(r, query, memory + half * Tiling::STAGE,
			        token + 1 - p.window - key, token + 1 - key, p.scale);
	}
	gpu_copy_wait<0>();
}

template <class Tiling, typename T>
GPU_KERNEL(Tiling::THREADS, 1)
nsa_forward(nsa_problem p, const T *q, const T *k, const T *v, const int32_t *blocks, T *o)
{
	GPU_DYNAMIC_SHARED(bytes);
	T *memory = (T *)bytes;
	int tiles = gpu_ceil_div(p.group, 16), kv_head = (int)blockIdx.y / tiles,
	    row0 = (int)blockIdx.y % tiles * 16;
	int batch = (int)blockIdx.z, first = (int)blockIdx.x * Tiling::WARPS,
	    token = first + gpu_warp();
	size_t row = ((size_t)batch * p.s + min(token, p.s - 1)) * p.h + kv_head * p.group + row0,
	       kv = (size_t)batch * p.s * p.hkv + kv_head;
	int heads = token < p.s ? min(p.group - row0, 16) : 0;
	kv_tensors<T> c = {k + kv * Tiling::D, v + kv * Tiling::D, (size_t)p.hkv * Tiling::D};
	gpu_left<T> registers[Tiling::D / 16];
	flash_rows<Tiling::D, 1> r, w;
	tk_trace_writer trace = tk_trace_open(0, threadIdx.x == 0);
	tk_trace_enter(trace, REGION_LOAD);
	T *mine = memory + gpu_warp() * Tiling::STAGES * Tiling::STAGE;
	flash_load_tile<16, Tiling::D, GPU_LANES>(mine, q + row * Tiling::D, Tiling::D, heads);
	gpu_copy_commit();
	gpu_copy_wait<0>();
	gpu_warp_barrier();
#pragma unroll
	for (int x = 0; x < Tiling::D / 16; x++)
		gpu_load<true>(registers[x], mine + x * 16, Tiling::ROW_ELEMENTS);
	gpu_warp_barrier();
	auto query = [&](int, int x) { return registers[x]; };
	flash_begin(r);
	if (heads)
		selected<Tiling>(r, query, p, c, memory,
		        blocks + (((size_t)batch * p.s + token) * p.hkv + kv_head) * p.selected,
		        token, trace);
	flash_finish(r, p.scale);
	if (p.window > 0) {
		flash_begin(w);
		window<Tiling>(w, query, p, c, memory, first, token, trace);
		flash_finish(w, p.scale);
	}
	tk_trace_enter(trace, REGION_STORE);
#pragma unroll
	for (int x = 0; x < Tiling::D / 16; x++)
#pragma unroll
		for (int e = 0; e < GPU_SUM; e += 2) {
			float a = r.o[0][x].x[e], b = r.o[0][x].x[e + 1];
			if (p.window > 0) {
				a += w.o[0][x].x[e];
				b += w.o[0][x].x[e + 1];
			}
			if (gpu_row(gpu_slot(e)) < heads)
				*(uint32_t *)(o + (row + gpu_row(gpu_slot(e))) * Tiling::D +
				              x * 16 + gpu_column(e)) = gpu_pack(a, b, T());
		}
	tk_trace_close(trace);
}

#if GPU_HIP // 64 KiB of shared memory
template <int D, int config> using tiling_of = tiling<D, 16, 2, 2>;
static const char *const configs[] = {"default"};
#else
template <int D, int config>
using tiling_of = tiling<D, config ? 32 : 16, config ? 2 : 3, config ? 3 : 4>;
static const char *const configs[] = {"keys-16-stages-3", "keys-32-stages-2"};
#endif

template <int D, int config, typename T> static int prepare_as(void)
{
	using Tiling = tiling_of<D, config>;
	return gpu_allow_shared(nsa_forward<Tiling, T>, Tiling::ELEMENTS * sizeof(T));
}

static nsa_problem problem_of(const struct tk_nsa *n)
{
	return {(int)n->b, (int)n->h, (int)n->hkv, (int)n->s, (int)(n->h / n->hkv),
	        (int)n->block_size, (int)n->selected_blocks, (int)n->window, n->causal,
	        (float)(n->scale * 1.4426950408889634)};
}

template <int D, int config, typename T>
static int launch_as(const struct tk_nsa *n, void *const *t, void *stream)
{
	using Tiling = tiling_of<D, config>;
	nsa_problem p = problem_of(n);
	dim3 grid((unsigned)gpu_ceil_div(p.s, Tiling::WARPS),
	        (unsigned)(p.hkv * gpu_ceil_div(p.group, 16)), (unsigned)p.b);
	nsa_forward<Tiling, T>
	        <<<grid, Tiling::THREADS, Tiling::ELEMENTS * sizeof(T), (gpu_stream)stream>>>(p,
	                (const T *)t[TK_T_Q], (const T *)t[TK_T_K], (const T *)t[TK_T_V],
	                (const int32_t *)t[TK_T_BLOCKS], (T *)t[TK_T_NSA_O]);
	return gpu_launch_status();
}

#define NSA_BY_SHAPE(n, f, config, ...) \
	((n)->d == 64 ? FLASH_BY_TYPE(n, f, 64, config, __VA_ARGS__) \
	              : FLASH_BY_TYPE(n, f, 128, config, __VA_ARGS__))

static int prepare(const struct tk_problem *p, uint32_t config)
{
#if !GPU_HIP
	if (config)
		return NSA_BY_SHAPE(p->nsa, prepare_as, 1);
#endif
	return NSA_BY_SHAPE(p->nsa, prepare_as, 0);
}

static int launch(const struct tk_problem *p, uint32_t config, void *const *t, void *, void *stream)
{
#if !GPU_HIP
	if (config)
		return NSA_BY_SHAPE(p->nsa, launch_as, 1, p->nsa, t, stream);
#endif
	return NSA_BY_SHAPE(p->nsa, launch_as, 0, p->nsa, t, stream);
}

static const char *reject_reason(const struct tk_problem *p)
{
	const struct tk_nsa *n = p->nsa;
	if (n->dtype != TK_F16 && n->dtype != TK_BF16)
		return "only f16 and bf16";
	if (n->d != 64 && n->d != 128)
		return "only head dimensions 64 and 128";
	if (n->h > 65535 || n->b > 65535 || n->s > 1 << 30 || n->window > 1 << 30 ||
	        n->block_size > 1 << 20 || n->selected_blocks > 1 << 20)
		return "more than a grid of blocks or 32 bits can count";
	return NULL;
}

#if GPU_HOST_PASS
const struct gpu_attention_kernel gpu_attention_kernel = {"nsa_" TK_GPU_KIND,
        "native sparse attention, a warp a query token", TK_OP_NSA, configs,
        sizeof configs / sizeof *configs, reject_reason, NULL, prepare, launch, gpu_status_text};
#endif
