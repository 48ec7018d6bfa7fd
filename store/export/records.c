/* Nights as records (record.h), for other programs and for `tracker import` elsewhere. */
#include "base/base.h"
#include "store/db/internal.h"
#include "store/export/record.h"

#define GROUP(name) TK_TABLE_##name,
const enum tk_table_id tk_record_groups[TK_RECORD_GROUP_COUNT] = {TK_RECORD_GROUPS(GROUP)};
#undef GROUP

#define DETAIL(name, table, owner) {name, TK_TABLE_##table, TK_TABLE_##owner},
const struct tk_record_detail tk_record_details[TK_RECORD_DETAIL_COUNT] = {
        TK_RECORD_DETAILS(DETAIL)};
#undef DETAIL

struct record_export {
	struct tk_store *store;
	struct tk_export_output out;
	enum tk_record_format format;
	size_t count;                    /* of records that were written */
	struct tk_id_map nights, builds; /* those whose details are written */
	struct tk_id_map places;         /* likewise: devices with problems */
};

/* ---- what a record holds --------------------------------------------------------------------- */

bool tk_record_has_column(enum tk_table_id table, const struct tk_db_column *c)
{
	return c->kind != TK_COL_REF && !(table == TK_TABLE_measurement && (c->flags & TK_COL_KEY));
}

bool tk_record_has_nested_row(enum tk_table_id detail, enum tk_table_id owner,
        enum tk_table_id table, const struct tk_db_column *c)
{
	const struct tk_db_table *d = &tk_tables[detail];

	if (c->kind != TK_COL_REF || c->parent == owner || c->parent == TK_TABLE_machine)
		return false;
	for (size_t i = 0; i < d->column_count && table != detail; i++)
		if (d->columns[i].kind == TK_COL_REF && d->columns[i].parent == c->parent)
			return false;
	return true;
}

const char *tk_record_nested_name(const struct tk_db_column *c, char out[TK_RECORD_NAME_SIZE])
{
	snprintf(out, TK_RECORD_NAME_SIZE, "%.*s", (int)(strlen(c->name) - strlen("_id")), c->name);
	return out;
}

/* *lead: what separates the columns from those before. */
static void add_columns(
        struct tk_buf *sql, enum tk_table_id table, const char *alias, const char **lead)
{
	const struct tk_db_table *t = &tk_tables[table];

	for (size_t i = 0; i < t->column_count; i++)
		if (tk_record_has_column(table, &t->columns[i])) {
			tk_buf_add_str(sql, *lead);
			tk_export_add_column_sql(sql, &t->columns[i], alias);
			*lead = ",";
		}
}

/* From the columns at *column on, which it advances. null if the first one, a uid or a value, is
 * null. */
static json_t *read_group(sqlite3_stmt *stmt, enum tk_table_id table, int *column)
{
	const struct tk_db_table *t = &tk_tables[table];
	bool is_null = sqlite3_column_type(stmt, *column) == SQLITE_NULL;
	json_t *object = is_null ? json_null() : json_object();

	for (size_t i = 0; i < t->column_count; i++)
		if (tk_record_has_column(table, &t->columns[i])) {
			if (!is_null)
				json_object_set_new(object, t->columns[i].name,
				        tk_export_column(stmt, *column));
			++*column;
		}
	return object;
}

/* ---- details: the rows of a night, build or device, with the rows that they refer to --------- */

/* A detail of a night can refer to a build that no run of the night has. The details of that build
 * are written inside it. */
static bool is_nested_build(const struct tk_record_detail *d, enum tk_table_id table)
{
	return table == TK_TABLE_build && d->owner != TK_TABLE_build;
}

/* The row of a detail, or one that it refers to, as columns and joins, in the order in which
 * read_row() reads them. */
static void add_row_sql(struct tk_buf *columns, struct tk_buf *joins,
        const struct tk_record_detail *d, enum tk_table_id table, const char *alias,
        const char *lead)
{
	const struct tk_db_table *t = &tk_tables[table];

	add_columns(columns, table, alias, &lead);
	if (is_nested_build(d, table))
		tk_buf_add_printf(columns, ",%s.id", alias);
	for (size_t i = 0; i < t->column_count; i++) {
		const struct tk_db_column *c = &t->columns[i];
		char name[TK_RECORD_NAME_SIZE], nested[2 * TK_RECORD_NAME_SIZE];

		if (!tk_record_has_nested_row(d->table, d->owner, table, c))
			continue;
		snprintf(nested, sizeof(nested), "%.60s_%s", alias, tk_record_nested_name(c, name));
		tk_buf_add_printf(joins, " LEFT JOIN %s %s ON %s.id=%s.%s",
		        tk_tables[c->parent].name, nested, nested, alias, c->name);
		add_row_sql(columns, joins, d, c->parent, nested, ",");
	}
}

