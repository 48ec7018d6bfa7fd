/* Rows of a SELECT as values of a page, and the functions of SQL that make texts for people. */
#include "site_gen/pages/query.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/try.h"
#include "site_gen/model/links.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"
#include "site_gen/charts/bars.h"

/* ---- functions ---- */

static void return_text(struct tk_cell *result, const char *text)
{
	result->type = TK_CELL_TEXT;
	result->text = text;
}

/* clip(text, bytes): with an ellipsis where it was cut */
static void clip(const struct tk_cell *args, struct tk_cell *result, char *out)
{
	const char *text = args[0].text;
	size_t len = tk_utf8_clip_len(text, (size_t)args[1].integer);
	if (!text[len])
		return_text(result, text);
	else
		return_text(result, out);
	snprintf(out, TK_SQL_SCRATCH_SIZE, "%.*s…", (int)len, text);
}

/* minute(seconds since 1970): "2026-11-21 09:42"; a dash for 0 and NULL */
static void minute(const struct tk_cell *args, struct tk_cell *result, char *out)
{
	return_text(result, args[0].integer ? tk_format_minute(args[0].integer, out) : "–");
}

/* duration(seconds): "3 min 20 s" */
static void duration(const struct tk_cell *args, struct tk_cell *result, char *out)
{
	if (args[0].type != TK_CELL_NULL)
		return_text(result, tk_duration_format(args[0].real, out, TK_SQL_SCRATCH_SIZE));
}

/* quantity(value, unit): "41.20 µs"; a dash for NULL */
static void quantity(const struct tk_cell *args, struct tk_cell *result, char *out)
{
	return_text(result, tk_format_value(args[0].real, args[1].text, out));
}

/* counted(integer): "12,345" */
static void counted(const struct tk_cell *args, struct tk_cell *result, char *out)
{
	return_text(result, tk_format_count(args[0].integer, out));
}

/* change(ratio): "+3.1 %"; a dash for NULL */
static void change(const struct tk_cell *args, struct tk_cell *result, char *out)
{
	return_text(result, tk_format_change(args[0].real, out));
}

/* public_url(url): without the user's name and password */
static void public_url(const struct tk_cell *args, struct tk_cell *result, char *out)
{
	_Static_assert(TK_LINK_SIZE <= TK_SQL_SCRATCH_SIZE, "the address fits");
	return_text(result, tk_link_strip_user(args[0].text, out));
}

/* clauses(text): the reason of a verdict, cut after a whole clause */
static void clauses(const struct tk_cell *args, struct tk_cell *result, char *out)
{
	size_t len = tk_utf8_clip_clauses_len(args[0].text, TK_REASON_MAX_BYTES);
	snprintf(out, TK_SQL_SCRATCH_SIZE, "%.*s%s", (int)len, args[0].text,
	        args[0].text[len] ? " …" : "");
	return_text(result, out);
}

/* slug(text): a safe file name */
static void slug(const struct tk_cell *args, struct tk_cell *result, char *out)
{
	char *made = tk_path_make_slug(args[0].text);
	return_text(result, out);
	snprintf(out, TK_SQL_SCRATCH_SIZE, "%s", made);
	free(made);
}

/* step(before, after): "128 → 255"; the one that is known, or that both are; a dash: none is */
static void step(const struct tk_cell *args, struct tk_cell *result, char *out)
{
	const struct tk_cell *before = &args[0], *after = &args[1];
	const struct tk_cell *known = after->type == TK_CELL_NULL ? before : after;
	bool differs = before->type == after->type && before->integer != after->integer;
	return_text(result, known->type == TK_CELL_NULL ? "–" : out);
	if (differs)
		snprintf(out, TK_SQL_SCRATCH_SIZE, "%lld → %lld", (long long)before->integer,
		        (long long)after->integer);
	else
		snprintf(out, TK_SQL_SCRATCH_SIZE, "%lld", (long long)known->integer);
}

/* tone(list, word): the class of a word of verdict, outcome, night, stage, resolution or build */
static void tone(const struct tk_cell *args, struct tk_cell *result, char *out)
{
	(void)out;
	return_text(result, tk_tone_name(tk_tone_find(args[0].text, args[1].text)));
}

/* place(list, word): in the order of the list, the most urgent first; NULL: not in the list */
static void place(const struct tk_cell *args, struct tk_cell *result, char *out)
{
	(void)out;
	result->integer = tk_tone_find_place(args[0].text, args[1].text);
	result->type = result->integer < 0 ? TK_CELL_NULL : TK_CELL_INT;
}

