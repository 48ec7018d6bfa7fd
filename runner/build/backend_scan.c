/* The backends of an artifact: which files they are, what their code is, and whether they run on
 * another machine. */
#include "build/build.h"
#include "build/build_internal.h"
#include "core/kernel_package.h"
#include <sys/stat.h>

#define PREFIX "tk_backend_"
#define BACKENDS_MAX 64
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

void tk_artifact_backend_free(struct tk_artifact_backend *b)
{
	free(b->path);
	free(b->kernels);
}

void tk_artifact_free(struct tk_artifact *a)
{
	if (!a)
		return;
	char *const texts[] = {a->dir, a->log_path, a->message, a->same_as, a->toolchain,
	        a->upstream, a->revision, a->adapter, a->arch, a->flags};
	for (size_t i = 0; i < COUNT(texts); i++)
		free(texts[i]);
	for (size_t i = 0; i < a->backend_count; i++)
		tk_artifact_backend_free(&a->backends[i]);
	free(a->backends);
	free(a);
}

/* ---- names ---- */

/* The order of the look-up: the folders of packages, if they exist; last the shared object, whose
 * path is returned even if the file is missing. */
static const char *const suffixes[] = {
        ".cpu", ".cuda", ".hip", ".null", ".python-cpu", ".python-cuda", ".so"};

bool tk_backend_name_is_valid(const char *name)
{
	const size_t n = strlen(name);
	return n > 0 && n < sizeof(((struct tk_artifact_backend *)0)->name) &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == n;
}

char *tk_backend_path(const char *dir, const char *name)
{
	for (size_t i = 0;; i++) {
		char *path = tk_sprintf("%s/lib/" PREFIX "%s%s", dir, name, suffixes[i]);
		if (i + 1 == COUNT(suffixes) || tk_dir_exists(path))
			return path;
		free(path);
	}
}

/* "cpu" of "tk_backend_cpu.so"; false for other files. */
static bool parse_name(const char *file, char *out, size_t size)
{
	const size_t len = strlen(file);
	for (size_t i = 0; i < COUNT(suffixes); i++) {
		const size_t around = strlen(PREFIX) + strlen(suffixes[i]);
		if (len <= around || strncmp(file, PREFIX, strlen(PREFIX)) ||
		        strcmp(file + len - strlen(suffixes[i]), suffixes[i]))
			continue;
		snprintf(out, size, "%.*s", (int)(len - around), file + strlen(PREFIX));
		return true;
	}
	return false;
}

/* ---- one backend ---- */

static bool is_package(const char *path)
{
	return tk_kernel_package_device_kind(path) != TK_DEVICE_OTHER && tk_dir_exists(path);
}

int tk_backend_file_hash(const char *path, char hex[TK_HASH_HEX_SIZE], struct tk_error *err)
{
	if (!is_package(path))
		return tk_hash_file(path, hex, err);
	struct tk_hash *h = tk_hash_new();
	const int status = tk_hash_add_tree(h, path, err);
	tk_hash_finish(h, hex);
	return status;
}

/* What kernels/gpu/kernel_facts.py wrote beside the backend: the facts of each kernel by the hash
 * of its code. Kernels that it does not know keep what they have. */
static void add_kernel_facts(struct tk_artifact_backend *b)
{
	const char *dot = strrchr(b->path, '.');
	AUTO_TEXT path = tk_sprintf("%.*s.facts.json", (int)(dot - b->path), b->path);
	json_auto_t *facts = json_load_file(path, 0, NULL);
	for (size_t i = 0; facts && i < b->kernel_count; i++) {
		struct tk_kernel_symbol *k = &b->kernels[i];
		const json_t *known = json_object_get(facts, k->code_hash);
		const struct {
			const char *name;
			int64_t *to;
		} numbers[] = {{"registers", &k->registers}, {"spill_bytes", &k->spill_bytes},
		        {"shared_bytes", &k->shared_bytes}, {"threads", &k->threads},
		        {"occupancy_percent", &k->occupancy_percent}};
		for (size_t n = 0; n < COUNT(numbers); n++) {
			const json_t *value = json_object_get(known, numbers[n].name);
			if (json_is_integer(value) && json_integer_value(value) >= 0)
				*numbers[n].to = json_integer_value(value);
		}
		const char *text = json_string_value(json_object_get(known, "instructions"));
		tk_text_copy_line(k->instructions, sizeof(k->instructions), text ? text : "");
	}
}

/* The code of a Python package is everything in the folder: what Python runs of it is not known. */
static int scan_python_package(struct tk_artifact_backend *b, struct tk_error *err)
{
	AUTO(tk_python_package) package = {0};
	AUTO_TEXT adapter = tk_path_join(b->path, "adapter/adapter.py");
	TRY(tk_python_package_read(b->path, &package, err));
	if (!tk_file_exists(adapter))
		return tk_fail(err, TK_EDATA, "%s does not exist", adapter);
	memcpy(b->code_hash, b->file_hash, sizeof b->code_hash);
	return TK_OK;
}

