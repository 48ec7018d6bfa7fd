/* Compiled kernel packages as backends of an artifact: what their code objects contain. Only what
 * identifies the code is read here; the launcher checks the rest when it loads a package. */
#include "core/kernel_package.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include "build/build_internal.h"
#include "build/device_code.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANIFEST_MAX ((size_t)1 << 20)
#define CODE_MAX ((size_t)256 << 20)

struct scan {
	const char *dir;
	struct tk_artifact_backend *out;
	struct tk_hash *hash; /* of all code, and of how it is launched */
	size_t manifest_count;
	bool is_host; /* the code objects are shared libraries of this machine */
};

static const char *get_text(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));
	return text ? text : "";
}

/* A new symbol, which has only its name; it lives until the next one. */
static struct tk_kernel_symbol *add_symbol(
        struct scan *s, const json_t *m, const char *processor, const char *entry)
{
	struct tk_artifact_backend *b = s->out;
	AUTO_TEXT name = tk_sprintf("%s %s %s %s", processor, entry, get_text(m, "problem"),
	        get_text(m, "configuration"));
	b->kernels = tk_reallocarray(b->kernels, b->kernel_count + 1, sizeof(*b->kernels));
	struct tk_kernel_symbol *to = &b->kernels[b->kernel_count];
	memset(to, 0, sizeof(*to));
	tk_kernel_symbol_name(b->kernels, b->kernel_count++, name);
	return to;
}

/* A shared library counts as one kernel: its functions have no names. */
static int add_host_code(
        struct scan *s, const json_t *m, const char *path, size_t bytes, struct tk_error *err)
{
	const json_t *launch = json_array_get(json_object_get(m, "launches"), 0);
	char hex[TK_HASH_HEX_SIZE];
	TRY(tk_code_hash_object(path, NULL, hex, NULL, NULL, err));
	tk_hash_add_str(s->hash, hex);
	if (s->out->kernel_count >= TK_CODE_KERNELS_MAX)
		return TK_OK;
	struct tk_kernel_symbol *to =
	        add_symbol(s, m, get_text(m, "target"), get_text(launch, "entry"));
	memcpy(to->code_hash, hex, sizeof(hex));
	tk_kernel_symbol_set_size(to, bytes);
	return TK_OK;
}

/* Names and notes of a code object do not count, unless it cannot be read. */
static int add_code(struct scan *s, const json_t *m, const char *path, const struct tk_buf *code,
        struct tk_error *err)
{
	AUTO(tk_device_code) c = {0};
	if (s->is_host)
		return add_host_code(s, m, path, code->len, err);
	tk_device_code_read_object(
	        get_text(m, "target"), (const unsigned char *)code->data, code->len, &c);
	if (!c.kernel_count || c.unreadable_count)
		tk_hash_add(s->hash, code->data, code->len);
	for (size_t i = 0; i < c.data_count; i++)
		tk_hash_add(s->hash, c.data[i].bytes, c.data[i].size);
	for (size_t i = 0; i < c.kernel_count; i++) {
		const struct tk_device_kernel *k = &c.kernels[i];
		tk_hash_add(s->hash, k->code, k->size);
		if (s->out->kernel_count >= TK_CODE_KERNELS_MAX)
			continue;
		struct tk_kernel_symbol *to = add_symbol(s, m, k->processor, k->name);
		tk_hash_bytes(k->code, k->size, to->code_hash);
		tk_kernel_symbol_set_size(to, k->size);
	}
	return TK_OK;
}

static int read_code(struct scan *s, const json_t *m, struct tk_error *err)
{
	const char *name = get_text(m, "code_object");
	char hex[TK_HASH_HEX_SIZE];
	struct tk_buf code = TK_BUF_INIT;
	if (!*name || *name == '.' || strchr(name, '/'))
		return tk_fail(err, TK_EDATA,
		        "\"code_object\" is missing or not the name of a file beside the manifest");
	char *path = tk_path_join(s->dir, name);
	int status = tk_file_read(path, CODE_MAX, &code, err);
	if (!status) {
		tk_hash_bytes(code.data ? code.data : "", code.len, hex);
		if (strcmp(hex, get_text(m, "sha256")))
			status = tk_fail(err, TK_EDATA,
			        "%s does not have the hash that its manifest names", name);
	}
	if (!status)
		status = add_code(s, m, path, &code, err);
	tk_buf_free(&code);
	free(path);
	return status == TK_ENOTFOUND || status == TK_EIO ? (err->status = TK_EDATA) : status;
}

