/* suites/NAME.yml, as docs/reference/suites.md describes it. */
#include <stdlib.h>
#include <string.h>

#include "config/suite_internal.h"

static const char *const top_keys[] = {
        "title", "source", "group", "rotate", "sequence", "problems", NULL};
#define OP_COUNT 6
static const char *const entry_keys[] = {/* the ops first */
        "gemm", "attention", "nsa", "copy", "read", "fma", "problem", "each", "source", "group",
        "pick", "seed", NULL};

/* Given by the file, the entry, or an item of `each`. */
struct origin {
	const char *source, *group;
};

static int read_origin(struct tk_suite_builder *b, int map, struct origin *o)
{
	TRY(tk_yaml_find_text(b->y, map, "source", &o->source, b->err));
	return tk_yaml_find_text(b->y, map, "group", &o->group, b->err);
}

/* Adds the pairs of a mapping to the parameters, except `source` and `group`; replaces keys that
 * are already there. */
static int collect(
        struct tk_suite_builder *b, int map, struct tk_suite_param *params, size_t *count)
{
	for (size_t i = 0; i < tk_yaml_count(b->y, map); i++) {
		int key = tk_yaml_key(b->y, map, i);
		const char *name = tk_yaml_text(b->y, key);
		size_t at = 0;

		if (tk_yaml_kind(b->y, key) != TK_YAML_SCALAR)
			return tk_yaml_fail(b->y, key, b->err, "a key is %s; expected a word",
			        tk_yaml_kind_name(b->y, key));
		if (strcmp(name, "source") == 0 || strcmp(name, "group") == 0)
			continue;
		if (tk_yaml_find(b->y, map, name) != tk_yaml_item(b->y, map, i))
			return tk_yaml_fail(b->y, key, b->err, "duplicate key \"%s\"", name);
		while (at < *count && strcmp(params[at].key, name) != 0)
			at++;
		if (at == TK_SUITE_KEYS_MAX)
			return tk_yaml_fail(
			        b->y, key, b->err, "more than %d keys", TK_SUITE_KEYS_MAX);
		params[at] = (struct tk_suite_param){
		        .key = name, .key_node = key, .value_node = tk_yaml_item(b->y, map, i)};
		*count += at == *count;
	}
	return TK_OK;
}

static int check_origin(struct tk_suite_builder *b, int at, const struct origin *o)
{
	if (!*o->source)
		return tk_yaml_fail(b->y, at, b->err,
		        "this entry has no source; expected where the problem comes from, here or "
		        "at the top of the file");
	return TK_OK;
}

/* Expands the op's mapping, together with an item of `each` (0: none). */
static int expand_with(
        struct tk_suite_builder *b, const char *op, int map, int item, struct origin o)
{
	struct tk_suite_param params[TK_SUITE_KEYS_MAX];
	size_t count = 0;
	int at = item ? item : map;
	TRY(collect(b, map, params, &count));
	if (item) {
		TRY(collect(b, item, params, &count));
		TRY(read_origin(b, item, &o));
	}
	TRY(check_origin(b, at, &o));
	return tk_suite_expand(b, op, params, count, at, o.source, o.group);
}

static int read_pick(struct tk_suite_builder *b, int entry)
{
	int64_t count = 0, seed = 0;
	TRY(tk_suite_find_number(b->y, entry, "pick", 1, 0, &count, b->err));
	TRY(tk_suite_find_number(b->y, entry, "seed", 0, 0, &seed, b->err));
	if (count > TK_SUITE_PROBLEMS_MAX)
		TRY(tk_yaml_fail(b->y, tk_yaml_find(b->y, entry, "pick"), b->err,
		        "pick: expected at most %d", TK_SUITE_PROBLEMS_MAX));
	if (!count && tk_yaml_find(b->y, entry, "seed"))
		TRY(tk_yaml_fail(b->y, tk_yaml_find(b->y, entry, "seed"), b->err,
		        "seed without pick; expected how many combinations to take"));
	b->pick.count = (size_t)count;
	b->pick.seed = (uint64_t)seed;
	return TK_OK;
}

static int read_op(struct tk_suite_builder *b, int entry, const char *op, const struct origin *o)
{
	int map = tk_yaml_find(b->y, entry, op), each = tk_yaml_find(b->y, entry, "each");

	if (tk_yaml_kind(b->y, map) != TK_YAML_MAP)
		return tk_yaml_fail(b->y, map, b->err,
		        "%s is %s; expected a mapping such as { m: 512, n: 512, k: 512 }", op,
		        tk_yaml_kind_name(b->y, map));
	if (!each)
		return expand_with(b, op, map, 0, *o);
	if (tk_yaml_kind(b->y, each) != TK_YAML_LIST || !tk_yaml_count(b->y, each))
		return tk_yaml_fail(b->y, each, b->err, "each is %s; expected a list of mappings",
		        tk_yaml_kind(b->y, each) == TK_YAML_LIST ? "empty"
		                                                 : tk_yaml_kind_name(b->y, each));
	for (size_t i = 0; i < tk_yaml_count(b->y, each); i++) {
		int item = tk_yaml_item(b->y, each, i);

		if (tk_yaml_kind(b->y, item) != TK_YAML_MAP)
			return tk_yaml_fail(b->y, item, b->err,
			        "an item of each is %s; expected a mapping",
			        tk_yaml_kind_name(b->y, item));
		TRY(expand_with(b, op, map, item, *o));
	}
	return TK_OK;
}

