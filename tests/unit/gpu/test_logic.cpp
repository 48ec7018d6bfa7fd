/* Kernels of kernels/gpu on emulated lanes against kernels/reference: the logic of tiles, masks,
 * lists and edges, not the hardware. Compiled once for each module, with -DGEMM or -DATTENTION. */
#include "attention.h"
#include "gemm.h"
#include "gpu_runtime.h"
#include <cstdio>
#include <cstdlib>
#include <vector>
extern "C" {
#include "reference.h"
}

static double worst;
static int bad;

static float draw(void)
{
	return (float)((double)rand() / RAND_MAX - 0.5) * 2;
}

/* A tensor of random values, or of NaN for results. */
struct tensor {
	std::vector<uint8_t> bytes;
	tk_tensor abi;
	tensor(uint32_t dtype, int64_t count, bool random = true) : bytes((size_t)count * 8 + 64),
		abi()
	{
		abi.size = sizeof abi;
		abi.dtype = dtype;
		abi.data = (void *)(((uintptr_t)bytes.data() + 15) & ~(uintptr_t)15);
		for (int64_t i = 0; i < count; i++)
			tk_element_store(dtype, abi.data, i, random ? draw() : NAN);
	}
	double at(int64_t i) const
	{
		return tk_element_load(abi.dtype, abi.data, i);
	}
};

static void compare(const char *what, const tensor &got, const tensor &want, int64_t count,
	double tolerance)
{
	for (int64_t i = 0; i < count; i++) {
		double error = fabs(got.at(i) - want.at(i));
		if (got.at(i) == want.at(i) || error <= tolerance) {
			worst = error > worst ? error : worst;
			continue;
		}
		printf("%s: entry %lld is %g, expected %g\n", what, (long long)i, got.at(i),
			want.at(i));
		bad++;
		return;
	}
}

#ifdef GEMM

static void set_matrix(tk_tensor *t, int64_t batch, int64_t rows, int64_t columns)
{
	t->dim[0] = batch;
	t->dim[1] = rows;
	t->dim[2] = columns;
}

static void one(int64_t m, int64_t n, int64_t k, int64_t batch, int ta, int tb, uint32_t type,
	uint32_t out)
{
	if (!gpu_gemm_step.accepts(type))
		return;
	tk_gemm g = {sizeof g, m, n, k, batch, ta, tb, type, type, out, TK_F32};
	tensor a(type, batch * m * k), b(type, batch * k * n), want(TK_F64, batch * m * n);
	tk_tensor t[TK_T_MAX] = {a.abi, b.abi, want.abi};
	set_matrix(&t[TK_T_A], batch, ta ? k : m, ta ? m : k);
	set_matrix(&t[TK_T_B], batch, tb ? n : k, tb ? k : n);
	set_matrix(&t[TK_T_C], batch, m, n);
	tk_gemm exact = g;
	exact.c = TK_F64;
	tk_reference_gemm(&exact, t);
	for (uint32_t config = 0; config < gpu_gemm_step.config_count; config++) {
		tensor c(out, batch * m * n, false);
		gpu_gemm_step.prepare(&g, config);
		gpu_gemm_step.launch(&g, config, a.abi.data, b.abi.data, c.abi.data, NULL);
		int64_t rows = gpu_gemm_step.block_rows ? gpu_gemm_step.block_rows[config] : m;
		if (gridDim.y != (m + rows - 1) / rows) {
			printf("%s: %u blocks for %lld rows\n", gpu_gemm_step.configs[config],
				gridDim.y, (long long)m);
			bad++;
		}
		compare(gpu_gemm_step.configs[config], c, want, batch * m * n,
		        out == TK_F32   ? 1e-4
		        : out == TK_F16 ? 0.01
		                        : 0.06);
	}
}

static void run(void)
{
	for (int layout = 0; layout < 4; layout++) {
		one(33, 70, 37, 1, layout / 2, layout % 2, TK_BF16, TK_BF16);
		one(72, 136, 40, 2, layout / 2, layout % 2, TK_F16, TK_F32);
		one(17, 9, 21, 1, layout / 2, layout % 2, TK_F32, TK_F32);
	}
	one(1, 1, 1, 1, 0, 0, TK_F16, TK_F16);
}

#else

