/* The files of other tools as SQL sees them: JSON (or JSON lines as a list) is the parameter :doc,
 * CSV the table csv(line, place, cells, name, attributes, before), where cells is an object of
 * texts by heading, and lines of text the table lines(line, place, text).
 *
 * Other tools do not always write valid JSON: NaN and Infinity become null, and what is before the
 * first brace ("window.BENCHMARK_DATA =") and a semicolon after the last one are left out. */
#include "base/csv.h"
#include "store/import/import.h"

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

static void add_without_nan(struct tk_buf *out, const char *text, const char *instead)
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
		tk_buf_add_str(out, instead);
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
	/* asv tells a benchmark that failed (null) from one that was skipped (NaN). */
	add_without_nan(&plain, start, s->format->read ? "\"NaN\"" : "null");
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
	const char *plain = text;

	tk_buf_add_char(out, '"');
	for (; *text; text++) {
		const bool is_control = (unsigned char)*text < ' ';

		if (!is_control && *text != '"' && *text != '\\')
			continue;
		tk_buf_add(out, plain, (size_t)(text - plain));
		tk_buf_add_printf(out, is_control ? "\\u%04x" : "\\%c", (unsigned)*text);
		plain = text + 1;
	}
	tk_buf_add_str(out, plain);
	tk_buf_add_char(out, '"');
}

static int insert_row(
        struct tk_import_sink *s, sqlite3_stmt *insert, size_t line, struct tk_error *err)
{
	sqlite3_bind_int64(insert, 1, (int64_t)line);
	int code = sqlite3_step(insert);

	sqlite3_reset(insert);
	return code == SQLITE_DONE ? 0
	                           : tk_fail(err, TK_EDATA, "%s:%zu: %s", s->file->path, line,
	                                     sqlite3_errmsg(s->documents));
}

static void bind(sqlite3_stmt *insert, int at, const struct tk_buf *text)
{
	sqlite3_bind_text64(insert, at, text->data, text->len, SQLITE_STATIC, SQLITE_UTF8);
}

struct table {
	struct tk_import_sink *sink;
	struct tk_csv *csv;
	size_t first_line; /* of the file that csv reads, in the whole one */
	bool is_log;
	sqlite3_stmt *insert;
	char **headings;
	size_t count;
	struct tk_import_columns *columns;
	struct tk_buf before; /* of a log: the line before the row; of the first row all lines */
};

static void free_headings(struct table *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->headings[i]);
	free(t->headings);
	tk_import_columns_free(t->columns);
	t->columns = NULL;
	t->headings = NULL;
	t->count = 0;
}

/* A heading that is there twice gets a number, so that no column hides another. */
static void set_headings(struct table *t)
{
	free_headings(t);
	t->headings = tk_calloc(t->csv->count + 1, sizeof(*t->headings));
	for (; t->count < t->csv->count; t->count++) {
		const char *name = tk_import_heading_name(t->csv->fields[t->count]);
		size_t len = strlen(name), same = 1;

		while (len && strchr(" \t", name[len - 1]))
			len--;
		for (size_t i = 0; i < t->count; i++)
			same += !strncmp(t->headings[i], name, len) && !t->headings[i][len];
		t->headings[t->count] = same > 1 ? tk_sprintf("%.*s#%zu", (int)len, name, same)
		                                 : tk_strndup(name, len);
		for (char *quote; (quote = strchr(t->headings[t->count], '"'));)
			*quote = '\'';
	}
	t->columns = tk_import_columns_new(t->sink, t->headings, t->count);
}

/* A table in a log may be followed by text, and by other tables. */
static bool is_other_text(struct table *t)
{
	const struct tk_csv *csv = t->csv;

	if (!t->is_log)
		return false;
	const char **names = tk_calloc(csv->count, sizeof(*names));

	for (size_t i = 0; i < csv->count; i++)
		names[i] = tk_import_heading_name(csv->fields[i]);
	const bool is_heading = tk_import_format_match(t->sink->format, names, csv->count) > 0;

	free(names);
	if (is_heading) {
		set_headings(t);
	} else if (csv->count * 2 < t->count) {
		tk_buf_clear(&t->before);
		tk_buf_add_utf8(&t->before, csv->fields[0], strlen(csv->fields[0]));
	}
	return is_heading || csv->count * 2 < t->count;
}

static void add_member(struct tk_buf *object, const char *heading, const char *cell)
{
	tk_buf_add_char(object, object->len ? ',' : '{');
	add_json_text(object, heading);
	tk_buf_add_char(object, ':');
	add_json_text(object, cell);
}

