/* The export of nights as records (record.h), for other programs and for `tracker import`
 * elsewhere. */
#include "base/buf.h"
#include "store/export/column_json.h"
#include "store/export/record_layout.h"
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FLUSH_AT ((size_t)256 << 10)

#define GROUP(name) TK_TABLE_##name,
static const enum tk_table_id groups[] = {TK_RECORD_GROUPS(GROUP)};
#undef GROUP
#define GROUP_COUNT (sizeof(groups) / sizeof(groups[0]))

struct detail {
	const char *name;
	enum tk_table_id table, owner;
};
#define DETAIL(name, table, owner) {name, TK_TABLE_##table, TK_TABLE_##owner},
static const struct detail details[] = {TK_RECORD_DETAILS(DETAIL)};
#undef DETAIL
#define DETAIL_COUNT (sizeof(details) / sizeof(details[0]))

struct seen {
	unsigned char *bits;
	size_t cap;
};

struct writer {
	struct tk_store *store;
	int fd;
	enum tk_record_format format;
	struct tk_buf buf;
	size_t count;
	struct seen nights, builds;
};

/* ---- output
 * --------------------------------------------------------------------------------------------------
 */

static int flush(struct writer *w, struct tk_error *err)
{
	int status = tk_buf_status(&w->buf, err);

	for (size_t done = 0; !status && done < w->buf.len;) {
		ssize_t n = write(w->fd, w->buf.data + done, w->buf.len - done);

		if (n < 0 && errno != EINTR)
			status = tk_fail_errno(err, "cannot write the export");
		else if (n > 0)
			done += (size_t)n;
	}
	tk_buf_clear(&w->buf);
	return status;
}

static int add_bytes(const char *bytes, size_t size, void *buf)
{
	tk_buf_add(buf, bytes, size);
	return 0;
}

static void csv_text(struct tk_buf *b, const char *text)
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

static void csv_value(struct tk_buf *b, const json_t *value)
{
	if (!value || json_is_null(value))
		return;
	if (json_is_string(value)) {
		csv_text(b, json_string_value(value));
		return;
	}
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

	if (text)
		csv_text(b, text);
	free(text);
}

/* Calls for every field of a record in order. */
static void each_field(void (*visit)(void *arg, const char *group, const char *name), void *arg)
{
	for (size_t g = 0; g < GROUP_COUNT; g++)
		for (size_t i = 0; i < tk_tables[groups[g]].column_count; i++)
			if (tk_record_has_column(groups[g], &tk_tables[groups[g]].columns[i]))
				visit(arg, tk_tables[groups[g]].name,
				        tk_tables[groups[g]].columns[i].name);
	visit(arg, NULL, TK_RECORD_RUN_SERIES);
	visit(arg, NULL, TK_RECORD_SAMPLES);
	for (size_t i = 0; i < DETAIL_COUNT; i++)
		visit(arg, NULL, details[i].name);
}

struct csv_row {
	struct tk_buf *out;
	const json_t *record;
	size_t fields;
};

static void csv_head_field(void *arg, const char *group, const char *name)
{
	struct csv_row *row = arg;

	tk_buf_add_printf(row->out, "%s%s%s%s", row->fields++ ? "," : "", group ? group : "",
	        group ? "." : "", name);
}

static void csv_field(void *arg, const char *group, const char *name)
{
	struct csv_row *row = arg;
	const json_t *object = group ? json_object_get(row->record, group) : row->record;

	if (row->fields++)
		tk_buf_add_char(row->out, ',');
	csv_value(row->out, json_object_get(object, name));
}

static int write_record(struct writer *w, const json_t *record, struct tk_error *err)
{
	struct csv_row row = {&w->buf, record, 0};
	int failed = 0;

	if (w->format == TK_RECORD_CSV) {
		if (!w->count) {
			each_field(csv_head_field, &row);
			tk_buf_add_str(&w->buf, "\r\n");
			row.fields = 0;
		}
		each_field(csv_field, &row);
		tk_buf_add_str(&w->buf, "\r\n");
	} else {
		if (w->format == TK_RECORD_JSON)
			tk_buf_add_str(&w->buf, w->count ? ",\n" : "[\n");
		failed = json_dump_callback(record, add_bytes, &w->buf, JSON_COMPACT);
		if (w->format == TK_RECORD_NDJSON)
			tk_buf_add_char(&w->buf, '\n');
	}
	w->count++;
	if (failed)
		return tk_fail(err, TK_EDATA, "a run cannot be written as JSON");
	return w->buf.len >= FLUSH_AT ? flush(w, err) : 0;
}

