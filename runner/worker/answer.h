/* The members of a worker's answers, declared once: answer.c has one row a member, by which answers
 * are written and checked. A backend runs in the process that writes them, and may have written
 * anything. Private to worker/ and its tests. */
#ifndef TK_WORKER_ANSWER_H
#define TK_WORKER_ANSWER_H
#include "base/base.h"
#include "core/vocabulary.h"

enum tk_field_type {
	TK_FIELD_REAL,
	TK_FIELD_REAL_OR_NULL,
	TK_FIELD_COUNT,
	TK_FIELD_TEXT,
	TK_FIELD_FLAG,
	TK_FIELD_OBJECT,  /* of the members in `fields` */
	TK_FIELD_SAMPLES, /* array of nanoseconds */
	TK_FIELD_VERSION, /* [major, minor] */
	TK_FIELD_WORDS,   /* array of at most `max` short texts */
	TK_FIELD_ANY_OBJECT
};

/* How a member is stored in the C struct. */
enum tk_field_storage {
	TK_STORED_ELSEWHERE, /* written by the caller */
	TK_STORED_DOUBLE,
	TK_STORED_U64,
	TK_STORED_I64,
	TK_STORED_U32,
	TK_STORED_BOOL,
	TK_STORED_CHARS,   /* array of `size` bytes */
	TK_STORED_POINTER, /* const char * of at most `max` bytes */
	TK_STORED_JSON,    /* array of `size` bytes that holds a JSON object */
	TK_STORED_OUTCOME,
	TK_STORED_MODE,
	TK_STORED_STOP,
	/* the struct, or the part of it at `offset`, has the members in `fields` */
	TK_STORED_MEMBERS
};

enum tk_field_flag {
	TK_FIELD_REQUIRED = 1,          /* in every answer */
	TK_FIELD_REQUIRED_IF_TIMED = 2, /* in an answer whose outcome has a timing */
	TK_FIELD_ONLY_IF_TIMED = 4,     /* not written otherwise */
	TK_FIELD_ONLY_IF_KNOWN = 8      /* not written if it is 0 or not finite */
};

struct tk_field {
	const char *name; /* NULL ends a table */
	enum tk_field_type type;
	int flags;
	double max; /* REAL, COUNT: largest valid value; TEXT: bytes of the longest valid text */
	enum tk_field_storage storage;
	size_t offset, size;
	const struct tk_field *fields;
};

extern const struct tk_field tk_measurement_fields[]; /* struct tk_measurement */
extern const struct tk_field tk_device_info_fields[]; /* struct tk_device_info */
extern const struct tk_field tk_backend_fields[];     /* struct tk_backend */

/* A new object with the members of `source`. NaN and infinity become null. */
json_t *tk_fields_encode(const struct tk_field *fields, const void *source, bool is_timed);

/* {"id":N,"ok":...}: TK_EDATA if it is no answer to request `id`. If ok, *result is a new reference
 * to its result; otherwise *outcome and `message` (size bytes) are the worker's, and *result is
 * NULL. */
int tk_answer_unwrap(const json_t *answer, int64_t id, json_t **result, enum tk_outcome *outcome,
        char *message, size_t size, struct tk_error *err);

/* *clean is a new object with the members of docs/reference/worker-protocol.md and no others.
 * TK_EDATA names the member: "median is missing", "samples[3] is not a finite number of
 * nanoseconds". */
int tk_answer_check_measurement(const json_t *result, enum tk_outcome *outcome, char *message,
        size_t size, json_t **clean, struct tk_error *err);
int tk_answer_check_device(const json_t *result, json_t **clean, struct tk_error *err);
int tk_answer_check_backend(const json_t *result, json_t **clean, struct tk_error *err);
int tk_answer_check_configs(const json_t *result, json_t **clean, struct tk_error *err);

#endif
