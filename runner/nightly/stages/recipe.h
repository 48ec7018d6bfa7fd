/* From the configuration of an upstream to its revisions and its builds: one way for `build`, the
 * night and the backfill. */
#ifndef TK_RECIPE_H
#define TK_RECIPE_H

struct tk_artifact;
struct tk_config;
struct tk_error;
struct tk_repo;
struct tk_upstream_config;

/* How a git or self upstream is asked. Strings belong to the configuration. */
void tk_recipe_init_source(
        const struct tk_config *config, const struct tk_upstream_config *u, struct tk_repo *out);

/* TK_ENOTFOUND where the adapter of an upstream that is built does not exist or cannot be run. */
int tk_recipe_check_adapter(
        const struct tk_config *config, const struct tk_upstream_config *u, struct tk_error *err);

/* Builds a revision as configured: the user's own adapters come before the tracker's. arch NULL:
 * this machine. See tk_build(). */
int tk_recipe_build(const struct tk_config *config, const struct tk_upstream_config *u,
        const char *revision, const char *arch, struct tk_artifact **out, struct tk_error *err);

#endif
