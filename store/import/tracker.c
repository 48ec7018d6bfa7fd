/* The tracker's own records (store/export/record.h), one a line: what `tracker export
 * --format=ndjson` wrote on another machine. They go into a temporary history, which is merged at
 * the end: importing a night again, or more of it, follows the rules of a merge. */
#include "base/base.h"
#include "store/export/record.h"
#include "store/import/import.h"
#include <inttypes.h>
#include <math.h>

#define LINE_MAX_BYTES ((size_t)64 << 20)

/* Large enough for the row of every group. */
union record_row {
	int64_t id;
	char bytes[512];
	struct tk_revision_row aligned;
};

struct reader {
	const struct tk_import_file *file;
	size_t line;
	int64_t record_count;
	struct tk_store *store;
	struct tk_store *into;       /* where the records go in the end */
	const char *machine;         /* instead of the name in the records; NULL: that name */
	bool has_other_identity;     /* the machine has another uid than in the records */
	int64_t ids[TK_TABLE_COUNT]; /* of the rows that the current record refers to */
};

/* "FILE:LINE: GROUP.FIELD: what"; group "": a field of the record itself. */
static int fail(const struct reader *r, struct tk_error *err, const char *group, const char *field,
        const char *what)
{
	return tk_fail(err, TK_EDATA, "%s:%zu: %s%s%s: %s", r->file->path, r->line, group,
	        *group ? "." : "", field, what);
}

static int fail_expected(const struct reader *r, struct tk_error *err, const char *group,
        const char *field, const char *what, const json_t *value)
{
	char text[128], found[TK_IMPORT_DESCRIPTION_SIZE];

	snprintf(text, sizeof(text), "expected %s, found %s", what,
	        tk_import_describe_value(value, found));
	return fail(r, err, group, field, text);
}

/* ---- rows from objects, by the descriptors of the tables ------------------------------------- */

static int read_word(const struct reader *r, const struct tk_db_table *t,
        const struct tk_db_column *c, const json_t *value, int *out, struct tk_error *err)
{
	char text[64];

	if (!tk_vocabulary_parse(c->words, json_string_value(value), out))
		return 0;
	snprintf(text, sizeof(text), "a %s such as \"%s\"", c->words->subject,
	        tk_vocabulary_name(c->words, 0));
	return fail_expected(r, err, t->name, c->name, text, value);
}

/* What is missing or null has the value of a column without one. */
static int read_field(const struct reader *r, const struct tk_db_table *t,
        const struct tk_db_column *c, const json_t *object, void *row, struct tk_error *err)
{
	const json_t *value = json_object_get(object, c->name);
	const bool is_null = !value || json_is_null(value);
	const int64_t integer = is_null ? c->none : json_integer_value(value);
	void *field = (char *)row + c->offset;

	if ((c->flags & TK_COL_KEY) && is_null)
		return fail(r, err, t->name, c->name, "is missing");
	if (c->kind == TK_COL_WORD)
		return read_word(r, t, c, value, field, err);
	const bool is_real = c->kind == TK_COL_REAL, is_text = c->kind == TK_COL_TEXT;

	if (!is_null && !(is_real         ? json_is_number(value)
	                        : is_text ? json_is_string(value)
	                                  : json_is_integer(value)))
		return fail_expected(r, err, t->name, c->name,
		        is_real   ? "a number"
		        : is_text ? "a string"
		                  : "an integer",
		        value);
	if (c->kind == TK_COL_U32 && (integer < 0 || integer > UINT32_MAX))
		return fail_expected(
		        r, err, t->name, c->name, "an integer from 0 to 4294967295", value);
	if (is_real)
		*(double *)field = !is_null                       ? json_number_value(value)
		                   : (c->flags & TK_COL_NULLABLE) ? NAN
		                                                  : 0;
	else if (is_text)
		*(const char **)field = is_null ? "" : json_string_value(value);
	else if (c->kind == TK_COL_U32)
		*(uint32_t *)field = (uint32_t)integer;
	else
		*(int64_t *)field = integer;
	return 0;
}

