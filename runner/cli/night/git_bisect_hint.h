/* The lines that `diff --culprit` and `bisect` offer: what git can be asked about a range of
 * revisions. */
#ifndef TK_GIT_BISECT_HINT_H
#define TK_GIT_BISECT_HINT_H
#include <stdio.h>

struct tk_config;
struct tk_globals;

/* `git -C CLONE log` of a range and a ready `git bisect run tracker bisect-step ...`, each behind
 * `indent`. Revisions and names come from histories: what a shell would take for more than a word
 * is quoted. */
void tk_git_bisect_hint_print(FILE *out, const char *indent, const struct tk_globals *g,
        const struct tk_config *config, const char *upstream, const char *series, const char *good,
        const char *bad);

#endif
