/* The backends that a build left in lib/, and whether they run on another machine. */
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/try.h"
#include "build/build_internal.h"
#include "build/elf.h"
#include "core/kernel_package.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PREFIX "tk_backend_"
#define BACKENDS_MAX 64
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

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
	for (size_t i = 0; i < COUNT(suffixes); i++) {
		char *path = NULL;
		if (asprintf(&path, "%s/lib/" PREFIX "%s%s", dir, name, suffixes[i]) < 0)
			return NULL;
		if (i + 1 == COUNT(suffixes) || tk_dir_exists(path))
			return path;
		free(path);
	}
	return NULL;
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

/* What kernels/gpu/kernel_facts.py wrote beside the backend: the facts of each kernel by the hash
 * of its code. Kernels that it does not know keep what they have. */
static void add_kernel_facts(struct tk_artifact_backend *b)
{
	const char *dot = strrchr(b->path, '.');
	AUTO_TEXT path = tk_sprintf("%.*s.facts.json", (int)(dot - b->path), b->path);
	json_t *facts = json_load_file(path, 0, NULL);
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
	json_decref(facts);
}

static bool is_package(const char *path)
{
	return tk_kernel_package_device_kind(path) != TK_DEVICE_OTHER && tk_dir_exists(path);
}

int tk_backend_file_hash(const char *path, char hex[TK_HASH_HEX_SIZE], struct tk_error *err)
{
	return is_package(path) ? tk_kernel_package_hash(path, hex, err)
	                        : tk_hash_file(path, hex, err);
}

/* An absolute run path works only on the machine that built the object. */
static bool is_absolute_run_path(const char *run_path)
{
	char *copy = tk_strdup(run_path), *rest = copy;
	bool absolute = copy == NULL;
	for (char *part; !absolute && (part = strsep(&rest, ":"));)
		absolute = *part && strncmp(part, "$ORIGIN", 7) && strncmp(part, "${ORIGIN}", 9);
	free(copy);
	return absolute;
}

static int check_object(const char *path, struct tk_error *err)
{
	struct tk_elf e;
	int status = tk_elf_open(path, &e, err);
	if (!status && !tk_elf_has_export(&e, "tk_backend_entry"))
		status = tk_fail(err, TK_EDATA, "%s does not export tk_backend_entry", path);
	if (!status && e.run_path && is_absolute_run_path(e.run_path))
		status = tk_fail(err, TK_EDATA,
		        "%s has the run path %.200s, which works only on this machine; link "
		        "without "
		        "-rpath",
		        path, e.run_path);
	tk_elf_close(&e);
	return status;
}

int tk_backend_scan(
        const char *path, const char *name, struct tk_artifact_backend *out, struct tk_error *err)
{
	struct stat st;
	if (lstat(path, &st))
		return tk_fail_errno(err, "%s", path);
	if (S_ISDIR(st.st_mode) && is_package(path)) {
		if (tk_kernel_package_is_python(path))
			return tk_python_package_scan(path, name, out, err);
		TRY(tk_kernel_package_scan(path, name, out, err));
		add_kernel_facts(out);
		return TK_OK;
	}
	if (!S_ISREG(st.st_mode))
		return tk_fail(err, TK_EDATA, "%s is not a regular file", path);
	TRY(tk_code_hash_object(
	        path, NULL, out->code_hash, &out->kernels, &out->kernel_count, err));
	snprintf(out->name, sizeof(out->name), "%s", name);
	out->path = tk_path_make_absolute(path);
	add_kernel_facts(out);
	return TK_OK;
}

static int add_backend(
        struct tk_artifact *a, const char *dir, const char *name, struct tk_error *err)
{
	for (size_t i = 0; i < a->backend_count; i++)
		if (!strcmp(a->backends[i].name, name))
			return tk_fail(err, TK_EDATA,
			        "the build made two files for the backend \"%s\"", name);
	AUTO_TEXT path = tk_backend_path(dir, name);
	TRY(is_package(path) ? TK_OK : check_object(path, err));
	return tk_backend_scan(path, name, &a->backends[a->backend_count++], err);
}

int tk_artifact_scan_backends(struct tk_artifact *a, const char *dir, struct tk_error *err)
{
	char **names = NULL;
	size_t count = 0;
	AUTO_TEXT lib = tk_path_join(dir, "lib");
	int status = TK_OK;
	if (!status && tk_dir_exists(lib))
		status = tk_dir_list(lib, &names, &count, err);
	if (!status)
		a->backends = tk_calloc(BACKENDS_MAX, sizeof(*a->backends));
	for (size_t i = 0; !status && i < count; i++) {
		char name[256];
		if (!parse_name(names[i], name, sizeof(name)))
			continue;
		if (!tk_backend_name_is_valid(name))
			status = tk_fail(err, TK_EDATA,
			        "\"%.80s\" is not a backend's name; expected [a-z0-9_-]+ of at "
			        "most 63 characters",
			        name);
		else if (a->backend_count == BACKENDS_MAX)
			status = tk_fail(
			        err, TK_EDATA, "there are more than %d backends", BACKENDS_MAX);
		else
			status = add_backend(a, dir, name, err);
	}
	if (!status && !a->backend_count)
		status = tk_fail(err, TK_EDATA,
		        "the build left no lib/" PREFIX "*.so and no compiled kernel package");
	tk_names_free(names, count);
	return status;
}
