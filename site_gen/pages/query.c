/* Rows of a SELECT as values of a page, by the queries of templates. */
#include "site_gen/pages/query.h"

#include "core/vocabulary.h"
#include "site_gen/charts/charts.h"
#include "site_gen/pages/page.h"
#include "stats/summary.h"

/* ---- rows ---- */

struct query {
	struct tk_site *site;
	struct tk_arena *names;       /* of the keys */
	struct tk_value *list, *only; /* one of them */
	const char *keys[TK_QUERY_COLUMNS_MAX];
	char marks[TK_QUERY_COLUMNS_MAX];
	size_t rows;
	const struct tk_site_series *series; /* of the row */
	const struct tk_revision_row *base;
};

static const struct tk_revision_row *find_revision(const struct query *q, const struct tk_arg *id)
{
	return tk_row_index_find(&q->site->model.revisions_by_id, id->i);
}

static void set_series(struct query *q, struct tk_value *o, const struct tk_arg *id)
{
	q->series = tk_model_find_series(&q->site->model, id->i);
	if (q->series)
		tk_page_set_series(q->site, o, q->series, q->site->root);
	else
		tk_value_set(o, "label", "");
	tk_value_set_flag(o, "has_series", q->series != NULL);
}

static void set_change(struct query *q, struct tk_value *o, const struct tk_arg *change)
{
	if (q->series && change->kind != TK_ARG_TEXT) {
		tk_page_set_change(o, q->series, change->real);
		return;
	}
	tk_value_set(o, "change", "");
	tk_value_set(o, "direction", "");
	tk_value_set(o, "glyph", "");
}

static void set_step(struct query *q, struct tk_value *o, const struct tk_arg *ratio)
{
	if (q->series)
		tk_svg_draw_change(&q->site->markup, ratio->real,
		        (ratio->real > 1) == (q->series->row->better == TK_BETTER_LOWER));
	tk_page_set_markup(q->site, o, "step_markup");
}

static void set_spark(struct query *q, struct tk_value *o, const struct tk_arg *unused)
{
	(void)unused;
	if (q->series)
		tk_page_set_sparkline(q->site, o, q->series);
	else
		tk_value_set(o, "spark_markup", "");
}

static void set_bar(struct query *q, struct tk_value *o, const struct tk_arg *share)
{
	if (share->kind != TK_ARG_NULL)
		tk_svg_draw_bar(&q->site->markup, share->real, "rest");
	tk_page_set_markup(q->site, o, "bar_markup");
}

static void set_revision(struct query *q, struct tk_value *o, const struct tk_arg *id)
{
	tk_page_set_revision(q->site, o, find_revision(q, id));
}

static void set_base(struct query *q, struct tk_value *o, const struct tk_arg *id)
{
	(void)o;
	q->base = find_revision(q, id);
}

static void set_range(struct query *q, struct tk_value *o, const struct tk_arg *id)
{
	tk_page_set_revision_range(q->site, o, q->base, find_revision(q, id));
}

static void set_mark(struct query *q, struct tk_value *o, const struct tk_arg *style)
{
	tk_mark_draw_key(&q->site->markup, (size_t)style->i);
	tk_page_set_markup(q->site, o, "mark_markup");
}

static void set_night(struct query *q, struct tk_value *o, const struct tk_arg *id)
{
	const struct tk_site_night *night = tk_model_find_night(&q->site->model, id->i);
	tk_value_set_flag(o, "page", night && night->file);
	tk_value_set_fmt(o, "href", "%s.html", night && night->file ? night->file : "");
}

static void set_verdict(struct query *q, struct tk_value *o, const struct tk_arg *unused)
{
	tk_page_set_verdict(q->site, o, q->series);
}

#define P99_SAMPLES 20 /* fewer say nothing about the 99th percentile */

