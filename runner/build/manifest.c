/* manifest.json: reading, verifying, writing. */
#include "build/manifest.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/try.h"
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MANIFEST_MAX ((size_t)8 << 20)
#define LIST_MAX 4096
#define MANIFEST_FORMAT 1
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

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

/* Missing where the commit is unknown. */
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
	if (!o)
		return TK_OK;
	for (size_t i = 0; i < COUNT(texts); i++) {
		AUTO_TEXT text = NULL;
		TRY(read_text(o, texts[i].name, &text, err));
		tk_text_copy_line(texts[i].to, texts[i].size, text);
	}
	if (!is_revision(out->id) || (*out->parent && !is_revision(out->parent)))
		return tk_fail(
		        err, TK_EDATA, "\"commit\" has an id or a parent that is no commit's hash");
	TRY(read_int(o, "author_time_s", 0, &out->author_time_s, err));
	TRY(read_int(o, "commit_time_s", 0, &out->commit_time_s, err));
	return read_int(o, "position", 0, &out->position, err);
}

/* The numbers of a kernel. */
static const struct {
	const char *name;
	size_t offset;
	int64_t least;
} kernel_numbers[] = {
        {"size_bytes", offsetof(struct tk_kernel_symbol, size_bytes), 0},
        {"registers", offsetof(struct tk_kernel_symbol, registers), -1},
        {"spill_bytes", offsetof(struct tk_kernel_symbol, spill_bytes), -1},
        {"shared_bytes", offsetof(struct tk_kernel_symbol, shared_bytes), -1},
        {"threads", offsetof(struct tk_kernel_symbol, threads), -1},
        {"occupancy_percent", offsetof(struct tk_kernel_symbol, occupancy_percent), -1},
};

