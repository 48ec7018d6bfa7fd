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
	char *toolchain; /* for people; caller frees */
};
/* TK_ENOTFOUND where a tool of the adapter is not installed. */
int tk_build_key(const struct tk_build_spec *spec, const char *kernels_dir,
        struct tk_build_key *out, struct tk_error *err);

/* manifest.c */
int tk_manifest_write(const struct tk_artifact *a, const char *dir, struct tk_error *err);
/* Reads and checks <dir>/manifest.json; paths of the artifact point into dir. */
int tk_manifest_read(const char *dir, struct tk_artifact **out, struct tk_error *err);
/* File and code hashes of every backend against the manifest in dir. */
int tk_manifest_verify(const char *dir, struct tk_error *err);

/* cache.c */
bool tk_build_key_is_valid(const char *key);
char *tk_cache_artifacts_dir(const char *cache_dir); /* <cache>/artifacts; NULL: no memory */
int tk_cache_lock(const char *cache_dir, const char *key, double wait_s, struct tk_lock **out,
        struct tk_error *err);
/* Renames a finished folder to its place in the cache, over an older artifact of that key. */
int tk_cache_publish(
        const char *cache_dir, const char *key, const char *from, struct tk_error *err);

/* scan.c: what a build left behind */
bool tk_backend_name_is_valid(const char *name);
char *tk_backend_path(const char *dir, const char *name); /* <dir>/lib/tk_backend_<name>.so */
/* Fills the backends of `a` from <dir>/lib. TK_EDATA says what is wrong with them. */
int tk_artifact_scan_backends(struct tk_artifact *a, const char *dir, struct tk_error *err);
int tk_backend_scan(
        const char *path, const char *name, struct tk_artifact_backend *out, struct tk_error *err);

/* log_scan.c: the line of a build log that says why it failed, clean and cut; "" where the log says
 * nothing. */
char *tk_build_log_find_error(const char *log_path);
bool tk_build_log_has_disk_full(const char *log_path);

#endif
