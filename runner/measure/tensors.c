/* The tensors of a problem: on the host, and input sets of them on the device. */
#include "base/base.h"
#include "measure/engine.h"
#include <math.h>
#include <sys/mman.h>

/* ---- on the host ---- */

/* Host copies of a problem's tensors. The process keeps their memory and the inputs in it from job
 * to job: value i of a tensor does not depend on the problem's size, so a later job fills only the
 * elements beyond the earlier length. One block is kept for each tensor number and type, up to
 * KEPT_BYTES, and only where the device has memory of its own. */

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

static void fill_unwritten(
        const struct tk_engine *e, const struct tk_tensor *t, uint64_t at, void *out, size_t len)
{
	uint64_t element = tk_dtype_bytes(t->dtype), row = (uint64_t)t->dim[t->ndim - 1] * element,
	         used = row - (uint64_t)e->problem->abi.row_padding * element;
	unsigned char *bytes = out;
	memset(bytes, 0xff, len);
	for (size_t i = 0; e->problem->abi.row_padding && i < len; i++)
		if ((at + i) % row >= used)
			bytes[i] = 0;
}

static int fill_tensor(struct tk_engine *e, uint32_t tensor)
{
	struct tk_tensor *t = &e->host[tensor];
	if (t->output) {
		if (!e->ops->fill)
			fill_unwritten(e, t, 0, t->data, t->bytes);
		return 0;
	}
	TRY(tk_inputs_fill_from(
	        e->problem, tensor, e->options->seed, e->host_filled[tensor], t->data, e->err));
	if (e->host_filled[tensor] < t->bytes)
		e->host_filled[tensor] = t->bytes;
	return 0;
}

static int fill_host(struct tk_engine *e)
{
	int64_t start = tk_clock_monotonic_ns();
	for (uint32_t i = 0; i < e->tensor_count; i++) {
		acquire(e, i);
		if (!e->host[i].data)
			return tk_engine_end_job(e, TK_OUTCOME_OUT_OF_MEMORY,
			        "cannot allocate %.2f GiB of host memory for tensor %s",
			        (double)e->host[i].bytes / 0x1p30, e->host[i].name);
		TRY(fill_tensor(e, i));
	}
	e->out->inputs_s = (double)(tk_clock_monotonic_ns() - start) * 1e-9;
	return 0;
}

/* ---- on the device ---- */

/* Input sets on the device: as many equal ones as make the last-level cache cold.
 *
 * A set that is used again only after more than twice the cache has been touched is no longer
 * cached. The sets hold the same values at different addresses, because values change a chip's
 * power and so its clock. */

#define SETS_MAX 16384
#define COPIED_SETS_MAX 4096 /* a graph must hold a launch on each of them */
#define LARGE_TENSOR ((uint64_t)1 << 20)
#define LARGE_ALIGNMENT ((uint64_t)2 << 20)
#define SMALL_ALIGNMENT 512
#define CACHE_MULTIPLE 2 /* last-level caches that the sets must exceed together */
/* The physical address of a set changes the time of a short kernel by 1 %. A burst covers many
 * locations, so that its mean does not depend on the few that a process happened to get. */
#define LOCATIONS 64
#define LOCATIONS_BYTES ((uint64_t)2 << 30)
/* Sets smaller than a cache have short kernels; more locations than one burst covers. */
#define SMALL_SET_LOCATIONS 256
#define SMALL_SET_LOCATIONS_BYTES ((uint64_t)8 << 30)
#define LOCATIONS_MEMORY_SHARE 16 /* at most 1/16 of the device's memory */

static double gib(uint64_t bytes)
{
	return (double)bytes / 0x1p30;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t count_set_bytes(const struct tk_engine *e)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < e->tensor_count; i++)
		bytes += e->host[i].bytes;
	return bytes ? bytes : 1;
}

