/* A column of a result as JSON, for everything that is written out. Private to store/. */
#ifndef TK_STORE_COLUMN_JSON_H
#define TK_STORE_COLUMN_JSON_H
#include <jansson.h>
#include <sqlite3.h>

/* A new reference; a blob is packed samples and becomes an array of numbers. NULL: out of memory.
 */
json_t *tk_db_column_to_json(sqlite3_stmt *stmt, int at);

#endif
