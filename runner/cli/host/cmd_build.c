/* `tracker build`: builds the newest revisions of upstreams; the cache of builds. `tracker adapter`
 * tries past revisions. */
#include "build/build.h"
#include "cli/arguments.h"
#include "cli/host/survey.h"
#include "cli/night/night_report.h"
#include "cli/table.h"
#include "core/fields.h"
#include "nightly/stages/upstream_build.h"
#include "upstream/repo.h"
#include <math.h>

static struct {
	const char *upstream, *rev, *arch, *export_file, *import_file;
	bool list, clean, cached, dry_run, json;
	/* of `tracker adapter` */
	const char *action, *since;
	struct tk_option_list revs;
	size_t commits;
} opt = {.since = "1y", .commits = 3};

/* What became of one upstream. */
struct result {
	const struct tk_upstream_config *upstream;
	const char *rev; /* NULL: the newest */
	struct tk_revision revision;
	struct tk_artifact *artifact; /* NULL: it was not tried, see err */
	struct tk_error err;
};

/* ---- what is printed ------------------------------------------------------------------------- */

static json_t *artifact_json(const struct tk_artifact *a)
{
	json_t *backends = json_array();

	for (size_t i = 0; i < a->backend_count; i++) {
		const struct tk_artifact_backend *b = &a->backends[i];

		json_array_append_new(backends,
		        json_pack("{s:s,s:s,s:s,s:I}", "name", b->name, "path", b->path,
		                "code_hash", b->code_hash, "kernels", (json_int_t)b->kernel_count));
	}
	return json_pack(
	        "{s:o,s:o,s:o,s:s,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:I,s:I,s:o,s:o,s:o}",
	        "key", tk_json_text(a->key), "upstream", tk_json_text(a->upstream), "revision",
	        tk_json_text(a->revision), "status", tk_build_status_name(a->status), "cached",
	        a->cached, "same_as", tk_json_text(a->same_as), "message", tk_json_text(a->message),
	        "adapter", tk_json_text(a->adapter), "arch", tk_json_text(a->arch), "flags",
	        tk_json_text(a->flags), "toolchain", tk_json_text(a->toolchain), "log",
	        tk_json_text(a->log_path), "wall_s", tk_json_number(a->wall_s), "cpu_s",
	        tk_json_number(a->cpu_s > 0 ? a->cpu_s : NAN), "size_bytes",
	        (json_int_t)a->size_bytes, "instances_built", (json_int_t)a->instances_built,
	        "instance_count", (json_int_t)a->instance_count, "built",
	        tk_time_to_json(a->built_s), "committed", tk_time_to_json(a->commit.commit_time_s),
	        "backends", backends);
}

static const char *status_color(const json_t *row)
{
	const char *status = tk_record_text(row, "status");

	return !strcmp(status, "ok") ? "green" : !strcmp(status, "partial") ? "yellow" : "red";
}

#define ARTIFACT_COLUMNS(order) \
	{"TOOK", TK_COLUMN_RIGHT | TK_COLUMN_DROP(4), "wall_s", TK_SHOW_DURATION}, \
	        {"CPU", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2), "cpu_s", \
	                TK_SHOW_DURATION}, \
	        {"SIZE", TK_COLUMN_RIGHT | TK_COLUMN_DROP(3), "size_bytes", TK_SHOW_BYTES}, \
	        {"BACKENDS", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL}, \
	{ \
		"CODE", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(order) \
	}