/* Sets for as many locations as a burst should cover; 0 if there are no bursts. */
static uint64_t count_locations(const struct tk_engine *e, uint64_t set_bytes)
{
	if (!tk_engine_has_bursts(e) || !e->ops->copy)
		return 0;
	bool is_small = tk_engine_is_paced(e) && set_bytes < e->info.cache_bytes;
	uint64_t bytes = min_u64(e->info.memory_bytes / LOCATIONS_MEMORY_SHARE,
	        is_small ? SMALL_SET_LOCATIONS_BYTES : LOCATIONS_BYTES);
	return min_u64(bytes / set_bytes, is_small ? SMALL_SET_LOCATIONS : LOCATIONS);
}

/* At least two sets, at most half of the memory. One set where two do not fit: it is larger than
 * any cache and evicts itself. */
static uint32_t clamp_set_count(const struct tk_engine *e, uint64_t wanted, uint64_t set_bytes)
{
	uint64_t limit = e->ops->copy ? COPIED_SETS_MAX : SETS_MAX;
	uint64_t count = wanted < 2 ? 2 : wanted;
	count = min_u64(count, min_u64(limit, e->info.memory_bytes / 2 / set_bytes));
	return count < 1 ? 1 : (uint32_t)count;
}

static uint32_t count_sets(struct tk_engine *e, uint64_t set_bytes)
{
	uint64_t cold = CACHE_MULTIPLE * e->info.cache_bytes / set_bytes + 1;
	uint64_t locations = count_locations(e, set_bytes);
	e->cold_set_count = 1;
	if (!tk_mode_rotates_inputs(e->options->mode))
		return 1;
	e->cold_set_count =
	        clamp_set_count(e, e->options->sets ? e->options->sets : cold, set_bytes);
	if (e->options->sets || locations < cold)
		return e->cold_set_count;
	return clamp_set_count(e, locations, set_bytes);
}

static int upload(struct tk_engine *e, uint32_t set, uint32_t tensor)
{
	const struct tk_tensor *t = &e->sets[set][tensor];
	int status = e->ops->upload(e->device, t->data, e->host[tensor].data, t->bytes, &e->abi);
	return tk_engine_check_status(e, status, "upload");
}

/* Piece by piece where the device cannot fill: the host's copy may hold verified outputs. */
static int upload_unwritten(struct tk_engine *e, const struct tk_tensor *t)
{
	unsigned char piece[16384];
	int status = TK_ABI_OK;
	for (size_t at = 0; status == TK_ABI_OK && at < t->bytes; at += sizeof piece) {
		size_t len = min_u64(t->bytes - at, sizeof piece);
		fill_unwritten(e, t, at, piece, len);
		status = e->ops->upload(e->device, (char *)t->data + at, piece, len, &e->abi);
	}
	return status;
}

static int poison(struct tk_engine *e, uint32_t set, uint32_t tensor)
{
	struct tk_tensor *t = &e->sets[set][tensor];
	int status = e->ops->fill && !e->problem->abi.row_padding
	                     ? e->ops->fill(e->device, t->data, 0xff, t->bytes, &e->abi)
	                     : upload_unwritten(e, t);
	return tk_engine_check_status(e, status, "fill");
}

int tk_engine_poison_outputs(struct tk_engine *e, uint32_t set)
{
	for (uint32_t i = 0; i < e->tensor_count; i++)
		if (e->host[i].output)
			TRY(poison(e, set, i));
	return 0;
}

static int alloc_device(struct tk_engine *e, size_t bytes, void **out)
{
	void *data = NULL;
	TRY(tk_engine_check_status(
	        e, e->ops->alloc(e->device, bytes, &data, &e->abi), "allocation"));
	*out = data;
	return 0;
}

/* One allocation and one upload for each tensor. */
static int make_set(struct tk_engine *e, uint32_t set)
{
	for (uint32_t i = 0; i < e->tensor_count; i++) {
		struct tk_tensor *t = &e->sets[set][i];
		*t = e->host[i];
		t->data = NULL;
		TRY(alloc_device(e, t->bytes + e->problem->abi.offset_bytes, &t->data));
		t->data = (char *)t->data + e->problem->abi.offset_bytes;
		TRY(upload(e, set, i));
	}
	return 0;
}

/* Large tensors are aligned like separate allocations, so that a set does not depend on the number
 * of sets. */
