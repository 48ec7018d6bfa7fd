/* The tracker's own records (store/export/record.h), one a line: what `tracker export --format=ndjson`
 * wrote on another machine. They go into a history of their own first, which is then merged: so
 * that importing twice, or a night that has grown since, is what merging says it is. */
#include "base/archive.h"
#include "base/file.h"
#include "store/export/record.h"
#include "store/import/import.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Large enough for the row of every group. */
union row {
	int64_t id;
	char bytes[512];
	struct tk_revision_row aligned;
};

struct reader {
	const struct tk_import_file *file;
	size_t line;
	int64_t records;
	struct tk_store *store;
	const char *machine;         /* instead of what the records say */
	int64_t ids[TK_TABLE_COUNT]; /* of the rows that the current record names */
};

static int bad(const struct reader *r, struct tk_error *err, const char *group, const char *field,
        const char *what)
{
	return tk_fail(err, TK_EDATA, "%s:%zu: %s%s%s: %s", r->file->path, r->line, group,
	        *group ? "." : "", field, what);
}

static int expected(const struct reader *r, struct tk_error *err, const char *group,
        const char *field, const char *what, const json_t *value)
{
	char text[128], found[TK_IMPORT_DESCRIPTION_SIZE];

	snprintf(text, sizeof(text), "expected %s, found %s", what,
	        tk_import_describe_value(value, found));
	return bad(r, err, group, field, text);
}

/* ---- one row
 * --------------------------------------------------------------------------------------------------
 */

static int set_number(const struct reader *r, const struct tk_db_table *t,
        const struct tk_db_column *c, const json_t *value, void *field, struct tk_error *err)
{
	if (c->kind == TK_COL_REAL) {
		if (value && !json_is_null(value) && !json_is_number(value))
			return expected(r, err, t->name, c->name, "a number", value);
		*(double *)field = json_is_number(value)          ? json_number_value(value)
		                   : (c->flags & TK_COL_NULLABLE) ? NAN
		                                                  : 0;
		return 0;
	}
	if (value && !json_is_null(value) && !json_is_integer(value))
		return expected(r, err, t->name, c->name, "an integer", value);
	if (c->kind == TK_COL_U32)
		*(uint32_t *)field = (uint32_t)json_integer_value(value);
	else
		*(int64_t *)field = json_is_integer(value) ? json_integer_value(value) : c->none;
	return 0;
}

static int set_word(const struct reader *r, const struct tk_db_table *t,
        const struct tk_db_column *c, const json_t *value, int *out, struct tk_error *err)
{
	char text[64];

	if (!tk_vocabulary_parse(c->words, json_string_value(value), out))
		return 0;
	snprintf(text, sizeof(text), "a %s such as \"%s\"", c->words->subject,
	        tk_vocabulary_name(c->words, 0));
	return expected(r, err, t->name, c->name, text, value);
}

static int set_field(const struct reader *r, const struct tk_db_table *t,
        const struct tk_db_column *c, const json_t *object, void *row, struct tk_error *err)
{
	const json_t *value = json_object_get(object, c->name);
	void *field = (char *)row + c->offset;

	if ((c->flags & TK_COL_KEY) && (!value || json_is_null(value)))
		return bad(r, err, t->name, c->name, "is missing");
	if (c->kind != TK_COL_TEXT && c->kind != TK_COL_WORD)
		return set_number(r, t, c, value, field, err);
	if (value && !json_is_null(value) && !json_is_string(value))
		return expected(r, err, t->name, c->name, "a string", value);
	if (c->kind == TK_COL_WORD)
		return set_word(r, t, c, value, field, err);
	*(const char **)field = json_is_string(value) ? json_string_value(value) : "";
	return 0;
}

/* The fields of the object as a row, and as references (by column) refs, or what the record named
 * before. */
static int fill(const struct reader *r, enum tk_table_id table, const int64_t *refs,
        const json_t *object, union row *row, struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	int status = 0;

	if (t->row_size > sizeof(*row))
		return tk_fail(err, TK_EINTERNAL, "the row of %s does not fit", t->name);
	if (!json_is_object(object))
		return expected(r, err, "", t->name, "an object", object);
	memset(row, 0, sizeof(*row));
	for (size_t i = 0; i < t->column_count && !status; i++) {
		const struct tk_db_column *c = &t->columns[i];

		if (c->kind == TK_COL_REF)
			*(int64_t *)(void *)(row->bytes + c->offset) =
			        refs ? refs[i] : r->ids[c->parent];
		else if (c->kind != TK_COL_UID && tk_record_has_column(table, c))
			status = set_field(r, t, c, object, row->bytes, err);
	}
	return status;
}

