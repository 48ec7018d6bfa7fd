/* Rows out of the history: see store/select.h. Rows in memory by their id: see row_index.h. */
#include "base/base.h"
#include "store/catalog/row_index.h"
#include "store/db/internal.h"
#include <math.h>

/* ---- the memory of a list: one growing array, and a chain of blocks for the strings ---------- */

struct block {
	struct block *next;
	size_t used, cap;
	char bytes[];
};

#define BLOCK_MIN ((size_t)4 << 10)
#define BLOCK_MAX ((size_t)1 << 20)

void *tk_rows_add(struct tk_rows_builder *list)
{
	struct tk_rows *out = list->out;

	if (out->count == list->cap) {
		list->cap = list->cap ? list->cap * 2 : 16;
		out->rows = tk_realloc(out->rows, list->cap * list->row_size);
	}
	void *row = (char *)out->rows + out->count++ * list->row_size;

	memset(row, 0, list->row_size);
	return row;
}

static struct block *block_with_room(struct tk_rows *out, size_t size)
{
	struct block *head = out->memory;

	if (head && head->cap - head->used >= size)
		return head;
	size_t cap = head ? head->cap * 2 : BLOCK_MIN;

	if (cap > BLOCK_MAX)
		cap = BLOCK_MAX;
	if (cap < size)
		cap = size;
	struct block *block = tk_malloc(sizeof(*block) + cap);

	block->next = head;
	block->used = 0;
	block->cap = cap;
	out->memory = block;
	return block;
}

char *tk_rows_add_text(struct tk_rows_builder *list, const char *text, size_t len)
{
	struct block *block = block_with_room(list->out, len + 1);
	char *copy = block->bytes + block->used;

	if (len)
		memcpy(copy, text, len);
	copy[len] = '\0';
	block->used += len + 1;
	return copy;
}

void tk_rows_free(struct tk_rows *list)
{
	if (!list)
		return;
	for (struct block *block = list->memory, *next; block; block = next) {
		next = block->next;
		free(block);
	}
	free(list->rows);
	*list = (struct tk_rows){0};
}

/* ---- columns of a result --------------------------------------------------------------------- */

/* Reuses the string of the column in the previous row if it is equal: most strings repeat. */
static const char *text_of(
        sqlite3_stmt *stmt, int at, const char *before, struct tk_rows_builder *list)
{
	const char *text = (const char *)sqlite3_column_text(stmt, at);
	size_t len = (size_t)sqlite3_column_bytes(stmt, at);

	if (!text || !len)
		return "";
	if (before && strncmp(before, text, len) == 0 && before[len] == '\0')
		return before;
	return tk_rows_add_text(list, text, len);
}

/* Asked only of a zero, as which NULL is read: histories have millions of points. */
static bool is_null(sqlite3_stmt *stmt, int at, const struct tk_db_column *c)
{
	return (c->flags & TK_COL_NULLABLE) && sqlite3_column_type(stmt, at) == SQLITE_NULL;
}

static void read_column(sqlite3_stmt *stmt, int at, const struct tk_db_column *c, char *row,
        const char *previous, struct tk_rows_builder *list)
{
	void *field = row + c->offset;

	switch (c->kind) {
	case TK_COL_UID:
	case TK_COL_TEXT:
		*(const char **)field = text_of(stmt, at,
		        previous ? *(const char *const *)(previous + c->offset) : NULL, list);
		return;
	case TK_COL_WORD:
		if (tk_vocabulary_parse(
		            c->words, (const char *)sqlite3_column_text(stmt, at), field))
			*(int *)field = c->words->count;
		return;
	case TK_COL_INT:
	case TK_COL_REF:
		*(int64_t *)field = sqlite3_column_int64(stmt, at);
		if (!*(int64_t *)field && is_null(stmt, at, c))
			*(int64_t *)field = c->none;
		return;
	case TK_COL_U32:
		*(uint32_t *)field = (uint32_t)sqlite3_column_int64(stmt, at);
		return;
	case TK_COL_BOOL:
		*(bool *)field = sqlite3_column_int64(stmt, at) != 0;
		return;
	case TK_COL_REAL:
		*(double *)field = sqlite3_column_double(stmt, at);
		if (*(double *)field == 0 && is_null(stmt, at, c))
			*(double *)field = NAN;
		return;
	case TK_COL_CHECKSUM:
		return;
	case TK_COL_BLOB: {
		struct tk_bytes *bytes = field;

		bytes->size = (size_t)sqlite3_column_bytes(stmt, at);
		bytes->data = tk_rows_add_text(list, sqlite3_column_blob(stmt, at), bytes->size);
	}
	}
}

