/* "did you mean ...?": the nearest of some known names by Damerau-Levenshtein distance. */
#ifndef TK_BASE_SUGGEST_H
#define TK_BASE_SUGGEST_H
#include <stddef.h>

/* NULL if none is near (distance over 2 and over a third of the length). `names` is
 * NULL-terminated. */
const char *tk_suggest_name(const char *name, const char *const *names);

#endif
