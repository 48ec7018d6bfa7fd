/* What the tracker wants to know of a shared object; the one door to libelf. Internal to runner/build/. */
#ifndef TK_BUILD_ELF_H
#define TK_BUILD_ELF_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_error;

/* A place in the machine code that the linker filled in. */
struct tk_elf_fixup {
	uint64_t address;
	uint32_t width; /* bytes */
	uint32_t type;  /* R_X86_64_..., R_AARCH64_... */
	char *target;   /* what it refers to, in words that do not depend on the layout: "memcpy", "sgemm_kernel+16",
	                   ".rodata" */
};

struct tk_elf_function {
	const char *name; /* lives as long as the object */
	uint64_t address, size;
	bool exported;
};

struct tk_elf_text {
	uint64_t address;
	const unsigned char *data;
	size_t size;
};

struct tk_elf {
	struct tk_elf_text *texts; /* executable sections but the linker's own stubs, in order */
	size_t text_count;
	struct tk_elf_function *functions; /* by address; aliases only once */
	size_t function_count;
	struct tk_elf_fixup *fixups; /* by address; none where the object keeps no relocations */
	size_t fixup_count;
	char *run_path; /* DT_RPATH or DT_RUNPATH; NULL: none */
	struct tk_elf_file *file;
};

/* TK_EDATA where it is not a 64-bit shared object. Free with tk_elf_close, also after a failure. */
int tk_elf_open(const char *path, struct tk_elf *elf, struct tk_error *err);
void tk_elf_close(struct tk_elf *elf);
bool tk_elf_exports(const struct tk_elf *elf, const char *symbol);

#endif
