/* What the parts of `tracker build` share: build.c builds, build_cache.c looks after the cache,
 * build_print.c prints. */
#ifndef TK_CLI_BUILD_H
#define TK_CLI_BUILD_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "build/build.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "config/config.h"
#include "upstream/repo.h"

#define TK_BUILD_HASH_DIGITS 12 /* as many as tables show */

struct tk_build_options {
	const char *upstream, *rev, *arch, *export_file, *import_file;
	bool list, clean, json;
};

/* What became of one upstream. */
struct tk_build_result {
	const struct tk_upstream_config *upstream;
	struct tk_revision revision;
	struct tk_artifact *artifact; /* NULL: it was not tried, see err */
	struct tk_error err;
};

/* The table or the JSON of the results. */
int tk_build_print_results(const struct tk_globals *g, const struct tk_build_options *o,
        const struct tk_build_result *results, size_t count, struct tk_error *err);
/* Prints the failures and the paths of their logs to stderr. Returns how many there are. */
size_t tk_build_print_failures(const struct tk_build_result *results, size_t count);

/* The columns STATUS, SECONDS, KIB, BACKENDS and CODE. */
void tk_build_set_artifact(struct tk_table *t, const struct tk_artifact *a);
json_t *tk_build_artifact_json(const struct tk_artifact *a);

/* --list, --clean, --import */
int tk_build_list_cache(const struct tk_globals *g, const struct tk_config *config,
        const struct tk_build_options *o, struct tk_error *err);
int tk_build_clean_cache(
        const struct tk_config *config, const struct tk_build_options *o, struct tk_error *err);
int tk_build_import_cache(
        const struct tk_config *config, const struct tk_build_options *o, struct tk_error *err);

#endif
