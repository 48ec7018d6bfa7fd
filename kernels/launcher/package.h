/* A compiled kernel package: a folder of manifests (NAME.json) and the code objects that they
 * name. */
#ifndef LAUNCHER_PACKAGE_H
#define LAUNCHER_PACKAGE_H
#include "manifest.h"

#define LAUNCHER_MANIFESTS_MAX 4096
#define LAUNCHER_CODE_BYTES_MAX ((size_t)256 << 20)

struct launcher_package {
	char *dir;
	/* In the order of their file names. Those of one problem have the same parameters in the
	 * same order, with other values. */
	struct launcher_manifest **manifests;
	uint32_t count;
};

/* Reads all manifests. TK_ABI_INVALID: there is none, or one cannot be used. */
int launcher_package_open(const char *dir, struct launcher_package **out, struct tk_abi_error *err);
void launcher_package_close(struct launcher_package *p);

/* The code object of a manifest, if its hash is right; the caller frees *code. */
int launcher_package_read_code(const struct launcher_package *p, const struct launcher_manifest *m,
        void **code, size_t *bytes, struct tk_abi_error *err);

#endif
