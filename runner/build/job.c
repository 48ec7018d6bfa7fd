/* See job.h. */
#include "build/job.h"
#include "base/process.h"
#include "upstream/repo.h"
#include <unistd.h>

#define SOURCES_MAX_BYTES ((size_t)64 << 10)

static const char *const place_names[TK_PLACES] = {[TK_PLACE_OUT] = "out",
        [TK_PLACE_BUILD] = "build",
        [TK_PLACE_TMP] = "tmp",
        [TK_PLACE_COLLECTED] = "artifact",
        [TK_PLACE_LOG] = "build.log",
        [TK_PLACE_PROBLEMS] = "problems.json"};

void tk_build_job_free(struct tk_build_job *j)
{
	tk_reads_finish(j->reads, NULL, NULL, NULL);
	tk_repo_remove_checkout(j->spec->repo, j->source);
	if (j->temp)
		tk_dir_remove(j->temp, NULL);
	tk_lock_release(j->lock);
	for (int i = 0; i < TK_PLACES; i++)
		free(j->at[i]);
	free(j->temp);
	free(j->python);
	free(j->ccache);
	free(j->adapter_dir);
	tk_artifact_free(j->artifact);
}

/* The folder that the interpreter of a virtual environment is installed in, which may be in the
 * user's home; NULL: not found. */
static char *find_python(const char *environment)
{
	AUTO_TEXT link = tk_path_join(environment, "bin/python");
	char *dir = realpath(link, NULL);
	for (int i = 0; dir && i < 2; i++) { /* PREFIX/bin/python3 */
		char *slash = strrchr(dir, '/');
		if (slash)
			*slash = '\0';
	}
	return dir;
}

static int write_problems(const struct tk_build_job *j, struct tk_error *err)
{
	json_t *list = json_array();
	json_auto_t *root = json_pack("{s:o}", "problems", list);
	for (const char *const *p = j->spec->problems; p && *p; p++)
		json_array_append_new(list, json_string(*p));
	AUTO_TEXT text = json_dumps(root, JSON_INDENT(1));
	return tk_file_write_nosync(j->at[TK_PLACE_PROBLEMS], text, strlen(text), err);
}

double tk_build_find_wait_s(const struct tk_build_spec *spec)
{
	return spec->deadline_s > 0 ? spec->deadline_s : 24 * 3600;
}

/* The folder of the build. Without namespaces its name is the same for each build of the upstream,
 * unless another tracker builds there for too long. */
static int create_temp(struct tk_build_job *j, struct tk_error *err)
{
	const struct tk_build_spec *spec = j->spec;
	AUTO_TEXT artifacts = tk_path_join(spec->cache_dir, "artifacts");
	AUTO_TEXT slug = tk_path_make_slug(spec->repo->name);
	AUTO_TEXT fixed = tk_path_join3(spec->cache_dir, "build", slug);
	AUTO_TEXT name = tk_sprintf("build-%s", slug);
	TRY(tk_dir_create(artifacts, err));
	if (tk_sandbox_method() == TK_SANDBOX_BUBBLEWRAP)
		return tk_dir_create_temp(artifacts, ".new-", &j->temp, err);
	const int status =
	        tk_cache_lock(spec->cache_dir, name, tk_build_find_wait_s(spec), &j->lock, err);
	if (status == TK_EBUSY) {
		*err = (struct tk_error){0};
		return tk_dir_create_temp(artifacts, ".new-", &j->temp, err);
	}
	TRY(status);
	TRY(tk_dir_remove(fixed, err));
	j->temp = tk_strdup(fixed);
	return tk_dir_create(fixed, err);
}

/* A checkout moves to the folder of the build. */
static int check_out(struct tk_build_job *j, const struct tk_repo *repo, struct tk_error *err)
{
	AUTO_TEXT to = tk_path_join(j->temp, "src");
	TRY(tk_repo_checkout(repo, j->spec->revision, &j->source, err));
	if (repo->kind == TK_REPO_PACKAGE) {
		j->python = find_python(j->source);
	} else if (rename(j->source, to) == 0) {
		free(j->source);
		j->source = tk_strdup(to);
	} else {
		return tk_fail_errno(err, "cannot move the checkout to %s", to);
	}
	return TK_OK;
}

