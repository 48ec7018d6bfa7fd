# What a backend of GEMM kernels says of a problem:  . ask_gemm.sh
#   ./ask_gemm FILE.so TYPE TYPE_C TB [M N K]
# prints its version and its configurations, or its reason against the problem. Types are numbers of
# enum tk_dtype. It fails if the backend opens on another device than DEVICE (default: sm_90).
cat >ask_gemm.c <<'C'
#include "tracker_abi.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static uint32_t number(char **argv, int i)
{
	return (uint32_t)atoi(argv[i]);
}
int main(int argc, char **argv)
{
	void *so = argc >= 5 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (!so)
		return 9;
	union { void *p; const struct tk_backend *(*entry)(void); } u = {
		dlsym(so, "tk_backend_entry")};
	const struct tk_backend *b = u.entry();
	const int shape = argc == 8;
	const struct tk_gemm g = {.size = sizeof g, .m = shape ? atoll(argv[5]) : 64,
		.n = shape ? atoll(argv[6]) : 64, .k = shape ? atoll(argv[7]) : 64, .batch = 1,
		.a = number(argv, 2), .b = number(argv, 2), .c = number(argv, 3), .acc = TK_F32,
		.tb = atoi(argv[4])};
	const struct tk_problem p = {.size = sizeof p, .op = TK_OP_GEMM, .text = "", .gemm = &g};
	struct tk_open_args args = {.size = sizeof args, .options = ""};
	struct tk_backend_ctx *ctx;
	struct tk_abi_error err = {.size = sizeof err};
	if (b->open(&args, &ctx, &err) != TK_ABI_UNSUPPORTED)
		return 8;
	snprintf(args.device_info.arch, sizeof args.device_info.arch, "%s",
		getenv("DEVICE") ? getenv("DEVICE") : "sm_90");
	if (b->open(&args, &ctx, &err))
		return 7;
	const char *const *names;
	uint32_t n = 0;
	const int status = b->configs(ctx, &p, &names, &n, &err);
	printf("%s", b->version());
	if (status)
		printf(" %s", err.message);
	for (uint32_t i = 0; i < n; i++)
		printf(" %s", names[i]);
	printf("\n");
	b->close(ctx);
	return status;
}
C
cc -I"$TK_SOURCE_ROOT/kernels/abi" -o ask_gemm ask_gemm.c -ldl
