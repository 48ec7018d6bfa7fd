/* `tracker build`: builds the newest revisions of upstreams; the cache of builds. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/signature.h"
#include "base/try.h"
#include "build/build.h"
#include "cli/commands.h"
#include "cli/host/survey.h"
#include "cli/options.h"
#include "cli/table.h"
#include "config/config.h"
#include "nightly/stages/upstream_build.h"
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

/* ---- what became of one upstream ------------------------------------------------------------- */

static const struct tk_column columns[] = {
        {"UPSTREAM", TK_COLUMN_LEFT},
        {"REVISION", TK_COLUMN_LEFT},
        {"SUBJECT", TK_COLUMN_SHORTEN | TK_COLUMN_DROP(5)},
        {"STATUS", TK_COLUMN_LEFT},
        {"CACHED", TK_COLUMN_DROP(3)},
        {"SECONDS", TK_COLUMN_RIGHT | TK_COLUMN_DROP(4)},
        {"KIB", TK_COLUMN_RIGHT | TK_COLUMN_DROP(2)},
        {"BACKENDS", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL},
        {"CODE", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1)},
        {NULL, 0},
};

/* "cpu,nsa" and the beginnings of their code hashes. */
static void set_backends(struct tk_table *t, const struct tk_artifact *a)
{
	char names[512] = "", codes[512] = "";
	size_t n = 0, c = 0;

	for (size_t i = 0; i < a->backend_count && n < sizeof(names) - 80 && c < sizeof(codes) - 20;
	        i++) {
		n += (size_t)snprintf(
		        names + n, sizeof(names) - n, "%s%s", i ? "," : "", a->backends[i].name);
		c += (size_t)snprintf(codes + c, sizeof(codes) - c, "%s%.*s", i ? "," : "",
		        TK_BUILD_HASH_DIGITS, a->backends[i].code_hash);
	}
	tk_table_set_cell(t, "BACKENDS", "%s", names);
	tk_table_set_cell(t, "CODE", "%s", codes);
}

static void tk_build_set_artifact(struct tk_table *t, const struct tk_artifact *a)
{
	tk_table_set_cell(t, "STATUS", "%s", tk_build_status_name(a->status));
	tk_table_set_color(t, "STATUS", a->status == TK_BUILD_OK ? "green" : "red");
	tk_table_set_cell(t, "SECONDS", "%.1f", a->wall_s);
	tk_table_set_cell(t, "KIB", "%lld", (long long)(a->size_bytes + 1023) / 1024);
	set_backends(t, a);
}

static json_t *tk_build_artifact_json(const struct tk_artifact *a)
{
	json_t *backends = json_array();
	char built[TK_TIME_ISO_SIZE];

	for (size_t i = 0; i < a->backend_count; i++) {
		const struct tk_artifact_backend *b = &a->backends[i];
		json_array_append_new(backends,
		        json_pack("{s:s,s:s,s:s,s:I}", "name", b->name, "path", b->path,
		                "code_hash", b->code_hash, "kernels", (json_int_t)b->kernel_count));
	}
	return json_pack("{s:s,s:s,s:s,s:s,s:b,s:s,s:s,s:s,s:s,s:s,s:s,s:f,s:I,s:s,s:o}", "key",
	        a->key, "upstream", a->upstream, "revision", a->revision, "status",
	        tk_build_status_name(a->status), "cached", a->cached, "message", a->message,
	        "adapter", a->adapter, "arch", a->arch, "flags", a->flags, "toolchain",
	        a->toolchain, "log", a->log_path, "wall_s", a->wall_s, "size_bytes",
	        (json_int_t)a->size_bytes, "built", tk_time_format_iso(a->built_s, built),
	        "backends", backends);
}

