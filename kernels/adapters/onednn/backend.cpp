/* oneDNN as a backend: GEMM, and attention where the library has the graph API. */
#include "operation.h"
#include <cstdio>
#include <new>
#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>

namespace
{

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
	const uint32_t types = 1u << TK_F32 | 1u << TK_BF16 | 1u << TK_F16;
	return problem->op == TK_OP_GEMM
	               ? tk_library_check_gemm_types(problem->gemm, types, err)
	               : tk_library_check_attention(problem->attention, types, err);
}

const char *const *configs(const struct tk_problem *problem)
{
	static const char *const names[] = {"default", "packed", nullptr};
	static const char *const only_default[] = {"default", nullptr};
	return problem->op == TK_OP_GEMM ? names : only_default;
}

int prepare(const struct tk_problem *problem, const char *config, void **out,
        struct tk_plan_info *info, struct tk_abi_error *err)
{
	return guarded(err, [&] {
#ifdef ONEDNN_HAS_GRAPH
		if (problem->op == TK_OP_ATTENTION) {
			*out = make_attention(problem->attention, info).release();
			return;
		}
#endif
		*out = make_gemm(problem->gemm, config, info).release();
	});
}

void release(void *of)
{
	delete static_cast<operation *>(of);
}

int bind(void *of, const struct tk_tensor *t, void **out, struct tk_abi_error *err)
{
	return guarded(err, [&] { *out = static_cast<operation *>(of)->bind(t).release(); });
}

void unbind(void *of)
{
	delete static_cast<bound *>(of);
}

int run(void *of, void *set, const struct tk_tensor *, struct tk_abi_error *err)
{
	return guarded(err, [&] { static_cast<operation *>(of)->run(*static_cast<bound *>(set)); });
}

#ifdef ONEDNN_HAS_GRAPH
constexpr uint32_t operations = TK_OPERATION_GEMM | TK_OPERATION_ATTENTION;
constexpr const char *description = "GEMM by oneDNN's matmul primitive, attention by its graphs";
#else
constexpr uint32_t operations = TK_OPERATION_GEMM;
constexpr const char *description = "GEMM by oneDNN's matmul primitive";
#endif

} // namespace

extern "C" const struct tk_library tk_library = {"onednn", description, operations, version,
        set_threads, check, configs, prepare, release, bind, unbind, run};
