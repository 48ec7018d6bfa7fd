/* Input sets: one seeded copy on the host, and on the device as many equal ones as make the last-level cache cold.
 *
 * A set that is used again only after more than twice the cache has gone by is no longer in it. The sets hold the same
 * values at different addresses: values change the power that a chip draws, and so its clock. */
#include "base/error.h"
#include "measure/engine.h"
#include <stdlib.h>
#include <string.h>

#define SETS_MAX 16384
#define CACHES 2 /* how many last-level caches the sets must exceed together */

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

/* Cold: more than CACHES caches and at least two sets; no more than half of the memory, and one set where two do not
 * fit (it then evicts itself, being larger than any cache). */
static uint32_t count_sets(const struct tk_engine *e, uint64_t bytes)
{
	uint64_t wanted = CACHES * e->info.cache_bytes / (bytes ? bytes : 1) + 1;
	uint64_t most = e->info.memory_bytes / 2 / (bytes ? bytes : 1);
	if (e->options->cache == TK_CACHE_HOT)
		return 1;
	if (wanted < 2)
		wanted = 2;
	if (wanted > most)
		wanted = most;
	if (wanted > SETS_MAX)
		wanted = SETS_MAX;
	return wanted < 1 ? 1 : (uint32_t)wanted;
}

static int fill_host(struct tk_engine *e)
{
	for (uint32_t i = 0; i < e->tensor_count; i++) {
		struct tk_tensor *t = &e->host[i];
		t->data = malloc(t->bytes + 1);
		if (!t->data)
			return tk_engine_end(e, TK_OUTCOME_OUT_OF_MEMORY,
			        "%.2f GiB of host memory for tensor %s cannot be had", gib(t->bytes), t->name);
		if (t->output)
			memset(t->data, 0xff, t->bytes);
		else if (tk_inputs_fill(e->problem, i, e->options->seed, t->data, e->err))
			return e->err ? e->err->status : TK_EINTERNAL;
	}
	return 0;
}

static int upload(struct tk_engine *e, uint32_t set, uint32_t i)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	const struct tk_tensor *t = &e->sets[set][i];
	return tk_engine_check(e, e->ops->upload(e->device, t->data, e->host[i].data, t->bytes, &abi), "upload", &abi);
}

static int make_set(struct tk_engine *e, uint32_t set)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	for (uint32_t i = 0; i < e->tensor_count; i++) {
		struct tk_tensor *t = &e->sets[set][i];
		void *data = NULL;
		*t = e->host[i];
		t->data = NULL;
		int status = tk_engine_check(e, e->ops->alloc(e->device, t->bytes, &data, &abi), "allocation", &abi);
		if (status)
			return status;
		t->data = data;
		if ((status = upload(e, set, i)))
			return status;
	}
	return 0;
}

int tk_engine_make_sets(struct tk_engine *e)
{
	int status = tk_problem_tensors(e->problem, e->host, &e->tensor_count, e->err);
	if (status)
		return status;
	uint64_t bytes = set_bytes(e);
	if (e->info.memory_bytes && bytes > e->info.memory_bytes)
		return tk_engine_end(e, TK_OUTCOME_OUT_OF_MEMORY, "the tensors take %.1f GiB, the device has %.1f GiB",
		        gib(bytes), gib(e->info.memory_bytes));
	if ((status = fill_host(e)) || (status = tk_engine_forward(e)))
		return status;
	uint32_t wanted = count_sets(e, bytes);
	e->sets = calloc(wanted, sizeof *e->sets);
	if (!e->sets)
		return tk_fail(e->err, TK_ENOMEM, "out of memory for %u input sets", wanted);
	for (e->set_count = 0; status == 0 && e->set_count < wanted; e->set_count++)
		status = make_set(e, e->set_count);
	e->out->sets = e->set_count;
	return status;
}

/* NaN in every output: what is not written shows. The host copies are spoiled as well, so that a failed fetch cannot
 * pass. */
int tk_engine_poison(struct tk_engine *e, uint32_t set)
{
	int status = 0;
	for (uint32_t i = 0; status == 0 && i < e->tensor_count; i++) {
		if (!e->host[i].output)
			continue;
		memset(e->host[i].data, 0xff, e->host[i].bytes);
		status = upload(e, set, i);
	}
	return status;
}

int tk_engine_fetch(struct tk_engine *e, uint32_t set)
{
	struct tk_abi_error abi = tk_engine_abi_error();
	int status = tk_engine_synchronize(e);
	if (status == 0 && e->backend->fetch)
		status = tk_engine_check(e, e->backend->fetch(e->plan, set, &abi), "fetch", &abi);
	for (uint32_t i = 0; status == 0 && i < e->tensor_count; i++)
		if (e->host[i].output)
			status = tk_engine_check(e,
			        e->ops->download(
			                e->device, e->host[i].data, e->sets[set][i].data, e->host[i].bytes, &abi),
			        "download", &abi);
	return status;
}

void tk_engine_free_sets(struct tk_engine *e)
{
	for (uint32_t s = 0; e->sets && s < e->set_count; s++)
		for (uint32_t i = 0; i < e->tensor_count; i++)
			if (e->sets[s][i].data)
				e->ops->release(e->device, e->sets[s][i].data);
	free(e->sets);
	for (uint32_t i = 0; i < e->tensor_count; i++)
		free(e->host[i].data);
}
