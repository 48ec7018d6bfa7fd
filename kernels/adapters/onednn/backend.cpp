/* GEMM by oneDNN's matmul primitive. `default` reads B as it is; `packed` reorders B, in bind(), to
 * the layout that oneDNN prefers for it, as inference does with weights. */
#include "library.h"
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>

namespace
{

using dnnl::memory;

struct plan {
	dnnl::engine engine{dnnl::engine::kind::cpu, 0};
	dnnl::stream stream{engine};
	dnnl::matmul::primitive_desc desc;
	dnnl::matmul matmul;
	memory::desc a, b, c; /* of the tracker's tensors */
};

struct set {
	memory a, b, c;
};

/* oneDNN reports errors by exceptions. */
template <class Function> int guarded(struct tk_abi_error *err, Function function)
{
	try {
		function();
		return TK_ABI_OK;
	} catch (const dnnl::error &e) {
		const int status = e.status == dnnl_unimplemented   ? TK_ABI_UNSUPPORTED
		                   : e.status == dnnl_out_of_memory ? TK_ABI_NO_MEMORY
		                                                    : TK_ABI_DEVICE;
		return tk_library_fail(err, status, "oneDNN: %s", e.what());
	} catch (const std::bad_alloc &) {
		return tk_library_fail(err, TK_ABI_NO_MEMORY, "out of memory");
	}
}

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

dnnl::matmul::primitive_desc describe(const dnnl::engine &engine, const memory::desc &a,
        const memory::desc &b, const memory::desc &c)
{
#ifdef ONEDNN_DESC_IN_ONE_STEP
	return {engine, a, b, c};
#else
	return {dnnl::matmul::desc(a, b, c), engine};
#endif
}

#ifdef ONEDNN_DIGEST
/* of the library beside this file, so that the hash of this file's code covers it */
__attribute__((used)) volatile const uint64_t digest[] = {ONEDNN_DIGEST};
#endif

const char *version()
{
	static char text[32];
	const dnnl_version_t *v = dnnl_version();
	snprintf(text, sizeof text, "%d.%d.%d", v->major, v->minor, v->patch);
	return text;
}

void set_threads(uint32_t count)
{
	omp_set_num_threads(static_cast<int>(count));
}

int check(const struct tk_problem *problem, struct tk_abi_error *err)
{
	return tk_library_check_gemm_types(
	        problem->gemm, 1u << TK_F32 | 1u << TK_BF16 | 1u << TK_F16, err);
}

const char *const *configs(const struct tk_problem *)
{
	static const char *const names[] = {"default", "packed", nullptr};
	return names;
}

int prepare(const struct tk_problem *problem, const char *config, void **out,
        struct tk_plan_info *info, struct tk_abi_error *err)
{
	return guarded(err, [&] {
		const struct tk_gemm *g = problem->gemm;
		const struct tk_library_strides s = tk_library_gemm_strides(g);
		const int64_t c_strides[] = {g->n, 1};
		auto p = std::make_unique<plan>();
		p->a = matrix(g, g->m, g->k, s.a, g->a);
		p->b = matrix(g, g->k, g->n, s.b, g->b);
		p->c = matrix(g, g->m, g->n, c_strides, g->c);
		memory::desc b = p->b;
		if (!strcmp(config, "packed"))
			b = g->batch == 1 ? memory::desc({g->k, g->n}, data_type(g->b),
			                            memory::format_tag::any)
			                  : memory::desc({g->batch, g->k, g->n}, data_type(g->b),
			                            memory::format_tag::any);
		p->desc = describe(p->engine, p->a, b, p->c);
		p->matmul = dnnl::matmul(p->desc);
		snprintf(info->kernel, sizeof info->kernel, "%s", p->desc.impl_info_str());
		snprintf(info->algorithm, sizeof info->algorithm, "%s", config);
		*out = p.release();
	});
}

void release(void *of)
{
	delete static_cast<plan *>(of);
}

int bind(void *of, const struct tk_tensor *t, void **out, struct tk_abi_error *err)
{
	return guarded(err, [&] {
		auto *p = static_cast<plan *>(of);
		auto s = std::make_unique<set>();
		s->a = memory(p->a, p->engine, t[TK_T_A].data);
		s->b = memory(p->b, p->engine, t[TK_T_B].data);
		s->c = memory(p->c, p->engine, t[TK_T_C].data);
		if (p->desc.weights_desc() != p->b) {
			memory packed(p->desc.weights_desc(), p->engine);
			dnnl::reorder(s->b, packed).execute(p->stream, s->b, packed);
			p->stream.wait();
			s->b = packed;
		}
		*out = s.release();
	});
}

void unbind(void *of)
{
	delete static_cast<set *>(of);
}

int run(void *of, void *bound, const struct tk_tensor *, struct tk_abi_error *err)
{
	return guarded(err, [&] {
		auto *p = static_cast<plan *>(of);
		auto *s = static_cast<set *>(bound);
		p->matmul.execute(p->stream,
		        {{DNNL_ARG_SRC, s->a}, {DNNL_ARG_WEIGHTS, s->b}, {DNNL_ARG_DST, s->c}});
		p->stream.wait();
	});
}

} // namespace

extern "C" const struct tk_library tk_library = {"onednn", "GEMM by oneDNN's matmul primitive",
        TK_OPERATION_GEMM, version, set_threads, check, configs, prepare, release, bind, unbind,
        run};