/* Slugs become file names and addresses: one that the tracker would not have made is not taken
 * over. */
static bool is_slug(const char *slug)
{
	size_t len = strlen(slug);

	return len && len <= TK_SLUG_MAX_LEN + TK_SLUG_TAIL_LEN && slug[0] != '.' &&
	       slug[0] != '-' && slug[len - 1] != '.' &&
	       strspn(slug, "abcdefghijklmnopqrstuvwxyz0123456789._-") == len &&
	       !strstr(slug, "..");
}

static int put(struct reader *r, enum tk_table_id table, union row *row, struct tk_error *err)
{
	struct tk_machine_row *machine = (void *)row;
	struct tk_device_row *device = (void *)row;
	struct tk_series_row *series = (void *)row;
	int64_t *id = &r->ids[table];

	if (table == TK_TABLE_machine && r->machine)
		machine->name = r->machine;
	if (table == TK_TABLE_device && !is_slug(device->slug))
		return tk_store_put_device(r->store, device, id, err);
	if (table == TK_TABLE_series && (r->machine || !is_slug(series->slug))) {
		series->slug = NULL;
		return tk_store_put_series(r->store, series, id, err);
	}
	return tk_row_put(r->store, table, row, id, NULL, err);
}

static int put_object(struct reader *r, enum tk_table_id table, const int64_t *refs,
        const json_t *object, struct tk_error *err)
{
	union row row;
	int status = fill(r, table, refs, object, &row, err);

	r->ids[table] = 0;
	if (!status)
		status = put(r, table, &row, err);
	if (status && !strstr(err->message, r->file->path))
		tk_error_add_context(
		        err, "%s:%zu: %s", r->file->path, r->line, tk_tables[table].name);
	return status;
}

static int put_group(
        struct reader *r, enum tk_table_id table, const json_t *object, struct tk_error *err)
{
	r->ids[table] = 0;
	return object && !json_is_null(object) ? put_object(r, table, NULL, object, err) : 0;
}

/* ---- details
 * ---------------------------------------------------------------------------------------------------
 */

static int put_detail(struct reader *r, const char *name, enum tk_table_id table,
        enum tk_table_id owner, const json_t *record, struct tk_error *err);

