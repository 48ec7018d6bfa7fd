/* Opening and closing the folder of a site: lock, check, temporary folder. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include "site_gen/render/output_internal.h"

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
		status = path ? tk_dir_remove(path, err) : tk_fail(err, TK_ENOMEM, "out of memory");
		free(path);
	}
	tk_names_free(names, count);
	return status;
}

static int create_temp(struct tk_output *o, struct tk_error *err)
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

static int resolve_paths(struct tk_output *o, const char *dir, struct tk_error *err)
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
	o->parent = slash == o->dir ? tk_strdup("/") : tk_strndup(o->dir, (size_t)(slash - o->dir));
	if (!o->parent)
		return tk_fail(err, TK_ENOMEM, "out of memory");
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
	for (size_t i = 0; i < o->step_count; i++)
		free(o->steps[i].path);
	free(o->steps);
	free(o->old);
	free(o->dir);
	free(o->parent);
	free(o->temp);
	free(o);
}
