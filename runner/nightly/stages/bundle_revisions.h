/* The past of an upstream as a bundle of builds has it. Private to nightly/. */
#ifndef TK_BUNDLE_REVISIONS_H
#define TK_BUNDLE_REVISIONS_H
#include <stddef.h>

struct tk_config;
struct tk_error;
struct tk_revision;
struct tk_upstream_config;

/* Puts the builds of `file` into the cache; the revisions of `u` among them, newest first. Caller
 * frees *out. TK_ENOTFOUND where there is none, TK_EDATA where it does not say when one was
 * committed. */
int tk_bundle_list_revisions(const struct tk_config *config, const struct tk_upstream_config *u,
        const char *file, struct tk_revision **out, size_t *count, struct tk_error *err);

#endif
