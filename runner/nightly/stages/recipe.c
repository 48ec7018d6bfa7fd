/* See recipe.h. */
#include "nightly/stages/recipe.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "build/build.h"
#include "config/config.h"
#include "upstream/repo.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void tk_recipe_init_repo(
        const struct tk_config *config, const struct tk_upstream_config *u, struct tk_repo *out)
{
	bool self = u->kind == TK_UPSTREAM_SELF, package = u->kind == TK_UPSTREAM_PACKAGE;
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
	const char **known = tk_calloc(count + 1, sizeof *known);
	for (size_t i = 0; known && i < count; i++)
		known[i] = names[i];
	const char *near = known ? tk_suggest_name(name, known) : NULL;
	if (near)
		snprintf(out, size, "%s", near);
	free(known);
	tk_names_free(names, count);
}

static int fail_unknown_adapter(
        const struct tk_config *config, const char *name, const char *program, struct tk_error *err)
{
	const char *users = config->adapter_path;
	char *shipped = tk_path_join(tk_path_data_dir(), "kernels/adapters"), near[128] = "";
	suggest_adapter(users, name, near, sizeof near);
	suggest_adapter(shipped, name, near, sizeof near);
	free(shipped);
	return tk_fail(err, TK_ENOTFOUND, "unknown adapter \"%s\": %s does not exist%s%s%s%s%s%s",
	        name, program, users ? ", and neither does one in " : "", users ? users : "",
	        users ? " (paths.adapters)" : "", *near ? "; did you mean \"" : "", near,
	        *near ? "\"?" : "");
}

int tk_recipe_check_adapter(
        const struct tk_config *config, const struct tk_upstream_config *u, struct tk_error *err)
{
	char *dir = find_adapter_dir(config, u), *program = dir ? tk_path_join(dir, "build") : NULL;
	int status = TK_OK;
	if (!program)
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	else if (tk_file_exists(program) && access(program, X_OK) != 0)
		status = tk_fail(err, TK_ENOTFOUND, "adapter \"%s\": %s is not executable",
		        u->adapter ? u->adapter : u->name, program);
	else if (!tk_file_exists(program))
		status = fail_unknown_adapter(
		        config, u->adapter ? u->adapter : u->name, program, err);
	free(dir);
	free(program);
	return status;
}

int tk_recipe_build(const struct tk_config *config, const struct tk_upstream_config *u,
        const char *revision, const char *arch, struct tk_artifact **out, struct tk_error *err)
{
	struct tk_repo repo;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	char *adapter = find_adapter_dir(config, u),
	     *kernels = tk_path_join(tk_path_data_dir(), "kernels");
	char **problems = NULL;
	int status = adapter && kernels ? tk_recipe_list_problems(config, adapter, &problems, err)
	                                : tk_fail(err, TK_ENOMEM, "out of memory");
	tk_recipe_init_repo(config, u, &repo);
	if (!status) {
		struct tk_build_spec spec = {.repo = &repo,
		        .revision = revision,
		        .adapter_dir = adapter,
		        .kernels_dir = kernels,
		        .arch = arch ? arch : "native",
		        .flags = u->cmake_args,
		        .problems = (const char *const *)problems,
		        .cache_dir = config->cache_dir,
		        .jobs = cores > 0 ? (unsigned)cores : 1,
		        .deadline_s = config->budgets.build_s,
		        .memory_limit_bytes = config->budgets.build_memory_bytes,
		        .disk_limit_bytes = config->budgets.build_disk_bytes,
		        .network = u->network,
		        .env = u->env};
		status = tk_artifact_build(&spec, out, err);
	}
	tk_recipe_free_problems(problems);
	free(adapter);
	free(kernels);
	return status;
}
