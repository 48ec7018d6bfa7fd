/* manifest.json: reading, verifying, writing. */
#include "base/base.h"
#include "build/build_internal.h"
#include <sys/stat.h>

#define MANIFEST_MAX ((size_t)8 << 20)
#define LIST_MAX 4096
#define MANIFEST_FORMAT 1

/* A member of an object, and where it is in the struct. */
struct member {
	const char *name;
	/* LINE: TEXT in a char[]; OPTIONAL: TEXT, "" where it is missing; NEWER: SECONDS, then 0 */
	enum { END, TEXT, OPTIONAL, LINE, HASH, STATUS, INT, SECONDS, NEWER } kind;
	size_t offset, size;
	int64_t least; /* INT */
};

#define AT(type, member) offsetof(struct type, member), sizeof(((struct type *)0)->member)

static const struct member artifact_members[] = {
        {"key", HASH, AT(tk_artifact, key), 0},
        {"status", STATUS, AT(tk_artifact, status), 0},
        {"upstream", TEXT, AT(tk_artifact, upstream), 0},
        {"revision", TEXT, AT(tk_artifact, revision), 0},
        {"adapter", TEXT, AT(tk_artifact, adapter), 0},
        {"arch", TEXT, AT(tk_artifact, arch), 0},
        {"flags", TEXT, AT(tk_artifact, flags), 0},
        {"toolchain", TEXT, AT(tk_artifact, toolchain), 0},
        {"message", TEXT, AT(tk_artifact, message), 0},
        {"same_as", OPTIONAL, AT(tk_artifact, same_as), 0},
        {"environment", LINE, AT(tk_artifact, environment), 0},
        {"instances_built", INT, AT(tk_artifact, instances_built), 0},
        {"instance_count", INT, AT(tk_artifact, instance_count), 0},
        {"wall_s", SECONDS, AT(tk_artifact, wall_s), 0},
        {"cpu_s", NEWER, AT(tk_artifact, cpu_s), 0},
        {"size_bytes", INT, AT(tk_artifact, size_bytes), 0},
        {"built_s", INT, AT(tk_artifact, built_s), 0},
        {0},
};
static const char *const later_members[] = {
        "environment", "instances_built", "instance_count", NULL};
static const struct member commit_members[] = {
        {"id", LINE, AT(tk_revision, id), 0},
        {"parent", LINE, AT(tk_revision, parent), 0},
        {"author", LINE, AT(tk_revision, author), 0},
        {"subject", LINE, AT(tk_revision, subject), 0},
        {"author_time_s", INT, AT(tk_revision, author_time_s), 0},
        {"commit_time_s", INT, AT(tk_revision, commit_time_s), 0},
        {"position", INT, AT(tk_revision, position), 0},
        {0},
};
static const struct member backend_members[] = {
        {"name", LINE, AT(tk_artifact_backend, name), 0},
        {"code_hash", HASH, AT(tk_artifact_backend, code_hash), 0},
        {"file_hash", HASH, AT(tk_artifact_backend, file_hash), 0},
        {0},
};
static const struct member kernel_members[] = {
        {"name", LINE, AT(tk_kernel_symbol, name), 0},
        {"code_hash", HASH, AT(tk_kernel_symbol, code_hash), 0},
        {"instructions", LINE, AT(tk_kernel_symbol, instructions), 0},
        {"size_bytes", INT, AT(tk_kernel_symbol, size_bytes), 0},
        {"registers", INT, AT(tk_kernel_symbol, registers), -1},
        {"spill_bytes", INT, AT(tk_kernel_symbol, spill_bytes), -1},
        {"shared_bytes", INT, AT(tk_kernel_symbol, shared_bytes), -1},
        {"threads", INT, AT(tk_kernel_symbol, threads), -1},
        {"occupancy_percent", INT, AT(tk_kernel_symbol, occupancy_percent), -1},
        {0},
};

/* ---- reading ---- */

/* A new line of valid UTF-8; a bad byte becomes three. */
static char *copy_text(const char *text)
{
	const size_t size = strlen(text) + 1 < 4096 ? strlen(text) * 3 + 1 : 4096;
	char *clean = tk_malloc(size);
	tk_text_copy_line(clean, size, text);
	return clean;
}

