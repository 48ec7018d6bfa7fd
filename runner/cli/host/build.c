/* `tracker build`: builds the newest or a named revision of upstreams, shows and moves what the
 * cache has. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/process.h"
#include "build/build.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/table.h"
#include "config/config.h"
#include "nightly/stages/recipe.h"
#include "upstream/repo.h"

#define HASH_SHOWN 12

struct build_options {
	const char *upstream, *rev, *arch, *export_file, *import_file;
	bool list, clean, json;
};

enum { OPT_REV = 256, OPT_ARCH, OPT_LIST, OPT_EXPORT, OPT_IMPORT, OPT_CLEAN };

static const struct argp_option options[] = {
        {"arch", OPT_ARCH, "ARCH", 0,
                "Build for ARCH: native (default), or what the adapter understands (x86-64-v3, "
                "sm_90a)",
                1},
        {"clean", OPT_CLEAN, 0, 0, "Remove the builds of UPSTREAM, or all, from the cache", 3},
        {"export", OPT_EXPORT, "FILE", 0,
                "Also pack the builds into FILE (.tar.zst), for a machine that only measures", 2},
        {"format", 'f', "text|json", 0, "Print a table (default) or JSON", 4},
        {"import", OPT_IMPORT, "FILE", 0,
                "Add the builds of FILE to the cache after checking them; build nothing", 2},
        {"list", OPT_LIST, 0, 0, "List the builds in the cache; build nothing", 3},
        {"rev", OPT_REV, "REV", 0, "Build a hash, tag or branch instead of the newest revision", 1},
        {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct build_options *o = state->input;

	switch (key) {
	case OPT_REV:
		o->rev = arg;
		return 0;
	case OPT_ARCH:
		o->arch = arg;
		return 0;
	case OPT_EXPORT:
		o->export_file = arg;
		return 0;
	case OPT_IMPORT:
		o->import_file = arg;
		return 0;
	case OPT_LIST:
		o->list = true;
		return 0;
	case OPT_CLEAN:
		o->clean = true;
		return 0;
	case 'f':
		o->json = tk_option_parse_json(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (o->upstream)
			argp_error(state,
			        "unexpected argument \"%s\"; expected at most one UPSTREAM", arg);
		o->upstream = arg;
		return 0;
	case ARGP_KEY_END:
		if (o->rev && !o->upstream)
			argp_error(state, "--rev needs an UPSTREAM");
		if (o->list + o->clean + (o->import_file != NULL) + (o->export_file != NULL) > 1)
			argp_error(
			        state, "--list, --clean, --import and --export exclude each other");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp tk_argp_build = {options, parse_option, "[UPSTREAM]",
        "Build the newest revision of every upstream of kind `self` or `git`, or of UPSTREAM, "
        "unless the cache has it.\v"
        "The table shows the backends and the beginning of the hash of their machine code: equal "
        "code has an equal hash. A failed build is remembered for a day; its first error and the "
        "path of its log go to stderr.\n\n"
        "Exit code: 0 all are built, 3 something could not be built.\n\n"
        "Examples:\n"
        "  tracker build\n"
        "  tracker build openblas-develop --rev=v0.3.29\n"
        "  tracker build --export=builds.tar.zst    # on the build host\n"
        "  tracker build --import=builds.tar.zst    # on the machine that measures"};

/* ---- one upstream
 * ------------------------------------------------------------------------------------------- */

struct result {
	const struct tk_upstream_config *upstream;
	struct tk_revision revision;
	struct tk_artifact *artifact; /* NULL: it could not be tried, see err */
	struct tk_error err;
};

static bool is_built(const struct tk_upstream_config *u)
{
	return u->kind == TK_UPSTREAM_SELF || u->kind == TK_UPSTREAM_GIT;
}