/* By the key of the table, where references count as uids: the same in every database. */
static void add_order_sql(struct tk_buf *sql, const struct tk_record_detail *d)
{
	const struct tk_db_table *t = &tk_tables[d->table];
	const char *lead = " ORDER BY ";

	for (size_t i = 0; i < t->column_count; i++) {
		const struct tk_db_column *c = &t->columns[i];
		char name[TK_RECORD_NAME_SIZE];

		if (!(c->flags & TK_COL_KEY) || c->parent == d->owner)
			continue;
		if (c->kind == TK_COL_REF)
			tk_buf_add_printf(
			        sql, "%s%s_%s.uid", lead, t->name, tk_record_nested_name(c, name));
		else
			tk_buf_add_printf(sql, "%s%s.%s", lead, t->name, c->name);
		lead = ",";
	}
}

static void make_detail_sql(struct tk_buf *sql, const struct tk_record_detail *d)
{
	const char *table = tk_tables[d->table].name;
	AUTO(tk_buf) joins = {0};

	add_row_sql(sql, &joins, d, d->table, table, "SELECT ");
	tk_buf_add_printf(sql, " FROM %s%s WHERE %s.%s_id=?1", table, tk_buf_cstr(&joins), table,
	        tk_tables[d->owner].name);
	if (d->owner == TK_TABLE_device)
		tk_buf_add_printf(sql, " AND %s.problem_id=?2", table);
	add_order_sql(sql, d);
}

/* Whether the id was not marked before. */
static bool mark(struct tk_id_map *marked, int64_t id)
{
	return id > 0 && !tk_id_map_get(marked, id) && !tk_id_map_set(marked, id, 1, NULL);
}

static int add_build_details(
        struct record_export *x, int64_t build_id, json_t *build, struct tk_error *err);

/* *out: the row with the rows that it refers to, null where there is none. A new reference. */
static int read_row(struct record_export *x, sqlite3_stmt *stmt, const struct tk_record_detail *d,
        enum tk_table_id table, int *column, json_t **out, struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	json_t *row = *out = read_group(stmt, table, column);
	int64_t build_id = is_nested_build(d, table) ? sqlite3_column_int64(stmt, (*column)++) : 0;

	for (size_t i = 0; i < t->column_count; i++) {
		const struct tk_db_column *c = &t->columns[i];
		char name[TK_RECORD_NAME_SIZE];
		json_t *nested;

		if (!tk_record_has_nested_row(d->table, d->owner, table, c))
			continue;
		int status = read_row(x, stmt, d, c->parent, column, &nested, err);

		if (json_is_object(row))
			json_object_set(row, tk_record_nested_name(c, name), nested);
		json_decref(nested);
		TRY(status);
	}
	return mark(&x->builds, build_id) ? add_build_details(x, build_id, row, err) : 0;
}

static int add_detail(struct record_export *x, const struct tk_record_detail *d, int64_t owner_id,
        int64_t problem_id, json_t *record, struct tk_error *err)
{
	json_t *array = json_array();
	AUTO(tk_buf) sql = {0};
	sqlite3_stmt *stmt;
	int code = SQLITE_DONE, status = 0;

	make_detail_sql(&sql, d);
	TRY(tk_db_prepare_args(x->store, tk_buf_cstr(&sql),
	        d->owner == TK_TABLE_device ? TK_ARGS(owner_id, problem_id) : TK_ARGS(owner_id),
	        &stmt, err));
	while (!status && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
		int column = 0;
		json_t *row;

		status = read_row(x, stmt, d, d->table, &column, &row, err);
		json_array_append_new(array, row);
	}
	if (!status && code != SQLITE_DONE)
		status = tk_db_fail(
		        x->store, code, err, "cannot read the table %s", tk_tables[d->table].name);
	sqlite3_reset(stmt);
	json_object_set_new(
	        record, d->name, json_array_size(array) ? json_incref(array) : json_null());
	json_decref(array);
	return status;
}

static int add_build_details(
        struct record_export *x, int64_t build_id, json_t *build, struct tk_error *err)
{
	for (size_t i = 0; i < TK_RECORD_DETAIL_COUNT; i++)
		if (tk_record_details[i].owner == TK_TABLE_build)
			TRY(add_detail(x, &tk_record_details[i], build_id, 0, build, err));
	return 0;
}