/* The virtual environment of a package stays where it is: its scripts have paths in them. */
static void list_mounts(struct tk_build_job *j)
{
	const bool is_package = j->spec->repo->kind == TK_REPO_PACKAGE;
	const struct tk_sandbox_mount all[TK_BUILD_MOUNTS_MAX] = {
	        {j->at[TK_PLACE_OUT], TK_BUILD_SEEN "/out", true},
	        {j->at[TK_PLACE_BUILD], TK_BUILD_SEEN "/build", true},
	        {j->at[TK_PLACE_TMP], TK_BUILD_SEEN "/tmp", true},
	        {j->ccache, TK_BUILD_SEEN "/ccache", true},
	        {j->adapter_dir, TK_BUILD_SEEN "/adapter", false},
	        {j->kernels_dir, TK_BUILD_SEEN "/kernels", false},
	        {j->at[TK_PLACE_PROBLEMS], TK_BUILD_SEEN "/problems.json", false},
	        {is_package ? NULL : j->source, TK_BUILD_SEEN "/src", true}};
	memcpy(j->mounts, all, sizeof all);
}

const char *tk_build_job_seen(const struct tk_build_job *j, const char *path)
{
	for (const struct tk_sandbox_mount *m = j->mounts; j->is_mounted && m->from; m++)
		if (m->from == path)
			return m->to;
	return path;
}

int tk_build_job_prepare(struct tk_build_job *j, struct tk_error *err)
{
	const struct tk_build_spec *spec = j->spec;
	struct tk_repo repo = *spec->repo;
	AUTO_TEXT requirements = tk_path_join(spec->adapter_dir, "requirements");
	AUTO_TEXT list = tk_path_join(spec->adapter_dir, "sources");
	AUTO(tk_buf) sources = TK_BUF_INIT;
	TRY(create_temp(j, err));
	j->ccache = tk_path_join3(repo.cache_dir, "ccache", repo.name);
	for (int i = 0; i < TK_PLACES; i++) {
		j->at[i] = tk_path_join(j->temp, place_names[i]);
		if (i < TK_PLACE_FOLDERS)
			TRY(tk_dir_create(j->at[i], err));
	}
	/* before the sandbox, whose rules are of folders that exist */
	TRY(tk_dir_create(j->ccache, err));
	TRY(write_problems(j, err));
	if (tk_file_exists(requirements))
		repo.requirements = requirements;
	if (tk_file_exists(list)) {
		TRY(tk_file_read(list, SOURCES_MAX_BYTES, &sources, err));
		repo.sources = tk_buf_cstr(&sources);
	}
	TRY(check_out(j, &repo, err));
	list_mounts(j);
	return TK_OK;
}

/* A sandbox hides the user's home: the build has one of its own,
 * and a cache of compilers that no other upstream can write to. tk_code_hash_object() needs the
 * relocations to hash code without addresses. */
int tk_build_job_make_env(const struct tk_build_job *j, bool is_sandboxed, struct tk_build_env *e,
        struct tk_error *err)
{
	const struct {
		const char *name, *path;
	} vars[] = {{"TK_SRC", j->source}, {"TK_OUT", j->at[TK_PLACE_OUT]},
	        {"TK_KERNELS", j->kernels_dir}, {"TMPDIR", j->at[TK_PLACE_TMP]},
	        {"TK_PROBLEMS", j->at[TK_PLACE_PROBLEMS]}, {"TK_ADAPTER", j->adapter_dir},
	        {"HOME", j->at[TK_PLACE_TMP]}, {"CCACHE_DIR", j->ccache},
	        {"CCACHE_TEMPDIR", j->at[TK_PLACE_TMP]}};
	const size_t private_count = 3, count = sizeof vars / sizeof *vars;
	TRY(tk_build_env_add(e, j->spec, err));
	for (size_t i = 0; i < count - (is_sandboxed ? 0 : private_count); i++)
		TRY(tk_build_env_put(e, vars[i].name, tk_build_job_seen(j, vars[i].path), err));
	return TK_OK;
}

int tk_build_job_new_sandbox(
        const struct tk_build_job *j, struct tk_sandbox **out, struct tk_error *err)
{
	/* The virtual environment of a package is shared by all builds of its version. */
	const bool shared = j->spec->repo->kind == TK_REPO_PACKAGE;
	const char *const writable[] = {j->at[TK_PLACE_OUT], j->at[TK_PLACE_BUILD],
	        j->at[TK_PLACE_TMP], j->ccache, shared ? NULL : j->source, NULL};
	const char *const readable[] = {j->adapter_dir, j->kernels_dir, tk_path_data_dir(),
	        j->at[TK_PLACE_PROBLEMS], shared ? j->source : NULL, j->python, NULL};
	const struct tk_sandbox_policy policy = {.writable = writable,
	        .readable = readable,
	        .mounts = j->mounts,
	        .cwd = TK_BUILD_SEEN "/build",
	        .network = j->spec->network};
	return tk_sandbox_new(&policy, out, err);
}
