/* Launches that record regions inside their kernels: the memory that they record into, and the file
 * that the caller reads. */
#include "base/base.h"
#include "core/trace_file.h"
#include "measure/engine.h"
#include <errno.h>
#include <unistd.h>

#define PROBE_BLOCKS 16384
#define PROBE_SLOTS (2 * TK_TRACE_TURN_MAX)
#define UNRECORDED_MAX 256
#define MEMORY_MAX ((size_t)256 << 20) /* bytes of one kernel */

struct traced_kernel {
	const struct tk_trace_kernel *kernel;
	void *allocated;
	struct tk_trace_memory
	        memory; /* on the device, within what is allocated: records, then rings */
	size_t record_bytes, ring_bytes;
	bool is_counted;
	uint32_t launched; /* blocks of a launch; 0: the first launch could not count them all */
};

struct tk_engine_trace {
	struct traced_kernel kernels[TK_TRACE_KERNELS_MAX];
	uint32_t count;
	struct tk_trace_ring *rings; /* of one kernel, on the host, as many as the largest has */
	struct tk_trace_record *records;
	uint64_t written;
};

static int set_record(
        struct tk_engine *e, const struct traced_kernel *k, const struct tk_trace_memory *memory)
{
	int code = k->kernel->record(memory);
	return code == 0 ? 0
	                 : tk_engine_end_job(e, TK_OUTCOME_FAILED,
	                           "trace: the runtime's code %d on setting its memory", code);
}

static void release_memory(struct tk_engine *e, struct traced_kernel *k)
{
	const struct tk_trace_memory none = {0};
	if (!k->allocated)
		return;
	k->kernel->record(&none);
	e->ops->release(e->device, k->allocated);
	k->allocated = NULL;
}

/* A part of `allocated`, which is twice as large, whose records begin as tracker_abi.h asks. */
static void place_memory(struct traced_kernel *k)
{
	uint64_t ring = k->memory.slots * sizeof(struct tk_trace_record);
	uint64_t start = ((uint64_t)(uintptr_t)k->allocated + ring - 1) / ring * ring;
	uint64_t end = start + k->record_bytes - 1;
	if (start >> 32 != end >> 32)
		start = end >> 32 << 32;
	k->memory.records = (void *)(uintptr_t)start;
	k->memory.rings = (void *)(uintptr_t)(start + k->record_bytes);
}

static int allocate_memory(
        struct tk_engine *e, struct traced_kernel *k, uint32_t blocks, uint32_t slots)
{
	uint32_t groups = k->kernel->group_count;
	k->memory = (struct tk_trace_memory){.blocks = blocks, .groups = groups, .slots = slots};
	k->ring_bytes = (size_t)blocks * groups * sizeof(struct tk_trace_ring);
	k->record_bytes = (size_t)blocks * groups * slots * sizeof(struct tk_trace_record);
	size_t bytes = 2 * (k->record_bytes + k->ring_bytes) + slots * sizeof *k->memory.records;
	int status = tk_engine_check_status(
	        e, e->ops->alloc(e->device, bytes, &k->allocated, &e->abi), "trace");
	if (status) {
		k->allocated = NULL;
		return status;
	}
	place_memory(k);
	return set_record(e, k, &k->memory);
}

/* Zeroes: a group that does not run, and a slot that is not used, are seen. */
static int clear_memory(struct tk_engine *e, struct tk_engine_trace *t, struct traced_kernel *k)
{
	if (e->ops->fill)
		return tk_engine_check_status(e,
		        e->ops->fill(e->device, k->memory.records, 0,
		                k->record_bytes + k->ring_bytes, &e->abi),
		        "trace");
	memset(t->records, 0, k->record_bytes);
	memset(t->rings, 0, k->ring_bytes);
	int status =
	        e->ops->upload(e->device, k->memory.records, t->records, k->record_bytes, &e->abi);
	if (status == TK_ABI_OK)
		status = e->ops->upload(
		        e->device, k->memory.rings, t->rings, k->ring_bytes, &e->abi);
	return tk_engine_check_status(e, status, "trace");
}

