/* Runs an adapter on a revision and publishes what it leaves. */
#include "build/build.h"
#include "base/cgroup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/sandbox.h"
#include "base/try.h"
#include "build/build_internal.h"
#include "build/manifest.h"
#include "upstream/repo.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define RETRY_S (24 * 3600) /* the cause may have been the network or the disk */
#define OUTPUT_MAX_BYTES ((uint64_t)8 << 30)
#define LOG_MAX_BYTES ((uint64_t)64 << 20)
#define PROCESS_MAX 4096u

#define DISK_FULL_BYTES ((uint64_t)64 << 10)

/* One build in progress. */
struct job {
	const struct tk_build_spec *spec;
	char *kernels_dir, *adapter_dir; /* absolute */
	char *source;                    /* checkout, removed with tk_repo_remove_checkout */
	char *temp; /* <artifacts>/.new-...: out/, build/, tmp/, build.log, artifact/ */
	char *out, *build, *tmp, *log;
	char *problems;  /* file for the adapter */
	char *python;    /* of a package: what its virtual environment was made from; may be NULL */
	char *ccache;    /* folder of ccache for this upstream */
	char *collected; /* artifact/: copies of what is kept of out/ and build.log */
	struct tk_artifact *artifact;
};

static char *copy(const char *s)
{
	return tk_strdup(s ? s : "");
}

/* The last component of a path, without the slashes that may follow it. */
static char *last_component(const char *path)
{
	size_t end = strlen(path);
	while (end > 1 && path[end - 1] == '/')
		end--;
	size_t start = end;
	while (start && path[start - 1] != '/')
		start--;
	return tk_strndup(path + start, end - start);
}

/* ---- before ---- */

static int check_spec(const struct tk_build_spec *spec, struct tk_error *err)
{
	AUTO_TEXT program = tk_path_join(spec->adapter_dir, "build");
	int status = TK_OK;
	if (!spec->repo || !spec->revision || !*spec->revision)
		status = tk_fail(err, TK_EINTERNAL, "a build needs a repository and a revision");
	else if (!tk_file_exists(program))
		status = tk_fail(
		        err, TK_ENOTFOUND, "%s: no such adapter: %s", spec->repo->name, program);
	else if (access(program, X_OK))
		status = tk_fail(err, TK_ECONFIG, "%s: the adapter %s is not executable",
		        spec->repo->name, program);
	return status;
}

static char *find_kernels_dir(const struct tk_build_spec *spec)
{
	if (spec->kernels_dir)
		return tk_path_make_absolute(spec->kernels_dir);
	char *up = tk_path_join(spec->adapter_dir, "../..");
	char *dir = up ? tk_path_make_absolute(up) : NULL;
	free(up);
	return dir;
}

/* The folder that the interpreter of a virtual environment is installed in, which may be in the
 * user's home; NULL: not found. */
static char *find_python(const char *environment)
{
	char *link = tk_path_join(environment, "bin/python"),
	     *dir = link ? realpath(link, NULL) : NULL;
	for (int i = 0; dir && i < 2; i++) { /* PREFIX/bin/python3 */
		char *slash = strrchr(dir, '/');
		if (slash)
			*slash = '\0';
	}
	free(link);
	return dir;
}

/* The adapter's companions of a Python package are installed with it. */
static int check_out(struct job *j, struct tk_error *err)
{
	struct tk_repo repo = *j->spec->repo;
	AUTO_TEXT requirements = tk_path_join(j->spec->adapter_dir, "requirements");
	if (tk_file_exists(requirements))
		repo.requirements = requirements;
	TRY(tk_repo_checkout(&repo, j->spec->revision, &j->source, err));
	if (repo.kind == TK_REPO_PACKAGE)
		j->python = find_python(j->source);
	return TK_OK;
}

/* The work tree and the folders of the build. */
static int prepare(struct job *j, struct tk_error *err)
{
	const struct tk_build_spec *spec = j->spec;
	char *artifacts = tk_cache_artifacts_dir(spec->cache_dir);
	int status = tk_dir_create(artifacts, err);
	if (!status)
		status = tk_dir_create_temp(artifacts, ".new-", &j->temp, err);
	free(artifacts);
	if (status)
		return status;
	j->adapter_dir = tk_path_make_absolute(spec->adapter_dir);
	j->out = tk_path_join(j->temp, "out");
	j->build = tk_path_join(j->temp, "build");
	j->tmp = tk_path_join(j->temp, "tmp");
	j->log = tk_path_join(j->temp, "build.log");
	j->collected = tk_path_join(j->temp, "artifact");
	j->problems = tk_path_join(j->temp, "problems.json");
	j->ccache = tk_path_join3(spec->cache_dir, "ccache", spec->repo->name);
	if ((status = tk_dir_create(j->out, err)) || (status = tk_dir_create(j->build, err)) ||
	        (status = tk_dir_create(j->tmp, err)) ||
	        (status = tk_dir_create(j->collected, err)))
		return status;
	status = tk_build_problems_write(spec->problems, j->problems, err);
	return status ? status : check_out(j, err);
}

