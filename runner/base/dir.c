/* Folders and trees. Links are never followed: the content of a folder may come from an untrusted
 * repository. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"

#define DEPTH_MAX 800 /* of folders: each takes a descriptor */

int tk_dir_create(const char *path, struct tk_error *err)
{
	AUTO_TEXT copy = tk_strdup(path);
	int status = TK_OK;

	for (char *p = copy + 1; *copy && !status; p++) {
		char c = *p;

		if (c && c != '/')
			continue;
		*p = '\0';
		if (mkdir(copy, 0777) != 0 && !(errno == EEXIST && tk_dir_exists(copy)))
			status = tk_fail_errno(err, "making the folder %s", copy);
		*p = c;
		if (!c)
			break;
	}
	return status;
}

void tk_names_free(char **names, size_t count)
{
	for (size_t i = 0; names && i < count; i++)
		free(names[i]);
	free(names);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void append_name(char ***names, size_t *count, size_t *cap, const char *name)
{
	if (*count == *cap) {
		size_t more = *cap ? *cap * 2 : 16;
		*names = tk_realloc(*names, more * sizeof **names);
		*cap = more;
	}
	(*names)[(*count)++] = tk_strdup(name);
}

/* Takes `fd`. */
static int list_fd(int fd, char ***names, size_t *count)
{
	DIR *d = fdopendir(fd);
	struct dirent *e;
	char **list = NULL;
	size_t n = 0, cap = 0;
	int status = TK_OK, failed = errno;

	if (!d) {
		close(fd);
		errno = failed;
		return TK_EIO;
	}
	while (!status && (errno = 0, e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			append_name(&list, &n, &cap, e->d_name);
	failed = status ? ENOMEM : errno; /* half a list would look like a whole one */
	closedir(d);
	if (failed) {
		tk_names_free(list, n);
		errno = failed;
		return TK_EIO;
	}
	if (n)
		qsort(list, n, sizeof *list, compare_names);
	*names = list;
	*count = n;
	return TK_OK;
}

int tk_dir_list(const char *path, char ***names, size_t *count, struct tk_error *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || list_fd(fd, names, count))
		return tk_fail_errno(err, "%s", path);
	return TK_OK;
}

int tk_dir_list_fd(int fd, char ***names, size_t *count, struct tk_error *err)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (copy < 0 || list_fd(copy, names, count))
		return tk_fail_errno(err, "reading a folder");
	return TK_OK;
}

/* ---- removing ---- */

static int remove_at(int parent, const char *name, int depth);

static int remove_content(int parent, const char *name, int depth)
{
	char **names;
	size_t count;
	int status = 0, fd, list;

	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == EACCES && !fchmodat(parent, name, 0700, 0))
		fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* Read-only folders are common in package caches: they are ours to remove. */
	if (fd >= 0)
		fchmod(fd, 0700);
	list = fd < 0 ? -1 : dup(fd);
	if (list < 0 || list_fd(list, &names, &count)) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	for (size_t i = 0; i < count && !status; i++)
		status = remove_at(fd, names[i], depth + 1);
	tk_names_free(names, count);
	close(fd);
	return status;
}

