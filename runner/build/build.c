/* Runs an adapter on a revision and publishes what it leaves. */
#include "build/build.h"
#include "base/process.h"
#include "build/job.h"
#include "upstream/repo.h"
#include <signal.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define RETRY_S (24 * 3600) /* the cause may have been the network or the disk */
#define OUTPUT_MAX_BYTES ((uint64_t)8 << 30)
#define LOG_MAX_BYTES ((uint64_t)64 << 20)
#define PROCESS_MAX 4096u
#define DISK_FULL_BYTES ((uint64_t)64 << 10)

/* ---- before ---- */

static int check_spec(const struct tk_build_spec *spec, struct tk_error *err)
{
	AUTO_TEXT program = tk_path_join(spec->adapter_dir, "build");
	if (!spec->repo || !spec->revision || !*spec->revision)
		return tk_fail(err, TK_EINTERNAL, "a build needs a repository and a revision");
	if (!tk_file_exists(program))
		return tk_fail(
		        err, TK_ENOTFOUND, "%s: no such adapter: %s", spec->repo->name, program);
	if (access(program, X_OK))
		return tk_fail(err, TK_ECONFIG, "%s: the adapter %s is not executable",
		        spec->repo->name, program);
	return TK_OK;
}

static char *find_kernels_dir(const struct tk_build_spec *spec)
{
	AUTO_TEXT up = tk_path_join(spec->adapter_dir, "../..");
	return tk_path_make_absolute(spec->kernels_dir ? spec->kernels_dir : up);
}

static void describe(struct tk_build_job *j, const struct tk_build_key *key)
{
	const struct tk_build_spec *spec = j->spec;
	struct tk_artifact *a = j->artifact = tk_calloc(1, sizeof *a);
	memcpy(a->key, key->hex, sizeof a->key);
	memcpy(a->environment, key->environment, sizeof a->environment);
	a->toolchain = tk_strdup(key->toolchain);
	a->upstream = tk_strdup(spec->repo->name);
	a->revision = tk_strdup(spec->revision);
	a->adapter = tk_strdup(strrchr(j->adapter_dir, '/') + 1);
	a->arch = tk_strdup(spec->arch ? spec->arch : "native");
	a->flags = tk_strdup(tk_text_or(spec->flags, ""));
	a->message = tk_strdup("");
	a->same_as = tk_strdup("");
	a->built_s = tk_clock_now_s();
	if (tk_repo_find_revision(spec->repo, spec->revision, &a->commit, NULL))
		a->commit = (struct tk_revision){0};
}

/* ---- running ---- */

#define INSIDE_DEADLINE_S 600
/* Status and message of the artifact; takes ownership of the message. Cuts "<folder>/" out of it:
 * the folders of a build differ every time. */
static int set_failure(const struct tk_build_job *j, enum tk_build_status status, char *message)
{
	const char *const folders[] = {j->source, j->at[TK_PLACE_OUT], j->at[TK_PLACE_BUILD],
	        j->at[TK_PLACE_COLLECTED], TK_BUILD_SEEN "/src", TK_BUILD_SEEN "/out",
	        TK_BUILD_SEEN "/build"};
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		const size_t len = strlen(folders[i]);
		for (char *p = message; (p = strstr(p, folders[i]));) {
			const size_t cut = len + (p[len] == '/');
			memmove(p, p + cut, strlen(p + cut) + 1);
		}
	}
	free(j->artifact->message);
	j->artifact->message = message;
	j->artifact->status = status;
	return TK_OK;
}

/* A full disk (its log may have had no room for the message), or a signal that a compiler does not
 * send itself: such a build says nothing of the revision. */
static int check_ended_by_system(
        const struct tk_build_job *j, const struct tk_process_result *result, struct tk_error *err)
{
	static const int signals[] = {SIGKILL, SIGTERM, SIGHUP, SIGINT, SIGBUS, SIGXFSZ, SIGXCPU};
	const char *name = j->spec->repo->name;
	struct statvfs disk;
	if (tk_build_log_has_disk_full(j->at[TK_PLACE_LOG]) ||
	        (statvfs(j->temp, &disk) == 0 && disk.f_bavail * disk.f_frsize < DISK_FULL_BYTES))
		return tk_fail(
		        err, TK_ENOSPC, "%s: no space left on the disk during the build", name);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (result->signal == signals[i] || result->exit_code == 128 + signals[i])
			return tk_fail(err, TK_ECRASH,
			        "%s: infrastructure failure: the build was killed (%s)", name,
			        strsignal(signals[i]));
	AUTO_TEXT line = tk_build_log_find_system_failure(j->at[TK_PLACE_LOG]);
	if (*line)
		return tk_fail(err, TK_ECRASH, "%s: infrastructure failure: %s", name, line);
	return TK_OK;
}

