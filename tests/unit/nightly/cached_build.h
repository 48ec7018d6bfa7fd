/* Builds of a history that lie in a cache as a night has left them there: a manifest, and a file in
 * place of the shared object. */
#ifndef TK_TEST_CACHED_BUILD_H
#define TK_TEST_CACHED_BUILD_H
#include "../store/history.h"
#include "base/file.h"
#include "build/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A key of 64 digits. */
static inline void make_key(char digit, char key[TK_HASH_HEX_SIZE])
{
	memset(key, digit, TK_HASH_HEX_SIZE - 1);
	key[TK_HASH_HEX_SIZE - 1] = 0;
}

static inline void format_artifact_dir(const struct history *h, char digit, char *dir, size_t size)
{
	char key[TK_HASH_HEX_SIZE];

	make_key(digit, key);
	snprintf(dir, size, "%s/cache/artifacts/%s", h->dir, key);
}

/* Into <folder of the history>/cache, with one backend. */
static inline void put_cached_artifact(const struct history *h, char digit, const char *backend)
{
	static char empty[] = "";
	char dir[300], lib[320], file[400];
	struct tk_artifact_backend b = {.path = file};
	struct tk_artifact a = {.status = TK_BUILD_OK,
	        .message = empty,
	        .toolchain = empty,
	        .upstream = empty,
	        .revision = empty,
	        .adapter = empty,
	        .arch = empty,
	        .flags = empty,
	        .backends = &b,
	        .backend_count = 1};

	make_key(digit, a.key);
	make_key(digit, b.code_hash);
	snprintf(b.name, sizeof b.name, "%s", backend);
	format_artifact_dir(h, digit, dir, sizeof dir);
	snprintf(lib, sizeof lib, "%s/lib", dir);
	snprintf(file, sizeof file, "%s/tk_backend_%s.so", lib, backend);
	MUST(tk_dir_create(lib, &err));
	MUST(tk_file_write(file, "code", 4, &err));
	MUST(tk_manifest_write(&a, dir, &err));
}

/* Of a revision of its own, "r" and the digit. */
static inline int64_t put_cached_build(const struct history *h, char digit, const char *backend)
{
	const char rev[] = {'r', digit, 0};
	char key[TK_HASH_HEX_SIZE];

	make_key(digit, key);
	put_cached_artifact(h, digit, backend);
	return history_put_build_of(h, h->upstream, rev, key, NULL);
}

static inline void remove_cached_artifact(const struct history *h, char digit)
{
	char dir[300];

	format_artifact_dir(h, digit, dir, sizeof dir);
	MUST(tk_dir_remove(dir, &err));
}

#endif