static int read_kernel(const json_t *o, struct tk_kernel_symbol *k, struct tk_error *err)
{
	AUTO_TEXT name = NULL, *instructions = NULL;
	TRY(read_text(o, "name", &name, err));
	TRY(read_text(o, "instructions", &instructions, err));
	TRY(read_hash(o, "code_hash", k->code_hash, err));
	for (size_t i = 0; i < COUNT(kernel_numbers); i++)
		TRY(read_int(o, kernel_numbers[i].name, kernel_numbers[i].least,
		        (int64_t *)((char *)k + kernel_numbers[i].offset), err));
	tk_text_copy_line(k->instructions, sizeof(k->instructions), instructions);
	tk_text_copy_line(k->name, sizeof(k->name), name);
	return TK_OK;
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
	TRY(read_hash(o, "code_hash", b->code_hash, err));
	const size_t n = json_array_size(kernels);
	if (!json_is_array(kernels) || n > LIST_MAX)
		return tk_fail(err, TK_EDATA, "\"kernels\" is not a list of at most %d", LIST_MAX);
	b->kernels = tk_calloc(n, sizeof(*b->kernels));
	for (size_t i = 0; i < n; i++, b->kernel_count++)
		TRY(read_kernel(json_array_get(kernels, i), &b->kernels[i], err));
	struct stat st;
	if (lstat(b->path, &st) || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return tk_fail(err, TK_EDATA, "lib/tk_backend_%s.so is not there", name);
	return TK_OK;
}

static int read_backends(const json_t *root, struct tk_artifact *a, struct tk_error *err)
{
	const json_t *list = json_object_get(root, "backends");
	const size_t n = json_array_size(list);
	if (!json_is_array(list) || n > LIST_MAX)
		return tk_fail(err, TK_EDATA, "\"backends\" is not a list of at most %d", LIST_MAX);
	if (a->status == TK_BUILD_OK && !n)
		return tk_fail(err, TK_EDATA, "the status is ok, but there is no backend");
	a->backends = tk_calloc(n, sizeof(*a->backends));
	for (size_t i = 0; i < n; i++) {
		a->backend_count = i + 1;
		TRY(read_backend(json_array_get(list, i), a->dir, &a->backends[i], err));
	}
	return TK_OK;
}

static int read_status(const json_t *root, enum tk_build_status *out, struct tk_error *err)
{
	const char *name = json_string_value(json_object_get(root, "status"));
	if (!tk_build_status_parse(name, out))
		return TK_OK;
	return tk_fail(err, TK_EDATA, "\"status\" is missing or none of ok, failed, timeout");
}

/* The texts of an artifact. */
static const struct {
	const char *name;
	size_t offset;
} artifact_texts[] = {
        {"upstream", offsetof(struct tk_artifact, upstream)},
        {"revision", offsetof(struct tk_artifact, revision)},
        {"adapter", offsetof(struct tk_artifact, adapter)},
        {"arch", offsetof(struct tk_artifact, arch)},
        {"flags", offsetof(struct tk_artifact, flags)},
        {"toolchain", offsetof(struct tk_artifact, toolchain)},
        {"message", offsetof(struct tk_artifact, message)},
};

static int read_fields(const json_t *root, struct tk_artifact *a, struct tk_error *err)
{
	const json_t *wall = json_object_get(root, "wall_s");
	TRY(read_hash(root, "key", a->key, err));
	for (size_t i = 0; i < COUNT(artifact_texts); i++)
		TRY(read_text(root, artifact_texts[i].name,
		        (char **)((char *)a + artifact_texts[i].offset), err));
	TRY(read_status(root, &a->status, err));
	TRY(read_int(root, "size_bytes", 0, &a->size_bytes, err));
	TRY(read_int(root, "built_s", 0, &a->built_s, err));
	if (!json_is_number(wall) || !(json_number_value(wall) >= 0))
		return tk_fail(err, TK_EDATA, "\"wall_s\" is missing or not a number of seconds");
	a->wall_s = json_number_value(wall);
	TRY(read_commit(root, &a->commit, err));
	if (*a->commit.id && strcmp(a->commit.id, a->revision))
		return tk_fail(err, TK_EDATA, "\"commit\" is not the revision %.40s", a->revision);
	return read_backends(root, a, err);
}

static int parse(const char *path, json_t **out, struct tk_error *err)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	json_error_t at;
	int64_t format = 0;
	TRY(tk_file_read(path, MANIFEST_MAX, &text, err));
	json_auto_t *root = json_loadb(tk_buf_cstr(&text), text.len, JSON_REJECT_DUPLICATES, &at);
	if (!root)
		return tk_fail(err, TK_EDATA, "%s:%d:%d: %s", path, at.line, at.column, at.text);
	if (read_int(root, "format", 1, &format, err))
		return tk_error_add_context(err, "%s", path);
	if (format > MANIFEST_FORMAT)
		return tk_fail(err, TK_EVERSION,
		        "%s was made by a newer tracker (format %lld, this one knows %d)", path,
		        (long long)format, MANIFEST_FORMAT);
	*out = json_incref(root);
	return TK_OK;
}

static int read_all(const char *path, struct tk_artifact *a, struct tk_error *err)
{
	json_auto_t *root = NULL;
	TRY(parse(path, &root, err));
	const int status = read_fields(root, a, err);
	return status == TK_EDATA ? tk_error_add_context(err, "%s", path) : status;
}

int tk_manifest_read(const char *dir, struct tk_artifact **out, struct tk_error *err)
{
	struct tk_artifact *a = tk_calloc(1, sizeof(*a));
	AUTO_TEXT path = tk_path_join(dir, "manifest.json");
	a->dir = tk_path_make_absolute(dir);
	a->log_path = tk_path_join(a->dir, "build.log");
	const int status = read_all(path, a, err);
	if (status)
		tk_artifact_free(a);
	else
		*out = a;
	return status;
}

static int verify_code(const struct tk_artifact_backend *b, struct tk_error *err)
{
	struct tk_artifact_backend found = {0};
	int status = tk_backend_scan(b->path, b->name, &found, err);
	if (!status && strcmp(found.code_hash, b->code_hash))
		status = tk_fail(
		        err, TK_EDATA, "%s does not match the code hash in the manifest", b->path);
	free(found.path);
	free(found.kernels);
	return status;
}