static const struct tk_column result_columns[] = {
        {"UPSTREAM", TK_COLUMN_LEFT, "upstream"},
        {"REVISION", TK_COLUMN_LEFT, "{revision:short|-}[{?dirty} (dirty)]"},
        {"SUBJECT", TK_COLUMN_SHORTEN | TK_COLUMN_DROP(5), "subject"},
        {"STATUS", TK_COLUMN_LEFT, "status", .color = status_color},
        {"CACHED", TK_COLUMN_DROP(2), "[{?key}[{?cached}yes][{!cached}no]]"},
        {"SAME AS", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2), "same_as", TK_SHOW_SHORT},
        ARTIFACT_COLUMNS(1),
        {0},
};
static const struct tk_column cache_columns[] = {
        {"KEY", TK_COLUMN_LEFT, "key", TK_SHOW_SHORT},
        {"UPSTREAM", TK_COLUMN_LEFT, "upstream"},
        {"REVISION", TK_COLUMN_LEFT, "revision", TK_SHOW_SHORT},
        {"STATUS", TK_COLUMN_LEFT, "status", .color = status_color},
        {"COMMITTED", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(3), "committed", TK_SHOW_DAY},
        {"ARCH", TK_COLUMN_VARIED | TK_COLUMN_DROP(3), "arch"},
        {"FLAGS", TK_COLUMN_OPTIONAL | TK_COLUMN_CUT | TK_COLUMN_DROP(3), "flags"},
        {"BUILT", TK_COLUMN_DROP(5), "built", TK_SHOW_DAY},
        ARTIFACT_COLUMNS(2),
        {"TOOLCHAIN", TK_COLUMN_SHORTEN | TK_COLUMN_DROP(1), "toolchain"},
        {0},
};

static const struct tk_column trial_columns[] = {
        {"REVISION", TK_COLUMN_LEFT, "revision", TK_SHOW_SHORT},
        {"COMMITTED", TK_COLUMN_LEFT, "committed", TK_SHOW_DAY},
        {"SUBJECT", TK_COLUMN_SHORTEN | TK_COLUMN_DROP(5), "subject"},
        {"STATUS", TK_COLUMN_LEFT, "status", .color = status_color},
        {"MESSAGE", TK_COLUMN_OPTIONAL | TK_COLUMN_WRAP, "message"},
        ARTIFACT_COLUMNS(1),
        {0},
};

/* Prints and frees the rows: with "cpu,nsa", or "cpu gemm attention" where operations are known,
 * and the beginnings of their code hashes. */
static int print_rows(const struct tk_globals *g, const struct tk_column *columns, json_t *rows,
        struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, columns);
	const json_t *row, *b, *operation;
	size_t i, k, n;

	json_array_foreach (rows, i, row) {
		AUTO(tk_buf) names = TK_BUF_INIT;
		AUTO(tk_buf) codes = TK_BUF_INIT;

		tk_table_add_record(t, row);
		json_array_foreach (json_object_get(row, "backends"), k, b) {
			tk_buf_add_printf(&names, "%s%s", k ? "," : "", tk_record_text(b, "name"));
			json_array_foreach (json_object_get(b, "operations"), n, operation)
				tk_buf_add_printf(&names, " %s", json_string_value(operation));
			tk_buf_add_printf(
			        &codes, "%s%.12s", k ? "," : "", tk_record_text(b, "code_hash"));
		}
		tk_table_set_cell(t, "BACKENDS", "%s", tk_buf_cstr(&names));
		tk_table_set_cell(t, "CODE", "%s", tk_buf_cstr(&codes));
	}
	return tk_records_finish(t, rows, opt.json, err);
}

static json_t *result_json(const struct result *r)
{
	json_t *o = r->artifact ? artifact_json(r->artifact)
	                        : json_pack("{s:s,s:s,s:s}", "upstream", r->upstream->name,
	                                  "status", "error", "message", r->err.message);

	if (r->revision.id[0]) {
		json_object_set_new(o, "revision", json_string(r->revision.id));
		json_object_set_new(o, "committed", tk_time_to_json(r->revision.commit_time_s));
		json_object_set_new(o, "subject", json_string(r->revision.subject));
		json_object_set_new(o, "position", json_integer(r->revision.position));
		json_object_set_new(o, "dirty", json_boolean(r->revision.dirty));
	}
	return o;
}

