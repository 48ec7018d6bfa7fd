/* See defaults.h. */
#include "config/defaults.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "config/keys.h"

/* Libraries: one upstream each, whose revision is the version that the library reports. */
static const struct library {
	const char *backend, *reason;
} libraries[] = {
        {"openblas", "the installed OpenBLAS; its revision is its version"},
        {"blis", "the installed BLIS; its revision is its version"},
        {"mkl", "the installed oneMKL; its revision is its version"},
        {"cublas", "NVIDIA's BLAS, which chooses the kernel itself"},
        {"cublaslt", "NVIDIA's matrix products of every type, first choice of its ranking"},
        {"cudnn", "NVIDIA's attention, forward and backward"},
        {"rocblas", "AMD's BLAS, which chooses the kernel itself"},
        {"hipblaslt", "AMD's matrix products of every type, first choice of its ranking"},
        {"cublas_native", "attention without a fused kernel, by cuBLAS: what fusing gains"},
        {"rocblas_native", "attention without a fused kernel, by rocBLAS: what fusing gains"},
};

/* The tracker's own kernels. */
static const struct own {
	const char *backend, *kind;
	const char *arch; /* NULL: any */
	const char *reason;
} own_kernels[] = {
        {"cpu", "cpu", NULL, "GEMM, attention and sparse attention on the processor"},
        {"gemm_naive_cuda", "cuda", NULL, "GEMM, step 1: one thread an element"},
        {"gemm_shared_cuda", "cuda", NULL, "GEMM, step 2: tiles in shared memory"},
        {"gemm_register_cuda", "cuda", NULL, "GEMM, step 3: tiles in registers"},
        {"gemm_pipelined_cuda", "cuda", NULL, "GEMM, step 4: copies while it multiplies"},
        {"gemm_matrix_cuda", "cuda", NULL, "GEMM, step 5: matrix units"},
        {"flash_cuda", "cuda", NULL, "attention on any NVIDIA GPU"},
        {"nsa_cuda", "cuda", NULL, "sparse attention on any NVIDIA GPU"},
        {"hopper_gemm", "cuda", "sm_90", "GEMM by Hopper's instructions"},
        {"hopper_flash", "cuda", "sm_90", "attention by Hopper's instructions"},
        {"hopper_nsa", "cuda", "sm_90", "sparse attention by Hopper's instructions"},
        {"gemm_naive_hip", "hip", NULL, "GEMM, step 1: one thread an element"},
        {"gemm_shared_hip", "hip", NULL, "GEMM, step 2: tiles in shared memory"},
        {"gemm_register_hip", "hip", NULL, "GEMM, step 3: tiles in registers"},
        {"gemm_pipelined_hip", "hip", NULL, "GEMM, step 4: copies while it multiplies"},
        {"gemm_matrix_hip", "hip", NULL, "GEMM, step 5: matrix units"},
        {"flash_hip", "hip", NULL, "attention on AMD GPUs"},
        {"nsa_hip", "hip", NULL, "sparse attention on AMD GPUs"},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* What a machine is assumed to have that nobody has looked at. */
static const char *const assumed_backends[] = {"openblas", NULL};
static const struct tk_config_host_device assumed_devices[] = {{"cpu", ""}, {NULL, NULL}};
static const struct tk_config_host assumed = {
        .devices = assumed_devices, .backends = assumed_backends, .builds_own = {.cpu = true}};

static bool has_backend(const struct tk_config_host *host, const char *name)
{
	for (const char *const *b = host->backends; *b; b++)
		if (strcmp(*b, name) == 0)
			return true;
	return false;
}

static bool has_device(const struct tk_config_host *host, const char *kind, const char *arch)
{
	for (const struct tk_config_host_device *d = host->devices; d->kind; d++)
		if (strcmp(d->kind, kind) == 0 &&
		        (!arch || strncmp(d->arch, arch, strlen(arch)) == 0))
			return true;
	return false;
}

static bool is_built_from_source(const struct tk_config_host *host, const char *kind)
{
	switch (tk_device_kind_from_name(kind)) {
	case TK_DEVICE_CPU:
		return host->builds_own.cpu;
	case TK_DEVICE_CUDA:
		return host->builds_own.cuda;
	default:
		return host->builds_own.hip;
	}
}

void tk_config_write_default_suites(struct tk_buf *out, const struct tk_config_host *host)
{
	static const char *const gpus[] = {"cuda", "hip"};
	bool any = false;

	host = host ? host : &assumed;
	for (size_t i = 0; i < COUNT(gpus); i++)
		any = any || has_device(host, gpus[i], NULL);
	if (!any) {
		tk_buf_add_str(out, "[smoke]");
		return;
	}
	tk_buf_add_str(out, has_device(host, "cpu", NULL) ? "[cpu:smoke" : "[");
	any = has_device(host, "cpu", NULL);
	for (size_t i = 0; i < COUNT(gpus); i++)
		if (has_device(host, gpus[i], NULL)) {
			tk_buf_add_printf(out, "%s%s:first-gpu", any ? ", " : "", gpus[i]);
			any = true;
		}
	tk_buf_add_str(out, "]");
}

static void add_self(struct tk_buf *out, const struct tk_config_host *host)
{
	bool any = false;

	for (size_t i = 0; i < COUNT(own_kernels); i++) {
		const struct own *o = &own_kernels[i];

		if (!has_device(host, o->kind, o->arch) || !is_built_from_source(host, o->kind))
			continue;
		if (!any)
			tk_buf_add_str(out, "  # The tracker's own kernels, at HEAD of the "
			                    "repository around it\n"
			                    "  - name: self\n"
			                    "    kind: self\n"
			                    "    adapter: self\n"
			                    "    backends:\n");
		tk_buf_add_printf(out, "      - %-20s # %s\n", o->backend, o->reason);
		any = true;
	}
}

static void add_system(struct tk_buf *out, const char *backend, const char *reason)
{
	tk_buf_add_printf(out, "  # %c%s\n  - name: %s\n    kind: system\n    adapter: %s\n",
	        *reason >= 'a' && *reason <= 'z' ? *reason - 'a' + 'A' : *reason, reason + 1,
	        backend, backend);
	tk_buf_add_printf(out, "    backends: [%s]\n", backend);
}

void tk_config_write_default_upstreams(struct tk_buf *out, const struct tk_config_host *host)
{
	const size_t before = out->len;

	host = host ? host : &assumed;
	add_self(out, host);
	for (size_t i = 0; i < COUNT(libraries); i++)
		if (has_backend(host, libraries[i].backend))
			add_system(out, libraries[i].backend, libraries[i].reason);
	for (size_t i = 0; i < COUNT(own_kernels); i++) {
		const struct own *o = &own_kernels[i];
		char reason[160];

		if (!has_device(host, o->kind, o->arch) || is_built_from_source(host, o->kind) ||
		        !has_backend(host, o->backend))
			continue;
		snprintf(reason, sizeof reason, "own kernels as built: %s", o->reason);
		add_system(out, o->backend, reason);
	}
	if (out->len == before) /* an empty list would be refused */
		tk_buf_add_str(out, "  # No other backend can be measured here\n"
		                    "  - name: builtin\n    kind: builtin\n");
}
