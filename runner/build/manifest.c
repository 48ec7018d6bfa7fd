/* Reading and verifying manifest.json. */
#include "build/manifest.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/try.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MANIFEST_MAX ((size_t)8 << 20)
#define LIST_MAX 4096

static int read_text(const json_t *o, const char *name, char **out, struct tk_error *err)
{
	const json_t *v = json_object_get(o, name);
	const char *text = json_string_value(v);
	if (!text || strlen(text) != json_string_length(v))
		return tk_fail(err, TK_EDATA, "\"%s\" is missing or not a text", name);
	const size_t size = strlen(text) + 1 < 4096 ? strlen(text) * 3 + 1
	                                            : 4096; /* a bad byte becomes three */
	char *clean = tk_malloc(size);
	tk_text_copy_line(clean, size, text);
	*out = clean;
	return TK_OK;
}

static int read_int(
        const json_t *o, const char *name, int64_t least, int64_t *out, struct tk_error *err)
{
	const json_t *v = json_object_get(o, name);
	if (!json_is_integer(v) || json_integer_value(v) < least)
		return tk_fail(err, TK_EDATA,
		        "\"%s\" is missing or not a whole number of at least %lld", name,
		        (long long)least);
	*out = json_integer_value(v);
	return TK_OK;
}

static int read_hash(
        const json_t *o, const char *name, char out[TK_HASH_HEX_SIZE], struct tk_error *err)
{
	const char *text = json_string_value(json_object_get(o, name));
	if (!text || !tk_build_key_is_valid(text))
		return tk_fail(err, TK_EDATA, "\"%s\" is missing or not a SHA-256 hash", name);
	memcpy(out, text, TK_HASH_HEX_SIZE);
	return TK_OK;
}

/* A full hash, in hexadecimal. */
static bool is_commit(const char *text)
{
	const size_t len = strlen(text);
	return len >= 40 && len <= 64 && strspn(text, "0123456789abcdef") == len;
}

/* A version of a package. */
static bool is_version(const char *text)
{
	return *text >= '0' && *text <= '9' &&
	       text[strspn(text, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                         ".!+_-")] == '\0';
}

static bool is_revision(const char *text)
{
	return is_commit(text) || is_version(text);
}

/* Optional: manifests of older trackers have none. */
static int read_commit(const json_t *root, struct tk_revision *out, struct tk_error *err)
{
	const json_t *o = json_object_get(root, "commit");
	const struct {
		const char *name;
		char *to;
		size_t size;
	} texts[] = {{"id", out->id, sizeof(out->id)}, {"parent", out->parent, sizeof(out->parent)},
	        {"author", out->author, sizeof(out->author)},
	        {"subject", out->subject, sizeof(out->subject)}};
	int status = TK_OK;
	if (!o)
		return TK_OK;
	for (size_t i = 0; !status && i < sizeof(texts) / sizeof(*texts); i++) {
		char *text = NULL;
		status = read_text(o, texts[i].name, &text, err);
		if (!status)
			tk_text_copy_line(texts[i].to, texts[i].size, text);
		free(text);
	}
	if (!status && (!is_revision(out->id) || (*out->parent && !is_revision(out->parent))))
		status = tk_fail(
		        err, TK_EDATA, "\"commit\" has an id or a parent that is no commit's hash");
	if (!status)
		status = read_int(o, "author_time_s", 0, &out->author_time_s, err);
	if (!status)
		status = read_int(o, "commit_time_s", 0, &out->commit_time_s, err);
	return status ? status : read_int(o, "position", 0, &out->position, err);
}

