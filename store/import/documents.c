/* JSON and CSV of other tools, read by SQL: a format is a file in formats/ whose statements select
 * rows with the columns of struct tk_import_row. Each row can have a place (where a statement has
 * such columns), a result (where `name` is not NULL), and a run (where `attributes` is not NULL). A
 * semicolon ends a statement, also in a text or a comment.
 *
 * Parameters: :doc, the document (of CSV a list of rows, the headings first); :rev and :at, the
 * options. Functions, where `place` is a JSON path ("$.results[0].times") and values are JSON texts
 * as `->` gives them:
 *   number(value, place [, 'or text'])   a number, NULL for null; else an error
 *   text(value, place)                   likewise
 *   milliseconds(value, place)           seconds since 1970
 *   need(x, place), fail(what, place), expected(what, value, place)
 *                                        x if it is not NULL; errors
 *   rest(object, key...)                 its other members that are not null; NULL: none
 *   real(text)                           the number that it is, NULL if it is none; NaN: infinite
 *   after_last(text, separator), first_line(text), iso_time(text)
 *   unit_in(heading)                     the unit that ends it: "gemm_ms", "rate (ops/s)"
 *
 * Other tools do not always write valid JSON: NaN and Infinity become null, and what is before the
 * first brace ("window.BENCHMARK_DATA =") and a semicolon after the last one are left out. */
#include "base/csv.h"
#include "store/import/import.h"
#include <math.h>

#define DOCUMENT_MAX ((size_t)512 << 20)

/* ---- the document ---------------------------------------------------------------------------- */

static int read_text(const struct tk_import_file *f, struct tk_buf *out, struct tk_error *err)
{
	char block[65536];

	rewind(f->in);
	for (size_t n; (n = fread(block, 1, sizeof(block), f->in)) > 0;) {
		tk_buf_add(out, block, n);
		if (out->len > DOCUMENT_MAX)
			return tk_fail(err, TK_EDATA, "%s: has more than %zu MiB", f->path,
			        DOCUMENT_MAX >> 20);
	}
	return ferror(f->in) ? tk_fail_errno(err, "%s", f->path) : 0;
}

/* The length of a word that is no number of JSON at `at`; 0: none. */
static size_t not_a_number(const char *at)
{
	if (*at != 'N' && *at != 'I' && *at != '-')
		return 0;
	return !strncmp(at, "NaN", 3)         ? 3
	       : !strncmp(at, "Infinity", 8)  ? 8
	       : !strncmp(at, "-Infinity", 9) ? 9
	                                      : 0;
}

static void add_without_nan(struct tk_buf *out, const char *text)
{
	const char *from = text, *at = text;

	for (bool quoted = false; *at; at++) {
		size_t word = quoted ? 0 : not_a_number(at);

		if (*at == '"')
			quoted = !quoted;
		else if (quoted && *at == '\\' && at[1])
			at++;
		if (!word)
			continue;
		tk_buf_add(out, from, (size_t)(at - from));
		tk_buf_add_str(out, "null");
		from = at + word;
		at = from - 1;
	}
	tk_buf_add(out, from, (size_t)(at - from));
}

/* Whether each line has an object of its own: the first one does, and another line follows. */
static bool is_lines(const char *text)
{
	const char *end = *text == '{' ? strchr(text, '\n') : NULL;
	json_t *first = end && end[strspn(end, " \t\r\n")]
	                        ? json_loadb(text, (size_t)(end - text), 0, NULL)
	                        : NULL;

	json_decref(first);
	return first != NULL;
}

/* The lines as a list; an empty one is null, so that elements have the numbers of lines. */
static void add_lines(struct tk_buf *out, const char *text)
{
	for (const char *lead = "["; *text; lead = ",\n") {
		size_t len = strcspn(text, "\n"), blank = strspn(text, " \t\r");

		tk_buf_add_str(out, lead);
		tk_buf_add(out, blank == len ? "null" : text, blank == len ? 4 : len);
		text += len + (text[len] == '\n');
	}
	tk_buf_add_char(out, ']');
}

int tk_import_read_json(struct tk_import_sink *s, struct tk_buf *out, struct tk_error *err)
{
	static const char assignment[] = "window.BENCHMARK_DATA";
	AUTO(tk_buf) text = {0};
	AUTO(tk_buf) plain = {0};

	TRY(read_text(s->file, &text, err));
	const char *start = tk_buf_cstr(&text);

	if (!strncmp(start, TK_IMPORT_BYTE_ORDER_MARK, 3))
		start += 3;
	start += strspn(start, " \t\r\n");
	if (!strncmp(start, assignment, strlen(assignment)))
		start += strcspn(start, "{[");
	add_without_nan(&plain, start);
	while (plain.len && strchr("; \t\r\n", plain.data[plain.len - 1]))
		plain.data[--plain.len] = '\0';
	s->is_lines = is_lines(tk_buf_cstr(&plain));
	if (s->is_lines)
		add_lines(out, tk_buf_cstr(&plain));
	else
		tk_buf_add(out, plain.data, plain.len);
	tk_buf_cstr(out);
	return 0;
}

