/* GEMM by Eigen's product of dense matrices. Only f32 and f64: Eigen adds bf16 and f16 products in
 * the type of the operands, which the problems do not allow. */
#include "library.h"
#include <Eigen/Core>
#include <cstdio>
#include <new>

namespace
{

using Eigen::Dynamic;
template <class T, int Order> using Matrix = Eigen::Map<Eigen::Matrix<T, Dynamic, Dynamic, Order>>;

using Product = void (*)(const struct tk_gemm *g, void *a, void *b, void *c);

template <class T, int OrderA, int OrderB>
void multiply(const struct tk_gemm *g, void *a, void *b, void *c)
{
	for (int64_t i = 0; i < g->batch; i++) {
		Matrix<T, OrderA> left(static_cast<T *>(a) + i * g->m * g->k, g->m, g->k);
		Matrix<T, OrderB> right(static_cast<T *>(b) + i * g->k * g->n, g->k, g->n);
		Matrix<T, Eigen::RowMajor> out(static_cast<T *>(c) + i * g->m * g->n, g->m, g->n);
		out.noalias() = left * right;
	}
}

template <class T> Product choose(const struct tk_gemm *g)
{
	constexpr int row = Eigen::RowMajor, column = Eigen::ColMajor;
	if (g->ta)
		return g->tb ? multiply<T, column, column> : multiply<T, column, row>;
	return g->tb ? multiply<T, row, column> : multiply<T, row, row>;
}

struct plan {
	const struct tk_gemm *gemm;
	Product product;
};

const char *version()
{
	static char text[32];
#ifdef EIGEN_HAS_SEMANTIC_VERSION
	snprintf(text, sizeof text, "%d.%d.%d", EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION,
	        EIGEN_PATCH_VERSION);
#else
	snprintf(text, sizeof text, "%d.%d.%d", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION,
	        EIGEN_MINOR_VERSION);
#endif
	return text;
}

void set_threads(uint32_t count)
{
	Eigen::setNbThreads(static_cast<int>(count));
}

int check(const struct tk_problem *problem, struct tk_abi_error *err)
{
	const struct tk_gemm *g = problem->gemm;
	if ((g->a != TK_F32 && g->a != TK_F64) || g->b != g->a || g->c != g->a || g->acc != g->a)
		return tk_library_fail(
		        err, TK_ABI_UNSUPPORTED, "only f32 and f64, all of one type");
	return TK_ABI_OK;
}

int prepare(const struct tk_problem *problem, const char *, void **out, struct tk_plan_info *info,
        struct tk_abi_error *err)
{
	const struct tk_gemm *g = problem->gemm;
	auto *p = new (std::nothrow) plan{g, g->a == TK_F32 ? choose<float>(g) : choose<double>(g)};
	if (!p)
		return tk_library_fail(err, TK_ABI_NO_MEMORY, "out of memory");
	snprintf(info->kernel, sizeof info->kernel, "%s", Eigen::SimdInstructionSetsInUse());
	*out = p;
	return TK_ABI_OK;
}

void release(void *of)
{
	delete static_cast<plan *>(of);
}

int run(void *of, void *, const struct tk_tensor *t, struct tk_abi_error *)
{
	const auto *p = static_cast<plan *>(of);
	p->product(p->gemm, t[TK_T_A].data, t[TK_T_B].data, t[TK_T_C].data);
	return TK_ABI_OK;
}

} // namespace

extern "C" const struct tk_library tk_library = {"eigen", "GEMM by Eigen's matrix product",
        TK_OPERATION_GEMM, version, set_threads, check, nullptr, prepare, release, nullptr, nullptr,
        run};
