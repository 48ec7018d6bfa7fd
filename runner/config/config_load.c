/* tracker.yml -> struct tk_config: the default text first, the user's file over it, then the checks
 * that need the whole. So the default text is the one place that says what a default is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "config/config_keys.h"
#include "config/yaml_tree.h"

#define FILE_MAX ((size_t)1 << 20)

static void free_words(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

static void free_upstreams(struct tk_upstream_config *u, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *texts[] = {u[i].name, u[i].url, u[i].branch, u[i].path, u[i].adapter,
		        u[i].options, u[i].cmake_args};

		for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++)
			free(texts[t]);
		free_words(u[i].backends);
	}
	free(u);
}

void tk_config_free(struct tk_config *c)
{
	if (!c)
		return;
	char *texts[] = {c->path, c->root, c->machine, c->control.upstream, c->control.backend,
	        c->control.problem, c->db, c->site_dir, c->site_title, c->cache_dir,
	        c->adapter_path, c->commit_url, c->webhook_url, c->site_url, c->acks_path,
	        c->thresholds.baseline};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		free(texts[i]);
	free_upstreams(c->upstreams, c->upstream_count);
	free_words(c->devices);
	free_words(c->suites);
	free_words(c->fail_on);
	free_words(c->measure.modes);
	free(c);
}

/* ---- one document over what is there ---- */

struct layer {
	const struct tk_yaml *y;
	const struct tk_raw *raw;
	struct tk_config *c;
	struct tk_error *err;
};

/* The scalars of one mapping: row i is pointer i of `raw`. `section` is "" for the top level. */
static int apply_scalars(const struct layer *l, int map, const char *section,
        const struct tk_config_key *keys, char *const *raw, void *base)
{
	int status = TK_OK;

	for (size_t i = 0; !status && keys[i].name; i++) {
		int node = tk_yaml_find(l->y, map, keys[i].name);
		char what[128];

		if (!raw[i] || tk_yaml_is_empty(l->y, node))
			continue;
		snprintf(what, sizeof what, "%s%s%s", section, *section ? "." : "", keys[i].name);
		status = tk_config_read_value(
		        l->y, node, what, &keys[i], l->c->root, raw[i], base, l->err);
	}
	return status;
}

static int copy_words(char *const *from, size_t count, char ***out, struct tk_error *err)
{
	char **words = calloc(count + 1, sizeof *words);

	for (size_t i = 0; words && i < count; i++)
		if (!(words[i] = strdup(from[i]))) {
			free_words(words);
			words = NULL;
		}
	if (!words)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	free_words(*out);
	*out = words;
	return TK_OK;
}

/* A list of words of the file replaces the one that is there. */
static int apply_words(const struct layer *l, int map, const char *key, char *const *raw,
        unsigned count, const char *allowed, char ***out)
{
	int node = tk_yaml_find(l->y, map, key);
	char shown[80];

	if (!node)
		return TK_OK;
	for (unsigned i = 0; i < count; i++)
		if (!*raw[i] || strlen(raw[i]) > 1024 ||
		        (allowed && raw[i][strspn(raw[i], allowed)]))
			return tk_yaml_fail(l->y, tk_yaml_item(l->y, node, i), l->err,
			        "%s has `%s`, expected a name of %s", key,
			        tk_yaml_format_excerpt(raw[i], shown),
			        allowed ? "letters, digits and .:_-" : "at most 1024 bytes");
	return copy_words(raw, count, out, l->err);
}

#define NAME_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-"

/* A git upstream has to say which adapter builds it. */
static int default_adapter(struct tk_upstream_config *u, struct tk_error *err)
{
	const char *adapter = u->kind == TK_UPSTREAM_SELF     ? "self"
	                      : u->kind == TK_UPSTREAM_SYSTEM ? u->name
	                                                      : NULL;

	if (u->adapter || !adapter)
		return TK_OK;
	u->adapter = strdup(adapter);
	return u->adapter ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory");
}

