/* Machine code of builds: one list of functions for each build, read once. */
#ifndef TK_SITE_CODE_CACHE_H
#define TK_SITE_CODE_CACHE_H
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

struct tk_error;

struct tk_code_cache {
	struct tk_code_list *lists; /* in the order of first use */
	size_t count, cap, last; /* last: the list found last; the next one is mostly needed next */
};

/* All functions of a build, by backend and name. Valid until another build is read. */
int tk_code_cache_list(struct tk_code_cache *codes, struct tk_store *store, int64_t build_id,
        const struct tk_rows **out, struct tk_error *err);
/* The row of a function of a backend in a build; name "": of the whole backend. *out NULL: not
 * recorded. It lives as long as the cache. */
int tk_code_cache_find(struct tk_code_cache *codes, struct tk_store *store, int64_t build_id,
        const char *backend, const char *name, const struct tk_kernel_row **out,
        struct tk_error *err);
void tk_code_cache_free(struct tk_code_cache *codes);

#endif
