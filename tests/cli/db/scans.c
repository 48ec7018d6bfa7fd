/* Loaded before the tracker (LD_PRELOAD): writes every statement that is prepared and reads the
 * table `run` or `measurement`, or an index of it, from end to end, into the file $SCANS, as
 * `TABLE<tab>SQL` on one line; `-` for a statement that does not. It looks at the program that
 * SQLite makes of the statement: its plan names tables by their alias. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CURSORS 512

typedef int prepare(sqlite3 *, const char *, int, unsigned, sqlite3_stmt **, const char **);

static prepare *real_prepare(void)
{
	static prepare *found;

	if (!found)
		found = (prepare *)dlsym(RTLD_NEXT, "sqlite3_prepare_v3");
	return found;
}

/* The table to which a root page of the history belongs, if it is one of the two. */
static const char *find_table(sqlite3 *db, int root)
{
	static const char *const tables[] = {"measurement", "run"};
	const char *found = NULL;
	sqlite3_stmt *q;

	if (real_prepare()(db, "SELECT tbl_name FROM main.sqlite_schema WHERE rootpage = ?1", -1, 0,
	            &q, NULL) != SQLITE_OK)
		return NULL;
	sqlite3_bind_int(q, 1, root);
	if (sqlite3_step(q) == SQLITE_ROW)
		for (int i = 0; i < 2; i++)
			if (!strcmp((const char *)sqlite3_column_text(q, 0), tables[i]))
				found = tables[i];
	sqlite3_finalize(q);
	return found;
}

static const char *find_scan(sqlite3 *db, sqlite3_stmt *program)
{
	int roots[CURSORS] = {0};
	const char *found = NULL;

	while (!found && sqlite3_step(program) == SQLITE_ROW) {
		const char *code = (const char *)sqlite3_column_text(program, 1);
		int cursor = sqlite3_column_int(program, 2);

		if (cursor < 0 || cursor >= CURSORS)
			continue;
		if (!strcmp(code, "OpenRead") || !strcmp(code, "OpenWrite") ||
		        !strcmp(code, "ReopenIdx"))
			roots[cursor] = sqlite3_column_int(program, 4)
			                        ? 0 /* a temporary table */
			                        : sqlite3_column_int(program, 3);
		else if (!strncmp(code, "Open", 4))
			roots[cursor] = 0;
		else if (roots[cursor] && (!strcmp(code, "Rewind") || !strcmp(code, "Last") ||
		                                  !strcmp(code, "Count")))
			found = find_table(db, roots[cursor]);
	}
	return found;
}

int sqlite3_prepare_v3(sqlite3 *db, const char *sql, int size, unsigned flags, sqlite3_stmt **out,
        const char **tail)
{
	int code = real_prepare()(db, sql, size, flags, out, tail);
	const char *path = getenv("SCANS");
	FILE *file = path && code == SQLITE_OK && *out ? fopen(path, "a") : NULL;
	sqlite3_stmt *program;
	char *explain;

	if (!file)
		return code;
	explain = sqlite3_mprintf("EXPLAIN %s", sqlite3_sql(*out));
	if (real_prepare()(db, explain, -1, 0, &program, NULL) == SQLITE_OK) {
		const char *table = find_scan(db, program);

		fprintf(file, "%s\t", table ? table : "-");
		for (const char *c = sqlite3_sql(*out); *c; c++)
			fputc(*c == '\n' ? ' ' : *c, file);
		fputc('\n', file);
	}
	sqlite3_finalize(program);
	sqlite3_free(explain);
	fclose(file);
	return code;
}
