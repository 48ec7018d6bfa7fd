/* Paths as text: only getcwd and tk_path_data_dir access the disk. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"

char *tk_path_join(const char *a, const char *b)
{
	size_t n = strlen(a);
	char *out;

	if (*b == '/' || n == 0)
		return tk_strdup(b);
	if (asprintf(&out, a[n - 1] == '/' ? "%s%s" : "%s/%s", a, b) < 0)
		return NULL;
	return out;
}

char *tk_path_join3(const char *a, const char *b, const char *c)
{
	char *ab = tk_path_join(a, b), *out = ab ? tk_path_join(ab, c) : NULL;

	free(ab);
	return out;
}

/* Appends the components of `path` to the absolute path in `out`, taking . and .. by their letters.
 */
static void append_components(struct tk_buf *out, const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && path[0] == '.' && path[1] == '.') {
			while (out->len > 0 && out->data[--out->len] != '/')
				;
		} else if (n > 0 && !(n == 1 && path[0] == '.')) {
			tk_buf_add_char(out, '/');
			tk_buf_add(out, path, n);
		}
		path += n + (path[n] == '/');
	}
}

char *tk_path_make_absolute(const char *path)
{
	struct tk_buf out = TK_BUF_INIT;
	char cwd[PATH_MAX];

	if (*path != '/') {
		if (!getcwd(cwd, sizeof cwd))
			return NULL;
		append_components(&out, cwd);
	}
	append_components(&out, path);
	if (out.len == 0)
		tk_buf_add_char(&out, '/');
	return tk_buf_detach(&out, NULL);
}

#define SLUG_MAX 80
#define SLUG_HASH 10

static bool slug_char(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '-';
}

char *tk_path_make_slug(const char *name)
{
	struct tk_buf out = TK_BUF_INIT;
	char hex[TK_HASH_HEX_SIZE];
	size_t n = strlen(name), keep = n > SLUG_MAX ? SLUG_MAX - SLUG_HASH - 1 : n;
	/* A name that starts with a dot or a dash would be hidden, or an option. */
	bool changed = n > SLUG_MAX || n == 0 || *name == '.' || *name == '-';

	for (size_t i = 0; i < keep; i++)
		changed = changed || !slug_char(name[i]);
	if (!changed)
		return tk_strdup(name);
	if (keep > SLUG_MAX - SLUG_HASH - 1)
		keep = SLUG_MAX - SLUG_HASH - 1;
	for (size_t i = 0; i < keep; i++)
		tk_buf_add_char(
		        &out, slug_char(name[i]) && !(i == 0 && (name[i] == '.' || name[i] == '-'))
		                      ? name[i]
		                      : '_');
	tk_hash_bytes(name, n, hex);
	tk_buf_add_printf(&out, out.len ? "-%.*s" : "_%.*s", SLUG_HASH, hex);
	return tk_buf_detach(&out, NULL);
}

char *tk_path_cache_dir(const char *sub)
{
	const char *own = getenv("TRACKER_CACHE"), *xdg = getenv("XDG_CACHE_HOME"),
	           *home = getenv("HOME");

	if (own && *own)
		return tk_path_join(own, sub);
	if (xdg && *xdg == '/')
		return tk_path_join3(xdg, "tracker", sub);
	return tk_path_join3(home && *home ? home : "/tmp", ".cache/tracker", sub);
}

char *tk_path_resolve(const char *root, const char *text)
{
	const char *home = getenv("HOME");
	bool in_home = strncmp(text, "~/", 2) == 0 && home && *home;
	char *joined = in_home ? tk_path_join(home, text + 2) : tk_path_join(root, text);
	char *absolute = joined ? tk_path_make_absolute(joined) : NULL;

	free(joined);
	return absolute;
}

/* Cuts the last component off; "" when there is none left. */
static void cut_component(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash)
		*slash = '\0';
}

/* ../share/tracker from the program: where `cmake --install` puts the data. Computed once. */
static const char *installed_dir(void)
{
	static const char share[] = "/share/tracker";
	static char path[PATH_MAX];
	char program[PATH_MAX - sizeof share] = "";

	if (*path)
		return path;
	if (readlink("/proc/self/exe", program, sizeof program - 1) > 0) {
		cut_component(program);
		cut_component(program);
	}
	snprintf(path, sizeof path, "%s%s", program, share);
	return path;
}

const char *tk_path_data_dir(void)
{
	const char *chosen = getenv("TRACKER_DATADIR");

	if (chosen && *chosen)
		return chosen;
	return tk_dir_exists(installed_dir()) ? installed_dir() : TK_BUILT_DATADIR;
}
