/* Virtual environments: <cache>/python/env/<package>-<version>-<hash>, one for each version, with
 * this version and what the adapter's `requirements` name, and without their dependencies. uv
 * installs, or pip where there is no uv. Every wheel's hash is checked; nothing is compiled.
 *
 * Whatever starts the environment's Python may run code of the wheels in it (their .pth files), and
 * installing is not sandboxed. uv does not start it for a second installation. pip runs in it, so
 * pip installs all wheels at once. */
#include "base/process.h"
#include "upstream/package.h"
#include <sys/stat.h>
#include <time.h>

#define COMPLETE ".complete" /* its time is that of the last use */
#define UNUSED_S (24 * 3600)
#define ARGS_MAX 32
#define COMPANIONS_MAX ((size_t)64 << 10)

struct install {
	const struct tk_repo *repo;
	const struct tk_package_release *release;
	char *dir, *python, *wanted; /* `wanted`: a requirements file with hashes */
	char *companions;            /* the adapter's requirements, for this version */
	char *wheels;                /* what pip downloads, until it is installed */
	bool has_uv;
};

/* The same version with other companions, another index or another Python is another folder. */
static int choose_dir(const struct tk_repo *s, const struct tk_package_release *r, char **out,
        struct tk_error *err)
{
	char hex[TK_HASH_HEX_SIZE], *name = NULL;
	struct tk_hash *h = tk_hash_new();
	int status = TK_OK;
	tk_hash_add_str(h, r->index);
	tk_hash_add_str(h, s->python ? s->python : "");
	for (size_t i = 0; i < r->wheel_count; i++)
		tk_hash_add_str(h, r->sha256[i]);
	if (s->requirements)
		status = tk_hash_add_file(h, s->requirements, err);
	tk_hash_finish(h, hex);
	if (status)
		return status;
	AUTO_TEXT package = tk_package_normalize_name(tk_repo_package_name(s));
	if (package && asprintf(&name, "python/env/%s-%s-%.8s", package, r->text, hex) < 0)
		name = NULL;
	*out = name ? tk_path_join(s->cache_dir, name) : NULL;
	free(name);
	return TK_OK;
}

static int run(const struct install *in, const char *const *argv, struct tk_error *err)
{
	/* No settings of the user: the same version must be installed the same way. */
	static const char *const env[] = {"UV_NO_CONFIG=1", "UV_NO_PROGRESS=1",
	        "PIP_CONFIG_FILE=/dev/null", "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_NO_INPUT=1",
	        NULL};
	const struct tk_process_spec spec = {.argv = argv,
	        .env = env,
	        .deadline_s = in->repo->deadline_s > 0 ? in->repo->deadline_s : 0,
	        .for_network = true};
	AUTO(tk_process_result) result = {0};
	TRY(tk_process_run(&spec, &result, err));
	return tk_process_check(&spec, &result, err);
}

static int make_environment(const struct install *in, struct tk_error *err)
{
	const char *python = in->repo->python ? in->repo->python : "python3";
	const char *const uv[] = {"uv", "venv", "--quiet", "--python", python, in->dir, NULL};
	const char *const plain[] = {python, "-m", "venv", in->dir, NULL};
	return run(in, in->has_uv ? uv : plain, err);
}

/* Calls uv or pip to get what a requirements file names. `hashes`: every wheel must have one of the
 * hashes in the file. */
static int get_file(const struct install *in, const char *const *head, size_t head_count,
        const char *file, bool hashes, struct tk_error *err)
{
	const char *argv[ARGS_MAX];
	size_t n = head_count;
	memcpy(argv, head, head_count * sizeof *head);
	const char *const tail[] = {"--no-deps", "--only-binary", ":all:", "--index-url",
	        in->repo->url ? in->repo->url : TK_PACKAGE_INDEX, "-r", file};
	memcpy(argv + n, tail, sizeof(tail));
	n += sizeof(tail) / sizeof(*tail);
	if (in->repo->extra_index) {
		argv[n++] = "--extra-index-url";
		argv[n++] = in->repo->extra_index;
	}
	if (hashes)
		argv[n++] = "--require-hashes";
	argv[n] = NULL;
	return run(in, argv, err);
}

static int get_all(
        const struct install *in, const char *const *head, size_t head_count, struct tk_error *err)
{
	int status = TK_OK;
	if (in->repo->requirements)
		status = get_file(in, head, head_count, in->companions, false, err);
	return status ? status : get_file(in, head, head_count, in->wanted, true, err);
}

static int install_by_uv(const struct install *in, struct tk_error *err)
{
	const char *const head[] = {"uv", "pip", "install", "--quiet", "--python", in->python,
	        "--index-strategy", "unsafe-best-match"};
	return get_all(in, head, sizeof(head) / sizeof(*head), err);
}

