/* Suites in the shape of public benchmark runners, an object of kernel names with arrays:
 *   {"gemm":[{"m":..,"n":..,"k":..}], "mha":[{"batch","heads","seq_len","dim","is_causal"}],
 *    "nsa":[{..,"block_size","groups","selected_blocks"}]}
 * The keys of core/problem.h are accepted too. The default type is f16. */
#include <string.h>

#include "config/suite_internal.h"

struct rename {
	const char *theirs, *ours;
};

/* clang-format off */
static const struct rename gemm_keys[] = {
	{ "m", "m" }, { "n", "n" }, { "k", "k" }, { "M", "m" }, { "N", "n" }, { "K", "k" },
	{ "batch", "batch" },
	{ "dtype", "a" }, { "in_dtype", "a" }, { "out_dtype", "c" }, { "accum_dtype", "acc" },
	{ "acc_dtype", "acc" },
	{ "trans_a", "ta" }, { "trans_b", "tb" }, { "trans_A", "ta" }, { "trans_B", "tb" },
	{ "transA", "ta" }, { "transB", "tb" },
	{ "a", "a" }, { "b", "b" }, { "c", "c" }, { "acc", "acc" }, { "ta", "ta" },
	{ "tb", "tb" }, { "dist", "dist" }, { NULL },
};

static const struct rename attention_keys[] = {
	{ "batch", "b" }, { "heads", "h" }, { "heads_kv", "hkv" }, { "kv_heads", "hkv" },
	{ "groups", "groups" },
	{ "seq_len", "sq" }, { "seq_len_q", "sq" }, { "seq_len_kv", "skv" }, { "seq_q", "sq" },
	{ "seq_kv", "skv" }, { "dim", "d" }, { "dim_v", "dv" },
	{ "is_causal", "causal" }, { "dtype", "dtype" }, { "scale", "scale" }, { "b", "b" },
	{ "h", "h" }, { "hkv", "hkv" }, { "sq", "sq" },
	{ "skv", "skv" }, { "d", "d" }, { "dv", "dv" }, { "causal", "causal" },
	{ "dir", "dir" }, { "dist", "dist" }, { NULL },
};

static const struct rename nsa_keys[] = {
	{ "batch", "b" }, { "heads", "h" }, { "heads_kv", "hkv" }, { "groups", "groups" },
	{ "seq_len", "s" }, { "dim", "d" }, { "is_causal", "causal" },
	{ "scale", "scale" }, { "block_size", "block_size" },
	{ "selected_blocks", "selected_blocks" }, { "window", "window" },
	{ "window_size", "window" },
	{ "dtype", "dtype" }, { "b", "b" }, { "h", "h" }, { "hkv", "hkv" }, { "s", "s" },
	{ "d", "d" }, { "causal", "causal" }, { "dist", "dist" }, { NULL },
};

static const struct { const char *theirs, *op, *type_key; const struct rename *keys; } kernels[] = {
	{ "gemm", "gemm", "a", gemm_keys }, { "matmul", "gemm", "a", gemm_keys },
	{ "mha", "attention", "dtype", attention_keys },
	{ "attention", "attention", "dtype", attention_keys },
	{ "flash_attention", "attention", "dtype", attention_keys },
	{ "gqa", "attention", "dtype", attention_keys },
	{ "nsa", "nsa", "dtype", nsa_keys },
};
/* clang-format on */

#define KERNEL_COUNT (sizeof kernels / sizeof kernels[0])
#define RENAMES_MAX 40

static int unknown_parameter(
        struct tk_suite_builder *b, int key, const char *kernel, const struct rename *keys)
{
	const char *known[RENAMES_MAX];
	char hint[TK_SUGGEST_HINT_SIZE], shown[TK_TEXT_EXCERPT_SIZE];
	size_t n = 0;

	for (; keys[n].theirs && n < RENAMES_MAX - 1; n++)
		known[n] = keys[n].theirs;
	known[n] = NULL;
	return tk_yaml_fail(b->y, key, b->err, "unknown key \"%s\" in %s%s",
	        tk_text_format_excerpt(tk_yaml_text(b->y, key), shown), kernel,
	        tk_suggest_hint(tk_yaml_text(b->y, key), known, NULL, hint));
}

/* "t" or "n" of true, false, "T" and "N"; NULL: another text. */
static const char *transpose_word(const char *text)
{
	if (strcmp(text, "true") == 0 || strcmp(text, "T") == 0)
		return "t";
	return strcmp(text, "false") == 0 || strcmp(text, "N") == 0 ? "n" : NULL;
}

struct object {
	struct tk_suite_param params[TK_SUITE_KEYS_MAX + 1];
	size_t count;
};

static bool has_param(const struct object *o, const char *key)
{
	for (size_t i = 0; i < o->count; i++)
		if (strcmp(o->params[i].key, key) == 0)
			return true;
	return false;
}

