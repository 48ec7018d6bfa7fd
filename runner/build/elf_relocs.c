/* Places that the linker filled in, each with a target that does not depend on the layout. */
#include "build/elf_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"

static uint32_t width_x86_64(uint32_t type)
{
	switch (type) {
	case R_X86_64_NONE:
	case R_X86_64_TLSDESC_CALL:
		return 0;
	case R_X86_64_64:
	case R_X86_64_PC64:
	case R_X86_64_GOTOFF64:
	case R_X86_64_DTPOFF64:
	case R_X86_64_TPOFF64:
		return 8;
	case R_X86_64_16:
	case R_X86_64_PC16:
		return 2;
	case R_X86_64_8:
	case R_X86_64_PC8:
		return 1;
	default:
		return 4;
	}
}

/* On other machines the address is part of a 4-byte instruction, which counts as a whole. */
static uint32_t reloc_width(GElf_Half machine, uint32_t type)
{
	return machine == EM_X86_64 ? width_x86_64(type) : type ? 4 : 0;
}

/* The bytes from the place to the end of the instruction, which a PC-relative addend lacks (unless
 * an immediate follows). */
static uint64_t rest_of_instruction(GElf_Half machine, uint32_t type)
{
	return machine == EM_X86_64 && (type == R_X86_64_PC32 || type == R_X86_64_PLT32) ? 4 : 0;
}

size_t tk_elf_stem_length(const char *name)
{
	const char *dot = strrchr(name, '.');
	if (!dot || dot == name || !dot[1] || strspn(dot + 1, "0123456789") != strlen(dot + 1))
		return strlen(name);
	return (size_t)(dot - name);
}

static char *format_symbol_offset(const struct tk_elf_symbol *s, uint64_t address)
{
	char *text = NULL;
	return asprintf(&text, "%.*s+%llu", (int)tk_elf_stem_length(s->name), s->name,
	               (unsigned long long)(address - s->address)) < 0
	               ? NULL
	               : text;
}

/* Fills in `target`, or `unnamed` for data without a name. */
static void describe_target(const struct tk_elf *e, Elf_Data *symbols, const GElf_Shdr *sh,
        const GElf_Rela *rela, struct tk_elf_reloc *f)
{
	GElf_Sym sym;
	GElf_Shdr target;
	if (!gelf_getsym(symbols, (int)GELF_R_SYM(rela->r_info), &sym)) {
		f->target = tk_strdup("?");
		return;
	}
	const char *name = elf_strptr(e->file->elf, sh->sh_link, sym.st_name);
	if (GELF_ST_TYPE(sym.st_info) != STT_SECTION && name && *name && !has_prefix(name, ".L")) {
		f->target = tk_strndup(name, tk_elf_stem_length(name));
		return;
	}
	const uint64_t address = sym.st_value + (uint64_t)rela->r_addend +
	                         rest_of_instruction(e->file->machine, f->type);
	const struct tk_elf_symbol *s = tk_elf_find_symbol(&e->functions, address);
	if (!s)
		s = tk_elf_find_symbol(&e->objects, address);
	Elf_Scn *scn = sym.st_shndx < SHN_LORESERVE ? elf_getscn(e->file->elf, sym.st_shndx) : NULL;
	if (s)
		f->target = format_symbol_offset(s, address);
	else if (tk_elf_find_section(e, address, 1))
		f->unnamed = address;
	else
		f->target = tk_strdup(scn && gelf_getshdr(scn, &target)
		                              ? tk_elf_section_name(e->file->elf, &target)
		                              : "?");
}

static void read_reloc_section(struct tk_elf *e, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	Elf_Scn *symbol_scn = elf_getscn(e->file->elf, sh->sh_link);
	GElf_Shdr symbol_sh;
	Elf_Data *symbols = symbol_scn && gelf_getshdr(symbol_scn, &symbol_sh)
	                            ? elf_getdata(symbol_scn, NULL)
	                            : NULL;
	const size_t n = data && symbols && sh->sh_entsize ? data->d_size / sh->sh_entsize : 0;
	e->relocs = tk_realloc(e->relocs, (e->reloc_count + n + 1) * sizeof(*e->relocs));
	for (size_t i = 0; i < n; i++) {
		GElf_Rela rela;
		if (!gelf_getrela(data, (int)i, &rela))
			continue;
		const uint32_t type = (uint32_t)GELF_R_TYPE(rela.r_info),
		               width = reloc_width(e->file->machine, type);
		if (!width || !tk_elf_find_section(e, rela.r_offset, width))
			continue;
		struct tk_elf_reloc f = {.address = rela.r_offset, .width = width, .type = type};
		describe_target(e, symbols, &symbol_sh, &rela, &f);
		e->relocs[e->reloc_count++] = f;
	}
}

static int compare_relocs(const void *a, const void *b)
{
	const struct tk_elf_reloc *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->type < y->type ? -1 : x->type > y->type;
}

int tk_elf_read_relocs(struct tk_elf *e, struct tk_error *err)
{
	Elf *elf = e->file->elf;
	enum tk_elf_kind kind;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh, target;
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_RELA || !sh.sh_info)
			continue;
		Elf_Scn *of = elf_getscn(elf, sh.sh_info);
		if (of && gelf_getshdr(of, &target) && tk_elf_classify_section(elf, &target, &kind))
			read_reloc_section(e, scn, &sh);
	}
	if (e->reloc_count)
		qsort(e->relocs, e->reloc_count, sizeof(*e->relocs), compare_relocs);
	return TK_OK;
}

size_t tk_elf_find_reloc(const struct tk_elf *e, uint64_t address)
{
	size_t lo = 0, hi = e->reloc_count;
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		if (e->relocs[mid].address < address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