static void describe(struct job *j, const struct tk_build_key *key)
{
	const struct tk_build_spec *spec = j->spec;
	struct tk_artifact *a = tk_calloc(1, sizeof(*a));
	j->artifact = a;
	memcpy(a->key, key->hex, sizeof(a->key));
	a->toolchain = copy(key->toolchain);
	a->upstream = copy(spec->repo->name);
	a->revision = copy(spec->revision);
	a->adapter = last_component(spec->adapter_dir);
	a->arch = copy(spec->arch ? spec->arch : "native");
	a->flags = copy(spec->flags);
	a->message = copy("");
	a->built_s = tk_clock_now_s();
	if (tk_repo_find_revision(spec->repo, spec->revision, &a->commit, NULL))
		a->commit = (struct tk_revision){0};
}

/* ---- running ---- */

struct env {
	char *vars[64];
	size_t count;
};

#define KERNEL_FACTS_DEADLINE_S 600
#define ENV_MAX (sizeof(((struct env *)0)->vars) / sizeof(char *) - 1)

static int put_env(struct env *e, const char *name, const char *value, struct tk_error *err)
{
	if (e->count == ENV_MAX)
		return tk_fail(err, TK_ECONFIG, "more than %zu variables in `env`", ENV_MAX);
	e->vars[e->count] = tk_sprintf("%s=%s", name, value);
	e->vars[++e->count] = NULL;
	return TK_OK;
}

static const char *value_or(const char *value, const char *fallback)
{
	return value && *value ? value : fallback;
}

#define NVIDIA_SMI_DEADLINE_S 20

/* Of each NVIDIA card, such as "9.0 9.0"; "": there is none. A build cannot ask for it: the sandbox
 * hides the devices. */
static void find_cuda_capabilities(char *out, size_t size)
{
	const char *const argv[] = {
	        "nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader", NULL};
	const struct tk_process_spec spec = {.argv = argv, .deadline_s = NVIDIA_SMI_DEADLINE_S};
	struct tk_process_result result;
	*out = '\0';
	if (!tk_process_run(&spec, &result, NULL) && result.exit_code == 0) {
		const char *text = tk_buf_cstr(&result.out);
		snprintf(out, size, "%.*s", (int)strspn(text, "0123456789.\n"), text);
		for (char *c = out; *c; c++)
			*c = *c == '\n' ? ' ' : *c;
	}
	tk_process_result_free(&result);
}

/* tk_code_hash_object() needs the relocations to hash code without addresses. */
static int make_env(const struct job *j, struct env *e, struct tk_error *err)
{
	const struct tk_build_spec *spec = j->spec;
	const char *arch = value_or(spec->arch, "native");
	char jobs[16], capabilities[256] = "";
	unsigned job_count = 1;
	if (strcmp(arch, "native") == 0)
		find_cuda_capabilities(capabilities, sizeof capabilities);
	TRY(tk_build_jobs_limit(spec, &job_count, err));
	snprintf(jobs, sizeof(jobs), "%u", job_count);
	const struct {
		const char *name, *value;
	} vars[] = {{"TK_SRC", j->source}, {"TK_OUT", j->out}, {"TK_KERNELS", j->kernels_dir},
	        {"TK_JOBS", jobs}, {"TK_ARCH", arch}, {"TK_CUDA_CAPABILITIES", capabilities},
	        {"TK_FLAGS", value_or(spec->flags, "")}, {"CC", value_or(getenv("CC"), "cc")},
	        {"CXX", value_or(getenv("CXX"), "c++")}, {"LDFLAGS", "-Wl,--emit-relocs"},
	        {"TMPDIR", j->tmp}, {"TK_PROBLEMS", j->problems}, {"TK_ADAPTER", j->adapter_dir},
	        {"SOURCE_DATE_EPOCH", "315532800"}};
	for (char *const *name = spec->env; name && *name; name++)
		if (getenv(*name))
			TRY(put_env(e, *name, getenv(*name), err));
	for (size_t i = 0; i < sizeof(vars) / sizeof(*vars); i++)
		TRY(put_env(e, vars[i].name, vars[i].value, err));
	return TK_OK;
}

