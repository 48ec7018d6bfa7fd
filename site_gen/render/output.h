/* The folder of a site. All files are first written into a temporary sibling. The commit then
 * exchanges the two folders in one step, so that the old site stays until the new one is complete.
 *
 * A file with the content of the old site is not written but hard-linked, so that its modification
 * time does not change. */
#ifndef TK_SITE_OUTPUT_H
#define TK_SITE_OUTPUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_buf;
struct tk_error;
struct tk_output;

/* Present in every site. A non-empty folder without it is never replaced. */
#define TK_SITE_MARKER "tracker-site.json"

struct tk_output_counts {
	size_t files, written;
	int64_t bytes;
};

/* TK_EUSAGE: `dir` holds something that is not a site of ours; TK_EBUSY: another process writes a
 * site beside it. */
int tk_output_open(const char *dir, struct tk_output **out, struct tk_error *err);
/* `path` is relative, with '/', and made of slugs only. Its folder is created. */
int tk_output_put(
        struct tk_output *o, const char *path, const struct tk_buf *content, struct tk_error *err);
struct tk_output_counts tk_output_counts(const struct tk_output *o);
/* Replaces and removes the old site. */
int tk_output_commit(struct tk_output *o, struct tk_error *err);
void tk_output_free(
        struct tk_output *o); /* without commit: the new files are removed, the old site stays */

#endif
