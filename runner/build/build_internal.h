/* What the files of runner/build/ share. */
#ifndef TK_BUILD_INTERNAL_H
#define TK_BUILD_INTERNAL_H
#include "base/base.h"
#include "build/build.h"

struct tk_lock;

/* key.c */
struct tk_build_key {
	char hex[TK_HASH_HEX_SIZE];
	char *toolchain; /* "gcc 12.2.0, cmake 3.25.1" */
};
/* TK_ENOTFOUND: a tool of the adapter is not installed. */
int tk_build_key_compute(const struct tk_build_spec *spec, const char *kernels_dir,
        struct tk_build_key *out, struct tk_error *err);
void tk_build_key_free(struct tk_build_key *key);

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

/* output.c. TK_EDATA: something is no regular file, folder or link within its folder, or all
 * together is larger than max_bytes. build.log and manifest.json at the top are left out. */
int tk_build_collect(const char *from, const char *to, uint64_t max_bytes, struct tk_error *err);
int tk_build_collect_log(const char *log, const char *to, uint64_t max_bytes, struct tk_error *err);
/* The line that says why the build failed, as printable text; "" if there is none. */
char *tk_build_log_find_error(const char *log_path);
bool tk_build_log_has_disk_full(const char *log_path);
/* Whether the system ended the build: a compiler that was killed, or had no memory. */
bool tk_build_log_has_killed_tool(const char *log_path);

#endif