/* The object as a row. Its references are refs[column], or r->ids where refs is NULL. Strings of
 * the row belong to the object. */
static int read_row(const struct reader *r, enum tk_table_id table, const int64_t *refs,
        const json_t *object, union record_row *row, struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];

	if (t->row_size > sizeof(*row))
		return tk_fail(
		        err, TK_EINTERNAL, "a row of %s is larger than union record_row", t->name);
	if (!json_is_object(object))
		return fail_expected(r, err, "", t->name, "an object", object);
	memset(row, 0, sizeof(*row));
	for (size_t i = 0; i < t->column_count; i++) {
		const struct tk_db_column *c = &t->columns[i];

		if (c->kind == TK_COL_REF)
			*(int64_t *)(void *)(row->bytes + c->offset) =
			        refs ? refs[i] : r->ids[c->parent];
		else if (c->kind != TK_COL_UID && c->kind != TK_COL_CHECKSUM &&
		         tk_record_has_column(table, c))
			TRY(read_field(r, t, c, object, row->bytes, err));
	}
	return 0;
}

static int put_machine(struct reader *r, struct tk_machine_row *row, const json_t *object,
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

static int put_row(struct reader *r, enum tk_table_id table, union record_row *row,
        const json_t *object, struct tk_error *err)
{
	if (table == TK_TABLE_machine)
		return put_machine(r, (void *)row, object, &r->ids[table], err);
	return tk_store_put(r->store, table, row, &r->ids[table], err);
}

/* Stores the object and sets r->ids[table]. */
static int put_object(struct reader *r, enum tk_table_id table, const int64_t *refs,
        const json_t *object, struct tk_error *err)
{
	union record_row row;

	r->ids[table] = 0;
	TRY(read_row(r, table, refs, object, &row, err));
	return put_row(r, table, &row, object, err)
	               ? tk_error_add_context(
	                         err, "%s:%zu: %s", r->file->path, r->line, tk_tables[table].name)
	               : 0;
}

static int put_group(
        struct reader *r, enum tk_table_id table, const json_t *object, struct tk_error *err)
{
	r->ids[table] = 0;
	return object && !json_is_null(object) ? put_object(r, table, NULL, object, err) : 0;
}

/* ---- details --------------------------------------------------------------------------------- */

static int put_detail(struct reader *r, const struct tk_record_detail *d, const json_t *record,
        struct tk_error *err);

static int put_build_details(struct reader *r, const json_t *build, struct tk_error *err)
{
	for (size_t i = 0; i < TK_RECORD_DETAIL_COUNT; i++)
		if (tk_record_details[i].owner == TK_TABLE_build)
			TRY(put_detail(r, &tk_record_details[i], build, err));
	return 0;
}

/* A row of a detail, or one that it refers to, after the rows that this one refers to. */
static int put_nested(struct reader *r, const struct tk_record_detail *d, enum tk_table_id table,
        const json_t *object, struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	int64_t refs[TK_COLUMNS_MAX] = {0};

	if (table != d->table && (!object || json_is_null(object))) {
		r->ids[table] = 0;
		return 0;
	}
	if (!json_is_object(object))
		return fail_expected(r, err, "", t->name, "an object", object);
	for (size_t i = 0; i < t->column_count; i++) {
		const struct tk_db_column *c = &t->columns[i];
		char name[TK_RECORD_NAME_SIZE];

		if (tk_record_has_nested_row(d->table, d->owner, table, c))
			TRY(put_nested(r, d, c->parent,
			        json_object_get(object, tk_record_nested_name(c, name)), err));
		if (c->kind == TK_COL_REF)
			refs[i] = r->ids[c->parent];
	}
	TRY(put_object(r, table, refs, object, err));
	return table == TK_TABLE_build && d->owner != TK_TABLE_build
	               ? put_build_details(r, object, err)
	               : 0;
}

static int put_detail(struct reader *r, const struct tk_record_detail *d, const json_t *record,
        struct tk_error *err)
{
	const json_t *array = json_object_get(record, d->name), *object;
	int64_t saved[TK_TABLE_COUNT];
	size_t i;

	if (!array || json_is_null(array))
		return 0;
	if (!json_is_array(array))
		return fail_expected(r, err, "", d->name, "a list", array);
	if (!r->ids[d->owner])
		return fail(r, err, "", d->name, "belongs to nothing");
	/* The rows that a detail refers to are not those of the record. */
	memcpy(saved, r->ids, sizeof(saved));
	json_array_foreach ((json_t *)array, i, object) {
		TRY(put_nested(r, d, d->table, object, err));
		memcpy(r->ids, saved, sizeof(saved));
	}
	return 0;
}

static int put_samples(struct reader *r, const json_t *record, struct tk_error *err)
{
	const json_t *array = json_object_get(record, TK_RECORD_SAMPLES), *value;
	AUTO(tk_buf) bytes = {0};
	size_t i;

	if (!array || json_is_null(array))
		return 0;
	if (!json_is_array(array))
		return fail_expected(r, err, "", TK_RECORD_SAMPLES, "a list", array);
	json_array_foreach ((json_t *)array, i, value) {
		double x = json_number_value(value);

		if (!json_is_number(value))
			return fail_expected(r, err, "", TK_RECORD_SAMPLES, "numbers", value);
		tk_buf_add(&bytes, &x, sizeof(x));
	}
	return bytes.len ? tk_samples_put(r->store, r->ids[TK_TABLE_run], r->ids[TK_TABLE_series],
	                           (const double *)(const void *)bytes.data,
	                           bytes.len / sizeof(double), err)
	                 : 0;
}

/* ---- a record -------------------------------------------------------------------------------- */

static int find_series(struct reader *r, const char *uid, int64_t *id, struct tk_error *err)
{
	TRY(tk_store_select_int(
	        r->store, "SELECT id FROM series WHERE uid=?1", TK_ARGS(uid), 0, id, err));
	return *id ? 0
	           : fail(r, err, "", TK_RECORD_RUN_SERIES,
	                     "no record before this one is of that series");
}

/* Sets the series that the run belongs to: that of the record, another one, or none. */
static int set_run_series(struct reader *r, const json_t *record, struct tk_error *err)
{
	const json_t *run_series = json_object_get(record, TK_RECORD_RUN_SERIES);
	const char *series =
	        json_string_value(json_object_get(json_object_get(record, "series"), "uid"));

	if (run_series && json_is_null(run_series))
		r->ids[TK_TABLE_series] = 0;
	else if (json_is_string(run_series) && series &&
	         strcmp(json_string_value(run_series), series))
		return find_series(r, json_string_value(run_series), &r->ids[TK_TABLE_series], err);
	return 0;
}

static int put_run(struct reader *r, const json_t *record, struct tk_error *err)
{
	const json_t *run = json_object_get(record, "run");
	int64_t series_id = r->ids[TK_TABLE_series];

	if (!run || json_is_null(run))
		return 0;
	if (!r->ids[TK_TABLE_night] || !r->ids[TK_TABLE_build])
		return fail(r, err, "", "run",
		        r->ids[TK_TABLE_night] ? "has no build" : "has no night");
	int status = set_run_series(r, record, err);

	if (!status)
		status = put_group(r, TK_TABLE_run, run, err);
	r->ids[TK_TABLE_series] = series_id;
	return status;
}

/* A point with a checksum has to be the one that was exported. With another machine it has another
 * identity, and so another checksum. */
static int check_point(
        struct reader *r, const struct tk_point *point, const json_t *object, struct tk_error *err)
{
	const json_t *given = json_object_get(object, "checksum");
	char expected[TK_CHECKSUM_DIGITS + 1];
	int64_t checksum = 0;

	if (!given || json_is_null(given) || r->has_other_identity)
		return 0;
	if (!json_is_string(given))
		return fail_expected(r, err, "measurement", "checksum", "a string", given);
	TRY(tk_store_select_int(r->store,
	        "SELECT checksum FROM measurement WHERE series_id=?1 AND as_of_s=?2 AND run_id=?3",
	        TK_ARGS(point->series_id, point->as_of_s, point->run_id), 0, &checksum, err));
	snprintf(expected, sizeof(expected), "%016" PRIx64, (uint64_t)checksum);
	if (!strcmp(expected, json_string_value(given)))
		return 0;
	return tk_fail(err, TK_EDATA,
	        "%s:%zu: measurement.checksum: the record was changed after its export: its "
	        "checksum is \"%.*s\", its content has \"%s\"",
	        r->file->path, r->line, TK_CHECKSUM_DIGITS, json_string_value(given), expected);
}

/* A measured time is positive. */
static int check_value(
        struct reader *r, const json_t *record, const json_t *object, struct tk_error *err)
{
	const json_t *value = json_object_get(object, "value");
	const char *metric =
	        json_string_value(json_object_get(json_object_get(record, "series"), "metric"));

	if (!json_is_number(value))
		return fail_expected(r, err, "measurement", "value", "a number", value);
	if (metric && !strcmp(metric, "time") && !(json_number_value(value) > 0))
		return fail_expected(r, err, "measurement", "value", "a time above 0", value);
	return 0;
}

static int put_point(struct reader *r, const json_t *record, struct tk_error *err)
{
	const json_t *object = json_object_get(record, "measurement");
	union record_row row;
	struct tk_point *point = (void *)&row;

	if (!object || json_is_null(object))
		return 0;
	if (!r->ids[TK_TABLE_series] || !r->ids[TK_TABLE_run])
		return fail(r, err, "", "measurement",
		        r->ids[TK_TABLE_run] ? "has no series" : "has no run");
	TRY(check_value(r, record, object, err));
	TRY(read_row(r, TK_TABLE_measurement, NULL, object, &row, err));
	point->as_of_s =
	        json_integer_value(json_object_get(json_object_get(record, "run"), "as_of_s"));
	TRY(tk_row_put(r->store, TK_TABLE_measurement, &row, NULL, NULL, err));
	TRY(check_point(r, point, object, err));
	return put_samples(r, record, err);
}

static int check_format(struct reader *r, const json_t *record, struct tk_error *err)
{
	const json_t *format = json_object_get(record, TK_RECORD_FORMAT);

	if (format && !json_is_integer(format))
		return fail_expected(r, err, "", TK_RECORD_FORMAT, "an integer", format);
	if (json_integer_value(format) > TK_RECORD_FORMAT_VERSION)
		return tk_fail(err, TK_EVERSION,
		        "%s:%zu: written by a newer tracker (record format %lld, this one reads up "
		        "to "
		        "%d): update the tracker",
		        r->file->path, r->line, (long long)json_integer_value(format),
		        TK_RECORD_FORMAT_VERSION);
	if (!json_is_object(json_object_get(record, "machine")) ||
	        !json_is_object(json_object_get(record, "night")))
		return fail(r, err, "", "night",
		        "not a record of `tracker export`: machine or night is missing");
	return 0;
}

/* Those that order the nights and the points of a series. */
static int check_times(struct reader *r, const json_t *record, struct tk_error *err)
{
	static const char *const fields[][2] = {
	        {"night", "as_of_s"}, {"night", "started_s"}, {"run", "as_of_s"}};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const char *group = fields[i][0], *field = fields[i][1];
		const json_t *value = json_object_get(json_object_get(record, group), field);
		int64_t time_s = json_integer_value(value);

		if (json_is_integer(value) && (time_s < TK_TIME_MIN_S || time_s >= TK_TIME_END_S))
			return fail_expected(r, err, group, field,
			        "a time between 1970 and 2200, in seconds", value);
	}
	return 0;
}

