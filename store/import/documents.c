/* JSON documents of other tools, read by SQL: a format is a file in formats/ whose statements
 * select rows with the columns of struct tk_import_row. Each row can have a place (where a statement
 * selects such columns), a result (where `name` is not NULL), and a run (where `attributes` is not
 * NULL). A semicolon ends a statement, also in a text or a comment.
 *
 * Parameters: :doc, the document; :rev and :at, the options. Functions, where `place` is a JSON
 * path ("$.results[0].times") and values are JSON texts as `->` gives them:
 *   number(value, place [, 'or text'])   a number, NULL for null; else an error
 *   text(value, place)                   likewise
 *   milliseconds(value, place)           seconds since 1970
 *   need(x, place), fail(what, place), expected(what, value, place)
 *                                        x if it is not NULL; errors
 *   rest(object, key...)                 its other members that are not null; NULL: none
 *   zip(list...)                         [[a[0], b[0], ...], [a[1], b[1], ...], ...]
 *   product(lists, count, place)         ["a, c", "a, d", ...] of [["a", "b"], ["c", "d"]]
 *   after_last(text, separator), first_line(text), iso_time(text)
 *   beside(path)                         a JSON file relative to the folder of the imported one
 *
 * Other tools do not always write valid JSON: NaN and Infinity become null, and what is before the
 * first brace ("window.BENCHMARK_DATA =") and a semicolon after the last one are left out. */
#include "base/memory.h"
#include "base/text.h"
#include "base/try.h"
#include "store/import/import.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* SQLite does not say where a document is malformed. */
static int check_json(struct tk_import_sink *s, const struct tk_buf *text, struct tk_error *err)
{
	json_error_t why;
	int64_t is_valid;

	TRY(tk_store_select_int(
	        s->store, "SELECT json_valid(?1)", TK_ARGS(text->data), 0, &is_valid, err));
	if (is_valid && tk_utf8_is_valid(text->data))
		return 0;
	json_t *document = json_loadb(text->data, text->len, 0, &why);

	json_decref(document);
	return document ? tk_fail(err, TK_EDATA, "%s: is nested too deeply", s->file->path)
	                : tk_fail(err, TK_EDATA, "%s:%d:%d: %s", s->file->path, why.line,
	                          why.column, why.text);
}

static int load(struct tk_import_sink *s, struct tk_buf *out, struct tk_error *err)
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
	return check_json(s, out, err);
}

/* ---- errors of functions --------------------------------------------------------------------- */

#define ARGS sqlite3_context *context, int count, sqlite3_value **v

static const char *text_of(sqlite3_value *value)
{
	const char *text = (const char *)sqlite3_value_text(value);

	return text ? text : "";
}

/* "FILE: PATH: what", or "FILE:LINE: PATH: what" of JSON lines. `path` is one of SQLite. */
static void fail_at(sqlite3_context *context, const char *path, const char *what)
{
	struct tk_import_sink *s = sqlite3_user_data(context);
	char line[32] = "";
	AUTO(tk_buf) place = {0};

	path += *path == '$';
	if (s->is_lines && *path == '[') {
		snprintf(line, sizeof(line), ":%ld", strtol(path + 1, NULL, 10) + 1);
		path += strcspn(path, "]") + 1;
	}
	for (path += *path == '.'; *path; path++)
		if (*path != '"')
			tk_buf_add_char(&place, *path);
	s->failed = tk_fail(s->err, TK_EDATA, "%s%s: %s%s%s", s->file->path, line,
	        tk_buf_cstr(&place), place.len ? ": " : "", what);
	sqlite3_result_error(context, what, -1);
}

static void fail_expected(
        sqlite3_context *context, const char *expected, const char *value, const char *path)
{
	json_auto_t *found = json_loads(value, JSON_DECODE_ANY, NULL);
	char what[256], description[TK_IMPORT_DESCRIPTION_SIZE];

	snprintf(what, sizeof(what), "expected %s, found %s", expected,
	        tk_import_describe_value(found, description));
	fail_at(context, path, what);
}

static void fail_function(ARGS)
{
	fail_at(context, text_of(v[1]), text_of(v[0]));
}

