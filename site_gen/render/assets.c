/* Copies the assets of the templates and of npm. */
#include "site_gen/render/assets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "site_gen/render/output.h"

#define FILE_BYTES_MAX ((size_t)8 << 20)
#define FONT_FILE "inter-latin-wght-normal.woff2" /* as in templates/assets/font.css */

static char *program_folder(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	if (n <= 0)
		return NULL;
	path[n] = 0;
	char *slash = strrchr(path, '/');
	return slash ? strndup(path, (size_t)(slash - path)) : NULL;
}

/* NULL: none. */
static char *find_third_party(void)
{
	const char *given = getenv("TRACKER_ASSETS");
	if (given)
		return *given ? strdup(given) : NULL;
	char *folder = program_folder();
	static const char *const places[] = {"assets", "../share/tracker/assets"};
	char *found = NULL;
	for (size_t i = 0; folder && !found && i < sizeof places / sizeof *places; i++) {
		char *path = tk_path_join(folder, places[i]);
		if (path && tk_dir_exists(path))
			found = path;
		else
			free(path);
	}
	free(folder);
	return found;
}

static int copy_one(struct tk_output *out, const char *dir, const char *name, struct tk_hash *hash,
        struct tk_error *err)
{
	char *from = tk_path_join(dir, name), to[300];
	struct tk_buf text = TK_BUF_INIT;
	snprintf(to, sizeof to, "assets/%s", name);
	int status = from ? tk_file_read(from, FILE_BYTES_MAX, &text, err)
	                  : tk_fail(err, TK_ENOMEM, "out of memory");
	if (!status) {
		tk_hash_add_str(hash, name);
		tk_hash_add(hash, tk_buf_cstr(&text), text.len);
		if (out)
			status = tk_output_put(out, to, &text, err);
	}
	tk_buf_free(&text);
	free(from);
	return status;
}

static bool is_asset(const char *name)
{
	static const char *const suffixes[] = {".css", ".js", ".svg", ".txt", ".woff2"};
	const char *dot = strrchr(name, '.');
	for (size_t i = 0; dot && dot != name && i < sizeof suffixes / sizeof *suffixes; i++)
		if (!strcmp(dot, suffixes[i]))
			return true;
	return false;
}

static int copy_folder(struct tk_output *out, const char *dir, struct tk_hash *hash,
        struct tk_asset_packages *packages, struct tk_error *err)
{
	char **names = NULL;
	size_t count = 0;
	int status = tk_dir_list(dir, &names, &count, err);
	for (size_t i = 0; !status && i < count; i++) {
		if (!is_asset(names[i]))
			continue;
		status = copy_one(out, dir, names[i], hash, err);
		if (!strcmp(names[i], "chart.umd.min.js"))
			packages->charts = true;
		else if (!strcmp(names[i], FONT_FILE))
			packages->font = true;
	}
	tk_names_free(names, count);
	return status;
}

int tk_assets_copy(struct tk_output *out, const char *templates_dir, const char *third_party,
        struct tk_asset_packages *packages, char hex[TK_HASH_HEX_SIZE], struct tk_error *err)
{
	char *own = tk_path_join(templates_dir, "assets"),
	     *others =
	             third_party ? (*third_party ? strdup(third_party) : NULL) : find_third_party();
	struct tk_hash *hash = tk_hash_new();
	*packages = (struct tk_asset_packages){0};
	int status = own && hash ? copy_folder(out, own, hash, packages, err)
	                         : tk_fail(err, TK_ENOMEM, "out of memory");
	if (!status && others)
		status = copy_folder(out, others, hash, packages, err);
	if (!status) {
		tk_hash_finish(hash, hex);
		hash = NULL;
	}
	tk_hash_free(hash);
	free(own);
	free(others);
	return status;
}
