/* Names of what a folder beside tracker.yml and the folder of the same name of the tracker hold. */
#ifndef TK_SUITE_NAMES_H
#define TK_SUITE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct tk_error;

/* Sorted, each once. `shorten` cuts the name of a file down to the name of what it holds; false: it
 * holds nothing of the kind. The names are the caller's (tk_names_free). */
int tk_suite_folder_list_names(const char *root, const char *folder, bool (*shorten)(char *file),
        char ***names, size_t *count, struct tk_error *err);

#endif
