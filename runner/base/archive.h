/* zstd for blobs, .tar.zst for folders (libarchive). Unpacking never leaves the target folder:
 * absolute names, "..", links that point outside and device nodes are refused before anything is
 * written. */
#ifndef TK_BASE_ARCHIVE_H
#define TK_BASE_ARCHIVE_H
#include "base/buf.h"
#include <stddef.h>

struct tk_error;

int tk_zstd_compress(const void *data, size_t len, struct tk_buf *out, struct tk_error *err);
int tk_zstd_decompress(
        const void *data, size_t len, size_t max_bytes, struct tk_buf *out, struct tk_error *err);
int tk_archive_write(const char *archive_path, const char *dir,
        struct tk_error *err); /* the content of dir, sorted, no owners, mtime 0 */
int tk_archive_extract(
        const char *archive_path, const char *dir, size_t max_bytes, struct tk_error *err);

#endif
