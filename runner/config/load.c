/* Finding and reading the file: the defaults, the document over them, what depends on the host. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/internal.h"

#define FILE_MAX ((size_t)1 << 20)
static void clear_keys(const struct tk_config_key *keys, void *base)
{
	for (; keys->name; keys++)
		tk_config_clear(keys, base);
}

/* The section has to exist. */
static const struct tk_config_section *find_section(const char *name)
{
	const struct tk_config_section *s = tk_config_sections;

	while (strcmp(s->name, name) != 0)
		s++;
	return s;
}

static const struct tk_config_key *upstream_keys(void)
{
	return find_section("upstreams")->keys;
}

bool tk_config_is_list_section(const struct tk_config_section *s)
{
	return s->keys == upstream_keys();
}

static void free_upstreams(struct tk_upstream_config *u, size_t count)
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
	free_upstreams(c->upstreams, c->upstream_count);
	free(c->path);
	free(c->root);
	free(c);
}

static int set_defaults(
        const struct tk_config_key *keys, const char *root, void *base, struct tk_error *err)
{
	for (; keys->name; keys++)
		TRY(tk_config_set_default(keys, root, base, err));
	return TK_OK;
}

/* ---- the document ---------------------------------------------------------------------------- */

#define KEYS_MAX 24
#define KEY_PATH_MAX 128

/* A mapping of the file on its way into the struct at `base`. */
struct mapping {
	const struct tk_yaml *y;
	int node;
	const struct tk_config_section *section;
	const char *root;
	void *base;
	struct tk_error *err;
};

static void name_key(
        const struct mapping *m, const struct tk_config_key *key, char path[KEY_PATH_MAX])
{
	snprintf(path, KEY_PATH_MAX, "%s%s%s", m->section->name, *m->section->name ? "." : "",
	        key->name);
}

static int apply_list(
        const struct mapping *m, const struct tk_config_key *key, const char *path, int node)
{
	const bool is_word = tk_yaml_kind(m->y, node) == TK_YAML_SCALAR;
	size_t count = is_word ? 1 : tk_yaml_count(m->y, node), bad = 0;
	const char **items = tk_calloc(count + 1, sizeof *items);
	struct tk_error why = {0};
	int status = TK_OK;

	for (size_t i = 0; !status && i < count; i++) {
		int item = is_word ? node : tk_yaml_item(m->y, node, i);

		items[i] = tk_yaml_text(m->y, item);
		if (tk_yaml_is_empty(m->y, item))
			status = tk_yaml_fail(m->y, item, m->err,
			        "an item of %s is empty; expected a value", path);
		else if (tk_yaml_kind(m->y, item) != TK_YAML_SCALAR)
			status = tk_yaml_fail(m->y, item, m->err,
			        "an item of %s is %s; expected a single value", path,
			        tk_yaml_kind_name(m->y, item));
	}
	if (!status && tk_config_set_list(key, items, count, m->base, &bad, &why))
		status = tk_yaml_fail(m->y, is_word ? node : tk_yaml_item(m->y, node, bad), m->err,
		        "%s: %s", path, why.message);
	free(items);
	return status;
}

/* The node of the key by its name or its former one; 0: the file has neither. */
static int find_key(const struct mapping *m, const struct tk_config_key *key, int *node)
{
	int former = key->former_name ? tk_yaml_find(m->y, m->node, key->former_name) : 0;

	*node = tk_yaml_find(m->y, m->node, key->name);
	if (*node && former)
		return tk_yaml_fail(m->y, former, m->err,
		        "\"%s\" is the former name of \"%s\", which is given too", key->former_name,
		        key->name);
	if (former)
		*node = former;
	return TK_OK;
}

static int apply_key(const struct mapping *m, const struct tk_config_key *key)
{
	int node, status = find_key(m, key, &node);
	bool list = tk_config_is_list(key);
	enum tk_yaml_kind expected = list ? TK_YAML_LIST : TK_YAML_SCALAR;
	struct tk_error why = {0};
	char path[KEY_PATH_MAX];

	if (status || !node || (!list && tk_yaml_is_empty(m->y, node)))
		return status;
	name_key(m, key, path);
	if (key->type == TK_CONFIG_PATHS && !tk_yaml_is_empty(m->y, node) &&
	        tk_yaml_kind(m->y, node) == TK_YAML_SCALAR)
		return apply_list(m, key, path, node);
	if (tk_yaml_kind(m->y, node) != expected)
		return tk_yaml_fail(m->y, node, m->err, "%s is %s; expected %s", path,
		        tk_yaml_kind_name(m->y, node),
		        list ? "a list, such as [a, b]" : "a single value");
	if (list)
		return apply_list(m, key, path, node);
	if (tk_config_set(key, tk_yaml_text(m->y, node), m->root, m->base, &why))
		return tk_yaml_fail(m->y, node, m->err, "%s: %s", path, why.message);
	return TK_OK;
}