/* A row type, and where its columns are in the result. */
struct source {
	const struct tk_row_type *type;
	const int *at; /* NULL: in the order of the type, after the id */
	bool has_id;   /* an int64_t at the start of the row */
	const char *what;
};

/* The id of a row is its first member. */
static const struct tk_db_column id_column = {.name = "id", .kind = TK_COL_INT};

static void read_row(sqlite3_stmt *stmt, const struct source *f, char *row, const char *previous,
        struct tk_rows_builder *list)
{
	if (f->has_id)
		read_column(stmt, 0, &id_column, row, NULL, list);
	for (size_t i = 0; i < f->type->column_count; i++)
		read_column(stmt, f->at ? f->at[i] : (int)i + 1, &f->type->columns[i], row,
		        previous, list);
}

static int read_rows(struct tk_store *s, sqlite3_stmt *stmt, const struct source *f,
        struct tk_rows *out, struct tk_error *err)
{
	struct tk_rows rows = {0};
	struct tk_rows_builder list = {&rows, f->type->row_size, 0};
	int code;

	while ((code = sqlite3_step(stmt)) == SQLITE_ROW) {
		char *row = tk_rows_add(&list);

		read_row(stmt, f, row, rows.count > 1 ? row - f->type->row_size : NULL, &list);
	}
	sqlite3_reset(stmt);
	if (code != SQLITE_DONE) {
		tk_rows_free(&rows);
		return tk_db_fail(s, code, err, "cannot read %s", f->what);
	}
	*out = rows;
	return 0;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void add_select(struct tk_buf *sql, const struct tk_db_table *t, const char *tail)
{
	tk_buf_add_printf(sql, "SELECT %s", t->has_id ? "id" : "0");
	for (size_t i = 0; i < t->column_count; i++)
		if (t->columns[i].flags & TK_COL_LONG) {
			tk_buf_add_str(sql, ",''");
		} else {
			tk_buf_add_str(sql, ",");
			tk_buf_add_str(sql, t->name);
			tk_buf_add_str(sql, ".");
			tk_buf_add_str(sql, t->columns[i].name);
		}
	tk_buf_add_printf(sql, " FROM %s %s", t->name, tail);
}

int tk_store_list(struct tk_store *s, enum tk_table_id table, const char *where,
        const struct tk_arg *args, struct tk_rows *out, struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	const struct tk_row_type type = {t->columns, t->column_count, t->row_size};
	const struct source f = {&type, NULL, t->has_id, t->name};
	AUTO(tk_buf) sql = {0};
	sqlite3_stmt *stmt;

	add_select(&sql, t, "");
	if (where)
		tk_buf_add_printf(&sql, " WHERE %s", where);
	if (!where || !strstr(where, "ORDER BY"))
		tk_buf_add_printf(&sql, " ORDER BY %s", t->order);
	TRY(tk_db_prepare_args(s, tk_buf_cstr(&sql), args, &stmt, err));
	return read_rows(s, stmt, &f, out, err);
}

int tk_store_get(
        struct tk_store *s, enum tk_table_id table, int64_t id, void *row, struct tk_error *err)
{
	const struct tk_db_table *t = &tk_tables[table];
	const struct tk_row_type type = {t->columns, t->column_count, t->row_size};
	const struct source f = {&type, NULL, true, t->name};
	struct tk_rows_builder kept = {&s->kept, 0, 0};
	AUTO(tk_buf) sql = {0};
	sqlite3_stmt *stmt;
	int status = 0;

	add_select(&sql, t, "WHERE id=?1");
	TRY(tk_db_prepare_args(s, tk_buf_cstr(&sql), TK_ARGS(id), &stmt, err));
	int code = sqlite3_step(stmt);

