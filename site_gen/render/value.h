/* The content of a page before it is HTML: a light tree of texts, markup, flags, lists and objects
 * in an arena.
 *
 * Texts come from outside and are escaped by the template. Markup is made by site_gen itself (SVG);
 * {{{x}}} accepts nothing else. Keys live as long as the arena: literals. */
#ifndef TK_SITE_VALUE_H
#define TK_SITE_VALUE_H
#include "base/base.h"

struct tk_arena;
struct tk_arena *tk_arena_new(void);
void tk_arena_reset(struct tk_arena *a); /* forgets all values, keeps the memory */
void tk_arena_free(struct tk_arena *a);
/* A copy that lives as long as the values. */
const char *tk_arena_text(struct tk_arena *a, const char *text, size_t len);

enum tk_value_type {
	TK_VALUE_TEXT,
	TK_VALUE_MARKUP,
	TK_VALUE_FLAG,
	TK_VALUE_LIST,
	TK_VALUE_OBJECT
};

struct tk_value {
	enum tk_value_type type;
	bool flag;
	uint32_t key_hash, key_len;
	const char *key;  /* as a member of an object */
	const char *text; /* TEXT and MARKUP: len bytes, need not be UTF-8 */
	size_t len;
	struct tk_value *first, *last, *next;
	struct tk_arena *arena;    /* of an object or a list */
	int64_t id;                /* of the row that an object shows; 0: none */
	struct tk_value **buckets; /* of an object: its members by hash, TK_VALUE_BUCKETS lists */
};
#define TK_VALUE_BUCKETS 16

struct tk_value *tk_value_object(struct tk_arena *a);

/* Setters copy the text. A later value of the same key hides the earlier one. */
void tk_value_set(struct tk_value *o, const char *key, const char *text); /* NULL text: "" */
void tk_value_set_len(struct tk_value *o, const char *key, const char *text, size_t len);
void tk_value_set_fmt(struct tk_value *o, const char *key, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
/* The text of three parts. */
void tk_value_set_joined(struct tk_value *o, const char *key, const char *first, const char *second,
        const char *third);
void tk_value_set_int(struct tk_value *o, const char *key, int64_t v);
void tk_value_set_flag(struct tk_value *o, const char *key, bool flag);
void tk_value_set_markup(struct tk_value *o, const char *key, const struct tk_buf *markup);
struct tk_value *tk_value_add_list(struct tk_value *o, const char *key);
struct tk_value *tk_value_add_object(struct tk_value *o, const char *key);
struct tk_value *tk_value_append(struct tk_value *list); /* an object */
void tk_value_append_text(struct tk_value *list, const char *text);

/* ---- for people; `none`: the text for NAN ---- */

void tk_value_set_quantity(
        struct tk_value *o, const char *key, double v, const char *unit, const char *none);
void tk_value_set_change(struct tk_value *o, const char *key, double change, const char *none);
/* "2026-11-21 09:42", or a dash for 0. */
void tk_value_set_time(struct tk_value *o, const char *key, int64_t t_s);
/* Cut to max bytes with an ellipsis. */
void tk_value_set_clip(struct tk_value *o, const char *key, const char *text, size_t max);

/* ---- the interval of a measurement: as text ---- */

struct tk_point;
/* As tk_format_half_width; "" for a measurement of one sample. Returns `out`. */
const char *tk_format_point_half_width(const struct tk_point *p, char out[TK_FORMAT_SIZE]);
bool tk_point_has_interval(const struct tk_point *p);

/* ---- finding ---- */

/* The member of an object; NULL: none. key need not be NUL-terminated; hash: tk_value_hash_key() of
 * it. */
const struct tk_value *tk_value_find_member(
        const struct tk_value *object, const char *key, size_t key_len, uint32_t hash);
/* The member, which must be there. */
struct tk_value *tk_value_find_list(const struct tk_value *object, const char *key);
const char *tk_value_find_text(const struct tk_value *object, const char *key); /* "": no member */
uint32_t tk_value_hash_key(const char *key, size_t len);

#endif