static size_t print_failures(const struct result *results, size_t count)
{
	size_t failed = 0;

	for (size_t i = 0; i < count; i++) {
		const struct result *r = &results[i];
		struct tk_error err = r->err;
		if (r->artifact && r->artifact->status == TK_BUILD_OK)
			continue;
		if (r->artifact) {
			AUTO_TEXT why = tk_artifact_explain_failure(r->artifact);
			tk_fail(&err, TK_ECRASH, "%s at %.12s: %s%s", r->upstream->name,
			        r->revision.id,
			        r->artifact->status == TK_BUILD_PARTIAL ? "partial: " : "", why);
		}
		if (!opt.action) /* which has it in the table */
			tk_command_fail("build", &err);
		failed++;
	}
	return failed;
}

/* ---- the cache ------------------------------------------------------------------------------- */

static int list_cache(const struct tk_globals *g, struct tk_error *err)
{
	json_t *list;
	char **keys;
	size_t count;

	TRY(tk_artifact_list_keys(g->config->cache_dir, &keys, &count, err));
	list = json_array();
	for (size_t i = 0; i < count; i++) {
		struct tk_artifact *a = NULL;
		bool damaged = tk_artifact_load(g->config->cache_dir, keys[i], &a, NULL);

		if (!opt.upstream || (!damaged && !strcmp(a->upstream, opt.upstream)))
			json_array_append_new(list, damaged ? json_pack("{s:s,s:s}", "key", keys[i],
			                                              "status", "damaged")
			                                    : artifact_json(a));
		tk_artifact_free(a);
	}
	tk_names_free(keys, count);
	if (!opt.json && !json_array_size(list))
		printf("The cache has no build%s%s.\n", opt.upstream ? " of " : "",
		        opt.upstream ? opt.upstream : "");
	return print_rows(g, cache_columns, list, err);
}

/* Of UPSTREAM, else all; with --rev those whose revision begins with it. */
static bool is_chosen(const struct tk_artifact *a)
{
	return tk_build_status_is_usable(a->status) &&
	       (!opt.upstream || !strcmp(a->upstream, opt.upstream)) &&
	       (!opt.rev || !strncmp(a->revision, opt.rev, strlen(opt.rev))) &&
	       (!opt.arch || !strcmp(a->arch, opt.arch));
}

static int print_count(const char *done, size_t count, struct tk_error *err)
{
	if (opt.json)
		return tk_command_print_json(json_pack("{s:I}", done, (json_int_t)count), err);
	printf("%s %zu build%s\n", done, count, count == 1 ? "" : "s");
	return TK_OK;
}

static bool is_of_another(const struct tk_artifact *a)
{
	return opt.upstream && strcmp(a->upstream, opt.upstream) != 0;
}

/* Keys of the builds in the cache that `takes` takes; NULL-terminated, for tk_names_free(). *all:
 * how many it has. */
static int find_keys(const struct tk_config *config, bool (*takes)(const struct tk_artifact *),
        char ***out, size_t *count, size_t *all, struct tk_error *err)
{
	char **keys = NULL;

	TRY(tk_artifact_list_keys(config->cache_dir, &keys, all, err));
	*out = tk_calloc(*all + 1, sizeof **out);
	for (size_t i = *count = 0; i < *all; i++) {
		AUTO_PTR(tk_artifact) a = NULL;

		if (!tk_artifact_load(config->cache_dir, keys[i], &a, NULL) && takes(a))
			(*out)[(*count)++] = tk_strdup(keys[i]);
	}
	tk_names_free(keys, *all);
	return TK_OK;
}

static int clean_cache(const struct tk_config *config, struct tk_error *err)
{
	char **keep;
	size_t kept, all;

	TRY(find_keys(config, is_of_another, &keep, &kept, &all, err));
	int status = tk_artifact_evict(config->cache_dir, 0, (const char **)keep, kept, err);
	tk_names_free(keep, kept);
	return status ? status : print_count("removed", all - kept, err);
}

static int export_keys(
        const struct tk_config *config, const char *const *keys, size_t count, struct tk_error *err)
{
	if (!count)
		return tk_fail(err, TK_ENOTFOUND, "the cache has no such build");
	TRY(tk_artifact_export(config->cache_dir, keys, opt.export_file, err));
	return tk_signature_write(config->signing.key, opt.export_file, err);
}

