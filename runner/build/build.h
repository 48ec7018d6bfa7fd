/* revision -> artifact: a relocatable folder of backends, in a cache that is addressed by content.
 *
 *   <cache>/artifacts/<key>/manifest.json, lib/tk_backend_<name>.so, build.log, reads.txt
 *   key = sha256(upstream, revision, submodules, the adapter's files and inputs, tracker_abi.h,
 *                toolchain, flags, arch)
 *
 * An adapter is a folder with an executable `build` (sh), which runs in an empty folder with these
 * variables: TK_SRC (a checkout of its own, may be written to), TK_OUT (for lib/tk_backend_*.so),
 * TK_KERNELS (the tracker's kernels/), TK_ADAPTER (its own folder), TK_JOBS, TK_ARCH, TK_FLAGS, CC,
 * CXX, LDFLAGS. It should not use the network. Two optional files beside it have one name per line
 * (# starts a comment): `inputs`, files below TK_KERNELS that it compiles, and `tools`, programs
 * whose versions matter (default: cc and cmake). A file `memory_per_job` has the MiB that one of
 * its processes needs: TK_JOBS is at most what fits into the free memory. A file `sources` has a
 * line "PATH FOLDER..." for each submodule that the build reads, and what of it (without folders
 * all of it); "." is the repository. Nothing else is fetched and checked out.
 *
 * An adapter that compiles kernels for given problems has a file `problems` with one operation per
 * line. TK_PROBLEMS then is a file {"problems": ["gemm:...", ...]} in canonical form, and the
 * problems are part of the key. Of a Python package TK_SRC is a virtual environment, shared by all
 * builds of that version; what the adapter's file `requirements` names is installed beside it. */
#ifndef TK_BUILD_H
#define TK_BUILD_H
#include "base/base.h"
#include "core/night.h"
#include "upstream/repo.h"

#define TK_CHANGED_SIZE 160

struct tk_build_spec {
	const struct tk_repo *repo;
	const char *revision; /* id of a commit, from tk_repo_find_revision() */
	const char *adapter_dir;
	const char *kernels_dir; /* the tracker's kernels/; NULL: two folders above adapter_dir */
	const char *arch;        /* "native", or what the adapter accepts (sm_90a, x86-64-v3) */
	const char *flags;       /* may be NULL */
	const char *const *problems; /* canonical, NULL-terminated; NULL: the adapter needs none */
	const char *cache_dir;
	unsigned jobs;
	double deadline_s;
	uint64_t memory_limit_bytes; /* address space of each process */
	uint64_t disk_limit_bytes;   /* of all that the build can write to; 0: none */
	bool network;                /* in the sandbox */
	unsigned instances; /* at most so many kernels where they are compiled one by one; 0: all */
	/* tk_artifact_find(): where "", gets a file that the revision changes and the nearest build
	 * read. May be NULL. */
	char *changed; /* TK_CHANGED_SIZE bytes */
	char *const
	        *env; /* names of variables that the adapter gets; may be NULL; part of the key */
};

#define TK_INSTRUCTIONS_SIZE 400

/* Numbers are -1 where they are unknown, as on a CPU. Those of GPU kernels come from the file that
 * kernels/gpu/kernel_facts.py wrote beside the backend. */
struct tk_kernel_symbol {
	char name[192];
	char code_hash[TK_HASH_HEX_SIZE]; /* of the machine code of this function */
	int64_t size_bytes;
	int64_t registers;         /* of a thread */
	int64_t spill_bytes;       /* of a thread: spills, arrays with a computed index */
	int64_t shared_bytes;      /* static shared memory of a block */
	int64_t threads;           /* maximum of a block */
	int64_t occupancy_percent; /* upper limit, from threads, registers, shared memory */
	/* "total=816 LDL=143 BAR=1"; "": not counted, as for AMD GPUs */
	char instructions[TK_INSTRUCTIONS_SIZE];
};

struct tk_artifact_backend {
	char name[64];
	char *path;                       /* of the shared object, absolute */
	char code_hash[TK_HASH_HEX_SIZE]; /* of its machine code, not of the file */
	char file_hash[TK_HASH_HEX_SIZE]; /* as of tk_backend_file_hash() */
	struct tk_kernel_symbol *kernels;
	size_t kernel_count;
};

