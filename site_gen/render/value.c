/* The tree of values and its arena: one page is built, rendered and forgotten as a whole. */
#include "site_gen/render/value.h"

#include <math.h>

#include "base/base.h"
#include "site_gen/render/escape.h"
#include "store/store.h"

#define CHUNK_BYTES ((size_t)256 * 1024)

struct chunk {
	struct chunk *next;
	size_t used, size;
	max_align_t data[];
};
struct tk_arena {
	struct chunk *first, *current;
};

static struct chunk *chunk_new(size_t size)
{
	struct chunk *c = tk_malloc(sizeof *c + size);
	*c = (struct chunk){.size = size};
	return c;
}

struct tk_arena *tk_arena_new(void)
{
	struct tk_arena *a = tk_calloc(1, sizeof *a);
	a->first = a->current = chunk_new(CHUNK_BYTES);
	return a;
}

void tk_arena_reset(struct tk_arena *a)
{
	for (struct chunk *c = a->first; c; c = c->next)
		c->used = 0;
	a->current = a->first;
}

void tk_arena_free(struct tk_arena *a)
{
	for (struct chunk *c = a ? a->first : NULL, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	free(a);
}

static void *arena_take(struct tk_arena *a, size_t size)
{
	size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	while (a->current->size - a->current->used < size) {
		if (!a->current->next)
			a->current->next = chunk_new(size > CHUNK_BYTES ? size : CHUNK_BYTES);
		a->current = a->current->next;
	}
	void *p = (char *)a->current->data + a->current->used;
	a->current->used += size;
	return p;
}

const char *tk_arena_text(struct tk_arena *a, const char *text, size_t len)
{
	char *copy = arena_take(a, len + 1);
	if (len)
		memcpy(copy, text, len);
	copy[len] = 0;
	return copy;
}

/* ---- the tree -------------------------------------------------------------------------------- */

static struct tk_value *value_new(struct tk_arena *a, enum tk_value_type type)
{
	struct tk_value *v = arena_take(a, sizeof *v);
	*v = (struct tk_value){.type = type, .arena = a};
	return v;
}

static struct tk_value *text_new(
        struct tk_arena *a, enum tk_value_type type, const char *text, size_t len)
{
	struct tk_value *v = value_new(a, type);
	v->text = tk_arena_text(a, text, len);
	v->len = len;
	return v;
}

/* Newest first, so that the last value of a key is found. */
static struct tk_value *add_member(struct tk_value *o, const char *key, struct tk_value *v)
{
	v->key = key;
	v->key_len = (uint32_t)strlen(key);
	v->key_hash = tk_value_hash_key(key, v->key_len);
	struct tk_value **bucket = &o->buckets[v->key_hash % TK_VALUE_BUCKETS];
	v->next = *bucket;
	*bucket = v;
	return v;
}

static struct tk_value *append(struct tk_value *list, struct tk_value *v)
{
	if (list->last)
		list->last->next = v;
	else
		list->first = v;
	list->last = v;
	return v;
}

struct tk_value *tk_value_object(struct tk_arena *a)
{
	struct tk_value *v = value_new(a, TK_VALUE_OBJECT);
	size_t size = TK_VALUE_BUCKETS * sizeof *v->buckets;
	v->buckets = memset(arena_take(a, size), 0, size);
	return v;
}

static struct tk_value *text_of(struct tk_arena *a, const char *text)
{
	return text_new(a, TK_VALUE_TEXT, text ? text : "", text ? strlen(text) : 0);
}

void tk_value_set(struct tk_value *o, const char *key, const char *text)
{
	add_member(o, key, text_of(o->arena, text));
}

void tk_value_set_len(struct tk_value *o, const char *key, const char *text, size_t len)
{
	add_member(o, key, text_new(o->arena, TK_VALUE_TEXT, text, len));
}

void tk_value_set_fmt(struct tk_value *o, const char *key, const char *fmt, ...)
{
	char small[256];
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(small, sizeof small, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof small) {
		tk_value_set_len(o, key, small, (size_t)n);
		return;
	}
	va_start(ap, fmt);
	AUTO_TEXT text = tk_vsprintf(fmt, ap);
	va_end(ap);
	tk_value_set(o, key, text);
}

void tk_value_set_joined(struct tk_value *o, const char *key, const char *first, const char *second,
        const char *third)
{
	size_t f = strlen(first), s = strlen(second), t = strlen(third);
	struct tk_value *v = value_new(o->arena, TK_VALUE_TEXT);
	char *text = arena_take(o->arena, f + s + t + 1);
	memcpy(text, first, f);
	memcpy(text + f, second, s);
	memcpy(text + f + s, third, t + 1);
	v->text = text;
	v->len = f + s + t;
	add_member(o, key, v);
}

void tk_value_set_int(struct tk_value *o, const char *key, int64_t v)
{
	char text[TK_FORMAT_INT];
	tk_value_set_len(o, key, text, tk_format_int(text, v));
}

void tk_value_set_flag(struct tk_value *o, const char *key, bool flag)
{
	add_member(o, key, value_new(o->arena, TK_VALUE_FLAG))->flag = flag;
}

void tk_value_set_markup(struct tk_value *o, const char *key, const struct tk_buf *markup)
{
	add_member(o, key, text_new(o->arena, TK_VALUE_MARKUP, markup->data, markup->len));
}

struct tk_value *tk_value_add_list(struct tk_value *o, const char *key)
{
	return add_member(o, key, value_new(o->arena, TK_VALUE_LIST));
}

struct tk_value *tk_value_add_object(struct tk_value *o, const char *key)
{
	return add_member(o, key, tk_value_object(o->arena));
}

struct tk_value *tk_value_append(struct tk_value *list)
{
	return append(list, tk_value_object(list->arena));
}

void tk_value_append_text(struct tk_value *list, const char *text)
{
	append(list, text_of(list->arena, text));
}

/* ---- for people ------------------------------------------------------------------------------ */

void tk_value_set_quantity(
        struct tk_value *o, const char *key, double v, const char *unit, const char *none)
{
	char text[TK_FORMAT_SIZE];
	tk_value_set(o, key, isfinite(v) ? tk_format_value(v, unit, text) : none);
}

void tk_value_set_change(struct tk_value *o, const char *key, double change, const char *none)
{
	char text[TK_FORMAT_SIZE];
	tk_value_set(o, key, isfinite(change) ? tk_format_change(change, text) : none);
}

void tk_value_set_time(struct tk_value *o, const char *key, int64_t t_s)
{
	char text[TK_FORMAT_SIZE];
	tk_value_set(o, key, t_s ? tk_format_minute(t_s, text) : "–");
}

void tk_value_set_clip(struct tk_value *o, const char *key, const char *text, size_t max)
{
	size_t len = tk_utf8_clip_len(text, max);
	if (text[len])
		tk_value_set_fmt(o, key, "%.*s…", (int)len, text);
	else
		tk_value_set_len(o, key, text, len);
}

/* ---- intervals of measurements ---- */

bool tk_point_has_interval(const struct tk_point *p)
{
	return isfinite(p->lo) && isfinite(p->hi) && (p->n > 1 || p->hi > p->lo);
}

const char *tk_format_point_half_width(const struct tk_point *p, char out[TK_FORMAT_SIZE])
{
	return tk_point_has_interval(p) ? tk_format_half_width(p->value, p->lo, p->hi, out)
	                                : strcpy(out, "");
}

/* ---- finding --------------------------------------------------------------------------------- */

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

static struct tk_value *find(const struct tk_value *object, const char *key)
{
	size_t len = strlen(key);
	return (struct tk_value *)tk_value_find_member(
	        object, key, len, tk_value_hash_key(key, len));
}

struct tk_value *tk_value_find_list(const struct tk_value *object, const char *key)
{
	return find(object, key);
}

const char *tk_value_find_text(const struct tk_value *object, const char *key)
{
	const struct tk_value *v = find(object, key);
	return v && v->text ? v->text : "";
}
