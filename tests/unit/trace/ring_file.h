/* A file as a worker leaves it, of one kernel and one launch: rings made by hand, at 1,000 MHz, so
 * that a cycle is a nanosecond. */
#ifndef TK_TEST_RING_FILE_H
#define TK_TEST_RING_FILE_H
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <jansson.h>
#include <cmocka.h>

#include "base/error.h"
#include "trace/summary.h"
#include "trace/trace.h"

enum { WAIT, MULTIPLY, SOFTMAX, REGIONS };
enum { BLOCKS = 2, GROUPS = 1, SLOTS = 16, RINGS = BLOCKS * GROUPS };

/* One kernel, one launch. */
struct file {
	struct tk_trace_file_head head;
	struct tk_trace_file_kernel kernel;
	struct tk_trace_ring rings[RINGS];
	struct tk_trace_record records[RINGS][SLOTS];
};

static inline struct file new_file(void)
{
	struct file f = {.head = {.magic = "tktrace", .kernels = 1, .launches = 1},
	        .kernel = {.name = "gemm",
	                .groups = GROUPS,
	                .regions = REGIONS,
	                .blocks = BLOCKS,
	                .slots = SLOTS,
	                .group = {"consumer"},
	                .region = {"wait", "multiply", "softmax"},
	                .kind = {TK_TRACE_WAIT, TK_TRACE_TENSOR, TK_TRACE_COMPUTE}}};
	f.head.magic[7] = '1';
	return f;
}

static inline int write_file(const void *data, size_t bytes)
{
	int fd = memfd_create("test-trace", 0);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, data, bytes, 0), (ssize_t)bytes);
	return fd;
}

static inline void put(struct file *f, int ring, uint32_t clock, int does,
        enum tk_trace_event event, int async, int token)
{
	struct tk_trace_ring *r = &f->rings[ring];
	f->records[ring][r->next] = (struct tk_trace_record){
	        clock, (uint8_t)does, (uint8_t)event, (uint8_t)async, (uint8_t)token};
	r->next = (r->next + 1) % SLOTS;
}

/* wait 100, softmax 200 beside a product of 250, nothing 50: on two multiprocessors, the second one
 * 30 ns later. Its clock wraps around. `slower` ns more of softmax. */
static inline struct file typical_file(uint32_t slower)
{
	struct file f = new_file();
	for (int i = 0; i < RINGS; i++) {
		uint32_t t = i ? 0xffffff80u : 5000;
		f.rings[i] = (struct tk_trace_ring){.block = (uint32_t)i,
		        .multiprocessor = i ? 9 : 4,
		        .begin_clock = t,
		        .end_clock = t + 350 + slower,
		        .begin_ns = 1000u + 30u * (uint32_t)i,
		        .end_ns = 1350u + 30u * (uint32_t)i + slower};
		put(&f, i, t, WAIT, TK_TRACE_DOES, 0, 0);
		put(&f, i, t + 100, SOFTMAX, TK_TRACE_BEGIN_ASYNC, MULTIPLY, 1);
		put(&f, i, t + 300 + slower, TK_TRACE_NOTHING, TK_TRACE_DOES, 0, 0);
		put(&f, i, t + 350 + slower, TK_TRACE_NOTHING, TK_TRACE_END_ASYNC, MULTIPLY, 1);
	}
	return f;
}

static inline int read_file(const void *data, size_t bytes, struct tk_trace *t)
{
	int fd = write_file(data, bytes);
	int status = tk_trace_read(fd, t, NULL);
	close(fd);
	return status;
}

static inline struct tk_trace_summary summarize(const struct file *f)
{
	struct tk_trace t;
	struct tk_trace_summary s;
	assert_int_equal(read_file(f, sizeof *f, &t), TK_OK);
	assert_int_equal(tk_trace_summarize_all(&t, 0, &s, NULL), TK_OK);
	tk_trace_free(&t);
	return s;
}

static inline void assert_near(double a, double b)
{
	if (fabs(a - b) > 1e-6)
		fail_msg("%g is not %g", a, b);
}

#endif
