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
#include "site_gen/charts/bars.h"
#include "site_gen/model/links.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"

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

/* day(seconds since 1970): "2026-11-21"; NULL for 0 and NULL */
static void day(const struct tk_cell *args, struct tk_cell *result, char *out)
{
	if (args[0].integer)
		return_text(result, tk_time_format_day(args[0].integer, out));
}

/* is_unreliable(unstable, timed): whether too many runs of a night missed their interval */
static void is_unreliable(const struct tk_cell *args, struct tk_cell *result, char *out)
{
	(void)out;
	result->type = TK_CELL_INT;
	result->integer =
	        tk_outcome_is_night_unreliable((size_t)args[0].integer, (size_t)args[1].integer);
}

/* phrase(verdict): "not measured before", for sentences that count series */
static void phrase(const struct tk_cell *args, struct tk_cell *result, char *out)
{
	int value;
	(void)out;
	if (!tk_vocabulary_parse(&tk_verdict_status_words, args[0].text, &value))
		return_text(result, tk_verdict_status_phrase((enum tk_verdict_status)value));
}

/* iso(seconds since 1970): "2026-11-21T09:42:00Z" */
static void iso(const struct tk_cell *args, struct tk_cell *result, char *out)
{
	return_text(result, tk_time_format_iso(args[0].integer, out));
}

/* change_span(a, b): "+5.8 % to +9.3 %", in one notation; once where they read the same */
static void change_span(const struct tk_cell *args, struct tk_cell *result, char *out)
{
	char a[TK_FORMAT_SIZE], b[TK_FORMAT_SIZE];
	tk_format_change_pair(args[0].real, args[1].real, a, b);
	return_text(result, out);
	snprintf(out, TK_SQL_SCRATCH_SIZE, strcmp(a, b) ? "%s to %s" : "%s", a, b);
}

/* change_range(change, lo, hi): "+2.9 to +4.1 %"; NULL where there is no interval */
static void change_range(const struct tk_cell *args, struct tk_cell *result, char *out)
{
	if (args[1].type != TK_CELL_NULL)
		return_text(result,
		        tk_format_change_range(args[0].real, args[1].real, args[2].real, out));
}

/* short_rev(rev): 12 digits of a hash */
static void short_rev(const struct tk_cell *args, struct tk_cell *result, char *out)
{
	return_text(result, tk_rev_abbreviate(args[0].text, out));
}

/* commit_href(url, rev): its address at the forge; "": unknown */
static void commit_href(const struct tk_cell *args, struct tk_cell *result, char *out)
{
	return_text(result, tk_link_commit(args[0].text, args[1].text, out));
}

/* range_href(url, base, head): the same of the commits between two revisions */
static void range_href(const struct tk_cell *args, struct tk_cell *result, char *out)
{
	return_text(result, tk_link_range(args[0].text, args[1].text, args[2].text, out));
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
        {"change_range", 3, change_range},
        {"change_span", 2, change_span},
        {"clauses", 1, clauses},
        {"clip", 2, clip},
        {"commit_href", 2, commit_href},
        {"counted", 1, counted},
        {"day", 1, day},
        {"duration", 1, duration},
        {"is_timed", 1, is_timed},
        {"is_unreliable", 2, is_unreliable},
        {"iso", 1, iso},
        {"minute", 1, minute},
        {"phrase", 1, phrase},
        {"place", 2, place},
        {"public_url", 1, public_url},
        {"quantity", 2, quantity},
        {"range_href", 3, range_href},
        {"short_rev", 1, short_rev},
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
	const struct tk_revision_row *base;
};

static const struct tk_revision_row *find_revision(const struct query *q, const struct tk_cell *id)
{
	return tk_row_index_find(&q->site->model.revisions_by_id, id->integer);
}

static void set_series(struct query *q, struct tk_value *o, const struct tk_cell *id)
{
	q->series = tk_model_find_series(&q->site->model, id->integer);
	if (q->series)
		tk_page_set_series(q->site, o, q->series, q->site->root);
	else
		tk_value_set(o, "label", "");
	tk_value_set_flag(o, "has_series", q->series != NULL);
}

static void set_change(struct query *q, struct tk_value *o, const struct tk_cell *change)
{
	if (q->series && change->type != TK_CELL_TEXT) {
		tk_page_set_change(o, q->series, change->real);
		return;
	}
	tk_value_set(o, "change", "");
	tk_value_set(o, "direction", "");
	tk_value_set(o, "glyph", "");
}

static void set_step(struct query *q, struct tk_value *o, const struct tk_cell *ratio)
{
	if (q->series)
		tk_svg_draw_change(&q->site->markup, ratio->real,
		        (ratio->real > 1) == (q->series->row->better == TK_BETTER_LOWER));
	tk_page_set_markup(q->site, o, "step_markup");
}

