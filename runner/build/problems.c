/* The problems that an adapter compiles kernels for: part of the key, and a file for its
 * `build`. */
#include "base/error.h"
#include "base/file.h"
#include "base/try.h"
#include "build/build_internal.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

void tk_build_problems_hash(struct tk_hash *h, const char *const *problems)
{
	if (!problems)
		return; /* keys of other adapters stay as they are */
	tk_hash_add_str(h, "problems");
	for (; *problems; problems++)
		tk_hash_add_str(h, *problems);
}

int tk_build_problems_write(const char *const *problems, const char *path, struct tk_error *err)
{
	json_t *root = json_object(), *list = json_array();
	for (; problems && *problems; problems++)
		json_array_append_new(list, json_string(*problems));
	json_object_set_new(root, "problems", list);
	AUTO_TEXT text = json_dumps(root, JSON_INDENT(1));
	int status = tk_file_write_nosync(path, text, strlen(text), err);
	json_decref(root);
	return status;
}
