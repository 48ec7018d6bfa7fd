/* Lists of the history: a command that lists is a query, whose rows are JSON objects, and the
 * columns of a table that show their members. */
#ifndef TK_CLI_RECORDS_H
#define TK_CLI_RECORDS_H
#include <jansson.h>

#include "cli/table.h"
#include "store/select.h"

struct tk_error;
struct tk_globals;
struct tk_store;

#define TK_SQL_TEXT(text_) \
	{ \
		.type = TK_CELL_TEXT, .text = (text_) \
	}
#define TK_SQL_INT(integer_) \
	{ \
		.type = TK_CELL_INT, .integer = (integer_) \
	}

/* The rows of a query as an array of objects, which the caller frees; it is empty after a failure.
 * The column "a.b" is the member b of the object a; a is null where its first member is. A column
 * "name:time" holds seconds (null: 0) and is written in ISO 8601, "name:json" a stored document,
 * "name:bool" 0 or 1, "name:text" a text that is null where it is "". */
int tk_records_select(struct tk_store *s, const char *sql, const struct tk_arg *args, json_t **out,
        struct tk_error *err);

/* Prints rows as JSON, or as a table; `empty` where there are none (text only). Frees `rows`. */
int tk_records_print(const struct tk_globals *g, const struct tk_column *columns, json_t *rows,
        bool as_json, const char *empty, struct tk_error *err);

/* Members by path: "change.value". NULL and "" where there is none. */
json_t *tk_record_get(const json_t *row, const char *path);
const char *tk_record_text(const json_t *row, const char *path);
double tk_record_number(const json_t *row, const char *path); /* NAN: none */

/* The number of a night by its number, the start of its uid, or "last" for the newest. TK_EUSAGE:
 * none or several. */
int tk_records_find_night(
        struct tk_store *s, const char *text, int64_t *night_id, struct tk_error *err);

#endif
