/* See module_pages.h. */
#include "worker/module_pages.h"
#include "base/memory.h"
#include "base/rng.h"
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#define MOVED_BYTES_MAX (256u << 20)
/* Pages that are written and dropped again, so that the kernel does not reuse the frames of the
 * previous process in the same order. As many as the range has, up to this limit. */
#define SPARE_PAGES_MAX 1024

struct page_mover {
	ElfW(Addr) first;
	bool reached; /* objects come in the order of loading: from the module on, they are its own
	               */
	size_t page_bytes, moved_bytes;
	struct tk_rng rng;
};

/* A page gets its frame at the first write: write them in random order, together with the spare
 * ones. */
static int touch_in_random_order(struct page_mover *p, uint8_t *at, size_t pages)
{
	uint32_t *order = tk_malloc(pages * sizeof *order);
	for (size_t i = 0; i < pages; i++)
		order[i] = (uint32_t)i;
	tk_rng_shuffle(&p->rng, order, pages, sizeof *order);
	for (size_t i = 0; i < pages; i++)
		*(volatile uint8_t *)(at + order[i] * p->page_bytes) = 1;
	free(order);
	return 0;
}

/* Copies whole pages. AddressSanitizer forbids to read between variables; volatile keeps the
 * compiler from making this a memcpy, which it would check. */
__attribute__((no_sanitize_address)) static void copy_pages(
        void *to, const void *from, size_t bytes)
{
	volatile uint64_t *out = to;
	const volatile uint64_t *in = from;
	for (size_t i = 0; i < bytes / sizeof *out; i++)
		out[i] = in[i];
}

/* mremap replaces the original at once: threads that run code there continue. */
static void move_range(struct page_mover *p, uint8_t *at, size_t bytes, int protection)
{
	size_t spare = SPARE_PAGES_MAX * p->page_bytes,
	       room = bytes + (bytes < spare ? bytes : spare);
	uint8_t *copy =
	        mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return;
	madvise(copy, room, MADV_NOHUGEPAGE); /* as the pages of a file */
	if (touch_in_random_order(p, copy, room / p->page_bytes) == 0) {
		copy_pages(copy, at, bytes);
		if (mprotect(copy, bytes, protection) == 0 &&
		        mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at) {
			__builtin___clear_cache((char *)at, (char *)at + bytes);
			p->moved_bytes += bytes;
			munmap(copy + bytes, room - bytes);
			return;
		}
	}
	munmap(copy, room);
}

/* Writable ranges are left: they become private with the first write, and another thread may be
 * writing. */
static int move_object(struct dl_phdr_info *object, size_t size, void *context)
{
	struct page_mover *p = context;
	(void)size;
	p->reached |= object->dlpi_addr == p->first;
	for (ElfW(Half) i = 0; p->reached && i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &object->dlpi_phdr[i];
		uintptr_t from = (object->dlpi_addr + h->p_vaddr) & ~(p->page_bytes - 1);
		uintptr_t to = (object->dlpi_addr + h->p_vaddr + h->p_filesz + p->page_bytes - 1) &
		               ~(p->page_bytes - 1);
		if (h->p_type != PT_LOAD || h->p_flags & PF_W || !(h->p_flags & PF_R) ||
		        from >= to || to - from > MOVED_BYTES_MAX - p->moved_bytes)
			continue;
		move_range(p, (uint8_t *)from, to - from,
		        PROT_READ | (h->p_flags & PF_X ? PROT_EXEC : 0));
	}
	return 0;
}

size_t tk_module_randomize_pages(void *module)
{
	struct link_map *map = module;
	struct page_mover p = {.first = map->l_addr, .page_bytes = (size_t)sysconf(_SC_PAGESIZE)};
	uint64_t seed = 0;
	if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
		return 0;
	tk_rng_seed(&p.rng, seed);
	dl_iterate_phdr(move_object, &p);
	return p.moved_bytes;
}
