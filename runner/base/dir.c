/* Folders and trees. Links are never followed: the content of a folder may come from an untrusted
 * repository. */
#include "base/base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

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

void tk_names_sort(const char **names, size_t count)
{
	tk_sort(names, count, sizeof *names, compare_names);
}

static bool is_self_or_parent(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Takes `fd`. False with errno; half a list would look like a whole one. */
static bool list_fd(int fd, char ***names, size_t *count)
{
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	char **list = NULL;
	size_t n = 0;
	int failed;

	while (d && (errno = 0, e = readdir(d)))
		if (!is_self_or_parent(e->d_name)) {
			if (!(n & (n - 1)))
				list = tk_reallocarray(list, n ? 2 * n : 1, sizeof *list);
			list[n++] = tk_strdup(e->d_name);
		}
	failed = errno;
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	errno = failed;
	if (!d || failed) {
		tk_names_free(list, n);
		return false;
	}
	tk_names_sort((const char **)list, n);
	*names = list;
	*count = n;
	return true;
}

int tk_dir_list(const char *path, char ***names, size_t *count, struct tk_error *err)
{
	return list_fd(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), names, count)
	               ? TK_OK
	               : tk_fail_errno(err, "%s", path);
}

int tk_dir_list_fd(int fd, char ***names, size_t *count, struct tk_error *err)
{
	return list_fd(openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), names, count)
	               ? TK_OK
	               : tk_fail_errno(err, "reading a folder");
}

/* ---- removing ---- */

static int remove_at(int parent, const char *name, int depth);

static int remove_content(int parent, const char *name, int depth)
{
	char **names;
	size_t count;
	int status = 0, fd;

	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == EACCES && !fchmodat(parent, name, 0700, 0))
		fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	/* Read-only folders are common in package caches: they are ours to remove. */
	fchmod(fd, 0700);
	if (list_fd(dup(fd), &names, &count)) {
		for (size_t i = 0; i < count && !status; i++)
			status = remove_at(fd, names[i], depth + 1);
		tk_names_free(names, count);
	} else {
		status = -1;
	}
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

	/* "link/" would be the target of the link. */
	while (n > 1 && path[n - 1] == '/')
		n--;
	AUTO_TEXT name = tk_strndup(path, n);
	return remove_at(AT_FDCWD, name, 0) == 0 ? TK_OK : tk_fail_errno(err, "removing %s", path);
}

/* ---- walking ---- */

struct walk {
	const char *root;
	int (*visit)(void *arg, const char *relative, const struct stat *st, struct tk_error *err);
	void *arg;
};

static int walk_folder(const struct walk *w, const char *relative, struct tk_error *err)
{
	AUTO_TEXT path = *relative ? tk_path_join(w->root, relative) : tk_strdup(w->root);
	char **names;
	size_t count;
	int status = TK_OK;
	TRY(tk_dir_list(path, &names, &count, err));
	for (size_t i = 0; i < count && !status; i++) {
		AUTO_TEXT below = tk_path_join(relative, names[i]);
		AUTO_TEXT entry = tk_path_join(w->root, below);
		struct stat st;

		status = lstat(entry, &st) == 0 ? w->visit(w->arg, below, &st, err)
		                                : tk_fail_errno(err, "%s", entry);
		if (!status && S_ISDIR(st.st_mode))
			status = walk_folder(w, below, err);
	}
	tk_names_free(names, count);
	return status;
}

int tk_dir_walk(const char *dir,
        int (*visit)(void *arg, const char *relative, const struct stat *st, struct tk_error *err),
        void *arg, struct tk_error *err)
{
	return walk_folder(&(struct walk){dir, visit, arg}, "", err);
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
		if (is_self_or_parent(e->d_name) ||
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

int tk_dir_create_temp(const char *parent, const char *prefix, char **path, struct tk_error *err)
{
	char *template = tk_sprintf("%s/%sXXXXXX", parent, prefix);

	if (mkdtemp(template)) {
		*path = template;
		return TK_OK;
	}
	free(template);
	return tk_fail_errno(err, "making a temporary folder in %s", parent);
}