static int translate(struct tk_suite_builder *b, int map, const char *kernel,
        const struct rename *keys, struct object *o)
{
	for (size_t i = 0; i < tk_yaml_count(b->y, map); i++) {
		int key = tk_yaml_key(b->y, map, i), value = tk_yaml_item(b->y, map, i);
		const struct rename *r = keys;

		while (r->theirs && strcmp(r->theirs, tk_yaml_text(b->y, key)) != 0)
			r++;
		if (!r->theirs)
			return unknown_parameter(b, key, kernel, keys);
		if (strcmp(tk_yaml_text(b->y, value), "null") == 0)
			continue;
		if (has_param(o, r->ours))
			return tk_yaml_fail(b->y, key, b->err, "duplicate key: \"%s\" also sets %s",
			        r->theirs, r->ours);
		if (o->count == TK_SUITE_KEYS_MAX - 1)
			return tk_yaml_fail(
			        b->y, key, b->err, "more than %d keys", TK_SUITE_KEYS_MAX - 1);
		o->params[o->count++] = (struct tk_suite_param){.key = r->ours,
		        .key_node = key,
		        .value_node = value,
		        .fixed = r->ours[0] == 't' ? transpose_word(tk_yaml_text(b->y, value))
		                                   : NULL};
	}
	return TK_OK;
}

/* Replaces `groups` (query heads that share a kv head) by hkv = h / groups. `computed` keeps its
 * text. */
static int replace_groups(struct tk_suite_builder *b, struct object *o, char *computed, size_t size)
{
	for (size_t i = 0; i < o->count; i++) {
		const char *text = tk_yaml_text(b->y, o->params[i].value_node);

		if (strcmp(o->params[i].key, "groups") != 0)
			continue;
		if (has_param(o, "hkv"))
			return tk_yaml_fail(b->y, o->params[i].key_node, b->err,
			        "both groups and the number of kv heads are given; expected one of "
			        "them");
		if (!*text || strspn(text, "0123456789") != strlen(text) || strlen(text) > 9)
			return tk_yaml_fail(b->y, o->params[i].value_node, b->err,
			        "groups is %s; expected a whole number",
			        tk_yaml_kind(b->y, o->params[i].value_node) == TK_YAML_SCALAR
			                ? "not a whole number"
			                : tk_yaml_kind_name(b->y, o->params[i].value_node));
		snprintf(computed, size, "$h/%s", text);
		o->params[i].key = "hkv";
		o->params[i].fixed = computed;
	}
	return TK_OK;
}

static const char *file_name(const struct tk_suite_builder *b)
{
	const char *slash = strrchr(b->suite->path, '/');

	return slash ? slash + 1 : b->suite->path;
}

static int read_object(struct tk_suite_builder *b, int map, size_t kernel)
{
	struct object o = {.count = 0};
	char hkv[16];
	int status;

	if (tk_yaml_kind(b->y, map) != TK_YAML_MAP)
		return tk_yaml_fail(b->y, map, b->err, "an item of %s is %s; expected an object",
		        kernels[kernel].theirs, tk_yaml_kind_name(b->y, map));
	status = translate(b, map, kernels[kernel].theirs, kernels[kernel].keys, &o);
	if (!status)
		status = replace_groups(b, &o, hkv, sizeof hkv);
	if (status)
		return status;
	if (!has_param(&o, kernels[kernel].type_key))
		o.params[o.count++] = (struct tk_suite_param){.key = kernels[kernel].type_key,
		        .key_node = map,
		        .value_node = map,
		        .fixed = "f16"};
	return tk_suite_expand(b, kernels[kernel].op, o.params, o.count, map, file_name(b),
	        kernels[kernel].theirs);
}

static int find_kernel(struct tk_suite_builder *b, int key, size_t *out)
{
	const char *known[KERNEL_COUNT + 1], *near;
	char shown[TK_TEXT_EXCERPT_SIZE];

	for (size_t i = 0; i < KERNEL_COUNT; i++) {
		known[i] = kernels[i].theirs;
		if (strcmp(known[i], tk_yaml_text(b->y, key)) == 0) {
			*out = i;
			return TK_OK;
		}
	}
	known[KERNEL_COUNT] = NULL;
	near = tk_suggest_name(tk_yaml_text(b->y, key), known);
	return tk_yaml_fail(b->y, key, b->err, "unknown kernel \"%s\"; expected %s",
	        tk_text_format_excerpt(tk_yaml_text(b->y, key), shown),
	        near ? near : "gemm, matmul, mha, attention, flash_attention, gqa or nsa");
}

int tk_suite_read_json(struct tk_suite_builder *b)
{
	int root = tk_yaml_root(b->y), status = TK_OK;

	if (tk_yaml_kind(b->y, root) != TK_YAML_MAP)
		return tk_yaml_fail(b->y, root, b->err,
		        "the file is %s; expected an object such as {\"gemm\": [{\"m\": 512, "
		        "\"n\": 512, \"k\": 512}]}",
		        tk_yaml_kind_name(b->y, root));
	for (size_t i = 0; !status && i < tk_yaml_count(b->y, root); i++) {
		int list = tk_yaml_item(b->y, root, i);
		size_t kernel = 0;

		status = find_kernel(b, tk_yaml_key(b->y, root, i), &kernel);
		if (!status && tk_yaml_kind(b->y, list) != TK_YAML_LIST)
			status = tk_yaml_fail(b->y, list, b->err,
			        "%s is %s; expected an array of objects", kernels[kernel].theirs,
			        tk_yaml_kind_name(b->y, list));
		for (size_t j = 0; !status && j < tk_yaml_count(b->y, list); j++)
			status = read_object(b, tk_yaml_item(b->y, list, j), kernel);
	}
	return status;
}
