/* Hashes of machine code and its constants that do not depend on addresses: equal code has equal
 * hashes, whatever the commit. */
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "build/build_internal.h"
#include "build/device_code.h"
#include "build/elf.h"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds the bytes of [address, address + size); a relocated place counts as its offset, type and
 * target. */
static void add_bytes(struct tk_hash *h, const struct tk_elf *e, const struct tk_elf_section *s,
        uint64_t address, uint64_t size)
{
	const uint64_t end = address + size;
	uint64_t at = address;
	for (size_t i = tk_elf_find_reloc(e, address);
	        i < e->reloc_count && e->relocs[i].address < end; i++) {
		const struct tk_elf_reloc *f = &e->relocs[i];
		if (f->address > at)
			tk_hash_add(h, s->data + (at - s->address), f->address - at);
		tk_hash_add_i64(h, (int64_t)(f->address - address));
		tk_hash_add_i64(h, f->type);
		tk_hash_add_str(h, f->target);
		if (f->address + f->width > at)
			at = f->address + f->width;
	}
	if (at < end)
		tk_hash_add(h, s->data + (at - s->address), end - at);
}

static int hash_order(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int hash_bytes(const struct tk_elf *e, const char *name, uint64_t address, uint64_t size,
        char hex[TK_HASH_HEX_SIZE], struct tk_error *err)
{
	const struct tk_elf_section *s = tk_elf_find_section(e, address, size);
	struct tk_hash *h = s ? tk_hash_new() : NULL;
	if (name)
		tk_hash_add(h, name, tk_elf_stem_length(name));
	add_bytes(h, e, s, address, size);
	tk_hash_finish(h, hex);
	return TK_OK;
}

/* Constant tables and initialised variables, sorted: the linker chooses their order. */
static int add_objects(struct tk_hash *h, const struct tk_elf *e, struct tk_error *err)
{
	char(*each)[TK_HASH_HEX_SIZE] = tk_calloc(e->objects.count + 1, sizeof(*each));
	int status = TK_OK;
	for (size_t i = 0; !status && i < e->objects.count; i++) {
		const struct tk_elf_symbol *o = &e->objects.list[i];
		status = hash_bytes(e, o->name, o->address, o->size, each[i], err);
	}
	if (!status) {
		qsort(each, e->objects.count, sizeof(*each), hash_order);
		for (size_t i = 0; i < e->objects.count; i++)
			tk_hash_add_str(h, each[i]);
	}
	free(each);
	return status;
}

/* The code of a GPU without the names and notes around it, which hold paths. Where an image cannot
 * be read, every byte counts. */
static int add_device_code(struct tk_hash *h, const struct tk_elf *e,
        const struct tk_elf_section *s, struct tk_error *err)
{
	struct tk_device_code c;
	if (tk_device_code_read(s->name, s->data, s->size, &c, err))
		return TK_ENOMEM;
	if (!c.kernel_count || c.unreadable_count) {
		add_bytes(h, e, s, s->address, s->size);
	} else {
		for (size_t i = 0; i < c.kernel_count; i++)
			tk_hash_add(h, c.kernels[i].code, c.kernels[i].size);
		for (size_t i = 0; i < c.data_count; i++)
			tk_hash_add(h, c.data[i].bytes, c.data[i].size);
	}
	tk_device_code_free(&c);
	return TK_OK;
}

/* Everything that affects what the object does. Without symbol names all data is hashed, including
 * texts: a different hash for the same code is better than the same hash for different code. */
static int hash_object(const struct tk_elf *e, char hex[TK_HASH_HEX_SIZE], struct tk_error *err)
{
	struct tk_hash *h = tk_hash_new();
	int status = TK_OK;
	for (size_t i = 0; !status && i < e->section_count; i++) {
		const struct tk_elf_section *s = &e->sections[i];
		if (s->kind == TK_ELF_DEVICE_CODE)
			status = add_device_code(h, e, s, err);
		else if (s->kind != TK_ELF_DATA || e->stripped)
			add_bytes(h, e, s, s->address, s->size);
	}
	if (!status && !e->stripped)
		status = add_objects(h, e, err);
	tk_hash_finish(h, hex);
	return status;
}

/* ---- functions ---- */

/* Exported ones first, then by size. */
static int larger_first(const void *a, const void *b)
{
	const struct tk_elf_symbol *const *x = a, *const *y = b;
	if ((*x)->exported != (*y)->exported)
		return (*x)->exported ? -1 : 1;
	if ((*x)->size != (*y)->size)
		return (*x)->size > (*y)->size ? -1 : 1;
	const int order = strcmp((*x)->name, (*y)->name);
	return order ? order : (*x)->address < (*y)->address ? -1 : 1;
}

/* A long name (C++ templates) is cut and ends with a hash; equal names of static functions are
 * numbered. */
void tk_kernel_symbol_name(struct tk_kernel_symbol *list, size_t index, const char *name)
{
	struct tk_kernel_symbol *k = &list[index];
	char hex[TK_HASH_HEX_SIZE];
	const size_t len = strlen(name), room = sizeof(k->name) - 16;
	if (len < room) {
		snprintf(k->name, sizeof(k->name), "%s", name);
	} else {
		tk_hash_bytes(name, len, hex);
		snprintf(k->name, sizeof(k->name), "%.*s~%.8s", (int)(room - 16), name, hex);
	}
	const size_t base = strlen(k->name);
	for (unsigned copy = 2;; copy++) {
		size_t i = 0;
		while (i < index && strcmp(list[i].name, k->name))
			i++;
		if (i == index)
			return;
		snprintf(k->name + base, sizeof(k->name) - base, "#%u", copy);
	}
}

static int hash_function(const struct tk_elf *e, const struct tk_elf_symbol *f,
        struct tk_kernel_symbol *k, struct tk_error *err)
{
	if (hash_bytes(e, NULL, f->address, f->size, k->code_hash, err))
		return TK_ENOMEM;
	k->size_bytes = (int64_t)f->size;
	k->registers = k->spill_bytes = k->shared_bytes = k->threads = k->occupancy_percent = -1;
	return TK_OK;
}

void tk_kernel_symbol_describe(struct tk_kernel_symbol *out, const struct tk_device_kernel *k)
{
	tk_hash_bytes((const char *)k->code, k->size, out->code_hash);
	out->size_bytes = (int64_t)k->size;
	out->registers = k->registers;
	out->spill_bytes = k->stack_bytes;
	out->shared_bytes = k->shared_bytes;
	out->threads = k->threads;
	out->occupancy_percent = tk_device_kernel_occupancy(k);
}

/* GPU kernels come before the functions of the host, with their processor before the name:
 * "sm_90 NAME". */
static int hash_device_kernels(const struct tk_elf_section *s, const char *glob,
        struct tk_kernel_symbol *list, size_t *n, struct tk_error *err)
{
	struct tk_device_code c;
	int status = tk_device_code_read(s->name, s->data, s->size, &c, err);
	for (size_t i = 0; !status && i < c.kernel_count && *n < TK_CODE_KERNELS_MAX; i++) {
		const struct tk_device_kernel *k = &c.kernels[i];
		char *name = NULL;
		if (glob && fnmatch(glob, k->name, 0))
			continue;
		if (asprintf(&name, "%s %s", k->processor, k->name) < 0) {
			status = tk_fail(err, TK_ENOMEM, "out of memory");
			break;
		}
		tk_kernel_symbol_name(list, *n, name);
		free(name);
		tk_kernel_symbol_describe(&list[(*n)++], k);
	}
	tk_device_code_free(&c);
	return status;
}

static int hash_device(const struct tk_elf *e, const char *glob, struct tk_kernel_symbol *list,
        size_t *n, struct tk_error *err)
{
	int status = TK_OK;
	for (size_t i = 0; !status && i < e->section_count; i++)
		if (e->sections[i].kind == TK_ELF_DEVICE_CODE)
			status = hash_device_kernels(&e->sections[i], glob, list, n, err);
	return status;
}

static int hash_functions(const struct tk_elf *e, const char *glob,
        struct tk_kernel_symbol **kernels, size_t *count, struct tk_error *err)
{
	const struct tk_elf_symbol **chosen = tk_calloc(e->functions.count + 1, sizeof(*chosen));
	struct tk_kernel_symbol *list =
	        tk_calloc(TK_CODE_KERNELS_MAX + TK_CODE_FUNCTIONS_MAX, sizeof(*list));
	size_t n = 0, device = 0;
	int status = hash_device(e, glob, list, &device, err);
	for (size_t i = 0; !status && i < e->functions.count; i++) {
		if (!glob || !fnmatch(glob, e->functions.list[i].name, 0))
			chosen[n++] = &e->functions.list[i];
	}
	if (n)
		qsort(chosen, n, sizeof(*chosen), larger_first);
	if (n > TK_CODE_FUNCTIONS_MAX)
		n = TK_CODE_FUNCTIONS_MAX;
	for (size_t i = 0; !status && i < n; i++) {
		tk_kernel_symbol_name(list, device + i, chosen[i]->name);
		status = hash_function(e, chosen[i], &list[device + i], err);
	}
	free(chosen);
	if (status) {
		free(list);
		return status;
	}
	*kernels = list;
	*count = device + n;
	return TK_OK;
}

int tk_code_hash_object(const char *so_path, const char *symbol_glob, char hex[TK_HASH_HEX_SIZE],
        struct tk_kernel_symbol **kernels, size_t *count, struct tk_error *err)
{
	struct tk_elf e;
	int status = tk_elf_open(so_path, &e, err);
	if (!status)
		status = hash_object(&e, hex, err);
	if (!status && kernels)
		status = hash_functions(&e, symbol_glob, kernels, count, err);
	tk_elf_close(&e);
	return status;
}
