# What an attention backend of the newest artifact answers:  . ask_attention.sh
newest() { # FILE: of the newest artifact
	find cache/artifacts -path "*/$1" -printf '%T@ %p\n' | sort -n |
		tail -n 1 | cut -d ' ' -f 2-
}

cat >ask.c <<'C'
/* ask FILE.so DEVICE B D CAUSAL [SQ HKV]: what the backend answers for b=B, h=8, sq=SQ in f16; the
 * backward pass where DIRECTION is bwd, with SCALE (default: 1) */
#include "tracker_abi.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	void *so = argc == 6 || argc == 8 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (!so)
		return 9;
	union { void *p; const struct tk_backend *(*entry)(void); } u = {
		dlsym(so, "tk_backend_entry")};
	const struct tk_backend *b = u.entry();
	const int64_t d = atoi(argv[4]), sq = argc > 6 ? atoi(argv[6]) : 1024;
	const int64_t hkv = argc > 6 ? atoi(argv[7]) : 8;
	const char *direction = getenv("DIRECTION"), *scale = getenv("SCALE");
	const struct tk_attention a = {.size = sizeof a, .b = atoi(argv[3]), .h = 8,
		.hkv = hkv, .sq = sq, .skv = sq, .d = d, .dv = d,
		.dtype = TK_F16, .causal = atoi(argv[5]), .scale = scale ? atof(scale) : 1,
		.dir = direction && !strcmp(direction, "bwd") ? TK_BWD : TK_FWD};
	const struct tk_problem p = {.size = sizeof p, .op = TK_OP_ATTENTION, .text = "",
		.attention = &a};
	struct tk_open_args args = {.size = sizeof args, .options = "",
		.device_info = {.compute_units = 132}};
	struct tk_backend_ctx *ctx;
	struct tk_abi_error err = {.size = sizeof err};
	snprintf(args.device_info.arch, sizeof args.device_info.arch, "%s", argv[2]);
	int status = b->open(&args, &ctx, &err);
	if (!status) {
		status = b->supports(ctx, &p, &err);
		b->close(ctx);
	}
	printf("%s: %s\n", b->version(), status ? err.message : "yes");
	return status;
}
C
cc -I"$TK_SOURCE_ROOT/kernels/abi" -o ask ask.c -ldl
ask() { # BACKEND DEVICE B D CAUSAL [SQ HKV]
	local backend=$1
	shift
	run ./ask "$(newest "tk_backend_$backend.so")" "$@"
}