static int apply_upstream(const struct layer *l, int node, const struct tk_raw_upstream *raw,
        struct tk_upstream_config *u)
{
	int status;

	u->enabled = true;
	u->submodules = true;
	if (!raw->name || !*raw->name)
		return tk_yaml_fail(
		        l->y, node, l->err, "an upstream has no name, expected `name: NAME`");
	if (!raw->kind || !*raw->kind)
		return tk_yaml_fail(l->y, node, l->err,
		        "upstream `%s` has no kind, expected `kind:` self, git, system or builtin",
		        raw->name);
	status = apply_scalars(
	        l, node, "upstreams", tk_config_upstream_keys, (char *const *)(const void *)raw, u);
	if (!status)
		status = copy_words(NULL, 0, &u->backends, l->err);
	if (!status)
		status = apply_words(l, node, "backends", raw->backends, raw->backends_count,
		        NAME_CHARACTERS, &u->backends);
	return status ? status : default_adapter(u, l->err);
}

static int apply_upstreams(const struct layer *l, int node)
{
	unsigned count = l->raw->upstreams_count;
	struct tk_upstream_config *u;
	int status = TK_OK;

	if (!node)
		return TK_OK;
	u = calloc(count + 1, sizeof *u);
	if (!u)
		return tk_fail(l->err, TK_ENOMEM, "out of memory");
	for (unsigned i = 0; !status && i < count; i++)
		status = apply_upstream(
		        l, tk_yaml_item(l->y, node, i), &l->raw->upstreams[i], &u[i]);
	if (status) {
		free_upstreams(u, count);
		return status;
	}
	free_upstreams(l->c->upstreams, l->c->upstream_count);
	l->c->upstreams = u;
	l->c->upstream_count = count;
	return TK_OK;
}

static int apply_sections(const struct layer *l, int root)
{
	int status = TK_OK;

	for (const struct tk_config_section *s = tk_config_sections; !status && s->name; s++) {
		char *const *raw =
		        *(char *const **)(const void *)((const char *)l->raw + s->raw_offset);

		if (raw)
			status = apply_scalars(
			        l, tk_yaml_find(l->y, root, s->name), s->name, s->keys, raw, l->c);
	}
	return status;
}

static int apply(const struct layer *l)
{
	const struct tk_raw *raw = l->raw;
	int root = tk_yaml_root(l->y);
	int status = apply_scalars(
	        l, root, "", tk_config_top_keys, (char *const *)(const void *)raw, l->c);

	if (!status)
		status = apply_words(l, root, "devices", raw->devices, raw->devices_count,
		        NAME_CHARACTERS, &l->c->devices);
	if (!status)
		status = apply_words(
		        l, root, "suites", raw->suites, raw->suites_count, NULL, &l->c->suites);
	if (!status && raw->measure)
		status = apply_words(l, tk_yaml_find(l->y, root, "measure"), "modes",
		        raw->measure->modes, raw->measure->modes_count, NAME_CHARACTERS,
		        &l->c->measure.modes);
	if (!status && raw->notify)
		status = apply_words(l, tk_yaml_find(l->y, root, "notify"), "fail_on",
		        raw->notify->fail_on, raw->notify->fail_on_count, NAME_CHARACTERS,
		        &l->c->fail_on);
	if (!status)
		status = apply_upstreams(l, tk_yaml_find(l->y, root, "upstreams"));
	return status ? status : apply_sections(l, root);
}

/* Lays one text over c; *y is the caller's to free, also after a failure. */
static int lay_over(struct tk_config *c, const char *name, const char *text, size_t len,
        struct tk_yaml **y, struct tk_error *err)
{
	struct tk_raw *raw = NULL;
	int status = tk_yaml_parse(name, text, len, y, err);

	if (!status)
		status = tk_raw_load(*y, text, len, &raw, err);
	if (!status)
		status = apply(&(struct layer){*y, raw, c, err});
	tk_raw_free(raw);
	return status;
}

