/* See column_json.h. */
#include "store/export/column_json.h"
#include "base/archive.h"
#include "base/buf.h"
#include "store/db/internal.h"
#include <string.h>

static json_t *numbers_of(const void *data, size_t size)
{
	struct tk_buf bytes = TK_BUF_INIT;
	json_t *array = json_array();

	if (array && tk_zstd_decompress(data, size, TK_SAMPLES_MAX, &bytes, NULL) == 0)
		for (size_t i = 0; i + sizeof(double) <= bytes.len; i += sizeof(double)) {
			double x;

			memcpy(&x, bytes.data + i, sizeof(x));
			json_array_append_new(array, json_real(x));
		}
	tk_buf_free(&bytes);
	return array;
}

json_t *tk_db_column_to_json(sqlite3_stmt *stmt, int at)
{
	switch (sqlite3_column_type(stmt, at)) {
	case SQLITE_INTEGER:
		return json_integer(sqlite3_column_int64(stmt, at));
	case SQLITE_FLOAT:
		return json_real(sqlite3_column_double(stmt, at));
	case SQLITE_TEXT:
		return json_string((const char *)sqlite3_column_text(stmt, at));
	case SQLITE_BLOB:
		return numbers_of(
		        sqlite3_column_blob(stmt, at), (size_t)sqlite3_column_bytes(stmt, at));
	default:
		return json_null();
	}
}
