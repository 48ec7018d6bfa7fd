/* The folder of a site. All files are first written into a temporary sibling. The commit then
 * exchanges the two folders in one step. After tk_output_resume() it moves the new files into the
 * old folder one by one instead, in an order in which no page exists before what it refers to.
 *
 * A file with the content of the old site is not written: it is hard-linked, or left in place, so
 * that its modification time does not change. */
#ifndef TK_SITE_OUTPUT_H
#define TK_SITE_OUTPUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_buf;
struct tk_error;
struct tk_output;

/* Present in every site. A non-empty folder without it is never replaced. */
#define TK_SITE_MARKER "site-state.json"
/* Content of the marker while files are moved: the site is a mixture of two builds. */
#define TK_SITE_UNFINISHED "{\"format\":2,\"unfinished\":true}\n"

struct tk_output_counts {
	size_t files, written;
	int64_t bytes;
};

/* TK_EUSAGE: `dir` holds something that is not a site of ours; TK_EBUSY: another process writes a
 * site beside it. */
int tk_output_open(const char *dir, struct tk_output **out, struct tk_error *err);
/* Updates the old site in place: files that are not put are kept. `files`, `bytes`: of the old
 * site. */
void tk_output_resume(struct tk_output *o, size_t files, int64_t bytes);
/* `path` is relative, with '/', and made of slugs only. Its folder is created. */
int tk_output_put(
        struct tk_output *o, const char *path, const struct tk_buf *content, struct tk_error *err);
/* The same without comparing, for a file that is known to have changed. */
int tk_output_put_new(
        struct tk_output *o, const char *path, const struct tk_buf *content, struct tk_error *err);
/* Reuses the file of the old site; false if there is none. */
bool tk_output_keep(struct tk_output *o, const char *path);
/* Removes a file of the old site at the commit; only after tk_output_resume(). */
int tk_output_drop(struct tk_output *o, const char *path, struct tk_error *err);
/* Names of the files in a folder of the old site; none if there is no folder. Free with
 * tk_names_free(). */
int tk_output_list_old(const struct tk_output *o, const char *folder, char ***names, size_t *count,
        struct tk_error *err);
/* Content of a file of the old site; TK_ENOTFOUND if there is none. */
int tk_output_read_old(const struct tk_output *o, const char *path, size_t max_bytes,
        struct tk_buf *content, struct tk_error *err);
/* The same for a file of exactly that size; false if there is none. */
bool tk_output_read_old_exact(const struct tk_output *o, const char *path, void *data, size_t size);
/* Whether a file of the old site is empty. tracker writes no empty file but hidden ones. */
bool tk_output_has_empty(const struct tk_output *o);
struct tk_output_counts tk_output_counts(const struct tk_output *o);
/* Replaces and removes the old site, or moves the new files into it. */
int tk_output_commit(struct tk_output *o, struct tk_error *err);
void tk_output_free(
        struct tk_output *o); /* without commit: the new files are removed, the old site stays */

#endif
