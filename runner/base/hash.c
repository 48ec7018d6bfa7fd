/* SHA-256 through libcrypto's EVP interface. */
#include "base/base.h"

#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

struct tk_hash {
	EVP_MD_CTX *ctx;
};

struct tk_hash *tk_hash_new(void)
{
	/* Fetched once: to look it up takes as long as to hash 300 bytes. */
	static _Atomic(const EVP_MD *) sha256;
	struct tk_hash *h = tk_calloc(1, sizeof *h);

	if (!sha256)
		sha256 = tk_check_memory(EVP_MD_fetch(NULL, "SHA256", NULL));
	h->ctx = tk_check_memory(EVP_MD_CTX_new());
	EVP_DigestInit_ex(h->ctx, sha256, NULL);
	return h;
}

void tk_hash_add(struct tk_hash *h, const void *data, size_t len)
{
	EVP_DigestUpdate(h->ctx, data, len);
}

/* Little-endian on every machine: hashes travel. */
void tk_hash_add_i64(struct tk_hash *h, int64_t v)
{
	unsigned char b[8];

	for (int i = 0; i < 8; i++)
		b[i] = (unsigned char)((uint64_t)v >> (8 * i));
	tk_hash_add(h, b, sizeof b);
}

void tk_hash_add_str(struct tk_hash *h, const char *s)
{
	tk_hash_add_i64(h, s ? (int64_t)strlen(s) : -1);
	if (s)
		tk_hash_add(h, s, strlen(s));
}

int tk_hash_add_file(struct tk_hash *h, const char *path, struct tk_error *err)
{
	char block[65536];
	FILE *f = fopen(path, "re");
	int status = TK_OK;

	if (!f)
		return tk_fail_errno(err, "%s", path);
	for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;)
		tk_hash_add(h, block, n);
	if (ferror(f))
		status = tk_fail_errno(err, "%s", path);
	fclose(f);
	return status;
}

struct tree_hash {
	struct tk_hash *h;
	const char *dir;
};

static int add_entry(void *arg, const char *relative, const struct stat *st, struct tk_error *err)
{
	struct tree_hash *t = arg;
	char link[4096];

	if (!S_ISREG(st->st_mode) && !S_ISLNK(st->st_mode))
		return TK_OK;
	AUTO_TEXT path = tk_path_join(t->dir, relative);
	tk_hash_add_str(t->h, relative);
	if (S_ISLNK(st->st_mode)) {
		ssize_t n = readlink(path, link, sizeof link - 1);

		link[n > 0 ? n : 0] = '\0';
		tk_hash_add_str(t->h, "link");
		tk_hash_add_str(t->h, link);
		return TK_OK;
	}
	tk_hash_add_str(t->h, st->st_mode & 0111 ? "executable" : "file");
	tk_hash_add_i64(t->h, st->st_size);
	return tk_hash_add_file(t->h, path, err);
}

int tk_hash_add_tree(struct tk_hash *h, const char *dir, struct tk_error *err)
{
	struct tree_hash t = {h, dir};

	return tk_dir_walk(dir, add_entry, &t, err);
}

static void free_hash(struct tk_hash *h)
{
	EVP_MD_CTX_free(h->ctx);
	free(h);
}

void tk_hash_finish(struct tk_hash *h, char hex[TK_HASH_HEX_SIZE])
{
	unsigned char digest[EVP_MAX_MD_SIZE] = {0};
	unsigned len = 0;

	EVP_DigestFinal_ex(h->ctx, digest, &len);
	free_hash(h);
	for (int i = 0; i < 32; i++) {
		hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
		hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
	}
	hex[64] = '\0';
}

void tk_hash_bytes(const void *data, size_t len, char hex[TK_HASH_HEX_SIZE])
{
	struct tk_hash *h = tk_hash_new();

	tk_hash_add(h, data, len);
	tk_hash_finish(h, hex);
}

int tk_hash_file(const char *path, char hex[TK_HASH_HEX_SIZE], struct tk_error *err)
{
	struct tk_hash *h = tk_hash_new();
	int status = tk_hash_add_file(h, path, err);

	if (status)
		free_hash(h);
	else
		tk_hash_finish(h, hex);
	return status;
}
