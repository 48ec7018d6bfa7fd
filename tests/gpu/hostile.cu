/* A backend for tests: multiply-adds of a requested length, and every way in which a kernel can
 * fail on a GPU; and copies that may be pretended.
 *
 * Options, "key=value,...":
 *   slow=F        F times as many multiply-adds
 *   fail=illegal  a write to address 16
 *   fail=trap     the kernel traps
 *   fail=hang     the kernel never ends
 *   fail=memory   a workspace of 1 TiB
 *   fail=refuse   the problem is unsupported
 *   fail=kill     SIGKILL, as a driver may send it
 *   fail=half, seen, late   of a copy: half of it; nothing while the first element is as it was; on
 *                 another stream, a millisecond later */
#include "tracker_abi.h"
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime_api.h>

#define BLOCKS 528
#define THREADS 256

struct tk_backend_ctx {
	struct tk_device *device;
	const struct tk_device_ops *ops;
	double slow;
	char fault[16];
};

struct tk_plan {
	struct tk_backend_ctx *ctx;
	long long rounds;
	size_t values;
	float *out[4096], *in[4096], *seen; /* seen: the first element of each set */
	cudaStream_t late;
	unsigned sets;
};

static __global__ void fma_kernel(float *out, size_t values, long long rounds)
{
	size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	float a = 1.0f + (float)at * 1e-9f, b = 0.5f, c = 0.25f, d = 0.125f;
	for (long long i = 0; i < rounds; i++) {
		a = fmaf(a, 0.999f, 1e-6f);
		b = fmaf(b, 0.998f, 1e-6f);
		c = fmaf(c, 0.997f, 1e-6f);
		d = fmaf(d, 0.996f, 1e-6f);
	}
	for (size_t i = at; i < values; i += (size_t)gridDim.x * blockDim.x)
		out[i] = a + b + c + d;
}

static __global__ void copy_kernel(const float *in, float *out, size_t values, const float *seen)
{
	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	        i < values && !(seen && *seen == in[0]); i += (size_t)gridDim.x * blockDim.x)
		out[i] = in[i];
}

static __global__ void remember_kernel(const float *in, float *seen, long long wait)
{
	for (long long start = clock64(); clock64() - start < wait;)
		;
	*seen = in[0];
}

static __global__ void illegal_kernel()
{
	*(volatile int *)16 = 1;
}

static __global__ void trap_kernel()
{
	__trap();
}

static __global__ void hang_kernel(volatile float *out)
{
	while (out[0] != 12345.0f)
		;
}

static int fail(struct tk_abi_error *err, int status, const char *message)
{
	snprintf(err->message, sizeof err->message, "%s", message);
	return status;
}

static bool has(const struct tk_backend_ctx *ctx, const char *fault)
{
	return strcmp(ctx->fault, fault) == 0;
}

static int hostile_open(
        const struct tk_open_args *args, struct tk_backend_ctx **out, struct tk_abi_error *err)
{
	struct tk_backend_ctx *ctx = (struct tk_backend_ctx *)calloc(1, sizeof *ctx);
	const char *slow = strstr(args->options, "slow="), *fault = strstr(args->options, "fail=");
	if (!ctx)
		return fail(err, TK_ABI_NO_MEMORY, "out of memory");
	ctx->device = args->device;
	ctx->ops = args->device_ops;
	ctx->slow = slow ? atof(slow + 5) : 1;
	if (fault)
		snprintf(ctx->fault, sizeof ctx->fault, "%.*s", (int)strcspn(fault + 5, ","),
		        fault + 5);
	*out = ctx;
	return TK_ABI_OK;
}

static void hostile_close(struct tk_backend_ctx *ctx)
{
	free(ctx);
}

static int hostile_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	if ((p->op != TK_OP_FMA && p->op != TK_OP_COPY) || has(ctx, "refuse"))
		return fail(err, TK_ABI_UNSUPPORTED, "told not to do this");
	return TK_ABI_OK;
}

static void hostile_unplan(struct tk_plan *plan)
{
	cudaStreamDestroy(plan->late);
	cudaFree(plan->seen);
	free(plan);
}

