#include "store/export/output.h"
#include "base/archive.h"
#include "base/text.h"
#include "store/db/internal.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define LARGE ((size_t)256 << 10)

static int add_bytes(const char *bytes, size_t size, void *buf)
{
	tk_buf_add(buf, bytes, size);
	return 0;
}

bool tk_export_add_json(struct tk_export_output *o, const json_t *value)
{
	return json_dump_callback(value, add_bytes, &o->buf, JSON_COMPACT | JSON_ENCODE_ANY) == 0;
}

int tk_export_flush(struct tk_export_output *o, struct tk_error *err)
{
	int status = tk_buf_status(&o->buf, err);

	for (size_t done = 0; !status && done < o->buf.len;) {
		ssize_t n = write(o->fd, o->buf.data + done, o->buf.len - done);

		if (n < 0 && errno != EINTR)
			status = tk_fail_errno(err, "cannot write the export");
		else if (n > 0)
			done += (size_t)n;
	}
	tk_buf_clear(&o->buf);
	return status;
}

int tk_export_flush_if_large(struct tk_export_output *o, struct tk_error *err)
{
	return o->buf.len >= LARGE ? tk_export_flush(o, err) : 0;
}

/* Damaged samples are an empty list. */
static json_t *unpack_samples(const void *data, size_t size, int *status)
{
	struct tk_buf bytes = TK_BUF_INIT;
	json_t *array = json_array();
	int unpacked = tk_zstd_decompress(data, size, TK_SAMPLES_MAX, &bytes, NULL);
	bool failed = !array || unpacked == TK_ENOMEM;

	for (size_t i = 0; !failed && !unpacked && i + sizeof(double) <= bytes.len;
	        i += sizeof(double)) {
		double x;

		memcpy(&x, bytes.data + i, sizeof(x));
		failed = json_array_append_new(array, json_real(x)) != 0;
	}
	tk_buf_free(&bytes);
	if (failed)
		*status = TK_ENOMEM;
	return array;
}

static json_t *text_column(sqlite3_stmt *stmt, int column, int *status)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);
	json_t *value = text ? json_string(text) : NULL;

	if (!value)
		*status = text && !tk_utf8_is_valid(text) ? TK_EDATA : TK_ENOMEM;
	return value;
}

void tk_export_set(json_t *object, const char *name, json_t *value, int *status)
{
	if (json_object_set_new(object, name, value) && !*status)
		*status = TK_ENOMEM;
}

int tk_export_fail(int status, const char *what, struct tk_error *err)
{
	return status == TK_ENOMEM ? tk_fail(err, status, "out of memory")
	                           : tk_fail(err, status, "%s cannot be written as JSON", what);
}

void tk_export_add_column_sql(
        struct tk_buf *sql, const struct tk_db_column *column, const char *alias)
{
	tk_buf_add_printf(sql, column->kind == TK_COL_CHECKSUM ? "printf('%%016x',%s.%s)" : "%s.%s",
	        alias, column->name);
}

json_t *tk_export_column(sqlite3_stmt *stmt, int column, int *status)
{
	switch (sqlite3_column_type(stmt, column)) {
	case SQLITE_INTEGER:
		return json_integer(sqlite3_column_int64(stmt, column));
	case SQLITE_FLOAT:
		return json_real(sqlite3_column_double(stmt, column));
	case SQLITE_TEXT:
		return text_column(stmt, column, status);
	case SQLITE_BLOB:
		return unpack_samples(sqlite3_column_blob(stmt, column),
		        (size_t)sqlite3_column_bytes(stmt, column), status);
	default:
		return json_null();
	}
}