	memset(row, 0, t->row_size);
	if (code == SQLITE_ROW)
		read_row(stmt, &f, row, NULL, &kept);
	else if (code == SQLITE_DONE)
		status = tk_fail(err, TK_ENOTFOUND, "%s: there is no %s with the id %lld", s->path,
		        t->name, (long long)id);
	else
		status = tk_db_fail(s, code, err, "cannot read a %s", t->name);
	sqlite3_reset(stmt);
	return status;
}

/* ---- any query ------------------------------------------------------------------------------- */

static int find_columns(struct tk_store *s, sqlite3_stmt *stmt, const struct tk_row_type *type,
        int *at, struct tk_error *err)
{
	const int count = sqlite3_column_count(stmt);

	for (size_t i = 0; i < type->column_count; i++) {
		at[i] = 0;
		while (at[i] < count &&
		        strcmp(sqlite3_column_name(stmt, at[i]), type->columns[i].name))
			at[i]++;
		if (at[i] == count)
			return tk_fail(err, TK_EINTERNAL, "%s: no column \"%s\" in: %s", s->path,
			        type->columns[i].name, sqlite3_sql(stmt));
	}
	return 0;
}

int tk_store_select(struct tk_store *s, const char *sql, const struct tk_arg *args,
        const struct tk_row_type *type, struct tk_rows *out, struct tk_error *err)
{
	int at[TK_SELECT_COLUMNS_MAX];
	sqlite3_stmt *stmt;

	if (type->column_count > TK_SELECT_COLUMNS_MAX)
		return tk_fail(err, TK_EINTERNAL, "too many columns: %s", sql);
	TRY(tk_db_prepare_args(s, sql, args, &stmt, err));
	TRY(find_columns(s, stmt, type, at, err));
	const struct source f = {type, at, false, "the history"};

	return read_rows(s, stmt, &f, out, err);
}

int tk_store_select_int(struct tk_store *s, const char *sql, const struct tk_arg *args,
        int64_t none, int64_t *out, struct tk_error *err)
{
	sqlite3_stmt *stmt;
	int status = 0;

	TRY(tk_db_prepare_args(s, sql, args, &stmt, err));
	int code = sqlite3_step(stmt);

	if (code != SQLITE_ROW && code != SQLITE_DONE)
		status = tk_db_fail(s, code, err, "cannot read the history");
	else
		*out = code == SQLITE_ROW && sqlite3_column_type(stmt, 0) != SQLITE_NULL
		               ? sqlite3_column_int64(stmt, 0)
		               : none;
	sqlite3_reset(stmt);
	return status;
}

/* ---- rows by id ------------------------------------------------------------------------------ */

static int compare_entries(const void *a, const void *b)
{
	const struct tk_row_index_entry *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

void tk_row_index_sort(struct tk_row_index *index)
{
	tk_sort(index->entries, index->count, sizeof *index->entries, compare_entries);
}

void tk_row_index_build(struct tk_row_index *index, const void *rows, size_t count, size_t row_size)
{
	index->entries = tk_malloc((count ? count : 1) * sizeof *index->entries);
	index->count = count;
	for (size_t i = 0; i < count; i++) {
		const char *row = (const char *)rows + i * row_size;

		index->entries[i] = (struct tk_row_index_entry){.row = row};
		memcpy(&index->entries[i].id, row, sizeof(int64_t));
	}
	tk_row_index_sort(index);
}

const void *tk_row_index_find(const struct tk_row_index *index, int64_t id)
{
	/* The history counts ids up, mostly without a gap: try the position where the row would be
	 * then. */
	uint64_t guess = index->count ? (uint64_t)id - (uint64_t)index->entries[0].id : 0;

	if (guess < index->count && index->entries[guess].id == id)
		return index->entries[guess].row;
	guess = TK_FIND_FIRST(index->count, i, index->entries[i].id < id);
	return guess < index->count && index->entries[guess].id == id ? index->entries[guess].row
	                                                              : NULL;
}

void tk_row_index_free(struct tk_row_index *index)
{
	free(index->entries);
	*index = (struct tk_row_index){0};
}

int tk_id_table_load(
        struct tk_id_table *table, struct tk_store *s, enum tk_table_id id, struct tk_error *err)
{
	TRY(tk_store_list(s, id, NULL, TK_NO_ARGS, &table->rows, err));
	tk_row_index_build(
	        &table->by_id, table->rows.rows, table->rows.count, tk_tables[id].row_size);
	return 0;
}

const void *tk_id_table_find(const struct tk_id_table *table, int64_t id)
{
	return tk_row_index_find(&table->by_id, id);
}

void tk_id_table_free(struct tk_id_table *table)
{
	tk_rows_free(&table->rows);
	tk_row_index_free(&table->by_id);
}
