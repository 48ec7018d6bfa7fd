/* From the configuration of an upstream to its repository and its builds. `tracker build`, the
 * night and the backfill all build through it. */
#ifndef TK_RECIPE_H
#define TK_RECIPE_H

struct tk_artifact;
struct tk_config;
struct tk_error;
struct tk_repo;
struct tk_upstream_config;

/* The repository of a git or self upstream. Strings belong to the configuration. */
void tk_recipe_init_repo(
        const struct tk_config *config, const struct tk_upstream_config *u, struct tk_repo *out);

/* TK_ENOTFOUND: the adapter of the upstream does not exist, or cannot be executed. */
int tk_recipe_check_adapter(
        const struct tk_config *config, const struct tk_upstream_config *u, struct tk_error *err);

/* The problems of the suites for the operations in the adapter's file `problems`, without
 * duplicates; NULL where it has no such file. Free with tk_recipe_free_problems. */
int tk_recipe_list_problems(
        const struct tk_config *config, const char *adapter_dir, char ***out, struct tk_error *err);
void tk_recipe_free_problems(char **problems);

/* Builds a revision as configured (tk_build). Adapters of the user take precedence over those of
 * the tracker. arch NULL: this machine. */
int tk_recipe_build(const struct tk_config *config, const struct tk_upstream_config *u,
        const char *revision, const char *arch, struct tk_artifact **out, struct tk_error *err);

#endif
