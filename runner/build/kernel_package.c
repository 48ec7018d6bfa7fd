/* Compiled kernel packages as backends of an artifact: what their code objects contain. Only what
 * identifies the code is read here; the launcher checks the rest when it loads a package. */
#include "core/kernel_package.h"
#include "build/build_internal.h"
#include <math.h>

#define MANIFEST_MAX ((size_t)1 << 20)
#define CODE_MAX ((size_t)256 << 20)

struct scan {
	const char *dir;
	struct tk_artifact_backend *out;
	struct tk_hash *hash; /* of all code, and of how it is launched */
	size_t manifest_count;
};

static const char *get_text(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));
	return text ? text : "";
}

/* A kernel of this manifest; its hash is that of the code, or `hex` (may be NULL). */
static void add_kernel(struct scan *s, const json_t *m, const char *processor, const char *entry,
        const void *code, size_t size, const char *hex)
{
	struct tk_artifact_backend *b = s->out;
	if (b->kernel_count >= TK_CODE_KERNELS_MAX)
		return;
	AUTO_TEXT name = tk_sprintf("%s %s %s %s", processor, entry, get_text(m, "problem"),
	        get_text(m, "configuration"));
	b->kernels = tk_reallocarray(b->kernels, b->kernel_count + 1, sizeof *b->kernels);
	struct tk_kernel_symbol *to = &b->kernels[b->kernel_count];
	memset(to, 0, sizeof *to);
	tk_kernel_symbol_set(b->kernels, b->kernel_count++, name, size);
	if (hex)
		memcpy(to->code_hash, hex, sizeof to->code_hash);
	else
		tk_hash_bytes(code, size, to->code_hash);
}

/* Names and notes of a code object do not count, unless it cannot be read. A shared library of this
 * machine counts as one kernel: its functions have no names. */
static int add_code(struct scan *s, const json_t *m, const char *path, const struct tk_buf *code,
        struct tk_error *err)
{
	const char *target = get_text(m, "target");
	if (tk_kernel_package_device_kind(s->dir) == TK_DEVICE_CPU) {
		const json_t *launch = json_array_get(json_object_get(m, "launches"), 0);
		char hex[TK_HASH_HEX_SIZE];
		TRY(tk_code_hash_object(path, NULL, hex, NULL, NULL, err));
		tk_hash_add_str(s->hash, hex);
		add_kernel(s, m, target, get_text(launch, "entry"), NULL, code->len, hex);
		return TK_OK;
	}
	AUTO(tk_device_code) c = {0};
	tk_device_code_read(target, (const unsigned char *)code->data, code->len, &c);
	if (!c.kernel_count || c.unreadable_count)
		tk_hash_add(s->hash, code->data, code->len);
	tk_device_code_hash(&c, s->hash);
	for (size_t i = 0; i < c.kernel_count; i++) {
		const struct tk_device_kernel *k = &c.kernels[i];
		add_kernel(s, m, k->processor, k->name, k->code, k->size, NULL);
	}
	return TK_OK;
}

static int read_code(struct scan *s, const json_t *m, struct tk_error *err)
{
	const char *name = get_text(m, "code_object");
	char hex[TK_HASH_HEX_SIZE];
	AUTO(tk_buf) code = TK_BUF_INIT;
	if (!*name || *name == '.' || strchr(name, '/'))
		return tk_fail(err, TK_EDATA,
		        "\"code_object\" is missing or not the name of a file beside the manifest");
	AUTO_TEXT path = tk_path_join(s->dir, name);
	TRY(tk_file_read(path, CODE_MAX, &code, err));
	tk_hash_bytes(tk_buf_cstr(&code), code.len, hex);
	if (strcmp(hex, get_text(m, "sha256")))
		return tk_fail(
		        err, TK_EDATA, "%s does not have the hash that its manifest names", name);
	return add_code(s, m, path, &code, err);
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
	AUTO_TEXT launches = json_dumps(
	        json_object_get(m, "launches"), JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
	if (!launches)
		return tk_fail(err, TK_EDATA, "\"launches\" is missing");
	tk_hash_add_str(s->hash, launches);
	const int status = read_code(s, m, err);
	return status == TK_ENOTFOUND || status == TK_EIO ? (err->status = TK_EDATA) : status;
}

/* The manifest `name` of a package. The caller releases *out; NULL: the file is no manifest. */
static int load_manifest(const char *dir, const char *name, json_t **out, struct tk_error *err)
{
	const size_t len = strlen(name);
	AUTO(tk_buf) text = TK_BUF_INIT;
	json_error_t at;
	*out = NULL;
	if (len <= 5 || *name == '.' || strcmp(name + len - 5, ".json"))
		return TK_OK;
	AUTO_TEXT path = tk_path_join(dir, name);
	TRY(tk_file_read(path, MANIFEST_MAX, &text, err));
	*out = json_loadb(tk_buf_cstr(&text), text.len, JSON_REJECT_DUPLICATES, &at);
	return *out ? TK_OK : tk_fail(err, TK_EDATA, "%d:%d: %s", at.line, at.column, at.text);
}

int tk_kernel_package_scan(const char *path, struct tk_artifact_backend *out, struct tk_error *err)
{
	struct scan s = {.dir = path, .out = out, .hash = tk_hash_new()};
	char **names = NULL;
	size_t count = 0;
	int status = tk_dir_list(path, &names, &count, err);
	for (size_t i = 0; !status && i < count; i++) {
		json_auto_t *m = NULL;
		status = load_manifest(path, names[i], &m, err);
		if (m)
			status = add_manifest(&s, m, err);
		if (status)
			tk_error_add_context(err, "%s", names[i]);
	}
	if (!status && !s.manifest_count)
		status = tk_fail(err, TK_EDATA, "%s has no manifest (NAME.json)", path);
	tk_names_free(names, count);
	tk_hash_finish(s.hash, out->code_hash);
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
		json_auto_t *m = NULL;
		if (load_manifest(package, names[i], &m, NULL) ||
		        strcmp(get_text(m, "problem"), problem) ||
		        strcmp(get_text(m, "configuration"), configuration))
			continue;
		const json_t *given = json_object_get(m, "compile_seconds");
		seconds = json_is_number(given) ? json_number_value(given) : NAN;
	}
	tk_names_free(names, count);
	return seconds > 0 ? seconds * 1e9 : NAN;
}
