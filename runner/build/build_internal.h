/* What the files of runner/build/ share. */
#ifndef TK_BUILD_ARTIFACT_H
#define TK_BUILD_ARTIFACT_H
#include "base/hash.h"
#include "build/build.h"
#include <stdbool.h>

struct tk_error;
struct tk_lock;

/* key.c */
struct tk_build_key {
	char hex[TK_HASH_HEX_SIZE];
	char *toolchain; /* "gcc 12.2.0, cmake 3.25.1"; the caller frees it */
};
/* TK_ENOTFOUND: a tool of the adapter is not installed. */
int tk_build_key_compute(const struct tk_build_spec *spec, const char *kernels_dir,
        struct tk_build_key *out, struct tk_error *err);

/* cache.c */
bool tk_build_key_is_valid(const char *key);
char *tk_cache_artifacts_dir(const char *cache_dir); /* <cache>/artifacts; NULL: out of memory */
int tk_cache_lock(const char *cache_dir, const char *key, double wait_s, struct tk_lock **out,
        struct tk_error *err);
/* Moves a finished folder into the cache, over an older artifact with that key. */
int tk_cache_publish(
        const char *cache_dir, const char *key, const char *from, struct tk_error *err);

/* backend_scan.c */
bool tk_backend_name_is_valid(const char *name);
/* <dir>/lib/tk_backend_<name>.so, or .cuda or .hip if that folder exists */
char *tk_backend_path(const char *dir, const char *name);
/* Fills the backends of `a` from <dir>/lib. TK_EDATA: they are missing or cannot be used. */
int tk_artifact_scan_backends(struct tk_artifact *a, const char *dir, struct tk_error *err);
int tk_backend_scan(
        const char *path, const char *name, struct tk_artifact_backend *out, struct tk_error *err);

/* collect.c. TK_EDATA: something is no regular file, folder or link within its folder, or all
 * together is larger than max_bytes. build.log and manifest.json at the top are left out. */
int tk_build_collect(const char *from, const char *to, uint64_t max_bytes, struct tk_error *err);
int tk_build_collect_log(const char *log, const char *to, uint64_t max_bytes, struct tk_error *err);

/* problems.c; `problems` may be NULL */
void tk_build_problems_hash(struct tk_hash *h, const char *const *problems);
int tk_build_problems_write(const char *const *problems, const char *path, struct tk_error *err);

/* kernel_package.c: a compiled kernel package, lib/tk_backend_<name>.cuda or .hip. TK_EDATA: it
 * cannot be used. */
int tk_kernel_package_scan(
        const char *path, const char *name, struct tk_artifact_backend *out, struct tk_error *err);
int tk_kernel_package_hash(const char *path, char hex[TK_HASH_HEX_SIZE], struct tk_error *err);

/* python_package.c: lib/tk_backend_<name>.python-cpu or .python-cuda. TK_EDATA: it cannot be
 * used. */
int tk_python_package_scan(
        const char *path, const char *name, struct tk_artifact_backend *out, struct tk_error *err);

/* code_hash.c: a size and nothing known besides; a unique name among list[0..index] */
void tk_kernel_symbol_set_size(struct tk_kernel_symbol *k, size_t size);
void tk_kernel_symbol_name(struct tk_kernel_symbol *list, size_t index, const char *name);

/* jobs.c: the jobs of `spec`, or fewer where the adapter has a file `memory_per_job` (MiB) and less
 * memory is free; at least one. */
int tk_build_jobs_limit(const struct tk_build_spec *spec, unsigned *out, struct tk_error *err);

/* build_log.c: the line that says why the build failed, as printable text; "" if there is none */
char *tk_build_log_find_error(const char *log_path);
bool tk_build_log_has_disk_full(const char *log_path);
/* Whether the system ended the build: a compiler that was killed, or had no memory. */
bool tk_build_log_has_killed_tool(const char *log_path);

#endif