static int install_downloads(const struct install *in, struct tk_error *err)
{
	const char *const head[] = {
	        in->python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"};
	const size_t head_count = sizeof(head) / sizeof(*head);
	char **names = NULL;
	size_t count = 0;
	int status = tk_dir_list(in->wheels, &names, &count, err);
	char **argv = status ? NULL : tk_calloc(head_count + count + 1, sizeof *argv);
	if (!status)
		memcpy(argv, head, sizeof(head));
	for (size_t i = 0; !status && i < count; i++)
		if (!(argv[head_count + i] = tk_path_join(in->wheels, names[i])))
			status = tk_fail(err, TK_ENOMEM, "out of memory");
	if (!status)
		status = run(in, (const char *const *)argv, err);
	for (size_t i = 0; argv && i < count; i++)
		free(argv[head_count + i]);
	free(argv);
	tk_names_free(names, count);
	return status;
}

static int install_by_pip(const struct install *in, struct tk_error *err)
{
	const char *const head[] = {
	        in->python, "-m", "pip", "download", "--quiet", "--dest", in->wheels};
	TRY(get_all(in, head, sizeof(head) / sizeof(*head), err));
	TRY(install_downloads(in, err));
	return tk_dir_remove(in->wheels, err);
}

static int write_wanted(const struct install *in, struct tk_error *err)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	tk_buf_add_printf(&text, "%s==%s", tk_repo_package_name(in->repo), in->release->text);
	for (size_t i = 0; i < in->release->wheel_count; i++)
		tk_buf_add_printf(&text, " --hash=sha256:%s", in->release->sha256[i]);
	tk_buf_add_char(&text, '\n');
	const char *content = tk_buf_cstr(&text);
	return tk_file_write_nosync(in->wanted, content, strlen(content), err);
}

/* "{version}" stands for the version of this release: a part that is released with it. */
static int write_companions(const struct install *in, struct tk_error *err)
{
	static const char mark[] = "{version}";
	struct tk_buf template = TK_BUF_INIT, text = TK_BUF_INIT;
	int status = tk_file_read(in->repo->requirements, COMPANIONS_MAX, &template, err);
	for (const char *at = tk_buf_cstr(&template), *next; !status && at; at = next) {
		next = strstr(at, mark);
		tk_buf_add_printf(&text, "%.*s%s", (int)(next ? next - at : (long)strlen(at)), at,
		        next ? in->release->text : "");
		next = next ? next + strlen(mark) : NULL;
	}
	const char *content = tk_buf_cstr(&text);
	if (!status)
		status = tk_file_write_nosync(in->companions, content, strlen(content), err);
	tk_buf_free(&template);
	tk_buf_free(&text);
	return status;
}

static int install(const struct install *in, struct tk_error *err)
{
	int status = tk_dir_remove(in->dir, err); /* of an installation that was stopped */
	if (!status)
		status = make_environment(in, err);
	if (!status)
		status = write_wanted(in, err);
	if (!status && in->repo->requirements)
		status = write_companions(in, err);
	if (!status)
		status = in->has_uv ? install_by_uv(in, err) : install_by_pip(in, err);
	return status ? tk_error_add_context(
	                        err, "%s: installing %s", in->repo->name, in->release->text)
	              : TK_OK;
}

/* An environment can have a gigabyte, and a build that was cached needs none. */
static void remove_unused(const char *parent)
{
	char **names = NULL;
	size_t count = 0;
	if (tk_dir_list(parent, &names, &count, NULL))
		return;
	for (size_t i = 0; i < count; i++) {
		struct stat st;
		char *dir = tk_path_join(parent, names[i]),
		     *complete = dir ? tk_path_join(dir, COMPLETE) : NULL;
		if (complete && !stat(complete, &st) && st.st_mtime < time(NULL) - UNUSED_S)
			tk_dir_remove(dir, NULL);
		free(complete);
		free(dir);
	}
	tk_names_free(names, count);
}

static int install_once(struct install *in, struct tk_error *err)
{
	struct tk_lock *lock = NULL;
	char *complete = tk_path_join(in->dir, COMPLETE), *lock_path = NULL, *parent = NULL;
	int status = TK_OK;
	if (!complete || asprintf(&lock_path, "%s.lock", in->dir) < 0 ||
	        !(parent = tk_path_join(in->repo->cache_dir, "python/env")))
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	if (!status)
		status = tk_dir_create(parent, err);
	if (!status)
		status = tk_lock_wait(lock_path, 3600, &lock, err);
	if (!status && !tk_file_exists(complete)) {
		status = install(in, err);
		if (!status)
			remove_unused(parent);
	}
	if (!status)
		status = tk_file_write_nosync(complete, "", 0, err);
	tk_lock_release(lock);
	free(parent);
	free(lock_path);
	free(complete);
	return status;
}

int tk_package_install(const struct tk_repo *s, const struct tk_package_release *release,
        char **dir, struct tk_error *err)
{
	struct install in = {.repo = s, .release = release};
	char *uv = NULL;
	int status = choose_dir(s, release, &in.dir, err);
	if (status)
		return status;
	in.has_uv = tk_process_find_program("uv", &uv);
	in.python = tk_path_join(in.dir, "bin/python");
	in.wanted = tk_path_join(in.dir, "wanted.txt");
	in.companions = tk_path_join(in.dir, "companions.txt");
	in.wheels = tk_path_join(in.dir, "wheels");
	if (!status)
		status = install_once(&in, err);
	free(uv);
	free(in.python);
	free(in.wanted);
	free(in.companions);
	free(in.wheels);
	if (status) {
		free(in.dir);
		return status;
	}
	*dir = in.dir;
	return TK_OK;
}