static int write_end(struct writer *w, struct tk_error *err)
{
	struct csv_row row = {&w->buf, NULL, 0};

	if (w->format == TK_RECORD_JSON)
		tk_buf_add_str(&w->buf, w->count ? "\n]\n" : "[]\n");
	if (w->format == TK_RECORD_CSV && !w->count) {
		each_field(csv_head_field, &row);
		tk_buf_add_str(&w->buf, "\r\n");
	}
	return flush(w, err);
}

/* ---- values
 * --------------------------------------------------------------------------------------------------
 */

/* The fields of a table as an object from the columns at *at; null where its first one, the uid or
 * a value, is. */
static json_t *group_of(sqlite3_stmt *stmt, enum tk_table_id table, int *at)
{
	const struct tk_db_table *t = &tk_tables[table];
	json_t *object =
	        sqlite3_column_type(stmt, *at) == SQLITE_NULL ? json_null() : json_object();

	for (size_t i = 0; i < t->column_count; i++)
		if (tk_record_has_column(table, &t->columns[i])) {
			if (json_is_object(object))
				json_object_set_new(object, t->columns[i].name,
				        tk_db_column_to_json(stmt, *at));
			++*at;
		}
	return object;
}

static void add_columns(
        struct tk_buf *sql, enum tk_table_id table, const char *alias, const char **lead)
{
	const struct tk_db_table *t = &tk_tables[table];

	for (size_t i = 0; i < t->column_count; i++)
		if (tk_record_has_column(table, &t->columns[i])) {
			tk_buf_add_printf(sql, "%s%s.%s", *lead, alias, t->columns[i].name);
			*lead = ",";
		}
}

/* ---- details
 * -------------------------------------------------------------------------------------------------
 */

static bool mark(struct seen *s, int64_t id)
{
	size_t at = (size_t)id / 8;

	if (at >= s->cap) {
		size_t cap = at * 2 + 64;
		unsigned char *grown = realloc(s->bits, cap);

		if (!grown)
			return false;
		memset(grown + s->cap, 0, cap - s->cap);
		s->bits = grown;
		s->cap = cap;
	}
	if (s->bits[at] & (1u << (id % 8)))
		return false;
	s->bits[at] |= (unsigned char)(1u << (id % 8));
	return true;
}

/* A build in a detail may be one that no run of the night is of: its functions are told where it
 * is. */
static bool is_build(const struct detail *d, enum tk_table_id table)
{
	return table == TK_TABLE_build && d->owner != TK_TABLE_build;
}

/* A detail's row, or what it refers to, as columns and joins; nested_of() reads them in this order.
 */
static void nest_sql(struct tk_buf *columns, struct tk_buf *joins, const struct detail *d,
        enum tk_table_id table, const char *alias, const char *lead)
{
	const struct tk_db_table *t = &tk_tables[table];

	add_columns(columns, table, alias, &lead);
	if (is_build(d, table))
		tk_buf_add_printf(columns, ",%s.id", alias);
	for (size_t i = 0; i < t->column_count; i++) {
		const struct tk_db_column *c = &t->columns[i];
		char name[TK_RECORD_NAME_SIZE], nested[2 * TK_RECORD_NAME_SIZE];

		if (!tk_record_has_nested_row(d->table, d->owner, table, c))
			continue;
		snprintf(nested, sizeof(nested), "%.60s_%s", alias, tk_record_nested_name(c, name));
		tk_buf_add_printf(joins, " LEFT JOIN %s %s ON %s.id=%s.%s",
		        tk_tables[c->parent].name, nested, nested, alias, c->name);
		nest_sql(columns, joins, d, c->parent, nested, ",");
	}
}

