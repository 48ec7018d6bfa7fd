/* What the files of runner/build/ share. */
#ifndef TK_BUILD_INTERNAL_H
#define TK_BUILD_INTERNAL_H
#include "base/base.h"
#include "build/build.h"

struct tk_lock;

/* key.c */
struct tk_build_key {
	char hex[TK_HASH_HEX_SIZE];
	char recipe[TK_HASH_HEX_SIZE]; /* the key without the revision */
	char *toolchain;               /* "gcc 12.2.0, cmake 3.25.1" */
	/* of what else may decide whether it succeeds: sandbox, limits, installed packages */
	char environment[TK_HASH_HEX_SIZE];
};
/* TK_ENOTFOUND: a tool of the adapter is not installed. */
int tk_build_key_compute(const struct tk_build_spec *spec, const char *kernels_dir,
        struct tk_build_key *out, struct tk_error *err);
void tk_build_key_free(struct tk_build_key *key);

/* environment.c: "NAME=value" of the adapter's program, ended by NULL */
#define TK_BUILD_ENV_MAX 63
struct tk_build_env {
	char *vars[TK_BUILD_ENV_MAX + 1];
	size_t count;
};
int tk_build_env_put(
        struct tk_build_env *e, const char *name, const char *value, struct tk_error *err);
int tk_build_env_add(
        struct tk_build_env *e, const struct tk_build_spec *spec, struct tk_error *err);
void tk_build_env_free(struct tk_build_env *e);

/* reads.c: records which files of a folder are read from now on. NULL: it cannot be watched. */
struct tk_reads *tk_reads_start(const char *dir);
/* Writes the list to `path` (NULL: nowhere), unless it is not whole. Frees `reads`, which may be
 * NULL. */
int tk_reads_finish(
        struct tk_reads *reads, const char *recipe, const char *path, struct tk_error *err);
char *tk_reads_path(const char *artifact_dir); /* of the list */
bool tk_reads_has_recipe(const char *path, const char *recipe);
/* *out: the first change that matters to a build that read these files; NULL: there is none. */
int tk_reads_find_change(const char *path, const struct tk_changes *changes,
        const struct tk_change **out, struct tk_error *err);

/* How many of the files are in none of `paths` (as of tk_repo.path), and one of them. */
size_t tk_reads_count_outside(const char *path, const char *paths, char first[TK_CHANGED_SIZE]);

/* same_code.c: the artifact of the spec, made from one of another commit without a build. *out is
 * NULL where none is known to have the same code. */
int tk_build_reuse(const struct tk_build_spec *spec, const struct tk_build_key *key,
        struct tk_artifact **out, struct tk_error *err);

/* cache.c */
bool tk_build_key_is_valid(const char *key);
int tk_cache_lock(const char *cache_dir, const char *key, double wait_s, struct tk_lock **out,
        struct tk_error *err);
/* Moves a finished folder into the cache, over an older artifact with that key. */
int tk_cache_publish(
        const char *cache_dir, const char *key, const char *from, struct tk_error *err);

/* manifest.c: manifest.json, the description of an artifact. It may come from another machine:
 * every value is checked. Paths of the artifact point into dir. */
int tk_manifest_read(const char *dir, struct tk_artifact **out, struct tk_error *err);
int tk_manifest_write(const struct tk_artifact *a, const char *dir, struct tk_error *err);
/* Compares the file hash of every backend with the manifest, and its code hash where wanted.
 * TK_EDATA: it is not what was built. */
int tk_manifest_verify(const struct tk_artifact *a, bool with_code, struct tk_error *err);

/* backend_scan.c */
bool tk_backend_name_is_valid(const char *name);
/* <dir>/lib/tk_backend_<name>.so, or the folder of a package if it exists: .cuda, .python-cpu */
char *tk_backend_path(const char *dir, const char *name);
/* Fills the backends of `a` from <dir>/lib. TK_EDATA: they are missing or cannot be used. */
int tk_artifact_scan_backends(struct tk_artifact *a, const char *dir, struct tk_error *err);
/* Fills *b, which is empty and to be freed in any case. */
int tk_backend_scan(
        const char *path, const char *name, struct tk_artifact_backend *b, struct tk_error *err);
void tk_artifact_backend_free(struct tk_artifact_backend *b);

/* kernel_package.c: code hash and kernels of a compiled kernel package, lib/tk_backend_<name>.cuda
 * or .hip. TK_EDATA: it cannot be used. */
int tk_kernel_package_scan(const char *path, struct tk_artifact_backend *out, struct tk_error *err);

