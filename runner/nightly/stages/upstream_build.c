/* See upstream_build.h. */
#include "nightly/stages/upstream_build.h"
#include "base/base.h"
#include "build/build.h"
#include "config/config.h"
#include "nightly/plan/suites.h"
#include "upstream/repo.h"
#include <time.h>
#include <unistd.h>

void tk_upstream_init_repo(
        const struct tk_config *config, const struct tk_upstream_config *u, struct tk_repo *out)
{
	static int64_t started_ns; /* of this program's first look at an upstream */
	struct timespec now;
	bool self = u->kind == TK_UPSTREAM_SELF, package = u->kind == TK_UPSTREAM_PACKAGE;
	clock_gettime(CLOCK_REALTIME, &now);
	if (!started_ns)
		started_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	*out = (struct tk_repo){
	        .kind = self      ? TK_REPO_SELF
	                : package ? TK_REPO_PACKAGE
	                          : TK_REPO_GIT,
	        .name = u->name,
	        .url = package           ? u->index
	               : self && !u->url ? tk_path_data_dir()
	                                 : u->url,
	        .package = u->package,
	        .extra_index = u->extra_index,
	        .python = u->python,
	        .pre = u->pre,
	        .branch = u->branch,
	        .path = u->path,
	        .submodules = u->submodules,
	        .cache_dir = config->cache_dir,
	        .deadline_s = config->budgets.fetch_s,
	        .fresh_ns = started_ns,
	};
}

static char *find_adapter_dir(const struct tk_config *config, const struct tk_upstream_config *u)
{
	const char *name = u->adapter ? u->adapter : u->name;
	char *users = config->adapter_path ? tk_path_join(config->adapter_path, name) : NULL;
	if (users && tk_dir_exists(users))
		return users;
	free(users);
	return tk_path_join3(tk_path_data_dir(), "kernels/adapters", name);
}

/* The adapter in `dir` with a similar name, unless *out already has one. */
static void suggest_adapter(const char *dir, const char *name, char *out, size_t size)
{
	char **names = NULL;
	size_t count = 0;
	if (*out || !dir || tk_dir_list(dir, &names, &count, NULL))
		return;
	names = tk_reallocarray(names, count + 1, sizeof *names);
	names[count] = NULL;
	const char *near = tk_suggest_name(name, (const char *const *)names);
	if (near)
		snprintf(out, size, "%s", near);
	tk_names_free(names, count);
}

static int fail_unknown_adapter(
        const struct tk_config *config, const char *name, const char *program, struct tk_error *err)
{
	const char *users = config->adapter_path;
	AUTO_TEXT shipped = tk_path_join(tk_path_data_dir(), "kernels/adapters");
	char near[128] = "";
	suggest_adapter(users, name, near, sizeof near);
	suggest_adapter(shipped, name, near, sizeof near);
	return tk_fail(err, TK_ENOTFOUND, "unknown adapter \"%s\": %s does not exist%s%s%s%s%s%s",
	        name, program, users ? ", and neither does one in " : "", users ? users : "",
	        users ? " (paths.adapters)" : "", *near ? "; did you mean \"" : "", near,
	        *near ? "\"?" : "");
}

int tk_upstream_check_adapter(
        const struct tk_config *config, const struct tk_upstream_config *u, struct tk_error *err)
{
	const char *name = u->adapter ? u->adapter : u->name;
	AUTO_TEXT dir = find_adapter_dir(config, u);
	AUTO_TEXT program = tk_path_join(dir, "build");
	if (!tk_file_exists(program))
		return fail_unknown_adapter(config, name, program, err);
	if (access(program, X_OK) != 0)
		return tk_fail(
		        err, TK_ENOTFOUND, "adapter \"%s\": %s is not executable", name, program);
	return TK_OK;
}

/* ---- problems ---- */

#define FILE_MAX ((size_t)64 << 10)

/* Whether "gemm" of "gemm:..." is one of the lines. */
static bool is_wanted(const char *operations, const char *problem)
{
	const size_t len = strcspn(problem, ":");
	for (const char *line = operations; *line;) {
		const size_t n = strcspn(line, "\n");
		if (n == len && !strncmp(line, problem, n))
			return true;
		line += n + (line[n] == '\n');
	}
	return false;
}