static int read_kernel(const json_t *o, struct tk_kernel_symbol *k, struct tk_error *err)
{
	char *name = NULL, *instructions = NULL;
	int status = read_text(o, "name", &name, err);
	if (!status)
		status = read_hash(o, "code_hash", k->code_hash, err);
	if (!status)
		status = read_int(o, "size_bytes", 0, &k->size_bytes, err);
	if (!status)
		status = read_int(o, "registers", -1, &k->registers, err);
	if (!status)
		status = read_int(o, "spill_bytes", -1, &k->spill_bytes, err);
	if (!status)
		status = read_int(o, "shared_bytes", -1, &k->shared_bytes, err);
	k->threads = k->occupancy_percent = -1; /* missing in manifests of older trackers */
	if (!status && json_object_get(o, "threads"))
		status = read_int(o, "threads", -1, &k->threads, err);
	if (!status && json_object_get(o, "occupancy_percent"))
		status = read_int(o, "occupancy_percent", -1, &k->occupancy_percent, err);
	if (!status && json_object_get(o, "instructions"))
		status = read_text(o, "instructions", &instructions, err);
	if (!status && instructions)
		tk_text_copy_line(k->instructions, sizeof(k->instructions), instructions);
	free(instructions);
	if (!status)
		tk_text_copy_line(k->name, sizeof(k->name), name);
	free(name);
	return status;
}

static int read_backend(
        const json_t *o, const char *dir, struct tk_artifact_backend *b, struct tk_error *err)
{
	const char *name = json_string_value(json_object_get(o, "name"));
	const json_t *kernels = json_object_get(o, "kernels");
	if (!name || !tk_backend_name_is_valid(name))
		return tk_fail(err, TK_EDATA, "a backend's \"name\" is missing or not [a-z0-9_-]+");
	snprintf(b->name, sizeof(b->name), "%s", name);
	b->path = tk_backend_path(dir, name);
	int status = read_hash(o, "code_hash", b->code_hash, err);
	const size_t n = json_array_size(kernels);
	if (!status && (!json_is_array(kernels) || n > LIST_MAX))
		status =
		        tk_fail(err, TK_EDATA, "\"kernels\" is not a list of at most %d", LIST_MAX);
	if (!status && n && !(b->kernels = tk_calloc(n, sizeof(*b->kernels))))
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; !status && i < n; i++, b->kernel_count++)
		status = read_kernel(json_array_get(kernels, i), &b->kernels[i], err);
	struct stat st;
	if (!status && (lstat(b->path, &st) || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))))
		status = tk_fail(err, TK_EDATA, "lib/tk_backend_%s.so is not there", name);
	return status;
}

static int read_backends(const json_t *root, struct tk_artifact *a, struct tk_error *err)
{
	const json_t *list = json_object_get(root, "backends");
	const size_t n = json_array_size(list);
	if (!json_is_array(list) || n > LIST_MAX)
		return tk_fail(err, TK_EDATA, "\"backends\" is not a list of at most %d", LIST_MAX);
	if (n && !(a->backends = tk_calloc(n, sizeof(*a->backends))))
		return tk_fail(err, TK_ENOMEM, "out of memory");
	int status = TK_OK;
	for (size_t i = 0; !status && i < n; i++) {
		a->backend_count = i + 1;
		status = read_backend(json_array_get(list, i), a->dir, &a->backends[i], err);
	}
	if (!status && a->status == TK_BUILD_OK && !n)
		status = tk_fail(err, TK_EDATA, "the status is ok, but there is no backend");
	return status;
}

static int read_status(const json_t *root, enum tk_build_status *out, struct tk_error *err)
{
	const char *name = json_string_value(json_object_get(root, "status"));
	if (!tk_build_status_parse(name, out))
		return TK_OK;
	return tk_fail(err, TK_EDATA, "\"status\" is missing or none of ok, failed, timeout");
}

static int read_fields(const json_t *root, struct tk_artifact *a, struct tk_error *err)
{
	const struct {
		const char *name;
		char **to;
	} texts[] = {{"upstream", &a->upstream}, {"revision", &a->revision},
	        {"adapter", &a->adapter}, {"arch", &a->arch}, {"flags", &a->flags},
	        {"toolchain", &a->toolchain}, {"message", &a->message}};
	const json_t *wall = json_object_get(root, "wall_s");
	int status = read_hash(root, "key", a->key, err);
	for (size_t i = 0; !status && i < sizeof(texts) / sizeof(*texts); i++)
		status = read_text(root, texts[i].name, texts[i].to, err);
	if (!status)
		status = read_status(root, &a->status, err);
	if (!status)
		status = read_int(root, "size_bytes", 0, &a->size_bytes, err);
	if (!status)
		status = read_int(root, "built_s", 0, &a->built_s, err);
	if (!status && (!json_is_number(wall) || !(json_number_value(wall) >= 0)))
		status = tk_fail(err, TK_EDATA, "\"wall_s\" is missing or not a number of seconds");
	a->wall_s = json_number_value(wall);
	if (!status)
		status = read_commit(root, &a->commit, err);
	if (!status && *a->commit.id && strcmp(a->commit.id, a->revision))
		status =
		        tk_fail(err, TK_EDATA, "\"commit\" is not the revision %.40s", a->revision);
	return status ? status : read_backends(root, a, err);
}