static uint64_t align(uint64_t offset, uint64_t bytes)
{
	uint64_t alignment = bytes >= LARGE_TENSOR ? LARGE_ALIGNMENT : SMALL_ALIGNMENT;
	return (offset + alignment - 1) / alignment * alignment;
}

/* Fills the tensors' offsets in a set; returns the bytes from one set to the next. */
static uint64_t lay_out_set(const struct tk_engine *e, uint64_t offsets[TK_T_MAX])
{
	uint64_t end = 0, largest = 0;
	for (uint32_t i = 0; i < e->tensor_count; i++) {
		uint64_t bytes = e->host[i].bytes;
		offsets[i] = align(end, bytes) + e->problem->abi.offset_bytes;
		end = offsets[i] + bytes;
		largest = bytes > largest ? bytes : largest;
	}
	return align(end, largest);
}

/* The device copies the first set to all others, twice as many with each step. */
static int copy_first_set(struct tk_engine *e, uint32_t wanted, uint64_t stride)
{
	for (uint64_t done = 1; done < wanted; done *= 2) {
		uint64_t more = min_u64(done, wanted - done);
		char *to = (char *)e->arena + done * stride;
		TRY(tk_engine_check_status(
		        e, e->ops->copy(e->device, to, e->arena, more * stride, &e->abi), "copy"));
	}
	return 0;
}

/* All sets in one allocation; only the first one is uploaded. */
static int make_arena(struct tk_engine *e, uint32_t wanted)
{
	uint64_t offsets[TK_T_MAX], stride = lay_out_set(e, offsets);
	TRY(alloc_device(e, stride * wanted, &e->arena));
	for (uint32_t s = 0; s < wanted; s++)
		for (uint32_t i = 0; i < e->tensor_count; i++) {
			e->sets[s][i] = e->host[i];
			e->sets[s][i].data = (char *)e->arena + s * stride + offsets[i];
		}
	for (uint32_t i = 0; i < e->tensor_count; i++)
		TRY(e->host[i].output ? poison(e, 0, i) : upload(e, 0, i));
	TRY(copy_first_set(e, wanted, stride));
	e->set_count = wanted;
	return 0;
}

void tk_engine_sample_memory(struct tk_engine *e)
{
	uint64_t now = 0;
	if (!e->ops->memory_used || e->ops->memory_used(e->device, &now, &e->abi) != TK_ABI_OK)
		e->abi.message[0] = 0;
	else if (e->memory_before == 0)
		e->memory_before = now + 1;
	else if (now + 1 > e->memory_before && now + 1 - e->memory_before > e->out->device_bytes)
		e->out->device_bytes = now + 1 - e->memory_before;
}

/* ---- the forward pass of a backward one ---- */

/* The inputs of a backward pass that follow from others: O and the log-sum-exp belong to Q, K and V
 * and cannot be random. As in training, the backend's own forward pass computes them, once and
 * untimed. It is verified like any other before its results are used. */

struct forward {
	struct tk_engine *e;
	struct tk_problem_spec problem;
	struct tk_tensor device[TK_T_MAX];
	uint32_t count;
	struct tk_plan *plan;
};

static int make_problem(struct forward *f)
{
	char text[TK_PROBLEM_TEXT_MAX];
	memcpy(text, f->e->problem->text, sizeof text);
	char *dir = strstr(text, "dir=bwd");
	if (!dir)
		return tk_fail(f->e->err, TK_EINTERNAL, "%s is not a backward pass", text);
	memcpy(dir, "dir=fwd", strlen("dir=fwd"));
	TRY(tk_problem_parse(&f->problem, text, f->e->err));
	return tk_problem_list_tensors(&f->problem, f->device, &f->count, f->e->err);
}

/* Q, K and V with their values; O and LSE poisoned with NaN. */
static int upload_forward(struct forward *f)
{
	struct tk_engine *e = f->e;
	for (uint32_t i = 0; i < f->count; i++) {
		struct tk_tensor *t = &f->device[i];
		if (t->output)
			memset(e->host[i].data, 0xff, t->bytes);
		TRY(tk_engine_check_status(
		        e, e->ops->alloc(e->device, t->bytes, &t->data, &e->abi), "allocation"));
		TRY(tk_engine_check_status(e,
		        e->ops->upload(e->device, t->data, e->host[i].data, t->bytes, &e->abi),
		        "upload"));
	}
	return 0;
}

