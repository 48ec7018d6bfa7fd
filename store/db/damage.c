/* Describes the damage in a file that SQLite reports as corrupt: which tables and pages, how much
 * is missing. */
#include "base/try.h"
#include "store/db/internal.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int tk_db_add_problem(struct tk_rows_builder *list, struct tk_error *err, const char *fmt, ...)
{
	const char **row;
	char message[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	row = tk_rows_add(list);
	if (!row || !(*row = tk_rows_add_text(list, message, strlen(message))))
		return tk_fail(err, TK_ENOMEM, "out of memory");
	return 0;
}

/* ---- pages of tables ------------------------------------------------------------------------- */

/* SQLite reports several problems in one text. Pages that are never used are a consequence of the
 * damaged ones. */
static int add_lines(
        struct tk_rows_builder *list, const char *table, const char *text, struct tk_error *err)
{
	int status = 0;

	for (const char *end; *text && !status; text = end + (*end == '\n')) {
		size_t len = strcspn(text, "\n");

		end = text + len;
		if (strncmp(text, "***", 3) &&
		        !(len > 14 && !strncmp(end - 14, " is never used", 14)) &&
		        !(len == 2 && !strncmp(text, "ok", 2)))
			status = tk_db_add_problem(
			        list, err, "%s%s%.*s", table, *table ? ": " : "", (int)len, text);
	}
	return status;
}

/* table "": of the whole file. */
static int check_pages_of(
        struct tk_store *s, const char *table, struct tk_rows_builder *list, struct tk_error *err)
{
	sqlite3_stmt *stmt = NULL;
	char sql[128];
	int rc, status = TK_OK;

	snprintf(sql, sizeof(sql),
	        *table ? "PRAGMA integrity_check(\"%s\")" : "PRAGMA integrity_check%s", table);
	TRY(tk_db_prepare(s, sql, &stmt, err));
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && !status) {
		const char *text = (const char *)sqlite3_column_text(stmt, 0);

		status = text ? add_lines(list, table, text, err)
		              : tk_fail(err, TK_ENOMEM, "out of memory");
	}
	if (!status && (rc & 0xff) == SQLITE_NOMEM)
		status = tk_db_fail(s, rc, err, "cannot check");
	else if (!status && rc != SQLITE_DONE)
		status = tk_db_add_problem(list, err, "%s%s%s", table, *table ? ": " : "",
		        "a page that it needs cannot be read");
	sqlite3_finalize(stmt);
	return status;
}

int tk_db_check_pages(struct tk_store *s, struct tk_rows_builder *list, struct tk_error *err)
{
	struct tk_rows rows = {0};
	struct tk_rows_builder whole = {&rows, sizeof(const char *), 0};
	int status = check_pages_of(s, "", &whole, err);

	s->is_damaged = s->is_damaged || rows.count;
	/* Grouped by table, so that the user sees what is lost; lines without a table are
	 * unchanged. */
	for (int t = 0; t < TK_TABLE_COUNT && !status && rows.count; t++)
		status = check_pages_of(s, tk_tables[t].name, list, err);
	for (size_t i = 0; i < rows.count && !status && !list->out->count; i++)
		status = tk_db_add_problem(list, err, "%s", *TK_ROWS_AT(&rows, char *, i));
	tk_rows_free(&rows);
	return status;
}

bool tk_store_is_damaged(const struct tk_store *s)
{
	return s->is_damaged;
}

/* ---- a file that cannot be opened ------------------------------------------------------------ */

#define HEADER 100 /* of the file, in front of the first page's own */
#define LEAF 13
#define INTERIOR 5

static uint32_t big_endian(const unsigned char *p, int bytes)
{
	uint32_t value = 0;

	while (bytes-- > 0)
		value = value << 8 | *p++;
	return value;
}

static bool names_tables(unsigned char type)
{
	return type == LEAF || type == INTERIOR;
}

static bool child_is_whole(FILE *f, uint32_t page, uint32_t page_size)
{
	unsigned char type;

	return fseeko(f, (off_t)(page - 1) * page_size, SEEK_SET) == 0 &&
	       fread(&type, 1, 1, f) == 1 && names_tables(type);
}

/* The first page locates the tables, directly or through other pages. */
static int look_at_schema(FILE *f, const unsigned char *page, uint32_t page_size,
        struct tk_rows_builder *list, struct tk_error *err)
{
	const unsigned char *top = page + HEADER;
	uint32_t cells = big_endian(top + 3, 2), pages = big_endian(page + 28, 4);
	bool whole = names_tables(*top) && HEADER + 12 + 2 * cells <= page_size;
	int status = 0;

	for (uint32_t i = 0; whole && *top == INTERIOR && i <= cells && !status; i++) {
		uint32_t at = i < cells ? big_endian(top + 12 + 2 * i, 2) : HEADER + 8;
		uint32_t child = at + 4 <= page_size ? big_endian(page + at, 4) : 0;

		whole = child >= 2 && child <= pages;
		if (whole && !child_is_whole(f, child, page_size))
			status = tk_db_add_problem(
			        list, err, "page %u, which names tables, is damaged", child);
	}
	return whole || status
	               ? status
	               : tk_db_add_problem(list, err, "page 1, which names all tables, is damaged");
}

static int look_at_file(const char *path, struct tk_rows_builder *list, struct tk_error *err)
{
	static unsigned char page[65536];
	FILE *f = fopen(path, "re");
	struct stat st;
	int status = f && fstat(fileno(f), &st) == 0 ? 0 : tk_fail_errno(err, "%s", path);
	size_t got = f ? fread(page, 1, sizeof(page), f) : 0;
	uint32_t size = big_endian(page + 16, 2);

	size = size == 1 ? 65536 : size;
	if (!status && got > HEADER) {
		int64_t expected = (int64_t)big_endian(page + 28, 4) * size;

		if (st.st_size < expected)
			status = tk_db_add_problem(list, err,
			        "%s: is cut off: %lld of %lld bytes are there", path,
			        (long long)st.st_size, (long long)expected);
		if (!status && got >= size)
			status = look_at_schema(f, page, size, list, err);
	}
	if (!status && !list->out->count)
		status = tk_db_add_problem(
		        list, err, "%s: the pages that name the tables are damaged", path);
	if (f)
		fclose(f);
	return status;
}

int tk_store_diagnose_file(const char *path, struct tk_rows *problems, struct tk_error *err)
{
	struct tk_rows rows = {0};
	struct tk_rows_builder list = {&rows, sizeof(const char *), 0};
	sqlite3 *db = NULL;
	int status = 0,
	    rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
	sqlite3_close(db);
	if ((rc & 0xff) == SQLITE_CORRUPT)
		status = look_at_file(path, &list, err);
	if (status) {
		tk_rows_free(&rows);
		return status;
	}
	*problems = rows;
	return 0;
}
