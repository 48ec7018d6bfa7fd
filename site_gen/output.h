/* The folder that is written: all files go into a temporary sibling; at the end the two folders change places in one
 * step.
 *
 * A file whose content is that of the old site is a hard link to it, so that its time stays and nothing is written. */
#ifndef TK_SITE_OUTPUT_H
#define TK_SITE_OUTPUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_buf;
struct tk_error;
struct tk_output;

/* Present in every site; a folder that is not empty and has no such file is never replaced. */
#define TK_SITE_MARKER "site-state.json"

struct tk_output_counts {
	size_t files, written;
	int64_t bytes;
};

/* TK_EUSAGE: `dir` holds something that is not a site of ours; TK_EBUSY: another process writes a site beside it. */
int tk_output_open(const char *dir, struct tk_output **out, struct tk_error *err);
/* `path` is relative, with '/', and made of slugs only. Its folder is made. */
int tk_output_put(struct tk_output *o, const char *path, const struct tk_buf *content, struct tk_error *err);
/* Takes the file of the old site as it is; false where there is none. */
bool tk_output_keep(struct tk_output *o, const char *path);
/* Content of a file of the old site; TK_ENOTFOUND where there is none. */
int tk_output_old(
        const struct tk_output *o, const char *path, size_t max_bytes, struct tk_buf *content, struct tk_error *err);
struct tk_output_counts tk_output_counts(const struct tk_output *o);
/* Replaces the old site and removes it. */
int tk_output_commit(struct tk_output *o, struct tk_error *err);
void tk_output_free(struct tk_output *o); /* without commit: the new files are removed, the old site stays */

#endif