static json_t *result_json(const struct tk_build_result *r)
{
	json_t *o = r->artifact ? tk_build_artifact_json(r->artifact)
	                        : json_pack("{s:s,s:s,s:s}", "upstream", r->upstream->name,
	                                  "status", "error", "message", r->err.message);
	if (o && r->revision.id[0]) {
		json_object_set_new(o, "revision", json_string(r->revision.id));
		json_object_set_new(o, "subject", json_string(r->revision.subject));
		json_object_set_new(o, "position", json_integer(r->revision.position));
		json_object_set_new(o, "dirty", json_boolean(r->revision.dirty));
	}
	return o;
}

static void add_row(struct tk_table *t, const struct tk_build_result *r)
{
	tk_table_add_row(t);
	tk_table_set_cell(t, "UPSTREAM", "%s", r->upstream->name);
	tk_table_set_cell(t, "REVISION", "%.*s%s", TK_BUILD_HASH_DIGITS,
	        r->revision.id[0] ? r->revision.id : "-", r->revision.dirty ? " (dirty)" : "");
	tk_table_set_cell(t, "SUBJECT", "%s", r->revision.subject);
	if (r->artifact) {
		tk_build_set_artifact(t, r->artifact);
		tk_table_set_cell(t, "CACHED", "%s", r->artifact->cached ? "yes" : "no");
	} else {
		tk_table_set_cell(t, "STATUS", "error");
		tk_table_set_color(t, "STATUS", "red");
	}
}

static int tk_build_print_results(const struct tk_globals *g, const struct tk_build_options *o,
        const struct tk_build_result *results, size_t count, struct tk_error *err)
{
	if (o->json) {
		json_t *list = json_array();
		for (size_t i = 0; i < count; i++)
			json_array_append_new(list, result_json(&results[i]));
		if (json_array_size(list) == count)
			return tk_command_print_json(list, err);
		json_decref(list);
		return tk_fail(err, TK_EDATA, "a path or flag is not valid UTF-8");
	}
	struct tk_table *t = tk_table_new(g, columns);
	for (size_t i = 0; i < count; i++)
		add_row(t, &results[i]);
	const int status = tk_table_print(t, stdout, err);
	tk_table_free(t);
	return status;
}

static size_t tk_build_print_failures(const struct tk_build_result *results, size_t count)
{
	size_t failed = 0;

	for (size_t i = 0; i < count; i++) {
		const struct tk_build_result *r = &results[i];
		struct tk_error err = r->err;
		if (r->artifact && r->artifact->status == TK_BUILD_OK)
			continue;
		if (r->artifact)
			tk_fail(&err, TK_ECRASH, "%s at %.12s: %s (log: %s)", r->upstream->name,
			        r->revision.id, r->artifact->message, r->artifact->log_path);
		tk_command_fail("build", &err);
		failed++;
	}
	return failed;
}

/* ---- the cache ------------------------------------------------------------------------------- */

static const struct tk_column list_columns[] = {
        {"KEY", TK_COLUMN_LEFT},
        {"UPSTREAM", TK_COLUMN_LEFT},
        {"REVISION", TK_COLUMN_LEFT},
        {"STATUS", TK_COLUMN_LEFT},
        {"BUILT", TK_COLUMN_DROP(5)},
        {"SECONDS", TK_COLUMN_RIGHT | TK_COLUMN_DROP(3)},
        {"KIB", TK_COLUMN_RIGHT | TK_COLUMN_DROP(4)},
        {"BACKENDS", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL},
        {"CODE", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2)},
        {"TOOLCHAIN", TK_COLUMN_SHORTEN | TK_COLUMN_DROP(1)},
        {NULL, 0},
};

static void list_row(struct tk_table *t, const char *key, const struct tk_artifact *a)
{
	char day[TK_TIME_ISO_SIZE];

	tk_table_add_row(t);
	tk_table_set_cell(t, "KEY", "%.*s", TK_BUILD_HASH_DIGITS, key);
	if (!a) {
		tk_table_set_cell(t, "STATUS", "damaged");
		return;
	}
	tk_table_set_cell(t, "UPSTREAM", "%s", a->upstream);
	tk_table_set_cell(t, "REVISION", "%.*s", TK_BUILD_HASH_DIGITS, a->revision);
	tk_table_set_cell(t, "BUILT", "%s", tk_time_format_day(a->built_s, day));
	tk_table_set_cell(t, "TOOLCHAIN", "%s", a->toolchain);
	tk_build_set_artifact(t, a);
}

