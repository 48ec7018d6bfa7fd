/* Publishing what was written: the new folder replaces the old one, or files replace files. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "site_gen/render/output_internal.h"

/* The order of changes: no page may be there before what it refers to. The marker, which the next
 * build relies on, comes last. */
enum stage {
	STAGE_DATA,
	STAGE_NEW_PAGES,
	STAGE_PAGES,
	STAGE_INDEX,
	STAGE_REMOVALS,
	STAGE_MARKER,
	STAGE_COUNT
};

static enum stage find_stage(const struct tk_output_step *step)
{
	size_t len = strlen(step->path);
	bool page = len > 5 && !strcmp(step->path + len - 5, ".html");
	if (!strcmp(step->path, TK_SITE_MARKER))
		return STAGE_MARKER;
	if (step->is_removal)
		return STAGE_REMOVALS;
	if (page)
		return step->is_new              ? STAGE_NEW_PAGES
		       : strchr(step->path, '/') ? STAGE_PAGES
		                                 : STAGE_INDEX;
	bool names_pages = !strncmp(step->path, "api/", 4) || !strchr(step->path, '/');
	return names_pages ? STAGE_INDEX : STAGE_DATA;
}

/* Exchanges two files; the old one is removed with the temporary folder. A rename that replaces a
 * file would make ext4 wait for the disk. After a power failure the site is as incomplete as one
 * that was written as a whole. */
static int move_file(
        struct tk_output *o, const char *name, const char *path, bool is_new, struct tk_error *err)
{
	if (!is_new && !renameat2(o->temp_fd, name, o->old_fd, path, RENAME_EXCHANGE))
		return 0;
	return renameat(o->temp_fd, name, o->old_fd, path)
	               ? tk_fail_errno(err, "rename %s/%s to %s/%s", o->temp, name, o->dir, path)
	               : 0;
}

static int apply_step(struct tk_output *o, size_t number, struct tk_error *err)
{
	const struct tk_output_step *step = &o->steps[number];
	char name[TK_OUTPUT_STEP_NAME_SIZE];
	if (step->is_removal) /* it may have been removed already */
		return unlinkat(o->old_fd, step->path, 0) && errno != ENOENT
		               ? tk_fail_errno(err, "remove %s/%s", o->dir, step->path)
		               : 0;
	tk_output_step_name(name, number);
	int status = tk_output_make_folder(o, step->path, err);
	return status ? status : move_file(o, name, step->path, step->is_new, err);
}

/* A build that is killed from here on leaves a marker that forbids to reuse the site. */
static int mark_unfinished(struct tk_output *o, struct tk_error *err)
{
	struct tk_buf text = TK_BUF_INIT;
	tk_buf_add_str(&text, TK_SITE_UNFINISHED);
	int status = tk_buf_status(&text, err);
	if (!status)
		status = tk_output_write_temp(o, "unfinished", &text, err);
	tk_buf_free(&text);
	return status ? status : move_file(o, "unfinished", TK_SITE_MARKER, false, err);
}

static int apply_steps(struct tk_output *o, struct tk_error *err)
{
	int status = o->step_count ? mark_unfinished(o, err) : 0;
	o->last_folder[0] = 0;
	for (int stage = 0; !status && stage < STAGE_COUNT; stage++)
		for (size_t i = 0; !status && i < o->step_count; i++)
			if (find_stage(&o->steps[i]) == (enum stage)stage)
				status = apply_step(o, i, err);
	return status;
}

/* For file systems without exchange: the old site is missing for a moment, and is restored if the
 * second rename fails. */
static int replace_in_two_steps(struct tk_output *o, struct tk_error *err)
{
	char *aside = NULL;
	if (asprintf(&aside, "%s-old", o->temp) < 0)
		return tk_fail(err, TK_ENOMEM, "out of memory");
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
	free(aside);
	return status;
}

int tk_output_commit(struct tk_output *o, struct tk_error *err)
{
	int status = 0;
	if (o->is_resumed)
		return apply_steps(o, err); /* tk_output_free() removes the temporary folder */
	if (o->old_fd < 0 && rename(o->temp, o->dir))
		status = tk_fail_errno(err, "rename %s to %s", o->temp, o->dir);
	else if (o->old_fd >= 0 && renameat2(AT_FDCWD, o->temp, AT_FDCWD, o->dir, RENAME_EXCHANGE))
		status = replace_in_two_steps(o, err);
	if (status)
		return status;
	o->is_committed = true;
	return o->old_fd < 0 ? 0 : tk_dir_remove(o->temp, err);
}