/* is_timed(outcome): whether a run of this outcome has a time */
static void is_timed(const struct tk_cell *args, struct tk_cell *result, char *out)
{
	int value;
	(void)out;
	result->type = TK_CELL_INT;
	result->integer = !tk_vocabulary_parse(&tk_outcome_words, args[0].text, &value) &&
	                  tk_outcome_has_timing((enum tk_outcome)value);
}

static const struct tk_sql_function functions[] = {
        {"change", 1, change},
        {"clauses", 1, clauses},
        {"clip", 2, clip},
        {"counted", 1, counted},
        {"duration", 1, duration},
        {"is_timed", 1, is_timed},
        {"minute", 1, minute},
        {"place", 2, place},
        {"public_url", 1, public_url},
        {"quantity", 2, quantity},
        {"slug", 1, slug},
        {"step", 2, step},
        {"tone", 2, tone},
};

/* ---- rows ---- */

struct query {
	struct tk_site *site;
	struct tk_value *list, *only; /* one of them */
	const char *keys[TK_QUERY_COLUMNS_MAX];
	char marks[TK_QUERY_COLUMNS_MAX];
	size_t rows;
	const struct tk_site_series *series; /* of the row */
	const struct tk_revision_row *revision;
};

static void read_names(struct query *q, const struct tk_cell *row, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(row[i].name);
		char last = len ? row[i].name[len - 1] : 0;
		q->marks[i] = last && strchr("?+-", last) ? last : 0;
		q->keys[i] = tk_arena_text(q->site->arena, row[i].name, len - (q->marks[i] != 0));
	}
}

static void expand(struct query *q, struct tk_value *o, const char *key, const struct tk_cell *cell)
{
	const struct tk_model *m = &q->site->model;
	if (!strcmp(key, "revision"))
		tk_page_set_revision(q->site, o,
		        q->revision = tk_row_index_find(&m->revisions_by_id, cell->integer));
	else if (!strcmp(key, "since")) { /* after "revision+" */
		if (cell->type == TK_CELL_INT)
			tk_page_set_revision_range(q->site, o,
			        tk_row_index_find(&m->revisions_by_id, cell->integer), q->revision);
	} else if (!strcmp(key, "night"))
		tk_page_set_night_link(o, tk_model_find_night(m, cell->integer));
	else if (!strcmp(key, "series") && (q->series = tk_model_find_series(m, cell->integer)))
		tk_page_set_series(q->site, o, q->series, q->site->root);
	else if (!strcmp(key, "change") && q->series)
		tk_page_set_change(o, q->series, cell->real);
	else if (!strcmp(key, "step") && q->series) {
		tk_svg_draw_change(&q->site->markup, cell->real,
		        (cell->real > 1) == (q->series->row->better == TK_BETTER_LOWER));
		tk_page_set_markup(q->site, o, "step_markup");
	}
}

static void set_cell(
        struct query *q, struct tk_value *o, const char *key, char mark, const struct tk_cell *cell)
{
	if (mark == '+')
		expand(q, o, key, cell);
	else if (mark == '?')
		tk_value_set_flag(o, key, cell->integer != 0);
	else if (!mark && cell->type == TK_CELL_INT)
		tk_value_set_int(o, key, cell->integer);
	else if (!mark)
		tk_value_set(o, key, cell->text);
}

static int set_row(void *user, const struct tk_cell *row, size_t count, struct tk_error *err)
{
	struct query *q = user;
	struct tk_value *o = q->only ? q->only : tk_value_append(q->list);
	if (!q->rows++)
		read_names(q, row, count);
	for (size_t i = 0; i < count; i++)
		set_cell(q, o, q->keys[i], q->marks[i], &row[i]);
	(void)err;
	return 0;
}

/* ---- files ---- */

#define FILE_BYTES_MAX ((size_t)1 << 20)
#define VIEWS "views"

struct tk_page_query {
	char *page, *key, *sql;
	const char *
	        table_key; /* in views.sql: the column by which a table is searched; NULL: a view */
};
struct tk_page_queries {
	struct tk_page_query *at;
	size_t count;
};

/* The length of the key in a line "-- KEY:" or "-- .:"; 0: another line. */
static size_t heading_len(const char *line)
{
	if (!strncmp(line, "-- .:", 5))
		return 1;
	size_t len = strncmp(line, "-- ", 3) ? 0 : strspn(line + 3, "abcdefghijklmnopqrstuvwxyz_");
	return len && line[3 + len] == ':' ? len : 0;
}

static const char *next_line(const char *at)
{
	at += strcspn(at, "\n");
	return at + (*at == '\n');
}

