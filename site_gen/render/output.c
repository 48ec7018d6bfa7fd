/* Writes thousands of small files quickly: paths are relative to open folders, and old files are
 * compared by size first. */
#include "site_gen/render/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include "site_gen/render/output_internal.h"

int tk_output_make_folder(struct tk_output *o, const char *path, struct tk_error *err)
{
	int fd = o->is_resumed ? o->old_fd : o->temp_fd;
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	if (!len || (!strncmp(o->last_folder, path, len) && !o->last_folder[len]))
		return 0;
	if (len >= sizeof o->last_folder)
		return tk_fail(err, TK_EINTERNAL, "%s: path too long", path);
	memcpy(o->last_folder, path, len);
	o->last_folder[len] = 0;
	if (mkdirat(fd, o->last_folder, 0755) && errno != EEXIST)
		return tk_fail_errno(
		        err, "%s/%s", o->is_resumed ? o->dir : o->temp, o->last_folder);
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

/* Opens a regular file of the old site and returns its size; -1: none. */
static int open_old(const struct tk_output *o, const char *path, int64_t *size)
{
	struct stat st;
	int fd = o->old_fd < 0 ? -1 : openat(o->old_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
	}
	if (fd >= 0)
		*size = st.st_size;
	return fd;
}

/* Most files that changed differ in size: those are not opened. */
static bool is_unchanged(struct tk_output *o, const char *path, const struct tk_buf *content)
{
	struct stat st;
	int64_t size = 0;
	if (o->old_fd < 0 || fstatat(o->old_fd, path, &st, AT_SYMLINK_NOFOLLOW) ||
	        st.st_size != (off_t)content->len)
		return false;
	int fd = open_old(o, path, &size);
	if (fd < 0)
		return false;
	bool same = size == (int64_t)content->len;
	if (same && o->old_size < content->len) {
		char *more = tk_realloc(o->old, content->len);
		same = more != NULL;
		o->old = more ? more : o->old;
		o->old_size = more ? content->len : o->old_size;
	}
	same = same && !read_all(fd, o->old, content->len) &&
	       (!size || !memcmp(o->old, content->data, content->len));
	close(fd);
	return same;
}

int tk_output_write_temp(
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

static int add_step(
        struct tk_output *o, const char *path, bool is_new, bool goes, struct tk_error *err)
{
	if (o->step_count == o->step_cap) {
		size_t cap = o->step_cap ? o->step_cap * 2 : 256;
		o->steps = tk_realloc(o->steps, cap * sizeof *o->steps);
		o->step_cap = cap;
	}
	char *copy = tk_strdup(path);
	o->steps[o->step_count++] = (struct tk_output_step){copy, is_new, goes};
	return 0;
}

void tk_output_step_name(char name[TK_OUTPUT_STEP_NAME_SIZE], size_t number)
{
	snprintf(name, TK_OUTPUT_STEP_NAME_SIZE, "%zu", number);
}

/* Any step adds one for the marker: until it is applied, the site is marked unfinished. */
static int put_step(struct tk_output *o, const char *path, const struct tk_buf *content,
        bool compare, struct tk_error *err)
{
	struct stat st = {0};
	bool is_new = fstatat(o->old_fd, path, &st, AT_SYMLINK_NOFOLLOW) != 0,
	     is_marker = !strcmp(path, TK_SITE_MARKER) && o->step_count;
	bool same = !is_new && compare && is_unchanged(o, path, content);
	if (same && !is_marker)
		return 0;
	char name[TK_OUTPUT_STEP_NAME_SIZE];
	tk_output_step_name(name, o->step_count);
	o->counts.files += is_new;
	o->counts.bytes += (int64_t)content->len - (is_new ? 0 : (int64_t)st.st_size);
	o->counts.written += !same;
	int status = tk_output_write_temp(o, name, content, err);
	return status ? status : add_step(o, path, is_new, false, err);
}

static int put(struct tk_output *o, const char *path, const struct tk_buf *content, bool compare,
        struct tk_error *err)
{
	TRY(tk_buf_status(content, err));
	if (o->is_resumed)
		return put_step(o, path, content, compare, err);
	TRY(tk_output_make_folder(o, path, err));
	o->counts.files++;
	o->counts.bytes += (int64_t)content->len;
	if (compare && is_unchanged(o, path, content) &&
	        !linkat(o->old_fd, path, o->temp_fd, path, 0))
		return 0;
	o->counts.written++;
	return tk_output_write_temp(o, path, content, err);
}

int tk_output_put(
        struct tk_output *o, const char *path, const struct tk_buf *content, struct tk_error *err)
{
	return put(o, path, content, true, err);
}

int tk_output_put_new(
        struct tk_output *o, const char *path, const struct tk_buf *content, struct tk_error *err)
{
	return put(o, path, content, false, err);
}

bool tk_output_keep(struct tk_output *o, const char *path)
{
	struct stat st;
	if (o->old_fd < 0 || fstatat(o->old_fd, path, &st, AT_SYMLINK_NOFOLLOW) ||
	        !S_ISREG(st.st_mode))
		return false;
	if (o->is_resumed)
		return true;
	if (tk_output_make_folder(o, path, NULL) || linkat(o->old_fd, path, o->temp_fd, path, 0))
		return false;
	o->counts.files++;
	o->counts.bytes += st.st_size;
	return true;
}

void tk_output_resume(struct tk_output *o, size_t files, int64_t bytes)
{
	o->is_resumed = o->old_fd >= 0;
	if (o->is_resumed)
		o->counts = (struct tk_output_counts){.files = files, .bytes = bytes};
}

int tk_output_drop(struct tk_output *o, const char *path, struct tk_error *err)
{
	struct stat st;
	if (!o->is_resumed || fstatat(o->old_fd, path, &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	o->counts.files--;
	o->counts.bytes -= st.st_size;
	return add_step(o, path, false, true, err);
}

int tk_output_list_old(const struct tk_output *o, const char *folder, char ***names, size_t *count,
        struct tk_error *err)
{
	char *full = tk_path_join(o->dir, folder);
	int status = full ? 0 : tk_fail(err, TK_ENOMEM, "out of memory");
	*names = NULL;
	*count = 0;
	if (!status && tk_dir_exists(full))
		status = tk_dir_list(full, names, count, err);
	free(full);
	return status;
}

int tk_output_read_old(const struct tk_output *o, const char *path, size_t max_bytes,
        struct tk_buf *content, struct tk_error *err)
{
	char *full = tk_path_join(o->dir, path);
	int status = full ? tk_file_read(full, max_bytes, content, err)
	                  : tk_fail(err, TK_ENOMEM, "out of memory");
	free(full);
	return status;
}

bool tk_output_read_old_exact(const struct tk_output *o, const char *path, void *data, size_t size)
{
	int64_t there = 0;
	int fd = open_old(o, path, &there);
	bool read = fd >= 0 && there == (int64_t)size && !read_all(fd, data, size);
	if (fd >= 0)
		close(fd);
	return read;
}

static int stop_at_empty(
        void *arg, const char *relative, const struct stat *st, struct tk_error *err)
{
	bool *found = arg;
	*found = S_ISREG(st->st_mode) && !st->st_size && *relative != '.';
	return *found ? TK_EDATA : 0;
}

bool tk_output_has_empty(const struct tk_output *o)
{
	bool found = false;
	tk_dir_walk(o->dir, stop_at_empty, &found, NULL);
	return found;
}

struct tk_output_counts tk_output_counts(const struct tk_output *o)
{
	return o->counts;
}
