/* GEMM by oneDNN's matmul primitive. `default` reads B as it is; `packed` reorders B, in bind(), to
 * the layout that oneDNN prefers for it, as inference does with weights. */
#include "operation.h"
#include <cstdio>
#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>

namespace
{

using dnnl::memory;

memory::data_type data_type(uint32_t dtype)
{
	return dtype == TK_F32    ? memory::data_type::f32
	       : dtype == TK_BF16 ? memory::data_type::bf16
	                          : memory::data_type::f16;
}

memory::desc matrix(const struct tk_gemm *g, int64_t rows, int64_t columns, const int64_t *strides,
        uint32_t type)
{
	if (g->batch == 1)
		return {{rows, columns}, data_type(type), {strides[0], strides[1]}};
	return {{g->batch, rows, columns}, data_type(type),
	        {rows * columns, strides[0], strides[1]}};
}

/* B in the layout that oneDNN prefers */
memory::desc packed_matrix(const struct tk_gemm *g)
{
	const auto any = memory::format_tag::any;
	return g->batch == 1 ? memory::desc({g->k, g->n}, data_type(g->b), any)
	                     : memory::desc({g->batch, g->k, g->n}, data_type(g->b), any);
}

dnnl::matmul::primitive_desc describe(const dnnl::engine &engine, const memory::desc &a,
        const memory::desc &b, const memory::desc &c)
{
#ifdef ONEDNN_DESC_IN_ONE_STEP
	return {engine, a, b, c};
#else
	return {dnnl::matmul::desc(a, b, c), engine};
#endif
}

struct bound_gemm final : bound {
	memory a, b, c;
};

struct gemm_operation final : operation {
	dnnl::engine engine{dnnl::engine::kind::cpu, 0};
	dnnl::stream stream{engine};
	memory::desc a, b, c; /* of the tracker's tensors */
	dnnl::matmul::primitive_desc desc;
	dnnl::matmul matmul;

	gemm_operation(const struct tk_gemm *g, bool packed)
	{
		const struct tk_library_strides s = tk_library_gemm_strides(g);
		const int64_t c_strides[] = {g->n, 1};
		a = matrix(g, g->m, g->k, s.a, g->a);
		b = matrix(g, g->k, g->n, s.b, g->b);
		c = matrix(g, g->m, g->n, c_strides, g->c);
		desc = describe(engine, a, packed ? packed_matrix(g) : b, c);
		matmul = dnnl::matmul(desc);
	}

	std::unique_ptr<bound> bind(const struct tk_tensor *t) override
	{
		std::unique_ptr<bound_gemm> s(new bound_gemm);
		s->a = memory(a, engine, t[TK_T_A].data);
		s->b = memory(b, engine, t[TK_T_B].data);
		s->c = memory(c, engine, t[TK_T_C].data);
		if (desc.weights_desc() != b) {
			memory packed(desc.weights_desc(), engine);
			dnnl::reorder(s->b, packed).execute(stream, s->b, packed);
			stream.wait();
			s->b = packed;
		}
		return s;
	}

	void run(bound &set) override
	{
		auto &s = static_cast<bound_gemm &>(set);
		matmul.execute(stream,
		        {{DNNL_ARG_SRC, s.a}, {DNNL_ARG_WEIGHTS, s.b}, {DNNL_ARG_DST, s.c}});
		stream.wait();
	}
};

} // namespace

std::unique_ptr<operation> make_gemm(
        const struct tk_gemm *gemm, const char *config, struct tk_plan_info *info)
{
	std::unique_ptr<gemm_operation> op(new gemm_operation(gemm, !strcmp(config, "packed")));
	snprintf(info->kernel, sizeof info->kernel, "%s", op->desc.impl_info_str());
	snprintf(info->algorithm, sizeof info->algorithm, "%s", config);
	return op;
}
