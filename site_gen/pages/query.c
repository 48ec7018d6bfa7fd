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
#include "base/text.h"
#include "base/try.h"
#include "site_gen/model/links.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"
#include "site_gen/render/svg.h"

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
        {"tone", 2, tone},
};

/* Change points with the revisions and environments on both sides. That of a commit has another
 * revision before it: the commit may be the cause. */
static const char change_view_sql[] =
        "CREATE TEMP VIEW IF NOT EXISTS page_change AS SELECT c.*,"
        " c.after_value / nullif(c.before_value, 0) AS ratio,"
        " (c.after_value > c.before_value) = (s.better = 'lower') AS worse,"
        " a.revision_id AS good_revision_id, b.revision_id,"
        " b.revision_id IS NOT NULL AND b.revision_id IS NOT a.revision_id AS is_of_revision,"
        " old.environment_id AS previous_environment_id, new.environment_id, s.unit"
        " FROM change_point c JOIN series s ON s.id = c.series_id"
        " LEFT JOIN run new ON new.id = c.run_id LEFT JOIN build b ON b.id = new.build_id"
        " LEFT JOIN run old ON old.id = c.previous_run_id"
        " LEFT JOIN build a ON a.id = old.build_id";

static int ignore_row(void *user, const struct tk_cell *row, size_t count, struct tk_error *err)
{
	(void)user, (void)row, (void)count, (void)err;
	return 0;
}

int tk_page_define_functions(struct tk_store *store, struct tk_error *err)
{
	TRY(tk_store_define_functions(store, functions, sizeof functions / sizeof *functions, err));
	return tk_store_query(store, change_view_sql, NULL, 0, ignore_row, NULL, err);
}

/* ---- rows ---- */

struct query {
	struct tk_site *site;
	struct tk_value *list, *only; /* one of them */
	const char *keys[TK_QUERY_COLUMNS_MAX];
	char marks[TK_QUERY_COLUMNS_MAX];
	size_t rows;
	const struct tk_site_series *series; /* of the row */
	const struct tk_revision_row *revision;
	int (*add)(struct tk_site *site, struct tk_value *o, const struct tk_cell *row,
	        struct tk_error *err);
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
		tk_page_set_night_link(q->site, o, tk_model_find_night(m, cell->integer));
	else if (!strcmp(key, "series") && (q->series = tk_model_find_series(m, cell->integer)))
		tk_page_set_series(q->site, o, q->series, q->site->root);
	else if (!strcmp(key, "change") && q->series)
		tk_page_set_change(q->site, o, q->series, cell->real);
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
		tk_value_set_flag(q->site->arena, o, key, cell->integer != 0);
	else if (!mark && cell->type == TK_CELL_INT)
		tk_value_set_int(q->site->arena, o, key, cell->integer);
	else if (!mark)
		tk_value_set(q->site->arena, o, key, cell->text);
}

static int set_row(void *user, const struct tk_cell *row, size_t count, struct tk_error *err)
{
	struct query *q = user;
	struct tk_value *o = q->only ? q->only : tk_value_append_object(q->site->arena, q->list);
	if (!q->rows++)
		read_names(q, row, count);
	for (size_t i = 0; i < count; i++)
		set_cell(q, o, q->keys[i], q->marks[i], &row[i]);
	return q->add ? q->add(q->site, o, row, err) : 0;
}

int tk_page_add_query(struct tk_site *site, struct tk_value *o, const char *key, const char *sql,
        const struct tk_cell *args, size_t arg_count,
        int (*add)(struct tk_site *site, struct tk_value *o, const struct tk_cell *row,
                struct tk_error *err),
        struct tk_error *err)
{
	struct query q = {.site = site, .list = tk_value_set_list(site->arena, o, key), .add = add};
	return tk_store_query(site->model.store, sql, args, arg_count, set_row, &q, err);
}

int tk_page_set_query(struct tk_site *site, struct tk_value *o, const char *sql,
        const struct tk_cell *args, size_t arg_count, struct tk_error *err)
{
	struct query q = {.site = site, .only = o};
	return tk_store_query(site->model.store, sql, args, arg_count, set_row, &q, err);
}

int tk_page_add_queries(struct tk_site *site, struct tk_value *o,
        const struct tk_page_query *queries, size_t count, int64_t id, struct tk_error *err)
{
	const struct tk_cell arg = TK_CELL_ID(id);
	for (size_t i = 0; i < count; i++)
		TRY(queries[i].key ? tk_page_add_query(site, o, queries[i].key, queries[i].sql,
		                             &arg, 1, NULL, err)
		                   : tk_page_set_query(site, o, queries[i].sql, &arg, 1, err));
	return 0;
}
