/* The tree of values and its arena: one page is built, rendered and forgotten as a whole. */
#include "site_gen/render/value.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/format.h"
#include "base/memory.h"

#define CHUNK_BYTES ((size_t)256 * 1024)

struct chunk {
	struct chunk *next;
	size_t used, size;
	max_align_t data[];
};
struct tk_arena {
	struct chunk *first, *current;
	bool failed;
};

static struct chunk *chunk_new(size_t size)
{
	struct chunk *c = tk_malloc(sizeof *c + size);
	if (c)
		*c = (struct chunk){.size = size};
	return c;
}

struct tk_arena *tk_arena_new(void)
{
	struct tk_arena *a = tk_calloc(1, sizeof *a);
	if (a)
		a->first = a->current = chunk_new(CHUNK_BYTES);
	if (a && !a->first) {
		free(a);
		return NULL;
	}
	return a;
}

void tk_arena_reset(struct tk_arena *a)
{
	for (struct chunk *c = a->first; c; c = c->next)
		c->used = 0;
	a->current = a->first;
	a->failed = false;
}

void tk_arena_free(struct tk_arena *a)
{
	if (!a)
		return;
	for (struct chunk *c = a->first, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	free(a);
}

bool tk_arena_has_failed(const struct tk_arena *a)
{
	return a->failed;
}

static void *arena_take(struct tk_arena *a, size_t size)
{
	size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	while (a->current->size - a->current->used < size) {
		if (!a->current->next)
			a->current->next = chunk_new(size > CHUNK_BYTES ? size : CHUNK_BYTES);
		if (!a->current->next) {
			a->failed = true;
			return NULL;
		}
		a->current = a->current->next;
	}
	void *p = (char *)a->current->data + a->current->used;
	a->current->used += size;
	return p;
}

const char *tk_arena_text(struct tk_arena *a, const char *text, size_t len)
{
	char *copy = arena_take(a, len + 1);
	memcpy(copy, text, len);
	copy[len] = 0;
	return copy;
}

static struct tk_value *value_new(struct tk_arena *a, enum tk_value_type type)
{
	struct tk_value *v = arena_take(a, sizeof *v);
	if (v)
		*v = (struct tk_value){.type = type};
	return v;
}

static struct tk_value *text_new(
        struct tk_arena *a, enum tk_value_type type, const char *text, size_t len)
{
	struct tk_value *v = value_new(a, type);
	char *copy = v ? arena_take(a, len + 1) : NULL;
	if (!copy)
		return NULL;
	if (len)
		memcpy(copy, text, len);
	copy[len] = 0;
	v->text = copy;
	v->len = len;
	return v;
}

/* Newest first, so that the last value of a key is found. */
static struct tk_value *add_member(struct tk_value *object, const char *key, struct tk_value *v)
{
	v->key = key;
	v->key_len = (uint32_t)strlen(key);
	v->key_hash = tk_value_hash_key(key, v->key_len);
	struct tk_value **bucket = &object->buckets[v->key_hash % TK_VALUE_BUCKETS];
	v->next = *bucket;
	*bucket = v;
	return v;
}

static struct tk_value *append(struct tk_value *parent, const char *key, struct tk_value *v)
{
	if (!parent || !v)
		return NULL;
	if (parent->type == TK_VALUE_OBJECT && key)
		return add_member(parent, key, v);
	if (parent->last)
		parent->last->next = v;
	else
		parent->first = v;
	parent->last = v;
	return v;
}

struct tk_value *tk_value_object(struct tk_arena *a)
{
	struct tk_value *v = value_new(a, TK_VALUE_OBJECT);
	size_t size = TK_VALUE_BUCKETS * sizeof *v->buckets;
	if (v && (v->buckets = arena_take(a, size)))
		memset(v->buckets, 0, size);
	return v && v->buckets ? v : NULL;
}

struct tk_value *tk_value_list(struct tk_arena *a)
{
	return value_new(a, TK_VALUE_LIST);
}

struct tk_value *tk_value_text(struct tk_arena *a, const char *text)
{
	return text_new(a, TK_VALUE_TEXT, text ? text : "", text ? strlen(text) : 0);
}

void tk_value_set(struct tk_arena *a, struct tk_value *object, const char *key, const char *text)
{
	append(object, key, tk_value_text(a, text));
}

void tk_value_set_len(
        struct tk_arena *a, struct tk_value *object, const char *key, const char *text, size_t len)
{
	append(object, key, text_new(a, TK_VALUE_TEXT, text, len));
}

void tk_value_set_fmt(
        struct tk_arena *a, struct tk_value *object, const char *key, const char *fmt, ...)
{
	char small[256];
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(small, sizeof small, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n < sizeof small) {
		tk_value_set_len(a, object, key, small, n < 0 ? 0 : (size_t)n);
		return;
	}
	struct tk_value *v = value_new(a, TK_VALUE_TEXT);
	char *text = v ? arena_take(a, (size_t)n + 1) : NULL;
	if (!text)
		return;
	va_start(ap, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	v->text = text;
	v->len = (size_t)n;
	append(object, key, v);
}

void tk_value_set_joined(struct tk_arena *a, struct tk_value *object, const char *key,
        const char *first, const char *second, const char *third)
{
	size_t f = strlen(first), s = strlen(second), t = strlen(third);
	struct tk_value *v = value_new(a, TK_VALUE_TEXT);
	char *text = v ? arena_take(a, f + s + t + 1) : NULL;
	if (!text)
		return;
	memcpy(text, first, f);
	memcpy(text + f, second, s);
	memcpy(text + f + s, third, t + 1);
	v->text = text;
	v->len = f + s + t;
	append(object, key, v);
}

void tk_value_set_int(struct tk_arena *a, struct tk_value *object, const char *key, int64_t v)
{
	char text[TK_FORMAT_INT];
	tk_value_set_len(a, object, key, text, tk_format_int(text, v));
}

void tk_value_set_flag(struct tk_arena *a, struct tk_value *object, const char *key, bool flag)
{
	struct tk_value *v = append(object, key, value_new(a, TK_VALUE_FLAG));
	if (v)
		v->flag = flag;
}

void tk_value_set_markup(
        struct tk_arena *a, struct tk_value *object, const char *key, const struct tk_buf *markup)
{
	if (tk_buf_status(markup, NULL))
		a->failed = true;
	append(object, key, text_new(a, TK_VALUE_MARKUP, markup->data, markup->len));
}

struct tk_value *tk_value_set_list(struct tk_arena *a, struct tk_value *object, const char *key)
{
	return append(object, key, tk_value_list(a));
}

struct tk_value *tk_value_set_object(struct tk_arena *a, struct tk_value *object, const char *key)
{
	return append(object, key, tk_value_object(a));
}

struct tk_value *tk_value_append_object(struct tk_arena *a, struct tk_value *list)
{
	return append(list, NULL, tk_value_object(a));
}

void tk_value_append_text(struct tk_arena *a, struct tk_value *list, const char *text)
{
	append(list, NULL, tk_value_text(a, text));
}

uint32_t tk_value_hash_key(const char *key, size_t len)
{
	uint32_t h = 2166136261u; /* FNV-1a */
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)key[i]) * 16777619u;
	return h;
}

const struct tk_value *tk_value_find_member(
        const struct tk_value *object, const char *key, size_t key_len, uint32_t hash)
{
	if (!object || object->type != TK_VALUE_OBJECT)
		return NULL;
	const struct tk_value *v = object->buckets[hash % TK_VALUE_BUCKETS];
	for (; v; v = v->next)
		if (v->key_hash == hash && v->key_len == key_len && !memcmp(v->key, key, key_len))
			return v;
	return NULL;
}