/* Runs a program in a sandbox like that of the build, whose files are not trusted. */
static int run_inside(const struct tk_build_job *j, const struct tk_process_spec *build,
        const char *const *argv, struct tk_process_result *result, struct tk_error *err)
{
	struct tk_process_spec proc = *build;
	proc.argv = argv;
	proc.deadline_s = INSIDE_DEADLINE_S;
	if (strcmp(argv[0], "ldd") == 0)
		proc.log_path = NULL; /* its output is the answer */
	TRY(tk_build_job_new_sandbox(j, &proc.sandbox, err));
	int status = tk_process_run(&proc, result, err);
	if (!status)
		status = tk_process_check(&proc, result, err);
	tk_sandbox_free(proc.sandbox);
	return status;
}

/* TK_EDATA: a shared object cannot be loaded. Where `ldd` does not work, the night will tell. */
static int check_loads(
        const struct tk_build_job *j, const struct tk_process_spec *build, struct tk_error *err)
{
	for (size_t i = 0; i < j->artifact->backend_count; i++) {
		AUTO_TEXT path =
		        tk_backend_path(j->at[TK_PLACE_OUT], j->artifact->backends[i].name);
		const char *const argv[] = {"ldd", "-r", path, NULL};
		AUTO(tk_process_result) result = {0};
		if (tk_file_exists(path) && !run_inside(j, build, argv, &result, NULL))
			TRY(tk_build_check_loader(result.out.data, strrchr(path, '/') + 1, err));
	}
	return TK_OK;
}

/* Of a build that succeeded. */
static int record_output(
        struct tk_build_job *j, const struct tk_process_spec *build, struct tk_error *err)
{
	struct tk_error why = {0};
	int status = tk_build_collect(
	        j->at[TK_PLACE_OUT], j->at[TK_PLACE_COLLECTED], OUTPUT_MAX_BYTES, &why);
	if (!status)
		status = tk_artifact_scan_backends(j->artifact, j->at[TK_PLACE_COLLECTED], &why);
	if (!status)
		status = check_loads(j, build, &why);
	if (status == TK_EDATA)
		return set_failure(j, TK_BUILD_FAILED, tk_strdup(why.message));
	if (status)
		return tk_fail(err, status, "%s", why.message);
	char *missing = tk_build_count_instances(j->artifact, j->at[TK_PLACE_COLLECTED]);
	return set_failure(j, *missing ? TK_BUILD_PARTIAL : TK_BUILD_OK, missing);
}

