#include "store/export/record_writer.h"
#include "store/export/record.h"
#include <stdlib.h>
#include <string.h>

/* ---- CSV ------------------------------------------------------------------------------------- */

static void add_csv_text(struct tk_buf *b, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		tk_buf_add_str(b, text);
		return;
	}
	tk_buf_add_char(b, '"');
	for (; *text; text++) {
		if (*text == '"')
			tk_buf_add_char(b, '"');
		tk_buf_add_char(b, *text);
	}
	tk_buf_add_char(b, '"');
}

/* Lists and objects are written as JSON. */
static void add_csv_value(struct tk_buf *b, const json_t *value)
{
	if (!value || json_is_null(value))
		return;
	if (json_is_string(value)) {
		add_csv_text(b, json_string_value(value));
		return;
	}
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

	if (text)
		add_csv_text(b, text);
	else if (!b->status)
		b->status = TK_ENOMEM;
	free(text);
}

struct csv_row {
	struct tk_buf *out;
	const json_t *record;
	size_t fields;
};

/* Visits every field of a record in order. group NULL: a field of the record itself. */
static void visit_fields(void (*visit)(struct csv_row *row, const char *group, const char *name),
        struct csv_row *row)
{
	visit(row, NULL, TK_RECORD_FORMAT);
	for (size_t g = 0; g < TK_RECORD_GROUP_COUNT; g++) {
		const struct tk_db_table *t = &tk_tables[tk_record_groups[g]];

		for (size_t i = 0; i < t->column_count; i++)
			if (tk_record_has_column(tk_record_groups[g], &t->columns[i]))
				visit(row, t->name, t->columns[i].name);
	}
	visit(row, NULL, TK_RECORD_RUN_SERIES);
	visit(row, NULL, TK_RECORD_SAMPLES);
	for (size_t i = 0; i < TK_RECORD_DETAIL_COUNT; i++)
		visit(row, NULL, tk_record_details[i].name);
}

static void add_heading(struct csv_row *row, const char *group, const char *name)
{
	tk_buf_add_printf(row->out, "%s%s%s%s", row->fields++ ? "," : "", group ? group : "",
	        group ? "." : "", name);
}

static void add_field(struct csv_row *row, const char *group, const char *name)
{
	const json_t *object = group ? json_object_get(row->record, group) : row->record;

	if (row->fields++)
		tk_buf_add_char(row->out, ',');
	add_csv_value(row->out, json_object_get(object, name));
}

static void write_csv_row(struct tk_record_writer *w, const json_t *record)
{
	struct csv_row row = {&w->out.buf, record, 0};

	visit_fields(record ? add_field : add_heading, &row);
	tk_buf_add_str(&w->out.buf, "\r\n");
}

/* ---- all formats ----------------------------------------------------------------------------- */

int tk_record_write(struct tk_record_writer *w, const json_t *record, struct tk_error *err)
{
	bool is_written = true;

	if (w->format == TK_RECORD_CSV) {
		if (!w->count)
			write_csv_row(w, NULL);
		write_csv_row(w, record);
	} else {
		if (w->format == TK_RECORD_JSON)
			tk_buf_add_str(&w->out.buf, w->count ? ",\n" : "[\n");
		is_written = tk_export_add_json(&w->out, record);
		if (w->format == TK_RECORD_NDJSON)
			tk_buf_add_char(&w->out.buf, '\n');
	}
	w->count++;
	if (!is_written)
		return tk_export_fail(TK_ENOMEM, NULL, err);
	return tk_export_flush_if_large(&w->out, err);
}

int tk_record_write_end(struct tk_record_writer *w, struct tk_error *err)
{
	if (w->format == TK_RECORD_JSON)
		tk_buf_add_str(&w->out.buf, w->count ? "\n]\n" : "[]\n");
	if (w->format == TK_RECORD_CSV && !w->count)
		write_csv_row(w, NULL);
	return tk_export_flush(&w->out, err);
}
