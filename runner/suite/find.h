/* The file of a suite. */
#ifndef TK_SUITE_FIND_H
#define TK_SUITE_FIND_H

#include <stdbool.h>

struct tk_error;

bool tk_suite_name_is_path(const char *name);
/* A name with a slash or with the ending .yml, .yaml or .json is a path from root. TK_ENOTFOUND:
 * the message suggests a name. *path is the caller's. */
int tk_suite_find_file(const char *root, const char *name, char **path, struct tk_error *err);

#endif