static int build_one(
        const struct tk_config *config, const struct build_options *o, struct result *r)
{
	struct tk_repo source;
	int status = tk_recipe_check_adapter(
	        config, r->upstream, &r->err); /* before the minutes of a fetch */

	tk_recipe_init_source(config, r->upstream, &source);
	if (status)
		tk_error_add_context(&r->err, "%s", r->upstream->name);
	else
		status = o->rev ? tk_repo_find_revision(&source, o->rev, &r->revision, &r->err)
		                : tk_repo_find_newest(&source, &r->revision, &r->err);
	if (status)
		return status;
	tk_log(TK_LOG_INFO, "build", NULL, "%s: %.12s %s", r->upstream->name, r->revision.id,
	        r->revision.subject);
	return tk_recipe_build(config, r->upstream, r->revision.id, o->arch, &r->artifact, &r->err);
}

/* ---- printing
 * -----------------------------------------------------------------------------------------------
 */

static const struct tk_column columns[] = {
        {"UPSTREAM", TK_COLUMN_LEFT},
        {"REVISION", TK_COLUMN_LEFT},
        {"SUBJECT", TK_COLUMN_CUT},
        {"STATUS", TK_COLUMN_LEFT},
        {"CACHED", TK_COLUMN_LEFT},
        {"SECONDS", TK_COLUMN_RIGHT},
        {"KIB", TK_COLUMN_RIGHT},
        {"BACKENDS", TK_COLUMN_OPTIONAL},
        {"CODE", TK_COLUMN_OPTIONAL},
        {NULL, 0},
};

static const struct tk_column list_columns[] = {
        {"KEY", TK_COLUMN_LEFT},
        {"UPSTREAM", TK_COLUMN_LEFT},
        {"REVISION", TK_COLUMN_LEFT},
        {"STATUS", TK_COLUMN_LEFT},
        {"BUILT", TK_COLUMN_LEFT},
        {"SECONDS", TK_COLUMN_RIGHT},
        {"KIB", TK_COLUMN_RIGHT},
        {"BACKENDS", TK_COLUMN_OPTIONAL},
        {"CODE", TK_COLUMN_OPTIONAL},
        {"TOOLCHAIN", TK_COLUMN_CUT},
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
		        HASH_SHOWN, a->backends[i].code_hash);
	}
	tk_table_set_cell(t, "BACKENDS", "%s", names);
	tk_table_set_cell(t, "CODE", "%s", codes);
}

static void set_artifact(struct tk_table *t, const struct tk_artifact *a)
{
	tk_table_set_cell(t, "STATUS", "%s", tk_build_status_name(a->status));
	tk_table_set_color(t, "STATUS", a->status == TK_BUILD_OK ? "green" : "red");
	tk_table_set_cell(t, "SECONDS", "%.1f", a->wall_s);
	tk_table_set_cell(t, "KIB", "%lld", (long long)(a->size_bytes + 1023) / 1024);
	set_backends(t, a);
}

static json_t *artifact_json(const struct tk_artifact *a)
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