static const char *add_query(struct tk_page_queries *all, const char *page, const char *heading)
{
	static const char table[] = ": table by ";
	size_t key_len = heading_len(heading);
	const char *after = heading + 3 + key_len, *sql = next_line(heading), *end = sql;
	while (*end && !heading_len(end))
		end = next_line(end);
	size_t len = (size_t)(end - sql);
	while (len && strchr(" \n", sql[len - 1]))
		len--;
	all->at = tk_reallocarray(all->at, all->count + 1, sizeof *all->at);
	struct tk_page_query *q = &all->at[all->count++];
	*q = (struct tk_page_query){
	        tk_strdup(page), tk_strndup(heading + 3, key_len), tk_strndup(sql, len), NULL};
	if (!strncmp(after, table, strlen(table)))
		q->table_key =
		        tk_strndup(after + strlen(table), strcspn(after + strlen(table), "\n"));
	return end;
}

static int read_file(
        struct tk_page_queries *all, const char *dir, const char *file, struct tk_error *err)
{
	AUTO_TEXT path = tk_path_join(dir, file);
	AUTO_TEXT page = tk_strndup(file, strlen(file) - strlen(".sql"));
	AUTO(tk_buf) text = TK_BUF_INIT;
	TRY(tk_file_read(path, FILE_BYTES_MAX, &text, err));
	for (const char *at = tk_buf_cstr(&text); *at;)
		at = heading_len(at) ? add_query(all, page, at) : next_line(at);
	return 0;
}

static int ignore_row(void *user, const struct tk_cell *row, size_t count, struct tk_error *err)
{
	(void)user, (void)row, (void)count, (void)err;
	return 0;
}

static int run(struct tk_store *s, const char *verb, const char *name, const char *rest,
        const char *sql, struct tk_error *err)
{
	AUTO_TEXT text = tk_sprintf("%s %s%s%s", verb, name, rest, sql);
	return tk_sql_query(s, text, NULL, 0, ignore_row, NULL, err);
}

static int make_view(struct tk_store *s, const struct tk_page_query *q, struct tk_error *err)
{
	if (!q->table_key) {
		TRY(run(s, "DROP VIEW IF EXISTS", q->key, "", "", err));
		return run(s, "CREATE TEMP VIEW", q->key, " AS ", q->sql, err);
	}
	AUTO_TEXT index = tk_sprintf("%s_by ON %s(%s)", q->key, q->key, q->table_key);
	TRY(run(s, "DROP TABLE IF EXISTS", q->key, "", "", err));
	TRY(run(s, "CREATE TEMP TABLE", q->key, " AS ", q->sql, err));
	return run(s, "CREATE INDEX", index, "", "", err);
}

int tk_page_load_queries(struct tk_site *site, struct tk_error *err)
{
	const char *dir = site->options->templates_dir;
	struct tk_store *s = site->model.store;
	char **names = NULL;
	size_t count = 0;
	site->queries = tk_calloc(1, sizeof *site->queries);
	int status = tk_dir_list(dir, &names, &count, err);
	for (size_t i = 0; !status && i < count; i++) {
		const char *suffix = strrchr(names[i], '.');
		if (suffix && !strcmp(suffix, ".sql"))
			status = read_file(site->queries, dir, names[i], err);
	}
	tk_names_free(names, count);
	if (!status)
		status = tk_sql_define_functions(
		        s, functions, sizeof functions / sizeof *functions, err);
	for (size_t i = 0; !status && i < site->queries->count; i++)
		if (!strcmp(site->queries->at[i].page, VIEWS))
			status = make_view(s, &site->queries->at[i], err);
	return status ? tk_error_add_context(err, "%s", dir) : 0;
}

void tk_page_free_queries(struct tk_site *site)
{
	for (size_t i = 0; site->queries && i < site->queries->count; i++) {
		free(site->queries->at[i].page);
		free(site->queries->at[i].key);
		free(site->queries->at[i].sql);
		free((char *)site->queries->at[i].table_key);
	}
	if (site->queries)
		free(site->queries->at);
	free(site->queries);
}

int tk_page_add_sql(struct tk_site *site, struct tk_value *o, const char *page, int64_t id,
        struct tk_error *err)
{
	const struct tk_cell arg = {.type = TK_CELL_INT, .integer = id, .text = ""};
	for (size_t i = 0; i < site->queries->count; i++) {
		const struct tk_page_query *q = &site->queries->at[i];
		struct query query = {.site = site};
		if (strcmp(q->page, page))
			continue;
		const char *key = tk_arena_text(site->arena, q->key, strlen(q->key));
		if (strcmp(key, "."))
			query.list = tk_value_add_list(o, key);
		else
			query.only = o;
		if (tk_sql_query(site->model.store, q->sql, &arg, 1, set_row, &query, err))
			return tk_error_add_context(err, "%s.sql: %s", page, key);
	}
	return 0;
}
