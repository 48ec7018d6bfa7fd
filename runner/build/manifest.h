/* manifest.json: the description of an artifact. */
#ifndef TK_BUILD_MANIFEST_H
#define TK_BUILD_MANIFEST_H
#include "build/build_internal.h"

int tk_manifest_write(const struct tk_artifact *a, const char *dir, struct tk_error *err);

/* Reads <dir>/manifest.json, which may come from another machine: every value is checked. Paths of
 * the artifact point into dir. */
int tk_manifest_read(const char *dir, struct tk_artifact **out, struct tk_error *err);

/* Compares the file hash of every backend with the manifest in dir, and its code hash where wanted.
 * TK_EDATA: it is not what was built. */
int tk_manifest_verify(const char *dir, bool with_code, struct tk_error *err);

#endif