static int read_text(struct tk_suite_builder *b, int node, const struct origin *o)
{
	if (tk_yaml_kind(b->y, node) != TK_YAML_SCALAR)
		return tk_yaml_fail(b->y, node, b->err,
		        "problem is %s; expected text such as gemm:m=512,n=512,k=512",
		        tk_yaml_kind_name(b->y, node));
	TRY(check_origin(b, node, o));
	return tk_suite_add_problem(b, tk_yaml_text(b->y, node), node, o->source, o->group);
}

static int read_entry(struct tk_suite_builder *b, int entry, struct origin o)
{
	const char *op = NULL;
	int problem = tk_yaml_find(b->y, entry, "problem"), found = problem ? 1 : 0;

	if (tk_yaml_kind(b->y, entry) != TK_YAML_MAP)
		return tk_yaml_fail(b->y, entry, b->err,
		        "an entry of problems is %s; expected a mapping such as gemm: { m: "
		        "512, n: 512, k: 512 }",
		        tk_yaml_kind_name(b->y, entry));
	TRY(tk_yaml_check_keys(b->y, entry, "problems", entry_keys, b->err));
	TRY(read_origin(b, entry, &o));
	TRY(read_pick(b, entry));
	for (size_t i = 0; i < OP_COUNT; i++)
		if (tk_yaml_find(b->y, entry, entry_keys[i])) {
			op = entry_keys[i];
			found++;
		}
	if (found != 1)
		return tk_yaml_fail(b->y, entry, b->err,
		        "an entry has %s; expected exactly one of gemm, attention, nsa, copy, "
		        "read, fma, problem",
		        found ? "several problems" : "no problem");
	if (problem && tk_yaml_find(b->y, entry, "each"))
		return tk_yaml_fail(b->y, tk_yaml_find(b->y, entry, "each"), b->err,
		        "each cannot be combined with problem; expected an op such as gemm");
	if (problem && b->pick.count)
		return tk_yaml_fail(b->y, tk_yaml_find(b->y, entry, "pick"), b->err,
		        "pick cannot be combined with problem; expected an op such as gemm");
	return problem ? read_text(b, problem, &o) : read_op(b, entry, op, &o);
}

static int read_rotate(struct tk_suite_builder *b, int root)
{
	int64_t nights = 0;
	TRY(tk_suite_find_number(b->y, root, "rotate", 1, 0, &nights, b->err));
	if (nights > TK_ROTATION_NIGHTS_MAX)
		TRY(tk_yaml_fail(b->y, tk_yaml_find(b->y, root, "rotate"), b->err,
		        "rotate: expected at most %d nights", TK_ROTATION_NIGHTS_MAX));
	b->suite->rotate_nights = (uint32_t)nights;
	return TK_OK;
}

static int read_sequence(struct tk_suite_builder *b, int root)
{
	const char *value = "no";
	TRY(tk_yaml_find_text(b->y, root, "sequence", &value, b->err));
	b->suite->is_sequence = strcmp(value, "yes") == 0;
	if (!b->suite->is_sequence && strcmp(value, "no") != 0)
		return tk_yaml_fail(b->y, tk_yaml_find(b->y, root, "sequence"), b->err,
		        "sequence is \"%.40s\"; expected yes where the problems are the kernels of "
		        "a layer in the order of their launches",
		        value);
	return TK_OK;
}

int tk_suite_read_yaml(struct tk_suite_builder *b)
{
	int root = tk_yaml_root(b->y), problems = tk_yaml_find(b->y, root, "problems");
	struct origin o = {"", ""};
	const char *title = b->suite->name;

	if (tk_yaml_kind(b->y, root) != TK_YAML_MAP)
		return tk_yaml_fail(b->y, root, b->err,
		        "the file is %s; expected keys title and problems",
		        tk_yaml_kind_name(b->y, root));
	TRY(tk_yaml_check_keys(b->y, root, "a suite", top_keys, b->err));
	TRY(read_origin(b, root, &o));
	TRY(tk_yaml_find_text(b->y, root, "title", &title, b->err));
	TRY(read_rotate(b, root));
	TRY(read_sequence(b, root));
	if (tk_yaml_kind(b->y, problems) != TK_YAML_LIST)
		return tk_yaml_fail(b->y, problems ? problems : root, b->err,
		        "problems is %s; expected a list", tk_yaml_kind_name(b->y, problems));
	free(b->suite->title);
	b->suite->title = tk_strdup(title);
	for (size_t i = 0; i < tk_yaml_count(b->y, problems); i++)
		TRY(read_entry(b, tk_yaml_item(b->y, problems, i), o));
	return TK_OK;
}
