/* acks.yml */
#include <stdlib.h>
#include <string.h>

#include "base/yaml.h"
#include "config/config.h"

#define FILE_MAX ((size_t)1 << 20)
#define KEYS_MAX 32

static const char *const entry_keys[] = {"rev", "action", "by", "note", "until", NULL};
/* The first one is the default. */
static const char *const actions[] = {"ack", "expect", "ignore", NULL};

struct reading {
	const struct tk_yaml *y;
	const char *const *keys; /* what selects series */
	struct tk_error *err;
};

static void free_ack(struct tk_ack *a)
{
	for (size_t i = 0; a->filters && a->filters[i]; i++)
		free(a->filters[i]);
	free(a->filters);
	free(a->rev);
	free(a->by);
	free(a->note);
}

void tk_acks_free(struct tk_acks *a)
{
	for (size_t i = 0; a && i < a->count; i++)
		free_ack(&a->at[i]);
	if (a)
		free(a->at);
	free(a);
}

static int read_text(
        const struct reading *r, int entry, const char *key, const char *fallback, char **out)
{
	const char *text = fallback;
	TRY(tk_yaml_find_text(r->y, entry, key, &text, r->err));
	*out = text ? tk_strdup(text) : NULL;
	return TK_OK;
}

static int add_filter(
        const struct reading *r, struct tk_ack *a, size_t *count, const char *key, int node)
{
	if (tk_yaml_kind(r->y, node) != TK_YAML_SCALAR || !*tk_yaml_text(r->y, node))
		return tk_yaml_fail(r->y, node, r->err,
		        "%s is %s; expected a name, or a pattern such as 'gemm*'", key,
		        tk_yaml_kind_name(r->y, node));
	a->filters[(*count)++] = tk_sprintf("%s:%s", key, tk_yaml_text(r->y, node));
	return TK_OK;
}

/* A pattern, or a list of them. */
static int read_filters(const struct reading *r, int entry, struct tk_ack *a)
{
	size_t count = 0;

	for (const char *const *key = r->keys; *key; key++) {
		int node = tk_yaml_find(r->y, entry, *key);
		bool is_list = tk_yaml_kind(r->y, node) == TK_YAML_LIST;
		size_t n = is_list ? tk_yaml_count(r->y, node) : node != 0;

		a->filters = tk_reallocarray(a->filters, count + n + 1, sizeof *a->filters);
		memset(a->filters + count, 0, (n + 1) * sizeof *a->filters);
		for (size_t i = 0; i < n; i++)
			TRY(add_filter(
			        r, a, &count, *key, is_list ? tk_yaml_item(r->y, node, i) : node));
	}
	if (!count)
		return tk_yaml_fail(r->y, entry, r->err,
		        "this entry selects every series; expected at least one of series, "
		        "backend, upstream, machine, problem, ...");
	return TK_OK;
}

static int read_action(const struct reading *r, int entry, enum tk_triage_action *out)
{
	const char *name = actions[0];
	char shown[TK_TEXT_EXCERPT_SIZE], hint[TK_SUGGEST_HINT_SIZE];
	TRY(tk_yaml_find_text(r->y, entry, "action", &name, r->err));
	for (size_t i = 0; actions[i]; i++)
		if (strcmp(actions[i], name) == 0)
			return tk_triage_action_parse(name, out);
	return tk_yaml_fail(r->y, tk_yaml_find(r->y, entry, "action"), r->err,
	        "unknown action \"%s\"%s", tk_text_format_excerpt(name, shown),
	        tk_suggest_hint(name, actions, NULL, hint));
}

static int read_until(const struct reading *r, int entry, struct tk_ack *a)
{
	int node = tk_yaml_find(r->y, entry, "until");
	char shown[TK_TEXT_EXCERPT_SIZE];

	if (!node || tk_yaml_is_empty(r->y, node))
		return TK_OK;
	if (tk_time_parse(tk_yaml_text(r->y, node), &a->until_s, NULL))
		return tk_yaml_fail(r->y, node, r->err,
		        "until: \"%s\" is not a day; expected one such as 2026-12-31",
		        tk_text_format_excerpt(tk_yaml_text(r->y, node), shown));
	return TK_OK;
}

static int read_entry(const struct reading *r, int entry, struct tk_ack *a)
{
	const char *known[KEYS_MAX + 1] = {0};
	size_t n = 0;

	for (const char *const *key = r->keys; *key && n < KEYS_MAX; key++)
		known[n++] = *key;
	for (const char *const *key = entry_keys; *key && n < KEYS_MAX; key++)
		known[n++] = *key;
	if (tk_yaml_kind(r->y, entry) != TK_YAML_MAP)
		return tk_yaml_fail(r->y, entry, r->err,
		        "an entry is %s; expected a mapping such as { series: 'node-1.*', note: "
		        "why }",
		        tk_yaml_kind_name(r->y, entry));
	TRY(tk_yaml_check_keys(r->y, entry, "an entry", known, r->err));
	TRY(read_filters(r, entry, a));
	TRY(read_text(r, entry, "rev", NULL, &a->rev));
	TRY(read_action(r, entry, &a->action));
	TRY(read_text(r, entry, "by", "acks.yml", &a->by));
	TRY(read_text(r, entry, "note", NULL, &a->note));
	if (!a->note || !*a->note)
		return tk_yaml_fail(r->y, entry, r->err,
		        "this entry has no note; expected `note:` with the reason");
	return read_until(r, entry, a);
}

static int read_all(const struct reading *r, struct tk_acks *out)
{
	int root = tk_yaml_root(r->y), status = TK_OK;
	size_t count = tk_yaml_count(r->y, root);

	if (tk_yaml_is_empty(r->y, root))
		return TK_OK;
	if (tk_yaml_kind(r->y, root) != TK_YAML_LIST)
		return tk_yaml_fail(r->y, root, r->err,
		        "the file is %s; expected a list of entries that begin with -",
		        tk_yaml_kind_name(r->y, root));
	out->at = tk_calloc(count + 1, sizeof *out->at);
	while (!status && out->count < count) {
		int entry = tk_yaml_item(r->y, root, out->count);

		status = read_entry(r, entry, &out->at[out->count++]);
	}
	return status;
}

int tk_acks_load_text(const char *name, const char *text, size_t len, const char *const *keys,
        struct tk_acks **out, struct tk_error *err)
{
	AUTO_PTR(tk_yaml) y = NULL;
	TRY(tk_yaml_parse(name, text, len, &y, err));
	TRY(tk_yaml_reject_aliases(y, text, len, err));
	struct tk_acks *acks = tk_calloc(1, sizeof *acks);
	int status = read_all(&(struct reading){y, keys, err}, acks);
	if (status)
		tk_acks_free(acks);
	else
		*out = acks;
	return status;
}

int tk_acks_load(
        const char *path, const char *const *keys, struct tk_acks **out, struct tk_error *err)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	TRY(tk_file_read(path, FILE_MAX, &text, err));
	return tk_acks_load_text(path, tk_buf_cstr(&text), text.len, keys, out, err);
}