static int tk_build_list_cache(const struct tk_globals *g, const struct tk_config *config,
        const struct tk_build_options *o, struct tk_error *err)
{
	char **keys = NULL;
	size_t count = 0;
	struct tk_table *t = tk_table_new(g, list_columns);
	json_auto_t *json = json_array();
	int status = tk_artifact_list_keys(config->cache_dir, &keys, &count, err);

	for (size_t i = 0; !status && i < count; i++) {
		struct tk_artifact *a = NULL;
		const bool damaged = tk_artifact_load(config->cache_dir, keys[i], &a, NULL);
		if (!o->upstream || (!damaged && !strcmp(a->upstream, o->upstream))) {
			list_row(t, keys[i], a);
			json_array_append_new(json, damaged ? json_pack("{s:s,s:s}", "key", keys[i],
			                                              "status", "damaged")
			                                    : tk_build_artifact_json(a));
		}
		tk_artifact_free(a);
	}
	if (!status && !o->json && !json_array_size(json))
		printf("The cache has no build%s%s.\n", o->upstream ? " of " : "",
		        o->upstream ? o->upstream : "");
	else if (!status)
		status = o->json ? tk_command_print_json(json_incref(json), err)
		                 : tk_table_print(t, stdout, err);
	tk_names_free(keys, count);
	tk_table_free(t);
	return status;
}

static int tk_build_clean_cache(
        const struct tk_config *config, const struct tk_build_options *o, struct tk_error *err)
{
	char **keys = NULL, **left = NULL;
	size_t count = 0, kept = 0, after = 0;
	int status = tk_artifact_list_keys(config->cache_dir, &keys, &count, err);
	const char **keep = tk_calloc(count + 1, sizeof(*keep));

	for (size_t i = 0; !status && o->upstream && i < count; i++) {
		struct tk_artifact *a = NULL;
		if (!tk_artifact_load(config->cache_dir, keys[i], &a, NULL) &&
		        strcmp(a->upstream, o->upstream) != 0)
			keep[kept++] = keys[i];
		tk_artifact_free(a);
	}
	if (!status)
		status = tk_artifact_evict(config->cache_dir, 0, keep, kept, err);
	if (!status)
		status = tk_artifact_list_keys(config->cache_dir, &left, &after, err);
	if (!status && o->json)
		status = tk_command_print_json(
		        json_pack("{s:I}", "removed", (json_int_t)(count - after)), err);
	else if (!status)
		printf("removed %zu build%s\n", count - after, count - after == 1 ? "" : "s");
	tk_names_free(keys, count);
	tk_names_free(left, after);
	free(keep);
	return status;
}

static int tk_build_import_cache(
        const struct tk_config *config, const struct tk_build_options *o, struct tk_error *err)
{
	size_t imported = 0;
	int status = tk_signature_verify(config->signing.allowed_signers, o->import_file, err);

	if (!status)
		status = tk_artifact_import(
		        config->cache_dir, o->import_file, &imported, NULL, NULL, err);

	if (!status && o->json)
		status = tk_command_print_json(
		        json_pack("{s:I}", "imported", (json_int_t)imported), err);
	else if (!status)
		printf("imported %zu build%s\n", imported, imported == 1 ? "" : "s");
	return status;
}

/* ---- building -------------------------------------------------------------------------------- */

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
	return tk_upstream_build(config, r->upstream, r->revision.id, o->arch, &r->artifact, &r->err);
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
	int status = TK_OK;

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
	int status = choose_upstreams(config, o, results, &count, err);

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