/* code_hash.c: name and size of list[index], and nothing known besides. The name is unique among
 * those before it: a long one (C++ templates) is cut and ends with a hash, equal names of static
 * functions are numbered. */
void tk_kernel_symbol_set(
        struct tk_kernel_symbol *list, size_t index, const char *name, size_t size);

/* stable_name.c: a text or name without what compilers make from paths and process IDs: anonymous
 * namespaces of nvcc (_GLOBAL__N__5706e64a_4_k_cu_run) and hashes of file names. */
void tk_stable_text(const char *text, size_t len, struct tk_buf *out);
char *tk_stable_name(const char *name);

/* output.c. TK_EDATA: something is no regular file, folder or link within its folder, or all
 * together is larger than max_bytes. The tracker's own files at the top
 * (build.log, manifest.json, reads.txt) are left out. */
int tk_build_collect(const char *from, const char *to, uint64_t max_bytes, struct tk_error *err);
int tk_build_collect_log(const char *log, const char *to, uint64_t max_bytes, struct tk_error *err);

/* log.c: the first diagnostic of a compiler, linker or build tool, as printable text on one line;
 * "" if the log is empty. */
char *tk_build_log_find_error(const char *log_path);
bool tk_build_log_has_disk_full(const char *log_path);
/* The line that says that the system failed the build, not its source: a compiler that was killed
 * or had no memory, a cache or a sandbox that did not work; "": there is none. */
char *tk_build_log_find_system_failure(const char *log_path);

/* check.c */
/* Counts the kernels of <dir>/instances.txt, which adapters of kernels write: "NAME ok|failed
 * SECONDS s: REASON" on each line. "5 of 6 kernels; NAME: REASON" of the first that failed; "": all
 * are there, or no such file. */
char *tk_build_count_instances(struct tk_artifact *a, const char *dir);
/* What an adapter looked for in vain to know the interface of the revision: its file
 * TK_OUT/unknown_interface. "": there is none. */
char *tk_build_read_unknown_interface(const char *dir);
/* `answer`: what `ldd -r` says of a shared object; is changed. TK_EDATA: it cannot be loaded where
 * it was built, for another reason than a GPU's driver that is not installed. */
int tk_build_check_loader(char *answer, const char *file, struct tk_error *err);

/* ---- elf.c: a shared object, its code, data, symbols, relocations and run path. Lists are
 * sorted by the address that their elements begin with. ---- */

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

/* A named function, or named data in the file. */
struct tk_elf_symbol {
	uint64_t address, size;
	char *name; /* stable (see above) */
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
	} functions, objects, labels; /* labels: code whose size is unknown */
	bool stripped;                /* only exported symbols have names */
	struct tk_elf_reloc *relocs;  /* empty if the object keeps none */
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

/* ---- device_code.c: the machine code of GPU kernels, for its hash. What the kernels are made of
 * (registers, instructions) is read by kernels/gpu/kernel_facts.py. ---- */

struct tk_device_kernel {
	char *name;         /* mangled, stable */
	char processor[16]; /* "sm_90", "gfx942" */
	unsigned arch;      /* its number: 90, 0x942 */
	const unsigned char *code;
	size_t size;
};

/* Other bytes that decide the result: constants, initialised variables, called functions, and PTX
 * without names of files. */
struct tk_device_data {
	const unsigned char *bytes;
	size_t size;
};

struct tk_device_code {
	struct tk_device_kernel *kernels; /* by processor and name */
	size_t kernel_count;
	struct tk_device_data *data;
	size_t data_count;
	size_t unreadable_count; /* damaged images and unknown formats */
	size_t unpacked_bytes;   /* of all packed images */
	struct tk_device_image *images;
	size_t image_count;
};

/* Reads `bytes`, which must live as long as *out; the caller frees that. `what`: the name of a
 * section with images (".nv_fatbin", ".hip_fatbin..."), or the processor ("sm_90a", "gfx942") of
 * one code object, an ELF. Images that are damaged, unknown or beyond
 * TK_DEVICE_CODE_UNPACKED_MAX count as unreadable. */
#define TK_DEVICE_CODE_UNPACKED_MAX ((size_t)1 << 30)
void tk_device_code_read(
        const char *what, const unsigned char *bytes, size_t size, struct tk_device_code *out);
/* Adds kernels and data, in an order that does not depend on that of the object files. */
void tk_device_code_hash(struct tk_device_code *c, struct tk_hash *h);
void tk_device_code_free(struct tk_device_code *c);

#endif
