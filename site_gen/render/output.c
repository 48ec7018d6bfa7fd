/* Writing thousands of small files quickly: everything relative to two open folders, old files
 * compared by size first.
 */
#include "site_gen/render/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"

/* A file that waits in the temporary folder, under its number; or is to go. */
struct step {
	char *path;
	bool is_new, goes;
};

struct tk_output {
	char *dir, *parent, *temp;
	int parent_fd, temp_fd, old_fd; /* old_fd -1: there is no old site */
	char made[256];                 /* the folder that was made last */
	struct tk_output_counts counts;
	char *old; /* for comparing */
	size_t old_size;
	bool committed;
	bool goes_on;
	struct step *steps;
	size_t step_count, step_cap;
};

/* ---- opening
 * ------------------------------------------------------------------------------------------------
 */

static int lock(const struct tk_output *o, struct tk_error *err)
{
	if (!flock(o->parent_fd, LOCK_EX | LOCK_NB))
		return 0;
	return errno == EWOULDBLOCK
	               ? tk_fail(err, TK_EBUSY, "another process is writing a site into %s",
	                         o->parent)
	               : tk_fail_errno(err, "lock %s", o->parent);
}

static int check_is_ours(struct tk_output *o, struct tk_error *err)
{
	struct stat st;
	if (lstat(o->dir, &st))
		return errno == ENOENT ? 0 : tk_fail_errno(err, "%s", o->dir);
	if (!S_ISDIR(st.st_mode))
		return tk_fail(err, TK_EUSAGE, "%s is not a folder", o->dir);
	char **names = NULL;
	size_t count = 0;
	int status = tk_dir_list(o->dir, &names, &count, err);
	bool ours = count == 0;
	for (size_t i = 0; i < count; i++)
		ours = ours || !strcmp(names[i], TK_SITE_MARKER);
	tk_names_free(names, count);
	if (status)
		return status;
	if (!ours)
		return tk_fail(err, TK_EUSAGE,
		        "%s is not empty and not a site of tracker (no %s); choose another "
		        "folder",
		        o->dir, TK_SITE_MARKER);
	o->old_fd = open(o->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return o->old_fd < 0 ? tk_fail_errno(err, "%s", o->dir) : 0;
}

/* What a process that was killed left behind; nobody else is at work here while we hold the lock.
 */
static int remove_leftovers(const struct tk_output *o, const char *prefix, struct tk_error *err)
{
	char **names = NULL;
	size_t count = 0;
	int status = tk_dir_list(o->parent, &names, &count, err);
	for (size_t i = 0; !status && i < count; i++) {
		if (strncmp(names[i], prefix, strlen(prefix)))
			continue;
		char *path = tk_path_join(o->parent, names[i]);
		status = path ? tk_dir_remove(path, err) : tk_fail(err, TK_ENOMEM, "out of memory");
		free(path);
	}
	tk_names_free(names, count);
	return status;
}

static int make_temp(struct tk_output *o, struct tk_error *err)
{
	const char *base = strrchr(o->dir, '/') + 1;
	char *prefix = NULL;
	if (asprintf(&prefix, "%s.tmp-", base) < 0)
		return tk_fail(err, TK_ENOMEM, "out of memory");
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

static int find_places(struct tk_output *o, const char *dir, struct tk_error *err)
{
	char *absolute = tk_path_make_absolute(dir);
	o->dir = absolute ? realpath(absolute, NULL) : NULL;
	if (!o->dir) {
		o->dir = absolute;
		absolute = NULL;
	}
	free(absolute);
	if (!o->dir)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	char *slash = strrchr(o->dir, '/');
	if (!slash || !slash[1])
		return tk_fail(err, TK_EUSAGE, "%s cannot be the folder of a site", o->dir);
	o->parent = slash == o->dir ? strdup("/") : strndup(o->dir, (size_t)(slash - o->dir));
	if (!o->parent)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	int status = tk_dir_create(o->parent, err);
	if (status)
		return status;
	o->parent_fd = open(o->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return o->parent_fd < 0 ? tk_fail_errno(err, "%s", o->parent) : 0;
}

int tk_output_open(const char *dir, struct tk_output **out, struct tk_error *err)
{
	struct tk_output *o = calloc(1, sizeof *o);
	if (!o)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	o->parent_fd = o->temp_fd = o->old_fd = -1;
	int status = find_places(o, dir, err);
	if (!status) /* first: what another process is writing may be another folder when it is done
	              */
		status = lock(o, err);
	if (!status)
		status = check_is_ours(o, err);
	if (!status)
		status = make_temp(o, err);
	if (status) {
		tk_output_free(o);
		return status;
	}
	*out = o;
	return 0;
}

/* ---- files
 * --------------------------------------------------------------------------------------------------
 */

static int make_folder(struct tk_output *o, const char *path, struct tk_error *err)
{
	int fd = o->goes_on ? o->old_fd : o->temp_fd;
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	if (!len || (!strncmp(o->made, path, len) && !o->made[len]))
		return 0;
	if (len >= sizeof o->made)
		return tk_fail(err, TK_EINTERNAL, "%s: path too long", path);
	memcpy(o->made, path, len);
	o->made[len] = 0;
	if (mkdirat(fd, o->made, 0755) && errno != EEXIST)
		return tk_fail_errno(err, "%s/%s", o->goes_on ? o->dir : o->temp, o->made);
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

/* Opens a regular file of the old site and tells its size; -1 where there is none. */
static int old_open(const struct tk_output *o, const char *path, int64_t *size)
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

/* Most files of a night differ in length already: those are not opened. */
static bool is_unchanged(struct tk_output *o, const char *path, const struct tk_buf *content)
{
	struct stat st;
	int64_t size = 0;
	if (o->old_fd < 0 || fstatat(o->old_fd, path, &st, AT_SYMLINK_NOFOLLOW) ||
	        st.st_size != (off_t)content->len)
		return false;
	int fd = old_open(o, path, &size);
	if (fd < 0)
		return false;
	bool same = size == (int64_t)content->len;
	if (same && o->old_size < content->len) {
		char *more = realloc(o->old, content->len);
		same = more != NULL;
		o->old = more ? more : o->old;
		o->old_size = more ? content->len : o->old_size;
	}
	same = same && !read_all(fd, o->old, content->len) &&
	       (!size || !memcmp(o->old, content->data, content->len));
	close(fd);
	return same;
}

static int write_new(
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

static int step_add(
        struct tk_output *o, const char *path, bool is_new, bool goes, struct tk_error *err)
{
	if (o->step_count == o->step_cap) {
		size_t cap = o->step_cap ? o->step_cap * 2 : 256;
		struct step *more = realloc(o->steps, cap * sizeof *more);
		if (!more)
			return tk_fail(err, TK_ENOMEM, "out of memory");
		o->steps = more;
		o->step_cap = cap;
	}
	char *copy = strdup(path);
	if (!copy)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	o->steps[o->step_count++] = (struct step){copy, is_new, goes};
	return 0;
}

static void step_name(char name[24], size_t number)
{
	snprintf(name, 24, "%zu", number);
}

/* The marker waits wherever anything does: until it comes in, the site says that it is not
 * finished. */
static int put_beside(struct tk_output *o, const char *path, const struct tk_buf *content,
        bool compare, struct tk_error *err)
{
	struct stat st = {0};
	bool is_new = fstatat(o->old_fd, path, &st, AT_SYMLINK_NOFOLLOW) != 0,
	     is_marker = !strcmp(path, TK_SITE_MARKER) && o->step_count;
	bool same = !is_new && compare && is_unchanged(o, path, content);
	if (same && !is_marker)
		return 0;
	char name[24];
	step_name(name, o->step_count);
	o->counts.files += is_new;
	o->counts.bytes += (int64_t)content->len - (is_new ? 0 : (int64_t)st.st_size);
	o->counts.written += !same;
	int status = write_new(o, name, content, err);
	return status ? status : step_add(o, path, is_new, false, err);
}

static int put(struct tk_output *o, const char *path, const struct tk_buf *content, bool compare,
        struct tk_error *err)
{
	int status = tk_buf_status(content, err);
	if (status)
		return status;
	if (o->goes_on)
		return put_beside(o, path, content, compare, err);
	status = make_folder(o, path, err);
	if (status)
		return status;
	o->counts.files++;
	o->counts.bytes += (int64_t)content->len;
	if (compare && is_unchanged(o, path, content) &&
	        !linkat(o->old_fd, path, o->temp_fd, path, 0))
		return 0;
	o->counts.written++;
	return write_new(o, path, content, err);
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
	if (o->goes_on)
		return true;
	if (make_folder(o, path, NULL) || linkat(o->old_fd, path, o->temp_fd, path, 0))
		return false;
	o->counts.files++;
	o->counts.bytes += st.st_size;
	return true;
}

void tk_output_resume(struct tk_output *o, size_t files, int64_t bytes)
{
	o->goes_on = o->old_fd >= 0;
	if (o->goes_on)
		o->counts = (struct tk_output_counts){.files = files, .bytes = bytes};
}

int tk_output_drop(struct tk_output *o, const char *path, struct tk_error *err)
{
	struct stat st;
	if (!o->goes_on || fstatat(o->old_fd, path, &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	o->counts.files--;
	o->counts.bytes -= st.st_size;
	return step_add(o, path, false, true, err);
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
	int fd = old_open(o, path, &there);
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

/* ---- the end
 * -------------------------------------------------------------------------------------------------
 */

/* Data first, then pages that are new, pages that are there, and those that name all others; at
 * last what the next build stands on. */
enum stage {
	STAGE_DATA,
	STAGE_NEW_PAGES,
	STAGE_PAGES,
	STAGE_INDEX,
	STAGE_GOES,
	STAGE_MARKER,
	STAGE_COUNT
};

static enum stage stage_of(const struct step *step)
{
	size_t len = strlen(step->path);
	bool page = len > 5 && !strcmp(step->path + len - 5, ".html");
	if (!strcmp(step->path, TK_SITE_MARKER))
		return STAGE_MARKER;
	if (step->goes)
		return STAGE_GOES;
	if (page)
		return step->is_new              ? STAGE_NEW_PAGES
		       : strchr(step->path, '/') ? STAGE_PAGES
		                                 : STAGE_INDEX;
	bool names_pages = !strncmp(step->path, "api/", 4) || !strchr(step->path, '/');
	return names_pages ? STAGE_INDEX : STAGE_DATA;
}

/* Two files change places, and the old one goes with the temporary folder: a rename that replaces a
 * file makes ext4 wait for the disk. What a power failure then leaves of the site is not more and
 * not less than of one that was made whole. */
static int move_one(
        struct tk_output *o, const char *name, const char *path, bool is_new, struct tk_error *err)
{
	if (!is_new && !renameat2(o->temp_fd, name, o->old_fd, path, RENAME_EXCHANGE))
		return 0;
	return renameat(o->temp_fd, name, o->old_fd, path)
	               ? tk_fail_errno(err, "rename %s/%s to %s/%s", o->temp, name, o->dir, path)
	               : 0;
}

static int make_step(struct tk_output *o, size_t number, struct tk_error *err)
{
	const struct step *step = &o->steps[number];
	char name[24];
	if (step->goes) /* it may be gone already */
		return unlinkat(o->old_fd, step->path, 0) && errno != ENOENT
		               ? tk_fail_errno(err, "remove %s/%s", o->dir, step->path)
		               : 0;
	step_name(name, number);
	int status = make_folder(o, step->path, err);
	return status ? status : move_one(o, name, step->path, step->is_new, err);
}

/* A build that is killed in the midst of this leaves the word that nothing of the site may be gone
 * on with. */
static int mark_unfinished(struct tk_output *o, struct tk_error *err)
{
	struct tk_buf text = TK_BUF_INIT;
	tk_buf_add_str(&text, TK_SITE_UNFINISHED);
	int status = tk_buf_status(&text, err);
	if (!status)
		status = write_new(o, "unfinished", &text, err);
	tk_buf_free(&text);
	return status ? status : move_one(o, "unfinished", TK_SITE_MARKER, false, err);
}

static int move_in(struct tk_output *o, struct tk_error *err)
{
	int status = o->step_count ? mark_unfinished(o, err) : 0;
	o->made[0] = 0;
	for (int stage = 0; !status && stage < STAGE_COUNT; stage++)
		for (size_t i = 0; !status && i < o->step_count; i++)
			if (stage_of(&o->steps[i]) == (enum stage)stage)
				status = make_step(o, i, err);
	return status;
}

int tk_output_commit(struct tk_output *o, struct tk_error *err)
{
	if (o->goes_on)
		return move_in(
		        o, err); /* the folder of what has moved is removed with the handle */
	if (o->old_fd < 0) {
		if (rename(o->temp, o->dir))
			return tk_fail_errno(err, "rename %s to %s", o->temp, o->dir);
	} else if (renameat2(AT_FDCWD, o->temp, AT_FDCWD, o->dir, RENAME_EXCHANGE)) {
		/* a file system without exchange: the old site is away for a moment, and comes back
		 * where the second step fails */
		char *aside = NULL;
		if (asprintf(&aside, "%s-old", o->temp) < 0)
			return tk_fail(err, TK_ENOMEM, "out of memory");
		int status = rename(o->dir, aside)
		                     ? tk_fail_errno(err, "rename %s to %s", o->dir, aside)
		                     : 0;
		if (!status && rename(o->temp, o->dir)) {
			status = tk_fail_errno(err, "rename %s to %s", o->temp, o->dir);
			if (rename(aside, o->dir))
				tk_error_add_context(err, "the old site was moved to %s", aside);
		} else if (!status && rename(aside, o->temp)) {
			status = tk_fail_errno(err, "rename %s to %s", aside, o->temp);
		}
		free(aside);
		if (status)
			return status;
	}
	o->committed = true;
	return o->old_fd < 0 ? 0 : tk_dir_remove(o->temp, err);
}

void tk_output_free(struct tk_output *o)
{
	if (!o)
		return;
	if (o->temp && !o->committed)
		tk_dir_remove(o->temp, NULL);
	if (o->temp_fd >= 0)
		close(o->temp_fd);
	if (o->old_fd >= 0)
		close(o->old_fd);
	if (o->parent_fd >= 0)
		close(o->parent_fd);
	for (size_t i = 0; i < o->step_count; i++)
		free(o->steps[i].path);
	free(o->steps);
	free(o->old);
	free(o->dir);
	free(o->parent);
	free(o->temp);
	free(o);
}