static int export_cache(const struct tk_config *config, struct tk_error *err)
{
	char **keys;
	size_t n, all;

	TRY(find_keys(config, is_chosen, &keys, &n, &all, err));
	int status = export_keys(config, (const char **)keys, n, err);
	tk_names_free(keys, n);
	return status ? status : print_count("packed", n, err);
}

static int import_cache(const struct tk_config *config, struct tk_error *err)
{
	size_t imported = 0;

	TRY(tk_signature_verify(config->signing.allowed_signers, opt.import_file, err));
	TRY(tk_artifact_import(config->cache_dir, opt.import_file, &imported, NULL, NULL, err));
	return print_count("imported", imported, err);
}

/* ---- building -------------------------------------------------------------------------------- */

static const struct tk_option options[] = {
        {TK_OPT_HEADING("What")},
        {TK_OPT_TEXT("arch", 0, "ARCH", &opt.arch,
                "Build for ARCH: native (default), or what the adapter understands (x86-64-v3, "
                "sm_90a)")},
        {TK_OPT_TEXT("rev", 0, "REV", &opt.rev,
                "Build a hash, tag, branch or version instead of the newest revision")},
        {TK_OPT_FLAG("dry-run", 0, &opt.dry_run,
                 "List the newest revisions and what building them takes; build nothing"),
                .excludes = "list cached clean export import rev arch"},
        {TK_OPT_HEADING("Cache")},
        {TK_OPT_FLAG("cached", 0, &opt.cached,
                 "With --export: pack the builds that the cache has of UPSTREAM, or all; ask no "
                 "upstream, build nothing"),
                .needs = "export"},
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

static int build_one(const struct tk_config *config, struct result *r)
{
	struct tk_repo source;
	int status = tk_upstream_check_adapter(
	        config, r->upstream, &r->err); /* before a fetch that takes minutes */

	tk_upstream_init_repo(config, r->upstream, &source);
	if (status)
		tk_error_add_context(&r->err, "%s", r->upstream->name);
	else if (!*r->revision.id)
		status = r->rev ? tk_repo_find_revision(&source, r->rev, &r->revision, &r->err)
		                : tk_repo_find_newest(&source, &r->revision, &r->err);
	if (status)
		return status;
	tk_log(TK_LOG_INFO, "build", NULL, "%s: %.12s %s", r->upstream->name, r->revision.id,
	        r->revision.subject);
	return (opt.action ? tk_upstream_try : tk_upstream_build)(
	        config, r->upstream, r->revision.id, opt.arch, &r->artifact, &r->err);
}

static int choose_upstreams(
        const struct tk_config *config, struct result *results, size_t *count, struct tk_error *err)
{
	for (size_t i = 0; i < config->upstream_count; i++) {
		const struct tk_upstream_config *u = &config->upstreams[i];
		if (opt.upstream ? strcmp(opt.upstream, u->name) != 0 : !u->enabled || !is_built(u))
			continue;
		if (!is_built(u))
			return tk_fail(
			        err, TK_EUSAGE, "upstream \"%s\" is installed, not built", u->name);
		results[*count].upstream = u;
		results[(*count)++].rev = opt.rev;
	}
	char hint[TK_SUGGEST_HINT_SIZE];
	if (opt.upstream && !*count)
		return tk_fail(err, TK_EUSAGE, "unknown upstream \"%s\" in %s%s", opt.upstream,
		        config->path ? config->path : "the default configuration",
		        tk_config_suggest_upstream(config, opt.upstream, NULL, NULL, hint));
	return TK_OK;
}

static int export_results(const struct tk_config *config, const struct result *results,
        size_t count, struct tk_error *err)
{
	const char **keys = tk_calloc(count + 1, sizeof *keys);
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (results[i].artifact && tk_build_status_is_usable(results[i].artifact->status))
			keys[n++] = results[i].artifact->key;
	int status = n ? export_keys(config, keys, n, err) : TK_OK;
	free(keys);
	if (n && !status)
		tk_log(TK_LOG_INFO, "export", NULL, "%zu build%s in %s", n, n == 1 ? "" : "s",
		        opt.export_file);
	return status;
}

/* What the backends that were built say that they compute, as far as they load here. */
static int add_operations(const struct tk_globals *g, json_t *rows, struct tk_error *err)
{
	AUTO_PTR(tk_modules) modules = NULL;
	json_t *row, *b;
	size_t i, k;

	TRY(tk_modules_load(g->program, &modules, err));
	json_array_foreach (rows, i, row)
		json_array_foreach (json_object_get(row, "backends"), k, b) {
			json_auto_t *about =
			        tk_survey_query_backend(g, modules, tk_record_text(b, "path"));

			json_object_set(b, "operations", json_object_get(about, "operations"));
		}
	return TK_OK;
}

/* Builds what the results name, prints and frees them, unless `status` is an error. */
static int build_all(const struct tk_globals *g, struct result *results, size_t count, int status,
        struct tk_error *err)
{
	const struct tk_config *config = g->config;

	for (size_t i = 0; !status && i < count; i++) {
		if (build_one(config, &results[i]) == TK_ECANCELED)
			status = tk_fail(err, TK_ECANCELED, "%s", results[i].err.message);
	}
	json_t *rows = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(rows, result_json(&results[i]));
	if (!status && opt.action)
		status = add_operations(g, rows, err);
	if (!status)
		status = print_rows(g, opt.action ? trial_columns : result_columns, rows, err);
	else
		json_decref(rows);
	const size_t failed = status ? 0 : print_failures(results, count);
	if (!status && opt.export_file)
		status = export_results(config, results, count, err);
	for (size_t i = 0; i < count; i++)
		tk_artifact_free(results[i].artifact);
	free(results);
	if (status)
		return status;
	return failed ? TK_EXIT_INCOMPLETE : TK_EXIT_OK;
}

/* Revisions of the upstream of the first result, as results; newest first where none is named. */
static int list_trials(
        const struct tk_config *config, struct result *results, size_t *count, struct tk_error *err)
{
	const struct tk_upstream_config *u = results->upstream;
	struct tk_revision *list = NULL;
	struct tk_repo repo;
	int64_t since_s;
	size_t found = 0;

	for (*count = 0; *count < opt.revs.count; ++*count)
		results[*count] = (struct result){u, .rev = opt.revs.items[*count]};
	if (*count)
		return TK_OK;
	TRY(tk_upstream_check_adapter(config, u, err));
	TRY(tk_when_parse(opt.since, tk_clock_now_s(), false, &since_s, err));
	tk_upstream_init_repo(config, u, &repo);
	TRY(tk_repo_list_revisions(&repo, 0, since_s, &list, &found, err));
	*count = found < opt.commits ? found : opt.commits;
	for (size_t i = 0; i < *count; i++)
		results[i] = (struct result){
		        u, .revision = list[i * (found - 1) / (*count > 1 ? *count - 1 : 1)]};
	free(list);
	return *count ? TK_OK
	              : tk_fail(err, TK_ENOTFOUND, "%s has no revision since %s", u->name,
	                        opt.since);
}

/* The newest revisions, or those that `tracker adapter` tries: of the upstream with the name, else
 * of the first one with this adapter. */
static int build_revisions(const struct tk_globals *g, struct tk_error *err)
{
	const struct tk_config *config = g->config;
	const size_t most = config->upstream_count + opt.commits + opt.revs.count;
	struct result *results = tk_calloc(most, sizeof *results);
	size_t count = 0;

	for (size_t i = 0; opt.action && i < config->upstream_count; i++) {
		const char *adapter = config->upstreams[i].adapter;
		if (!tk_config_find_upstream(config, opt.upstream) && adapter &&
		        !strcmp(adapter, opt.upstream))
			opt.upstream = config->upstreams[i].name;
	}
	int status = choose_upstreams(config, results, &count, err);
	if (!status && opt.action)
		status = list_trials(config, results, &count, err);
	return build_all(g, results, status ? 0 : count, status, err);
}

static int run_build(struct tk_globals *g, struct tk_error *err)
{
	if (opt.dry_run)
		return tk_night_plan_print_newest(g, opt.upstream, err);
	TRY(tk_survey_apply_defaults(g, &g->config, err));
	tk_cancel_install_handlers();
	return opt.list          ? list_cache(g, err)
	       : opt.cached      ? export_cache(g->config, err)
	       : opt.clean       ? clean_cache(g->config, err)
	       : opt.import_file ? import_cache(g->config, err)
	                         : build_revisions(g, err);
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
                        "machine code: equal code has an equal hash. The first diagnostic of a "
                        "failed build and the path of its log go to stderr; `partial` is a build "
                        "without some of its kernels (5 of 6 kernels). A failure is remembered "
                        "for a day, or until a tool or a package is installed, or the sandbox or "
                        "a limit is changed; --clean forgets it.\n\n"
                        "Exit code: 0 all are built, 3 something could not be built, or not all "
                        "of it.\n\n"
                        "Examples:\n"
                        "  tracker build\n"
                        "  tracker build openblas-develop --rev=v0.3.29\n"
                        "  tracker build --export=builds.tar.zst    # on the build host\n"
                        "  tracker build --export=builds.tar.zst --cached\n"
                        "  tracker build --import=builds.tar.zst    # on the machine that "
                        "measures"},
        .opens = TK_OPENS_CONFIG,
        .run = run_build};

