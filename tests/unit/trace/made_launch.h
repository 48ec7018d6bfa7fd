/* A launch as tk_trace_launch_read() makes it, from groups and spans that a test says. Times are in
 * ns. Groups are added by multiprocessor; spans, in any order, belong to the newest group. */
#ifndef TK_TEST_MADE_LAUNCH_H
#define TK_TEST_MADE_LAUNCH_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "trace/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum made_region { WAIT, LOAD, MULTIPLY, SOFTMAX, WRITE, MADE_REGIONS };
enum { MADE_GROUPS_MAX = 64, MADE_SPANS_MAX = 2048, MADE_TILES_MAX = 64 };

struct made {
	struct tk_trace_file_kernel kernel;
	struct tk_trace_launch launch;
	struct tk_trace_group groups[MADE_GROUPS_MAX];
	struct tk_trace_span spans[MADE_SPANS_MAX];
	struct tk_trace_tile tiles[MADE_TILES_MAX];
};

static inline void made_begin(struct made *m)
{
	*m = (struct made){.kernel = {.name = "flash",
	                           .groups = 3,
	                           .regions = MADE_REGIONS,
	                           .blocks = 4,
	                           .slots = 16,
	                           .group = {"producer", "consumer 0", "consumer 1"},
	                           .region = {"wait", "load", "multiply", "softmax", "write"},
	                           .kind = {TK_TRACE_WAIT, TK_TRACE_LOAD, TK_TRACE_TENSOR,
	                                   TK_TRACE_COMPUTE, TK_TRACE_STORE}}};
	m->launch.groups = m->groups;
	m->launch.spans = m->spans;
	m->launch.tiles = m->tiles;
	m->launch.clock_mhz = 1000;
}

static inline void made_group(struct made *m, uint32_t multiprocessor, uint32_t block,
        uint32_t group, double begin_ns, double end_ns)
{
	struct tk_trace_launch *l = &m->launch;
	const struct tk_trace_group *last = l->group_count ? &m->groups[l->group_count - 1] : NULL;

	assert_true(l->group_count < MADE_GROUPS_MAX);
	l->multiprocessors += !last || last->multiprocessor != multiprocessor;
	m->groups[l->group_count++] = (struct tk_trace_group){.block = block,
	        .group = group,
	        .multiprocessor = multiprocessor,
	        .begin_ns = begin_ns,
	        .end_ns = end_ns};
	l->duration_ns = fmax(l->duration_ns, end_ns);
}

/* Spans of a group are in the order of their ends. */
static inline void made_insert(struct made *m, struct tk_trace_span span)
{
	struct tk_trace_launch *l = &m->launch;
	size_t at = l->span_count++;

	assert_true(at < MADE_SPANS_MAX);
	span.ring = (uint32_t)(l->group_count - 1);
	span.own_ns = span.end_ns - span.begin_ns;
	for (; at && m->spans[at - 1].ring == span.ring && m->spans[at - 1].end_ns > span.end_ns;
	        at--)
		m->spans[at] = m->spans[at - 1];
	m->spans[at] = span;
	m->groups[span.ring].recorded++;
}

static inline void made_span(struct made *m, enum made_region region, double begin, double end)
{
	made_insert(m, (struct tk_trace_span){
	                       .region = (uint8_t)region, .begin_ns = begin, .end_ns = end});
}

/* Beside what the group does. */
static inline void made_async(struct made *m, enum made_region region, double begin, double end)
{
	made_insert(m, (struct tk_trace_span){.region = (uint8_t)region,
	                       .is_async = true,
	                       .begin_ns = begin,
	                       .end_ns = end});
}

static inline void made_tile(struct made *m, double begin, double end)
{
	struct tk_trace_launch *l = &m->launch;

	assert_true(l->tile_count < MADE_TILES_MAX);
	m->tiles[l->tile_count++] =
	        (struct tk_trace_tile){(uint32_t)(l->group_count - 1), begin, end};
}

static inline void made_near(double a, double b, const char *what)
{
	if (!(fabs(a - b) < 1e-6))
		fail_msg("%s: %g is not %g", what, a, b);
}
#define NEAR(a, b) made_near(a, b, #a)

#endif
