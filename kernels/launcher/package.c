/* Reading a package: its files, its manifests, the code objects that they name. */
#include "launcher.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ---- */

static int read_all(int fd, char *to, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t n = read(fd, to + done, bytes - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		done += (size_t)n;
	}
	return 0;
}

/* A regular file of at most `most` bytes; no links, which could lead out of the package. */
static int read_file(const char *dir, const char *name, size_t most, void **out, size_t *bytes,
        struct tk_abi_error *err)
{
	char path[4400];
	struct stat st;
	snprintf(path, sizeof path, "%s/%s", dir, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st)) {
		int code = errno;
		if (fd >= 0)
			close(fd);
		return fail(err, TK_ABI_INVALID, "%.300s: %s", path, strerror(code));
	}
	int status = TK_ABI_OK;
	char *data = NULL;
	size_t size = S_ISREG(st.st_mode) && st.st_size > 0 ? (size_t)st.st_size : 0;
	if (size == 0 || size > most)
		status = fail(err, TK_ABI_INVALID, "%.300s is not a regular file of 1 to %zu bytes",
		        path, most);
	else if (!(data = malloc(size)))
		status = fail(err, TK_ABI_NO_MEMORY, "no memory for %.300s", path);
	else if (read_all(fd, data, size))
		status = fail(err, TK_ABI_INVALID, "cannot read %.300s", path);
	close(fd);
	if (status) {
		free(data);
		return status;
	}
	*out = data;
	*bytes = size;
	return TK_ABI_OK;
}

static int is_manifest(const struct dirent *e)
{
	size_t len = strlen(e->d_name);
	return len > 5 && strcmp(e->d_name + len - 5, ".json") == 0 && e->d_name[0] != '.';
}

/* By bytes: the order of configurations must not depend on the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* ---- the package ---- */

/* Puts the parameters into the order of the first manifest of the problem. */
static int sort_parameters(struct launcher_manifest *m, const struct launcher_manifest *first,
        struct tk_abi_error *err)
{
	bool same = m->parameter_count == first->parameter_count;
	for (uint32_t i = 0; same && i < m->parameter_count; i++) {
		uint32_t k = i;
		while (k < m->parameter_count &&
		        strcmp(m->parameters[k].name, first->parameters[i].name) != 0)
			k++;
		same = k < m->parameter_count;
		if (same && k > i) {
			struct launcher_parameter found = m->parameters[k];
			m->parameters[k] = m->parameters[i];
			m->parameters[i] = found;
		}
	}
	return same ? TK_ABI_OK
	            : fail(err, TK_ABI_INVALID,
	                      "its \"parameters\" have other names than those of the configuration "
	                      "\"%.100s\" of this problem",
	                      first->config);
}

static int format_point(struct launcher_manifest *m, struct tk_abi_error *err)
{
	size_t len = 0;
	for (uint32_t i = 0; i < m->parameter_count && len < sizeof m->point; i++)
		len += (size_t)snprintf(m->point + len, sizeof m->point - len, "%s%s=%lld",
		        i ? "," : "", m->parameters[i].name, (long long)m->parameters[i].value);
	return len < sizeof m->point
	               ? TK_ABI_OK
	               : fail(err, TK_ABI_INVALID,
	                         "\"parameters\" has more than %zu bytes as text: %.60s...",
	                         sizeof m->point - 1, m->point);
}

