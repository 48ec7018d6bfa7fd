/* How to go on with git: printed by `diff --first-bad` and `bisect`. */
#ifndef TK_GIT_BISECT_HINT_H
#define TK_GIT_BISECT_HINT_H
#include <stdio.h>

struct tk_config;
struct tk_globals;

/* Prints the `git log` of a range and a ready `git bisect run tracker bisect-step ...`, each after
 * `indent`. Revisions and names come from histories, so they are quoted for the shell. */
void tk_git_bisect_hint_print(FILE *out, const char *indent, const struct tk_globals *g,
        const struct tk_config *config, const char *upstream, const char *series, const char *good,
        const char *bad);

#endif
