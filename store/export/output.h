/* JSON on its way to a file descriptor. */
#ifndef TK_STORE_OUTPUT_H
#define TK_STORE_OUTPUT_H
#include "base/buf.h"
#include <jansson.h>
#include <sqlite3.h>

struct tk_db_column;
struct tk_error;

struct tk_export_output {
	int fd;
	struct tk_buf buf;
};

/* Adds a value in its compact form. False: it has no form in JSON. */
bool tk_export_add_json(struct tk_export_output *o, const json_t *value);
/* Writes the added text, always or only if it is large. */
int tk_export_flush(struct tk_export_output *o, struct tk_error *err);
int tk_export_flush_if_large(struct tk_export_output *o, struct tk_error *err);

/* Adds the expression that selects a column: checksums as hex digits, because readers of JSON round
 * large integers. */
void tk_export_add_column_sql(
        struct tk_buf *sql, const struct tk_db_column *column, const char *alias);
/* A column of a result, as a new reference; packed samples become an array of numbers. NULL: out of
 * memory, or a text that is not UTF-8; *status is set to it. */
json_t *tk_export_column(sqlite3_stmt *stmt, int column, int *status);
/* Sets a member, and takes over its value. *status: TK_ENOMEM if that fails, or `value` is NULL and
 * nothing else has failed before. */
void tk_export_set(json_t *object, const char *name, json_t *value, int *status);
/* The message of such a status. `what` cannot be written as JSON. */
int tk_export_fail(int status, const char *what, struct tk_error *err);

#endif
