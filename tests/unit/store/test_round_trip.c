/* Every column of every table, out of a history and into another one: exports, merges and imports
 * lose and change nothing. */
#include "filled_rows.h"
#include "import_rig.h"
#include "store/export/record.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct rig {
	struct history from, to;
	struct filled_rows rows;
};

static void rig_new(struct rig *r)
{
	history_new(&r->from);
	filled_rows_put(&r->rows, r->from.store);
	history_new(&r->to);
}

static void rig_free(struct rig *r)
{
	filled_rows_free(&r->rows);
	history_free(&r->from);
	history_free(&r->to);
}

/* ---- the export of all tables ---------------------------------------------------------------- */

/* A reference is exported without the "_id" of its column. */
static json_t *exported_value(const json_t *line, const struct tk_db_column *c)
{
	char name[64];

	snprintf(name, sizeof name, "%s", c->name);
	if (c->kind == TK_COL_REF)
		name[strlen(name) - strlen("_id")] = '\0';
	json_t *value = json_object_get(line, name);

	if (!value)
		fail_msg("%s is not exported", name);
	return value;
}

static bool is_reference(struct rig *r, const struct tk_db_column *c, int64_t id, const json_t *v)
{
	char sql[64];
	int64_t found;

	if (!id)
		return json_is_null(v);
	snprintf(sql, sizeof sql, "SELECT id FROM %s WHERE uid=?1", tk_tables[c->parent].name);
	MUST(tk_store_select_int(
	        r->from.store, sql, TK_ARGS(json_string_value(v)), 0, &found, &err));
	return found == id;
}

static bool is_list_of(const json_t *list, const struct tk_bytes *bytes)
{
	const double *x = bytes->data;

	if (json_array_size(list) != bytes->size / sizeof *x)
		return false;
	for (size_t i = 0; i < json_array_size(list); i++)
		if (json_real_value(json_array_get(list, i)) != x[i])
			return false;
	return true;
}

static bool is_equal(struct rig *r, const struct tk_db_column *c, char *row, const json_t *value)
{
	const double x = c->kind == TK_COL_REAL ? FILLED_MEMBER(double, row, c) : 0;
	const int64_t n = c->kind == TK_COL_INT   ? FILLED_MEMBER(int64_t, row, c)
	                  : c->kind == TK_COL_U32 ? FILLED_MEMBER(uint32_t, row, c)
	                                          : 0;

	switch (c->kind) {
	case TK_COL_TEXT:
		return json_is_string(value) &&
		       !strcmp(json_string_value(value), FILLED_MEMBER(char *, row, c));
	case TK_COL_WORD:
		return json_is_string(value) &&
		       !strcmp(json_string_value(value),
		               tk_vocabulary_name(c->words, FILLED_MEMBER(int, row, c)));
	case TK_COL_INT:
	case TK_COL_U32:
		return c->flags & TK_COL_NULLABLE && n == c->none
		               ? json_is_null(value)
		               : json_is_integer(value) && json_integer_value(value) == n;
	case TK_COL_REAL:
		return isnan(x) ? json_is_null(value)
		                : json_is_real(value) && json_real_value(value) == x;
	case TK_COL_REF:
		return is_reference(r, c, FILLED_MEMBER(int64_t, row, c), value);
	case TK_COL_BLOB:
		return is_list_of(value, &FILLED_MEMBER(struct tk_bytes, row, c));
	default: /* computed: uids and checksums */
		return json_is_string(value) && json_string_length(value) >= TK_CHECKSUM_DIGITS;
	}
}

/* Slugs are made by the store. */
static bool is_made(const struct tk_db_column *c)
{
	return !strcmp(c->name, "slug");
}

static bool is_row(struct rig *r, enum tk_table_id table, int v, const json_t *line)
{
	const struct tk_db_table *t = &tk_tables[table];

	for (size_t i = 0; i < t->column_count; i++)
		if (!is_made(&t->columns[i]) && !is_equal(r, &t->columns[i], r->rows.row[table][v],
		                                        exported_value(line, &t->columns[i])))
			return false;
	return true;
}

static enum tk_table_id find_table(const json_t *line)
{
	const char *name = json_string_value(json_object_get(line, "table"));
	int t = 0;

	assert_non_null(name);
	while (t < TK_TABLE_COUNT && strcmp(tk_tables[t].name, name))
		t++;
	assert_true(t < TK_TABLE_COUNT);
	return (enum tk_table_id)t;
}