static void grow_host(struct tk_engine_trace *t)
{
	size_t rings = 0, records = 0;
	for (uint32_t i = 0; i < t->count; i++) {
		rings = t->kernels[i].ring_bytes > rings ? t->kernels[i].ring_bytes : rings;
		records =
		        t->kernels[i].record_bytes > records ? t->kernels[i].record_bytes : records;
	}
	free(t->rings);
	free(t->records);
	t->rings = tk_malloc(rings + 1);
	t->records = tk_malloc(records + 1);
}

static uint32_t take_set(struct tk_engine *e)
{
	uint32_t set = e->next_set;
	e->next_set = (e->next_set + 1) % e->active_set_count;
	return set;
}

/* Launches that do not record, as many as a sample has: the recorded one behind them finds clocks
 * and caches as theirs, and not what clearing the memory of records has left. */
static int launch_unrecorded(struct tk_engine *e, struct tk_engine_trace *t)
{
	const struct tk_trace_memory none = {0};
	for (uint32_t i = 0; i < t->count; i++)
		TRY(clear_memory(e, t, &t->kernels[i]));
	TRY(tk_engine_synchronize(e));
	for (uint32_t i = 0; i < t->count; i++)
		TRY(set_record(e, &t->kernels[i], &none));
	TRY(tk_engine_wait_idle_gap(e));
	for (uint64_t i = 0; i < e->batch && i < UNRECORDED_MAX; i++)
		TRY(tk_engine_launch(e, take_set(e)));
	TRY(tk_engine_synchronize(e));
	for (uint32_t i = 0; i < t->count; i++)
		TRY(set_record(e, &t->kernels[i], &t->kernels[i].memory));
	return 0;
}

static int download(struct tk_engine *e, struct tk_engine_trace *t, const struct traced_kernel *k)
{
	int status = e->ops->download(
	        e->device, t->records, k->memory.records, k->record_bytes, &e->abi);
	if (status == TK_ABI_OK)
		status = e->ops->download(
		        e->device, t->rings, k->memory.rings, k->ring_bytes, &e->abi);
	return tk_engine_check_status(e, status, "trace");
}

/* How many blocks ran, and whether a ring is full. 0 blocks: the kernel did not run. */
static uint32_t count_blocks(
        const struct tk_engine_trace *t, const struct traced_kernel *k, bool *is_full)
{
	uint32_t blocks = 0;
	*is_full = false;
	for (size_t i = 0; i < (size_t)k->memory.blocks * k->memory.groups; i++) {
		const struct tk_trace_record *records = t->records + i * k->memory.slots;
		uint32_t next = t->rings[i].next;
		if (!t->rings[i].begin_ns)
			continue;
		blocks = (uint32_t)(i / k->memory.groups) + 1;
		*is_full |=
		        next & TK_TRACE_IS_FULL || records[next & (k->memory.slots - 1)].clock != 0;
	}
	return blocks;
}

/* *fits: no ring was full. Otherwise the memory has twice as many slots, for fewer blocks where
 * that would be too much. */
static int resize_memory(
        struct tk_engine *e, struct tk_engine_trace *t, struct traced_kernel *k, bool *fits)
{
	bool is_full = false;
	TRY(download(e, t, k));
	uint32_t blocks = count_blocks(t, k, &is_full), slots = k->memory.slots;
	if (!k->is_counted)
		k->launched = blocks < PROBE_BLOCKS ? blocks : 0;
	k->is_counted = true;
	*fits &= !is_full || slots == TK_TRACE_SLOTS_MAX;
	if (blocks == k->memory.blocks && *fits)
		return 0;
	release_memory(e, k);
	if (!blocks)
		return 0;
	slots *= is_full && slots < TK_TRACE_SLOTS_MAX ? 2 : 1;
	size_t one = k->kernel->group_count * tk_trace_ring_bytes(slots);
	if (one * blocks > MEMORY_MAX)
		blocks = MEMORY_MAX > one ? (uint32_t)(MEMORY_MAX / one) : 1;
	return allocate_memory(e, k, blocks, slots);
}

/* Those that this problem does not launch. */
static void drop_idle_kernels(struct tk_engine_trace *t)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < t->count; i++)
		if (t->kernels[i].allocated)
			t->kernels[kept++] = t->kernels[i];
	t->count = kept;
}