static void set_spark(struct query *q, struct tk_value *o, const struct tk_cell *unused)
{
	(void)unused;
	if (q->series)
		tk_page_set_sparkline(q->site, o, q->series);
	else
		tk_value_set(o, "spark_markup", "");
}

static void set_revision(struct query *q, struct tk_value *o, const struct tk_cell *id)
{
	tk_page_set_revision(q->site, o, find_revision(q, id));
}

static void set_base(struct query *q, struct tk_value *o, const struct tk_cell *id)
{
	(void)o;
	q->base = find_revision(q, id);
}

static void set_range(struct query *q, struct tk_value *o, const struct tk_cell *id)
{
	tk_page_set_revision_range(q->site, o, q->base, find_revision(q, id));
}

static void set_night(struct query *q, struct tk_value *o, const struct tk_cell *id)
{
	tk_page_set_night_link(o, tk_model_find_night(&q->site->model, id->integer));
}

static const struct {
	const char *key;
	void (*set)(struct query *q, struct tk_value *o, const struct tk_cell *cell);
} expansions[] = {
        {"base", set_base},
        {"change", set_change},
        {"night", set_night},
        {"range", set_range},
        {"revision", set_revision},
        {"series", set_series},
        {"spark", set_spark},
        {"step", set_step},
};

static void set_cell(
        struct query *q, struct tk_value *o, const char *key, char mark, const struct tk_cell *cell)
{
	for (size_t i = 0; mark == '+' && i < sizeof expansions / sizeof *expansions; i++)
		if (!strcmp(expansions[i].key, key))
			expansions[i].set(q, o, cell);
	if (mark == '?')
		tk_value_set_flag(o, key, cell->integer != 0);
	else if (mark == '-' && !strcmp(key, "id"))
		o->id = cell->integer;
	else if (!mark && cell->type == TK_CELL_INT)
		tk_value_set_int(o, key, cell->integer);
	else if (!mark)
		tk_value_set(o, key, cell->text);
}

static void read_names(struct query *q, const struct tk_cell *row, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(row[i].name);
		char last = len ? row[i].name[len - 1] : 0;
		q->marks[i] = last && strchr("?+-", last) ? last : 0;
		q->keys[i] = tk_arena_text(q->site->arena, row[i].name, len - (q->marks[i] != 0));
	}
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

/* The length of the key in a line "-- KEY:", "-- LIST/KEY:" or with "." for KEY; 0: another
 * line. */
static size_t heading_len(const char *line)
{
	size_t len = strncmp(line, "-- ", 3) ? 0 : strspn(line + 3, "abcdefghijklmnopqrstuvwxyz_/");
	len += len != 0 || !strncmp(line, "-- .", 4) ? line[3 + len] == '.' : 0;
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
		return run(s, "CREATE TEMP VIEW", q->key, " AS ", q->sql, err)
		               ? tk_error_add_context(err, "views.sql: %s", q->key)
		               : 0;
	}
	AUTO_TEXT index = tk_sprintf("%s_by ON %s(%s)", q->key, q->key, q->table_key);
	TRY(run(s, "DROP TABLE IF EXISTS", q->key, "", "", err));
	if (run(s, "CREATE TEMP TABLE", q->key, " AS ", q->sql, err))
		return tk_error_add_context(err, "views.sql: %s", q->key);
	return run(s, "CREATE INDEX", index, "", "", err);
}

/* What the model knows of machines, nights and series, for queries. */
#define MACHINE_TABLE \
	"(id INTEGER PRIMARY KEY, name TEXT, last_night_id INTEGER, analysed_night_id INTEGER)"
#define SERIES_TABLE \
	"(id INTEGER PRIMARY KEY, place INTEGER, word TEXT, tone TEXT, verdict_night_id INTEGER," \
	" is_unplanned INTEGER, is_skipped INTEGER, is_unsupported INTEGER, fails INTEGER)"
#define NIGHT_TABLE \
	"(id INTEGER PRIMARY KEY, file TEXT, as_of_s INTEGER, started_s INTEGER," \
	" finished_s INTEGER, status TEXT)"

static int insert(struct tk_store *s, const char *sql, const struct tk_cell *row, size_t count,
        struct tk_error *err)
{
	return tk_sql_query(s, sql, row, count, ignore_row, NULL, err);
}

static struct tk_cell night_id(const struct tk_night_row *n)
{
	return n ? (struct tk_cell)TK_CELL_ID(n->id) : (struct tk_cell){.type = TK_CELL_NULL};
}

