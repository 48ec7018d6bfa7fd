/* What a build left: its files.
 *
 * Files are copied into a folder that the build could not write to: whatever is read later is a
 * regular file that nobody changes any more. Every file is opened relative to its folder,
 * without following links and without waiting for FIFOs. */
#include "base/base.h"
#include "build/build_internal.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 32
#define COPY_MAX ((size_t)1 << 30) /* bytes of one call */

struct collect {
	uint64_t left_bytes;
	struct tk_error *err;
};

static int copy_content(struct collect *c, int in, int out, const char *name)
{
	ssize_t n;
	while ((n = sendfile(out, in, NULL, COPY_MAX)) > 0) {
		if ((uint64_t)n > c->left_bytes)
			return tk_fail(c->err, TK_EDATA, "the build left too much in TK_OUT");
		c->left_bytes -= (uint64_t)n;
	}
	return n == 0 ? TK_OK : tk_fail_errno(c->err, "copying %s", name);
}

/* TK_EDATA: not a regular file. */
static int copy_file(
        struct collect *c, int from, const char *name, int to, const char *new_name, mode_t mode)
{
	int in = tk_file_open_regular(from, name, c->err);
	if (in < 0)
		return in;
	int out = openat(to, new_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & 0755);
	int status = out < 0 ? tk_fail_errno(c->err, "copying %s", name)
	                     : copy_content(c, in, out, name);
	if (out >= 0 && close(out) && !status)
		status = tk_fail_errno(c->err, "copying %s", name);
	close(in);
	return status;
}

/* "libx.so" -> "libx.so.1": a name of the same folder. */
static int copy_link(struct collect *c, int from, int to, const char *name)
{
	char target[256];
	ssize_t n = readlinkat(from, name, target, sizeof(target) - 1);
	if (n < 0)
		return tk_fail_errno(c->err, "%s", name);
	target[n] = '\0';
	if ((size_t)n == sizeof(target) - 1 || strchr(target, '/') || !strcmp(target, "..") ||
	        !strcmp(target, "."))
		return tk_fail(c->err, TK_EDATA,
		        "%.80s links to \"%.80s\"; expected a name of the same folder", name,
		        target);
	return symlinkat(target, to, name) ? tk_fail_errno(c->err, "copying %s", name) : TK_OK;
}

static int copy_folder(struct collect *c, int from, int to, int depth);

/* `name` in `from` into `new_name` in `to`, which exists. */
static int copy_subfolder(
        struct collect *c, int from, const char *name, int to, const char *new_name, int depth)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	if (depth > DEPTH_MAX)
		return tk_fail(c->err, TK_EDATA, "%.80s: folders are nested too deeply", name);
	int in = openat(from, name, flags), out = in < 0 ? -1 : openat(to, new_name, flags);
	int status = out < 0 ? tk_fail_errno(c->err, "%s", in < 0 ? name : new_name)
	                     : copy_folder(c, in, out, depth);
	if (out >= 0)
		close(out);
	if (in >= 0)
		close(in);
	return status;
}

static int copy_entry(struct collect *c, int from, int to, const char *name, int depth)
{
	struct stat st;
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW))
		return tk_fail_errno(c->err, "%s", name);
	if (S_ISDIR(st.st_mode) && mkdirat(to, name, 0755))
		return tk_fail_errno(c->err, "copying %s", name);
	if (S_ISDIR(st.st_mode))
		return copy_subfolder(c, from, name, to, name, depth + 1);
	if (S_ISLNK(st.st_mode))
		return copy_link(c, from, to, name);
	return copy_file(c, from, name, to, name, st.st_mode);
}

/* The tracker's own files at the top; an adapter's files of these names are left out. */
static bool is_own(const char *name, int depth)
{
	return depth == 0 && (!strcmp(name, "build.log") || !strcmp(name, "manifest.json") ||
	                             !strcmp(name, "reads.txt"));
}

static int copy_folder(struct collect *c, int from, int to, int depth)
{
	char **names = NULL;
	size_t count = 0;
	int status = tk_dir_list_fd(from, &names, &count, c->err);
	for (size_t i = 0; !status && i < count; i++)
		if (!is_own(names[i], depth))
			status = copy_entry(c, from, to, names[i], depth);
	tk_names_free(names, count);
	return status;
}

int tk_build_collect(const char *from, const char *to, uint64_t max_bytes, struct tk_error *err)
{
	struct collect c = {max_bytes, err};
	return copy_subfolder(&c, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int tk_build_collect_log(const char *log, const char *to, uint64_t max_bytes, struct tk_error *err)
{
	struct collect c = {max_bytes, err};
	return copy_file(&c, AT_FDCWD, log, AT_FDCWD, to, 0644);
}