/* A sandbox hides the user's home: the build has one of its own, and a cache of compilers that no
 * other upstream can write to. */
static int put_private_env(const struct job *j, struct env *e, struct tk_error *err)
{
	const struct {
		const char *name, *value;
	} vars[] = {{"HOME", j->tmp}, {"CCACHE_DIR", j->ccache}, {"CCACHE_TEMPDIR", j->tmp}};
	for (size_t i = 0; i < sizeof(vars) / sizeof(*vars); i++)
		TRY(put_env(e, vars[i].name, vars[i].value, err));
	return tk_dir_create(j->ccache, err);
}

/* Cuts "<folder>/" out of a message: the folders of a build differ every time. */
static void cut_folder(char *text, const char *folder)
{
	const size_t len = strlen(folder);
	for (char *p = text; (p = strstr(p, folder));) {
		const size_t cut = len + (p[len] == '/');
		memmove(p, p + cut, strlen(p + cut) + 1);
	}
}

static int set_message(
        const struct job *j, enum tk_build_status how, char *message, struct tk_error *err)
{
	const char *const folders[] = {j->source, j->out, j->build, j->collected};
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		cut_folder(message, folders[i]);
	free(j->artifact->message);
	j->artifact->message = message;
	j->artifact->status = how;
	return TK_OK;
}

/* A full disk (its log may have had no room for the message), or a signal that a compiler does not
 * send itself: such a build says nothing of the revision. */
static int check_ended_by_system(
        const struct job *j, const struct tk_process_result *result, struct tk_error *err)
{
	static const int signals[] = {SIGKILL, SIGTERM, SIGHUP, SIGINT, SIGBUS, SIGXFSZ, SIGXCPU};
	const char *name = j->spec->repo->name;
	struct statvfs disk;
	if (tk_build_log_has_disk_full(j->log) ||
	        (statvfs(j->temp, &disk) == 0 && disk.f_bavail * disk.f_frsize < DISK_FULL_BYTES))
		return tk_fail(
		        err, TK_ENOSPC, "%s: no space left on the disk during the build", name);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (result->signal == signals[i] || result->exit_code == 128 + signals[i])
			return tk_fail(err, TK_ECRASH,
			        "%s: infrastructure failure: the build was killed (%s)", name,
			        strsignal(signals[i]));
	if (tk_build_log_has_killed_tool(j->log))
		return tk_fail(err, TK_ECRASH,
		        "%s: infrastructure failure: a tool of the build was killed or had no "
		        "memory",
		        name);
	return TK_OK;
}

/* The caller frees it. */
static char *describe_excess(const struct job *j, enum tk_process_limit limit)
{
	char *text = NULL;
	int len;
	if (limit == TK_LIMIT_LOG)
		len = asprintf(&text, "the build printed more than %u MiB: killed",
		        (unsigned)(LOG_MAX_BYTES >> 20));
	else if (limit == TK_LIMIT_PROCESSES)
		len = asprintf(&text, "the build had more than %u processes: killed", PROCESS_MAX);
	else
		len = asprintf(&text,
		        "the build used more than %.1f GiB of disk space, the limit of "
		        "`budgets.build_disk`: killed",
		        (double)j->spec->disk_limit_bytes / 0x1p30);
	return len < 0 ? NULL : text;
}

/* Status and message of the artifact, from how the adapter ended. */
static int record_result(struct job *j, const struct tk_process_spec *proc,
        const struct tk_process_result *result, struct tk_error *err)
{
	struct tk_artifact *a = j->artifact;
	struct tk_error why = {0};
	char *text = NULL;
	if (result->timed_out) {
		if (asprintf(&text, "the build did not end within %.0f s", proc->deadline_s) < 0)
			text = NULL;
		return set_message(j, TK_BUILD_TIMEOUT, text, err);
	}
	if (result->exceeded == TK_LIMIT_DISK_FULL)
		return tk_fail(err, TK_ENOSPC, "%s: the disk became nearly full during the build",
		        j->spec->repo->name);
	if (result->exceeded == TK_LIMIT_MEMORY)
		return tk_fail(err, TK_ECRASH,
		        "%s: infrastructure failure: the build used more than %.1f GiB of memory: "
		        "killed",
		        j->spec->repo->name, (double)tk_cgroup_default_memory() / 0x1p30);
	if (result->exceeded)
		return set_message(j, TK_BUILD_FAILED, describe_excess(j, result->exceeded), err);
	if (result->exit_code != 0) {
		int status = check_ended_by_system(j, result, err);
		if (status)
			return status;
		text = tk_build_log_find_error(j->log);
		if (text && !*text) {
			free(text);
			tk_process_check(proc, result, &why);
			text = tk_strdup(why.message);
		}
		return set_message(j, TK_BUILD_FAILED, text, err);
	}
	int status = tk_build_collect(j->out, j->collected, OUTPUT_MAX_BYTES, &why);
	if (!status)
		status = tk_artifact_scan_backends(a, j->collected, &why);
	if (status == TK_EDATA)
		return set_message(j, TK_BUILD_FAILED, tk_strdup(why.message), err);
	return status ? tk_fail(err, status, "%s", why.message) : TK_OK;
}

