/* See hipblaslt_matmul.h. */
#include "hipblaslt_matmul.h"
#include "hip_backend.h"
#include <dlfcn.h>
#include <hipblaslt/hipblaslt-ext.hpp>
#include <hipblaslt/hipblaslt.h>
#include <new>
#include <string>

/* a and b are exchanged: see rocblas_handle.h on row-major matrices. */
struct matmul {
	hipblasLtHandle_t handle;
	hipblasLtMatmulDesc_t desc;
	hipblasLtMatrixLayout_t a, b, c;
	hipblasLtMatmulHeuristicResult_t list[HEURISTICS_MAX];
	unsigned place;
};

static int check(struct tk_abi_error *err, const char *what, hipblasStatus_t code)
{
	switch (code) {
	case HIPBLAS_STATUS_SUCCESS:
		return TK_ABI_OK;
	case HIPBLAS_STATUS_NOT_SUPPORTED:
	case HIPBLAS_STATUS_ARCH_MISMATCH:
		return fail(err, TK_ABI_UNSUPPORTED,
		        "%s: hipBLASLt does not support it (status %d)", what, (int)code);
	case HIPBLAS_STATUS_ALLOC_FAILED:
		return fail(err, TK_ABI_NO_MEMORY, "%s: an allocation failed", what);
	default:
		return fail(err, TK_ABI_DEVICE, "%s: hipBLASLt status %d", what, (int)code);
	}
}

const char *matmul_version(void)
{
	static char text[64];
	char path[PATH_MAX];
	Dl_info info;
	if (text[0] || !dladdr((void *)hipblasLtCreate, &info) || !realpath(info.dli_fname, path))
		return text;
	const char *after = strstr(path, ".so.");
	snprintf(text, sizeof text, "%s", after ? after + 4 : "");
	return text;
}

int matmul_library_open(void **out, struct tk_abi_error *err)
{
	return check(err, "hipblasLtCreate", hipblasLtCreate((hipblasLtHandle_t *)out));
}

void matmul_library_close(void *library)
{
	if (library)
		hipblasLtDestroy((hipblasLtHandle_t)library);
}

/* ---- the library's description of a problem ---- */

static hipDataType type_of(uint32_t dtype, int fnuz)
{
	switch (dtype) {
	case TK_F16:
		return HIP_R_16F;
	case TK_BF16:
		return HIP_R_16BF;
	case TK_E4M3:
		return fnuz ? HIP_R_8F_E4M3_FNUZ : HIP_R_8F_E4M3;
	case TK_E5M2:
		return fnuz ? HIP_R_8F_E5M2_FNUZ : HIP_R_8F_E5M2;
	default:
		return HIP_R_32F; /* f32, tf32 */
	}
}

/* A row-major matrix of `rows` x `columns`, as stored: column-major with the sides exchanged. */
static hipblasStatus_t layout(hipblasLtMatrixLayout_t *out, hipDataType type, int64_t rows,
        int64_t columns, int64_t batch)
{
	int32_t count = (int32_t)batch;
	int64_t stride = rows * columns;
	hipblasStatus_t code =
	        hipblasLtMatrixLayoutCreate(out, type, (uint64_t)columns, (uint64_t)rows, columns);
	if (code != HIPBLAS_STATUS_SUCCESS || batch == 1)
		return code;
	code = hipblasLtMatrixLayoutSetAttribute(
	        *out, HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count);
	return code != HIPBLAS_STATUS_SUCCESS
	               ? code
	               : hipblasLtMatrixLayoutSetAttribute(*out,
	                         HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
	                         sizeof stride);
}

static hipblasStatus_t describe_product(
        struct matmul *m, const struct tk_gemm *g, const struct matmul_narrow *narrow)
{
	int32_t ta = g->ta ? HIPBLAS_OP_T : HIPBLAS_OP_N, tb = g->tb ? HIPBLAS_OP_T : HIPBLAS_OP_N;
	hipblasComputeType_t compute =
	        g->a == TK_TF32 ? HIPBLAS_COMPUTE_32F_FAST_TF32 : HIPBLAS_COMPUTE_32F;
	hipblasStatus_t code = hipblasLtMatmulDescCreate(&m->desc, compute, HIP_R_32F);
	const struct {
		hipblasLtMatmulDescAttributes_t attribute;
		const void *value;
		size_t size;
		int wanted;
	} parts[] = {
	        {HIPBLASLT_MATMUL_DESC_TRANSA, &tb, sizeof tb, 1},
	        {HIPBLASLT_MATMUL_DESC_TRANSB, &ta, sizeof ta, 1},
	        {HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER, &narrow->scale, sizeof narrow->scale,
	                narrow->scale != NULL},
	        {HIPBLASLT_MATMUL_DESC_B_SCALE_POINTER, &narrow->scale, sizeof narrow->scale,
	                narrow->scale != NULL},
	};
	for (size_t i = 0; code == HIPBLAS_STATUS_SUCCESS && i < sizeof parts / sizeof *parts; i++)
		if (parts[i].wanted)
			code = hipblasLtMatmulDescSetAttribute(
			        m->desc, parts[i].attribute, parts[i].value, parts[i].size);
	return code;
}