static int probe(struct tk_engine *e, struct tk_engine_trace *t)
{
	bool fits = false;
	while (!fits && t->count) {
		grow_host(t);
		for (uint32_t i = 0; i < t->count; i++)
			TRY(clear_memory(e, t, &t->kernels[i]));
		TRY(tk_engine_launch(e, 0));
		TRY(tk_engine_synchronize(e));
		fits = true;
		for (uint32_t i = 0; i < t->count; i++)
			TRY(resize_memory(e, t, &t->kernels[i], &fits));
		drop_idle_kernels(t);
	}
	grow_host(t);
	return t->count ? 0
	                : tk_engine_end_job(e, TK_OUTCOME_UNSUPPORTED,
	                          "no kernel of this problem records regions");
}

int tk_engine_trace_start(struct tk_engine *e)
{
	const struct tk_trace_request *q = e->options->trace;
	struct tk_engine_trace *t = tk_calloc(1, sizeof *t);
	e->trace = t;
	while (t->count < q->kernel_count) {
		struct traced_kernel *k = &t->kernels[t->count];
		k->kernel = q->kernels[t->count++];
		TRY(allocate_memory(e, k, PROBE_BLOCKS, PROBE_SLOTS));
	}
	return probe(e, t);
}

static int write_bytes(struct tk_engine *e, const void *data, size_t bytes)
{
	if (bytes > TK_TRACE_FILE_MAX - e->trace->written)
		return tk_engine_end_job(e, TK_OUTCOME_FAILED,
		        "the trace is larger than %zu MiB, expected fewer launches",
		        TK_TRACE_FILE_MAX >> 20);
	for (const char *p = data; bytes;) {
		ssize_t n = pwrite(e->options->trace->fd, p, bytes, (off_t)e->trace->written);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return tk_fail_errno(e->err, "writing the trace");
		p += n;
		bytes -= (size_t)n;
		e->trace->written += (uint64_t)n;
	}
	return 0;
}

static void copy_name(char out[TK_TRACE_NAME_SIZE], const char *name)
{
	strncpy(out, name ? name : "", TK_TRACE_NAME_SIZE - 1);
}

static int write_kernel(struct tk_engine *e, const struct traced_kernel *k)
{
	const struct tk_trace_kernel *from = k->kernel;
	struct tk_trace_file_kernel out = {.groups = from->group_count,
	        .regions = from->region_count,
	        .blocks = k->memory.blocks,
	        .slots = k->memory.slots,
	        .launched = k->launched};
	copy_name(out.name, from->name);
	for (uint32_t i = 0; i < out.groups; i++)
		copy_name(out.group[i], from->groups[i]);
	for (uint32_t i = 0; i < out.regions; i++) {
		copy_name(out.region[i], from->regions[i].name);
		out.kind[i] = from->regions[i].kind;
	}
	return write_bytes(e, &out, sizeof out);
}

/* The sets of the last samples go on, so that what is cold in them is cold here. */
static int write_launch(struct tk_engine *e)
{
	struct tk_engine_trace *t = e->trace;
	TRY(launch_unrecorded(e, t));
	TRY(tk_engine_launch(e, take_set(e)));
	TRY(tk_engine_synchronize(e));
	for (uint32_t i = 0; i < t->count; i++) {
		TRY(download(e, t, &t->kernels[i]));
		TRY(write_bytes(e, t->rings, t->kernels[i].ring_bytes));
		TRY(write_bytes(e, t->records, t->kernels[i].record_bytes));
	}
	return 0;
}

int tk_engine_trace_write(struct tk_engine *e)
{
	struct tk_trace_file_head head = {
	        .kernels = e->trace->count, .launches = e->options->trace->launches};
	memcpy(head.magic, TK_TRACE_FILE_MAGIC, sizeof head.magic);
	TRY(write_bytes(e, &head, sizeof head));
	for (uint32_t i = 0; i < e->trace->count; i++)
		TRY(write_kernel(e, &e->trace->kernels[i]));
	for (uint32_t i = 0; i < head.launches; i++)
		TRY(write_launch(e));
	return 0;
}

void tk_engine_trace_end(struct tk_engine *e)
{
	for (uint32_t i = 0; e->trace && i < e->trace->count; i++)
		release_memory(e, &e->trace->kernels[i]);
	if (e->trace) {
		free(e->trace->rings);
		free(e->trace->records);
	}
	free(e->trace);
	e->trace = NULL;
}
