/* Host copies of a problem's tensors. The process keeps their memory and the inputs in it from job
 * to job: value i of a tensor does not depend on the problem's size, so a later job fills only the
 * elements beyond the earlier length. One block is kept for each tensor number and type, up to
 * KEPT_BYTES, and only where the device has memory of its own. */
#include "base/clock.h"
#include "base/memory.h"
#include "measure/engine.h"
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define KEPT_BYTES ((size_t)256 << 20)
#define DTYPE_COUNT 10 /* of enum tk_dtype, with 0 */

struct host_block {
	void *data;
	size_t bytes;
	size_t filled; /* bytes with inputs of this seed and distribution */
	uint64_t seed;
	int dist;
};

static struct host_block kept_blocks[TK_T_MAX][DTYPE_COUNT];

static struct host_block *find_kept(const struct tk_engine *e, uint32_t tensor)
{
	uint32_t dtype = e->host[tensor].dtype;
	bool is_input = !e->host[tensor].output && dtype < DTYPE_COUNT;
	return &kept_blocks[tensor][is_input ? dtype : 0];
}

/* Huge pages for large tensors: first touching small pages would take longer than the upload. */
static void *allocate(size_t bytes)
{
	void *memory = NULL;
	if (bytes < HUGE_PAGE)
		return tk_malloc(bytes);
	size_t rounded = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	if (posix_memalign(&memory, HUGE_PAGE, rounded) != 0)
		return NULL;
	madvise(memory, bytes, MADV_HUGEPAGE);
	return memory;
}

static void acquire(struct tk_engine *e, uint32_t tensor)
{
	struct host_block *kept = find_kept(e, tensor);
	struct tk_tensor *t = &e->host[tensor];
	/* Values from a text depend on the shape of the problem. */
	bool same_values = kept->seed == e->options->seed && kept->dist == (int)e->problem->dist &&
	                   kept->dist != TK_DIST_TEXT;
	if (kept->bytes >= t->bytes + 1 && t->bytes >= HUGE_PAGE) {
		t->data = kept->data;
		e->host_bytes[tensor] = kept->bytes;
		e->host_filled[tensor] = same_values && !t->output ? kept->filled : 0;
		*kept = (struct host_block){0};
	} else {
		t->data = allocate(t->bytes + 1);
		e->host_bytes[tensor] = t->bytes + 1;
	}
}

static void release(const struct tk_engine *e, uint32_t tensor)
{
	struct host_block *kept = find_kept(e, tensor);
	void *data = e->host[tensor].data;
	size_t bytes = e->host_bytes[tensor];
	bool keep =
	        e->ops->copy && bytes > HUGE_PAGE && bytes <= KEPT_BYTES + 1 && bytes > kept->bytes;
	free(keep ? kept->data : data);
	if (keep)
		*kept = (struct host_block){data, bytes, e->host_filled[tensor], e->options->seed,
		        (int)e->problem->dist};
}

void tk_engine_release_host(struct tk_engine *e)
{
	for (uint32_t i = 0; i < e->tensor_count; i++)
		release(e, i);
}

static int fill_tensor(struct tk_engine *e, uint32_t tensor)
{
	struct tk_tensor *t = &e->host[tensor];
	if (t->output) {
		if (!e->ops->fill)
			tk_engine_fill_unwritten(e, t, 0, t->data, t->bytes);
		return 0;
	}
	int status = tk_inputs_fill_from(
	        e->problem, tensor, e->options->seed, e->host_filled[tensor], t->data, e->err);
	if (!status && e->host_filled[tensor] < t->bytes)
		e->host_filled[tensor] = t->bytes;
	return status;
}

int tk_engine_fill_host(struct tk_engine *e)
{
	int64_t start = tk_clock_monotonic_ns();
	int status = 0;
	for (uint32_t i = 0; !status && i < e->tensor_count; i++) {
		acquire(e, i);
		if (!e->host[i].data)
			return tk_engine_end_job(e, TK_OUTCOME_OUT_OF_MEMORY,
			        "cannot allocate %.2f GiB of host memory for tensor %s",
			        (double)e->host[i].bytes / 0x1p30, e->host[i].name);
		status = fill_tensor(e, i);
	}
	e->out->inputs_s = (double)(tk_clock_monotonic_ns() - start) * 1e-9;
	return status;
}