int tk_import_parse(struct tk_import_sink *s, const struct tk_buf *text, json_t **out)
{
	json_error_t why;

	*out = json_loadb(text->data, text->len, 0, &why);
	return *out ? 0
	            : tk_fail(s->err, TK_EDATA, "%s:%d:%d: %s", s->file->path, why.line, why.column,
	                      why.text);
}

/* SQLite does not say where a document is malformed. */
static int load(struct tk_import_sink *s, struct tk_buf *out, struct tk_error *err)
{
	json_auto_t *document = NULL;
	int64_t is_valid;

	TRY(tk_import_read_json(s, out, err));
	TRY(tk_store_select_int(
	        s->store, "SELECT json_valid(?1)", TK_ARGS(out->data), 0, &is_valid, err));
	if (is_valid && tk_utf8_is_valid(out->data))
		return 0;
	TRY(tk_import_parse(s, out, &document));
	return tk_fail(err, TK_EDATA, "%s: is nested too deeply", s->file->path);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void add_json_text(struct tk_buf *out, const char *text)
{
	AUTO(tk_buf) repaired = {0};

	if (!tk_utf8_is_valid(text)) {
		tk_buf_add_utf8(&repaired, text, strlen(text));
		text = tk_buf_cstr(&repaired);
	}
	tk_buf_add_char(out, '"');
	for (; *text; text++)
		if ((unsigned char)*text < ' ')
			tk_buf_add_printf(out, "\\u%04x", (unsigned)*text);
		else
			tk_buf_add_printf(out, strchr("\"\\", *text) ? "\\%c" : "%c", *text);
	tk_buf_add_char(out, '"');
}

/* A list of rows, which are lists of texts: row i is that of line i + 1, null where none begins. */
static int add_rows(
        struct tk_import_sink *s, struct tk_csv *csv, struct tk_buf *out, struct tk_error *err)
{
	size_t columns = 0;
	bool more;

	for (size_t row = 0;; row++) {
		TRY(tk_csv_read_row(csv, &more, err));
		if (!more)
			break;
		if (row && csv->count != columns)
			return tk_fail(err, TK_EDATA, "%s:%zu: %zu columns, the heading has %zu",
			        s->file->path, csv->line, csv->count, columns);
		for (; row && row + 1 < csv->line; row++)
			tk_buf_add_str(out, ",null");
		columns = csv->count;
		for (size_t i = 0; i < csv->count; i++) {
			tk_buf_add_str(out, i ? "," : row ? ",[" : "[[");
			add_json_text(out, csv->fields[i]);
		}
		tk_buf_add_char(out, ']');
		if (out->len > DOCUMENT_MAX)
			return tk_fail(err, TK_EDATA, "%s: has more than %zu MiB", s->file->path,
			        DOCUMENT_MAX >> 20);
	}
	tk_buf_add_str(out, out->len ? "]" : "[]");
	return 0;
}

static int load_csv(struct tk_import_sink *s, struct tk_buf *out, struct tk_error *err)
{
	struct tk_csv csv;

	rewind(s->file->in);
	tk_csv_attach(&csv, s->file->in, s->file->path);
	int status = add_rows(s, &csv, out, err);

	tk_csv_close(&csv);
	s->is_lines = true;
	return status;
}

/* ---- rows ------------------------------------------------------------------------------------ */

#define MEMBER(name) TK_MEMBER(struct tk_import_row, name)
/* The first ones are of a place. */
static const struct tk_db_column members[] = {MEMBER(machine), MEMBER(machine_attributes),
        MEMBER(device), MEMBER(arch), MEMBER(upstream), MEMBER(url), MEMBER(name), MEMBER(metric),
        MEMBER(unit), MEMBER(better), MEMBER(backend), MEMBER(config), MEMBER(dtype),
        MEMBER(family), MEMBER(value), MEMBER(lo), MEMBER(hi), MEMBER(min), MEMBER(q25),
        MEMBER(q75), MEMBER(p95), MEMBER(n), MEMBER(list), MEMBER(key), MEMBER(rest), MEMBER(rev),
        MEMBER(author), MEMBER(subject), MEMBER(attributes), MEMBER(time_s)};
#define PLACE_COUNT 6

static const struct tk_db_column *find_member(const char *name)
{
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (!strcmp(members[i].name, name))
			return &members[i];
	return NULL;
}

static void read_member(
        sqlite3_stmt *stmt, int at, const struct tk_db_column *member, struct tk_import_row *row)
{
	void *field = (char *)row + member->offset;

	if (sqlite3_column_type(stmt, at) == SQLITE_NULL)
		return;
	if (member->kind == TK_COL_TEXT)
		*(const char **)field = (const char *)sqlite3_column_text(stmt, at);
	else if (member->kind == TK_COL_INT)
		*(int64_t *)field = sqlite3_column_int64(stmt, at);
	else
		*(double *)field = sqlite3_column_double(stmt, at);
}

/* attributes[list][key] = rest, or its members where there is no list. */
static void set_attribute(json_t *attributes, const struct tk_import_row *row)
{
	json_t *rest = json_loads(row->rest, JSON_DECODE_ANY, NULL),
	       *list = row->list ? json_object_get(attributes, row->list) : attributes;

	if (!list) {
		list = json_object();
		json_object_set_new(attributes, row->list, list);
	}
	if (row->list) {
		json_object_set_new(list, row->key ? row->key : row->name, rest);
	} else {
		json_object_update(list, rest);
		json_decref(rest);
	}
}

/* attributes: of the results since the last run. */
static int take_row(struct tk_import_sink *s, const struct tk_import_row *row, bool has_place,
        json_t *attributes, struct tk_error *err)
{
	if (has_place)
		TRY(tk_import_place(s, row, err));
	if (row->rest)
		set_attribute(attributes, row);
	if (row->name)
		TRY(tk_import_point(s, row, err));
	if (!row->attributes)
		return 0;
	json_auto_t *all = json_loads(row->attributes, 0, NULL);

	json_object_update(all, attributes);
	json_object_clear(attributes);
	return tk_import_add_run(s, row, all, err);
}

static int run_statement(
        struct tk_import_sink *s, sqlite3_stmt *stmt, json_t *attributes, struct tk_error *err)
{
	const struct tk_db_column *found[TK_SELECT_COLUMNS_MAX];
	int code, status = 0, count = sqlite3_column_count(stmt);
	bool has_place = false;

	for (int i = 0; i < count; i++) {
		found[i] = find_member(sqlite3_column_name(stmt, i));
		has_place |= found[i] && found[i] < members + PLACE_COUNT;
	}
	s->failed = 0;
	while ((code = sqlite3_step(stmt)) == SQLITE_ROW && !status) {
		struct tk_import_row row = TK_IMPORT_ROW();

		for (int i = 0; i < count; i++)
			if (found[i])
				read_member(stmt, i, found[i], &row);
		status = take_row(s, &row, has_place, attributes, err);
	}
	if (!status && code != SQLITE_DONE)
		status = s->failed
		                 ? s->failed
		                 : tk_db_fail(s->store, code, err, "cannot read %s", s->file->path);
	return status;
}

static void bind_parameters(
        sqlite3_stmt *stmt, const struct tk_buf *document, const struct tk_import_request *request)
{
	int doc = sqlite3_bind_parameter_index(stmt, ":doc"),
	    rev = sqlite3_bind_parameter_index(stmt, ":rev"),
	    at = sqlite3_bind_parameter_index(stmt, ":at");

	if (doc)
		sqlite3_bind_text64(
		        stmt, doc, document->data, document->len, SQLITE_STATIC, SQLITE_UTF8);
	if (rev)
		sqlite3_bind_text(stmt, rev, request->rev, -1, SQLITE_STATIC);
	if (at && request->at_s)
		sqlite3_bind_int64(stmt, at, request->at_s);
}

int tk_import_read_document(
        struct tk_import_sink *sink, const unsigned char *sql, bool is_csv, struct tk_error *err)
{
	json_auto_t *attributes = json_object();
	AUTO(tk_buf) document = {0};
	int status = is_csv ? load_csv(sink, &document, err) : load(sink, &document, err);

	for (const char *next = (const char *)sql; !status && *next;) {
		AUTO_TEXT one = tk_strndup(next, strcspn(next, ";") + 1);
		sqlite3_stmt *stmt;

		next += strlen(one);
		next += strspn(next, "\n");
		TRY(tk_db_prepare_args(sink->store, one, TK_NO_ARGS, &stmt, err));
		bind_parameters(stmt, &document, sink->request);
		status = run_statement(sink, stmt, attributes, err);
		sqlite3_reset(stmt);
		sqlite3_clear_bindings(stmt);
	}
	return status;
}