/* A row of a detail, or what it refers to: first what that refers to in turn. */
static int put_nested(struct reader *r, enum tk_table_id detail, enum tk_table_id owner,
        enum tk_table_id table, const json_t *object, struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	int64_t refs[TK_COLUMNS_MAX] = {0};
	int status = 0;

	if (table != detail && (!object || json_is_null(object))) {
		r->ids[table] = 0;
		return 0;
	}
	if (!json_is_object(object))
		return expected(r, err, "", t->name, "an object", object);
	for (size_t i = 0; i < t->column_count && !status; i++) {
		const struct tk_db_column *c = &t->columns[i];
		char name[TK_RECORD_NAME_SIZE];

		if (tk_record_has_nested_row(detail, owner, table, c))
			status = put_nested(r, detail, owner, c->parent,
			        json_object_get(object, tk_record_nested_name(c, name)), err);
		if (c->kind == TK_COL_REF)
			refs[i] = r->ids[c->parent];
	}
	if (!status)
		status = put_object(r, table, refs, object, err);
#define DETAIL(name, detail, its_owner) \
	if (!status && table == TK_TABLE_##its_owner && table == TK_TABLE_build && \
	        owner != TK_TABLE_build) \
		status = put_detail(r, name, TK_TABLE_##detail, TK_TABLE_##its_owner, object, err);
	TK_RECORD_DETAILS(DETAIL)
#undef DETAIL
	return status;
}

/* What it names is of this row alone. */
static int put_detail_row(struct reader *r, enum tk_table_id table, enum tk_table_id owner,
        const json_t *object, struct tk_error *err)
{
	int64_t kept[TK_TABLE_COUNT];
	int status;

	memcpy(kept, r->ids, sizeof(kept));
	status = put_nested(r, table, owner, table, object, err);
	memcpy(r->ids, kept, sizeof(kept));
	return status;
}

static int put_detail(struct reader *r, const char *name, enum tk_table_id table,
        enum tk_table_id owner, const json_t *record, struct tk_error *err)
{
	const json_t *array = json_object_get(record, name), *object;
	int status = 0;
	size_t i;

	if (!array || json_is_null(array))
		return 0;
	if (!json_is_array(array))
		return expected(r, err, "", name, "a list", array);
	if (!r->ids[owner])
		return bad(r, err, "", name, "belongs to nothing");
	json_array_foreach ((json_t *)array, i, object)
		if (!status)
			status = put_detail_row(r, table, owner, object, err);
	return status;
}

static int put_samples(struct reader *r, const json_t *record, struct tk_error *err)
{
	const json_t *array = json_object_get(record, TK_RECORD_SAMPLES), *value;
	struct tk_buf bytes = TK_BUF_INIT, packed = TK_BUF_INIT;
	int status = 0;
	size_t i;

	if (!array || json_is_null(array))
		return 0;
	if (!json_is_array(array))
		return expected(r, err, "", TK_RECORD_SAMPLES, "a list", array);
	json_array_foreach ((json_t *)array, i, value) {
		double x = json_number_value(value);

		if (!json_is_number(value))
			status = expected(r, err, "", TK_RECORD_SAMPLES, "numbers", value);
		tk_buf_add(&bytes, &x, sizeof(x));
	}
	if (!status)
		status = tk_buf_status(&bytes, err);
	if (!status && bytes.len)
		status = tk_zstd_compress(bytes.data, bytes.len, &packed, err);
	if (!status && bytes.len) {
		struct tk_sample_row row = {
		        r->ids[TK_TABLE_run], r->ids[TK_TABLE_series], {packed.data, packed.len}};

		status = tk_row_put(r->store, TK_TABLE_sample, &row, NULL, NULL, err);
	}
	tk_buf_free(&bytes);
	tk_buf_free(&packed);
	return status;
}

/* ---- a record
 * --------------------------------------------------------------------------------------------------
 */

static int find_series(struct reader *r, const char *uid, int64_t *id, struct tk_error *err)
{
	sqlite3_stmt *stmt;
	int status = tk_db_prepare_cached(r->store, TK_TABLE_COUNT,
	        "SELECT id FROM series WHERE uid=?1", NULL, 0, &stmt, err);

	if (status)
		return status;
	sqlite3_bind_text(stmt, 1, uid, -1, SQLITE_STATIC);
	*id = sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	return *id ? 0
	           : bad(r, err, "", TK_RECORD_RUN_SERIES,
	                     "no record before this one is of that series");
}

static int put_run(struct reader *r, const json_t *record, struct tk_error *err)
{
	const json_t *object = json_object_get(record, "run"),
	             *of = json_object_get(record, TK_RECORD_RUN_SERIES);
	const char *own =
	        json_string_value(json_object_get(json_object_get(record, "series"), "uid"));
	int64_t series_id = r->ids[TK_TABLE_series];
	int status = 0;

	if (!object || json_is_null(object))
		return 0;
	if (!r->ids[TK_TABLE_night] || !r->ids[TK_TABLE_build])
		return bad(r, err, "", "run",
		        r->ids[TK_TABLE_night] ? "has no build" : "has no night");
	if (of && json_is_null(of))
		r->ids[TK_TABLE_series] = 0;
	else if (json_is_string(of) && own && strcmp(json_string_value(of), own))
		status = find_series(r, json_string_value(of), &r->ids[TK_TABLE_series], err);
	if (!status)
		status = put_group(r, TK_TABLE_run, object, err);
	r->ids[TK_TABLE_series] = series_id;
	return status;
}

static int put_point(struct reader *r, const json_t *record, struct tk_error *err)
{
	const json_t *object = json_object_get(record, "measurement");
	union row row;
	struct tk_point *point = (void *)&row;
	int status;

	if (!object || json_is_null(object))
		return 0;
	if (!r->ids[TK_TABLE_series] || !r->ids[TK_TABLE_run])
		return bad(r, err, "", "measurement",
		        r->ids[TK_TABLE_run] ? "has no series" : "has no run");
	if (!json_is_number(json_object_get(object, "value")))
		return expected(r, err, "measurement", "value", "a number",
		        json_object_get(object, "value"));
	status = fill(r, TK_TABLE_measurement, NULL, object, &row, err);
	if (status)
		return status;
	point->as_of_s =
	        json_integer_value(json_object_get(json_object_get(record, "run"), "as_of_s"));
	status = tk_row_put(r->store, TK_TABLE_measurement, &row, NULL, NULL, err);
	return status ? status : put_samples(r, record, err);
}

static int put_record(struct reader *r, const json_t *record, struct tk_error *err)
{
	static const enum tk_table_id before[] = {TK_TABLE_machine, TK_TABLE_device,
	        TK_TABLE_environment, TK_TABLE_upstream, TK_TABLE_revision, TK_TABLE_build,
	        TK_TABLE_problem, TK_TABLE_series, TK_TABLE_night};
	int status = 0;

	memset(r->ids, 0, sizeof(r->ids));
	if (!json_is_object(json_object_get(record, "machine")) ||
	        !json_is_object(json_object_get(record, "night")))
		return bad(r, err, "", "night",
		        "this is no record of `tracker export`: machine and night are missing");
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]) && !status; i++)
		status = put_group(
		        r, before[i], json_object_get(record, tk_tables[before[i]].name), err);
