/* The timing engine on the null device, for its tests. The null device's clock is virtual, so that
 * everything but wall times is repeatable. */
#ifndef TEST_MEASURE_ENGINE_RIG_H
#define TEST_MEASURE_ENGINE_RIG_H
#include "base/error.h"
#include "measure/engine.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct rig {
	const struct tk_device_ops *ops;
	struct tk_device *device;
	const struct tk_backend *backend;
	struct tk_backend_ctx *ctx;
	struct tk_measurement m;
};

static const struct tk_measure_options defaults = {
        .seed = 1,
        .mode = TK_MODE_COLD,
        .stop = {0.95, 0.01, 10, 100, 5},
        .max_warmup_s = 5,
        .min_sample_ns = 1,
        .verify = true,
};

static inline void rig_up(struct rig *r, const char *options)
{
	struct tk_abi_error err = {.size = sizeof err};
	*r = (struct rig){.ops = tk_device_entry(), .backend = tk_backend_entry()};
	assert_int_equal(r->ops->open(0, &r->device, &err), 0);
	struct tk_open_args args = {
	        .size = sizeof args, .device = r->device, .device_ops = r->ops, .options = options};
	if (r->backend->open(&args, &r->ctx, &err))
		fail_msg("%s: %s", options, err.message);
}

static inline void rig_down(struct rig *r)
{
	tk_measurement_free(&r->m);
	r->backend->close(r->ctx);
	r->ops->close(r->device);
}

static inline void measure(struct rig *r, const char *problem, const struct tk_measure_options *o)
{
	struct tk_problem_spec p;
	struct tk_error err = {0};
	assert_int_equal(tk_problem_parse(&p, problem, &err), 0);
	tk_measurement_free(&r->m);
	if (tk_measure(r->ops, r->device, r->backend, r->ctx, &p, o, &r->m, &err))
		fail_msg("%s: %s", problem, err.message);
}

#endif
