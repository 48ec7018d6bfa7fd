/* The arguments of a launch: one pointer to each. */
#include "launcher.h"

#define ALIGNMENT ((size_t)64) /* a tensor map needs it */

static size_t align_up(size_t at, size_t unit)
{
	return (at + unit - 1) / unit * unit;
}

static size_t arg_offset(size_t at, const struct launcher_arg *arg)
{
	return align_up(at, arg->bytes > 8 ? ALIGNMENT : 8);
}

static size_t storage_bytes(const struct launcher_launch *l)
{
	size_t at = 0;
	for (uint32_t i = 0; i < l->arg_count; i++)
		at = arg_offset(at, &l->args[i]) + l->args[i].bytes;
	return align_up(at + 1, ALIGNMENT);
}

/* The bytes from the first to the last element that a map can reach; UINT64_MAX: too many. */
static uint64_t map_extent(const struct launcher_tensor_map *m)
{
	uint64_t extent = m->strides_bytes[0];
	for (uint32_t i = 0; i < m->rank; i++) {
		uint64_t more;
		if (__builtin_mul_overflow(m->dims[i] - 1, m->strides_bytes[i], &more) ||
		        __builtin_add_overflow(extent, more, &extent))
			return UINT64_MAX;
	}
	return extent;
}

static int pack_one(const struct launcher_arg *arg, const struct tk_tensor *tensors, uint32_t count,
        void *const *scratch, void *out, struct tk_abi_error *err)
{
	bool is_tensor = arg->kind == LAUNCHER_ARG_TENSOR || arg->kind == LAUNCHER_ARG_TENSOR_MAP;
	if (is_tensor && arg->tensor >= count)
		return fail(err, TK_ABI_INVALID, "the problem has %u tensors, no tensor %u", count,
		        arg->tensor);
	const struct tk_tensor *t = is_tensor ? &tensors[arg->tensor] : NULL;
	switch (arg->kind) {
	case LAUNCHER_ARG_TENSOR:
		memcpy(out, &t->data, sizeof t->data);
		return TK_ABI_OK;
	case LAUNCHER_ARG_SCRATCH:
		memcpy(out, &scratch[arg->scratch], sizeof *scratch);
		return TK_ABI_OK;
	case LAUNCHER_ARG_VALUE:
		memcpy(out, arg->value, arg->bytes);
		return TK_ABI_OK;
	default:
		if (map_extent(&arg->map) > t->bytes)
			return fail(err, TK_ABI_INVALID,
			        "a tensor map reaches beyond the %zu bytes of its tensor",
			        t->bytes);
		return launcher_driver.encode_map(&arg->map, t->data, out, err);
	}
}

static size_t memory_bytes(
        const struct launcher_arg *arg, const struct tk_tensor *tensors, uint32_t count)
{
	if (arg->kind == LAUNCHER_ARG_TENSOR && arg->tensor < count)
		return tensors[arg->tensor].bytes;
	return arg->kind == LAUNCHER_ARG_SCRATCH ? arg->scratch_bytes : 0;
}

int launcher_arguments_pack(struct launcher_arguments *a, const struct launcher_launch *launch,
        const struct tk_tensor *tensors, uint32_t count, void *const *scratch,
        struct tk_abi_error *err)
{
	struct tk_abi_error why = {.size = sizeof why};
	size_t bytes = storage_bytes(launch), at = 0;
	*a = (struct launcher_arguments){.params = calloc(launch->arg_count + 1, sizeof *a->params),
	        .bytes = calloc(launch->arg_count + 1, sizeof *a->bytes),
	        .storage = aligned_alloc(ALIGNMENT, bytes)};
	if (!a->params || !a->bytes || !a->storage)
		return fail(err, TK_ABI_NO_MEMORY, "no memory for the arguments");
	memset(a->storage, 0, bytes);
	for (uint32_t i = 0; i < launch->arg_count; i++) {
		const struct launcher_arg *arg = &launch->args[i];
		at = arg_offset(at, arg);
		a->params[i] = a->storage + at;
		a->bytes[i] = memory_bytes(arg, tensors, count);
		int status = pack_one(arg, tensors, count, scratch, a->params[i], &why);
		if (status)
			return fail(err, status, "argument %u of %.200s: %.240s", i, launch->entry,
			        why.message);
		at += arg->bytes;
	}
	return TK_ABI_OK;
}

void launcher_arguments_free(struct launcher_arguments *a)
{
	free(a->params);
	free(a->bytes);
	free(a->storage);
	*a = (struct launcher_arguments){0};
}
