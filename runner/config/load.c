/* Finding and reading the file, and the defaults below it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include "base/yaml.h"
#include "config/config.h"
#include "config/defaults.h"
#include "config/internal.h"
#include "config/keys.h"
#include "config/value.h"

#define FILE_MAX ((size_t)1 << 20)

static void clear_keys(const struct tk_config_key *keys, void *base)
{
	for (; keys->name; keys++)
		tk_config_clear(keys, base);
}

const struct tk_config_section *tk_config_find_section(const char *name)
{
	const struct tk_config_section *s = tk_config_sections;

	while (strcmp(s->name, name) != 0)
		s++;
	return s;
}

static const struct tk_config_key *upstream_keys(void)
{
	return tk_config_find_section("upstreams")->keys;
}

bool tk_config_is_list_section(const struct tk_config_section *s)
{
	return s->keys == upstream_keys();
}

void tk_config_free_upstreams(struct tk_upstream_config *u, size_t count)
{
	for (size_t i = 0; i < count; i++)
		clear_keys(upstream_keys(), &u[i]);
	free(u);
}

void tk_config_free(struct tk_config *c)
{
	if (!c)
		return;
	for (const struct tk_config_section *s = tk_config_sections; s->name; s++)
		if (!tk_config_is_list_section(s))
			clear_keys(s->keys, c);
	tk_config_free_upstreams(c->upstreams, c->upstream_count);
	free(c->path);
	free(c->root);
	free(c);
}

int tk_config_set_defaults(
        const struct tk_config_key *keys, const char *root, void *base, struct tk_error *err)
{
	for (; keys->name; keys++)
		TRY(tk_config_set_default(keys, root, base, err));
	return TK_OK;
}

/* The upstreams of a file that has no list of its own: those of the default file of a machine that
 * nobody has looked at. */
static int set_default_upstreams(struct tk_config *c, struct tk_error *err)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	struct tk_yaml *y = NULL;

	tk_buf_add_str(&text, "upstreams:\n");
	tk_config_write_default_upstreams(&text, NULL);
	int status = tk_buf_status(&text, err);

	if (!status)
		status = tk_yaml_parse("default upstreams", tk_buf_cstr(&text), text.len, &y, err);
	if (!status)
		status = tk_config_apply(y, c, err);
	tk_yaml_free(y);
	return status;
}

static int set_all_defaults(struct tk_config *c, struct tk_error *err)
{
	for (const struct tk_config_section *s = tk_config_sections; s->name; s++)
		if (!tk_config_is_list_section(s))
			TRY(tk_config_set_defaults(s->keys, c->root, c, err));
	return set_default_upstreams(c, err);
}

/* The machine's name and the cache depend on the host. */
static void set_host_defaults(struct tk_config *c)
{
	char host[256] = "";

	if (!c->machine) {
		if (gethostname(host, sizeof host - 1) || !*host)
			snprintf(host, sizeof host, "localhost");
		c->machine = tk_strdup(host);
	}
	if (!c->cache_dir) {
		char *folder = tk_path_cache_dir("");

		c->cache_dir = folder ? tk_path_make_absolute(folder) : NULL;
		free(folder);
	}
}

/* The folder that relative paths of the file start from: the file's own. */
static char *parent_dir(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash != path ? tk_strndup(path, (size_t)(slash - path)) : tk_strdup("/");
}

/* Sets c->path (NULL: there is no file, use the default) and c->root. */
static int find_file(struct tk_config *c, const char *root, const char *path, struct tk_error *err)
{
	char *base = tk_path_make_absolute(root ? root : "."),
	     *file = base ? tk_path_join(base, path ? path : "tracker.yml") : NULL;
	char *absolute = file ? tk_path_make_absolute(file) : NULL;
	int status = TK_OK;

	free(file);
	if (!status && (path || tk_file_exists(absolute))) {
		c->path = absolute;
		c->root = parent_dir(absolute);
		free(base);
	} else {
		c->root = base;
		free(absolute);
	}
	return status;
}

/* A file that is missing or too large is the user's mistake, not the system's. */
static int read_file(const char *path, struct tk_buf *text, struct tk_error *err)
{
	struct tk_error why = {0};
	int status = tk_file_read(path, FILE_MAX, text, &why);

	if (!status)
		return TK_OK;
	return tk_fail(err, status == TK_EIO ? status : TK_ECONFIG, "%s", why.message);
}

/* c->root is set. */
static int load_text(
        struct tk_config *c, const char *name, const char *text, size_t len, struct tk_error *err)
{
	struct tk_yaml *y = NULL;
	int status = tk_yaml_parse(name, text, len, &y, err);

	if (!status)
		status = tk_yaml_reject_aliases(y, text, len, err);
	if (!status)
		status = set_all_defaults(c, err);
	if (!status)
		status = tk_config_apply(y, c, err);
	if (!status)
		set_host_defaults(c);
	if (!status)
		status = tk_config_check(c, y, err);
	if (!status)
		status = tk_config_hash(c, err);
	tk_yaml_free(y);
	return status;
}

int tk_config_load_text(const char *root, const char *name, const char *text, size_t len,
        struct tk_config **out, struct tk_error *err)
{
	struct tk_config *c = tk_calloc(1, sizeof *c);
	c->root = tk_strdup(root);
	int status = load_text(c, name, text, len, err);
	if (status)
		tk_config_free(c);
	else
		*out = c;
	return status;
}

int tk_config_load(const char *root, const char *path, struct tk_config **out, struct tk_error *err)
{
	struct tk_config *c = tk_calloc(1, sizeof *c);
	AUTO(tk_buf) text = TK_BUF_INIT;
	int status = find_file(c, root, path, err);

	if (!status && c->path)
		status = read_file(c->path, &text, err);
	if (!status)
		status = load_text(
		        c, path ? path : "tracker.yml", tk_buf_cstr(&text), text.len, err);
	if (status)
		tk_config_free(c);
	else
		*out = c;
	return status;
}