static int launch_forward(struct forward *f)
{
	struct tk_engine *e = f->e;
	const struct tk_backend *b = e->backend;
	struct tk_plan_info info = {.size = sizeof info};
	TRY(tk_engine_check_status(e,
	        b->plan(e->ctx, &f->problem.abi, NULL, 1, &f->plan, &info, &e->abi),
	        "forward plan"));
	TRY(tk_engine_check_status(
	        e, b->bind(f->plan, 0, f->device, f->count, &e->abi), "forward bind"));
	TRY(tk_engine_check_status(e, b->launch(f->plan, NULL, 0, &e->abi), "forward launch"));
	TRY(tk_engine_check_status(
	        e, e->ops->synchronize(e->device, NULL, &e->abi), "forward pass"));
	if (b->fetch)
		TRY(tk_engine_check_status(e, b->fetch(f->plan, 0, &e->abi), "forward fetch"));
	/* the seeded values are overwritten */
	e->host_filled[TK_T_O] = e->host_filled[TK_T_LSE] = 0;
	for (uint32_t i = TK_T_O; i <= TK_T_LSE; i++)
		TRY(tk_engine_check_status(e,
		        e->ops->download(e->device, e->host[i].data, f->device[i].data,
		                f->device[i].bytes, &e->abi),
		        "download"));
	return 0;
}

static int verify_forward(struct forward *f)
{
	struct tk_engine *e = f->e;
	struct tk_tensor host[TK_T_MAX];
	struct tk_verify_result verdict;
	if (isnan(tk_element_get(&e->host[TK_T_LSE], 0)))
		return tk_engine_end_job(e, TK_OUTCOME_UNSUPPORTED,
		        "the backward pass needs the log-sum-exp, which the forward pass does not "
		        "write");
	memcpy(host, f->device, sizeof host);
	for (uint32_t i = 0; i < f->count; i++)
		host[i].data = e->host[i].data;
	TRY(tk_verify_outputs(&f->problem, host, e->options->seed, &verdict, e->err));
	if (!verdict.passed)
		return tk_engine_end_job(
		        e, TK_OUTCOME_WRONG, "the forward pass is wrong: %s", verdict.detail);
	return 0;
}

static void free_forward(struct forward *f)
{
	if (f->plan)
		f->e->backend->unplan(f->plan);
	for (uint32_t i = 0; i < f->count; i++)
		if (f->device[i].data)
			f->e->ops->release(f->e->device, f->device[i].data);
}

static int run_forward(struct tk_engine *e)
{
	struct forward f = {.e = e};
	if (e->problem->abi.op != TK_OP_ATTENTION || e->problem->attention.dir == TK_FWD)
		return 0;
	int status = make_problem(&f);
	if (!status && e->backend->supports(e->ctx, &f.problem.abi, &e->abi) != TK_ABI_OK)
		status = tk_engine_end_job(e, TK_OUTCOME_UNSUPPORTED,
		        "the backward pass needs the forward pass, which is unsupported: %s",
		        e->abi.message);
	if (!status)
		status = upload_forward(&f);
	if (!status)
		status = launch_forward(&f);
	if (!status && e->options->verify)
		status = verify_forward(&f);
	free_forward(&f);
	return status;
}

int tk_engine_make_sets(struct tk_engine *e)
{
	TRY(tk_problem_list_tensors(e->problem, e->host, &e->tensor_count, e->err));
	uint64_t set_bytes = count_set_bytes(e);
	if (e->info.memory_bytes && set_bytes > e->info.memory_bytes)
		return tk_engine_end_job(e, TK_OUTCOME_OUT_OF_MEMORY,
		        "the tensors take %.1f GiB, the device has %.1f GiB", gib(set_bytes),
		        gib(e->info.memory_bytes));
	tk_engine_sample_memory(e);
	TRY(fill_host(e));
	TRY(run_forward(e));
	int status = 0;
	uint32_t wanted = count_sets(e, set_bytes);
	e->sets = tk_calloc(wanted, sizeof *e->sets);
	if (e->ops->copy)
		status = make_arena(e, wanted);
	while (!status && e->set_count < wanted)
		status = make_set(e, e->set_count++);
	e->out->sets = e->active_set_count = e->set_count;
	return status;
}

