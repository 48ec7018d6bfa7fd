/* The revisions of an upstream in a bundle of builds. Private to nightly/. */
#ifndef TK_BUNDLE_REVISIONS_H
#define TK_BUNDLE_REVISIONS_H
#include <stddef.h>

struct tk_artifact;
struct tk_config;
struct tk_error;
struct tk_revision;
struct tk_upstream_config;

/* Imports the builds of `file` into the cache and lists the revisions of `u` among them, newest
 * first. The caller frees *out. TK_ENOTFOUND: there is none; TK_EDATA: a build lacks its commit
 * time. */
int tk_bundle_list_revisions(const struct tk_config *config, const struct tk_upstream_config *u,
        const char *file, struct tk_revision **out, size_t *count, struct tk_error *err);

/* The build of a revision in a bundle, the one that a night would measure. */
int tk_bundle_load_build(const struct tk_config *config, const struct tk_upstream_config *u,
        const char *file, const char *revision, struct tk_artifact **out, struct tk_error *err);

#endif
