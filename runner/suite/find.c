/* Suites by name: in <root>/suites first, then among those that come with the tracker. */
#include "suite/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/try.h"
#include "suite/names.h"
#include "suite/suite.h"

static const char *const endings[] = {".yml", ".yaml", ".json"};

static const char *find_ending(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
		size_t n = strlen(endings[i]);

		if (len > n && strcmp(name + len - n, endings[i]) == 0)
			return endings[i];
	}
	return NULL;
}

/* *path: <folder>/suites/<name>.<ending>; NULL if there is no such file. */
static void find_in_folder(const char *folder, const char *name, char **path)
{
	*path = NULL;
	for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
		AUTO_TEXT file = tk_sprintf("%s%s", name, endings[i]);
		char *full = tk_path_join3(folder, "suites", file);
		if (tk_file_exists(full)) {
			*path = full;
			return;
		}
		free(full);
	}
}

static int unknown_suite(const char *root, const char *name, struct tk_error *err)
{
	char **names = NULL, shown[TK_TEXT_EXCERPT_SIZE], hint[TK_SUGGEST_HINT_SIZE] = "";
	size_t count = 0;
	const char **known;

	if (tk_suite_list_names(root, &names, &count, NULL))
		count = 0;
	known = tk_calloc(count + 1, sizeof *known);
	for (size_t i = 0; i < count; i++)
		known[i] = names[i];
	tk_suggest_hint(name, known, NULL, hint);
	tk_fail(err, TK_ENOTFOUND, "unknown suite \"%s\"%s%s", tk_text_format_excerpt(name, shown),
	        hint, count && !tk_suggest_name(name, known) ? ", or a path" : "");
	free(known);
	tk_names_free(names, count);
	return TK_ENOTFOUND;
}

bool tk_suite_name_is_path(const char *name)
{
	return strchr(name, '/') || find_ending(name);
}

int tk_suite_find_file(const char *root, const char *name, char **path, struct tk_error *err)
{
	char *found = NULL;

	if (tk_suite_name_is_path(name)) {
		found = tk_path_resolve(root, name);
		if (!tk_file_exists(found)) {
			free(found);
			return tk_fail(err, TK_ENOTFOUND, "no such suite file: %s", name);
		}
	} else {
		find_in_folder(root, name, &found);
		if (!found)
			find_in_folder(tk_path_data_dir(), name, &found);
		if (!found)
			return unknown_suite(root, name, err);
	}
	*path = found;
	return TK_OK;
}

static bool shorten(char *file)
{
	const char *ending = find_ending(file);

	if (ending)
		file[strlen(file) - strlen(ending)] = '\0';
	return ending;
}

int tk_suite_list_names(const char *root, char ***names, size_t *count, struct tk_error *err)
{
	return tk_suite_folder_list_names(root, "suites", shorten, names, count, err);
}