static void detail_sql(struct tk_buf *sql, const struct detail *d)
{
	const struct tk_db_table *t = &tk_tables[d->table];
	struct tk_buf joins = TK_BUF_INIT;
	const char *order = " ORDER BY ";

	nest_sql(sql, &joins, d, d->table, t->name, "SELECT ");
	tk_buf_add_printf(sql, " FROM %s%s WHERE %s.%s_id=?1", t->name, tk_buf_cstr(&joins),
	        t->name, tk_tables[d->owner].name);
	for (size_t i = 0; i < t->column_count; i++)
		if ((t->columns[i].flags & TK_COL_KEY) && t->columns[i].parent != d->owner) {
			char name[TK_RECORD_NAME_SIZE];

			if (t->columns[i].kind == TK_COL_REF)
				tk_buf_add_printf(sql, "%s%s_%s.uid", order, t->name,
				        tk_record_nested_name(&t->columns[i], name));
			else
				tk_buf_add_printf(
				        sql, "%s%s.%s", order, t->name, t->columns[i].name);
			order = ",";
		}
	tk_buf_free(&joins);
}

static int add_build_details(
        struct writer *w, int64_t build_id, json_t *build, struct tk_error *err);

/* *out: the row, null where there is none, and in it what it refers to. */
static int nested_of(struct writer *w, sqlite3_stmt *stmt, const struct detail *d,
        enum tk_table_id table, int *at, json_t **out, struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	json_t *row = group_of(stmt, table, at);
	int64_t build_id = is_build(d, table) ? sqlite3_column_int64(stmt, (*at)++) : 0;
	int status = 0;

	for (size_t i = 0; i < t->column_count && !status; i++)
		if (tk_record_has_nested_row(d->table, d->owner, table, &t->columns[i])) {
			char name[TK_RECORD_NAME_SIZE];
			json_t *nested;

			status = nested_of(w, stmt, d, t->columns[i].parent, at, &nested, err);
			if (json_is_object(row))
				json_object_set(
				        row, tk_record_nested_name(&t->columns[i], name), nested);
			json_decref(nested);
		}
	if (!status && build_id && mark(&w->builds, build_id))
		status = add_build_details(w, build_id, row, err);
	*out = row;
	return status;
}

static int add_detail(struct writer *w, const struct detail *d, int64_t owner_id, json_t *record,
        struct tk_error *err)
{
	struct tk_buf sql = TK_BUF_INIT;
	json_t *array = json_array();
	sqlite3_stmt *stmt = NULL;
	int rc = SQLITE_DONE, status;

	detail_sql(&sql, d);
	status = tk_buf_status(&sql, err);
	if (!status)
		status = tk_db_prepare(w->store, sql.data, &stmt, err);
	if (!status)
		sqlite3_bind_int64(stmt, 1, owner_id);
	while (!status && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		int at = 0;
		json_t *row;

		status = nested_of(w, stmt, d, d->table, &at, &row, err);
		json_array_append_new(array, row);
	}
	if (!status && rc != SQLITE_DONE)
		status = tk_db_fail(
		        w->store, rc, err, "cannot read the table %s", tk_tables[d->table].name);
	sqlite3_finalize(stmt);
	tk_buf_free(&sql);
	json_object_set_new(
	        record, d->name, json_array_size(array) ? json_incref(array) : json_null());
	json_decref(array);
	return status;
}

static int add_build_details(
        struct writer *w, int64_t build_id, json_t *build, struct tk_error *err)
{
	int status = 0;

	for (size_t i = 0; i < DETAIL_COUNT && !status; i++)
		if (details[i].owner == TK_TABLE_build)
			status = add_detail(w, &details[i], build_id, build, err);
	return status;
}

static int add_details(
        struct writer *w, int64_t night_id, int64_t build_id, json_t *record, struct tk_error *err)
{
	bool night = mark(&w->nights, night_id), build = build_id && mark(&w->builds, build_id);
	int status = 0;

	for (size_t i = 0; i < DETAIL_COUNT && !status; i++) {
		bool of_night = details[i].owner == TK_TABLE_night;

		if (of_night ? night : build)
			status = add_detail(
			        w, &details[i], of_night ? night_id : build_id, record, err);
		else
			json_object_set_new(record, details[i].name, json_null());
	}
	return status;
}

/* ---- records
 * -------------------------------------------------------------------------------------------------
 */