static json_t *result_json(const struct result *r)
{
	json_t *o = r->artifact ? artifact_json(r->artifact)
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

static void add_row(struct tk_table *t, const struct result *r)
{
	tk_table_add_row(t);
	tk_table_set_cell(t, "UPSTREAM", "%s", r->upstream->name);
	tk_table_set_cell(t, "REVISION", "%.*s%s", HASH_SHOWN,
	        r->revision.id[0] ? r->revision.id : "-", r->revision.dirty ? " (dirty)" : "");
	tk_table_set_cell(t, "SUBJECT", "%s", r->revision.subject);
	if (r->artifact) {
		set_artifact(t, r->artifact);
		tk_table_set_cell(t, "CACHED", "%s", r->artifact->cached ? "yes" : "no");
	} else {
		tk_table_set_cell(t, "STATUS", "error");
		tk_table_set_color(t, "STATUS", "red");
	}
}

static int print_results(const struct tk_globals *g, const struct build_options *o,
        const struct result *results, size_t count, struct tk_error *err)
{
	if (o->json) {
		json_t *list = json_array();
		for (size_t i = 0; i < count; i++)
			json_array_append_new(list, result_json(&results[i]));
		if (json_array_size(list) == count)
			return tk_command_print_json(list, err);
		json_decref(list);
		return tk_fail(err, TK_EDATA, "a path or flag is not UTF-8, which JSON needs");
	}
	struct tk_table *t = tk_table_new(g, columns);
	for (size_t i = 0; i < count; i++)
		add_row(t, &results[i]);
	const int status = tk_table_print(t, stdout, err);
	tk_table_free(t);
	return status;
}

/* Says on stderr what went wrong with each and where its log is. How many failed. */
static size_t report_failures(const struct result *results, size_t count)
{
	size_t failed = 0;

	for (size_t i = 0; i < count; i++) {
		const struct result *r = &results[i];
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

/* ---- building
 * -----------------------------------------------------------------------------------------------
 */

static int choose(const struct tk_config *config, const struct build_options *o,
        struct result *results, size_t *count, struct tk_error *err)
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
	if (o->upstream && !*count)
		return tk_fail(err, TK_EUSAGE, "there is no upstream `%s` in %s", o->upstream,
		        config->path ? config->path : "the default configuration");
	return TK_OK;
}

static int export_results(const struct tk_config *config, const char *file,
        const struct result *results, size_t count, struct tk_error *err)
{
	const char **keys = calloc(count + 1, sizeof(*keys));
	size_t n = 0;
	int status = keys ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory");

	for (size_t i = 0; !status && i < count; i++) {
		if (results[i].artifact && results[i].artifact->status == TK_BUILD_OK)
			keys[n++] = results[i].artifact->key;
	}
	if (!status)
		status = tk_artifact_export(config->cache_dir, keys, n, file, err);
	if (!status)
		tk_log(TK_LOG_INFO, "export", NULL, "%zu build%s in %s", n, n == 1 ? "" : "s",
		        file);
	free(keys);
	return status;
}

static int build_all(
        const struct tk_globals *g, const struct tk_config *config, const struct build_options *o)
{
	struct tk_error err = {0};
	size_t count = 0;
	struct result *results = calloc(config->upstream_count + 1, sizeof(*results));
	int status = results ? choose(config, o, results, &count, &err)
	                     : tk_fail(&err, TK_ENOMEM, "out of memory");

	for (size_t i = 0; !status && i < count; i++) {
		if (build_one(config, o, &results[i]) == TK_ECANCELED)
			status = tk_fail(&err, TK_ECANCELED, "%s", results[i].err.message);
	}
	if (!status)
		status = print_results(g, o, results, count, &err);
	const size_t failed = status ? 0 : report_failures(results, count);
	if (!status && o->export_file && failed < count)
		status = export_results(config, o->export_file, results, count, &err);
	for (size_t i = 0; results && i < count; i++)
		tk_artifact_free(results[i].artifact);
	free(results);
	if (status)
		return tk_command_fail("build", &err);
	return failed ? TK_EXIT_INCOMPLETE : TK_EXIT_OK;
}

/* ---- the cache
 * ---------------------------------------------------------------------------------------------- */

static void list_row(struct tk_table *t, const char *key, const struct tk_artifact *a)
{
	char day[TK_TIME_ISO_SIZE];

	tk_table_add_row(t);
	tk_table_set_cell(t, "KEY", "%.*s", HASH_SHOWN, key);
	if (!a) {
		tk_table_set_cell(t, "STATUS", "damaged");
		return;
	}
	tk_table_set_cell(t, "UPSTREAM", "%s", a->upstream);
	tk_table_set_cell(t, "REVISION", "%.*s", HASH_SHOWN, a->revision);
	tk_table_set_cell(t, "BUILT", "%s", tk_time_format_day(a->built_s, day));
	tk_table_set_cell(t, "TOOLCHAIN", "%s", a->toolchain);
	set_artifact(t, a);
}

static int list(
        const struct tk_globals *g, const struct tk_config *config, const struct build_options *o)
{
	struct tk_error err = {0};
	char **keys = NULL;
	size_t count = 0;
	struct tk_table *t = tk_table_new(g, list_columns);
	json_t *json = json_array();
	int status = tk_artifact_list_keys(config->cache_dir, &keys, &count, &err);

	for (size_t i = 0; !status && i < count; i++) {
		struct tk_artifact *a = NULL;
		const bool damaged =
		        tk_artifact_load(config->cache_dir, keys[i], &a, NULL) != TK_OK;
		if (!o->upstream || (!damaged && !strcmp(a->upstream, o->upstream))) {
			list_row(t, keys[i], a);
			json_array_append_new(json, damaged ? json_pack("{s:s,s:s}", "key", keys[i],
			                                              "status", "damaged")
			                                    : artifact_json(a));
		}
		tk_artifact_free(a);
	}
	if (!status && !o->json && !json_array_size(json))
		printf("The cache has no build%s%s.\n", o->upstream ? " of " : "",
		        o->upstream ? o->upstream : "");
	else if (!status)
		status = o->json ? tk_command_print_json(json_incref(json), &err)
		                 : tk_table_print(t, stdout, &err);
	tk_names_free(keys, count);
	tk_table_free(t);
	json_decref(json);
	return status ? tk_command_fail("build", &err) : TK_EXIT_OK;
}

/* Everything but the builds of other upstreams, where one is named. */
static int clean(const struct tk_config *config, const struct build_options *o)
{
	struct tk_error err = {0};
	char **keys = NULL, **left = NULL;
	size_t count = 0, kept = 0, after = 0;
	int status = tk_artifact_list_keys(config->cache_dir, &keys, &count, &err);
	const char **keep = calloc(count + 1, sizeof(*keep));

	if (!status && !keep)
		status = tk_fail(&err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; !status && o->upstream && i < count; i++) {
		struct tk_artifact *a = NULL;
		if (!tk_artifact_load(config->cache_dir, keys[i], &a, NULL) &&
		        strcmp(a->upstream, o->upstream) != 0)
			keep[kept++] = keys[i];
		tk_artifact_free(a);
	}
	if (!status)
		status = tk_artifact_evict(config->cache_dir, 0, keep, kept, &err);
	if (!status)
		status = tk_artifact_list_keys(config->cache_dir, &left, &after, &err);
	if (!status && o->json)
		status = tk_command_print_json(
		        json_pack("{s:I}", "removed", (json_int_t)(count - after)), &err);
	else if (!status)
		printf("removed %zu build%s\n", count - after, count - after == 1 ? "" : "s");
	tk_names_free(keys, count);
	tk_names_free(left, after);
	free(keep);
	return status ? tk_command_fail("build", &err) : TK_EXIT_OK;
}

static int import(const struct tk_config *config, const struct build_options *o)
{
	struct tk_error err = {0};
	size_t imported = 0;
	int status = tk_artifact_import(config->cache_dir, o->import_file, &imported, &err);

	if (!status && o->json)
		status = tk_command_print_json(
		        json_pack("{s:I}", "imported", (json_int_t)imported), &err);
	else if (!status)
		printf("imported %zu build%s\n", imported, imported == 1 ? "" : "s");
	return status ? tk_command_fail("build", &err) : TK_EXIT_OK;
}

int tk_cmd_build(const struct tk_globals *g, int argc, char **argv)
{
	struct build_options o = {0};
	struct tk_config *config = NULL;

	tk_command_parse(&tk_argp_build, argc, argv, &o);
	int code = tk_command_open(g, "build", -1, &config, NULL);
	if (code)
		return code;
	tk_cancel_install_handlers();
	code = o.list          ? list(g, config, &o)
	       : o.clean       ? clean(config, &o)
	       : o.import_file ? import(config, &o)
	                       : build_all(g, config, &o);
	tk_command_close(config, NULL);
	return code;
}
