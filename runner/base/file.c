/* Whole files: read with a limit, replaced atomically. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"

int tk_file_read(const char *path, size_t max_bytes, struct tk_buf *out, struct tk_error *err)
{
	char block[65536];
	int fd = open(path, O_RDONLY | O_CLOEXEC), status = TK_OK;
	ssize_t n;

	if (fd < 0)
		return tk_fail_errno(err, "%s", path);
	tk_buf_clear(out);
	while ((n = read(fd, block, sizeof block)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			status = tk_fail_errno(err, "%s", path);
			goto out;
		}
		if (max_bytes && out->len + (size_t)n > max_bytes) {
			status = tk_fail(
			        err, TK_EDATA, "%s: larger than %zu bytes", path, max_bytes);
			goto out;
		}
		tk_buf_add(out, block, (size_t)n);
	}
	if (tk_buf_status(out, err))
		status = tk_error_add_context(err, "%s", path);
out:
	close(fd);
	return status;
}

static int write_fd(int fd, const char *path, const char *data, size_t len, struct tk_error *err)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return tk_fail_errno(err, "writing %s", path);
		data += n;
		len -= (size_t)n;
	}
	return TK_OK;
}

/* Devices and pipes (--output=/dev/stdout) are written as they are: a rename would replace them. */
static int write_special(const char *path, const void *data, size_t len, struct tk_error *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), status;

	if (fd < 0)
		return tk_fail_errno(err, "writing %s", path);
	status = write_fd(fd, path, data, len, err);
	close(fd);
	return status;
}

/* A new file beside `path`, with the mode that the umask gives (mkstemp would make it 0600). */
static int open_sibling(const char *path, char *temp, size_t size, struct tk_error *err)
{
	unsigned long long random;
	int fd = -1;

	for (int i = 0; i < 100 && fd < 0; i++) {
		if (getrandom(&random, sizeof random, 0) != sizeof random)
			return tk_fail_errno(err, "random numbers");
		if ((size_t)snprintf(temp, size, "%s.tmp%012llx", path,
		            random & 0xffffffffffffULL) >= size) {
			errno = ENAMETOOLONG;
			return tk_fail_errno(err, "writing %.200s", path);
		}
		fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd >= 0 ? fd : tk_fail_errno(err, "writing %s", path);
}

/* The rename itself is only on the disk when the folder is. */
static void sync_parent(const char *path)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX] = ".";
	int fd;

	if (slash)
		snprintf(parent, sizeof parent, "%.*s", slash == path ? 1 : (int)(slash - path),
		        path);
	fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
}

static int replace(const char *path, const struct stat *old, const void *data, size_t len,
        bool durable, struct tk_error *err)
{
	char temp[PATH_MAX];
	int fd = open_sibling(path, temp, sizeof temp, err), status;

	if (fd < 0)
		return fd;
	status = write_fd(fd, path, data, len, err);
	if (!status && old)
		fchmod(fd, old->st_mode & 0777);
	if (!status && durable && fsync(fd) != 0)
		status = tk_fail_errno(err, "writing %s", path);
	if (close(fd) != 0 && !status)
		status = tk_fail_errno(err, "writing %s", path);
	if (!status && rename(temp, path) != 0)
		status = tk_fail_errno(err, "writing %s", path);
	if (status)
		unlink(temp);
	else if (durable)
		sync_parent(path);
	return status;
}

static int write_whole(
        const char *path, const void *data, size_t len, bool durable, struct tk_error *err)
{
	char real[PATH_MAX];
	struct stat st;

	if (stat(path, &st) != 0)
		return replace(path, NULL, data, len, durable, err);
	if (!S_ISREG(st.st_mode))
		return write_special(path, data, len, err);
	/* The target of a link is replaced, not the link. */
	return replace(realpath(path, real) ? real : path, &st, data, len, durable, err);
}

int tk_file_write(const char *path, const void *data, size_t len, struct tk_error *err)
{
	return write_whole(path, data, len, true, err);
}

int tk_file_write_nosync(const char *path, const void *data, size_t len, struct tk_error *err)
{
	return write_whole(path, data, len, false, err);
}

int tk_file_open_regular(int dir_fd, const char *name, struct tk_error *err)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && errno != ELOOP && errno != ENXIO)
		return tk_fail_errno(err, "%s", name);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	if (fd >= 0)
		close(fd);
	return tk_fail(err, TK_EDATA, "%s is not a regular file", name);
}

bool tk_file_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

bool tk_dir_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}
