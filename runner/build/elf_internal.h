/* What the files that read ELF share. Every number of an object is checked before it is used: it
 * may come from another machine. */
#ifndef TK_BUILD_ELF_INTERNAL_H
#define TK_BUILD_ELF_INTERNAL_H
#include "build/elf.h"
#include <gelf.h>
#include <libelf.h>
#include <string.h>

struct tk_elf_file {
	int fd;
	Elf *elf;
	GElf_Half machine;
};

static inline bool has_prefix(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* elf.c */
const char *tk_elf_section_name(Elf *elf, const GElf_Shdr *sh);
/* false: not one of the kinds (tables of the linker, notes, debug information) */
bool tk_elf_classify_section(Elf *elf, const GElf_Shdr *sh, enum tk_elf_kind *kind);

/* elf_symbols.c */
int tk_elf_read_symbols(struct tk_elf *e, struct tk_error *err);
/* Index of the first symbol that begins after `address`. */
size_t tk_elf_find_symbol_after(const struct tk_elf_symbols *s, uint64_t address);
/* The symbol that holds `address`; NULL: none. */
const struct tk_elf_symbol *tk_elf_find_symbol(const struct tk_elf_symbols *s, uint64_t address);

/* elf_relocs.c: leaves the targets of data without a name to elf_content.c. */
int tk_elf_read_relocs(struct tk_elf *e, struct tk_error *err);

/* elf_content.c */
int tk_elf_describe_unnamed(struct tk_elf *e, struct tk_error *err);

#endif
