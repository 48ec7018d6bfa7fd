/* Texts as inputs of kernels: see suite.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "config/suite_internal.h"

#define FOLDER "inputs"
#define ENDING ".tokens"
#define MAGIC "tracker-text 1\n"
#define FILE_BYTES_MAX (sizeof MAGIC + 2 * (size_t)TK_TEXT_TOKENS_MAX)

/* ---- tokens ---- */

/* Bytes above 127 belong to letters of UTF-8. */
static bool is_word(unsigned char c)
{
	return isalnum(c) || c == '_' || c >= 128;
}

/* FNV-1a, folded. */
static uint16_t hash_word(const char *bytes, size_t len)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)bytes[i]) * 16777619u;
	h ^= h >> 16;
	return (uint16_t)(1 + (h & 0xffff) % 65535);
}

static void add_token(struct tk_text *t, uint16_t token)
{
	if (!t->tokens)
		t->tokens = tk_calloc(TK_TEXT_TOKENS_MAX, sizeof *t->tokens);
	if (t->count < TK_TEXT_TOKENS_MAX)
		t->tokens[t->count++] = token;
}

void tk_text_add_document(struct tk_text *t, const char *bytes, size_t len)
{
	size_t before = t->count, at = 0;

	while (at < len && t->count < TK_TEXT_TOKENS_MAX) {
		size_t n = 0;

		if (isspace((unsigned char)bytes[at])) {
			at++;
			continue;
		}
		while (at + n < len && is_word((unsigned char)bytes[at + n]))
			n++;
		n += n == 0;
		add_token(t, hash_word(bytes + at, n));
		at += n;
	}
	if (t->count != before)
		add_token(t, 0);
}

size_t tk_text_count_documents(const struct tk_text *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->count; i++)
		n += t->tokens[i] == 0 || i + 1 == t->count;
	return n;
}

size_t tk_text_count_distinct(const struct tk_text *t)
{
	bool seen[UINT16_MAX + 1] = {0};
	size_t n = 0;

	for (size_t i = 0; i < t->count; i++) {
		n += !seen[t->tokens[i]];
		seen[t->tokens[i]] = true;
	}
	return n;
}

void tk_text_free(struct tk_text *t)
{
	free(t->tokens);
	*t = (struct tk_text){.count = 0};
}

/* ---- files ---- */

static void encode(const struct tk_text *t, struct tk_buf *out)
{
	for (size_t i = 0; i < t->count; i++) {
		unsigned char bytes[] = {t->tokens[i] & 0xff, t->tokens[i] >> 8};

		tk_buf_add(out, bytes, sizeof bytes);
	}
}

static char *make_path(const char *root, const char *name)
{
	AUTO_TEXT file = tk_sprintf("%s" ENDING, name);
	return tk_path_join3(root, FOLDER, file);
}

int tk_text_save(struct tk_text *t, const char *root, const char *name, struct tk_error *err)
{
	AUTO(tk_buf) file = TK_BUF_INIT;
	AUTO_TEXT folder = tk_path_join(root, FOLDER);
	char hash[TK_HASH_HEX_SIZE];

	if (!tk_text_name_is_valid(name, false))
		return tk_fail(err, TK_EUSAGE,
		        "invalid name of a text \"%.60s\"; expected at most %d of a-z, 0-9 and _",
		        name, TK_TEXT_NAME_SIZE - TK_TEXT_HASH_DIGITS - 2);
	if (!t->count)
		return tk_fail(err, TK_EDATA, "the files have no words");
	tk_buf_add_str(&file, MAGIC);
	encode(t, &file);
	tk_hash_bytes(file.data + strlen(MAGIC), file.len - strlen(MAGIC), hash);
	snprintf(t->name, sizeof t->name, "%s-%.*s", name, TK_TEXT_HASH_DIGITS, hash);
	AUTO_TEXT path = make_path(root, t->name);
	TRY(tk_dir_create(folder, err));
	return tk_file_write(path, file.data, file.len, err);
}

static int decode(
        const char *path, const struct tk_buf *file, struct tk_text *out, struct tk_error *err)
{
	size_t head = strlen(MAGIC), bytes = file->len - head;
	const unsigned char *at = (const unsigned char *)file->data + head;
	const char *expected = out->name + strlen(out->name) - TK_TEXT_HASH_DIGITS;
	char hash[TK_HASH_HEX_SIZE];

	if (file->len <= head || memcmp(file->data, MAGIC, head) != 0 || bytes % 2)
		return tk_fail(
		        err, TK_EDATA, "%s: this is no text of `tracker inputs import`", path);
	tk_hash_bytes(at, bytes, hash);
	if (strncmp(hash, expected, TK_TEXT_HASH_DIGITS) != 0)
		return tk_fail(err, TK_EDATA,
		        "%s: its tokens have the hash %.*s; expected that of its name", path,
		        TK_TEXT_HASH_DIGITS, hash);
	for (size_t i = 0; i < bytes; i += 2)
		add_token(out, (uint16_t)(at[i] | at[i + 1] << 8));
	return TK_OK;
}

int tk_text_load(const char *root, const char *name, struct tk_text *out, struct tk_error *err)
{
	AUTO(tk_buf) file = TK_BUF_INIT;
	AUTO_TEXT own = make_path(root, name);
	AUTO_TEXT common = make_path(tk_path_data_dir(), name);
	const char *path = tk_file_exists(own) ? own : common;
	struct tk_text t = {.count = 0};

	if (!tk_text_name_is_valid(name, true) || !tk_file_exists(path))
		return tk_fail(err, TK_ENOTFOUND,
		        "unknown text \"%.60s\"; `tracker inputs list` lists the texts", name);
	snprintf(t.name, sizeof t.name, "%s", name);
	TRY(tk_file_read(path, FILE_BYTES_MAX, &file, err));
	TRY(decode(path, &file, &t, err));
	*out = t;
	return TK_OK;
}

/* ---- lists ---- */

static bool shorten(char *file)
{
	char *end = strstr(file, ENDING);

	if (!end || end[strlen(ENDING)])
		return false;
	*end = '\0';
	return tk_text_name_is_valid(file, true);
}

int tk_text_list_names(const char *root, char ***names, size_t *count, struct tk_error *err)
{
	return tk_suite_folder_list_names(root, FOLDER, shorten, names, count, err);
}