static int add_manifest(struct scan *s, const json_t *m, struct tk_error *err)
{
	static const char *const required[] = {"problem", "target", "configuration"};
	for (size_t i = 0; i < sizeof(required) / sizeof(*required); i++) {
		if (!*get_text(m, required[i]))
			return tk_fail(err, TK_EDATA, "\"%s\" is missing", required[i]);
		tk_hash_add_str(s->hash, get_text(m, required[i]));
	}
	s->manifest_count++;
	if (json_object_get(m, "error")) { /* the compiler has no code for this problem */
		tk_hash_add_str(s->hash, "error");
		return TK_OK;
	}
	char *launches = json_dumps(
	        json_object_get(m, "launches"), JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
	if (!launches)
		return tk_fail(err, TK_EDATA, "\"launches\" is missing");
	tk_hash_add_str(s->hash, launches);
	free(launches);
	return read_code(s, m, err);
}

/* The caller releases *out. */
static int load_manifest(const char *path, json_t **out, struct tk_error *err)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	json_error_t at;
	int status = tk_file_read(path, MANIFEST_MAX, &text, err);
	*out = status ? NULL
	              : json_loadb(
	                        text.data ? text.data : "", text.len, JSON_REJECT_DUPLICATES, &at);
	if (!status && !*out)
		status = tk_fail(err, TK_EDATA, "%d:%d: %s", at.line, at.column, at.text);
	return status;
}

static int read_manifest(struct scan *s, const char *name, struct tk_error *err)
{
	json_auto_t *m = NULL;
	AUTO_TEXT path = tk_path_join(s->dir, name);
	int status = load_manifest(path, &m, err);
	if (!status)
		status = add_manifest(s, m, err);
	if (status)
		tk_error_add_context(err, "%s", name);
	return status;
}

static bool is_manifest(const char *name)
{
	const size_t len = strlen(name);
	return len > 5 && *name != '.' && !strcmp(name + len - 5, ".json");
}

int tk_kernel_package_scan(
        const char *path, const char *name, struct tk_artifact_backend *out, struct tk_error *err)
{
	struct scan s = {.dir = path,
	        .out = out,
	        .hash = tk_hash_new(),
	        .is_host = tk_kernel_package_device_kind(path) == TK_DEVICE_CPU};
	char **names = NULL;
	size_t count = 0;
	int status = tk_dir_list(path, &names, &count, err);
	for (size_t i = 0; !status && i < count; i++)
		if (is_manifest(names[i]))
			status = read_manifest(&s, names[i], err);
	if (!status && !s.manifest_count)
		status = tk_fail(err, TK_EDATA, "%s has no manifest (NAME.json)", path);
	tk_names_free(names, count);
	tk_hash_finish(s.hash, out->code_hash);
	if (status)
		return status;
	snprintf(out->name, sizeof(out->name), "%s", name);
	out->path = tk_path_make_absolute(path);
	return TK_OK;
}

int tk_kernel_package_hash(const char *path, char hex[TK_HASH_HEX_SIZE], struct tk_error *err)
{
	struct tk_hash *h = tk_hash_new();
	int status = tk_hash_add_tree(h, path, err);
	if (status)
		tk_hash_free(h);
	else
		tk_hash_finish(h, hex);
	return status;
}

double tk_kernel_package_compile_ns(
        const char *package, const char *problem, const char *configuration)
{
	char **names = NULL;
	size_t count = 0;
	double seconds = NAN;
	if (tk_dir_list(package, &names, &count, NULL))
		return NAN;
	for (size_t i = 0; i < count && isnan(seconds); i++) {
		char *path = is_manifest(names[i]) ? tk_path_join(package, names[i]) : NULL;
		json_t *m = NULL;
		if (path && !load_manifest(path, &m, NULL) &&
		        !strcmp(get_text(m, "problem"), problem) &&
		        !strcmp(get_text(m, "configuration"), configuration)) {
			const json_t *given = json_object_get(m, "compile_seconds");
			seconds = json_is_number(given) ? json_number_value(given) : NAN;
		}
		json_decref(m);
		free(path);
	}
	tk_names_free(names, count);
	return seconds > 0 ? seconds * 1e9 : NAN;
}