static hipblasStatus_t describe_matrices(struct matmul *m, const struct tk_gemm *g, int fnuz)
{
	hipblasStatus_t code = layout(
	        &m->a, type_of(g->b, fnuz), g->tb ? g->n : g->k, g->tb ? g->k : g->n, g->batch);
	if (code == HIPBLAS_STATUS_SUCCESS)
		code = layout(&m->b, type_of(g->a, fnuz), g->ta ? g->k : g->m, g->ta ? g->m : g->k,
		        g->batch);
	return code == HIPBLAS_STATUS_SUCCESS
	               ? layout(&m->c, type_of(g->c, fnuz), g->m, g->n, g->batch)
	               : code;
}

/* The library's ranking, best guess first, into m->list. */
static int rank(struct matmul *m, size_t workspace_limit, unsigned *count, struct tk_abi_error *err)
{
	hipblasLtMatmulPreference_t wish = NULL;
	uint64_t limit = workspace_limit;
	int found = 0;
	int status = check(
	        err, "hipblasLtMatmulPreferenceCreate", hipblasLtMatmulPreferenceCreate(&wish));
	if (status == TK_ABI_OK)
		status = check(err, "workspace limit",
		        hipblasLtMatmulPreferenceSetAttribute(wish,
		                HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit, sizeof limit));
	if (status == TK_ABI_OK) {
		hipblasStatus_t code = hipblasLtMatmulAlgoGetHeuristic(m->handle, m->desc, m->a,
		        m->b, m->c, m->c, wish, HEURISTICS_MAX, m->list, &found);
		if (code == HIPBLAS_STATUS_NOT_SUPPORTED || code == HIPBLAS_STATUS_INVALID_VALUE ||
		        (code == HIPBLAS_STATUS_SUCCESS && found == 0))
			status = fail(err, TK_ABI_UNSUPPORTED,
			        "hipBLASLt %s has no kernel for this problem on this device",
			        matmul_version());
		else
			status = check(err, "hipblasLtMatmulAlgoGetHeuristic", code);
	}
	if (wish)
		hipblasLtMatmulPreferenceDestroy(wish);
	*count = status == TK_ABI_OK ? (unsigned)found : 0;
	return status;
}

/* ---- one of them ---- */

void matmul_free(struct matmul *m)
{
	if (!m)
		return;
	if (m->desc)
		hipblasLtMatmulDescDestroy(m->desc);
	if (m->a)
		hipblasLtMatrixLayoutDestroy(m->a);
	if (m->b)
		hipblasLtMatrixLayoutDestroy(m->b);
	if (m->c)
		hipblasLtMatrixLayoutDestroy(m->c);
	delete m;
}

int matmul_new(void *library, const struct tk_gemm *g, const struct matmul_narrow *narrow,
        size_t workspace_limit, unsigned place, struct matmul **out, unsigned *count,
        struct tk_abi_error *err)
{
	struct matmul *m = new (std::nothrow) matmul();
	if (!m)
		return fail(err, TK_ABI_NO_MEMORY, "no memory for the description of the product");
	m->handle = (hipblasLtHandle_t)library;
	m->place = place;
	int status = check(err, "hipblasLtMatmulDesc", describe_product(m, g, narrow));
	if (status == TK_ABI_OK)
		status = check(err, "hipblasLtMatrixLayout", describe_matrices(m, g, narrow->fnuz));
	if (status == TK_ABI_OK)
		status = rank(m, workspace_limit, count, err);
	if (status == TK_ABI_OK && place >= *count)
		status = fail(err, TK_ABI_UNSUPPORTED,
		        "the library lists only %u kernels for this problem", *count);
	if (status == TK_ABI_OK && out)
		*out = m;
	else
		matmul_free(m);
	return status;
}

size_t matmul_workspace(const struct matmul *m)
{
	return m->list[m->place].workspaceSize;
}

/* The value after `key` in a name like Cijk_Alik_Bljk_HHS_BH_..._MT256x128x64_MI16x16x1_..., e.g.
 * "MT256x128x64". */
static void add_part(const std::string &name, const char *key, char *out, size_t size)
{
	size_t at = name.find(std::string("_") + key), used = strlen(out);
	if (at == std::string::npos)
		return;
	size_t end = name.find('_', at + 1);
	snprintf(out + used, size - used, " %s",
	        name.substr(at + 1, end == std::string::npos ? end : end - at - 1).c_str());
}

/* Names do not fit into the field: the number and the tile, the instruction, the split of k and the
 * prefetching come first. */
void matmul_describe(struct matmul *m, struct tk_plan_info *info)
{
	hipblasLtMatmulAlgo_t &algo = m->list[m->place].algo;
	std::string name = hipblaslt_ext::getKernelNameFromAlgo(m->handle, algo);
	snprintf(info->kernel, sizeof info->kernel, "%s",
	        name.empty() ? "hipblasLtMatmul" : name.c_str());
	snprintf(info->algorithm, sizeof info->algorithm, "index %d",
	        hipblaslt_ext::getIndexFromAlgo(algo));
	for (const char *key : {"MT", "MI", "GSU", "SK", "PGR", "PLR", "WGM"})
		add_part(name, key, info->algorithm, sizeof info->algorithm);
	info->workspace_bytes = matmul_workspace(m);
}

int matmul_launch(const struct matmul *m, const void *a, const void *b, void *c, void *workspace,
        void *stream, struct tk_abi_error *err)
{
	static const float one = 1, zero = 0;
	return check(err, "hipblasLtMatmul",
	        hipblasLtMatmul(m->handle, m->desc, &one, b, m->a, a, m->b, &zero, c, m->c, c, m->c,
	                &m->list[m->place].algo, workspace, matmul_workspace(m),
	                (hipStream_t)stream));
}
