/* Input sets: one seeded copy on the host, and on the device as many equal ones as make the
 * last-level cache cold.
 *
 * A set that is used again only after more than twice the cache has gone by is no longer in it. The
 * sets hold the same values at different addresses: values change the power that a chip draws, and
 * so its clock. */
#include "base/clock.h"
#include "base/error.h"
#include "measure/engine.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SETS_MAX 16384
#define COPIED_SETS_MAX 4096 /* where a graph may hold a turn through all of them */
#define LARGE_TENSOR ((uint64_t)1 << 20)
#define LARGE_ALIGNMENT ((uint64_t)2 << 20)
#define SMALL_ALIGNMENT 512
#define HUGE_PAGE ((size_t)2 << 20)
#define CACHES 2 /* how many last-level caches the sets must exceed together */
/* Where a set lies in physical memory moves a short kernel by a percent. A burst goes over many
 * places, so that its mean does not depend on the few that a process happened to get. */
#define PLACES 64
#define PLACES_BYTES ((uint64_t)2 << 30)
#define PLACES_SMALL \
	256 /* of sets smaller than a cache, whose kernels are short: more than one burst goes \
	       over */
#define PLACES_SMALL_BYTES ((uint64_t)8 << 30)
#define PLACES_SHARE 16 /* of the device's memory, at most */
#define KEPT_BYTES ((size_t)256 << 20)

static double gib(uint64_t bytes)
{
	return (double)bytes / (double)(1ull << 30);
}

static uint64_t set_bytes(const struct tk_engine *e)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < e->tensor_count; i++)
		bytes += e->host[i].bytes;
	return bytes;
}

static uint64_t places(const struct tk_engine *e, uint64_t bytes)
{
	bool small = tk_engine_is_paced(e) && bytes < e->info.cache_bytes;
	uint64_t room = e->info.memory_bytes / PLACES_SHARE,
	         wanted = small ? PLACES_SMALL_BYTES : PLACES_BYTES,
	         most = small ? PLACES_SMALL : PLACES,
	         fit = (room < wanted ? room : wanted) / (bytes ? bytes : 1);
	if (!tk_engine_has_bursts(e) || !e->ops->copy)
		return 0;
	return fit < most ? fit : most;
}

/* At least two sets, no more than half of the memory, and one set where two do not fit (it then
 * evicts itself, being larger than any cache). */
static uint32_t bounded(const struct tk_engine *e, uint64_t wanted, uint64_t bytes)
{
	uint64_t most = e->info.memory_bytes / 2 / (bytes ? bytes : 1);
	uint64_t bound = e->ops->copy ? COPIED_SETS_MAX : SETS_MAX;
	if (wanted < 2)
		wanted = 2;
	if (wanted > most)
		wanted = most;
	if (wanted > bound)
		wanted = bound;
	return wanted < 1 ? 1 : (uint32_t)wanted;
}

/* Cold: more than CACHES caches. */
static uint32_t count_sets(struct tk_engine *e, uint64_t bytes)
{
	uint64_t cold = CACHES * e->info.cache_bytes / (bytes ? bytes : 1) + 1,
	         more = places(e, bytes);
	e->cold_sets = 1;
	if (!tk_mode_rotates_inputs(e->options->mode))
		return 1;
	e->cold_sets = bounded(e, e->options->sets ? e->options->sets : cold, bytes);
	return e->options->sets || more < cold ? e->cold_sets : bounded(e, more, bytes);
}

/* Host memory stays with the process from job to job, and with it the inputs: value i of a tensor
 * does not depend on the problem's size, so only what is longer than before is filled again. For
 * each number of a tensor and type, of a bounded size, and only where the device has memory of its
 * own. */
struct host_memory {
	void *data;
	size_t bytes, filled; /* filled: with inputs of this seed and distribution */
	uint64_t seed;
	int dist;
};
#define TYPES 10 /* of enum tk_dtype, with 0 */
static struct host_memory kept[TK_T_MAX][TYPES];

static struct host_memory *kept_for(const struct tk_engine *e, uint32_t i)
{
	uint32_t type = e->host[i].dtype;
	return &kept[i][!e->host[i].output && type < TYPES ? type : 0];
}

/* Large tensors in large pages: touching them for the first time takes longer than their upload
 * otherwise. */
