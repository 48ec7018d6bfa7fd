/* From the configuration of an upstream to its repository and its builds. `tracker build`, the
 * night and the backfill all build through it. */
#ifndef TK_UPSTREAM_BUILD_H
#define TK_UPSTREAM_BUILD_H
#include "base/base.h"

struct tk_artifact;
struct tk_config;
struct tk_repo;
struct tk_revision;
struct tk_upstream_config;

/* The repository of a git or self upstream. Strings belong to the configuration. */
void tk_upstream_init_repo(
        const struct tk_config *config, const struct tk_upstream_config *u, struct tk_repo *out);

/* TK_ENOTFOUND: the adapter of the upstream does not exist, or cannot be executed. */
int tk_upstream_check_adapter(
        const struct tk_config *config, const struct tk_upstream_config *u, struct tk_error *err);

/* Builds a revision as configured (tk_artifact_build). Adapters of the user take precedence over
 * those of the tracker. arch NULL: this machine. */
int tk_upstream_build(const struct tk_config *config, const struct tk_upstream_config *u,
        const char *revision, const char *arch, struct tk_artifact **out, struct tk_error *err);

/* The same with one kernel where they are compiled one by one: whether the adapter knows the
 * interface. In a cache of its own, so that nothing measures it, which lasts until the next trials.
 */
int tk_upstream_forget_trials(const struct tk_config *config, struct tk_error *err);
int tk_upstream_try(const struct tk_config *config, const struct tk_upstream_config *u,
        const char *revision, const char *arch, struct tk_artifact **out, struct tk_error *err);

/* The same without a build (tk_artifact_find). `changed`: see struct tk_build_spec. */
int tk_upstream_find_build(const struct tk_config *config, const struct tk_upstream_config *u,
        const char *revision, const char *arch, char *changed, struct tk_artifact **out,
        struct tk_error *err);

/* Imports the builds of a bundle into the cache, where its signature is valid; tk_names_free(). */
int tk_upstream_import_bundle(const struct tk_config *config, const char *file, char ***keys,
        size_t *count, struct tk_error *err);

#endif
