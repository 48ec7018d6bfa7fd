/* What the backends of this folder share: sentences for errors, types by NVIDIA's names, and the memory of a plan.
 *
 * Every module has a runtime of its own (linked statically); they all work in the one primary context that the device
 * layer made current, so streams and pointers of one are good for all. Memory comes from the device layer, which keeps
 * count of it. */
#ifndef TK_CUDA_BACKEND_H
#define TK_CUDA_BACKEND_H
#include "tracker_abi.h"
#include <cuda_runtime_api.h>
#include <library_types.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

/* What every context begins with. */
struct cuda_context {
	struct tk_device *device;
	const struct tk_device_ops *ops;
	int capability; /* 90 for sm_90; 0 where the device layer did not say */
};

static inline int fail(struct tk_abi_error *err, int status, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
static inline int fail(struct tk_abi_error *err, int status, const char *format, ...)
{
	if (err) {
		va_list ap;
		va_start(ap, format);
		vsnprintf(err->message, sizeof err->message, format, ap);
		va_end(ap);
	}
	return status;
}

/* 0 where the last launch of a kernel was accepted. */
static inline int check_launch(struct tk_abi_error *err, const char *kernel, int code)
{
	if (code == cudaSuccess)
		return TK_ABI_OK;
	return fail(err, TK_ABI_DEVICE, "%s could not be launched: %s", kernel, cudaGetErrorString((cudaError_t)code));
}

static inline void context_init(struct cuda_context *c, const struct tk_open_args *args)
{
	c->device = args->device;
	c->ops = args->device_ops;
	if (sscanf(args->device_info.arch, "sm_%d", &c->capability) != 1)
		c->capability = 0;
}

/* Workspace from the device layer; *out stays NULL for 0 bytes. */
static inline int workspace_new(const struct cuda_context *c, size_t bytes, void **out, struct tk_abi_error *err)
{
	if (bytes == 0)
		return TK_ABI_OK;
	int status = c->ops->alloc(c->device, bytes, out, err);
	return status == TK_ABI_NO_MEMORY
	               ? fail(err, status, "a workspace of %.1f MiB cannot be had", (double)bytes / (double)MIB)
	               : status;
}

static inline void workspace_free(const struct cuda_context *c, void *memory)
{
	if (memory)
		c->ops->release(c->device, memory);
}

static inline cudaDataType_t cuda_type(uint32_t dtype)
{
	switch (dtype) {
	case TK_F64:
		return CUDA_R_64F;
	case TK_F16:
		return CUDA_R_16F;
	case TK_BF16:
		return CUDA_R_16BF;
	case TK_E4M3:
		return CUDA_R_8F_E4M3;
	case TK_E5M2:
		return CUDA_R_8F_E5M2;
	default:
		return CUDA_R_32F; /* f32, tf32 */
	}
}

static inline size_t type_bytes(uint32_t dtype)
{
	switch (dtype) {
	case TK_F64:
	case TK_I64:
		return 8;
	case TK_F16:
	case TK_BF16:
		return 2;
	case TK_E4M3:
	case TK_E5M2:
		return 1;
	default:
		return 4;
	}
}

/* Only "default" where there is nothing to choose. */
static inline int check_config(const char *config, struct tk_abi_error *err)
{
	if (!config || !*config || strcmp(config, "default") == 0)
		return TK_ABI_OK;
	return fail(err, TK_ABI_INVALID, "unknown configuration `%.100s`, only `default`", config);
}

/* The number after `key=` in "key=value,key=value"; `otherwise` where the key is not there. */
static inline long option_number(const char *options, const char *key, long otherwise)
{
	size_t len = strlen(key);
	for (const char *p = options ? options : ""; *p; p += strcspn(p, ","), p += *p == ',')
		if (strncmp(p, key, len) == 0 && p[len] == '=')
			return strtol(p + len + 1, NULL, 10);
	return otherwise;
}

/* The pointers of one input set. */
struct bound {
	void *data[TK_T_MAX];
};

/* `need` tensors must be there; what comes beyond is taken too. */
static inline int bind_set(struct bound *bound, uint32_t sets, uint32_t set, const struct tk_tensor *tensors,
        uint32_t count, uint32_t need, struct tk_abi_error *err)
{
	if (set >= sets || count < need || count > TK_T_MAX)
		return fail(err, TK_ABI_INVALID, "set %u with %u tensors, expected a set below %u with at least %u",
		        set, count, sets, need);
	for (uint32_t i = 0; i < count; i++)
		bound[set].data[i] = tensors[i].data;
	return TK_ABI_OK;
}

#endif
