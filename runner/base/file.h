/* Files, folders and paths. Names are plain C strings; every allocated result is the caller's to
 * free. */
#ifndef TK_BASE_FILE_H
#define TK_BASE_FILE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stat;
struct tk_buf;
struct tk_error;

/* Replaces what `out` had. Larger than max_bytes (0: only the limit of `out`) is TK_EDATA. */
int tk_file_read(const char *path, size_t max_bytes, struct tk_buf *out, struct tk_error *err);
/* Writes a temporary sibling, fsyncs, renames: readers see the old or the new content, never half
 * of it. */
int tk_file_write(const char *path, const void *data, size_t len, struct tk_error *err);
/* As tk_file_write without the fsync: for what can be made again (pages of a site, cached files).
 */
int tk_file_write_nosync(const char *path, const void *data, size_t len, struct tk_error *err);
/* Opens a regular file of a folder that others can write to, for reading: no link is followed and
 * no FIFO waited for. `dir_fd` as for openat. Returns the descriptor; TK_EDATA: not a regular file.
 */
int tk_file_open_regular(int dir_fd, const char *name, struct tk_error *err);
bool tk_file_exists(const char *path);
bool tk_dir_exists(const char *path);
int tk_dir_create(
        const char *path, struct tk_error *err); /* with parents; an existing folder is fine */
int tk_dir_remove(const char *path,
        struct tk_error *err); /* the whole tree, never following links; absent is fine */
int tk_dir_copy(const char *from, const char *to,
        struct tk_error *err); /* regular files, folders, links, modes */
/* Visits everything below dir, not dir itself: sorted by name in each folder, a folder before its
 * content, links not followed. `relative` is the path below dir. A visit that returns non-zero ends
 * the walk with that status. */
int tk_dir_walk(const char *dir,
        int (*visit)(void *arg, const char *relative, const struct stat *st, struct tk_error *err),
        void *arg, struct tk_error *err);
int64_t tk_dir_size(const char *path); /* bytes of regular files below; 0 where absent */
/* What everything below takes on the disk; what cannot be read is left out. A file that others link
 * to counts by its share. For trees that a hostile program is writing to. */
uint64_t tk_dir_disk_bytes(const char *path);
/* Names in a folder without . and .., sorted; *names and each name are freed with tk_names_free. */
int tk_dir_list(const char *path, char ***names, size_t *count, struct tk_error *err);
/* The same of an open folder, which stays open. */
int tk_dir_list_fd(int fd, char ***names, size_t *count, struct tk_error *err);
void tk_names_free(char **names, size_t count);
int tk_dir_create_temp(const char *parent, const char *prefix, char **path, struct tk_error *err);

char *tk_path_join(
        const char *a, const char *b); /* b alone where b is absolute; NULL: out of memory */
char *tk_path_join3(const char *a, const char *b, const char *c);
char *tk_path_make_absolute(
        const char *path); /* need not exist; no . or .. left; NULL: out of memory */
/* A name that is safe as one path component and readable: [A-Za-z0-9._-], never empty, "." or "..",
 * at most 80 bytes; if something was replaced or cut, a short hash of the original follows, so that
 * different names stay different. */
char *tk_path_make_slug(const char *name);
char *tk_path_cache_dir(
        const char *sub); /* $TRACKER_CACHE, else $XDG_CACHE_HOME/tracker, else ~/.cache/tracker */
/* A path of a user's file as an absolute one: "~/x" in the home folder, "x" in `root`. */
char *tk_path_resolve(const char *root, const char *text);
/* The suites, templates and adapters that come with the tracker: $TRACKER_DATADIR, else the
 * installed ones, else the source tree. Static. */
const char *tk_path_data_dir(void);

/* An advisory lock for one process at a time; TK_EBUSY names the holder's pid. The lock ends with
 * the process. */
struct tk_lock;
int tk_lock_acquire(const char *path, struct tk_lock **out, struct tk_error *err);
/* Waits for it: TK_EBUSY at the deadline, TK_ECANCELED if the user stopped the program. */
int tk_lock_wait(const char *path, double deadline_s, struct tk_lock **out, struct tk_error *err);
bool tk_lock_is_held(const char *path); /* by a running process; does not take it */
void tk_lock_release(struct tk_lock *lock);
static inline void tk_lock_free_at(struct tk_lock **at) /* AUTO_PTR(tk_lock) */
{
	tk_lock_release(*at);
}

#endif
