/* What every backend repeats: error messages, configurations, options, plans, input sets, the table
 * of tk_backend_entry(). For C and C++; needs the header of the contract alone. */
#ifndef TK_KIT_H
#define TK_KIT_H
#include "tracker_abi.h"
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Returns the status of a call that failed. */
#define TRY(call) \
	do { \
		int try_status_ = (call); \
		if (try_status_) \
			return try_status_; \
	} while (0)

/* A zeroed plan of `bytes`; NULL: out of memory. */
static inline void *plan_new(size_t bytes, struct tk_abi_error *err)
{
	void *plan = calloc(1, bytes);
	if (!plan)
		fail(err, TK_ABI_NO_MEMORY, "no memory for the plan");
	return plan;
}

/* For a backend without a library: the tracker's version identifies it. */
static inline const char *no_version(void)
{
	return "";
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

/* For backends with one configuration. */
static inline int check_config(const char *config, struct tk_abi_error *err)
{
	if (!config || !*config || strcmp(config, "default") == 0)
		return TK_ABI_OK;
	return fail(err, TK_ABI_INVALID, "unknown configuration \"%.100s\", expected \"default\"",
	        config);
}

/* Index of a configuration in `names`; NULL, "" and "default" are the first. */
static inline int find_config(const char *config, const char *const *names, uint32_t count,
        uint32_t *out, struct tk_abi_error *err)
{
	*out = 0;
	if (!config || !*config || strcmp(config, "default") == 0)
		return TK_ABI_OK;
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(config, names[i]) == 0) {
			*out = i;
			return TK_ABI_OK;
		}
	return fail(err, TK_ABI_INVALID,
	        "unknown configuration \"%.100s\", the first of %u is \"%s\"", config, count,
	        count ? names[0] : "default");
}

/* The `choose` of KIT_PLAN for backends with one configuration. */
static inline int choose_default(const struct tk_backend_ctx *ctx, const struct tk_problem *p,
        const char *name, uint32_t *out, struct tk_abi_error *err)
{
	(void)ctx, (void)p;
	*out = 0;
	return check_config(name, err);
}

/* The number after `key=` in "key=value,key=value"; `otherwise` if the key is missing. */
static inline long option_number(const char *options, const char *key, long otherwise)
{
	size_t len = strlen(key);
	for (const char *p = options ? options : ""; *p; p += strcspn(p, ","), p += *p == ',')
		if (strncmp(p, key, len) == 0 && p[len] == '=')
			return strtol(p + len + 1, NULL, 10);
	return otherwise;
}

/* Defines prefix_open and prefix_close. `start` opens what the context has, and leaves nothing open
 * if it fails; `stop` closes it. */
#define KIT_CONTEXT(prefix, start, stop) \
	static int prefix##_open(const struct tk_open_args *args, struct tk_backend_ctx **out, \
	        struct tk_abi_error *err) \
	{ \
		struct tk_backend_ctx *ctx = (struct tk_backend_ctx *)calloc(1, sizeof *ctx); \
		int status = ctx ? start(ctx, args, err) \
		                 : fail(err, TK_ABI_NO_MEMORY, "no memory for the context"); \
		if (status) \
			free(ctx); \
		else \
			*out = ctx; \
		return status; \
	} \
	static void prefix##_close(struct tk_backend_ctx *ctx) \
	{ \
		if (ctx) \
			stop(ctx); \
		free(ctx); \
	}

/* Defines prefix_configs: the same `count_` names for every problem that is supported. */
#define KIT_CONFIGS(prefix, names_, count_) \
	static int prefix##_configs(struct tk_backend_ctx *ctx, const struct tk_problem *p, \
	        const char *const **names, uint32_t *count, struct tk_abi_error *err) \
	{ \
		*names = names_; \
		*count = count_; \
		return prefix##_supports(ctx, p, err); \
	}

/* Defines prefix_plan. A plan has ctx, problem, sets, config (an index) and, last, each_set[].
 * `choose` (ctx, problem, name, &config, err) finds the configuration; `fill` (plan, info, err)
 * does the rest. prefix_unplan() is called where it fails. */
#define KIT_PLAN(prefix, each_set, choose, fill) \
	static int prefix##_plan(struct tk_backend_ctx *ctx, const struct tk_problem *p, \
	        const char *name, uint32_t sets, struct tk_plan **out, struct tk_plan_info *info, \
	        struct tk_abi_error *err) \
	{ \
		uint32_t config = 0; \
		TRY(prefix##_supports(ctx, p, err)); \
		TRY(choose(ctx, p, name, &config, err)); \
		struct tk_plan *plan = (struct tk_plan *)plan_new( \
		        sizeof *plan + sets * sizeof plan->each_set[0], err); \
		if (!plan) \
			return TK_ABI_NO_MEMORY; \
		plan->ctx = ctx; \
		plan->problem = p; \
		plan->sets = sets; \
		plan->config = config; \
		int status = fill(plan, info, err); \
		if (status) \
			prefix##_unplan(plan); \
		else \
			*out = plan; \
		return status; \
	}

/* Defines prefix_bind, which keeps the pointers of at least `need` tensors in plan->bound. */
#define KIT_BIND(prefix, need) \
	static int prefix##_bind(struct tk_plan *plan, uint32_t set, const struct tk_tensor *t, \
	        uint32_t count, struct tk_abi_error *err) \
	{ \
		return bind_set(plan->bound, plan->sets, set, t, count, need, err); \
	}

/* Defines tk_backend_entry() of a backend whose functions are called prefix_open, prefix_close and
 * so on. `does`: enum tk_operation. Optional members follow it: `.configs = backend_configs`;
 * `.configs = NULL` for none. */
#define KIT_BACKEND(prefix, backend_name, kind, version_function, text, does, ...) \
	const struct tk_backend *tk_backend_entry(void) \
	{ \
		static struct tk_backend backend = {.size = sizeof backend, \
		        .abi_major = TK_ABI_MAJOR, \
		        .abi_minor = TK_ABI_MINOR, \
		        .open = prefix##_open, \
		        .close = prefix##_close, \
		        .supports = prefix##_supports, \
		        .plan = prefix##_plan, \
		        .bind = prefix##_bind, \
		        .launch = prefix##_launch, \
		        .unplan = prefix##_unplan, \
		        __VA_ARGS__}; \
		backend.name = backend_name; \
		backend.device_kind = kind; \
		backend.version = version_function; \
		backend.description = text; \
		backend.operations = does; \
		return &backend; \
	}

/* The pointers of one input set. */
struct bound {
	void *data[TK_T_MAX];
};

/* At least `need` tensors are required. */
static inline int bind_set(struct bound *bound, uint32_t sets, uint32_t set,
        const struct tk_tensor *tensors, uint32_t count, uint32_t need, struct tk_abi_error *err)
{
	if (set >= sets || count < need || count > TK_T_MAX)
		return fail(err, TK_ABI_INVALID,
		        "set %u with %u tensors, expected a set below %u with at least %u", set,
		        count, sets, need);
	for (uint32_t i = 0; i < count; i++)
		bound[set].data[i] = tensors[i].data;
	return TK_ABI_OK;
}

#endif