static void set_p99(struct query *q, struct tk_value *o, const struct tk_arg *run_id)
{
	double *samples = NULL;
	size_t count = 0;
	char text[TK_FORMAT_SIZE];
	bool known = run_id->i &&
	             !tk_store_read_samples(
	                     q->site->model.store, run_id->i, o->id, &samples, &count, NULL) &&
	             count >= P99_SAMPLES;
	tk_value_set(o, "p99",
	        known ? tk_format_digits(tk_quantile_select(samples, count, 0.99), 4, text) : "-");
	free(samples);
}

#define ATTRIBUTES_MAX 60

static bool is_bytes(const char *name, const json_t *v)
{
	size_t len = strlen(name);
	return json_is_integer(v) && len > 6 && !strcmp(name + len - 6, "_bytes");
}

/* A JSON object as a list of keys and values; other values than texts and numbers as JSON. */
static void set_attributes(struct tk_value *o, const char *key, const char *json)
{
	json_t *attributes = tk_attributes_flatten(json), *v;
	struct tk_value *list = tk_value_add_list(o, key);
	const char *name;
	size_t count = 0;
	json_object_foreach (attributes, name, v) {
		if (++count > ATTRIBUTES_MAX)
			break;
		struct tk_value *item = tk_value_append(list);
		char *other = json_is_string(v) ? NULL
		                                : json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT |
		                                                        JSON_REAL_PRECISION(6));
		tk_value_set_clip(item, "key", name, 60);
		if (is_bytes(name, v))
			tk_value_set_quantity(
			        item, "value", (double)json_integer_value(v), "bytes", "–");
		else
			tk_value_set_clip(item, "value",
			        json_is_string(v) ? json_string_value(v)
			        : other           ? other
			                          : "",
			        300);
		free(other);
	}
	json_decref(attributes);
}

static const struct {
	const char *key;
	void (*set)(struct query *q, struct tk_value *o, const struct tk_arg *cell);
} expansions[] = {
        {"bar", set_bar},
        {"base", set_base},
        {"change", set_change},
        {"mark", set_mark},
        {"night", set_night},
        {"p99", set_p99},
        {"range", set_range},
        {"revision", set_revision},
        {"series", set_series},
        {"spark", set_spark},
        {"step", set_step},
        {"verdict", set_verdict},
};

static void set_cell(
        struct query *q, struct tk_value *o, const char *key, char mark, const struct tk_arg *cell)
{
	for (size_t i = 0; mark == '+' && i < sizeof expansions / sizeof *expansions; i++)
		if (!strcmp(expansions[i].key, key))
			expansions[i].set(q, o, cell);
	if (mark == '!') {
		tk_buf_add_str(&q->site->markup, cell->text);
		tk_page_set_markup(q->site, o, key);
	} else if (mark == '*')
		set_attributes(o, key, cell->text);
	else if (mark == '?')
		tk_value_set_flag(o, key, cell->i != 0 || *cell->text == '1');
	else if (mark == '-' && !strcmp(key, "id"))
		o->id = cell->i;
	else if (!mark && cell->kind == TK_ARG_INT)
		tk_value_set_int(o, key, cell->i);
	else if (!mark)
		tk_value_set(o, key, cell->text);
}

static void read_names(struct query *q, const struct tk_query_row *row)
{
	for (int i = 0; i < row->count; i++) {
		size_t len = strlen(row->names[i]);
		char last = len ? row->names[i][len - 1] : 0;
		q->marks[i] = last && strchr("?+-*!", last) ? last : 0;
		q->keys[i] = tk_arena_text(q->names, row->names[i], len - (q->marks[i] != 0));
	}
}

static int set_row(void *user, const struct tk_query_row *row, struct tk_error *err)
{
	struct query *q = user;
	struct tk_value *o = q->only ? q->only : tk_value_append(q->list);
	(void)err;
	if (!q->rows++)
		read_names(q, row);
	for (int i = 0; i < row->count; i++)
		set_cell(q, o, q->keys[i], q->marks[i], &row->values[i]);
	return 0;
}

/* ---- files ---- */

#define FILE_BYTES_MAX ((size_t)1 << 20)
#define VIEWS "views"

/* A query that is run once for all pages. */
struct walk {
	void *statement;
	struct tk_query_row next; /* of a page to come; count 0: there is none */
	struct query query;
};