/* The keys of the section; at the top of the file also the names of the other sections. */
static int check_key_names(const struct mapping *m)
{
	const char *known[KEYS_MAX + 1] = {0};
	size_t n = 0;

	for (const struct tk_config_key *key = m->section->keys; key->name && n < KEYS_MAX; key++) {
		known[n++] = key->name;
		if (key->former_name && n < KEYS_MAX)
			known[n++] = key->former_name;
	}
	for (const struct tk_config_section *s = tk_config_sections;
	        !*m->section->name && s->name && n < KEYS_MAX; s++)
		if (*s->name)
			known[n++] = s->name;
	return tk_yaml_check_keys(m->y, m->node, m->section->name, known, m->err);
}

static int apply_mapping(const struct mapping *m)
{
	if (tk_yaml_is_empty(m->y, m->node))
		return TK_OK;
	if (tk_yaml_kind(m->y, m->node) != TK_YAML_MAP)
		return tk_yaml_fail(m->y, m->node, m->err, "%s is %s; expected key: value lines",
		        *m->section->name ? m->section->name : "the file",
		        tk_yaml_kind_name(m->y, m->node));
	TRY(check_key_names(m));
	for (const struct tk_config_key *key = m->section->keys; key->name; key++)
		TRY(apply_key(m, key));
	return TK_OK;
}

static int apply_upstream(const struct mapping *m, struct tk_upstream_config *u)
{
	TRY(set_defaults(m->section->keys, m->root, u, m->err));
	TRY(apply_mapping(m));
	if (!u->name)
		return tk_yaml_fail(
		        m->y, m->node, m->err, "an upstream has no name; expected `name: NAME`");
	if (tk_yaml_is_empty(m->y, tk_yaml_find(m->y, m->node, "kind")))
		return tk_yaml_fail(m->y, m->node, m->err,
		        "upstream \"%s\" has no kind; expected self, git, package, system or "
		        "builtin",
		        u->name);
	/* A git upstream has to name its adapter. */
	if (!u->adapter && u->kind == TK_UPSTREAM_SELF)
		u->adapter = tk_strdup("self");
	if (!u->adapter && (u->kind == TK_UPSTREAM_SYSTEM || u->kind == TK_UPSTREAM_PACKAGE))
		u->adapter = tk_strdup(u->name);
	return TK_OK;
}

/* The list of the file replaces the default one. */
static int apply_upstreams(const struct mapping *top, struct tk_config *c)
{
	int node = tk_yaml_find(top->y, top->node, "upstreams"), status = TK_OK;
	size_t count = tk_yaml_count(top->y, node);
	struct tk_upstream_config *u;

	if (!node)
		return TK_OK;
	if (tk_yaml_kind(top->y, node) != TK_YAML_LIST)
		return tk_yaml_fail(top->y, node, top->err,
		        "upstreams is %s; expected a list of mappings",
		        tk_yaml_kind_name(top->y, node));
	u = tk_calloc(count + 1, sizeof *u);
	for (size_t i = 0; !status && i < count; i++)
		status = apply_upstream(
		        &(struct mapping){top->y, tk_yaml_item(top->y, node, i),
		                find_section("upstreams"), top->root, &u[i], top->err},
		        &u[i]);
	if (status) {
		free_upstreams(u, count);
		return status;
	}
	free_upstreams(c->upstreams, c->upstream_count);
	c->upstreams = u;
	c->upstream_count = count;
	return TK_OK;
}

static int apply(const struct tk_yaml *y, struct tk_config *c, struct tk_error *err)
{
	const struct mapping top = {y, tk_yaml_root(y), find_section(""), c->root, c, err};
	TRY(apply_mapping(&top));
	for (const struct tk_config_section *s = tk_config_sections; s->name; s++) {
		struct mapping m = top;

		m.node = tk_yaml_find(y, top.node, s->name);
		m.section = s;
		if (m.node && !tk_config_is_list_section(s))
			TRY(apply_mapping(&m));
	}
	return apply_upstreams(&top, c);
}

/* ---- the hash -------------------------------------------------------------------------------- */

static void hash_words(struct tk_hash *h, char *const *words)
{
	int64_t n = 0;

	while (words && words[n])
		n++;
	tk_hash_add_i64(h, n);
	for (int64_t i = 0; i < n; i++)
		tk_hash_add_str(h, words[i]);
}

static void hash_number(struct tk_hash *h, double v)
{
	tk_hash_add(h, &v, sizeof v);
}

static void hash_upstream(struct tk_hash *h, const struct tk_upstream_config *u)
{
	const char *texts[] = {
	        u->name, u->url, u->branch, u->path, u->adapter, u->options, u->cmake_args};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		tk_hash_add_str(h, texts[i]);
	tk_hash_add_i64(h, u->kind);
	tk_hash_add_i64(h, u->submodules[0] != NULL);
	if (u->submodules[0] && strcmp(u->submodules[0], "yes") != 0)
		hash_words(h, u->submodules);
	tk_hash_add_i64(h, u->enabled);
	hash_words(h, u->backends);
	if (u->configs[0] && (u->configs[1] || strcmp(u->configs[0], "default") != 0))
		hash_words(h, u->configs);
	if (u->is_tuned) /* without it, the hash of before this key */
		tk_hash_add_str(h, "tuned");
	if (u->kind == TK_UPSTREAM_PACKAGE) {
		const char *more[] = {u->package, u->index, u->extra_index, u->python};
		for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
			tk_hash_add_str(h, more[i]);
		tk_hash_add_i64(h, u->pre);
	}
}

