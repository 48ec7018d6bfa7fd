/* GPUs as the system shows them, and why a tracker has no modules for them. */
#include "cli/host/survey.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

static const struct gpu_kind {
	const char *kind, *vendor;
	const char *nodes[4]; /* patterns; one that exists is enough */
} gpu_kinds[] = {
        {"cuda", "NVIDIA", {"/proc/driver/nvidia/gpus/*", "/dev/nvidia[0-9]*", "/dev/dxg", NULL}},
        {"hip", "AMD", {"/dev/kfd", NULL}},
};

static const struct gpu_kind *find_kind(const char *kind)
{
	for (size_t i = 0; i < sizeof gpu_kinds / sizeof *gpu_kinds; i++)
		if (strcmp(gpu_kinds[i].kind, kind) == 0)
			return &gpu_kinds[i];
	return NULL;
}

/* $TRACKER_SYSROOT is for tests: a folder with another /dev and /proc. */
static bool node_exists(const char *pattern)
{
	const char *root = getenv("TRACKER_SYSROOT");
	char *path;
	glob_t found = {0};
	bool exists;

	if (asprintf(&path, "%s%s", root ? root : "", pattern) < 0)
		return false;
	exists = glob(path, 0, NULL, &found) == 0 && found.gl_pathc > 0;
	globfree(&found);
	free(path);
	return exists;
}

bool tk_gpu_is_present(const char *kind)
{
	const struct gpu_kind *k = find_kind(kind);

	for (size_t i = 0; k && k->nodes[i]; i++)
		if (node_exists(k->nodes[i]))
			return true;
	return false;
}

/* The build writes KIND.txt beside the modules: why there are none, and what builds them. */
static bool read_build_note(const struct tk_modules *modules, const char *kind, struct tk_buf *text)
{
	char name[32], *path;
	bool ok;

	snprintf(name, sizeof name, "%s.txt", kind);
	path = modules ? tk_path_join(modules->dir, name) : NULL;
	ok = path && tk_file_read(path, 4096, text, NULL) == 0 && text->len > 1;
	free(path);
	return ok;
}

void tk_gpu_explain_missing(const struct tk_modules *modules, const char *kind, struct tk_buf *out)
{
	const struct gpu_kind *k = find_kind(kind);
	struct tk_buf note = TK_BUF_INIT;
	char *fix;

	tk_buf_add_printf(out, "%s: this tracker has no modules for %s GPUs: ", kind,
	        k ? k->vendor : "these");
	if (!read_build_note(modules, kind, &note)) {
		tk_buf_add_str(out, "they were not built; build the tracker again where the "
		                    "vendor's compiler is installed (`ci/quickstart`)");
	} else {
		fix = strchr(note.data, '\n');
		if (fix)
			*fix++ = '\0';
		tk_buf_add_str(out, note.data);
		if (fix && *fix)
			tk_buf_add_printf(out, "; %.*s", (int)strcspn(fix, "\n"), fix);
	}
	tk_buf_free(&note);
}
