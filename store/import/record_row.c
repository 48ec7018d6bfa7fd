#include "store/import/record_row.h"
#include "base/try.h"
#include "store/export/record.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

int tk_record_fail(const struct tk_record_reader *r, struct tk_error *err, const char *group,
        const char *field, const char *what)
{
	return tk_fail(err, TK_EDATA, "%s:%zu: %s%s%s: %s", r->file->path, r->line, group,
	        *group ? "." : "", field, what);
}

int tk_record_fail_expected(const struct tk_record_reader *r, struct tk_error *err,
        const char *group, const char *field, const char *what, const json_t *value)
{
	char text[128], found[TK_IMPORT_DESCRIPTION_SIZE];

	snprintf(text, sizeof(text), "expected %s, found %s", what,
	        tk_import_describe_value(value, found));
	return tk_record_fail(r, err, group, field, text);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static int read_real(const struct tk_record_reader *r, const struct tk_db_table *t,
        const struct tk_db_column *c, const json_t *value, double *out, struct tk_error *err)
{
	if (value && !json_is_null(value) && !json_is_number(value))
		return tk_record_fail_expected(r, err, t->name, c->name, "a number", value);
	*out = json_is_number(value)          ? json_number_value(value)
	       : (c->flags & TK_COL_NULLABLE) ? NAN
	                                      : 0;
	return 0;
}

static int read_integer(const struct tk_record_reader *r, const struct tk_db_table *t,
        const struct tk_db_column *c, const json_t *value, void *out, struct tk_error *err)
{
	if (value && !json_is_null(value) && !json_is_integer(value))
		return tk_record_fail_expected(r, err, t->name, c->name, "an integer", value);
	if (c->kind == TK_COL_U32 &&
	        (json_integer_value(value) < 0 || json_integer_value(value) > UINT32_MAX))
		return tk_record_fail_expected(
		        r, err, t->name, c->name, "an integer from 0 to 4294967295", value);
	if (c->kind == TK_COL_U32)
		*(uint32_t *)out = (uint32_t)json_integer_value(value);
	else
		*(int64_t *)out = json_is_integer(value) ? json_integer_value(value) : c->none;
	return 0;
}

static int read_text(const struct tk_record_reader *r, const struct tk_db_table *t,
        const struct tk_db_column *c, const json_t *value, const char **out, struct tk_error *err)
{
	if (value && !json_is_null(value) && !json_is_string(value))
		return tk_record_fail_expected(r, err, t->name, c->name, "a string", value);
	*out = json_is_string(value) ? json_string_value(value) : "";
	return 0;
}

static int read_word(const struct tk_record_reader *r, const struct tk_db_table *t,
        const struct tk_db_column *c, const json_t *value, int *out, struct tk_error *err)
{
	char text[64];

	if (!tk_vocabulary_parse(c->words, json_string_value(value), out))
		return 0;
	snprintf(text, sizeof(text), "a %s such as \"%s\"", c->words->subject,
	        tk_vocabulary_name(c->words, 0));
	return tk_record_fail_expected(r, err, t->name, c->name, text, value);
}

static int read_field(const struct tk_record_reader *r, const struct tk_db_table *t,
        const struct tk_db_column *c, const json_t *object, void *row, struct tk_error *err)
{
	const json_t *value = json_object_get(object, c->name);
	void *field = (char *)row + c->offset;

	if ((c->flags & TK_COL_KEY) && (!value || json_is_null(value)))
		return tk_record_fail(r, err, t->name, c->name, "is missing");
	if (c->kind == TK_COL_REAL)
		return read_real(r, t, c, value, field, err);
	if (c->kind == TK_COL_WORD)
		return read_word(r, t, c, value, field, err);
	if (c->kind == TK_COL_TEXT)
		return read_text(r, t, c, value, field, err);
	return read_integer(r, t, c, value, field, err);
}

int tk_record_read_row(const struct tk_record_reader *r, enum tk_table_id table,
        const int64_t *refs, const json_t *object, union tk_record_row *row, struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	int status = 0;

	if (t->row_size > sizeof(*row))
		return tk_fail(err, TK_EINTERNAL, "a row of %s is larger than union tk_record_row",
		        t->name);
	if (!json_is_object(object))
		return tk_record_fail_expected(r, err, "", t->name, "an object", object);
	memset(row, 0, sizeof(*row));
	for (size_t i = 0; i < t->column_count && !status; i++) {
		const struct tk_db_column *c = &t->columns[i];

		if (c->kind == TK_COL_REF)
			*(int64_t *)(void *)(row->bytes + c->offset) =
			        refs ? refs[i] : r->ids[c->parent];
		else if (c->kind != TK_COL_UID && c->kind != TK_COL_CHECKSUM &&
		         tk_record_has_column(table, c))
			status = read_field(r, t, c, object, row->bytes, err);
	}
	return status;
}

/* ---- storing --------------------------------------------------------------------------------- */

static int put_machine(struct tk_record_reader *r, struct tk_machine_row *row, const json_t *object,
        int64_t *id, struct tk_error *err)
{
	const char *given = json_string_value(json_object_get(object, "uid"));
	const struct tk_machine_row *known;
	AUTO(tk_rows) rows = {0};

	if (r->machine) {
		row->name = r->machine;
		row->renamed_s = 0;
	} else if (row->renamed_s > 0 && given && strlen(given) == TK_UID_SIZE - 1 &&
	           strspn(given, "0123456789abcdef") == TK_UID_SIZE - 1) {
		row->uid = given;
	}
	/* A host whose machine was renamed elsewhere begins with an empty history and the new name:
	 * it is that machine. */
	TRY(tk_store_list(r->into, TK_TABLE_machine, "name=?1", TK_ARGS(row->name), &rows, err));
	known = rows.rows;
	r->has_other_identity =
	        r->machine ||
	        (known && (row->uid ? strcmp(known->uid, row->uid) != 0 : known->renamed_s > 0));
	if (known) {
		row->uid = known->uid;
		row->renamed_s = known->renamed_s;
	}
	return tk_store_put(r->store, TK_TABLE_machine, row, id, err);
}

static int put_row(struct tk_record_reader *r, enum tk_table_id table, union tk_record_row *row,
        const json_t *object, struct tk_error *err)
{
	if (table == TK_TABLE_machine)
		return put_machine(r, (void *)row, object, &r->ids[table], err);
	return tk_store_put(r->store, table, row, &r->ids[table], err);
}

int tk_record_put_row(struct tk_record_reader *r, enum tk_table_id table, const int64_t *refs,
        const json_t *object, struct tk_error *err)
{
	union tk_record_row row;
	int status = tk_record_read_row(r, table, refs, object, &row, err);
	bool has_position = status;

	r->ids[table] = 0;
	if (!status)
		status = put_row(r, table, &row, object, err);
	if (status && !has_position)
		tk_error_add_context(
		        err, "%s:%zu: %s", r->file->path, r->line, tk_tables[table].name);
	return status;
}