static void *allocate(size_t bytes)
{
	void *memory = NULL;
	if (bytes < HUGE_PAGE)
		return malloc(bytes);
	if (posix_memalign(&memory, HUGE_PAGE, (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE) !=
	        0)
		return NULL;
	madvise(memory, bytes, MADV_HUGEPAGE);
	return memory;
}

static void host_take(struct tk_engine *e, uint32_t i)
{
	struct host_memory *k = kept_for(e, i);
	struct tk_tensor *t = &e->host[i];
	bool alike = k->seed == e->options->seed && k->dist == (int)e->problem->dist;
	if (k->bytes >= t->bytes + 1 && t->bytes >= HUGE_PAGE) {
		t->data = k->data;
		e->host_bytes[i] = k->bytes;
		e->host_filled[i] = alike && !t->output ? k->filled : 0;
		*k = (struct host_memory){0};
	} else {
		t->data = allocate(t->bytes + 1);
		e->host_bytes[i] = t->bytes + 1;
	}
}

static void host_release(const struct tk_engine *e, uint32_t i)
{
	struct host_memory *k = kept_for(e, i);
	void *data = e->host[i].data;
	bool keep = e->ops->copy && e->host_bytes[i] > HUGE_PAGE &&
	            e->host_bytes[i] <= KEPT_BYTES + 1 && e->host_bytes[i] > k->bytes;
	free(keep ? k->data : data);
	if (keep)
		*k = (struct host_memory){data, e->host_bytes[i], e->host_filled[i],
		        e->options->seed, (int)e->problem->dist};
}

static int fill_host(struct tk_engine *e)
{
	int64_t start = tk_clock_monotonic_ns();
	for (uint32_t i = 0; i < e->tensor_count; i++) {
		struct tk_tensor *t = &e->host[i];
		host_take(e, i);
		if (!t->data)
			return tk_engine_end_job(e, TK_OUTCOME_OUT_OF_MEMORY,
			        "%.2f GiB of host memory for tensor %s cannot be had",
			        gib(t->bytes), t->name);
		if (t->output) {
			if (!e->ops->fill)
				memset(t->data, 0xff, t->bytes);
			continue;
		}
		if (tk_inputs_fill_from(
		            e->problem, i, e->options->seed, e->host_filled[i], t->data, e->err))
			return e->err ? e->err->status : TK_EINTERNAL;
		if (e->host_filled[i] < t->bytes)
			e->host_filled[i] = t->bytes;
	}
	e->out->inputs_s = (double)(tk_clock_monotonic_ns() - start) * 1e-9;
	return 0;
}

static int upload(struct tk_engine *e, uint32_t set, uint32_t i)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	const struct tk_tensor *t = &e->sets[set][i];
	return tk_engine_check_status(e,
	        e->ops->upload(e->device, t->data, e->host[i].data, t->bytes, &abi), "upload",
	        &abi);
}

static int make_set(struct tk_engine *e, uint32_t set)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	for (uint32_t i = 0; i < e->tensor_count; i++) {
		struct tk_tensor *t = &e->sets[set][i];
		void *data = NULL;
		*t = e->host[i];
		t->data = NULL;
		int status = tk_engine_check_status(
		        e, e->ops->alloc(e->device, t->bytes, &data, &abi), "allocation", &abi);
		if (status)
			return status;
		t->data = data;
		if ((status = upload(e, set, i)))
			return status;
	}
	return 0;
}

static int spoil(struct tk_engine *e, uint32_t set, uint32_t i)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	struct tk_tensor *t = &e->sets[set][i];
	if (e->ops->fill)
		return tk_engine_check_status(
		        e, e->ops->fill(e->device, t->data, 0xff, t->bytes, &abi), "fill", &abi);
	memset(e->host[i].data, 0xff, e->host[i].bytes);
	return upload(e, set, i);
}

/* Large tensors begin where an allocation of their own would, so that a set does not depend on how
 * many there are. */
static uint64_t aligned(uint64_t at, uint64_t bytes)
{
	uint64_t to = bytes >= LARGE_TENSOR ? LARGE_ALIGNMENT : SMALL_ALIGNMENT;
	return (at + to - 1) / to * to;
}

/* Bytes from one set to the next; fills offsets. */
static uint64_t layout(const struct tk_engine *e, uint64_t offsets[TK_T_MAX])
{
	uint64_t at = 0, largest = 0;
	for (uint32_t i = 0; i < e->tensor_count; i++) {
		offsets[i] = aligned(at, e->host[i].bytes);
		at = offsets[i] + e->host[i].bytes;
		largest = e->host[i].bytes > largest ? e->host[i].bytes : largest;
	}
	return aligned(at, largest);
}

/* One allocation, one upload; the other sets are copies that the device makes of the first, twice
 * as many with each step. */
static int make_arena(struct tk_engine *e, uint32_t wanted)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	uint64_t offsets[TK_T_MAX], stride = layout(e, offsets);
	int status = tk_engine_check_status(
	        e, e->ops->alloc(e->device, stride * wanted, &e->arena, &abi), "allocation", &abi);
	for (uint32_t s = 0; status == 0 && s < wanted; s++)
		for (uint32_t i = 0; i < e->tensor_count; i++) {
			e->sets[s][i] = e->host[i];
			e->sets[s][i].data = (char *)e->arena + s * stride + offsets[i];
		}
	for (uint32_t i = 0; status == 0 && i < e->tensor_count; i++)
		status = e->host[i].output ? spoil(e, 0, i) : upload(e, 0, i);
	for (uint64_t done = 1; status == 0 && done < wanted; done *= 2) {
		uint64_t more = wanted - done < done ? wanted - done : done;
		status = tk_engine_check_status(e,
		        e->ops->copy(e->device, (char *)e->arena + done * stride, e->arena,
		                more * stride, &abi),
		        "copy", &abi);
	}
	if (status == 0)
		e->set_count = wanted;
	return status;
}