/* Status and message of the artifact, from how the adapter ended. */
static int record_result(struct tk_build_job *j, const struct tk_process_spec *proc,
        const struct tk_process_result *result, struct tk_error *err)
{
	const char *name = j->spec->repo->name;
	struct tk_error why = {0};
	if (result->timed_out)
		return set_failure(j, TK_BUILD_TIMEOUT,
		        tk_sprintf("the build did not end within %.0f s", proc->deadline_s));
	switch (result->exceeded) {
	case TK_LIMIT_DISK_FULL:
		return tk_fail(
		        err, TK_ENOSPC, "%s: the disk became nearly full during the build", name);
	case TK_LIMIT_MEMORY:
		return tk_fail(err, TK_ECRASH,
		        "%s: infrastructure failure: the build used more than %.1f GiB of memory: "
		        "killed",
		        name, (double)tk_cgroup_default_memory() / 0x1p30);
	case TK_LIMIT_LOG:
		return set_failure(j, TK_BUILD_FAILED,
		        tk_sprintf("the build printed more than %u MiB: killed",
		                (unsigned)(LOG_MAX_BYTES >> 20)));
	case TK_LIMIT_PROCESSES:
		return set_failure(j, TK_BUILD_FAILED,
		        tk_sprintf("the build had more than %u processes: killed", PROCESS_MAX));
	case TK_LIMIT_DISK:
		return set_failure(j, TK_BUILD_FAILED,
		        tk_sprintf("the build used more than %.1f GiB of disk space, the limit of "
		                   "`budgets.build_disk`: killed",
		                (double)j->spec->disk_limit_bytes / 0x1p30));
	case TK_LIMIT_NONE:
		break;
	}
	AUTO_TEXT looked = tk_build_read_unknown_interface(j->at[TK_PLACE_OUT]);
	if (*looked)
		return set_failure(
		        j, TK_BUILD_UNKNOWN_INTERFACE, tk_sprintf("unknown interface: %s", looked));
	if (result->exit_code != 0) {
		TRY(check_ended_by_system(j, result, err));
		AUTO_TEXT missing = tk_build_count_instances(j->artifact, j->at[TK_PLACE_OUT]);
		AUTO_TEXT line = tk_build_log_find_error(j->at[TK_PLACE_LOG]);
		if (!*line)
			tk_process_check(proc, result, &why);
		return set_failure(j, TK_BUILD_FAILED,
		        tk_strdup(*missing && !j->artifact->instances_built ? missing
		                  : *line                                   ? line
		                                                            : why.message));
	}
	return record_output(j, proc, err);
}

/* Kernels whose facts are not known are measured all the same. */
static void write_kernel_facts(const struct tk_build_job *j, const struct tk_process_spec *build)
{
	AUTO_TEXT script = tk_path_join3(tk_path_data_dir(), "kernels/gpu", "kernel_facts.py");
	AUTO_TEXT lib = tk_path_join(j->at[TK_PLACE_OUT], "lib");
	const char *const argv[] = {"python3", "-I", script, lib, NULL};
	AUTO(tk_process_result) result = {0};
	struct tk_error why = {0};
	if (run_inside(j, build, argv, &result, &why))
		tk_log(TK_LOG_DEBUG, "kernel_facts_unknown", NULL, "%s: %s", j->spec->repo->name,
		        why.message);
}

/* In bubblewrap, whose own process does not wait for what runs in it: the program, then the CPU
 * seconds of all that it started and waited for. As process 1 of its namespace, which a build can
 * neither kill nor stop. */
#define WITH_TIMES "\"$0\"; code=$?; times >\"$1\"; exit $code"

/* "0m0.01s 0m0.00s\n1m2.50s 0m0.40s": of the shell, of its children. 0: unknown. */
static double read_cpu_s(const char *path)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	double user_m, user_s, system_m, system_s;
	if (tk_file_read(path, 4096, &text, NULL) || !text.len) /* of one that was killed: empty */
		return 0;
	const char *second = strchr(text.data, '\n');
	return second && sscanf(second, " %lfm%lfs %lfm%lfs", &user_m, &user_s, &system_m,
	                         &system_s) == 4
	               ? (user_m + system_m) * 60 + user_s + system_s
	               : 0;
}

/* Runs the adapter in a sandbox. *again: the sandbox did not work, and there is a weaker one. */
static int run_adapter(struct tk_build_job *j, struct tk_process_spec *proc,
        struct tk_build_env *env, bool *again, struct tk_error *err)
{
	AUTO(tk_process_result) result = {0};
	TRY(tk_build_job_new_sandbox(j, &proc->sandbox, err));
	j->is_mounted = tk_sandbox_has_mounts(proc->sandbox);
	AUTO_TEXT program = tk_path_join(tk_build_job_seen(j, j->adapter_dir), "build");
	AUTO_TEXT times = tk_path_join(j->at[TK_PLACE_TMP], "cpu_seconds");
	AUTO_TEXT seen_times =
	        tk_path_join(tk_build_job_seen(j, j->at[TK_PLACE_TMP]), "cpu_seconds");
	const char *const argv[] = {"sh", "-c", WITH_TIMES, program, seen_times, NULL};
	proc->argv = j->is_mounted ? argv : argv + 3;
	TRY(tk_build_job_make_env(j, proc->sandbox != NULL, env, err));
	TRY(tk_process_run(proc, &result, err));
	const bool is_success = !result.timed_out && !result.exceeded && result.exit_code == 0;
	*again = proc->sandbox && !result.timed_out && !result.exceeded && result.exit_code > 0 &&
	         tk_sandbox_has_failed(proc->sandbox) && tk_sandbox_give_up(proc->sandbox);
	if (*again)
		return TK_OK;
	j->artifact->wall_s = result.wall_s;
	j->artifact->cpu_s = j->is_mounted ? read_cpu_s(times) : result.cpu_s;
	proc->argv = argv + 3; /* for messages */
	if (is_success)
		write_kernel_facts(j, proc);
	return record_result(j, proc, &result, err);
}