/* ---- what the default text cannot say ---- */

static int default_machine(struct tk_config *c, struct tk_error *err)
{
	char host[256] = "";

	if (c->machine)
		return TK_OK;
	if (gethostname(host, sizeof host - 1) || !*host)
		snprintf(host, sizeof host, "localhost");
	c->machine = strdup(host);
	return c->machine ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory");
}

static int default_cache(struct tk_config *c, struct tk_error *err)
{
	char *folder = tk_path_cache_dir("");

	c->cache_dir = folder ? tk_path_make_absolute(folder) : NULL;
	free(folder);
	return c->cache_dir ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory");
}

static int finish(struct tk_config *c, const struct tk_yaml *y, struct tk_error *err)
{
	int status = default_machine(c, err);

	if (!status && !c->cache_dir)
		status = default_cache(c, err);
	if (!status)
		status = tk_config_check(c, y, err);
	return status ? status : tk_config_hash(c, err);
}

/* The folder that relative paths of the file start from: the file's own. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash != path ? strndup(path, (size_t)(slash - path)) : strdup("/");
}

/* Sets c->path (NULL: there is no file, use the default) and c->root. */
static int find_file(struct tk_config *c, const char *root, const char *path, struct tk_error *err)
{
	char *base = tk_path_make_absolute(root ? root : "."),
	     *file = base ? tk_path_join(base, path ? path : "tracker.yml") : NULL;
	char *absolute = file ? tk_path_make_absolute(file) : NULL;
	int status = absolute ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory");

	free(file);
	if (!status && (path || tk_file_exists(absolute))) {
		c->path = absolute;
		c->root = folder_of(absolute);
		free(base);
	} else {
		c->root = base;
		free(absolute);
	}
	if (!status && !c->root)
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	return status;
}

/* A file that is not there or too large is the user's mistake, not the system's. */
static int read_file(const char *path, struct tk_buf *text, struct tk_error *err)
{
	struct tk_error why = {0};
	int status = tk_file_read(path, FILE_MAX, text, &why);

	if (!status)
		return TK_OK;
	return tk_fail(err, status == TK_ENOMEM || status == TK_EIO ? status : TK_ECONFIG, "%s",
	        why.message);
}

/* The default text, the user's text over it where there is one, the checks. c->root is set. */
static int load_text(
        struct tk_config *c, const char *name, const char *text, size_t len, struct tk_error *err)
{
	struct tk_yaml *defaults = NULL, *file = NULL;
	const char *shipped = tk_config_default_text();
	int status =
	        lay_over(c, "the default configuration", shipped, strlen(shipped), &defaults, err);

	if (!status && text)
		status = lay_over(c, name, text, len, &file, err);
	if (!status)
		status = finish(c, file ? file : defaults, err);
	tk_yaml_free(defaults);
	tk_yaml_free(file);
	return status;
}

int tk_config_load_text(const char *root, const char *name, const char *text, size_t len,
        struct tk_config **out, struct tk_error *err)
{
	struct tk_config *c = calloc(1, sizeof *c);
	int status =
	        c && (c->root = strdup(root)) ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory");

	if (!status)
		status = load_text(c, name, text, len, err);
	if (status)
		tk_config_free(c);
	else
		*out = c;
	return status;
}

int tk_config_load(const char *root, const char *path, struct tk_config **out, struct tk_error *err)
{
	struct tk_config *c = calloc(1, sizeof *c);
	struct tk_buf text = TK_BUF_INIT;
	int status = c ? find_file(c, root, path, err) : tk_fail(err, TK_ENOMEM, "out of memory");

	if (!status && c->path)
		status = read_file(c->path, &text, err);
	if (!status)
		status = load_text(c, path ? path : "tracker.yml",
		        c->path ? tk_buf_cstr(&text) : NULL, text.len, err);
	if (status)
		tk_config_free(c);
	else
		*out = c;
	tk_buf_free(&text);
	return status;
}