struct tk_page_query {
	char *page, *key, *sql;
	const char *
	        table_key; /* in views.sql: the column by which a table is searched; NULL: a view */
	size_t arg_count;
	bool is_walked;
	struct walk *walk; /* NULL: not begun */
};
struct tk_page_queries {
	struct tk_page_query *at;
	size_t count;
	struct tk_arena *names; /* of walks */
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

static size_t count_args(const char *sql)
{
	size_t count = TK_PAGE_ARGS_MAX;
	while (count && !strstr(sql, (const char[]){'?', (char)('0' + count), 0}))
		count--;
	return count;
}

static const char *add_query(struct tk_page_queries *all, const char *page, const char *heading)
{
	static const char table[] = ": table by ", walked[] = ": of all pages";
	size_t key_len = heading_len(heading);
	const char *after = heading + 3 + key_len, *sql = next_line(heading), *end = sql;
	while (*end && !heading_len(end))
		end = next_line(end);
	size_t len = (size_t)(end - sql);
	while (len && strchr(" \n", sql[len - 1]))
		len--;
	all->at = tk_reallocarray(all->at, all->count + 1, sizeof *all->at);
	struct tk_page_query *q = &all->at[all->count++];
	*q = (struct tk_page_query){.page = tk_strdup(page),
	        .key = tk_strndup(heading + 3, key_len),
	        .sql = tk_strndup(sql, len),
	        .is_walked = !strncmp(after, walked, strlen(walked))};
	q->arg_count = count_args(q->sql);
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

static int run(struct tk_store *s, const char *verb, const char *name, const char *rest,
        const char *sql, struct tk_error *err)
{
	AUTO_TEXT text = tk_sprintf("%s %s%s%s", verb, name, rest, sql);
	return tk_store_run(s, text, TK_NO_ARGS, err);
}

static int make_view(struct tk_store *s, const struct tk_page_query *q, struct tk_error *err)
{
	if (!q->table_key) {
		TRY(run(s, "DROP VIEW IF EXISTS", q->key, "", "", err));
		return run(s, "CREATE TEMP VIEW", q->key, " AS ", q->sql, err)
		               ? tk_error_add_context(err, "%s.sql: %s", q->page, q->key)
		               : 0;
	}
	AUTO_TEXT index = tk_sprintf("%s_by ON %s(%s)", q->key, q->key, q->table_key);
	TRY(run(s, "DROP TABLE IF EXISTS", q->key, "", "", err));
	if (run(s, "CREATE TEMP TABLE", q->key, " AS ", q->sql, err))
		return tk_error_add_context(err, "%s.sql: %s", q->page, q->key);
	return run(s, "CREATE INDEX", index, "", "", err);
}

int tk_page_load_queries(struct tk_site *site, struct tk_error *err)
{
	const char *dir = site->options->templates_dir;
	struct tk_store *s = site->model.store;
	char **names = NULL;
	size_t count = 0;
	site->queries = tk_calloc(1, sizeof *site->queries);
	site->queries->names = tk_arena_new();
	int status = tk_dir_list(dir, &names, &count, err);
	for (size_t i = 0; !status && i < count; i++) {
		const char *suffix = strrchr(names[i], '.');
		if (suffix && !strcmp(suffix, ".sql"))
			status = read_file(site->queries, dir, names[i], err);
	}
	tk_names_free(names, count);
	if (!status)
		status = tk_page_store_facts(&site->model, site->options, err);
	for (size_t i = 0; !status && i < site->queries->count; i++)
		if (!strncmp(site->queries->at[i].page, VIEWS, strlen(VIEWS)))
			status = make_view(s, &site->queries->at[i], err);
	return status ? status : tk_model_read_revision_files(&site->model, err);
}

void tk_page_free_queries(struct tk_site *site)
{
	struct tk_page_queries *all = site->queries;
	for (size_t i = 0; all && i < all->count; i++) {
		struct tk_page_query *q = &all->at[i];
		free(q->page);
		free(q->key);
		free(q->sql);
		free((char *)q->table_key);
		if (q->walk)
			tk_store_query_end(q->walk->statement);
		free(q->walk);
	}
	if (all) {
		tk_arena_free(all->names);
		free(all->at);
	}
	free(all);
}

static void set_target(struct query *q, struct tk_value *o, const char *key)
{
	q->list = q->only = NULL;
	if (strcmp(key, "."))
		q->list = tk_value_add_list(o, tk_arena_text(q->site->arena, key, strlen(key)));
	else
		q->only = o;
}

/* Runs a query for `o`, or for each object of its list, or of theirs. */
static int run_query(struct tk_site *site, struct tk_value *o, const char *key, const char *sql,
        const struct tk_arg args[TK_PAGE_ARGS_MAX + 1], struct tk_error *err)
{
	const char *slash = strchr(key, '/');
	struct query query = {.site = site, .names = site->arena};
	if (slash) {
		size_t len = (size_t)(slash - key);
		const struct tk_value *list =
		        tk_value_find_member(o, key, len, tk_value_hash_key(key, len));
		struct tk_arg of_item[TK_PAGE_ARGS_MAX + 1];
		memcpy(of_item, args, sizeof of_item);
		for (struct tk_value *item = list ? list->first : NULL; item; item = item->next) {
			of_item[0] = tk_arg_int(item->id); /* every nested query has ?1 */
			TRY(run_query(site, item, slash + 1, sql, of_item, err));
		}
		return 0;
	}
	set_target(&query, o, key);
	return tk_store_query(site->model.store, sql, args, set_row, &query, err);
}

/* ---- queries that are run once for all pages ---- */

static int read_next(struct tk_site *site, struct tk_page_query *q, struct tk_error *err)
{
	return tk_store_query_next(
	        site->model.store, q->sql, TK_NO_ARGS, &q->walk->statement, &q->walk->next, err);
}

static int take_rows(struct tk_site *site, struct tk_value *o, struct tk_page_query *q,
        int64_t page_id, struct tk_error *err)
{
	struct walk *w = q->walk;
	if (!w) {
		w = q->walk = tk_calloc(1, sizeof *w);
		w->query = (struct query){.site = site, .names = site->queries->names};
		TRY(read_next(site, q, err));
	}
	set_target(&w->query, o, q->key);
	while (w->next.count && w->next.values[0].i == page_id) {
		TRY(set_row(&w->query, &w->next, err));
		TRY(read_next(site, q, err));
	}
	return 0;
}

int tk_page_end_queries(struct tk_site *site, struct tk_error *err)
{
	for (size_t i = 0; i < site->queries->count; i++) {
		struct tk_page_query *q = &site->queries->at[i];
		if (q->walk && q->walk->next.count)
			return tk_fail(err, TK_EINTERNAL,
			        "%s.sql: %s: rows are not in the order of the pages", q->page,
			        q->key);
	}
	return 0;
}

const char *tk_page_find_sql(const struct tk_site *site, const char *page, const char *key)
{
	const struct tk_page_query *q = site->queries->at;
	while (strcmp(q->page, page) || strcmp(q->key, key))
		q++;
	return q->sql;
}

int tk_page_add_sql(struct tk_site *site, struct tk_value *o, const char *page,
        const struct tk_arg *args, struct tk_error *err)
{
	for (size_t i = 0; i < site->queries->count; i++) {
		struct tk_page_query *q = &site->queries->at[i];
		struct tk_arg used[TK_PAGE_ARGS_MAX + 1] = {{0}};
		if (strcmp(q->page, page) || !strcmp(q->key, "pages"))
			continue;
		bool has_arg = args != NULL;
		for (size_t n = 0; n < q->arg_count; n++) {
			has_arg = has_arg && args[n].kind != TK_ARG_END;
			used[n] = has_arg ? args[n] : tk_arg_int(0);
		}
		if (q->is_walked ? take_rows(site, o, q, args->i, err)
		                 : run_query(site, o, q->key, q->sql, used, err))
			return tk_error_add_context(err, "%s.sql: %s", page, q->key);
	}
	return 0;
}