/* Every detail: an array the first time its owner occurs, else null. ids: of the night, the build,
 * the device and the problem. A record holds what is known of one problem on one device, not of all
 * of them. */
static int add_details(
        struct record_export *x, const int64_t ids[4], json_t *record, struct tk_error *err)
{
	const struct {
		int64_t id;
		bool is_new;
	} owners[TK_TABLE_COUNT] = {[TK_TABLE_night] = {ids[0], mark(&x->nights, ids[0])},
	        [TK_TABLE_build] = {ids[1], mark(&x->builds, ids[1])},
	        [TK_TABLE_device] = {
	                ids[2], ids[2] && ids[3] && mark(&x->places, ids[2] << 32 | ids[3])}};

	for (size_t i = 0; i < TK_RECORD_DETAIL_COUNT; i++) {
		const struct tk_record_detail *d = &tk_record_details[i];

		if (owners[d->owner].is_new)
			TRY(add_detail(x, d, owners[d->owner].id, ids[3], record, err));
		else
			json_object_set_new(record, d->name, json_null());
	}
	return 0;
}

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

/* Lists and objects are written as JSON. record NULL: the heading. group NULL: a field of the
 * record itself. */
static void add_field(struct tk_buf *b, const json_t *record, const char *group, const char *name)
{
	const json_t *value =
	        json_object_get(group ? json_object_get(record, group) : record, name);

	if (b->len && b->data[b->len - 1] != '\n')
		tk_buf_add_char(b, ',');
	if (!record) {
		tk_buf_add_printf(b, "%s%s%s", group ? group : "", group ? "." : "", name);
	} else if (json_is_string(value)) {
		add_csv_text(b, json_string_value(value));
	} else if (value && !json_is_null(value)) {
		AUTO_TEXT text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

		add_csv_text(b, tk_check_memory(text));
	}
}

static void write_csv_row(struct tk_export_output *out, const json_t *record)
{
	AUTO(tk_buf) b = {0};

	add_field(&b, record, NULL, TK_RECORD_FORMAT);
	for (size_t g = 0; g < TK_RECORD_GROUP_COUNT; g++) {
		const struct tk_db_table *t = &tk_tables[tk_record_groups[g]];

		for (size_t i = 0; i < t->column_count; i++)
			if (tk_record_has_column(tk_record_groups[g], &t->columns[i]))
				add_field(&b, record, t->name, t->columns[i].name);
	}
	add_field(&b, record, NULL, TK_RECORD_RUN_SERIES);
	add_field(&b, record, NULL, TK_RECORD_SAMPLES);
	for (size_t i = 0; i < TK_RECORD_DETAIL_COUNT; i++)
		add_field(&b, record, NULL, tk_record_details[i].name);
	tk_buf_add(&out->buf, b.data, b.len);
	tk_buf_add_str(&out->buf, "\r\n");
}

/* ---- records --------------------------------------------------------------------------------- */

#define JOINS \
	" LEFT JOIN build ON build.id=run.build_id" \
	" LEFT JOIN revision ON revision.id=build.revision_id" \
	" LEFT JOIN upstream ON upstream.id=revision.upstream_id" \
	" LEFT JOIN environment ON environment.id=run.environment_id" \
	" LEFT JOIN device ON device.id=series.device_id" \
	" LEFT JOIN problem ON problem.id=series.problem_id" \
	" LEFT JOIN sample ON sample.run_id=run.id AND sample.series_id=series.id"
#define IS_SELECTED " WHERE night.as_of_s>=?1 AND (?2=0 OR night.id=?2)"

/* Every run of one series, with or without a point, and nights without runs. */
#define OWN_POINTS \
	" FROM night JOIN machine ON machine.id=night.machine_id" \
	" LEFT JOIN run ON run.night_id=night.id AND run.series_id IS NOT NULL" \
	" LEFT JOIN series ON series.id=run.series_id" \
	" LEFT JOIN measurement ON measurement.series_id=run.series_id" \
	" AND measurement.as_of_s=run.as_of_s AND measurement.run_id=run.id" JOINS IS_SELECTED \
	" AND (run.id IS NOT NULL OR NOT EXISTS (SELECT 1 FROM run r WHERE r.night_id=night.id))" \
	" ORDER BY night.as_of_s, night.id, run.seq, run.id"