void tk_engine_sample_memory(struct tk_engine *e)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	uint64_t now = 0;
	if (!e->ops->memory_used || e->ops->memory_used(e->device, &now, &abi) != TK_ABI_OK)
		return;
	if (e->memory_before == 0)
		e->memory_before = now + 1;
	else if (now + 1 > e->memory_before && now + 1 - e->memory_before > e->out->device_bytes)
		e->out->device_bytes = now + 1 - e->memory_before;
}

int tk_engine_make_sets(struct tk_engine *e)
{
	int status = tk_problem_list_tensors(e->problem, e->host, &e->tensor_count, e->err);
	if (status)
		return status;
	uint64_t bytes = set_bytes(e);
	if (e->info.memory_bytes && bytes > e->info.memory_bytes)
		return tk_engine_end_job(e, TK_OUTCOME_OUT_OF_MEMORY,
		        "the tensors take %.1f GiB, the device has %.1f GiB", gib(bytes),
		        gib(e->info.memory_bytes));
	tk_engine_sample_memory(e);
	if ((status = fill_host(e)) || (status = tk_engine_run_forward(e)))
		return status;
	uint32_t wanted = count_sets(e, bytes);
	e->sets = calloc(wanted, sizeof *e->sets);
	if (!e->sets)
		return tk_fail(e->err, TK_ENOMEM, "out of memory for %u input sets", wanted);
	if (e->ops->copy)
		status = make_arena(e, wanted);
	for (; status == 0 && e->set_count < wanted; e->set_count++)
		status = make_set(e, e->set_count);
	e->out->sets = e->turn = e->set_count;
	return status;
}

/* NaN in every output: what is not written shows. */
int tk_engine_poison_outputs(struct tk_engine *e, uint32_t set)
{
	int status = 0;
	for (uint32_t i = 0; status == 0 && i < e->tensor_count; i++)
		if (e->host[i].output)
			status = spoil(e, set, i);
	return status;
}

static int fetch_into(struct tk_engine *e, uint32_t set, uint32_t i, void *to)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	return tk_engine_check_status(e,
	        e->ops->download(e->device, to, e->sets[set][i].data, e->host[i].bytes, &abi),
	        "download", &abi);
}

static int finish(struct tk_engine *e, uint32_t set)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	int status = tk_engine_synchronize(e);
	if (status == 0 && e->backend->fetch)
		status = tk_engine_check_status(
		        e, e->backend->fetch(e->plan, set, &abi), "fetch", &abi);
	return status;
}

int tk_engine_fetch_outputs(struct tk_engine *e, uint32_t set)
{
	int status = finish(e, set);
	for (uint32_t i = 0; status == 0 && i < e->tensor_count; i++)
		if (e->host[i].output)
			status = fetch_into(e, set, i, e->host[i].data);
	return status;
}

/* Memory that is not there for this is no failure: the outputs are then worked out again. */
int tk_engine_save_outputs(struct tk_engine *e, uint32_t set)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	for (uint32_t i = 0; i < e->tensor_count; i++) {
		if (!e->host[i].output || !e->ops->same || !e->ops->copy)
			continue;
		if (!e->verified[i] && e->ops->alloc(e->device, e->host[i].bytes, &e->verified[i],
		                               &abi) != TK_ABI_OK)
			return 0;
		int status = e->ops->copy(
		        e->device, e->verified[i], e->sets[set][i].data, e->host[i].bytes, &abi);
		if (status != TK_ABI_OK)
			return tk_engine_check_status(e, status, "copy", &abi);
	}
	return 0;
}

int tk_engine_compare_outputs(struct tk_engine *e, uint32_t set, bool *same)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	int status = finish(e, set);
	*same = true;
	for (uint32_t i = 0; status == 0 && *same && i < e->tensor_count; i++) {
		uint32_t equal = 0;
		if (!e->host[i].output)
			continue;
		if (e->verified[i])
			status = tk_engine_check_status(e,
			        e->ops->same(e->device, e->sets[set][i].data, e->verified[i],
			                e->host[i].bytes, &equal, &abi),
			        "comparison", &abi);
		*same = equal != 0;
	}
	return status;
}

void tk_engine_free_sets(struct tk_engine *e)
{
	if (e->arena)
		e->ops->release(e->device, e->arena);
	for (uint32_t s = 0; !e->arena && e->sets && s < e->set_count; s++)
		for (uint32_t i = 0; i < e->tensor_count; i++)
			if (e->sets[s][i].data)
				e->ops->release(e->device, e->sets[s][i].data);
	free(e->sets);
	for (uint32_t i = 0; i < e->tensor_count; i++) {
		host_release(e, i);
		if (e->verified[i])
			e->ops->release(e->device, e->verified[i]);
	}
}