static void expected_function(ARGS)
{
	fail_expected(context, text_of(v[0]), text_of(v[1]), text_of(v[2]));
}

static void need_function(ARGS)
{
	if (*text_of(v[0]))
		sqlite3_result_value(context, v[0]);
	else
		fail_at(context, text_of(v[1]), "is missing");
}

/* ---- values ---------------------------------------------------------------------------------- */

static void number_function(ARGS)
{
	const char *json = text_of(v[0]);
	bool is_quoted = *json == '"' && count == 3;
	char *end;
	double x = strtod(json + is_quoted, &end);

	if (!*json || !strcmp(json, "null"))
		return;
	if (end > json + is_quoted && *end == (is_quoted ? '"' : '\0'))
		sqlite3_result_double(context, x);
	else
		fail_expected(context, "a number", json, text_of(v[1]));
}

static void text_function(ARGS)
{
	const char *json = text_of(v[0]);

	if (!*json || !strcmp(json, "null"))
		return;
	json_auto_t *value = json_loads(json, JSON_DECODE_ANY, NULL);

	if (json_is_string(value))
		sqlite3_result_text(context, json_string_value(value), -1, SQLITE_TRANSIENT);
	else
		fail_expected(context, "a string", json, text_of(v[1]));
}

static void milliseconds_function(ARGS)
{
	const char *json = text_of(v[0]);
	char *end;
	double ms = strtod(json, &end);

	if (end > json && !*end && ms >= 0 && ms < 1e14)
		sqlite3_result_int64(context, (int64_t)(ms / 1000));
	else
		fail_expected(context, "milliseconds since 1970", json, text_of(v[1]));
}

static void iso_time_function(ARGS)
{
	int64_t time_s;

	if (tk_import_parse_time(text_of(v[0]), &time_s))
		sqlite3_result_int64(context, time_s);
}

static void after_last_function(ARGS)
{
	const char *text = text_of(v[0]), *at = strrchr(text, *text_of(v[1]));

	if (*text)
		sqlite3_result_text(context, at ? at + 1 : text, -1, SQLITE_TRANSIENT);
}

static void first_line_function(ARGS)
{
	const char *text = text_of(v[0]);

	sqlite3_result_text(context, text, (int)strcspn(text, "\r\n"), SQLITE_TRANSIENT);
}

/* ---- lists and objects ----------------------------------------------------------------------- */

/* Takes the value. */
static void return_json(sqlite3_context *context, json_t *value)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

	json_decref(value);
	sqlite3_result_text(context, text, -1, free);
}

static void rest_function(ARGS)
{
	json_t *object = json_loads(text_of(v[0]), 0, NULL), *value;
	const char *key;
	void *next;

	for (int i = 1; i < count; i++)
		json_object_del(object, text_of(v[i]));
	json_object_foreach_safe(object, next, key, value) if (json_is_null(value))
	        json_object_del(object, key);
	if (json_object_size(object))
		return_json(context, object);
	else
		json_decref(object);
}

#define ZIP_MAX 16

/* What is no list counts as a list of that value, which has no end. */
static void zip_function(ARGS)
{
	json_t *lists[ZIP_MAX], *out = json_array();
	size_t length;

	for (int k = 0; k < count && k < ZIP_MAX; k++)
		lists[k] = json_loads(text_of(v[k]), JSON_DECODE_ANY, NULL);
	length = json_is_array(lists[0]) ? json_array_size(lists[0]) : 1;
	for (size_t i = 0; i < length; i++) {
		json_t *row = json_array();

		for (int k = 0; k < count && k < ZIP_MAX; k++) {
			json_t *one =
			        json_is_array(lists[k]) ? json_array_get(lists[k], i) : lists[k];

			json_array_append_new(row, one ? json_incref(one) : json_null());
		}
		json_array_append_new(out, row);
	}
	for (int k = 0; k < count && k < ZIP_MAX; k++)
		json_decref(lists[k]);
	return_json(context, out);
}

