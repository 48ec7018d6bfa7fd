/* Mutations that keep JSON well-formed, so that a fuzzer gets behind the parser: a value becomes
 * another one, goes, or comes twice, a member gets the name of another. Of JSON lines, one is
 * changed. Every fourth time, and where there is no JSON, bytes are changed as ever. */
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

enum { NODES_MAX = 4096 };

struct node {
	json_t *parent, *value;
	const char *key; /* NULL: an element of an array, then index */
	size_t index;
};

struct tree {
	struct node nodes[NODES_MAX];
	size_t count;
};

static void list_nodes(struct tree *t, json_t *parent)
{
	const char *key;
	json_t *value;
	size_t i;

	json_object_foreach (parent, key, value)
		if (t->count < NODES_MAX) {
			t->nodes[t->count++] = (struct node){parent, value, key, 0};
			list_nodes(t, value);
		}
	json_array_foreach (parent, i, value)
		if (t->count < NODES_MAX) {
			t->nodes[t->count++] = (struct node){parent, value, NULL, i};
			list_nodes(t, value);
		}
}

static json_t *odd_value(unsigned *seed)
{
	static const char *const texts[] = {
	        "", "a", "\xc3\xa9", "../x", "2026-11-22T00:00:00Z", "ok", "0"};
	static const json_int_t numbers[] = {0, 1, -1, 2, 1000, INT32_MAX, INT64_MAX, INT64_MIN};
	static const double reals[] = {0.5, -0.0, 1e-300, 1e300, 1.5e9};

	switch (rand_r(seed) % 8) {
	case 0:
		return json_null();
	case 1:
		return json_boolean(rand_r(seed) % 2);
	case 2:
		return json_array();
	case 3:
		return json_object();
	case 4:
		return json_real(reals[(size_t)rand_r(seed) % (sizeof(reals) / sizeof(*reals))]);
	case 5:
	case 6:
		return json_integer(
		        numbers[(size_t)rand_r(seed) % (sizeof(numbers) / sizeof(*numbers))]);
	default:
		return json_string(texts[(size_t)rand_r(seed) % (sizeof(texts) / sizeof(*texts))]);
	}
}

static void put(const struct node *n, json_t *value)
{
	if (n->key)
		json_object_set_new(n->parent, n->key, value);
	else
		json_array_set_new(n->parent, n->index, value);
}

static void change(struct tree *t, unsigned *seed)
{
	const struct node *n = &t->nodes[(size_t)rand_r(seed) % t->count],
	                  *other = &t->nodes[(size_t)rand_r(seed) % t->count];

	switch (rand_r(seed) % 6) {
	case 0: /* it goes */
		if (n->key)
			json_object_del(n->parent, n->key);
		else
			json_array_remove(n->parent, n->index);
		break;
	case 1: /* it comes twice */
		if (n->key && other->key)
			json_object_set_new(n->parent, other->key, json_deep_copy(n->value));
		else if (!n->key)
			json_array_append_new(n->parent, json_deep_copy(n->value));
		break;
	case 2: /* what stands elsewhere */
		put(n, json_deep_copy(other->value));
		break;
	case 3: /* nearly the same */
		if (json_is_integer(n->value))
			put(n, json_integer(json_integer_value(n->value) ^
			                    (json_int_t)1 << rand_r(seed) % 40));
		else if (json_is_real(n->value))
			put(n, json_real(json_real_value(n->value) *
			                 (rand_r(seed) % 2 ? 1.01 : -1000)));
		else
			put(n, odd_value(seed));
		break;
	default:
		put(n, odd_value(seed));
	}
}

/* The JSON of a line, or of all of it, behind what may stand in front ("window.BENCHMARK_DATA =").
 */
static json_t *part_of(const uint8_t *data, size_t size, size_t *from, size_t *to, unsigned *seed)
{
	json_error_t why;
	json_t *whole;

	*from = 0;
	while (*from < size && data[*from] != '{' && data[*from] != '[')
		++*from;
	whole = *from < size ? json_loadb((const char *)data + *from, size - *from,
	                               JSON_DISABLE_EOF_CHECK, &why)
	                     : NULL;
	*to = whole ? *from + (size_t)why.position : size;
	if (whole && !memchr(data + *to, '{', size - *to))
		return whole;
	json_decref(whole);
	*from = (size_t)rand_r(seed) % size;
	while (*from > 0 && data[*from - 1] != '\n')
		--*from;
	const uint8_t *end = memchr(data + *from, '\n', size - *from);
	*to = end ? (size_t)(end - data) : size;
	return json_loadb((const char *)data + *from, *to - *from, 0, NULL);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	static struct tree tree;
	size_t from, to;
	json_t *part = size && rand_r(&seed) % 4 ? part_of(data, size, &from, &to, &seed) : NULL;

	if (!part)
		return LLVMFuzzerMutate(data, size, max_size);
	for (int changes = 1 + rand_r(&seed) % 3; changes > 0; changes--) {
		tree.count = 0;
		list_nodes(&tree, part);
		if (tree.count)
			change(&tree, &seed);
	}
	char *text = json_dumps(part, JSON_COMPACT);
	const size_t length = text ? strlen(text) : 0;
	const bool fits = text && size - (to - from) + length <= max_size;

	if (fits) {
		memmove(data + from + length, data + to, size - to);
		memcpy(data + from, text, length);
		size = size - (to - from) + length;
	}
	free(text);
	json_decref(part);
	return fits ? size : LLVMFuzzerMutate(data, size, max_size);
}