/* The hash of the keys that decide what is measured, and how. Not in it: names of files and
 * pages, thresholds, retention, notification, and how long a night may take. */
static void set_hash(struct tk_config *c)
{
	const struct tk_measure_config *m = &c->measure;
	struct tk_hash *h = tk_hash_new();

	hash_words(h, c->devices);
	hash_words(h, c->suites);
	if (c->rotate[0]) /* else as before there was such a key */
		hash_words(h, c->rotate);
	tk_hash_add_i64(h, (int64_t)c->upstream_count);
	for (size_t i = 0; i < c->upstream_count; i++)
		hash_upstream(h, &c->upstreams[i]);
	hash_number(h, c->budgets.job_s);
	hash_number(h, c->budgets.measure_s);
	tk_hash_add_i64(h, (int64_t)c->budgets.job_memory_bytes);
	hash_number(h, m->relative_half_width);
	hash_number(h, m->confidence);
	const int64_t numbers[] = {m->min_samples, m->max_samples, m->threads, m->pin,
	        m->launch_cost, m->energy, m->memory, m->compile_time};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		tk_hash_add_i64(h, numbers[i]);
	hash_words(h, m->modes);
	tk_hash_add_str(h, c->control.upstream);
	tk_hash_add_str(h, c->control.backend);
	tk_hash_add_str(h, c->control.problem);
	tk_hash_add_i64(h, c->control.every);
	tk_hash_finish(h, c->hash);
}

/* ---- loading --------------------------------------------------------------------------------- */

/* The upstreams of a file that has no list of its own: those of the default file of a machine that
 * nobody has looked at. */
static int set_default_upstreams(struct tk_config *c, struct tk_error *err)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	AUTO_PTR(tk_yaml) y = NULL;

	tk_buf_add_str(&text, "upstreams:\n");
	tk_config_write_default_upstreams(&text, NULL);
	TRY(tk_yaml_parse("default upstreams", tk_buf_cstr(&text), text.len, &y, err));
	return apply(y, c, err);
}

static int set_all_defaults(struct tk_config *c, struct tk_error *err)
{
	for (const struct tk_config_section *s = tk_config_sections; s->name; s++)
		if (!tk_config_is_list_section(s))
			TRY(set_defaults(s->keys, c->root, c, err));
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
		AUTO_TEXT folder = tk_path_cache_dir("");

		c->cache_dir = tk_path_make_absolute(folder);
	}
}

/* The folder that relative paths of the file start from: the file's own. */
static char *parent_dir(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash != path ? tk_strndup(path, (size_t)(slash - path)) : tk_strdup("/");
}

/* Sets c->path (NULL: there is no file, use the default) and c->root. */
static void find_file(struct tk_config *c, const char *root, const char *path)
{
	char *base = tk_path_make_absolute(root ? root : ".");
	AUTO_TEXT file = tk_path_join(base, path ? path : "tracker.yml");

	if (!path && !tk_file_exists(file)) {
		c->root = base;
		return;
	}
	c->path = tk_path_make_absolute(file);
	c->root = parent_dir(c->path);
	free(base);
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
	AUTO_PTR(tk_yaml) y = NULL;
	TRY(tk_yaml_parse(name, text, len, &y, err));
	TRY(tk_yaml_reject_aliases(y, text, len, err));
	TRY(set_all_defaults(c, err));
	TRY(apply(y, c, err));
	set_host_defaults(c);
	TRY(tk_config_check(c, y, err));
	set_hash(c);
	return TK_OK;
}

static int finish(struct tk_config *c, int status, struct tk_config **out)
{
	if (status)
		tk_config_free(c);
	else
		*out = c;
	return status;
}

int tk_config_load_text(const char *root, const char *name, const char *text, size_t len,
        struct tk_config **out, struct tk_error *err)
{
	struct tk_config *c = tk_calloc(1, sizeof *c);

	c->root = tk_strdup(root);
	return finish(c, load_text(c, name, text, len, err), out);
}

int tk_config_load(const char *root, const char *path, struct tk_config **out, struct tk_error *err)
{
	struct tk_config *c = tk_calloc(1, sizeof *c);
	AUTO(tk_buf) text = TK_BUF_INIT;
	int status = TK_OK;

	find_file(c, root, path);
	if (c->path)
		status = read_file(c->path, &text, err);
	if (!status)
		status = load_text(
		        c, path ? path : "tracker.yml", tk_buf_cstr(&text), text.len, err);
	return finish(c, status, out);
}
