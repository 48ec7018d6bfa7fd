/* The lock of a history, a file beside it: a night, and a command that analyses or renames, exclude
 * each other. */
#ifndef TK_STORE_LOCK_H
#define TK_STORE_LOCK_H
#include <stdbool.h>

struct tk_error;
struct tk_lock;
struct tk_rows;
struct tk_store;

/* Of the history at `path`, which need not exist. TK_EBUSY: another process holds it. Release it
 * with tk_lock_release(). */
int tk_store_lock(const char *path, struct tk_lock **out, struct tk_error *err);

/* Whether a process holds the lock of this history. */
bool tk_store_is_locked(struct tk_store *s);

/* Marks a `running` night that no process is executing as `stopped`. The history does not record
 * that a night was killed; the lock of the executing process shows it, and only the newest
 * unfinished night can be executing. `confirm` and `bisect` take the same lock: while one of them
 * runs, that night still counts as running. nights: newest first. */
void tk_store_mark_stopped(struct tk_store *s, struct tk_rows *nights);

#endif
