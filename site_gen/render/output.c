/* Writes thousands of small files quickly: paths are relative to open folders, and old files are
 * compared by size first. */
#include "site_gen/render/output.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

struct tk_output {
	char *dir, *parent, *temp;
	int parent_fd, temp_fd, old_fd; /* old_fd -1: there is no old site */
	char last_folder[256];          /* the folder that was created last */
	struct tk_output_counts counts;
	struct tk_buf old; /* for comparing with old files */
	bool is_committed;
};

/* ---- opening: lock, check, temporary folder ---- */

static int lock(const struct tk_output *o, struct tk_error *err)
{
	if (!flock(o->parent_fd, LOCK_EX | LOCK_NB))
		return 0;
	return errno == EWOULDBLOCK
	               ? tk_fail(err, TK_EBUSY, "another process is writing a site into %s",
	                         o->parent)
	               : tk_fail_errno(err, "lock %s", o->parent);
}

static int check_is_site(struct tk_output *o, struct tk_error *err)
{
	struct stat st;
	if (lstat(o->dir, &st))
		return errno == ENOENT ? 0 : tk_fail_errno(err, "%s", o->dir);
	if (!S_ISDIR(st.st_mode))
		return tk_fail(err, TK_EUSAGE, "%s is not a folder", o->dir);
	char **names = NULL;
	size_t count = 0;
	int status = tk_dir_list(o->dir, &names, &count, err);
	bool is_site = count == 0;
	for (size_t i = 0; i < count; i++)
		is_site = is_site || !strcmp(names[i], TK_SITE_MARKER);
	tk_names_free(names, count);
	if (status)
		return status;
	if (!is_site)
		return tk_fail(err, TK_EUSAGE,
		        "%s is not empty and not a site of tracker (no %s); choose another "
		        "folder",
		        o->dir, TK_SITE_MARKER);
	o->old_fd = open(o->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return o->old_fd < 0 ? tk_fail_errno(err, "%s", o->dir) : 0;
}

/* Removes temporary folders of killed processes. Needs the lock. */
static int remove_leftovers(const struct tk_output *o, const char *prefix, struct tk_error *err)
{
	char **names = NULL;
	size_t count = 0;
	int status = tk_dir_list(o->parent, &names, &count, err);
	for (size_t i = 0; !status && i < count; i++) {
		if (strncmp(names[i], prefix, strlen(prefix)))
			continue;
		char *path = tk_path_join(o->parent, names[i]);
		status = tk_dir_remove(path, err);
		free(path);
	}
	tk_names_free(names, count);
	return status;
}

static int create_temp(struct tk_output *o, struct tk_error *err)
{
	const char *base = strrchr(o->dir, '/') + 1;
	char *prefix = tk_sprintf("%s.tmp-", base);
	int status = remove_leftovers(o, prefix, err);
	if (!status)
		status = tk_dir_create_temp(o->parent, prefix, &o->temp, err);
	free(prefix);
	if (status)
		return status;
	if (chmod(o->temp, 0755) ||
	        (o->temp_fd = open(o->temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return tk_fail_errno(err, "%s", o->temp);
	return 0;
}

static int resolve_paths(struct tk_output *o, const char *dir, struct tk_error *err)
{
	char *absolute = tk_path_make_absolute(dir);
	o->dir = realpath(absolute, NULL);
	if (!o->dir) {
		o->dir = absolute;
		absolute = NULL;
	}
	free(absolute);
	char *slash = strrchr(o->dir, '/');
	if (!slash || !slash[1])
		return tk_fail(err, TK_EUSAGE, "%s cannot be the folder of a site", o->dir);
	o->parent = slash == o->dir ? tk_strdup("/") : tk_strndup(o->dir, (size_t)(slash - o->dir));
	TRY(tk_dir_create(o->parent, err));
	o->parent_fd = open(o->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return o->parent_fd < 0 ? tk_fail_errno(err, "%s", o->parent) : 0;
}

int tk_output_open(const char *dir, struct tk_output **out, struct tk_error *err)
{
	struct tk_output *o = tk_calloc(1, sizeof *o);
	o->parent_fd = o->temp_fd = o->old_fd = -1;
	int status = resolve_paths(o, dir, err);
	/* Lock before looking at the folder: another process may be about to replace it. */
	if (!status)
		status = lock(o, err);
	if (!status)
		status = check_is_site(o, err);
	if (!status)
		status = create_temp(o, err);
	if (status) {
		tk_output_free(o);
		return status;
	}
	*out = o;
	return 0;
}

/* ---- writing ---- */

static int make_folder(struct tk_output *o, const char *path, struct tk_error *err)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	if (!len || (!strncmp(o->last_folder, path, len) && !o->last_folder[len]))
		return 0;
	if (len >= sizeof o->last_folder)
		return tk_fail(err, TK_EINTERNAL, "%s: path too long", path);
	memcpy(o->last_folder, path, len);
	o->last_folder[len] = 0;
	if (mkdirat(o->temp_fd, o->last_folder, 0755) && errno != EEXIST)
		return tk_fail_errno(err, "%s/%s", o->temp, o->last_folder);
	return 0;
}

static int read_all(int fd, char *data, size_t size)
{
	size_t done = 0;
	while (done < size) {
		ssize_t n = read(fd, data + done, size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		done += (size_t)n;
	}
	return 0;
}

/* Most files that changed differ in size: those are not opened. */
static bool is_unchanged(struct tk_output *o, const char *path, const struct tk_buf *content)
{
	struct stat st;
	if (o->old_fd < 0 || fstatat(o->old_fd, path, &st, AT_SYMLINK_NOFOLLOW) ||
	        !S_ISREG(st.st_mode) || st.st_size != (off_t)content->len)
		return false;
	int fd = openat(o->old_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return false;
	tk_buf_clear(&o->old);
	char *old = tk_buf_reserve(&o->old, content->len + 1);
	bool same = !read_all(fd, old, content->len) &&
	            (!content->len || !memcmp(old, content->data, content->len));
	close(fd);
	return same;
}

static int write_temp(
        struct tk_output *o, const char *path, const struct tk_buf *content, struct tk_error *err)
{
	int fd = openat(o->temp_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return tk_fail_errno(err, "%s/%s", o->temp, path);
	int status = 0;
	for (size_t done = 0; !status && done < content->len;) {
		ssize_t n = write(fd, content->data + done, content->len - done);
		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			status = tk_fail_errno(err, "%s/%s", o->temp, path);
	}
	if (close(fd) && !status)
		status = tk_fail_errno(err, "%s/%s", o->temp, path);
	return status;
}

int tk_output_put(
        struct tk_output *o, const char *path, const struct tk_buf *content, struct tk_error *err)
{
	TRY(tk_buf_status(content, err));
	TRY(make_folder(o, path, err));
	o->counts.files++;
	o->counts.bytes += (int64_t)content->len;
	if (is_unchanged(o, path, content) && !linkat(o->old_fd, path, o->temp_fd, path, 0))
		return 0;
	o->counts.written++;
	return write_temp(o, path, content, err);
}

struct tk_output_counts tk_output_counts(const struct tk_output *o)
{
	return o->counts;
}

/* ---- publishing ---- */

/* For file systems without exchange: the old site is missing for a moment, and is restored if the
 * second rename fails. */
static int replace_in_two_steps(struct tk_output *o, struct tk_error *err)
{
	AUTO_TEXT aside = tk_sprintf("%s-old", o->temp);
	int status = 0;
	if (rename(o->dir, aside)) {
		status = tk_fail_errno(err, "rename %s to %s", o->dir, aside);
	} else if (rename(o->temp, o->dir)) {
		status = tk_fail_errno(err, "rename %s to %s", o->temp, o->dir);
		if (rename(aside, o->dir))
			tk_error_add_context(err, "the old site was moved to %s", aside);
	} else if (rename(aside, o->temp)) {
		status = tk_fail_errno(err, "rename %s to %s", aside, o->temp);
	}
	return status;
}

int tk_output_commit(struct tk_output *o, struct tk_error *err)
{
	struct tk_buf marker = TK_BUF_INIT;
	tk_buf_add_str(&marker, "{\"format\":1}\n");
	int status = tk_output_put(o, TK_SITE_MARKER, &marker, err);
	tk_buf_free(&marker);
	if (status)
		return status;
	if (o->old_fd < 0 && rename(o->temp, o->dir))
		status = tk_fail_errno(err, "rename %s to %s", o->temp, o->dir);
	else if (o->old_fd >= 0 && renameat2(AT_FDCWD, o->temp, AT_FDCWD, o->dir, RENAME_EXCHANGE))
		status = replace_in_two_steps(o, err);
	if (status)
		return status;
	o->is_committed = true;
	return o->old_fd < 0 ? 0 : tk_dir_remove(o->temp, err);
}

void tk_output_free(struct tk_output *o)
{
	if (!o)
		return;
	if (o->temp && !o->is_committed)
		tk_dir_remove(o->temp, NULL);
	if (o->temp_fd >= 0)
		close(o->temp_fd);
	if (o->old_fd >= 0)
		close(o->old_fd);
	if (o->parent_fd >= 0)
		close(o->parent_fd);
	tk_buf_free(&o->old);
	free(o->dir);
	free(o->parent);
	free(o->temp);
	free(o);
}
