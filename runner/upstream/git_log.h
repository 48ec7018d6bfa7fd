/* `git log` output -> struct tk_revision. Internal to runner/upstream/. */
#ifndef TK_UPSTREAM_GIT_LOG_H
#define TK_UPSTREAM_GIT_LOG_H
#include <stddef.h>

struct tk_error;
struct tk_revision;

/* The argument of --format; with -z every field of every record ends with NUL. */
#define TK_GIT_LOG_FORMAT "--format=tformat:%H%x00%P%x00%at%x00%ct%x00%an%x00%s"

/* Parses the whole output. *out (caller frees) is NULL if there are no records. Positions are left
 * 0. */
int tk_git_log_parse(const char *data, size_t len, struct tk_revision **out, size_t *count,
        struct tk_error *err);

#endif
