/* See launcher_stub.h. */
#include "launcher_stub.h"
#include "gpu_backend.h"
#include "launcher.h"

struct launcher_stub launcher_stub;

static int stub_start(const struct tk_open_args *args, struct tk_abi_error *err)
{
	return TK_ABI_OK;
}

static bool stub_runs_on(const char *target, const char *arch)
{
	return strcmp(target, "any") == 0 || strncmp(target, arch, 5) == 0;
}

static int stub_load(const void *code, size_t bytes, void **module, struct tk_abi_error *err)
{
	launcher_stub.loaded++;
	*module = &launcher_stub;
	return TK_ABI_OK;
}

static void stub_unload(void *module)
{
	launcher_stub.loaded--;
}

static int stub_find(void *module, const char *entry, void **function, struct tk_abi_error *err)
{
	*function = &launcher_stub;
	return strcmp(entry, "absent") ? TK_ABI_OK
	                               : fail(err, TK_ABI_INVALID, "no kernel \"%s\"", entry);
}

static enum launcher_param stub_param(void *function, uint32_t index, size_t *bytes)
{
	if (!launcher_stub.param_count)
		return LAUNCHER_PARAM_UNKNOWN;
	if (index >= launcher_stub.param_count)
		return LAUNCHER_PARAM_NONE;
	*bytes = launcher_stub.param_bytes[index];
	return LAUNCHER_PARAM_SIZE;
}

static int stub_prepare(void *function, const struct launcher_launch *l, struct tk_abi_error *err)
{
	return TK_ABI_OK;
}

static int stub_encode_map(
        const struct launcher_tensor_map *m, void *data, void *out, struct tk_abi_error *err)
{
	memset(out, 7, LAUNCHER_TENSOR_MAP_BYTES);
	memcpy(out, &data, sizeof data);
	return (uintptr_t)out % 64 ? fail(err, TK_ABI_INVALID, "not aligned") : TK_ABI_OK;
}

static int stub_launch(void *function, const struct launcher_launch *l,
        const struct launcher_arguments *arguments, void *stream, struct tk_abi_error *err)
{
	launcher_stub.launches++;
	launcher_stub.last = *l;
	launcher_stub.stream = stream;
	for (uint32_t i = 0; i < l->arg_count && i < 8; i++)
		memcpy(launcher_stub.values[i], arguments->params[i],
		        l->args[i].bytes < 8 ? l->args[i].bytes : 8);
	return TK_ABI_OK;
}

const struct launcher_driver launcher_driver = {
        .device_kind = "null",
        .backend_name = "launcher_stub",
        .start = stub_start,
        .runs_on = stub_runs_on,
        .load = stub_load,
        .unload = stub_unload,
        .find = stub_find,
        .param = stub_param,
        .prepare = stub_prepare,
        .encode_map = stub_encode_map,
        .launch = stub_launch,
};
