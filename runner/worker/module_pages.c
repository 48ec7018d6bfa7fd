/* See placement.h. */
#include "worker/module_pages.h"
#include "base/rng.h"
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#define PLACEMENT_MOST_BYTES (256u << 20)
/* Frames are drawn from twice as many, or so many more: the allocator hands out first what the
 * process before gave back. In a large library the order alone does it. */
#define SPARE_PAGES_MOST 1024

struct placing {
	ElfW(Addr) first;
	bool reached; /* objects come in the order of loading: from the module on, they are its own
	               */
	size_t page, placed;
	struct tk_rng rng;
};

/* A page gets its frame when it is first written: in drawn order, the ones that are kept among
 * others. */
static int draw_frames(struct placing *p, uint8_t *at, size_t pages)
{
	uint32_t *order = malloc(pages * sizeof *order);
	if (!order)
		return -1;
	for (size_t i = 0; i < pages; i++)
		order[i] = (uint32_t)i;
	tk_rng_shuffle(&p->rng, order, pages, sizeof *order);
	for (size_t i = 0; i < pages; i++)
		*(volatile uint8_t *)(at + order[i] * p->page) = 1;
	free(order);
	return 0;
}

/* Whole pages: between the variables in them is what AddressSanitizer lets no memcpy read, and
 * volatile keeps this from becoming one. */
__attribute__((no_sanitize_address)) static void copy_pages(
        void *to, const void *from, size_t bytes)
{
	volatile uint64_t *out = to;
	const volatile uint64_t *in = from;
	for (size_t i = 0; i < bytes / sizeof *out; i++)
		out[i] = in[i];
}

/* mremap puts the copy in the place of the original at once: code that runs there, in this thread
 * or another, goes on.
 */
static void place(struct placing *p, uint8_t *at, size_t bytes, int protection)
{
	size_t spare = SPARE_PAGES_MOST * p->page, room = bytes + (bytes < spare ? bytes : spare);
	uint8_t *copy =
	        mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return;
	madvise(copy, room, MADV_NOHUGEPAGE); /* files have small pages as well */
	if (draw_frames(p, copy, room / p->page) == 0) {
		copy_pages(copy, at, bytes);
		if (mprotect(copy, bytes, protection) == 0 &&
		        mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at) {
			__builtin___clear_cache((char *)at, (char *)at + bytes);
			p->placed += bytes;
			munmap(copy + bytes, room - bytes);
			return;
		}
	}
	munmap(copy, room);
}

/* What is written to has pages of its own from the first write on, and may be written to right now.
 */
static int place_object(struct dl_phdr_info *object, size_t size, void *context)
{
	struct placing *p = context;
	(void)size;
	p->reached |= object->dlpi_addr == p->first;
	for (ElfW(Half) i = 0; p->reached && i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &object->dlpi_phdr[i];
		uintptr_t from = (object->dlpi_addr + h->p_vaddr) & ~(p->page - 1);
		uintptr_t to = (object->dlpi_addr + h->p_vaddr + h->p_filesz + p->page - 1) &
		               ~(p->page - 1);
		if (h->p_type != PT_LOAD || h->p_flags & PF_W || !(h->p_flags & PF_R) ||
		        from >= to || to - from > PLACEMENT_MOST_BYTES - p->placed)
			continue;
		place(p, (uint8_t *)from, to - from,
		        PROT_READ | (h->p_flags & PF_X ? PROT_EXEC : 0));
	}
	return 0;
}

size_t tk_module_randomize_pages(void *module)
{
	struct link_map *map = module;
	struct placing p = {.first = map->l_addr, .page = (size_t)sysconf(_SC_PAGESIZE)};
	uint64_t seed = 0;
	if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
		return 0;
	tk_rng_seed(&p.rng, seed);
	dl_iterate_phdr(place_object, &p);
	return p.placed;
}