static int read_member(const json_t *o, const struct member *m, void *row, struct tk_error *err)
{
	const json_t *v = json_object_get(o, m->name);
	const char *text = json_string_value(v), *expected = NULL;
	void *to = (char *)row + m->offset;
	if (text && strlen(text) != json_string_length(v))
		text = NULL;
	if (m->kind == INT) {
		if (!json_is_integer(v) || json_integer_value(v) < m->least)
			return tk_fail(err, TK_EDATA,
			        "\"%s\" is missing or not a whole number of at least %lld", m->name,
			        (long long)m->least);
		*(int64_t *)to = json_integer_value(v);
	} else if (m->kind == NEWER && !v) {
		*(double *)to = 0;
	} else if (m->kind == SECONDS || m->kind == NEWER) {
		*(double *)to = json_number_value(v);
		if (!json_is_number(v) || !(json_number_value(v) >= 0))
			expected = "a number of seconds";
	} else if (m->kind == STATUS) {
		if (tk_build_status_parse(text, to))
			expected = "ok, partial, unknown_interface, failed or timeout";
	} else if (m->kind == HASH) {
		if (text && tk_build_key_is_valid(text))
			memcpy(to, text, TK_HASH_HEX_SIZE);
		else
			expected = "a SHA-256 hash";
	} else if (m->kind == OPTIONAL && !v) {
		*(char **)to = tk_strdup("");
	} else if (!text) {
		expected = "a text";
	} else if (m->kind == TEXT || m->kind == OPTIONAL) {
		*(char **)to = copy_text(text);
	} else {
		tk_text_copy_line(to, m->size, text);
	}
	return expected ? tk_fail(err, TK_EDATA, "\"%s\" is missing or not %s", m->name, expected)
	                : TK_OK;
}

static int read_members(const json_t *o, const struct member *m, void *row, struct tk_error *err)
{
	for (; m->name; m++)
		TRY(read_member(o, m, row, err));
	return TK_OK;
}

static int get_list(const json_t *o, const char *name, const json_t **list, struct tk_error *err)
{
	*list = json_object_get(o, name);
	return json_is_array(*list) && json_array_size(*list) <= LIST_MAX
	               ? TK_OK
	               : tk_fail(err, TK_EDATA, "\"%s\" is not a list of at most %d", name,
	                         LIST_MAX);
}