static int run(struct tk_build_job *j, struct tk_error *err)
{
	const char *const disk[] = {j->at[TK_PLACE_OUT], j->at[TK_PLACE_BUILD], j->at[TK_PLACE_TMP],
	        j->source, j->ccache, NULL};
	int status = TK_OK;
	/* what is read of a package does not tell what another version has */
	if (j->spec->repo->kind != TK_REPO_PACKAGE)
		j->reads = tk_reads_start(j->source);
	for (bool again = true; !status && again;) {
		struct tk_build_env env = {.count = 0};
		struct tk_cgroup *cgroup = tk_cgroup_new(tk_cgroup_default_memory(), PROCESS_MAX);
		again = false;
		struct tk_process_spec proc = {.env = (const char *const *)env.vars,
		        .cwd = j->at[TK_PLACE_BUILD],
		        .log_path = j->at[TK_PLACE_LOG],
		        .deadline_s = j->spec->deadline_s,
		        .memory_limit_bytes = j->spec->memory_limit_bytes,
		        .log_max_bytes = LOG_MAX_BYTES,
		        .process_max = PROCESS_MAX,
		        .disk_paths = disk,
		        .disk_max_bytes = j->spec->disk_limit_bytes,
		        .file_size_bytes = OUTPUT_MAX_BYTES,
		        .cgroup = cgroup};
		status = run_adapter(j, &proc, &env, &again, err);
		tk_sandbox_free(proc.sandbox);
		tk_cgroup_free(cgroup);
		tk_build_env_free(&env);
	}
	return status;
}

/* ---- after ---- */

/* A change of a file outside of `path` would be blamed on a later commit that touches it. */
static void warn_outside_path(const struct tk_build_job *j, const char *reads)
{
	const struct tk_repo *repo = j->spec->repo;
	char first[TK_CHANGED_SIZE];
	const size_t count =
	        repo->path && reads ? tk_reads_count_outside(reads, repo->path, first) : 0;
	if (count)
		tk_log(TK_LOG_WARN, "reads_outside_path", NULL,
		        "%s: the build reads %zu file%s outside of `path` (%s), such as %s; "
		        "commits "
		        "that change them alone are not seen: leave `path` out, or add them",
		        repo->name, count, count == 1 ? "" : "s", repo->path, first);
}

/* Of a failed build only the log and the manifest are kept. */
static int publish(struct tk_build_job *j, struct tk_artifact **out, struct tk_error *err)
{
	struct tk_artifact *a = j->artifact;
	AUTO_TEXT lib = tk_path_join(j->at[TK_PLACE_COLLECTED], "lib");
	AUTO_TEXT log = tk_path_join(j->at[TK_PLACE_COLLECTED], "build.log");
	if (!tk_build_status_is_usable(a->status)) {
		while (a->backend_count)
			tk_artifact_backend_free(&a->backends[--a->backend_count]);
		TRY(tk_dir_remove(lib, err));
	}
	AUTO_TEXT reads = tk_build_status_is_usable(a->status)
	                          ? tk_reads_path(j->at[TK_PLACE_COLLECTED])
	                          : NULL;
	TRY(tk_reads_finish(j->reads, j->key->recipe, reads, err));
	j->reads = NULL;
	warn_outside_path(j, reads);
	TRY(tk_build_collect_log(j->at[TK_PLACE_LOG], log, OUTPUT_MAX_BYTES, err));
	a->size_bytes = tk_dir_size(j->at[TK_PLACE_COLLECTED]);
	TRY(tk_manifest_write(a, j->at[TK_PLACE_COLLECTED], err));
	TRY(tk_cache_publish(j->spec->cache_dir, a->key, j->at[TK_PLACE_COLLECTED], err));
	TRY(tk_artifact_load(j->spec->cache_dir, a->key, out, err));
	(*out)->cached = false;
	return TK_OK;
}

