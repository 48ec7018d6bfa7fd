/* Modules that break the contract before any of their functions is called; which one is chosen by
 * TK_BAD. */
#include "tracker_abi.h"

#define NO_ENTRY 0
#define NULL_TABLE 1
#define TINY 2
#define OTHER_MAJOR 3
#define SHORT 4
#define NO_LAUNCH 5
#define BAD_NAME 6
#define EARLIER 7

#if TK_BAD == NO_ENTRY
TK_EXPORT int nothing_of_interest(void);
int nothing_of_interest(void)
{
	return 1;
}
#else
static const char *version(void)
{
	return "1";
}

static int open_it(
        const struct tk_open_args *args, struct tk_backend_ctx **out, struct tk_abi_error *err)
{
	return TK_ABI_INTERNAL;
}

static void close_it(struct tk_backend_ctx *ctx)
{
}

static int supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *problem, struct tk_abi_error *err)
{
	return TK_ABI_UNSUPPORTED;
}

static int plan(struct tk_backend_ctx *ctx, const struct tk_problem *problem, const char *config,
        uint32_t sets, struct tk_plan **out, struct tk_plan_info *info, struct tk_abi_error *err)
{
	return TK_ABI_UNSUPPORTED;
}

static int bind_it(struct tk_plan *p, uint32_t set, const struct tk_tensor *tensors, uint32_t count,
        struct tk_abi_error *err)
{
	return TK_ABI_OK;
}

static int launch(struct tk_plan *p, void *stream, uint32_t set, struct tk_abi_error *err)
{
	return TK_ABI_OK;
}

static void unplan(struct tk_plan *p)
{
}

const struct tk_backend *tk_backend_entry(void)
{
	static const struct tk_backend backend = {
	        .size = TK_BAD == TINY    ? 8
	                : TK_BAD == SHORT ? offsetof(struct tk_backend, plan) + 4
	                                  : sizeof backend,
	        .abi_major = TK_BAD == OTHER_MAJOR ? 2 : 1,
	        .abi_minor = TK_BAD == EARLIER ? 99 : 0,
	        .name = TK_BAD == BAD_NAME ? "Bad/../name" : "bad",
	        .device_kind = "null",
	        .description = "breaks the contract",
	        .version = version,
	        .open = open_it,
	        .close = close_it,
	        .supports = supports,
	        .plan = plan,
	        .bind = bind_it,
	        .launch = TK_BAD == NO_LAUNCH ? 0 : launch,
	        .unplan = unplan,
	};
	return TK_BAD == NULL_TABLE ? 0 : &backend;
}
#endif
