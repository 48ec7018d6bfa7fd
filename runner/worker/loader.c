/* See loader.h. */
#include "worker/loader.h"
#include "base/base.h"
#include "core/trace_file.h"
#include "core/vocabulary.h"
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_mseal
#define SYS_mseal 462 /* of every architecture */
#endif

/* ---- pages ---- */

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
static void touch_in_random_order(struct page_mover *p, uint8_t *at, size_t pages)
{
	uint32_t *order = tk_malloc(pages * sizeof *order);
	for (size_t i = 0; i < pages; i++)
		order[i] = (uint32_t)i;
	tk_rng_shuffle(&p->rng, order, pages, sizeof *order);
	for (size_t i = 0; i < pages; i++)
		*(volatile uint8_t *)(at + order[i] * p->page_bytes) = 1;
	free(order);
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
	touch_in_random_order(p, copy, room / p->page_bytes);
	copy_pages(copy, at, bytes);
	if (mprotect(copy, bytes, protection) == 0 &&
	        mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at) {
		__builtin___clear_cache((char *)at, (char *)at + bytes);
		p->moved_bytes += bytes;
		munmap(copy + bytes, room - bytes);
		return;
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

/* Moves code and constants of a loaded module, and of what was loaded with it, to private physical
 * pages in random order. Pages of a cached file are the same in every process: which of them share
 * a cache set or a TLB entry would be a property of the file, and two equal builds would differ in
 * every process. Virtual addresses do not change. Pages that cannot be moved, because the system
 * forbids it or because they exceed 256 MiB, are left where they are. */
static void randomize_pages(void *module)
{
	struct link_map *map = module;
	struct page_mover p = {.first = map->l_addr, .page_bytes = (size_t)sysconf(_SC_PAGESIZE)};
	uint64_t seed = 0;
	if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
		return;
	tk_rng_seed(&p.rng, seed);
	dl_iterate_phdr(move_object, &p);
}

/* ---- the contract ---- */

struct required {
	const char *name;
	size_t offset;
};

#define BACKEND(field) \
	{ \
#field, offsetof(struct tk_backend, field) \
	}
#define DEVICE(field) \
	{ \
#field, offsetof(struct tk_device_ops, field) \
	}

/* clang-format off */
static const struct required backend_required[] = {
	BACKEND(name), BACKEND(device_kind), BACKEND(description), BACKEND(version), BACKEND(open),
	BACKEND(close), BACKEND(supports),
	BACKEND(plan), BACKEND(bind), BACKEND(launch), BACKEND(unplan), {NULL, 0},
};
static const struct required device_required[] = {
	DEVICE(kind), DEVICE(count), DEVICE(open), DEVICE(close), DEVICE(info), DEVICE(alloc),
	DEVICE(release), DEVICE(upload),
	DEVICE(download), DEVICE(stream_new), DEVICE(stream_free), DEVICE(synchronize),
	DEVICE(event_new), DEVICE(event_free),
	DEVICE(event_record), DEVICE(event_elapsed_ns), DEVICE(telemetry), {NULL, 0},
};
/* clang-format on */

/* Both tables of the contract begin with these members. */
struct head {
	uint32_t size, abi_major, abi_minor;
};

static int open_module(const char *path, const char *entry, const char *what, void **module,
        const void **table, struct tk_error *err)
{
	*module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!*module)
		return tk_fail(err, TK_EIO, "cannot load %s: %s", path, dlerror());
	const void *(*function)(void);
	void *symbol = dlsym(*module, entry);
	if (!symbol)
		return tk_fail(
		        err, TK_EDATA, "%s is not a %s: it does not export %s", path, what, entry);
	memcpy(&function, &symbol, sizeof function);
	*table = function();
	return *table ? TK_OK : tk_fail(err, TK_EDATA, "%s: %s returned NULL", path, entry);
}

/* Checks size, version and every required function. The copy has `known` bytes. */
static int check_table(const char *path, const void *table, const struct required *required,
        void *copy, size_t known, struct tk_error *err)
{
	const struct head *head = table;
	if (head->size < sizeof *head)
		return tk_fail(err, TK_EDATA, "%s: its table has %u bytes, too few for a version",
		        path, head->size);
	if (head->abi_major != TK_ABI_MAJOR)
		return tk_fail(err, TK_EVERSION,
		        "%s was built for version %u of the contract, expected %d: rebuild it",
		        path, head->abi_major, TK_ABI_MAJOR);
	memset(copy, 0, known);
	memcpy(copy, table, head->size < known ? head->size : known);
	for (; required->name; required++) {
		void *value = NULL;
		if (required->offset + sizeof value > head->size)
			return tk_fail(err, TK_EDATA,
			        "%s: its table ends after %u bytes, before \"%s\"", path,
			        head->size, required->name);
		memcpy(&value, (const char *)table + required->offset, sizeof value);
		if (!value)
			return tk_fail(
			        err, TK_EDATA, "%s: \"%s\" is missing", path, required->name);
	}
	return TK_OK;
}

int tk_loader_load_backend(const char *path, struct tk_backend *out, struct tk_error *err)
{
	const void *table = NULL;
	void *module;
	TRY(open_module(path, "tk_backend_entry", "backend", &module, &table, err));
	TRY(check_table(path, table, backend_required, out, sizeof *out, err));
	if (!out->name[0] || out->name[strspn(out->name, "abcdefghijklmnopqrstuvwxyz0123456789_-")])
		return tk_fail(err, TK_EDATA,
		        "%s: invalid backend name \"%.64s\", expected a-z, 0-9, _ and -", path,
		        out->name);
	if (tk_device_kind_from_name(out->device_kind) == TK_DEVICE_CPU)
		randomize_pages(module);
	return TK_OK;
}

static int check_traced(const char *path, const struct tk_trace_kernel *k, struct tk_error *err)
{
	if (!k || k->size < sizeof *k || !k->record || !k->groups || !k->regions ||
	        !k->group_count || k->group_count > TK_TRACE_GROUPS_MAX || !k->region_count ||
	        k->region_count > TK_TRACE_REGIONS_MAX)
		return tk_fail(err, TK_EDATA,
		        "%s: expected 1 to %d groups and 1 to %d regions of a traced kernel", path,
		        TK_TRACE_GROUPS_MAX, TK_TRACE_REGIONS_MAX);
	return TK_OK;
}

int tk_loader_find_traced(const char *path, const struct tk_trace_kernel *const **out,
        uint32_t *count, struct tk_error *err)
{
	const struct tk_trace_kernel *const *(*entry)(uint32_t *);
	void *module = dlopen(path, RTLD_NOW | RTLD_NOLOAD), *symbol = NULL;
	*count = 0;
	if (module)
		symbol = dlsym(module, "tk_trace_entry");
	int status = TK_OK;
	if (symbol) {
		memcpy(&entry, &symbol, sizeof entry);
		*out = entry(count);
		if (*count > TK_TRACE_KERNELS_MAX || (*count && !*out))
			status =
			        tk_fail(err, TK_EDATA, "%s: %u traced kernels, expected at most %d",
			                path, *count, TK_TRACE_KERNELS_MAX);
		for (uint32_t i = 0; !status && i < *count; i++)
			status = check_traced(path, (*out)[i], err);
	}
	if (module)
		dlclose(module);
	return status;
}

void tk_loader_randomize_pages(const char *path)
{
	void *module = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	if (!module)
		return;
	randomize_pages(module);
	dlclose(module);
}

/* ---- what a backend must not change ---- */

/* Code, constants and tables of functions, which the dynamic linker has made read-only by now. */
static int seal_object(struct dl_phdr_info *object, size_t size, void *context)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	(void)size;
	(void)context;
	for (ElfW(Half) i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &object->dlpi_phdr[i];
		uintptr_t from = (object->dlpi_addr + h->p_vaddr) & ~(page - 1),
		          to = object->dlpi_addr + h->p_vaddr + h->p_memsz;
		/* the last page of what was made read-only may hold variables behind it */
		to = h->p_type == PT_GNU_RELRO ? to & ~(page - 1) : (to + page - 1) & ~(page - 1);
		if ((h->p_type == PT_LOAD && !(h->p_flags & PF_W)) || h->p_type == PT_GNU_RELRO)
			if (to > from)
				syscall(SYS_mseal, from, to - from, 0);
	}
	return 0;
}

/* A page of its own, read-only. The system may be too old to seal it (Linux 6.10). */
static int seal_table(
        const struct tk_device_ops *table, const struct tk_device_ops **out, struct tk_error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return tk_fail_errno(err, "the table of the device layer");
	memcpy(memory, table, sizeof *table);
	mprotect(memory, page, PROT_READ);
	syscall(SYS_mseal, memory, page, 0);
	*out = memory;
	return TK_OK;
}

int tk_loader_load_device(const char *path, const struct tk_device_ops **out, struct tk_error *err)
{
	struct tk_device_ops known;
	const void *table = NULL;
	void *module;
	TRY(open_module(path, "tk_device_entry", "device layer", &module, &table, err));
	TRY(check_table(path, table, device_required, &known, sizeof known, err));
	dl_iterate_phdr(seal_object, NULL);
	return seal_table(&known, out, err);
}