static int build_revision(const struct tk_build_spec *spec, const char *kernels_dir,
        const struct tk_build_key *key, struct tk_artifact **out, struct tk_error *err)
{
	AUTO(tk_build_job) j = {.spec = spec, .kernels_dir = kernels_dir, .key = key};
	tk_log(TK_LOG_DEBUG, "build_started", NULL, "building %s at %.12s", spec->repo->name,
	        spec->revision);
	j.adapter_dir = tk_path_make_absolute(spec->adapter_dir);
	describe(&j, key);
	TRY(tk_build_job_prepare(&j, err));
	TRY(run(&j, err));
	return publish(&j, out, err);
}

/* False for a damaged artifact (a machine that lost its power may have cut files off), and for a
 * failed one that is due to be tried again, or that another environment may build. */
static bool find_cached(
        const struct tk_build_spec *spec, const struct tk_build_key *key, struct tk_artifact **out)
{
	struct tk_artifact *a = NULL;
	struct tk_error why = {0};
	if (tk_artifact_load(spec->cache_dir, key->hex, &a, NULL))
		return false;
	const bool is_damaged = tk_manifest_verify(a, false, &why);
	if (is_damaged)
		tk_log(TK_LOG_WARN, "artifact_damaged", NULL, "%s is built again: %s",
		        spec->repo->name, why.message);
	const bool is_due =
	        !tk_build_status_is_usable(a->status) && tk_clock_now_s() - a->built_s >= RETRY_S;
	if (is_damaged || is_due ||
	        (a->status != TK_BUILD_OK && strcmp(a->environment, key->environment) != 0)) {
		tk_artifact_free(a);
		return false;
	}
	*out = a;
	return true;
}

/* From the cache, or of a commit with the same code. *out is NULL where there is none. Takes the
 * lock of the key, and waits for it where `waits`. */
static int find_artifact(const struct tk_build_spec *spec, bool waits, const char *kernels_dir,
        struct tk_build_key *key, struct tk_lock **lock, struct tk_artifact **out,
        struct tk_error *err)
{
	*out = NULL;
	if (tk_build_key_compute(spec, kernels_dir, key, err))
		return tk_error_add_context(err, "%s", spec->repo->name);
	TRY(tk_cache_lock(
	        spec->cache_dir, key->hex, waits ? tk_build_find_wait_s(spec) : 0, lock, err));
	return find_cached(spec, key, out) ? TK_OK : tk_build_reuse(spec, key, out, err);
}

int tk_artifact_build(
        const struct tk_build_spec *spec, struct tk_artifact **out, struct tk_error *err)
{
	AUTO(tk_build_key) key = {0};
	AUTO_PTR(tk_lock) lock = NULL;
	TRY(check_spec(spec, err));
	AUTO_TEXT kernels_dir = find_kernels_dir(spec);
	TRY(find_artifact(spec, true, kernels_dir, &key, &lock, out, err));
	return *out ? TK_OK : build_revision(spec, kernels_dir, &key, out, err);
}

int tk_artifact_find(
        const struct tk_build_spec *spec, struct tk_artifact **out, struct tk_error *err)
{
	AUTO(tk_build_key) key = {0};
	AUTO_PTR(tk_lock) lock = NULL;
	TRY(check_spec(spec, err));
	AUTO_TEXT kernels_dir = find_kernels_dir(spec);
	TRY(find_artifact(spec, false, kernels_dir, &key, &lock, out, err));
	return *out ? TK_OK
	            : tk_fail(err, TK_ENOTFOUND, "%s %.12s is not built", spec->repo->name,
	                      spec->revision);
}

char *tk_artifact_explain_failure(const struct tk_artifact *a)
{
	char when[TK_TIME_ISO_SIZE];
	return tk_sprintf("%s (log: %s%s%s%s%s%s)", a->message, a->log_path,
	        a->cached ? "; remembered since " : "",
	        a->cached ? tk_time_format_iso(a->built_s, when) : "",
	        a->cached ? ", `tracker build --clean " : "", a->cached ? a->upstream : "",
	        a->cached ? "` forgets it" : "");
}
