/* "did you mean ...?": the nearest of some known names by Damerau-Levenshtein distance. */
#ifndef TK_BASE_SUGGEST_H
#define TK_BASE_SUGGEST_H
#include <stddef.h>

/* NULL if none is near (distance over 2 and over a third of the length). `names` is
 * NULL-terminated. */
const char *tk_suggest_name(const char *name, const char *const *names);

/* The end of a message about an unknown name: `; did you mean "NEAR"?`, or, where none is near,
 * `otherwise`, or where that is NULL, `; expected one of A, B, C`. Returns `out`. */
#define TK_SUGGEST_HINT_SIZE 640
const char *tk_suggest_hint(const char *name, const char *const *names, const char *otherwise,
        char out[TK_SUGGEST_HINT_SIZE]);

/* "A, B or C", for a message about a word of a short list. Returns `out`. */
const char *tk_suggest_list(const char *const *names, char out[TK_SUGGEST_HINT_SIZE]);

#endif
