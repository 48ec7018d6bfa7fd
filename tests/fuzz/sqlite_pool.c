#include "sqlite_pool.h"
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef TK_FUZZ_LIBFUZZER

/* A free block is a link of the list of its size; sizes are powers of two with the header. */
union header {
	struct {
		unsigned exponent;
	} used;
	union header *next;
	char alignment[16];
};

#define EXPONENT_MIN 5
#define EXPONENT_MAX 31
#define CHUNK_BYTES ((size_t)1 << 20)

static union header *free_blocks[EXPONENT_MAX + 1];
static char *chunk;
static size_t chunk_left;

static unsigned exponent_of(int size)
{
	unsigned exponent = EXPONENT_MIN;

	while (((size_t)1 << exponent) < (size_t)size + sizeof(union header))
		exponent++;
	return exponent;
}

/* What is left of a chunk is lost: a 20th part at most. */
static union header *carve(size_t size)
{
	if (size > CHUNK_BYTES / 16)
		return malloc(size);
	if (chunk_left < size) {
		chunk = malloc(CHUNK_BYTES);
		chunk_left = chunk ? CHUNK_BYTES : 0;
	}
	if (!chunk_left)
		return NULL;
	chunk_left -= size;
	return (union header *)(void *)(chunk + chunk_left);
}

static void *pool_malloc(int size)
{
	unsigned exponent = exponent_of(size);
	union header *block = free_blocks[exponent];

	if (block)
		free_blocks[exponent] = block->next;
	else
		block = carve((size_t)1 << exponent);
	if (!block)
		return NULL;
	block->used.exponent = exponent;
	return block + 1;
}

static void pool_free(void *memory)
{
	union header *block = (union header *)memory - 1;
	unsigned exponent = block->used.exponent;

	block->next = free_blocks[exponent];
	free_blocks[exponent] = block;
}

static int pool_size(void *memory)
{
	return (int)(((size_t)1 << ((union header *)memory - 1)->used.exponent) -
	             sizeof(union header));
}

static void *pool_realloc(void *memory, int size)
{
	void *grown;

	if (size <= pool_size(memory))
		return memory;
	grown = pool_malloc(size);
	if (grown) {
		memcpy(grown, memory, (size_t)pool_size(memory));
		pool_free(memory);
	}
	return grown;
}

static int pool_round_up(int size)
{
	return (int)(((size_t)1 << exponent_of(size)) - sizeof(union header));
}

static int pool_init(void *unused)
{
	return SQLITE_OK;
}

static void pool_shut_down(void *unused)
{
}

void tk_fuzz_pool_sqlite(void)
{
	static const sqlite3_mem_methods methods = {pool_malloc, pool_free, pool_realloc, pool_size,
	        pool_round_up, pool_init, pool_shut_down, NULL};

	if (sqlite3_config(SQLITE_CONFIG_SINGLETHREAD) != SQLITE_OK ||
	        sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) != SQLITE_OK ||
	        sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) != SQLITE_OK)
		abort();
}

#else

void tk_fuzz_pool_sqlite(void)
{
}

#endif
