/* See names.h. */
#include "suite/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"

static bool is_listed(char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* Appends the names of root/folder that are not there yet. */
static int add_names(const char *root, const char *folder, bool (*shorten)(char *file),
        char ***names, size_t *count, struct tk_error *err)
{
	char *dir = tk_path_join(root, folder), **files = NULL;
	size_t n = 0;
	int status = TK_OK;

	if (!status && tk_dir_exists(dir))
		status = tk_dir_list(dir, &files, &n, err);
	*names = tk_realloc(*names, (*count + n + 1) * sizeof **names);
	for (size_t i = 0; !status && i < n; i++) {
		if (!shorten(files[i]) || is_listed(*names, *count, files[i]))
			continue;
		(*names)[(*count)++] = tk_strdup(files[i]);
	}
	tk_names_free(files, n);
	free(dir);
	return status;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int tk_suite_folder_list_names(const char *root, const char *folder, bool (*shorten)(char *file),
        char ***names, size_t *count, struct tk_error *err)
{
	char **all = NULL;
	size_t n = 0;
	int status = add_names(root, folder, shorten, &all, &n, err);

	if (!status)
		status = add_names(tk_path_data_dir(), folder, shorten, &all, &n, err);
	if (status) {
		tk_names_free(all, n);
		return status;
	}
	qsort(all, n, sizeof *all, compare_names);
	*names = all;
	*count = n;
	return TK_OK;
}