static int verify_backend(
        const struct tk_artifact_backend *b, const json_t *o, bool with_code, struct tk_error *err)
{
	char file[TK_HASH_HEX_SIZE], wanted[TK_HASH_HEX_SIZE];
	TRY(read_hash(o, "file_hash", wanted, err));
	TRY(tk_backend_file_hash(b->path, file, err));
	if (strcmp(file, wanted))
		return tk_fail(
		        err, TK_EDATA, "%s does not match the file hash in the manifest", b->path);
	return with_code ? verify_code(b, err) : TK_OK;
}

int tk_manifest_verify(const char *dir, bool with_code, struct tk_error *err)
{
	struct tk_artifact *a = NULL;
	json_auto_t *root = NULL;
	AUTO_TEXT path = tk_path_join(dir, "manifest.json");
	int status = tk_manifest_read(dir, &a, err);
	if (!status)
		status = parse(path, &root, err);
	for (size_t i = 0; !status && i < a->backend_count; i++)
		status = verify_backend(&a->backends[i],
		        json_array_get(json_object_get(root, "backends"), i), with_code, err);
	tk_artifact_free(a);
	return status;
}

/* ---- writing ---- */

static json_t *make_kernels(const struct tk_artifact_backend *b)
{
	json_t *list = json_array();
	for (size_t i = 0; i < b->kernel_count; i++) {
		const struct tk_kernel_symbol *k = &b->kernels[i];
		char name[sizeof(k->name)];
		tk_text_copy_line(name, sizeof(name), k->name);
		json_t *o = json_pack("{s:s,s:s,s:s}", "name", name, "code_hash", k->code_hash,
		        "instructions", k->instructions);
		for (size_t n = 0; n < COUNT(kernel_numbers); n++)
			json_object_set_new(o, kernel_numbers[n].name,
			        json_integer(*(const int64_t *)((const char *)k +
			                                        kernel_numbers[n].offset)));
		json_array_append_new(list, o);
	}
	return list;
}

static int put_backends(
        json_t *root, const struct tk_artifact *a, const char *dir, struct tk_error *err)
{
	json_t *list = json_array();
	json_object_set_new(root, "backends", list);
	for (size_t i = 0; i < a->backend_count; i++) {
		const struct tk_artifact_backend *b = &a->backends[i];
		char file_hash[TK_HASH_HEX_SIZE];
		AUTO_TEXT path = tk_backend_path(dir, b->name);
		TRY(tk_backend_file_hash(path, file_hash, err));
		json_array_append_new(list,
		        json_pack("{s:s,s:s,s:s,s:o}", "name", b->name, "code_hash", b->code_hash,
		                "file_hash", file_hash, "kernels", make_kernels(b)));
	}
	return TK_OK;
}

static void put_commit(json_t *root, const struct tk_revision *r)
{
	if (*r->id)
		json_object_set_new(root, "commit",
		        json_pack("{s:s,s:s,s:I,s:I,s:I,s:s,s:s}", "id", r->id, "parent", r->parent,
		                "author_time_s", (json_int_t)r->author_time_s, "commit_time_s",
		                (json_int_t)r->commit_time_s, "position", (json_int_t)r->position,
		                "author", r->author, "subject", r->subject));
}

int tk_manifest_write(const struct tk_artifact *a, const char *dir, struct tk_error *err)
{
	json_auto_t *root = json_pack("{s:i,s:s,s:s,s:f,s:I,s:I}", "format", MANIFEST_FORMAT, "key",
	        a->key, "status", tk_build_status_name(a->status), "wall_s", a->wall_s,
	        "size_bytes", (json_int_t)a->size_bytes, "built_s", (json_int_t)a->built_s);
	for (size_t i = 0; i < COUNT(artifact_texts); i++)
		if (json_object_set_new(root, artifact_texts[i].name,
		            json_string(
		                    *(char *const *)((const char *)a + artifact_texts[i].offset))))
			return tk_fail(err, TK_EDATA,
			        "the manifest of %s cannot be written as JSON: its %s is not UTF-8",
			        a->key, artifact_texts[i].name);
	put_commit(root, &a->commit);
	TRY(put_backends(root, a, dir, err));
	AUTO_TEXT text = json_dumps(root, JSON_INDENT(1));
	AUTO_TEXT path = tk_path_join(dir, "manifest.json");
	return tk_file_write(path, text, strlen(text), err);
}