#define DETAIL(name, table, owner) \
	if (!status) \
		status = put_detail(r, name, TK_TABLE_##table, TK_TABLE_##owner, record, err);
	TK_RECORD_DETAILS(DETAIL)
#undef DETAIL
	if (!status)
		status = put_run(r, record, err);
	if (!status)
		status = put_point(r, record, err);
	return status;
}

static int read_all(struct reader *r, struct tk_error *err)
{
	struct tk_import_lines lines = {.file = r->file};
	bool more = false;
	int status = tk_store_begin(r->store, err);

	if (status)
		return status;
	while (!(status = tk_import_read_line(&lines, &more, err)) && more) {
		json_error_t where;
		json_t *record;

		if (lines.skip)
			continue;
		r->line = lines.number;
		record =
		        json_loadb(lines.line.data, lines.line.len, JSON_REJECT_DUPLICATES, &where);
		r->records++;
		status = record ? put_record(r, record, err)
		                : tk_fail(err, TK_EDATA, "%s:%zu:%d: %s", r->file->path, r->line,
		                          where.column, where.text);
		json_decref(record);
		if (status)
			break;
	}
	tk_buf_free(&lines.line);
	return tk_db_end_transaction(r->store, status, err);
}

/* ---- the file
 * ---------------------------------------------------------------------------------------------------
 */

static bool sniff(const struct tk_import_file *f)
{
	return !strncmp(f->head, "{\"machine\":", 11) && strstr(f->head, "\"device\":");
}

static int read_into(
        struct reader *r, struct tk_import_sink *sink, const char *path, struct tk_error *err)
{
	struct tk_merge_counts counts = {{0}};
	int status = tk_store_open(path, TK_STORE_CREATE, &r->store, err);

	/* It is gone at the end whatever happens. */
	if (!status)
		status = tk_db_exec(r->store, "PRAGMA synchronous=OFF", err);
	if (!status)
		status = read_all(r, err);
	if (!status)
		status = tk_store_merge(sink->store, r->store, &counts, err);
	tk_store_close(r->store);
	sink->results += r->records;
	sink->counts.nights += counts.added[TK_MERGE_NIGHTS];
	sink->counts.series += counts.added[TK_MERGE_SERIES];
	sink->counts.points += counts.added[TK_MERGE_POINTS];
	return status;
}

static int read_file(
        const struct tk_import_file *f, struct tk_import_sink *sink, struct tk_error *err)
{
	struct reader r = {.file = f, .machine = sink->options->machine};
	const char *tmp = getenv("TMPDIR");
	char *dir = NULL, *path = NULL;
	int status = tk_dir_create_temp(tmp && *tmp ? tmp : "/tmp", "tracker-import-", &dir, err);

	if (status)
		return status;
	path = tk_path_join(dir, "records.db");
	status = path ? read_into(&r, sink, path, err) : tk_fail(err, TK_ENOMEM, "out of memory");
	tk_dir_remove(dir, NULL);
	free(path);
	free(dir);
	return status;
}

const struct tk_import_format tk_import_tracker = {sniff, read_file, NULL};