/* The hash of a commit, or the version of a package. */
static bool is_revision(const char *text)
{
	const size_t len = strlen(text);
	const bool is_commit = len >= 40 && len <= 64 && strspn(text, "0123456789abcdef") == len;
	return is_commit || (*text >= '0' && *text <= '9' &&
	                            strspn(text, "0123456789abcdefghijklmnopqrstuvwxyz"
	                                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ.!+_-") == len);
}

/* Missing where the commit is unknown. */
static int read_commit(const json_t *root, struct tk_artifact *a, struct tk_error *err)
{
	const json_t *o = json_object_get(root, "commit");
	struct tk_revision *r = &a->commit;
	if (!o)
		return TK_OK;
	TRY(read_members(o, commit_members, r, err));
	if (!is_revision(r->id) || (*r->parent && !is_revision(r->parent)))
		return tk_fail(
		        err, TK_EDATA, "\"commit\" has an id or a parent that is no commit's hash");
	return strcmp(r->id, a->revision)
	               ? tk_fail(err, TK_EDATA, "\"commit\" is not the revision %.40s", a->revision)
	               : TK_OK;
}

static int read_backend(
        const json_t *o, const char *dir, struct tk_artifact_backend *b, struct tk_error *err)
{
	const json_t *kernels, *kernel;
	struct stat st;
	size_t i;
	TRY(read_members(o, backend_members, b, err));
	if (!tk_backend_name_is_valid(b->name))
		return tk_fail(err, TK_EDATA, "a backend's \"name\" is not [a-z0-9_-]+");
	b->path = tk_backend_path(dir, b->name);
	TRY(get_list(o, "kernels", &kernels, err));
	b->kernels = tk_calloc(json_array_size(kernels), sizeof *b->kernels);
	json_array_foreach ((json_t *)(uintptr_t)kernels, i, kernel)
		TRY(read_members(kernel, kernel_members, &b->kernels[b->kernel_count++], err));
	if (lstat(b->path, &st) || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return tk_fail(err, TK_EDATA, "lib/tk_backend_%s.so is not there", b->name);
	return TK_OK;
}

static int read_artifact(const char *path, struct tk_artifact *a, struct tk_error *err)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	json_error_t at;
	const json_t *list;
	int64_t format = 0;
	const struct member format_member = {"format", INT, 0, sizeof format, 1};
	TRY(tk_file_read(path, MANIFEST_MAX, &text, err));
	json_auto_t *root = json_loadb(tk_buf_cstr(&text), text.len, JSON_REJECT_DUPLICATES, &at);
	if (!root)
		return tk_fail(err, TK_EDATA, "%d:%d: %s", at.line, at.column, at.text);
	TRY(read_member(root, &format_member, &format, err));
	if (format > MANIFEST_FORMAT)
		return tk_fail(err, TK_EVERSION,
		        "made by a newer tracker (format %lld, this one knows %d)",
		        (long long)format, MANIFEST_FORMAT);
	/* builds of earlier versions lack them */
	for (const char *const *name = later_members; *name; name++)
		if (!json_object_get(root, *name))
			json_object_set_new(
			        root, *name, **name == 'i' ? json_integer(0) : json_string(""));
	TRY(read_members(root, artifact_members, a, err));
	TRY(read_commit(root, a, err));
	TRY(get_list(root, "backends", &list, err));
	const size_t n = json_array_size(list);
	if (tk_build_status_is_usable(a->status) && !n)
		return tk_fail(err, TK_EDATA, "the status is %s, but there is no backend",
		        tk_build_status_name(a->status));
	a->backends = tk_calloc(n, sizeof *a->backends);
	while (a->backend_count < n) {
		struct tk_artifact_backend *b = &a->backends[a->backend_count];
		TRY(read_backend(json_array_get(list, a->backend_count++), a->dir, b, err));
	}
	return TK_OK;
}

int tk_manifest_read(const char *dir, struct tk_artifact **out, struct tk_error *err)
{
	struct tk_artifact *a = tk_calloc(1, sizeof *a);
	AUTO_TEXT path = tk_path_join(dir, "manifest.json");
	a->dir = tk_path_make_absolute(dir);
	a->log_path = tk_path_join(a->dir, "build.log");
	const int status = read_artifact(path, a, err);
	if (!status)
		*out = a;
	else
		tk_artifact_free(a);
	return status == TK_EDATA || status == TK_EVERSION ? tk_error_add_context(err, "%s", path)
	                                                   : status;
}

int tk_manifest_verify(const struct tk_artifact *a, bool with_code, struct tk_error *err)
{
	for (size_t i = 0; i < a->backend_count; i++) {
		const struct tk_artifact_backend *b = &a->backends[i];
		char hash[TK_HASH_HEX_SIZE];
		TRY(tk_backend_file_hash(b->path, hash, err));
		if (strcmp(hash, b->file_hash))
			return tk_fail(err, TK_EDATA,
			        "%s does not match the file hash in the manifest", b->path);
		if (!with_code)
			continue;
		AUTO(tk_artifact_backend) found = {0};
		TRY(tk_backend_scan(b->path, b->name, &found, err));
		if (strcmp(found.code_hash, b->code_hash))
			return tk_fail(err, TK_EDATA,
			        "%s does not match the code hash in the manifest", b->path);
	}
	return TK_OK;
}

/* ---- writing ---- */

static json_t *make_value(const struct member *m, const void *row)
{
	const void *at = (const char *)row + m->offset;
	switch (m->kind) {
	case TEXT:
	case OPTIONAL:
		return json_string(*(char *const *)at);
	case STATUS:
		return json_string(tk_build_status_name(*(const enum tk_build_status *)at));
	case INT:
		return json_integer(*(const int64_t *)at);
	case SECONDS:
	case NEWER:
		return json_real(*(const double *)at);
	default: {
		AUTO_TEXT clean = copy_text(at);
		return json_string(clean);
	}
	}
}

static int put_members(
        json_t *o, const struct member *m, const void *row, const char *key, struct tk_error *err)
{
	for (; m->name; m++)
		if (json_object_set_new(o, m->name, make_value(m, row)))
			return tk_fail(err, TK_EDATA,
			        "the manifest of %s cannot be written as JSON: its %s is not UTF-8",
			        key, m->name);
	return TK_OK;
}

/* A new object in a list. */
static json_t *append_object(json_t *list)
{
	json_t *o = json_object();
	json_array_append_new(list, o);
	return o;
}

int tk_manifest_write(const struct tk_artifact *a, const char *dir, struct tk_error *err)
{
	json_t *commit = json_object(), *backends = json_array();
	json_auto_t *root = json_pack(
	        "{s:i,s:o,s:o}", "format", MANIFEST_FORMAT, "commit", commit, "backends", backends);
	TRY(put_members(root, artifact_members, a, a->key, err));
	if (*a->commit.id)
		TRY(put_members(commit, commit_members, &a->commit, a->key, err));
	else
		json_object_del(root, "commit");
	for (size_t i = 0; i < a->backend_count; i++) {
		const struct tk_artifact_backend *b = &a->backends[i];
		json_t *o = append_object(backends), *kernels = json_array();
		json_object_set_new(o, "kernels", kernels);
		TRY(put_members(o, backend_members, b, a->key, err));
		for (size_t k = 0; k < b->kernel_count; k++)
			TRY(put_members(append_object(kernels), kernel_members, &b->kernels[k],
			        a->key, err));
	}
	AUTO_TEXT text = json_dumps(root, JSON_INDENT(1));
	AUTO_TEXT path = tk_path_join(dir, "manifest.json");
	return tk_file_write(path, text, strlen(text), err);
}