/* The i-th combination; the last list changes fastest. */
static void add_combination(json_t *out, const json_t *lists, size_t i)
{
	size_t strides = 1;
	const json_t *list;
	AUTO(tk_buf) text = {0};
	size_t k;

	json_array_foreach (lists, k, list)
		strides *= json_array_size(list);
	json_array_foreach (lists, k, list) {
		strides /= json_array_size(list);
		tk_buf_add_printf(&text, "%s%s", k ? ", " : "",
		        json_string_value(
		                json_array_get(list, i / strides % json_array_size(list))));
	}
	json_array_append_new(out, json_string(tk_buf_cstr(&text)));
}

/* Whether each list has texts alone, and their combinations can be counted. */
static bool check_lists(sqlite3_context *context, const json_t *lists, const char *place)
{
	double combinations = 1;
	const json_t *list, *one;
	size_t k, i;

	json_array_foreach (lists, k, list) {
		AUTO_TEXT at = tk_sprintf("%s[%zu]", place, k);
		AUTO_TEXT found = json_dumps(list, JSON_ENCODE_ANY);

		combinations *= (double)json_array_size(list);
		if (!json_array_size(list)) {
			fail_expected(context, "a list of values", found, at);
			return false;
		}
		json_array_foreach (list, i, one)
			if (!json_is_string(one)) {
				fail_expected(context, "a list of strings", found, at);
				return false;
			}
	}
	if (combinations > 1e15)
		fail_at(context, place, "has too many combinations");
	return combinations <= 1e15;
}

static void product_function(ARGS)
{
	json_auto_t *lists = json_loads(text_of(v[0]), 0, NULL);
	const size_t wanted = (size_t)sqlite3_value_int64(v[1]);

	if (!json_array_size(lists) || !check_lists(context, lists, text_of(v[2])))
		return;
	json_t *out = json_array();

	for (size_t i = 0; i < wanted; i++)
		add_combination(out, lists, i);
	return_json(context, out);
}

static void beside_function(ARGS)
{
	struct tk_import_sink *s = sqlite3_user_data(context);
	const char *path = s->file->path, *slash = strrchr(path, '/');
	AUTO_TEXT name =
	        tk_sprintf("%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, text_of(v[0]));
	json_t *document = json_load_file(name, 0, NULL);

	if (document)
		return_json(context, document);
}

int tk_import_register_functions(struct tk_import_sink *sink, struct tk_error *err)
{
	static const struct {
		const char *name;
		int count;
		void (*run)(ARGS);
	} functions[] = {{"fail", 2, fail_function}, {"expected", 3, expected_function},
	        {"need", 2, need_function}, {"number", -1, number_function},
	        {"text", 2, text_function}, {"milliseconds", 2, milliseconds_function},
	        {"iso_time", 1, iso_time_function}, {"after_last", 2, after_last_function},
	        {"first_line", 1, first_line_function}, {"rest", -1, rest_function},
	        {"zip", -1, zip_function}, {"product", 3, product_function},
	        {"beside", 1, beside_function}};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		int code = sqlite3_create_function_v2(sink->store->db, functions[i].name,
		        functions[i].count, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
		        sink, functions[i].run, NULL, NULL, NULL);

		if (code != SQLITE_OK)
			return tk_db_fail(
			        sink->store, code, err, "cannot register %s", functions[i].name);
	}
	return 0;
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

/* attributes: of the results since the last run. */
static int take_row(struct tk_import_sink *s, const struct tk_import_row *row, bool has_place,
        json_t *attributes, struct tk_error *err)
{
	if (has_place)
		TRY(tk_import_place(s, row, err));
	if (row->rest)
		tk_import_set_attribute(attributes, row->list, row->key ? row->key : row->name,
		        json_loads(row->rest, JSON_DECODE_ANY, NULL));
	if (row->name)
		TRY(tk_import_point(s, 0, row, err));
	if (!row->attributes)
		return 0;
	json_auto_t *all = json_loads(row->attributes, 0, NULL);

	json_object_update(all, attributes);
	json_object_clear(attributes);
	return tk_import_add_run(s, row, all, NULL, err);
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
	s->err = err;
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

int tk_import_read_document(struct tk_import_file *f, struct tk_import_sink *sink,
        const unsigned char *sql, struct tk_error *err)
{
	json_auto_t *attributes = json_object();
	AUTO(tk_buf) document = {0};
	int status = load(sink, &document, err);

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
