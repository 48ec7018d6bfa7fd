/* What formats have in common: times, values in messages, and the functions of their SQL. */
#include "base/base.h"
#include "store/import/import.h"
#include <math.h>
#include <regex.h>

/* ---- JSON and times -------------------------------------------------------------------------- */

const char *tk_import_describe_value(const json_t *value, char *out)
{
	static const char *const words[] = {[JSON_OBJECT] = "an object",
	        [JSON_ARRAY] = "a list",
	        [JSON_TRUE] = "true",
	        [JSON_FALSE] = "false",
	        [JSON_NULL] = "null"};
	char text[TK_IMPORT_DESCRIPTION_SIZE - 2];

	if (json_is_string(value)) {
		tk_text_copy_line(text, sizeof(text), json_string_value(value));
		snprintf(out, TK_IMPORT_DESCRIPTION_SIZE, "\"%s\"", text);
	} else if (json_is_integer(value)) {
		snprintf(out, TK_IMPORT_DESCRIPTION_SIZE, "%lld",
		        (long long)json_integer_value(value));
	} else if (json_is_real(value)) {
		snprintf(out, TK_IMPORT_DESCRIPTION_SIZE, "%.12g", json_real_value(value));
	} else {
		snprintf(out, TK_IMPORT_DESCRIPTION_SIZE, "%s",
		        !value                                            ? "nothing"
		        : json_is_array(value) && !json_array_size(value) ? "an empty list"
		        : json_is_object(value) && !json_object_size(value)
		                ? "an empty object"
		                : words[json_typeof(value)]);
	}
	return out;
}

/* "2022-06-18 10:52:55.123456+0200" -> what tk_time_parse() reads. */
bool tk_import_parse_time(const char *text, int64_t *t_s)
{
	char plain[64];
	size_t n = 0;

	for (; *text && n < sizeof(plain) - 2; text++) {
		if (*text == '.' || *text == ',') {
			while (text[1] >= '0' && text[1] <= '9')
				text++;
			continue;
		}
		plain[n++] = *text == ' ' ? 'T' : *text;
		/* +hhmm */
		if (n > 19 && (plain[n - 3] == '+' || plain[n - 3] == '-') && text[1] >= '0' &&
		        text[1] <= '9')
			plain[n++] = ':';
	}
	plain[n] = '\0';
	return tk_time_parse(plain, t_s, NULL) == 0;
}

/* ---- functions of SQL: errors (documents.c lists them) --------------------------------------- */

#define ARGS sqlite3_context *context, int count, sqlite3_value **v

static const char *text_of(sqlite3_value *value)
{
	const char *text = (const char *)sqlite3_value_text(value);

	return text ? text : "";
}

int tk_import_fail(struct tk_import_sink *s, const char *path, const char *what)
{
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
	return s->failed;
}

int tk_import_fail_expected(
        struct tk_import_sink *s, const char *path, const char *expected, const json_t *value)
{
	char what[256], description[TK_IMPORT_DESCRIPTION_SIZE];

	snprintf(what, sizeof(what), "expected %s, found %s", expected,
	        tk_import_describe_value(value, description));
	return tk_import_fail(s, path, what);
}

static void fail_at(sqlite3_context *context, const char *path, const char *what)
{
	tk_import_fail(sqlite3_user_data(context), path, what);
	sqlite3_result_error(context, what, -1);
}

static void fail_expected(
        sqlite3_context *context, const char *expected, const char *value, const char *path)
{
	json_auto_t *found = json_loads(value, JSON_DECODE_ANY, NULL);

	tk_import_fail_expected(sqlite3_user_data(context), path, expected, found);
	sqlite3_result_error(context, expected, -1);
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

static void real_function(ARGS)
{
	const char *text = text_of(v[0]);
	char *end;
	double x = strtod(text, &end);

	if (end > text && !*end)
		sqlite3_result_double(context, isnan(x) ? INFINITY : x);
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

static void free_pattern(void *pattern)
{
	regfree(pattern);
	free(pattern);
}

/* capture(text, pattern, group): what the extended regular expression finds, NULL: nothing. */
static void capture_function(ARGS)
{
	regmatch_t groups[10];
	const int group = count > 2 ? sqlite3_value_int(v[2]) : 0;
	const char *text = text_of(v[0]);
	regex_t *pattern = sqlite3_get_auxdata(context, 1);

	if (!pattern) {
		pattern = tk_malloc(sizeof(*pattern));
		if (regcomp(pattern, text_of(v[1]), REG_EXTENDED)) {
			free(pattern);
			sqlite3_result_error(context, "capture: not a regular expression", -1);
			return;
		}
		sqlite3_set_auxdata(context, 1, pattern, free_pattern);
		pattern = sqlite3_get_auxdata(context, 1);
	}
	if (!pattern || regexec(pattern, text, 10, groups, 0) || group < 0 || group > 9 ||
	        groups[group].rm_so < 0)
		return;
	sqlite3_result_text(context, text + groups[group].rm_so,
	        groups[group].rm_eo - groups[group].rm_so, SQLITE_TRANSIENT);
}

static void unit_in_function(ARGS)
{
	sqlite3_result_text(context, tk_import_unit_in(text_of(v[0])), -1, SQLITE_TRANSIENT);
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

int tk_import_register_functions(struct tk_import_sink *sink, struct tk_error *err)
{
	static const struct {
		const char *name;
		int count;
		void (*run)(ARGS);
	} functions[] = {{"fail", 2, fail_function}, {"expected", 3, expected_function},
	        {"need", 2, need_function}, {"number", -1, number_function},
	        {"real", 1, real_function}, {"text", 2, text_function},
	        {"milliseconds", 2, milliseconds_function}, {"iso_time", 1, iso_time_function},
	        {"rest", -1, rest_function}, {"capture", -1, capture_function},
	        {"unit_in", 1, unit_in_function}};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		int code = sqlite3_create_function_v2(sink->documents, functions[i].name,
		        functions[i].count, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
		        sink, functions[i].run, NULL, NULL, NULL);

		if (code != SQLITE_OK)
			return tk_fail(err, TK_EIO, "cannot register %s", functions[i].name);
	}
	return 0;
}