struct tk_artifact {
	char key[TK_HASH_HEX_SIZE];
	enum tk_build_status status;
	bool cached;          /* found in the cache, not built now */
	char *dir, *log_path; /* absolute */
	char *message;        /* the error that made the build fail, or some of its kernels; "" */
	char environment[TK_HASH_HEX_SIZE]; /* a failure is remembered for this one; "": of none */
	/* kernels that are compiled one by one; 0: an adapter that does not */
	int64_t instances_built, instance_count;
	/* The revision that was built: nothing that its build read is another one at this
	 * revision. "": this one. */
	char *same_as;
	char *toolchain; /* "gcc 12.2.0, cmake 3.25.1" */
	char *upstream, *revision, *adapter, *arch,
	        *flags;            /* of the spec; "" for an installed one */
	struct tk_revision commit; /* for machines without the repository; id "": unknown */
	int64_t built_s;           /* time of the build */
	double wall_s, cpu_s;      /* of the build; cpu_s is 0 where it is unknown */
	int64_t size_bytes;
	struct tk_artifact_backend *backends;
	size_t backend_count;
};

/* A commit that changes nothing of what a build in the cache read (reads.txt) gets the artifact of
 * that one, without a checkout.
 *
 * TK_OK also for a failed build: see the status. Failed builds are cached too, and tried again
 * after a day, or when what is installed, the sandbox or a limit changed. An error means that there
 * was no attempt: no such revision, no disk, cancelled. */
int tk_artifact_build(
        const struct tk_build_spec *spec, struct tk_artifact **out, struct tk_error *err);
/* The same without a build: from the cache, or of a commit whose code is known to be equal.
 * TK_ENOTFOUND: there is none. */
int tk_artifact_find(
        const struct tk_build_spec *spec, struct tk_artifact **out, struct tk_error *err);
/* The artifact of one installed shared object, such as a backend for a system library. */
int tk_artifact_load_installed(const char *backend_path, const char *backend_name,
        struct tk_artifact **out, struct tk_error *err);
/* Of a failed or partial build: its message, its log and, if the cache answered, how to try again.
 * The caller frees it. */
char *tk_artifact_explain_failure(const struct tk_artifact *a);
void tk_artifact_free(struct tk_artifact *a);
TK_AUTO_PTR(tk_artifact)
/* NULL: it has none of that name. */
const struct tk_artifact_backend *tk_artifact_find_backend(
        const struct tk_artifact *a, const char *name);

/* From the cache; counts as a use. TK_ENOTFOUND: the cache has none with this key. */
int tk_artifact_load(
        const char *cache_dir, const char *key, struct tk_artifact **out, struct tk_error *err);
/* Writes a .tar.zst. NULL ends the keys. */
int tk_artifact_export(
        const char *cache_dir, const char *const *keys, const char *file, struct tk_error *err);
/* Checks manifests, file hashes and code hashes before anything enters the cache. *imported: how
 * many artifacts were new. keys (may be NULL): all keys of the file, freed with tk_names_free. */
int tk_artifact_import(const char *cache_dir, const char *file, size_t *imported, char ***keys,
        size_t *count, struct tk_error *err);
/* Keys in the cache, sorted; freed with tk_names_free. */
int tk_artifact_list_keys(const char *cache_dir, char ***keys, size_t *count, struct tk_error *err);
/* Removes the least recently used artifacts until the cache has at most max_bytes. Never removes
 * `keep`. */
int tk_artifact_evict(const char *cache_dir, uint64_t max_bytes, const char *const *keep,
        size_t keep_count, struct tk_error *err);

/* How long a kernel of a compiled kernel package took to compile, as the manifest of this problem
 * and configuration says. NAN: it does not, or there is no such manifest. */
double tk_kernel_package_compile_ns(
        const char *package, const char *problem, const char *configuration);

/* The hash of a backend's file: of the shared object, or of all files of a package. */
int tk_backend_file_hash(const char *path, char hex[TK_HASH_HEX_SIZE], struct tk_error *err);

/* Hashes of a shared object and of its kernels: GPU kernels first, named "sm_90 NAME" or "gfx942
 * NAME", at most TK_CODE_KERNELS_MAX; then functions that match `symbol_glob` (NULL: exported ones,
 * then the largest others), at most TK_CODE_FUNCTIONS_MAX, largest first. Names are unique.
 *
 * Where the object keeps its relocations (-Wl,--emit-relocs, which builds get in LDFLAGS), an
 * address counts as what it refers to, and texts do not count: code that differs only in version
 * strings, paths or times has equal hashes. `kernels` may be NULL. */
#define TK_CODE_KERNELS_MAX 1024
#define TK_CODE_FUNCTIONS_MAX 64
int tk_code_hash_object(const char *so_path, const char *symbol_glob, char hex[TK_HASH_HEX_SIZE],
        struct tk_kernel_symbol **kernels, size_t *count, struct tk_error *err);

#endif
