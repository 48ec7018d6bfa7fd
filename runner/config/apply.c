/* A document over the defaults: which key may stand where, and every value into its field. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"
#include "base/yaml.h"
#include "config/internal.h"
#include "config/keys.h"
#include "config/value.h"

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
	size_t count = tk_yaml_count(m->y, node), bad = 0;
	const char **items = tk_calloc(count + 1, sizeof *items);
	struct tk_error why = {0};
	int status = TK_OK;

	for (size_t i = 0; !status && i < count; i++) {
		int item = tk_yaml_item(m->y, node, i);

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
		status = tk_yaml_fail(
		        m->y, tk_yaml_item(m->y, node, bad), m->err, "%s: %s", path, why.message);
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
	int status;

	if (tk_yaml_is_empty(m->y, m->node))
		return TK_OK;
	if (tk_yaml_kind(m->y, m->node) != TK_YAML_MAP)
		return tk_yaml_fail(m->y, m->node, m->err, "%s is %s; expected key: value lines",
		        *m->section->name ? m->section->name : "the file",
		        tk_yaml_kind_name(m->y, m->node));
	status = check_key_names(m);
	for (const struct tk_config_key *key = m->section->keys; !status && key->name; key++)
		status = apply_key(m, key);
	return status;
}

/* A git upstream has to name its adapter. */
static int default_adapter(struct tk_upstream_config *u, struct tk_error *err)
{
	const char *adapter = u->kind == TK_UPSTREAM_SELF ? "self"
	                      : u->kind == TK_UPSTREAM_SYSTEM || u->kind == TK_UPSTREAM_PACKAGE
	                              ? u->name
	                              : NULL;

	if (u->adapter || !adapter)
		return TK_OK;
	u->adapter = tk_strdup(adapter);
	return TK_OK;
}

static int apply_upstream(const struct mapping *m, struct tk_upstream_config *u)
{
	int kind = tk_yaml_find(m->y, m->node, "kind"),
	    status = tk_config_set_defaults(m->section->keys, m->root, u, m->err);

	if (!status)
		status = apply_mapping(m);
	if (!status && !u->name)
		return tk_yaml_fail(
		        m->y, m->node, m->err, "an upstream has no name; expected `name: NAME`");
	if (!status && tk_yaml_is_empty(m->y, kind))
		return tk_yaml_fail(m->y, m->node, m->err,
		        "upstream \"%s\" has no kind; expected self, git, package, system or "
		        "builtin",
		        u->name);
	return status ? status : default_adapter(u, m->err);
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
		                tk_config_find_section("upstreams"), top->root, &u[i], top->err},
		        &u[i]);
	if (status) {
		tk_config_free_upstreams(u, count);
		return status;
	}
	tk_config_free_upstreams(c->upstreams, c->upstream_count);
	c->upstreams = u;
	c->upstream_count = count;
	return TK_OK;
}

int tk_config_apply(const struct tk_yaml *y, struct tk_config *c, struct tk_error *err)
{
	const struct mapping top = {
	        y, tk_yaml_root(y), tk_config_find_section(""), c->root, c, err};
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
