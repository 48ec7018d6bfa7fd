/* What the tracker wants to know of a shared object; the one door to libelf. Internal to
 * runner/build/. */
#ifndef TK_BUILD_ELF_H
#define TK_BUILD_ELF_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_error;

/* A place in code or data that the linker filled in. */
struct tk_elf_reloc {
	uint64_t address;
	uint32_t width;   /* bytes */
	uint32_t type;    /* R_X86_64_..., R_AARCH64_... */
	char *target;     /* what it refers to, in words that do not depend on the layout: "memcpy",
	                     "sgemm_kernel+16",
	                     ".rodata:text", ".rodata:0000803f" (the content of a constant without a
	                     name) */
	uint64_t unnamed; /* address of data without a name that it refers to; 0: none */
};

/* A function, or constant or initialised data with a name. */
struct tk_elf_symbol {
	const char *name; /* lives as long as the object */
	uint64_t address, size;
	bool exported;
};

struct tk_elf_section {
	uint64_t address;
	const unsigned char *data;
	size_t size;
	const char *name;
	enum tk_elf_kind { TK_ELF_CODE, TK_ELF_DATA, TK_ELF_DEVICE_CODE } kind;
};

struct tk_elf_symbols {
	struct tk_elf_symbol *list; /* by address; aliases only once */
	size_t count;
};

struct tk_elf {
	struct tk_elf_section *sections; /* in order; code without the linker's own stubs; data that
	                                    the file holds; embedded code of GPUs */
	size_t section_count;
	struct tk_elf_symbols functions, objects;
	bool stripped;               /* only exported symbols have names */
	struct tk_elf_reloc *relocs; /* by address; none where the object keeps no relocations */
	size_t reloc_count;
	char *run_path; /* DT_RPATH or DT_RUNPATH; NULL: none */
	struct tk_elf_file *file;
};

/* TK_EDATA where it is not a 64-bit shared object. Free with tk_elf_close, also after a failure. */
int tk_elf_open(const char *path, struct tk_elf *elf, struct tk_error *err);
void tk_elf_close(struct tk_elf *elf);
bool tk_elf_has_export(const struct tk_elf *elf, const char *symbol);

/* The section that holds all of [address, address + size); NULL: none. */
const struct tk_elf_section *tk_elf_find_section(
        const struct tk_elf *elf, uint64_t address, uint64_t size);

/* Index of the first fixup at or after `address`. */
size_t tk_elf_find_reloc(const struct tk_elf *elf, uint64_t address);

/* Length of `name` without the number that compilers add to what has no name of its own
 * ("CSWTCH.12"). */
size_t tk_elf_stem_length(const char *name);

#endif