/* The points of other series than that of their run, which has their time: found by it. */
#define OTHER_POINTS \
	" FROM series CROSS JOIN (SELECT DISTINCT run.as_of_s FROM night" \
	" CROSS JOIN run ON run.night_id=night.id" IS_SELECTED " ORDER BY 1) at" \
	" CROSS JOIN measurement ON measurement.series_id=series.id" \
	" AND measurement.as_of_s=at.as_of_s" \
	" CROSS JOIN run ON run.id=measurement.run_id" \
	" AND run.series_id IS NOT measurement.series_id" \
	" JOIN night ON night.id=run.night_id JOIN machine ON machine.id=night.machine_id" JOINS \
	        IS_SELECTED

static int write_record(struct record_export *x, const json_t *record, struct tk_error *err)
{
	if (x->format == TK_RECORD_CSV) {
		if (!x->count)
			write_csv_row(&x->out, NULL);
		write_csv_row(&x->out, record);
	} else {
		if (x->format == TK_RECORD_JSON)
			tk_buf_add_str(&x->out.buf, x->count ? ",\n" : "[\n");
		tk_export_add_json(&x->out, record);
		if (x->format == TK_RECORD_NDJSON)
			tk_buf_add_char(&x->out.buf, '\n');
	}
	x->count++;
	return tk_export_flush(&x->out, false, err);
}

static int write_run(struct record_export *x, sqlite3_stmt *stmt, struct tk_error *err)
{
	json_auto_t *record = json_object();
	int column = 0;

	json_object_set_new(record, TK_RECORD_FORMAT, json_integer(TK_RECORD_FORMAT_VERSION));
	for (size_t g = 0; g < TK_RECORD_GROUP_COUNT; g++)
		json_object_set_new(record, tk_tables[tk_record_groups[g]].name,
		        read_group(stmt, tk_record_groups[g], &column));
	json_object_set_new(record, TK_RECORD_RUN_SERIES, tk_export_column(stmt, column++));
	json_object_set_new(record, TK_RECORD_SAMPLES, tk_export_column(stmt, column++));
	const int64_t ids[] = {sqlite3_column_int64(stmt, column),
	        sqlite3_column_int64(stmt, column + 1), sqlite3_column_int64(stmt, column + 2),
	        sqlite3_column_int64(stmt, column + 3)};

	TRY(add_details(x, ids, record, err));
	return write_record(x, record, err);
}

static int write_source(struct record_export *x, const char *source, int64_t since_s,
        int64_t night_id, struct tk_error *err)
{
	AUTO(tk_buf) sql = {0};
	const char *lead = "SELECT ";
	sqlite3_stmt *stmt;
	int code = SQLITE_DONE, status = 0;

	for (size_t g = 0; g < TK_RECORD_GROUP_COUNT; g++)
		add_columns(&sql, tk_record_groups[g], tk_tables[tk_record_groups[g]].name, &lead);
	tk_buf_add_printf(&sql,
	        ",(SELECT o.uid FROM series o WHERE o.id=run.series_id),sample.data,night.id,"
	        "build.id,device.id,problem.id%s",
	        source);
	TRY(tk_db_prepare_args(
	        x->store, tk_buf_cstr(&sql), TK_ARGS(since_s, night_id), &stmt, err));
	while (!status && (code = sqlite3_step(stmt)) == SQLITE_ROW)
		status = write_run(x, stmt, err);
	if (!status && code != SQLITE_DONE)
		status = tk_db_fail(x->store, code, err, "cannot read the runs");
	sqlite3_reset(stmt);
	return status;
}

static int write_all(
        struct record_export *x, int64_t since_s, int64_t night_id, struct tk_error *err)
{
	TRY(write_source(x, OWN_POINTS, since_s, night_id, err));
	TRY(write_source(x, OTHER_POINTS, since_s, night_id, err));
	if (x->format == TK_RECORD_JSON)
		tk_buf_add_str(&x->out.buf, x->count ? "\n]\n" : "[]\n");
	if (x->format == TK_RECORD_CSV && !x->count)
		write_csv_row(&x->out, NULL);
	return tk_export_flush(&x->out, true, err);
}

int tk_store_export_records(struct tk_store *s, int64_t since_s, int64_t night_id,
        enum tk_record_format format, int fd, struct tk_error *err)
{
	struct record_export x = {.store = s, .out.fd = fd, .format = format};

	TRY(tk_store_begin_read(s, err));
	int status = write_all(&x, since_s, night_id, err);

	tk_store_end_read(s);
	tk_buf_free(&x.out.buf);
	tk_id_map_free(&x.nights);
	tk_id_map_free(&x.builds);
	tk_id_map_free(&x.places);
	return status;
}