static int fill_machines(const struct tk_model *m, struct tk_error *err)
{
	TRY(run(m->store, "DROP TABLE IF EXISTS", "temp.page_machine", "", "", err));
	TRY(run(m->store, "CREATE TEMP TABLE", "page_machine", MACHINE_TABLE, "", err));
	for (size_t i = 0; i < m->machine_count; i++) {
		const struct tk_site_machine *machine = &m->machines[i];
		const struct tk_cell row[] = {TK_CELL_ID(machine->row->id),
		        TK_CELL_STR(machine->row->name), night_id(machine->last_night),
		        night_id(machine->analysed_night)};
		TRY(insert(
		        m->store, "INSERT INTO page_machine VALUES (?1, ?2, ?3, ?4)", row, 4, err));
	}
	return 0;
}

static int fill_nights(const struct tk_model *m, struct tk_error *err)
{
	TRY(run(m->store, "DROP TABLE IF EXISTS", "temp.page_night", "", "", err));
	TRY(run(m->store, "CREATE TEMP TABLE", "page_night", NIGHT_TABLE, "", err));
	TRY(run(m->store, "INSERT INTO", "page_night",
	        " SELECT id, NULL, as_of_s, started_s, finished_s, status FROM night", "", err));
	for (size_t i = 0; i < m->night_count; i++) {
		const struct tk_site_night *night = &m->nights[i];
		const struct tk_cell row[] = {TK_CELL_ID(night->row->id), TK_CELL_STR(night->file)};
		if (night->file)
			TRY(insert(m->store, "UPDATE page_night SET file = ?2 WHERE id = ?1", row,
			        2, err));
	}
	return 0;
}

static int fill_series(const struct tk_model *m, struct tk_error *err)
{
	TRY(run(m->store, "DROP TABLE IF EXISTS", "temp.page_series", "", "", err));
	TRY(run(m->store, "CREATE TEMP TABLE", "page_series", SERIES_TABLE, "", err));
	for (size_t i = 0; i < m->series_count; i++) {
		const struct tk_site_series *s = &m->series[i];
		const struct tk_cell row[] = {TK_CELL_ID(s->row->id), TK_CELL_ID((int64_t)i),
		        TK_CELL_STR(tk_series_status_word(s)),
		        TK_CELL_STR(tk_tone_name(tk_series_tone(s))),
		        TK_CELL_ID(s->verdict ? s->verdict->night_id : 0),
		        TK_CELL_ID(s->is_unplanned), TK_CELL_ID(tk_series_is_skipped(s)),
		        TK_CELL_ID(tk_series_is_unsupported(s)), TK_CELL_ID(s->failure != NULL)};
		TRY(insert(m->store,
		        "INSERT INTO page_series VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)", row,
		        9, err));
	}
	return 0;
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
	if (!status)
		status = fill_machines(&site->model, err);
	if (!status)
		status = fill_nights(&site->model, err);
	if (!status)
		status = fill_series(&site->model, err);
	for (size_t i = 0; !status && i < site->queries->count; i++)
		if (!strcmp(site->queries->at[i].page, VIEWS))
			status = make_view(s, &site->queries->at[i], err);
	return status;
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

static int run_query(struct tk_site *site, struct tk_value *o, const char *key, const char *sql,
        int64_t id, struct tk_error *err)
{
	const struct tk_cell arg = {.type = TK_CELL_INT, .integer = id, .text = ""};
	struct query query = {.site = site};
	if (strcmp(key, "."))
		query.list = tk_value_add_list(o, key);
	else
		query.only = o;
	return tk_sql_query(site->model.store, sql, &arg, 1, set_row, &query, err);
}

static int add_query_of(struct tk_site *site, struct tk_value *o, const struct tk_page_query *q,
        int64_t id, struct tk_error *err)
{
	const char *slash = strchr(q->key, '/');
	if (!slash)
		return run_query(site, o, tk_arena_text(site->arena, q->key, strlen(q->key)),
		        q->sql, id, err);
	size_t len = (size_t)(slash - q->key);
	const char *key = tk_arena_text(site->arena, slash + 1, strlen(slash + 1));
	const struct tk_value *list =
	        tk_value_find_member(o, q->key, len, tk_value_hash_key(q->key, len));
	for (struct tk_value *item = list ? list->first : NULL; item; item = item->next)
		TRY(run_query(site, item, key, q->sql, item->id, err));
	return 0;
}

int tk_page_add_sql(struct tk_site *site, struct tk_value *o, const char *page, int64_t id,
        struct tk_error *err)
{
	for (size_t i = 0; i < site->queries->count; i++) {
		const struct tk_page_query *q = &site->queries->at[i];
		if (!strcmp(q->page, page) && add_query_of(site, o, q, id, err))
			return tk_error_add_context(err, "%s.sql: %s", page, q->key);
	}
	return 0;
}
