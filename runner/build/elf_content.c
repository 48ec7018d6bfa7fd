/* Descriptions of data without a name, by its content. */
#include "build/elf_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

enum { CONTENT_MAX = 64, TEXT_MIN = 4, PADDING_MAX = 32 }; /* bytes */

static int compare_addresses(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* The end of unnamed data: the next address that is referred to or named, or the end of the
 * section. */
static uint64_t find_unnamed_end(
        const struct tk_elf *e, const uint64_t *starts, size_t count, uint64_t address)
{
	const struct tk_elf_section *s = tk_elf_find_section(e, address, 1);
	uint64_t end = s->address + s->size;
	if (end - address > CONTENT_MAX)
		end = address + CONTENT_MAX;
	size_t lo = 0, hi = count;
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		if (starts[mid] <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < count && starts[lo] < end)
		end = starts[lo];
	const size_t object = tk_elf_find_symbol_after(&e->objects, address);
	if (object < e->objects.count && e->objects.list[object].address < end)
		end = e->objects.list[object].address;
	return end;
}

/* Whether the place holds the address of its target: a pointer in data, or an instruction that
 * loads an address (lea). Code loads the value of a number, but takes the address of a text. */
static bool is_address_taken(const struct tk_elf *e, const struct tk_elf_reloc *f)
{
	const struct tk_elf_section *s = tk_elf_find_section(e, f->address, f->width);
	if (e->file->machine == EM_AARCH64)
		return f->type == R_AARCH64_ADD_ABS_LO12_NC || f->type == R_AARCH64_ABS64;
	if (e->file->machine != EM_X86_64)
		return false;
	if (f->type != R_X86_64_PC32 || f->address - s->address < 3)
		return f->type == R_X86_64_64;
	const unsigned char *at =
	        s->data + (f->address - s->address); /* REX.W 8d, rip + relocated offset */
	return (at[-3] & 0xf8) == 0x48 && at[-2] == 0x8d && (at[-1] & 0xc7) == 0x05;
}

/* Short bytes could be a number as well: they are a text where their address is taken and only
 * padding, or the tail that another text shares with them, follows. */
static bool is_text(
        const struct tk_elf_section *s, uint64_t address, uint64_t end, bool address_taken)
{
	const unsigned char *from = s->data + (address - s->address), *limit = s->data + s->size,
	                    *p = from;
	while (p < limit && ((*p >= ' ' && *p < 0x7f) || (*p >= '\t' && *p <= '\r') || *p >= 0x80))
		p++;
	if (p == from || p == limit || *p)
		return false;
	if (p - from >= TEXT_MIN)
		return true;
	const unsigned char *text_end = p, *next = s->data + (end - s->address);
	while (p < next && !*p)
		p++;
	return address_taken && p >= next && p - text_end <= PADDING_MAX;
}

/* All texts count as equal, because versions, paths and dates are texts. Constants are their bytes,
 * without relocated ones and without padding at the end. */
static char *describe_content(
        const struct tk_elf *e, uint64_t address, uint64_t end, bool address_taken)
{
	const struct tk_elf_section *s = tk_elf_find_section(e, address, 1);
	char hex[2 * CONTENT_MAX + 1] = "";
	size_t n = 0;
	if (is_text(s, address, end, address_taken))
		return tk_sprintf("%s:text", s->name);
	size_t next = tk_elf_find_reloc(e, address);
	for (uint64_t at = address; at < end; at++) {
		while (next < e->reloc_count &&
		        e->relocs[next].address + e->relocs[next].width <= at)
			next++;
		const bool filled_in = next < e->reloc_count && e->relocs[next].address <= at;
		n += (size_t)snprintf(hex + n, sizeof(hex) - n, filled_in ? ".." : "%02x",
		        s->data[at - s->address]);
	}
	while (n >= 2 && !memcmp(hex + n - 2, "00", 2))
		n -= 2;
	return tk_sprintf("%s:%.*s", s->name, (int)n, hex);
}

/* Unnamed data gets the same description wherever it is referred to. */
int tk_elf_describe_unnamed(struct tk_elf *e, struct tk_error *err)
{
	uint64_t *starts = tk_calloc(e->reloc_count + 1, sizeof(*starts));
	uint64_t *taken = tk_calloc(e->reloc_count + 1, sizeof(*taken));
	size_t count = 0, taken_count = 0;
	int status = TK_OK;
	for (size_t i = 0; !status && i < e->reloc_count; i++) {
		const struct tk_elf_reloc *f = &e->relocs[i];
		if (f->unnamed)
			starts[count++] = f->unnamed;
		if (f->unnamed && is_address_taken(e, f))
			taken[taken_count++] = f->unnamed;
	}
	if (!status) {
		qsort(starts, count, sizeof(*starts), compare_addresses);
		qsort(taken, taken_count, sizeof(*taken), compare_addresses);
	}
	for (size_t i = 0; !status && i < e->reloc_count; i++) {
		struct tk_elf_reloc *f = &e->relocs[i];
		if (f->target)
			continue;
		const bool address_taken =
		        bsearch(&f->unnamed, taken, taken_count, sizeof(*taken), compare_addresses);
		f->target = describe_content(e, f->unnamed,
		        find_unnamed_end(e, starts, count, f->unnamed), address_taken);
	}
	free(starts);
	free(taken);
	return status;
}
