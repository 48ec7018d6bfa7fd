/* Records as data: one table of fields for each type of record, from which its JSON and its CSV
 * are made; docs/reference/json.md says what they mean.
 *
 * Shapes that several records have (a value with its interval, A/B runs, a commit) are tables of
 * their own, so that each has the same members in every document: docs/reference/json.md. */
#ifndef TK_CORE_FIELDS_H
#define TK_CORE_FIELDS_H
#include "core/vocabulary.h"

enum tk_field_kind {
	TK_FIELD_TEXT = 1, /* null: "" */
	TK_FIELD_WORD,     /* an enum with a vocabulary */
	TK_FIELD_BOOL,
	TK_FIELD_INT,
	TK_FIELD_REAL,   /* null: not finite */
	TK_FIELD_TIME,   /* seconds since 1970, written as 2026-11-21T09:42:00Z; null: 0 */
	TK_FIELD_STORED, /* the text of a JSON document */
	TK_FIELD_OBJECT, /* members of its own; null where the first one is */
	TK_FIELD_MADE,   /* a value that a function makes */
	TK_FIELD_LIST,   /* an array or object that a function makes; not in CSV */
};

enum tk_field_storage {
	TK_STORED_CHARS,
	TK_STORED_POINTER,
	TK_STORED_DOUBLE,
	TK_STORED_INT64,
	TK_STORED_UINT32,
	TK_STORED_SIZE,
	TK_STORED_INT,
	TK_STORED_BOOL
};

struct tk_field {
	const char *name;
	enum tk_field_kind kind;
	enum tk_field_storage storage;
	size_t offset;
	const struct tk_vocabulary *words; /* WORD */
	const struct tk_field *members;    /* OBJECT; a table ends with name == NULL */
	json_t *(*make)(const void *row, const void *context);
	bool is_null_from; /* INT: values below `least` are null */
	int64_t least;
};

/* An array of char is a text itself, a char * points to one. */
#define TK_FIELD_STORAGE(x) \
	(__builtin_types_compatible_p(__typeof__(x), char *) \
	                ? TK_STORED_POINTER \
	                : _Generic((x), char *: TK_STORED_CHARS, const char *: TK_STORED_POINTER, \
	                          double: TK_STORED_DOUBLE, int64_t: TK_STORED_INT64, \
	                          uint32_t: TK_STORED_UINT32, size_t: TK_STORED_SIZE, \
	                          int: TK_STORED_INT, bool: TK_STORED_BOOL))
#define TK_FIELD_AT(type, member) \
	.offset = offsetof(type, member), .storage = TK_FIELD_STORAGE(((type *)0)->member)
#define TK_FIELD(kind_, name_, type, member) \
	.name = (name_), .kind = TK_FIELD_##kind_, TK_FIELD_AT(type, member)
#define TK_FIELD_WORDS(name_, type, member, words_) \
	.name = (name_), .kind = TK_FIELD_WORD, .words = &(words_), TK_FIELD_AT(type, member)
#define TK_FIELD_INT_FROM(name, type, member, least_) \
	TK_FIELD(INT, name, type, member), .is_null_from = true, .least = (least_)
#define TK_FIELD_MEMBERS(name_, type, member, members_) \
	.name = (name_), .kind = TK_FIELD_OBJECT, .offset = offsetof(type, member), \
	.members = (members_)
/* Members of the record itself, as an object. */
#define TK_FIELD_GROUP(name_, members_) \
	.name = (name_), .kind = TK_FIELD_OBJECT, .members = (members_)
#define TK_FIELD_MAKE(kind_, name_, make_) \
	.name = (name_), .kind = TK_FIELD_##kind_, .make = (make_)

/* A new object; `context` is for the functions of MADE and LIST. */
json_t *tk_fields_to_json(const struct tk_field *fields, const void *row, const void *context);
json_t *tk_time_to_json(int64_t time_s);

/* RFC 4180; `row` NULL: the names of the columns. The members of an object are columns NAME_MEMBER,
 * its "value" is NAME. */
void tk_fields_write_csv_row(const struct tk_field *fields, const json_t *row, FILE *out);

/* ---- shapes ---------------------------------------------------------------------------------- */

extern const struct tk_field tk_estimate_fields[];  /* of struct tk_estimate */
extern const struct tk_field tk_ab_result_fields[]; /* of struct tk_ab_result */

/* A commit as a culprit: what `first_bad_commit` is everywhere. */
struct tk_first_bad_commit {
	const char *rev, *subject, *author;
	int64_t author_time_s;
	double change, confidence;
};
extern const struct tk_field tk_first_bad_commit_fields[];

#endif