static int put_record(struct reader *r, const json_t *record, struct tk_error *err)
{
	TRY(check_format(r, record, err));
	TRY(check_times(r, record, err));
	memset(r->ids, 0, sizeof(r->ids));
	for (size_t i = 0; i < TK_RECORD_GROUP_COUNT; i++) {
		enum tk_table_id table = tk_record_groups[i];

		if (table != TK_TABLE_run && table != TK_TABLE_measurement)
			TRY(put_group(
			        r, table, json_object_get(record, tk_tables[table].name), err));
	}
	for (size_t i = 0; i < TK_RECORD_DETAIL_COUNT; i++)
		TRY(put_detail(r, &tk_record_details[i], record, err));
	TRY(put_run(r, record, err));
	return put_point(r, record, err);
}

/* Takes the line without its end. */
static int read_line(struct reader *r, char *line, size_t len, struct tk_error *err)
{
	json_error_t why;
	char *start = line;

	if (r->line == 1 && !strncmp(line, TK_IMPORT_BYTE_ORDER_MARK, 3))
		start += 3;
	if (len && line[len - 1] == '\r')
		line[--len] = '\0';
	if (strlen(line) != len)
		return tk_fail(err, TK_EDATA, "%s:%zu: has a zero byte", r->file->path, r->line);
	if (!*start)
		return 0;
	json_auto_t *record = json_loads(start, JSON_REJECT_DUPLICATES, &why);

	r->record_count++;
	return record ? put_record(r, record, err)
	              : tk_fail(err, TK_EDATA, "%s:%zu:%d: %s", r->file->path, r->line, why.column,
	                        why.text);
}

