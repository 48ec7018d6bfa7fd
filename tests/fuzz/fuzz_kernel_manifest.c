/* Any bytes as the manifest of a compiled kernel; what is accepted can be packed. */
#include "fuzz.h"
#include "gpu_backend.h"
#include "launcher.h"
#include "launcher_stub.h"

static char memory[64];

static void pack(const struct launcher_manifest *m)
{
	static void *scratch[LAUNCHER_ARGS_MAX];
	struct tk_tensor tensors[TK_T_MAX];
	struct tk_abi_error err = {.size = sizeof err};
	for (int i = 0; i < TK_T_MAX; i++)
		tensors[i] = (struct tk_tensor){
		        .size = sizeof *tensors, .data = memory, .bytes = sizeof memory};
	for (uint32_t i = 0; i < m->launch_count; i++) {
		struct launcher_arguments a;
		launcher_arguments_pack(&a, &m->launches[i], tensors, TK_T_MAX, scratch, &err);
		launcher_arguments_free(&a);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct launcher_manifest *m = NULL;
	struct tk_abi_error err = {.size = sizeof err};
	int status = launcher_manifest_parse((const char *)data, size, &m, &err);
	if (status ? !*err.message || m != NULL : !m)
		abort();
	if (!status)
		pack(m);
	launcher_manifest_free(m);
	return 0;
}
