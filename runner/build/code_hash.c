/* "Same code" told from "same commit": hashes of machine code without what the linker filled in. */
#include "base/error.h"
#include "base/hash.h"
#include "build/build.h"
#include "build/elf.h"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t first_fixup(const struct tk_elf *e, uint64_t address)
{
	size_t lo = 0, hi = e->fixup_count;
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		if (e->fixups[mid].address < address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Adds the bytes of [address, address + size), with every fixed-up place as its offset, type and target instead. */
static void add_code(
        struct tk_hash *h, const struct tk_elf *e, const struct tk_elf_text *t, uint64_t address, uint64_t size)
{
	const uint64_t end = address + size;
	uint64_t at = address;
	for (size_t i = first_fixup(e, address); i < e->fixup_count && e->fixups[i].address < end; i++) {
		const struct tk_elf_fixup *f = &e->fixups[i];
		if (f->address > at)
			tk_hash_add(h, t->data + (at - t->address), f->address - at);
		tk_hash_field_i64(h, (int64_t)(f->address - address));
		tk_hash_field_i64(h, f->type);
		tk_hash_field(h, f->target);
		if (f->address + f->width > at)
			at = f->address + f->width;
	}
	if (at < end)
		tk_hash_add(h, t->data + (at - t->address), end - at);
}

static int hash_object(const struct tk_elf *e, char hex[TK_HASH_HEX_SIZE], struct tk_error *err)
{
	struct tk_hash *h = tk_hash_new();
	if (!h)
		return tk_fail(err, TK_ENOMEM, "no memory");
	for (size_t i = 0; i < e->text_count; i++)
		add_code(h, e, &e->texts[i], e->texts[i].address, e->texts[i].size);
	tk_hash_finish(h, hex);
	return TK_OK;
}

static const struct tk_elf_text *text_of(const struct tk_elf *e, const struct tk_elf_function *f)
{
	for (size_t i = 0; i < e->text_count; i++) {
		if (f->address >= e->texts[i].address && f->address - e->texts[i].address < e->texts[i].size)
			return &e->texts[i];
	}
	return NULL;
}

/* ---- functions --------------------------------------------------------------------------------------------- */

/* Exported ones first, then by size. */
static int larger_first(const void *a, const void *b)
{
	const struct tk_elf_function *const *x = a, *const *y = b;
	if ((*x)->exported != (*y)->exported)
		return (*x)->exported ? -1 : 1;
	if ((*x)->size != (*y)->size)
		return (*x)->size > (*y)->size ? -1 : 1;
	const int order = strcmp((*x)->name, (*y)->name);
	return order ? order : (*x)->address < (*y)->address ? -1 : 1;
}

/* Long names (C++ templates) keep their beginning and get a hash; equal names of static functions are numbered. */
static void name_kernel(struct tk_kernel_symbol *list, size_t index, const char *name)
{
	struct tk_kernel_symbol *k = &list[index];
	char hex[TK_HASH_HEX_SIZE];
	const size_t len = strlen(name), room = sizeof(k->name) - 16;
	if (len < room) {
		snprintf(k->name, sizeof(k->name), "%s", name);
	} else {
		tk_hash_hex(name, len, hex);
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

static int hash_function(
        const struct tk_elf *e, const struct tk_elf_function *f, struct tk_kernel_symbol *k, struct tk_error *err)
{
	const struct tk_elf_text *t = text_of(e, f);
	struct tk_hash *h = t ? tk_hash_new() : NULL;
	if (!h)
		return tk_fail(err, TK_ENOMEM, "no memory");
	add_code(h, e, t, f->address, f->size);
	tk_hash_finish(h, k->code_hash);
	k->size_bytes = (int64_t)f->size;
	k->registers = k->spill_bytes = k->shared_bytes = -1;
	return TK_OK;
}

static int hash_functions(const struct tk_elf *e, const char *glob, struct tk_kernel_symbol **kernels, size_t *count,
        struct tk_error *err)
{
	const struct tk_elf_function **chosen = calloc(e->function_count + 1, sizeof(*chosen));
	struct tk_kernel_symbol *list = calloc(TK_CODE_KERNELS_MAX, sizeof(*list));
	size_t n = 0;
	int status = chosen && list ? TK_OK : tk_fail(err, TK_ENOMEM, "no memory");
	for (size_t i = 0; !status && i < e->function_count; i++) {
		if (!glob || !fnmatch(glob, e->functions[i].name, 0))
			chosen[n++] = &e->functions[i];
	}
	if (n)
		qsort(chosen, n, sizeof(*chosen), larger_first);
	if (n > TK_CODE_KERNELS_MAX)
		n = TK_CODE_KERNELS_MAX;
	for (size_t i = 0; !status && i < n; i++) {
		name_kernel(list, i, chosen[i]->name);
		status = hash_function(e, chosen[i], &list[i], err);
	}
	free(chosen);
	if (status) {
		free(list);
		return status;
	}
	*kernels = list;
	*count = n;
	return TK_OK;
}

int tk_code_hash(const char *so_path, const char *symbol_glob, char hex[TK_HASH_HEX_SIZE],
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
