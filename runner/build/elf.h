/* A shared object: its code, data, symbols, relocations and run path. Lists are sorted by the
 * address that their elements begin with. */
#ifndef TK_BUILD_ELF_H
#define TK_BUILD_ELF_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_error;

/* A relocated place in code or data. */
struct tk_elf_reloc {
	uint64_t address;
	uint32_t width;   /* bytes */
	uint32_t type;    /* R_X86_64_..., R_AARCH64_... */
	char *target;     /* what it refers to, independent of the layout: "memcpy",
	                   * "sgemm_kernel+16", ".rodata:text", ".rodata:0000803f" (content of an
	                   * unnamed constant) */
	uint64_t unnamed; /* address of the unnamed data that it refers to; 0: none */
};

/* A named function, or named data in the file. The name is valid until tk_elf_free(). */
struct tk_elf_symbol {
	uint64_t address, size;
	const char *name;
	bool exported;
};

struct tk_elf_section {
	uint64_t address;
	const unsigned char *data;
	size_t size;
	const char *name;
	enum tk_elf_kind { TK_ELF_CODE, TK_ELF_DATA, TK_ELF_DEVICE_CODE } kind;
};

struct tk_elf {
	struct tk_elf_section *sections; /* code, data in the file and GPU code, in file order */
	size_t section_count;
	struct tk_elf_symbols {
		struct tk_elf_symbol *list; /* without aliases */
		size_t count;
	} functions, objects;
	bool stripped;               /* only exported symbols have names */
	struct tk_elf_reloc *relocs; /* empty if the object keeps none */
	size_t reloc_count;
	const char *run_path; /* DT_RPATH or DT_RUNPATH; NULL: none */
	int fd;
	struct Elf *elf; /* of libelf */
	unsigned machine;
};

/* TK_EDATA: not a 64-bit shared object. Free with tk_elf_free, also after a failure. */
int tk_elf_open(const char *path, struct tk_elf *elf, struct tk_error *err);
void tk_elf_free(struct tk_elf *elf);

/* The section that holds all of [address, address + size); NULL: none. */
const struct tk_elf_section *tk_elf_find_section(
        const struct tk_elf *elf, uint64_t address, uint64_t size);
/* Index of the first relocation at or after `address`. */
size_t tk_elf_find_reloc(const struct tk_elf *elf, uint64_t address);
/* Length of `name` without a number that the compiler added: "CSWTCH" of "CSWTCH.12". */
size_t tk_elf_stem_length(const char *name);

#endif