static int download_outputs(struct tk_engine *e, uint32_t set, uint32_t tensor, void *to)
{
	const struct tk_tensor *t = &e->sets[set][tensor];
	return tk_engine_check_status(
	        e, e->ops->download(e->device, to, t->data, t->bytes, &e->abi), "download");
}

int tk_engine_finish_outputs(struct tk_engine *e, uint32_t set)
{
	TRY(tk_engine_synchronize(e));
	if (e->backend->fetch)
		TRY(tk_engine_check_status(e, e->backend->fetch(e->plan, set, &e->abi), "fetch"));
	return 0;
}

int tk_engine_fetch_outputs(struct tk_engine *e, uint32_t set)
{
	TRY(tk_engine_finish_outputs(e, set));
	for (uint32_t i = 0; i < e->tensor_count; i++)
		if (e->host[i].output)
			TRY(download_outputs(e, set, i, e->host[i].data));
	return 0;
}

/* Too little memory for the copies is no failure: later outputs are then verified in full. */
int tk_engine_save_outputs(struct tk_engine *e, uint32_t set)
{
	for (uint32_t i = 0; i < e->tensor_count; i++) {
		size_t bytes = e->host[i].bytes;
		if (!e->host[i].output || !e->ops->same || !e->ops->copy)
			continue;
		if (!e->verified[i] &&
		        e->ops->alloc(e->device, bytes, &e->verified[i], &e->abi) != TK_ABI_OK) {
			e->abi.message[0] = 0;
			return 0;
		}
		TRY(tk_engine_check_status(e,
		        e->ops->copy(
		                e->device, e->verified[i], e->sets[set][i].data, bytes, &e->abi),
		        "copy"));
	}
	return 0;
}

/* On the host: also a device that cannot compare. */
static int compare_on_host(struct tk_engine *e, uint32_t set, uint32_t tensor, bool *same)
{
	size_t bytes = e->host[tensor].bytes;
	void *got = tk_malloc(bytes + 1);
	int status = download_outputs(e, set, tensor, got);
	*same = !status && memcmp(got, e->host[tensor].data, bytes) == 0;
	free(got);
	return status;
}

static int compare_on_device(struct tk_engine *e, uint32_t set, uint32_t tensor, bool *same)
{
	const struct tk_tensor *t = &e->sets[set][tensor];
	uint32_t equal = 0;
	int status =
	        e->ops->same(e->device, t->data, e->verified[tensor], t->bytes, &equal, &e->abi);
	*same = equal != 0;
	return tk_engine_check_status(e, status, "comparison");
}

int tk_engine_compare_outputs(struct tk_engine *e, uint32_t set, bool *same)
{
	TRY(tk_engine_finish_outputs(e, set));
	*same = true;
	for (uint32_t i = 0; *same && i < e->tensor_count; i++)
		if (e->host[i].output)
			TRY(e->verified[i] ? compare_on_device(e, set, i, same)
			                   : compare_on_host(e, set, i, same));
	return 0;
}

void tk_engine_free_sets(struct tk_engine *e)
{
	if (e->arena)
		e->ops->release(e->device, e->arena);
	for (uint32_t s = 0; !e->arena && e->sets && s < e->set_count; s++)
		for (uint32_t i = 0; i < e->tensor_count; i++)
			if (e->sets[s][i].data)
				e->ops->release(e->device,
				        (char *)e->sets[s][i].data - e->problem->abi.offset_bytes);
	free(e->sets);
	for (uint32_t i = 0; i < e->tensor_count; i++) {
		if (e->verified[i])
			e->ops->release(e->device, e->verified[i]);
		release(e, i);
	}
}