static int new_sandbox(const struct job *j, struct tk_sandbox **out, struct tk_error *err)
{
	/* The virtual environment of a package is shared by all builds of its version. */
	const bool shared = j->spec->repo->kind == TK_REPO_PACKAGE;
	const char *const writable[] = {
	        j->out, j->build, j->tmp, j->ccache, shared ? NULL : j->source, NULL};
	const char *const readable[] = {j->adapter_dir, j->kernels_dir, tk_path_data_dir(),
	        j->problems, shared ? j->source : NULL, j->python, NULL};
	const struct tk_sandbox_policy policy = {
	        .writable = writable, .readable = readable, .network = j->spec->network};
	return tk_sandbox_new(&policy, out, err);
}

/* In the sandbox of the build, whose files are not trusted. Kernels whose facts are not known are
 * measured all the same. */
static void write_kernel_facts(const struct job *j, struct tk_process_spec proc)
{
	AUTO_TEXT script = tk_path_join3(tk_path_data_dir(), "kernels/gpu", "kernel_facts.py");
	AUTO_TEXT lib = tk_path_join(j->out, "lib");
	const char *const argv[] = {"python3", "-I", script, lib, NULL};
	struct tk_process_result result = {0};
	struct tk_error why = {0};
	proc.argv = argv;
	proc.sandbox = NULL; /* of the build: serves one process */
	proc.deadline_s = KERNEL_FACTS_DEADLINE_S;
	if (new_sandbox(j, &proc.sandbox, &why) || tk_process_run(&proc, &result, &why) ||
	        tk_process_check(&proc, &result, &why))
		tk_log(TK_LOG_DEBUG, "kernel_facts_unknown", NULL, "%s: %s", j->spec->repo->name,
		        why.message);
	tk_process_result_free(&result);
	tk_sandbox_free(proc.sandbox);
}

/* Runs the program in a sandbox. *again: the sandbox did not work, and there is a weaker one. */
static int run_program(
        struct job *j, const char *program, struct env *env, bool *again, struct tk_error *err)
{
	const char *const argv[] = {program, NULL};
	const char *const disk[] = {j->out, j->build, j->tmp, j->source, j->ccache, NULL};
	struct tk_sandbox *sandbox = NULL;
	struct tk_cgroup *cgroup = NULL;
	AUTO(tk_process_result) result = {0};
	int status = new_sandbox(j, &sandbox, err);
	if (!status)
		status = tk_cgroup_new(tk_cgroup_default_memory(), PROCESS_MAX, &cgroup, err);
	struct tk_process_spec proc = {.argv = argv,
	        .env = (const char *const *)env->vars,
	        .cwd = j->build,
	        .log_path = j->log,
	        .deadline_s = j->spec->deadline_s,
	        .memory_limit_bytes = j->spec->memory_limit_bytes,
	        .log_max_bytes = LOG_MAX_BYTES,
	        .process_max = PROCESS_MAX,
	        .disk_paths = disk,
	        .disk_max_bytes = j->spec->disk_limit_bytes,
	        .file_size_bytes = OUTPUT_MAX_BYTES,
	        .sandbox = sandbox,
	        .cgroup = cgroup};
	if (!status && sandbox)
		status = put_private_env(j, env, err);
	if (!status)
		status = tk_process_run(&proc, &result, err);
	*again = !status && sandbox && !result.timed_out && !result.exceeded &&
	         result.exit_code > 0 && tk_sandbox_has_failed(sandbox) &&
	         tk_sandbox_give_up(sandbox);
	if (!status && !*again) {
		j->artifact->wall_s = result.wall_s;
		if (!result.timed_out && !result.exceeded && result.exit_code == 0)
			write_kernel_facts(j, proc);
		status = record_result(j, &proc, &result, err);
	}
	tk_sandbox_free(sandbox);
	tk_cgroup_free(cgroup);
	return status;
}