static int read_all(struct reader *r, struct tk_error *err)
{
	FILE *in = r->file->in;
	AUTO(tk_buf) line = {.max = LINE_MAX_BYTES};

	for (int c = 0; c != EOF;) {
		tk_buf_clear(&line);
		r->line++;
		while (!line.status && (c = getc_unlocked(in)) != EOF && c != '\n')
			tk_buf_add_char(&line, (char)c);
		if (ferror(in))
			return tk_fail_errno(err, "%s", r->file->path);
		if (tk_buf_status(&line, NULL))
			return tk_fail(err, TK_EDATA, "%s:%zu: is longer than %zu MiB",
			        r->file->path, r->line, LINE_MAX_BYTES >> 20);
		if (line.len)
			TRY(read_line(r, line.data, line.len, err));
	}
	return 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Into the scratch history of the target, which is empty again in the end. */
static int read_and_merge(struct reader *r, struct tk_merge_counts *counts, struct tk_store *into,
        struct tk_error *err)
{
	TRY(tk_store_begin(r->store, err));
	int status = read_all(r, err);

	if (!status)
		status = tk_store_merge(into, r->store, counts, err);
	tk_store_rollback(r->store);
	return status;
}

int tk_import_read_tracker(struct tk_import_sink *sink, struct tk_error *err)
{
	struct reader r = {
	        .file = sink->file, .into = sink->store, .machine = sink->request->machine};
	struct tk_merge_counts counts = {{0}};

	if (!sink->store->scratch)
		TRY(tk_db_open_temporary(&sink->store->scratch, err));
	r.store = sink->store->scratch;
	int status = read_and_merge(&r, &counts, sink->store, err);

	sink->results += r.record_count;
	sink->counts.nights += counts.added[TK_MERGE_NIGHTS];
	sink->counts.series += counts.added[TK_MERGE_SERIES];
	sink->counts.points += counts.added[TK_MERGE_POINTS];
	return status;
}