static int hostile_plan(struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *config,
        uint32_t sets, struct tk_plan **out, struct tk_plan_info *info, struct tk_abi_error *err)
{
	void *memory = NULL;
	if (has(ctx, "memory"))
		return ctx->ops->alloc(ctx->device, (size_t)1 << 40, &memory, err);
	struct tk_plan *plan = (struct tk_plan *)calloc(1, sizeof *plan);
	if (!plan || sets > sizeof plan->out / sizeof *plan->out) {
		free(plan);
		return fail(err, TK_ABI_NO_MEMORY, "out of memory");
	}
	plan->ctx = ctx;
	plan->sets = sets;
	plan->rounds =
	        (long long)((double)p->ceiling->bytes * ctx->slow / (4.0 * BLOCKS * THREADS));
	snprintf(info->kernel, sizeof info->kernel, "fma_kernel");
	info->capturable = !has(ctx, "late");
	cudaMalloc((void **)&plan->seen, sets * sizeof(float));
	cudaMemset(plan->seen, 0xff, sets * sizeof(float));
	cudaStreamCreateWithFlags(&plan->late, cudaStreamNonBlocking);
	info->deterministic = 1;
	*out = plan;
	return TK_ABI_OK;
}

static int hostile_bind(struct tk_plan *plan, uint32_t set, const struct tk_tensor *t,
        uint32_t count, struct tk_abi_error *err)
{
	const struct tk_tensor *output = &t[count - 1];
	if (set >= plan->sets || output->dtype != TK_F32)
		return fail(err, TK_ABI_INVALID, "no such input set, or its output is not f32");
	plan->out[set] = (float *)output->data;
	plan->in[set] = t[0].output || t[0].bytes != output->bytes ? NULL : (float *)t[0].data;
	plan->values = output->bytes / sizeof(float);
	return TK_ABI_OK;
}

static int hostile_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	cudaStream_t s = (cudaStream_t)stream;
	if (has(plan->ctx, "kill"))
		raise(SIGKILL);
	if (has(plan->ctx, "illegal"))
		illegal_kernel<<<1, 1, 0, s>>>();
	else if (has(plan->ctx, "trap"))
		trap_kernel<<<1, 1, 0, s>>>();
	else if (has(plan->ctx, "hang"))
		hang_kernel<<<1, 1, 0, s>>>(plan->out[set]);
	else if (plan->in[set] && plan->values > 64) {
		bool is_late = has(plan->ctx, "late");
		s = is_late ? plan->late : s;
		if (is_late)
			remember_kernel<<<1, 1, 0, s>>>(plan->in[set], plan->seen + set, 2000000);
		copy_kernel<<<BLOCKS, THREADS, 0, s>>>(plan->in[set], plan->out[set],
		        has(plan->ctx, "half") ? plan->values / 2 : plan->values,
		        has(plan->ctx, "seen") ? plan->seen + set : NULL);
		if (has(plan->ctx, "seen"))
			remember_kernel<<<1, 1, 0, s>>>(plan->in[set], plan->seen + set, 0);
	} else
		fma_kernel<<<BLOCKS, THREADS, 0, s>>>(plan->out[set], plan->values, plan->rounds);
	cudaError_t code = cudaGetLastError();
	return code == cudaSuccess ? TK_ABI_OK : fail(err, TK_ABI_DEVICE, cudaGetErrorString(code));
}

static const char *hostile_version(void)
{
	return "1";
}

extern "C" TK_EXPORT const struct tk_backend *tk_backend_entry(void)
{
	static struct tk_backend backend;
	backend.size = sizeof backend;
	backend.abi_major = TK_ABI_MAJOR;
	backend.abi_minor = TK_ABI_MINOR;
	backend.name = "hostile_cuda";
	backend.device_kind = "cuda";
	backend.description = "for tests: every way in which a kernel can go wrong";
	backend.version = hostile_version;
	backend.open = hostile_open;
	backend.close = hostile_close;
	backend.supports = hostile_supports;
	backend.plan = hostile_plan;
	backend.bind = hostile_bind;
	backend.launch = hostile_launch;
	backend.unplan = hostile_unplan;
	backend.operations = TK_OPERATION_FMA | TK_OPERATION_COPY;
	return &backend;
}
