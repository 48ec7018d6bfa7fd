/* `tracker build`: builds the newest or a named revision of upstreams. */
#include "cli/host/build.h"
#include "base/try.h"
#include "cli/host/survey.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/signature.h"
#include "cli/options.h"
#include "nightly/stages/upstream_build.h"

static struct tk_build_options opt;

static const struct tk_option options[] = {
        {TK_OPT_HEADING("What")},
        {TK_OPT_TEXT("arch", 0, "ARCH", &opt.arch,
                "Build for ARCH: native (default), or what the adapter understands (x86-64-v3, "
                "sm_90a)")},
        {TK_OPT_TEXT("rev", 0, "REV", &opt.rev,
                "Build a hash, tag, branch or version instead of the newest revision")},
        {TK_OPT_HEADING("Cache")},
        {TK_OPT_FLAG(
                 "clean", 0, &opt.clean, "Remove the builds of UPSTREAM, or all, from the cache"),
                .excludes = "list import export"},
        {TK_OPT_TEXT("export", 0, "FILE", &opt.export_file,
                 "Also pack the builds into FILE (.tar.zst), for a machine that only measures"),
                .excludes = "list import"},
        {TK_OPT_TEXT("import", 0, "FILE", &opt.import_file,
                 "Add the builds of FILE to the cache after checking them; build nothing"),
                .excludes = "list"},
        {TK_OPT_FLAG("list", 0, &opt.list, "List the builds in the cache; build nothing")},
        {TK_OPT_HEADING("Output")},
        {TK_OPT_JSON(&opt.json, "Print a table (default) or JSON")},
        {TK_OPT_ARGUMENT(&opt.upstream, NULL)},
        {0},
};

static int check_options(struct tk_error *err)
{
	return opt.rev && !opt.upstream ? tk_fail(err, TK_EUSAGE, "--rev needs an UPSTREAM")
	                                : TK_OK;
}

static bool is_built(const struct tk_upstream_config *u)
{
	return tk_upstream_kind_is_built(u->kind);
}

static int build_one(
        const struct tk_config *config, const struct tk_build_options *o, struct tk_build_result *r)
{
	struct tk_repo source;
	int status = tk_upstream_check_adapter(
	        config, r->upstream, &r->err); /* before a fetch that takes minutes */

	tk_upstream_init_repo(config, r->upstream, &source);
	if (status)
		tk_error_add_context(&r->err, "%s", r->upstream->name);
	else
		status = o->rev ? tk_repo_find_revision(&source, o->rev, &r->revision, &r->err)
		                : tk_repo_find_newest(&source, &r->revision, &r->err);
	if (status)
		return status;
	tk_log(TK_LOG_INFO, "build", NULL, "%s: %.12s %s", r->upstream->name, r->revision.id,
	        r->revision.subject);
	return tk_upstream_build(
	        config, r->upstream, r->revision.id, o->arch, &r->artifact, &r->err);
}

static int choose_upstreams(const struct tk_config *config, const struct tk_build_options *o,
        struct tk_build_result *results, size_t *count, struct tk_error *err)
{
	for (size_t i = 0; i < config->upstream_count; i++) {
		const struct tk_upstream_config *u = &config->upstreams[i];
		if (o->upstream ? strcmp(o->upstream, u->name) != 0 : !u->enabled || !is_built(u))
			continue;
		if (!is_built(u))
			return tk_fail(
			        err, TK_EUSAGE, "upstream \"%s\" is installed, not built", u->name);
		results[(*count)++].upstream = u;
	}
	char hint[TK_SUGGEST_HINT_SIZE];
	if (o->upstream && !*count)
		return tk_fail(err, TK_EUSAGE, "unknown upstream \"%s\" in %s%s", o->upstream,
		        config->path ? config->path : "the default configuration",
		        tk_config_suggest_upstream(config, o->upstream, NULL, NULL, hint));
	return TK_OK;
}

static int export_results(const struct tk_config *config, const char *file,
        const struct tk_build_result *results, size_t count, struct tk_error *err)
{
	const char **keys = tk_calloc(count + 1, sizeof(*keys));
	size_t n = 0;
	int status = keys ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory");

	for (size_t i = 0; !status && i < count; i++) {
		if (results[i].artifact && results[i].artifact->status == TK_BUILD_OK)
			keys[n++] = results[i].artifact->key;
	}
	if (!status)
		status = tk_artifact_export(config->cache_dir, keys, n, file, err);
	if (!status)
		status = tk_signature_write(config->signing.key, file, err);
	if (!status)
		tk_log(TK_LOG_INFO, "export", NULL, "%zu build%s in %s", n, n == 1 ? "" : "s",
		        file);
	free(keys);
	return status;
}

static int build_all(const struct tk_globals *g, const struct tk_config *config,
        const struct tk_build_options *o, struct tk_error *err)
{
	size_t count = 0;
	struct tk_build_result *results = tk_calloc(config->upstream_count + 1, sizeof(*results));
	int status = results ? choose_upstreams(config, o, results, &count, err)
	                     : tk_fail(err, TK_ENOMEM, "out of memory");

	for (size_t i = 0; !status && i < count; i++) {
		if (build_one(config, o, &results[i]) == TK_ECANCELED)
			status = tk_fail(err, TK_ECANCELED, "%s", results[i].err.message);
	}
	if (!status)
		status = tk_build_print_results(g, o, results, count, err);
	const size_t failed = status ? 0 : tk_build_print_failures(results, count);
	if (!status && o->export_file && failed < count)
		status = export_results(config, o->export_file, results, count, err);
	for (size_t i = 0; results && i < count; i++)
		tk_artifact_free(results[i].artifact);
	free(results);
	if (status)
		return status;
	return failed ? TK_EXIT_INCOMPLETE : TK_EXIT_OK;
}

static int run_build(struct tk_globals *g, struct tk_error *err)
{
	TRY(tk_survey_apply_defaults(g, &g->config, err));
	tk_cancel_install_handlers();
	return opt.list          ? tk_build_list_cache(g, g->config, &opt, err)
	       : opt.clean       ? tk_build_clean_cache(g->config, &opt, err)
	       : opt.import_file ? tk_build_import_cache(g->config, &opt, err)
	                         : build_all(g, g->config, &opt, err);
}

const struct tk_command tk_command_build = {.name = "build",
        .summary = "build the revisions of upstreams; move builds between machines",
        .usage = {.options = options,
                .arguments = "[UPSTREAM]",
                .surplus = "expected at most one UPSTREAM",
                .check = check_options,
                .help = "Build the newest revision of every upstream of kind `self`, `git` or "
                        "`package`, or of UPSTREAM, unless the cache has it.\v"
                        "The table shows the backends and the beginning of the hash of their "
                        "machine code: equal code has an equal hash. A failed build is "
                        "remembered for a day; its first error and the path of its log go to "
                        "stderr.\n\n"
                        "Exit code: 0 all are built, 3 something could not be built.\n\n"
                        "Examples:\n"
                        "  tracker build\n"
                        "  tracker build openblas-develop --rev=v0.3.29\n"
                        "  tracker build --export=builds.tar.zst    # on the build host\n"
                        "  tracker build --import=builds.tar.zst    # on the machine that "
                        "measures"},
        .opens = TK_OPENS_CONFIG,
        .run = run_build};