static void every_column_is_exported_as_it_was_put(void **state)
{
	struct rig r;
	size_t found[TK_TABLE_COUNT][FILLED_ROWS] = {0};

	(void)state;
	rig_new(&r);
	char *text = history_export(r.from.store), *rest = text, *text_line;

	while ((text_line = strsep(&rest, "\n")) && *text_line) {
		json_t *line = json_loads(text_line, 0, NULL);
		const enum tk_table_id table = find_table(line);
		bool is_known = false;

		for (int v = 0; v < FILLED_ROWS; v++)
			if (is_row(&r, table, v, line)) {
				found[table][v]++;
				is_known = true;
			}
		if (!is_known)
			fail_msg("not a row that was put: %s", text_line);
		json_decref(line);
	}
	free(text);
	for (int t = 0; t < TK_TABLE_COUNT; t++)
		for (int v = 0; v < FILLED_ROWS; v++)
			if (found[t][v] != 1)
				fail_msg("row %d of %s is exported %zu times", v, tk_tables[t].name,
				        found[t][v]);
	rig_free(&r);
}

/* ---- other histories ------------------------------------------------------------------------- */

static void a_merge_brings_every_column(void **state)
{
	struct tk_merge_counts counts = {0};
	struct rig r;

	(void)state;
	rig_new(&r);
	MUST(tk_store_merge(r.to.store, r.from.store, &counts, &err));
	history_expect_same("exports", history_export(r.from.store), history_export(r.to.store));
	assert_int_equal(counts.added[TK_MERGE_NIGHTS], FILLED_ROWS);
	assert_int_equal(counts.added[TK_MERGE_SERIES], FILLED_ROWS);
	assert_int_equal(counts.added[TK_MERGE_POINTS], FILLED_ROWS);
	/* There and back nothing is news. */
	memset(&counts, 0, sizeof counts);
	MUST(tk_store_merge(r.from.store, r.to.store, &counts, &err));
	for (size_t i = 0; i < TK_MERGE_COUNTS; i++)
		assert_int_equal(counts.added[i], 0);
	history_expect_same("exports", history_export(r.from.store), history_export(r.to.store));
	rig_free(&r);
}

static void records_bring_every_column(void **state)
{
	static const enum tk_record_format formats[] = {
	        TK_RECORD_NDJSON, TK_RECORD_JSON, TK_RECORD_CSV};
	struct import_rig to;
	struct rig r;

	(void)state;
	rig_new(&r);
	import_rig_new(&to);
	char *records = history_export_records(r.from.store, TK_RECORD_NDJSON);

	MUST(import_rig_read(&to, IMPORT_AS("tracker", .at_s = 0), records, &err));
	assert_int_equal(to.counts.nights, FILLED_ROWS);
	assert_int_equal(to.counts.points, FILLED_ROWS);
	free(records);
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		history_expect_same("records", history_export_records(r.from.store, formats[i]),
		        history_export_records(to.history.store, formats[i]));
	import_rig_free(&to);
	rig_free(&r);
}

/* A night that is exported alone has an A/B run of a build that only the other night measured: its
 * record brings that build with its revision. */
static void a_night_alone_brings_what_it_refers_to(void **state)
{
	struct import_rig to;
	struct rig r;
	FILE *f = tmpfile();
	int64_t id;

	(void)state;
	rig_new(&r);
	import_rig_new(&to);
	assert_non_null(f);
	struct tk_ab_pair_row pair =
	        *(struct tk_ab_pair_row *)(void *)r.rows.row[TK_TABLE_ab_pair][1];

	pair.base_build_id = r.rows.id[TK_TABLE_build][0];
	pair.pair = 7;
	MUST(tk_store_put(r.from.store, TK_TABLE_ab_pair, &pair, &id, &err));
	MUST(tk_store_export_records(r.from.store, INT64_MIN, r.rows.id[TK_TABLE_night][1],
	        TK_RECORD_NDJSON, fileno(f), &err));
	char *text = history_read_file(f);

	MUST(import_rig_read(&to, IMPORT_AS("tracker", .at_s = 0), text, &err));
	assert_int_equal(history_count(&to.history, "build"), 2);
	assert_int_equal(history_count(&to.history, "revision"), 2);
	assert_int_equal(history_count(&to.history, "upstream"), 2);
	history_expect_same(
	        "a night", text, history_export_records(to.history.store, TK_RECORD_NDJSON));
	import_rig_free(&to);
	rig_free(&r);
}

/* ---- each field of a record ------------------------------------------------------------------ */

/* The records of the filled rows with a field of the first one replaced (stolen; NULL: removed).
 * `owner` is a part of `record`. free(). */