/* A manifest that was read, against those of its problem before it. */
static int compare_manifest(
        const struct launcher_package *p, struct launcher_manifest *m, struct tk_abi_error *err)
{
	const struct launcher_manifest *first = m;
	for (uint32_t i = p->count; i-- > 0;)
		if (strcmp(p->manifests[i]->problem, m->problem) == 0)
			first = p->manifests[i];
	TRY(sort_parameters(m, first, err));
	TRY(format_point(m, err));
	for (uint32_t i = 0; i < p->count; i++) {
		const struct launcher_manifest *other = p->manifests[i];
		if (strcmp(other->problem, m->problem) != 0)
			continue;
		if (strcmp(other->config, m->config) == 0)
			return fail(err, TK_ABI_INVALID,
			        "the package has the configuration \"%.100s\" of this problem "
			        "twice",
			        m->config);
		if (*m->point && strcmp(other->point, m->point) == 0)
			return fail(err, TK_ABI_INVALID,
			        "the configuration \"%.100s\" of this problem has the same "
			        "\"parameters\"",
			        other->config);
	}
	return TK_ABI_OK;
}

static int add_manifest(struct launcher_package *p, const char *name, struct tk_abi_error *err)
{
	struct tk_abi_error why = {.size = sizeof why};
	void *text = NULL;
	size_t len = 0;
	TRY(read_file(p->dir, name, LAUNCHER_MANIFEST_BYTES_MAX, &text, &len, err));
	struct launcher_manifest **at = &p->manifests[p->count];
	int status = launcher_manifest_parse(text, len, at, &why);
	free(text);
	if (!status) {
		status = compare_manifest(p, *at, &why);
		p->count++; /* the package frees it in any case */
	}
	return status ? fail(err, status, "%.100s: %.380s", name, why.message) : TK_ABI_OK;
}

int launcher_package_open(const char *dir, struct launcher_package **out, struct tk_abi_error *err)
{
	struct dirent **names = NULL;
	int count = scandir(dir, &names, is_manifest, by_name), status = TK_ABI_OK;
	struct launcher_package *p = calloc(1, sizeof *p);
	if (count < 0)
		status = fail(err, TK_ABI_INVALID, "%.300s: %s", dir, strerror(errno));
	else if (count == 0 || count > LAUNCHER_MANIFESTS_MAX)
		status = fail(err, TK_ABI_INVALID, "%.300s has %d manifests, expected 1 to %d", dir,
		        count, LAUNCHER_MANIFESTS_MAX);
	else if (!p || !(p->dir = strdup(dir)) ||
	         !(p->manifests = calloc((size_t)count, sizeof(*p->manifests))))
		status = fail(err, TK_ABI_NO_MEMORY, "no memory for the package");
	for (int i = 0; i < count; i++) {
		if (!status)
			status = add_manifest(p, names[i]->d_name, err);
		free(names[i]);
	}
	free(names);
	if (status)
		launcher_package_close(p);
	else
		*out = p;
	return status;
}

void launcher_package_close(struct launcher_package *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->count; i++)
		launcher_manifest_free(p->manifests[i]);
	free(p->manifests);
	free(p->dir);
	free(p);
}

/* ---- code objects ---- */

static bool hash_matches(const void *data, size_t bytes, const char *wanted)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	char hex[2 * 32 + 1];
	unsigned int size = 0;
	if (!EVP_Digest(data, bytes, digest, &size, EVP_sha256(), NULL) || size != 32)
		return false;
	for (unsigned int i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	return strcmp(hex, wanted) == 0;
}

int launcher_package_read_code(const struct launcher_package *p, const struct launcher_manifest *m,
        void **code, size_t *bytes, struct tk_abi_error *err)
{
	void *data = NULL;
	int status = TK_ABI_OK;
	TRY(read_file(p->dir, m->code_file, LAUNCHER_CODE_BYTES_MAX, &data, bytes, err));
	/* The drivers take a pointer without a size: what they read must at least be an ELF. */
	if (*bytes < 64 || memcmp(data, "\177ELF", 4) != 0)
		status = fail(err, TK_ABI_INVALID, "%s is not an ELF file", m->code_file);
	else if (!hash_matches(data, *bytes, m->sha256))
		status = fail(err, TK_ABI_INVALID,
		        "%s does not have the SHA-256 hash that its manifest names", m->code_file);
	if (status)
		free(data);
	else
		*code = data;
	return status;
}