#define JOINS \
	" LEFT JOIN build ON build.id=run.build_id LEFT JOIN revision ON " \
	"revision.id=build.revision_id" \
	" LEFT JOIN upstream ON upstream.id=revision.upstream_id LEFT JOIN environment ON " \
	"environment.id=run.environment_id" \
	" LEFT JOIN device ON device.id=series.device_id LEFT JOIN problem ON " \
	"problem.id=series.problem_id" \
	" LEFT JOIN sample ON sample.run_id=run.id AND sample.series_id=series.id"
#define SELECTED " WHERE night.as_of_s>=?1 AND (?2=0 OR night.id=?2)"

/* Every run of one series, with or without a point, and nights without runs; then the other points
 * of runs. */
static const char *const sources[] = {
        " FROM night JOIN machine ON machine.id=night.machine_id LEFT JOIN run ON "
        "run.night_id=night.id AND "
        "run.series_id IS NOT NULL"
        " LEFT JOIN series ON series.id=run.series_id"
        " LEFT JOIN measurement ON measurement.series_id=run.series_id AND "
        "measurement.as_of_s=run.as_of_s AND "
        "measurement.run_id=run.id" JOINS SELECTED
        " AND (run.id IS NOT NULL OR NOT EXISTS (SELECT 1 FROM run r WHERE r.night_id=night.id))"
        " ORDER BY night.as_of_s, night.id, run.seq, run.id",
        " FROM measurement JOIN run ON run.id=measurement.run_id AND run.series_id IS NOT "
        "measurement.series_id"
        " JOIN night ON night.id=run.night_id JOIN machine ON machine.id=night.machine_id JOIN "
        "series ON "
        "series.id=measurement.series_id" JOINS SELECTED,
};

static void record_sql(struct tk_buf *sql, const char *source)
{
	const char *lead = "SELECT ";

	for (size_t g = 0; g < GROUP_COUNT; g++)
		add_columns(sql, groups[g], tk_tables[groups[g]].name, &lead);
	tk_buf_add_printf(sql,
	        ",(SELECT o.uid FROM series o WHERE "
	        "o.id=run.series_id),sample.data,night.id,build.id%s",
	        source);
}

static int write_row(struct writer *w, sqlite3_stmt *stmt, struct tk_error *err)
{
	json_t *record = json_object();
	int at = 0, status;

	for (size_t g = 0; g < GROUP_COUNT; g++)
		json_object_set_new(
		        record, tk_tables[groups[g]].name, group_of(stmt, groups[g], &at));
	json_object_set_new(record, TK_RECORD_RUN_SERIES, tk_db_column_to_json(stmt, at));
	json_object_set_new(record, TK_RECORD_SAMPLES, tk_db_column_to_json(stmt, at + 1));
	status = add_details(w, sqlite3_column_int64(stmt, at + 2),
	        sqlite3_column_int64(stmt, at + 3), record, err);
	if (!status)
		status = write_record(w, record, err);
	json_decref(record);
	return status;
}

static int write_source(struct writer *w, const char *source, int64_t since_s, int64_t night_id,
        struct tk_error *err)
{
	struct tk_buf sql = TK_BUF_INIT;
	sqlite3_stmt *stmt = NULL;
	int rc = SQLITE_DONE, status;

	record_sql(&sql, source);
	status = tk_buf_status(&sql, err);
	if (!status)
		status = tk_db_prepare(w->store, sql.data, &stmt, err);
	if (!status) {
		sqlite3_bind_int64(stmt, 1, since_s);
		sqlite3_bind_int64(stmt, 2, night_id);
	}
	while (!status && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
		status = write_row(w, stmt, err);
	if (!status && rc != SQLITE_DONE)
		status = tk_db_fail(w->store, rc, err, "cannot read the runs");
	sqlite3_finalize(stmt);
	tk_buf_free(&sql);
	return status;
}

int tk_store_export_records(struct tk_store *s, int64_t since_s, int64_t night_id,
        enum tk_record_format format, int fd, struct tk_error *err)
{
	struct writer w = {.store = s, .fd = fd, .format = format};
	int status = tk_db_exec(s, "BEGIN", err);

	if (status)
		return status;
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]) && !status; i++)
		status = write_source(&w, sources[i], since_s, night_id, err);
	if (!status)
		status = write_end(&w, err);
	tk_db_exec(s, "ROLLBACK", NULL);
	tk_buf_free(&w.buf);
	free(w.nights.bits);
	free(w.builds.bits);
	return status;
}