/* ---- tracker adapter ------------------------------------------------------------------------- */

static const struct tk_option adapter_options[] = {
        {TK_OPT_TEXT("arch", 0, "ARCH", &opt.arch,
                "Build for ARCH, as `tracker build --arch` (native, sm_90a, gfx942)")},
        {TK_OPT_COUNT("commits", 0, "N", 1, 1000, &opt.commits,
                "Try N revisions, evenly spread over those since TIME (default: 3)")},
        {TK_OPT_JSON(&opt.json, "Print a table (default) or JSON")},
        {TK_OPT_ITEMS("revs", 0, "REV,REV", &opt.revs, "Try these hashes, tags or versions"),
                .excludes = "commits since"},
        {TK_OPT_TEXT("since", 's', "TIME", &opt.since,
                "Try revisions since TIME (default: 1y), the first and the last among them")},
        {TK_OPT_ARGUMENT(&opt.action, "missing action; expected check")},
        {TK_OPT_ARGUMENT(&opt.upstream, "missing NAME; expected an adapter or an upstream")},
        {0},
};

static int run_adapter(struct tk_globals *g, struct tk_error *err)
{
	static const char *const actions[] = {"check", NULL};

	if (strcmp(opt.action, *actions) != 0)
		return tk_options_fail_action(opt.action, actions, err);
	TRY(tk_survey_apply_defaults(g, &g->config, err));
	tk_cancel_install_handlers();
	TRY(tk_upstream_forget_trials(g->config, err));
	return build_revisions(g, err);
}

const struct tk_command tk_command_adapter = {.name = "adapter",
        .summary = "check which revisions of a library its adapter builds",
        .usage = {.options = adapter_options,
                .arguments = "check NAME",
                .surplus = "expected one NAME",
                .help = "Build revisions of the upstream NAME, or of the first one with the "
                        "adapter NAME, to see whether the adapter knows their interfaces.\v"
                        "Of kernels that are compiled one by one only the first is. The builds "
                        "are kept apart from those that are measured, and nothing needs a GPU. "
                        "STATUS is that of `tracker build`; MESSAGE is the first diagnostic, or "
                        "what was looked for in a revision whose interface is unknown; BACKENDS "
                        "has the operations of each.\n\n"
                        "Exit code: 0 all are built, 3 one is not, or not all of it.\n\n"
                        "Examples:\n"
                        "  tracker adapter check cutlass\n"
                        "  tracker adapter check openblas --since=2y --commits=5\n"
                        "  tracker adapter check deepgemm --revs=v2.1.1,main --arch=sm_90a"},
        .opens = TK_OPENS_CONFIG,
        .run = run_adapter};