static int parse(const char *path, json_t **out, struct tk_error *err)
{
	struct tk_buf text = TK_BUF_INIT;
	json_error_t at;
	int64_t format = 0;
	int status = tk_file_read(path, MANIFEST_MAX, &text, err);
	json_t *root = status ? NULL
	                      : json_loadb(text.data ? text.data : "", text.len,
	                                JSON_REJECT_DUPLICATES, &at);
	tk_buf_free(&text);
	if (status)
		return status;
	if (!root)
		return tk_fail(err, TK_EDATA, "%s:%d:%d: %s", path, at.line, at.column, at.text);
	status = read_int(root, "format", 1, &format, err);
	if (!status && format > TK_MANIFEST_FORMAT)
		status = tk_fail(err, TK_EVERSION,
		        "%s was made by a newer tracker (format %lld, this one knows %d)", path,
		        (long long)format, TK_MANIFEST_FORMAT);
	else if (status)
		tk_error_add_context(err, "%s", path);
	if (status)
		json_decref(root);
	else
		*out = root;
	return status;
}

int tk_manifest_read(const char *dir, struct tk_artifact **out, struct tk_error *err)
{
	json_t *root = NULL;
	struct tk_artifact *a = tk_calloc(1, sizeof(*a));
	char *path = tk_path_join(dir, "manifest.json");
	int status = TK_OK;
	if (!a || !path || !(a->dir = tk_path_make_absolute(dir)) ||
	        !(a->log_path = tk_path_join(a->dir, "build.log")))
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	if (!status)
		status = parse(path, &root, err);
	if (!status && (status = read_fields(root, a, err)) == TK_EDATA)
		tk_error_add_context(err, "%s", path);
	json_decref(root);
	free(path);
	if (status)
		tk_artifact_free(a);
	else
		*out = a;
	return status;
}

static int verify_backend(
        const struct tk_artifact_backend *b, const json_t *o, bool with_code, struct tk_error *err)
{
	char file[TK_HASH_HEX_SIZE], wanted[TK_HASH_HEX_SIZE];
	struct tk_artifact_backend found = {0};
	int status = read_hash(o, "file_hash", wanted, err);
	if (!status)
		status = tk_backend_file_hash(b->path, file, err);
	if (!status && strcmp(file, wanted))
		status = tk_fail(
		        err, TK_EDATA, "%s does not match the file hash in the manifest", b->path);
	if (!status && with_code)
		status = tk_backend_scan(b->path, b->name, &found, err);
	if (!status && with_code && strcmp(found.code_hash, b->code_hash))
		status = tk_fail(
		        err, TK_EDATA, "%s does not match the code hash in the manifest", b->path);
	free(found.path);
	free(found.kernels);
	return status;
}

int tk_manifest_verify(const char *dir, bool with_code, struct tk_error *err)
{
	struct tk_artifact *a = NULL;
	json_auto_t *root = NULL;
	AUTO_TEXT path = tk_path_join(dir, "manifest.json");
	int status =
	        path ? tk_manifest_read(dir, &a, err) : tk_fail(err, TK_ENOMEM, "out of memory");
	if (!status)
		status = parse(path, &root, err);
	for (size_t i = 0; !status && i < a->backend_count; i++)
		status = verify_backend(&a->backends[i],
		        json_array_get(json_object_get(root, "backends"), i), with_code, err);
	tk_artifact_free(a);
	return status;
}