/* Those that an adapter compiles kernels for: the problems of the configured suites, as far as its
 * file `problems` names their operations. *out is NULL where it has no such file, else an array of
 * texts of *list. */
static int list_problems(const struct tk_config *config, const char *adapter_dir,
        struct tk_problem_list *list, const char ***out, struct tk_error *err)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	AUTO_TEXT path = tk_path_join(adapter_dir, "problems");
	size_t count = 0;
	*out = NULL;
	if (!tk_file_exists(path))
		return TK_OK;
	TRY(tk_file_read(path, FILE_MAX, &text, err));
	TRY(tk_problem_list_add_configured(list, config, err));
	*out = tk_calloc(list->count + 1, sizeof **out);
	for (size_t i = 0; i < list->count; i++)
		if (is_wanted(tk_buf_cstr(&text), list->rows[i].text))
			(*out)[count++] = list->rows[i].text;
	return TK_OK;
}

/* ---- builds ---- */

/* Builds it, or looks for it in the cache. */
static int make_build(const struct tk_config *config, const struct tk_upstream_config *u,
        const char *revision, const char *arch, bool is_trial,
        int (*make)(const struct tk_build_spec *, struct tk_artifact **, struct tk_error *),
        char *changed, struct tk_artifact **out, struct tk_error *err)
{
	struct tk_repo repo;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	AUTO_TEXT adapter = find_adapter_dir(config, u);
	AUTO_TEXT kernels = tk_path_join(tk_path_data_dir(), "kernels");
	AUTO_TEXT trials = tk_path_join(config->cache_dir, "trials");
	AUTO(tk_problem_list) list = {0};
	const char **problems;
	TRY(list_problems(config, adapter, &list, &problems, err));
	tk_upstream_init_repo(config, u, &repo);
	struct tk_build_spec spec = {.repo = &repo,
	        .revision = revision,
	        .adapter_dir = adapter,
	        .kernels_dir = kernels,
	        .arch = arch ? arch : "native",
	        .flags = u->cmake_args,
	        .problems = problems,
	        .cache_dir = is_trial ? trials : config->cache_dir,
	        .instances = is_trial,
	        .jobs = cores > 0 ? (unsigned)cores : 1,
	        .deadline_s = config->budgets.build_s,
	        .memory_limit_bytes = config->budgets.build_memory_bytes,
	        .disk_limit_bytes = config->budgets.build_disk_bytes,
	        .network = u->network,
	        .changed = changed,
	        .env = u->env};
	int status = make(&spec, out, err);
	free(problems);
	return status;
}

int tk_upstream_build(const struct tk_config *config, const struct tk_upstream_config *u,
        const char *revision, const char *arch, struct tk_artifact **out, struct tk_error *err)
{
	return make_build(config, u, revision, arch, false, tk_artifact_build, NULL, out, err);
}

int tk_upstream_try(const struct tk_config *config, const struct tk_upstream_config *u,
        const char *revision, const char *arch, struct tk_artifact **out, struct tk_error *err)
{
	return make_build(config, u, revision, arch, true, tk_artifact_build, NULL, out, err);
}

int tk_upstream_forget_trials(const struct tk_config *config, struct tk_error *err)
{
	AUTO_TEXT trials = tk_path_join(config->cache_dir, "trials");
	return tk_artifact_evict(trials, 0, NULL, 0, err);
}

int tk_upstream_find_build(const struct tk_config *config, const struct tk_upstream_config *u,
        const char *revision, const char *arch, char *changed, struct tk_artifact **out,
        struct tk_error *err)
{
	return make_build(config, u, revision, arch, false, tk_artifact_find, changed, out, err);
}

/* ---- bundles ---- */

int tk_upstream_import_bundle(const struct tk_config *config, const char *file, char ***keys,
        size_t *count, struct tk_error *err)
{
	size_t imported = 0;
	TRY(tk_signature_verify(config->signing.allowed_signers, file, err));
	return tk_artifact_import(config->cache_dir, file, &imported, keys, count, err);
}
