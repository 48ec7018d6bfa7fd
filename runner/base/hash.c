/* SHA-256 through libcrypto's EVP interface. */
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"

struct tk_hash {
	EVP_MD_CTX *ctx;
};

/* Fetched once: to look the algorithm up takes as long as to hash 300 bytes. */
static const EVP_MD *fetched_sha256;

static void fetch_sha256(void)
{
	fetched_sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
}

static const EVP_MD *get_sha256(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fetch_sha256);
	return fetched_sha256 ? fetched_sha256 : EVP_sha256();
}

struct tk_hash *tk_hash_new(void)
{
	struct tk_hash *h = tk_calloc(1, sizeof *h);

	h->ctx = EVP_MD_CTX_new();
	if (!h->ctx || !EVP_DigestInit_ex(h->ctx, get_sha256(), NULL)) {
		tk_hash_free(h);
		return NULL;
	}
	return h;
}

void tk_hash_add(struct tk_hash *h, const void *data, size_t len)
{
	EVP_DigestUpdate(h->ctx, data, len);
}

/* Little-endian on every machine: hashes travel. */
static void add_u64(struct tk_hash *h, uint64_t v)
{
	unsigned char b[8];

	for (int i = 0; i < 8; i++)
		b[i] = (unsigned char)(v >> (8 * i));
	tk_hash_add(h, b, sizeof b);
}

void tk_hash_add_str(struct tk_hash *h, const char *s)
{
	if (!s) {
		add_u64(h, UINT64_MAX);
		return;
	}
	add_u64(h, strlen(s));
	tk_hash_add(h, s, strlen(s));
}

void tk_hash_add_i64(struct tk_hash *h, int64_t v)
{
	add_u64(h, (uint64_t)v);
}

int tk_hash_add_file(struct tk_hash *h, const char *path, struct tk_error *err)
{
	char block[65536];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC), status = TK_OK;

	if (fd < 0)
		return tk_fail_errno(err, "%s", path);
	while ((n = read(fd, block, sizeof block)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			status = tk_fail_errno(err, "%s", path);
			break;
		}
		tk_hash_add(h, block, (size_t)n);
	}
	close(fd);
	return status;
}

struct tree_hash {
	struct tk_hash *h;
	const char *dir;
};

static int add_entry(void *arg, const char *relative, const struct stat *st, struct tk_error *err)
{
	struct tree_hash *t = arg;
	char *path, link[4096];
	ssize_t n;
	int status = TK_OK;

	if (!S_ISREG(st->st_mode) && !S_ISLNK(st->st_mode))
		return TK_OK;
	path = tk_path_join(t->dir, relative);
	tk_hash_add_str(t->h, relative);
	if (S_ISLNK(st->st_mode)) {
		n = readlink(path, link, sizeof link - 1);
		link[n > 0 ? n : 0] = '\0';
		tk_hash_add_str(t->h, "link");
		tk_hash_add_str(t->h, link);
	} else {
		tk_hash_add_str(t->h, st->st_mode & 0111 ? "executable" : "file");
		add_u64(t->h, (uint64_t)st->st_size);
		status = tk_hash_add_file(t->h, path, err);
	}
	free(path);
	return status;
}

int tk_hash_add_tree(struct tk_hash *h, const char *dir, struct tk_error *err)
{
	struct tree_hash t = {h, dir};

	return tk_dir_walk(dir, add_entry, &t, err);
}

static void to_hex(const unsigned char digest[32], char hex[TK_HASH_HEX_SIZE])
{
	for (int i = 0; i < 32; i++) {
		hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
		hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
	}
	hex[64] = '\0';
}

void tk_hash_finish(struct tk_hash *h, char hex[TK_HASH_HEX_SIZE])
{
	unsigned char digest[EVP_MAX_MD_SIZE] = {0};
	unsigned len = 0;

	EVP_DigestFinal_ex(h->ctx, digest, &len);
	to_hex(digest, hex);
	tk_hash_free(h);
}

void tk_hash_free(struct tk_hash *h)
{
	if (!h)
		return;
	EVP_MD_CTX_free(h->ctx);
	free(h);
}

void tk_hash_bytes(const void *data, size_t len, char hex[TK_HASH_HEX_SIZE])
{
	unsigned char digest[EVP_MAX_MD_SIZE] = {0};
	unsigned n = 0;

	EVP_Digest(data, len, digest, &n, get_sha256(), NULL);
	to_hex(digest, hex);
}

int tk_hash_file(const char *path, char hex[TK_HASH_HEX_SIZE], struct tk_error *err)
{
	struct tk_hash *h = tk_hash_new();
	int status = tk_hash_add_file(h, path, err);

	if (status)
		tk_hash_free(h);
	else
		tk_hash_finish(h, hex);
	return status;
}
