/* revision -> artifact: a relocatable folder with backends, in a cache that is addressed by
 * content.
 *
 *   <cache>/artifacts/<key>/manifest.json, lib/tk_backend_<name>.so, build.log
 *   key = sha256(revision, submodules, adapter's files and inputs, tracker_abi.h, toolchain, flags,
 * arch)
 *
 * An adapter is a folder with an executable `build` (sh). It is run in an empty build folder with
 *   TK_SRC (work tree of its own, may be written to), TK_OUT (leave lib/tk_backend_*.so there),
 * TK_KERNELS (the tracker's kernels/), TK_JOBS, TK_ARCH, TK_FLAGS, CC, CXX, LDFLAGS; the network is
 * nobody's business after checkout. Beside it may lie `inputs` (files below TK_KERNELS that it
 * compiles) and `tools` (programs whose versions matter; `cc` and `cmake` where there is no such
 * file), one a line, # starts a comment. */
#ifndef TK_BUILD_H
#define TK_BUILD_H
#include "base/hash.h"
#include "core/night.h"
#include "upstream/repo.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_error;

struct tk_build_spec {
	const struct tk_repo *source; /* NULL for a system or builtin backend: nothing is built, see
	                                 tk_artifact_load_installed */
	const char *revision;         /* the id of a commit, as tk_repo_find_revision() gives it */
	const char *adapter_dir;
	const char *kernels_dir; /* the tracker's kernels/; NULL: two folders above adapter_dir */
	const char *arch;        /* "native" or what the adapter understands (sm_90a, x86-64-v3) */
	const char *flags;       /* may be NULL */
	const char *cache_dir;
	unsigned jobs;
	double deadline_s;
	uint64_t memory_limit_bytes;
};

struct tk_kernel_symbol {
	char name[192];
	char code_hash[TK_HASH_HEX_SIZE]; /* of the machine code of this function alone */
	int64_t size_bytes;
	/* -1: unknown (CPU). Of a kernel for GPUs: of a thread; of a thread in device memory,
	 * arrays with a computed index included; of a block, without what a launch adds; of a block
	 * at most; how full the multiprocessors can be with that (device_code.h). */
	int64_t registers, spill_bytes, shared_bytes, threads, occupancy_percent;
};

struct tk_artifact_backend {
	char name[64];
	char *path;                       /* absolute path of the shared object */
	char code_hash[TK_HASH_HEX_SIZE]; /* of its machine code (.text), not of the file: equal
	                                     code, equal hash */
	struct tk_kernel_symbol *kernels;
	size_t kernel_count;
};

struct tk_artifact {
	char key[TK_HASH_HEX_SIZE];
	enum tk_build_status status;
	bool cached;          /* it was there already */
	char *dir, *log_path; /* absolute */
	char *message;        /* why it failed: the first error line of the log; "" */
	char *toolchain;      /* "gcc 12.2.0, cmake 3.25.1" */
	char *upstream, *revision, *adapter, *arch,
	        *flags;            /* as in the spec; "" for an installed one */
	struct tk_revision commit; /* what is known of the revision, for machines without the
	                              repository; id "": nothing */
	int64_t built_s;
	double wall_s;
	int64_t size_bytes;
	struct tk_artifact_backend *backends;
	size_t backend_count;
};

/* TK_OK also where the build failed (status says so; failed builds are cached too, and tried again
 * after a day). An error means that it could not be tried: no such revision, no disk, cancelled. */
int tk_build(const struct tk_build_spec *spec, struct tk_artifact **out, struct tk_error *err);
/* An artifact of one shared object that is already there (a backend of the tracker's own build
 * against a system library). */
int tk_artifact_load_installed(const char *backend_path, const char *backend_name,
        struct tk_artifact **out, struct tk_error *err);
void tk_artifact_free(struct tk_artifact *a);

/* From the cache; counts as a use. TK_ENOTFOUND where there is none. */
int tk_artifact_load(
        const char *cache_dir, const char *key, struct tk_artifact **out, struct tk_error *err);
int tk_artifact_export(const char *cache_dir, const char *const *keys, size_t count,
        const char *file, struct tk_error *err); /* .tar.zst */
/* Refuses what does not hold together: manifests, file and code hashes are checked before anything
 * is put into the cache. */
int tk_artifact_import(
        const char *cache_dir, const char *file, size_t *imported, struct tk_error *err);
/* The same, and the keys of all that is in the file, also of what the cache had already; freed with
 * tk_names_free. */
int tk_artifact_import_keys(const char *cache_dir, const char *file, size_t *imported, char ***keys,
        size_t *count, struct tk_error *err);
/* Keys in the cache, sorted; freed with tk_names_free. */
int tk_artifact_list_keys(const char *cache_dir, char ***keys, size_t *count, struct tk_error *err);
/* Removes the least recently used artifacts until the cache is below max_bytes; `keep` are never
 * removed. */
int tk_artifact_evict(const char *cache_dir, uint64_t max_bytes, const char *const *keep,
        size_t keep_count, struct tk_error *err);

/* Hash of the machine code of a shared object and of its functions: those that match `symbol_glob`,
 * NULL: the exported ones and the largest others; at most TK_CODE_FUNCTIONS_MAX, largest first,
 * names unique. Kernels for GPUs come first, as "sm_90 NAME" or "gfx942 NAME" (device_code.h), at
 * most TK_CODE_KERNELS_MAX of them. What the linker filled in (addresses of strings, data, other
 * functions) is replaced by what it refers to, where the object keeps its relocations
 * (-Wl,--emit-relocs, which tk_build puts into LDFLAGS): code that differs only in version strings,
 * paths or times has equal hashes. Without relocations the bytes are hashed as they are. The
 * content of read-only data is no part of it.
 */
#define TK_CODE_KERNELS_MAX 1024
#define TK_CODE_FUNCTIONS_MAX 64
int tk_code_hash_object(const char *so_path, const char *symbol_glob, char hex[TK_HASH_HEX_SIZE],
        struct tk_kernel_symbol **kernels, size_t *count, struct tk_error *err);

#endif