static int run_adapter(struct job *j, struct tk_error *err)
{
	AUTO_TEXT program = tk_path_join(j->adapter_dir, "build");
	int status = TK_OK;
	bool again = true;
	while (!status && again) {
		struct env env = {.count = 0};
		status = make_env(j, &env, err);
		if (!status)
			status = run_program(j, program, &env, &again, err);
		for (size_t i = 0; i < env.count; i++)
			free(env.vars[i]);
	}
	return status;
}

/* ---- after ---- */

/* Of a failed build only the log and the manifest are kept. */
static int drop_backends(struct job *j, struct tk_error *err)
{
	struct tk_artifact *a = j->artifact;
	for (size_t i = 0; i < a->backend_count; i++) {
		free(a->backends[i].path);
		free(a->backends[i].kernels);
	}
	a->backend_count = 0;
	AUTO_TEXT lib = tk_path_join(j->collected, "lib");
	return tk_dir_remove(lib, err);
}

static int collect_log(const struct job *j, struct tk_error *err)
{
	AUTO_TEXT to = tk_path_join(j->collected, "build.log");
	return tk_build_collect_log(j->log, to, OUTPUT_MAX_BYTES, err);
}

static int publish(struct job *j, struct tk_artifact **out, struct tk_error *err)
{
	struct tk_artifact *a = j->artifact;
	int status = a->status == TK_BUILD_OK ? TK_OK : drop_backends(j, err);
	if (!status)
		status = collect_log(j, err);
	if (!status) {
		a->size_bytes = tk_dir_size(j->collected);
		status = tk_manifest_write(a, j->collected, err);
	}
	if (!status)
		status = tk_cache_publish(j->spec->cache_dir, a->key, j->collected, err);
	if (!status)
		status = tk_artifact_load(j->spec->cache_dir, a->key, out, err);
	if (!status)
		(*out)->cached = false;
	return status;
}

static void job_free(struct job *j)
{
	tk_repo_remove_checkout(j->spec->repo, j->source);
	if (j->temp)
		tk_dir_remove(j->temp, NULL);
	free(j->temp);
	free(j->out);
	free(j->build);
	free(j->tmp);
	free(j->problems);
	free(j->python);
	free(j->log);
	free(j->collected);
	free(j->ccache);
	free(j->adapter_dir);
	tk_artifact_free(j->artifact);
}

static int build_revision(const struct tk_build_spec *spec, char *kernels_dir,
        const struct tk_build_key *key, struct tk_artifact **out, struct tk_error *err)
{
	struct job j = {.spec = spec, .kernels_dir = kernels_dir};
	tk_log(TK_LOG_DEBUG, "build_started", NULL, "building %s at %.12s", spec->repo->name,
	        spec->revision);
	describe(&j, key);
	int status = prepare(&j, err);
	if (!status)
		status = run_adapter(&j, err);
	if (!status)
		status = publish(&j, out, err);
	job_free(&j);
	return status;
}

/* False for a damaged artifact (a machine that lost its power may have cut files off), and for a
 * failed one that is due to be tried again. */
static bool find_cached(const struct tk_build_spec *spec, const char *key, struct tk_artifact **out)
{
	struct tk_artifact *a = NULL;
	struct tk_error why = {0};
	if (tk_artifact_load(spec->cache_dir, key, &a, NULL))
		return false;
	if (tk_manifest_verify(a->dir, false, &why)) {
		tk_log(TK_LOG_WARN, "artifact_damaged", NULL, "%s is built again: %s",
		        spec->repo->name, why.message);
		tk_artifact_free(a);
		return false;
	}
	if (a->status != TK_BUILD_OK && tk_clock_now_s() - a->built_s >= RETRY_S) {
		tk_artifact_free(a);
		return false;
	}
	*out = a;
	return true;
}

int tk_artifact_build(
        const struct tk_build_spec *spec, struct tk_artifact **out, struct tk_error *err)
{
	struct tk_build_key key = {0};
	struct tk_lock *lock = NULL;
	AUTO_TEXT kernels_dir = NULL;
	int status = check_spec(spec, err);
	if (!status)
		kernels_dir = find_kernels_dir(spec);
	if (!status && (status = tk_build_key_compute(spec, kernels_dir, &key, err)))
		tk_error_add_context(err, "%s", spec->repo->name);
	if (!status)
		status = tk_cache_lock(spec->cache_dir, key.hex,
		        spec->deadline_s > 0 ? spec->deadline_s : 24 * 3600, &lock, err);
	if (!status && !find_cached(spec, key.hex, out))
		status = build_revision(spec, kernels_dir, &key, out, err);
	tk_lock_release(lock);
	free(key.toolchain);
	return status;
}