static void dense(int64_t b, int64_t h, int64_t hkv, int64_t sq, int64_t skv, int64_t d, int causal,
	uint32_t type)
{
	tk_attention a = {sizeof a, b, h, hkv, sq, skv, d, d, type, causal, TK_FWD, 0.3};
	tk_problem p = {sizeof p, TK_OP_ATTENTION, "", NULL, &a, NULL, NULL};
	int64_t nq = b * sq * h * d, nk = b * skv * hkv * d, rows = b * h * sq;
	tensor q(type, nq), k(type, nk), v(type, nk), d_o(type, nq), o(TK_F32, nq),
		lse(TK_F32, rows);
	tk_tensor t[TK_T_MAX] = {q.abi, k.abi, v.abi, o.abi, lse.abi};
	tk_reference_attention(&a, t);
	for (uint32_t config = 0; config < gpu_attention_kernel.config_count; config++) {
		tensor got(type, nq, false), got_lse(TK_F32, rows, false);
		void *data[TK_T_MAX] = {q.abi.data, k.abi.data, v.abi.data, got.abi.data,
			got_lse.abi.data};
		gpu_attention_kernel.launch(&p, config, data, NULL, NULL);
		compare("output", got, o, nq, 0.02);
		compare("log-sum-exp", got_lse, lse, rows, 1e-3);
	}
	a.dir = TK_BWD;
	if (gpu_attention_kernel.reject_reason(&p))
		return;
	tensor rounded(type, nq), dq(type, nq), dk(type, nk), dv(type, nk), gq(type, nq, false),
	gk(type, nk, false),
	        gv(type, nk, false);
	for (int64_t i = 0; i < nq; i++)
		tk_element_store(type, rounded.abi.data, i, o.at(i));
	tk_tensor w[TK_T_MAX] = {q.abi, k.abi, v.abi, rounded.abi, lse.abi, d_o.abi, dq.abi, dk.abi,
		dv.abi};
	std::vector<float> memory((size_t)rows);
	void *data[TK_T_MAX] = {q.abi.data, k.abi.data, v.abi.data, rounded.abi.data, lse.abi.data,
		d_o.abi.data,
	        gq.abi.data, gk.abi.data, gv.abi.data};
	tk_reference_attention_backward(&a, w);
	gpu_attention_kernel.launch(&p, 0, data, memory.data(), NULL);
	tensor *got[3] = {&gq, &gk, &gv}, *want[3] = {&dq, &dk, &dv};
	for (int i = 0; i < 3; i++)
		compare(i == 0 ? "dQ" : i == 1 ? "dK" : "dV", *got[i], *want[i], i ? nk : nq, 0.05);
}

static void sparse(
        int64_t s, int64_t h, int64_t hkv, int64_t d, int64_t block_size, int64_t selected,
        	int64_t window, int causal)
{
	tk_nsa n = {sizeof n, 1, h, hkv, s, d, block_size, selected, window, TK_F16, causal, 0.3};
	tk_problem p = {sizeof p, TK_OP_NSA, "", NULL, NULL, &n, NULL};
	int64_t nq = s * h * d, nk = s * hkv * d, lists = s * hkv * selected,
	        blocks = (s + block_size - 1) / block_size;
	tensor q(TK_F16, nq), k(TK_F16, nk), v(TK_F16, nk), want(TK_F32, nq), list(TK_I32, lists);
	for (int64_t i = 0; i < lists; i++) /* some are none, some stand twice */
		((int32_t *)list.abi.data)[i] = rand() % 5 == 0 ? -1 : (int32_t)(rand() % blocks);
	tk_tensor t[TK_T_MAX] = {q.abi, k.abi, v.abi, want.abi, list.abi};
	tk_reference_nsa(&n, t);
	for (uint32_t config = 0; config < gpu_attention_kernel.config_count; config++) {
		tensor got(TK_F16, nq, false);
		void *data[TK_T_MAX] = {q.abi.data, k.abi.data, v.abi.data, got.abi.data,
			list.abi.data};
		gpu_attention_kernel.launch(&p, config, data, NULL, NULL);
		compare(gpu_attention_kernel.configs[config], got, want, nq, 0.02);
	}
}

static void run(void)
{
	if (gpu_attention_kernel.op == TK_OP_NSA) {
		sparse(40, 16, 1, 64, 16, 2, 20, 1);
		sparse(35, 24, 2, 64, 17, 3, 0, 0);
		sparse(70, 40, 2, 64, 70, 2, 7, 1);
		sparse(33, 16, 1, 128, 5, 6, 100, 0);
		return;
	}
	dense(1, 2, 1, 65, 133, 64, 1, TK_F16);
	dense(2, 1, 1, 33, 40, 128, 0, TK_F16);
	dense(1, 1, 1, 66, 66, 256, 1, TK_F16);
	dense(1, 4, 2, 1, 100, 64, 1, TK_F16);
}

#endif

int main(void)
{
	run();
	printf("%d bad, largest error %g\n", bad, worst);
	return bad != 0;
}