static int insert_cells(struct table *t, size_t line, struct tk_error *err)
{
	AUTO(tk_buf) cells = {0};
	AUTO(tk_buf) name = {0};
	AUTO(tk_buf) attributes = {0};
	struct tk_csv *csv = t->csv;

	for (size_t i = 0; i < csv->count; i++) {
		char *cell = csv->fields[i] + strspn(csv->fields[i], " \t");
		size_t len = strlen(cell);

		while (len && strchr(" \t", cell[len - 1]))
			cell[--len] = '\0';
		csv->fields[i] = cell;
		add_member(&cells, t->headings[i], cell);
		if (len && tk_import_columns_is_attribute(t->columns, i))
			add_member(&attributes, t->headings[i], cell);
	}
	tk_buf_add_char(&cells, '}');
	tk_import_columns_add_name(t->columns, csv->fields, &name);
	bind(t->insert, 2, &cells);
	sqlite3_bind_text(t->insert, 3, tk_buf_cstr(&name), -1, SQLITE_STATIC);
	if (attributes.len)
		tk_buf_add_char(&attributes, '}');
	bind(t->insert, 4, &attributes);
	sqlite3_bind_text(t->insert, 5, tk_buf_cstr(&t->before), -1, SQLITE_TRANSIENT);
	tk_buf_clear(&t->before);
	return insert_row(t->sink, t->insert, line, err);
}

static int add_row(struct table *t, struct tk_error *err)
{
	const size_t line = t->csv->line + t->first_line - 1;

	if (!t->count) {
		set_headings(t);
		return 0;
	}
	if (is_other_text(t))
		return 0;
	return t->csv->count == t->count
	               ? insert_cells(t, line, err)
	               : tk_fail(err, TK_EDATA, "%s:%zu: %zu columns, the heading has %zu",
	                         t->sink->file->path, line, t->csv->count, t->count);
}

static int add_rows(struct table *t, FILE *in, struct tk_error *err)
{
	struct tk_csv csv;
	bool more = true;
	int status;

	tk_csv_attach(&csv, in, t->sink->file->path);
	t->csv = &csv;
	while (!(status = tk_csv_read_row(&csv, &more, err)) && more && !status)
		if ((status = add_row(t, err)))
			break;
	tk_csv_close(&csv);
	free_headings(t);
	return status;
}

/* The tables begin at the first line that is their heading. */
static int add_log(struct table *t, struct tk_error *err)
{
	AUTO(tk_buf) text = {0};
	size_t matched;

	TRY(read_text(t->sink->file, &text, err));
	const char *start =
	        tk_import_find_heading(t->sink->format, tk_buf_cstr(&text), true, &matched);

	if (!start)
		return 0;
	for (const char *at = text.data; at < start; at++)
		t->first_line += *at == '\n';
	tk_buf_add_utf8(&t->before, text.data, (size_t)(start - text.data));
	FILE *in = fmemopen((void *)(uintptr_t)start, strlen(start), "re");

	if (!in)
		return tk_fail_errno(err, "%s", t->sink->file->path);
	int status = add_rows(t, in, err);

	fclose(in);
	return status;
}

static int add_lines_of_text(struct table *t, struct tk_error *err)
{
	AUTO(tk_buf) text = {0};
	AUTO(tk_buf) line = {0};

	TRY(read_text(t->sink->file, &text, err));
	const char *at = tk_buf_cstr(&text);

	for (size_t number = 1, len; *at; number++, at += len + (at[len] == '\n')) {
		len = strcspn(at, "\n");
		tk_buf_clear(&line);
		tk_buf_add_utf8(&line, at, len - (len && at[len - 1] == '\r'));
		sqlite3_bind_text(t->insert, 2, tk_buf_cstr(&line), -1, SQLITE_STATIC);
		TRY(insert_row(t->sink, t->insert, number, err));
	}
	return 0;
}

/* ---- all kinds ------------------------------------------------------------------------------- */

int tk_import_load(struct tk_import_sink *s, struct tk_buf *document, struct tk_error *err)
{
	const enum tk_import_reads reads = tk_import_format_reads(s->format, s->file);
	struct table t = {.sink = s, .first_line = 1, .is_log = reads == TK_IMPORT_LOG};

	if (reads == TK_IMPORT_UNKNOWN)
		return tk_fail(err, TK_EUSAGE, "%s: \"reads\" is none of json, csv, log and text",
		        s->format->path);
	if (reads == TK_IMPORT_JSON)
		return load(s, document, err);
	if (sqlite3_prepare_v2(s->documents,
	            reads == TK_IMPORT_TEXT
	                    ? "INSERT INTO lines VALUES (?1, '$[' || (?1 - 1) || ']', ?2)"
	                    : "INSERT INTO csv VALUES (?1, '$[' || (?1 - 1) || ']', ?2, ?3, ?4, "
	                      "?5)",
	            -1, &t.insert, NULL) != SQLITE_OK)
		return tk_fail(err, TK_EIO, "%s", sqlite3_errmsg(s->documents));
	s->is_lines = true;
	rewind(s->file->in);
	int status = reads == TK_IMPORT_TEXT  ? add_lines_of_text(&t, err)
	             : reads == TK_IMPORT_LOG ? add_log(&t, err)
	                                      : add_rows(&t, s->file->in, err);

	tk_buf_free(&t.before);
	sqlite3_finalize(t.insert);
	return status;
}
