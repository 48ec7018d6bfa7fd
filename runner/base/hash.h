/* SHA-256 (libcrypto): content addresses, uids, seeds. */
#ifndef TK_BASE_HASH_H
#define TK_BASE_HASH_H
#include <stddef.h>
#include <stdint.h>

struct tk_error;
struct tk_hash;

#define TK_HASH_HEX_SIZE 65

struct tk_hash *tk_hash_new(void); /* NULL: out of memory */
void tk_hash_add(struct tk_hash *h, const void *data, size_t len);
/* Adds length and bytes, so that ("ab","c") and ("a","bc") differ; NULL counts as a string of its
 * own. */
void tk_hash_add_str(struct tk_hash *h, const char *s);
void tk_hash_add_i64(struct tk_hash *h, int64_t v);
int tk_hash_add_file(struct tk_hash *h, const char *path, struct tk_error *err);
/* Adds every regular file and link below dir: relative path, executable bit, content or target, in
 * sorted order. */
int tk_hash_add_tree(struct tk_hash *h, const char *dir, struct tk_error *err);
void tk_hash_finish(struct tk_hash *h, char hex[TK_HASH_HEX_SIZE]); /* also frees h */
void tk_hash_free(struct tk_hash *h);
void tk_hash_bytes(const void *data, size_t len, char hex[TK_HASH_HEX_SIZE]);
/* Of the content of a file. */
int tk_hash_file(const char *path, char hex[TK_HASH_HEX_SIZE], struct tk_error *err);

#endif