int tk_backend_scan(
        const char *path, const char *name, struct tk_artifact_backend *b, struct tk_error *err)
{
	struct stat st;
	if (lstat(path, &st))
		return tk_fail_errno(err, "%s", path);
	const bool is_folder = S_ISDIR(st.st_mode) && is_package(path);
	if (!is_folder && !S_ISREG(st.st_mode))
		return tk_fail(err, TK_EDATA, "%s is not a regular file", path);
	snprintf(b->name, sizeof(b->name), "%s", name);
	b->path = tk_path_make_absolute(path);
	TRY(tk_backend_file_hash(path, b->file_hash, err));
	if (is_folder && tk_kernel_package_is_python(path))
		return scan_python_package(b, err);
	TRY(is_folder ? tk_kernel_package_scan(path, b, err)
	              : tk_code_hash_object(
	                        path, NULL, b->code_hash, &b->kernels, &b->kernel_count, err));
	add_kernel_facts(b);
	return TK_OK;
}

/* ---- those of a build ---- */

/* An absolute run path works only on the machine that built the object. */
static bool is_absolute_run_path(const char *run_path)
{
	AUTO_TEXT copy = tk_strdup(run_path);
	char *rest = copy;
	bool absolute = false;
	for (char *part; !absolute && (part = strsep(&rest, ":"));)
		absolute = *part && strncmp(part, "$ORIGIN", 7) && strncmp(part, "${ORIGIN}", 9);
	return absolute;
}

static int check_object(const char *path, struct tk_error *err)
{
	AUTO(tk_elf) e;
	bool has_entry = false;
	TRY(tk_elf_open(path, &e, err));
	for (size_t i = 0; i < e.functions.count && !has_entry; i++)
		has_entry = e.functions.list[i].exported &&
		            !strcmp(e.functions.list[i].name, "tk_backend_entry");
	if (!has_entry)
		return tk_fail(err, TK_EDATA, "%s does not export tk_backend_entry", path);
	if (e.run_path && is_absolute_run_path(e.run_path))
		return tk_fail(err, TK_EDATA,
		        "%s has the run path %.200s, which works only on this machine; link "
		        "without -rpath",
		        path, e.run_path);
	return TK_OK;
}

const struct tk_artifact_backend *tk_artifact_find_backend(
        const struct tk_artifact *a, const char *name)
{
	for (size_t i = 0; i < a->backend_count; i++)
		if (!strcmp(a->backends[i].name, name))
			return &a->backends[i];
	return NULL;
}

static int add_backend(
        struct tk_artifact *a, const char *dir, const char *name, struct tk_error *err)
{
	if (!tk_backend_name_is_valid(name))
		return tk_fail(err, TK_EDATA,
		        "\"%.80s\" is not a backend's name; expected [a-z0-9_-]+ of at most 63 "
		        "characters",
		        name);
	if (a->backend_count == BACKENDS_MAX)
		return tk_fail(err, TK_EDATA, "there are more than %d backends", BACKENDS_MAX);
	if (tk_artifact_find_backend(a, name))
		return tk_fail(
		        err, TK_EDATA, "the build made two files for the backend \"%s\"", name);
	AUTO_TEXT path = tk_backend_path(dir, name);
	if (!is_package(path))
		TRY(check_object(path, err));
	return tk_backend_scan(path, name, &a->backends[a->backend_count++], err);
}

int tk_artifact_scan_backends(struct tk_artifact *a, const char *dir, struct tk_error *err)
{
	char **names = NULL, name[256];
	size_t count = 0;
	AUTO_TEXT lib = tk_path_join(dir, "lib");
	if (tk_dir_exists(lib))
		TRY(tk_dir_list(lib, &names, &count, err));
	a->backends = tk_calloc(BACKENDS_MAX, sizeof(*a->backends));
	int status = TK_OK;
	for (size_t i = 0; !status && i < count; i++)
		if (parse_name(names[i], name, sizeof(name)))
			status = add_backend(a, dir, name, err);
	if (!status && !a->backend_count)
		status = tk_fail(err, TK_EDATA,
		        "the build left no lib/" PREFIX "*.so and no compiled kernel package");
	tk_names_free(names, count);
	return status;
}

/* ---- an installed one ---- */

static int fill_installed(
        struct tk_artifact *a, const char *path, const char *name, struct tk_error *err)
{
	char **const texts[] = {&a->log_path, &a->message, &a->same_as, &a->toolchain, &a->upstream,
	        &a->revision, &a->adapter, &a->arch, &a->flags};
	struct stat st;
	struct tk_artifact_backend *b = a->backends = tk_calloc(1, sizeof *a->backends);
	a->backend_count = 1;
	for (size_t i = 0; i < COUNT(texts); i++)
		*texts[i] = tk_strdup("");
	TRY(tk_backend_scan(path, name, b, err));
	memcpy(a->key, b->file_hash, sizeof a->key);
	a->dir = tk_strndup(b->path, (size_t)(strrchr(b->path, '/') - b->path));
	if (!stat(path, &st))
		a->size_bytes = S_ISDIR(st.st_mode) ? tk_dir_size(path) : (int64_t)st.st_size;
	a->cached = true;
	return TK_OK;
}

int tk_artifact_load_installed(const char *backend_path, const char *backend_name,
        struct tk_artifact **out, struct tk_error *err)
{
	if (!tk_backend_name_is_valid(backend_name))
		return tk_fail(err, TK_ECONFIG, "\"%.80s\" is not a backend's name", backend_name);
	struct tk_artifact *a = tk_calloc(1, sizeof *a);
	const int status = fill_installed(a, backend_path, backend_name, err);
	if (status)
		tk_artifact_free(a);
	else
		*out = a;
	return status;
}