static int remove_at(int parent, const char *name, int depth)
{
	struct stat st;

	if (depth > DEPTH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? 0 : -1;
	if (!S_ISDIR(st.st_mode))
		return unlinkat(parent, name, 0) == 0 || errno == ENOENT ? 0 : -1;
	if (remove_content(parent, name, depth) != 0)
		return -1;
	return unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT ? 0 : -1;
}

int tk_dir_remove(const char *path, struct tk_error *err)
{
	size_t n = strlen(path);
	char *name;
	int status = TK_OK;

	/* "link/" would be the target of the link. */
	while (n > 1 && path[n - 1] == '/')
		n--;
	name = tk_strndup(path, n);
	if (remove_at(AT_FDCWD, name, 0) != 0)
		status = tk_fail_errno(err, "removing %s", path);
	free(name);
	return status;
}

/* ---- walking ---- */

struct walk {
	const char *root;
	int (*visit)(void *arg, const char *relative, const struct stat *st, struct tk_error *err);
	void *arg;
};

static int walk_folder(const struct walk *w, const char *relative, struct tk_error *err);

static int walk_entry(
        const struct walk *w, const char *relative, const char *name, struct tk_error *err)
{
	AUTO_TEXT below = *relative ? tk_path_join(relative, name) : tk_strdup(name);
	AUTO_TEXT path = tk_path_join(w->root, below);
	struct stat st;
	int status;

	if (lstat(path, &st) != 0)
		status = tk_fail_errno(err, "%s", path);
	else
		status = w->visit(w->arg, below, &st, err);
	if (!status && S_ISDIR(st.st_mode))
		status = walk_folder(w, below, err);
	return status;
}

static int walk_folder(const struct walk *w, const char *relative, struct tk_error *err)
{
	char *path = *relative ? tk_path_join(w->root, relative) : tk_strdup(w->root), **names;
	size_t count;
	int status;

	status = tk_dir_list(path, &names, &count, err);
	free(path);
	if (status)
		return status;
	for (size_t i = 0; i < count && !status; i++)
		status = walk_entry(w, relative, names[i], err);
	tk_names_free(names, count);
	return status;
}

int tk_dir_walk(const char *dir,
        int (*visit)(void *arg, const char *relative, const struct stat *st, struct tk_error *err),
        void *arg, struct tk_error *err)
{
	struct walk w = {dir, visit, arg};

	return walk_folder(&w, "", err);
}

static int add_size(void *arg, const char *relative, const struct stat *st, struct tk_error *err)
{
	if (S_ISREG(st->st_mode))
		*(int64_t *)arg += st->st_size;
	return TK_OK;
}

int64_t tk_dir_size(const char *path)
{
	int64_t size = 0;

	tk_dir_walk(path, add_size, &size, NULL);
	return size;
}

/* Counts below an open folder, which it takes. Files may vanish at any time. */
static uint64_t count_disk_bytes(int fd, int depth)
{
	uint64_t bytes = 0;
	DIR *d = fdopendir(fd);
	struct dirent *e;
	struct stat st;

	if (!d) {
		close(fd);
		return 0;
	}
	while ((e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		        fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		const bool is_dir = S_ISDIR(st.st_mode);
		const int folder =
		        is_dir && depth < DEPTH_MAX
		                ? openat(fd, e->d_name,
		                          O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
		                : -1;

		/* Each of several links has its share of the file. */
		bytes += (uint64_t)st.st_blocks * 512 /
		         (is_dir || st.st_nlink == 0 ? 1 : (uint64_t)st.st_nlink);
		if (folder >= 0)
			bytes += count_disk_bytes(folder, depth + 1);
	}
	closedir(d);
	return bytes;
}

uint64_t tk_dir_disk_bytes(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? 0 : count_disk_bytes(fd, 0);
}

/* ---- copying ---- */

static int copy_bytes(int in, int out)
{
	char block[65536];
	ssize_t n;

	while ((n = read(in, block, sizeof block)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		for (ssize_t done = 0; done < n;) {
			ssize_t w = write(out, block + done, (size_t)(n - done));

			if (w < 0 && errno != EINTR)
				return -1;
			done += w > 0 ? w : 0;
		}
	}
	return 0;
}

static int copy_file(const char *from, const char *to, mode_t mode)
{
	int in = open(from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), out, status;

	if (in < 0)
		return -1;
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode & 0777);
	status = out < 0 ? -1 : copy_bytes(in, out);
	if (out >= 0) {
		fchmod(out, mode & 0777);
		if (close(out) != 0)
			status = -1;
	}
	close(in);
	return status;
}

static int copy_link(const char *from, const char *to)
{
	char target[PATH_MAX];
	ssize_t n = readlink(from, target, sizeof target - 1);

	if (n < 0)
		return -1;
	target[n] = '\0';
	return symlink(target, to);
}

struct copy {
	const char *from, *to;
};

static int copy_entry(void *arg, const char *relative, const struct stat *st, struct tk_error *err)
{
	struct copy *c = arg;
	char *from = tk_path_join(c->from, relative), *to = tk_path_join(c->to, relative);
	int status = 0;

	if (S_ISDIR(st->st_mode))
		status = mkdir(to, (st->st_mode & 0777) | 0700) != 0 && errno != EEXIST ? -1 : 0;
	else if (S_ISREG(st->st_mode))
		status = copy_file(from, to, st->st_mode);
	else if (S_ISLNK(st->st_mode))
		status = copy_link(from, to);
	if (status)
		status = tk_fail_errno(err, "copying %s to %s", from, to);
	free(from);
	free(to);
	return status;
}

int tk_dir_copy(const char *from, const char *to, struct tk_error *err)
{
	struct copy c = {from, to};
	TRY(tk_dir_create(to, err));
	return tk_dir_walk(from, copy_entry, &c, err);
}

int tk_dir_create_temp(const char *parent, const char *prefix, char **path, struct tk_error *err)
{
	char *template;

	template = tk_sprintf("%s/%sXXXXXX", parent, prefix);
	if (!mkdtemp(template)) {
		tk_fail_errno(err, "making a temporary folder in %s", parent);
		free(template);
		return err ? err->status : TK_EIO;
	}
	*path = template;
	return TK_OK;
}