static char *with_field(
        const json_t *record, const char *rest, json_t *owner, const char *name, json_t *value)
{
	json_t *before = json_incref(json_object_get(owner, name));
	struct tk_buf text = TK_BUF_INIT;

	if (value)
		json_object_set_new(owner, name, value);
	else
		json_object_del(owner, name);
	char *line = json_dumps(record, JSON_COMPACT);

	assert_non_null(line);
	tk_buf_add_printf(&text, "%s%s", line, rest);
	free(line);
	json_object_set_new(owner, name, before);
	return tk_buf_detach(&text, NULL);
}

static void must_fail(const json_t *record, const char *rest, json_t *owner, const char *name,
        json_t *value, const char *words)
{
	char *text = with_field(record, rest, owner, name, value);

	import_must_fail(IMPORT_AS("tracker", .at_s = 0), text, words);
	free(text);
}

/* A value of another type is refused by name. */
static void check_column(const json_t *record, const char *rest, json_t *owner, const char *table,
        const struct tk_db_column *c)
{
	const bool is_text = c->kind == TK_COL_TEXT || c->kind == TK_COL_WORD;
	char words[160];

	if (c->kind == TK_COL_UID || c->kind == TK_COL_CHECKSUM || c->kind == TK_COL_REF)
		return;
	snprintf(words, sizeof words, "/file:1: %s.%s: expected ", table, c->name);
	must_fail(record, rest, owner, c->name, json_pack("[i]", 1), words);
	must_fail(
	        record, rest, owner, c->name, is_text ? json_integer(1) : json_string("1"), words);
	if (c->kind == TK_COL_INT || c->kind == TK_COL_U32)
		must_fail(record, rest, owner, c->name, json_real(1.5), words);
	if (c->kind == TK_COL_U32) {
		must_fail(record, rest, owner, c->name, json_integer(-1), words);
		must_fail(record, rest, owner, c->name, json_integer(INT64_C(1) << 32), words);
	}
	if (c->kind == TK_COL_WORD)
		must_fail(record, rest, owner, c->name, json_string("nothing"), words);
	snprintf(words, sizeof words, "/file:1: %s.%s: is missing", table, c->name);
	if (c->flags & TK_COL_KEY)
		must_fail(record, rest, owner, c->name, NULL, words);
}

static void check_columns(
        const json_t *record, const char *rest, json_t *owner, enum tk_table_id table)
{
	const struct tk_db_table *t = &tk_tables[table];

	if (!json_is_object(owner))
		fail_msg("the record has no %s", t->name);
	for (size_t i = 0; i < t->column_count; i++)
		if (tk_record_has_column(table, &t->columns[i]))
			check_column(record, rest, owner, t->name, &t->columns[i]);
}

static void every_field_of_a_record_is_checked(void **state)
{
	struct rig r;

	(void)state;
	rig_new(&r);
	char *text = history_export_records(r.from.store, TK_RECORD_NDJSON),
	     *rest = strchr(text, '\n');
	json_t *record = json_loadb(text, (size_t)(rest - text), 0, NULL);

	assert_non_null(record);
	for (size_t g = 0; g < TK_RECORD_GROUP_COUNT; g++)
		check_columns(record, rest,
		        json_object_get(record, tk_tables[tk_record_groups[g]].name),
		        tk_record_groups[g]);
	for (size_t d = 0; d < TK_RECORD_DETAIL_COUNT; d++)
		check_columns(record, rest,
		        json_array_get(json_object_get(record, tk_record_details[d].name), 0),
		        tk_record_details[d].table);
	json_decref(record);
	free(text);
	rig_free(&r);
}

/* What the rows are made of is what the checks of a history accept. */
static void a_filled_history_is_sound(void **state)
{
	struct tk_rows problems = {0};
	struct rig r;

	(void)state;
	rig_new(&r);
	MUST(tk_store_check(r.from.store, &problems, &err));
	for (size_t i = 0; i < problems.count; i++)
		print_message("%s\n", *TK_ROWS_AT(&problems, const char *, i));
	assert_int_equal(problems.count, 0);
	tk_rows_free(&problems);
	rig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_column_is_exported_as_it_was_put),
	        cmocka_unit_test(a_merge_brings_every_column),
	        cmocka_unit_test(records_bring_every_column),
	        cmocka_unit_test(a_night_alone_brings_what_it_refers_to),
	        cmocka_unit_test(every_field_of_a_record_is_checked),
	        cmocka_unit_test(a_filled_history_is_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
