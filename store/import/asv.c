/* airspeed velocity: one JSON file a commit and environment,
 * results/MACHINE/COMMIT-ENVIRONMENT.json.
 *
 * Version 2 (asv 0.5 and later): each result is a list whose columns `result_columns` names, and
 * parameters are the product of `params`. Version 1: a number, or an object with `result`, `params`
 * and `stats`. Units are in benchmarks.json two folders up, else what the name says (time_,
 * mem_...). SQL takes three times as long, and histories have millions of points. */
#include "base/base.h"
#include "store/import/import.h"
#include <fnmatch.h>
#include <math.h>

struct reader {
	struct tk_import_sink *sink;
	const json_t *columns;
	const char *environment, *revision;
	int64_t time_s;
	struct tk_buf name; /* of a point */
};

/* The members that are not null but those in `used`, which ends with NULL. */
static json_t *copy_rest(json_t *object, const char *const used[])
{
	json_t *rest = json_object(), *value;
	const char *key;

	json_object_foreach (object, key, value) {
		size_t i = 0;

		while (used[i] && strcmp(used[i], key))
			i++;
		if (!used[i] && !json_is_null(value))
			json_object_set(rest, key, value);
	}
	return rest;
}

/* Keeps it for the next file: it may be as large as many of them. */
static void load_benchmarks(struct tk_import_sink *s)
{
	const char *path = s->file->path, *slash = strrchr(path, '/');
	char *name =
	        tk_sprintf("%.*s../benchmarks.json", slash ? (int)(slash + 1 - path) : 0, path);

	if (!s->benchmarks_path || strcmp(s->benchmarks_path, name)) {
		json_decref(s->benchmarks);
		s->benchmarks = json_load_file(name, 0, NULL);
	}
	free(s->benchmarks_path);
	s->benchmarks_path = name;
}

static const char *find_unit(const struct reader *r, const char *name)
{
	static const char *const starts[][2] = {{"[Tt]ime[_A-Z]*", "seconds"},
	        {"[Tt]imeraw[_A-Z]*", "seconds"}, {"[Mm]em[_A-Z]*", "bytes"},
	        {"[Pp]eakmem[_A-Z]*", "bytes"}};
	const json_t *known = json_object_get(r->sink->benchmarks, name);
	const char *unit = json_string_value(json_object_get(known, "unit")),
	           *dot = strrchr(name, '.');

	for (size_t i = 0; !unit && i < sizeof(starts) / sizeof(starts[0]); i++)
		if (!fnmatch(starts[i][0], dot ? dot + 1 : name, 0))
			unit = starts[i][1];
	return unit ? unit : "";
}

/* r->name = "name(a, b)" for the i-th combination; the last list changes fastest. */
static int set_name(struct reader *r, const char *name, const json_t *params, size_t i)
{
	const json_t *list, *value;
	size_t k;

	tk_buf_clear(&r->name);
	tk_buf_add_str(&r->name, name);
	json_array_foreach (params, k, list) {
		size_t stride = 1, count = json_array_size(list);

		for (size_t m = json_array_size(params) - 1; m > k && stride <= i; m--)
			stride *= json_array_size(json_array_get(params, m)) ?: 1;
		value = count ? json_array_get(list, i / stride % count) : NULL;
		if (!json_is_string(value)) {
			AUTO_TEXT path = tk_sprintf("results.%s.params[%zu]", name, k);

			return tk_import_fail_expected(r->sink, path, "a list of strings", list);
		}
		tk_buf_add_str(&r->name, k ? ", " : "(");
		tk_buf_add_str(&r->name, json_string_value(value));
	}
	tk_buf_add_str(&r->name, k ? ")" : "");
	return 0;
}

/* ---- results --------------------------------------------------------------------------------- */

/* What is no list counts as a list of that value, which has no end. */
static const json_t *element(const json_t *list, size_t i)
{
	return json_is_array(list) ? json_array_get(list, i) : list;
}

static double number(const json_t *value)
{
	return json_is_number(value) ? json_number_value(value) : NAN;
}

static bool is_nan(const json_t *value)
{
	return json_is_string(value) && !strcmp(json_string_value(value), "NaN");
}

/* asv calls an increase a regression, whichever the unit. */
static const char *find_better(const char *unit)
{
	return tk_import_unit(unit).better == TK_BETTER_UNKNOWN ? "lower" : NULL;
}

/* o: its columns, or the object of version 1 */
static int read_values(struct reader *r, const char *name, const json_t *o, json_t *rest)
{
	static const char *const columns[] = {
	        "stats_ci_99_a", "stats_ci_99_b", "stats_q_25", "stats_q_75", "stats_repeat"};
	enum { COUNT = sizeof(columns) / sizeof(columns[0]) };
	const json_t *values = json_object_get(o, "result"), *stats = json_object_get(o, "stats"),
	             *params = json_object_get(o, "params"), *lists[COUNT];
	const char *unit = find_unit(r, name), *better = find_better(unit);

	for (size_t k = 0; k < COUNT; k++)
		lists[k] = json_object_get(o, columns[k]);
	for (size_t i = 0; i < (json_is_array(values) ? json_array_size(values) : 1); i++) {
		struct tk_import_row row = TK_IMPORT_ROW(.unit = unit, .config = r->environment,
		        .revision = r->revision);
		const json_t *value = element(values, i), *s = element(stats, i),
		             *interval = json_object_get(s, "ci_99");
		double repeat, *const to[] = {&row.lo, &row.hi, &row.q25, &row.q75, &repeat};

		if (value && !json_is_null(value) && !json_is_number(value) && !is_nan(value)) {
			AUTO_TEXT path = tk_sprintf("results.%s.result[%zu]", name, i);

			return tk_import_fail_expected(r->sink, path, "a number", value);
		}
		for (size_t k = 0; k < COUNT; k++) {
			const json_t *one = element(lists[k], i);

			if (!json_is_number(one))
				one = interval && k < 2 ? json_array_get(interval, k)
				                        : json_object_get(s, columns[k] + 6);
			*to[k] = number(one);
		}
		row.value = number(value);
		row.better = better;
		row.outcome = json_is_null(value) ? "failed" : NULL;
		row.min = number(json_object_get(s, "min"));
		row.n = fabs(repeat) < 1e9 ? (int64_t)repeat : 0;
		TRY(set_name(r, name, params, i));
		row.series = tk_buf_cstr(&r->name);
		row.rest = i ? NULL : rest;
		row.version = json_string_value(json_object_get(rest, "version"));
		row.time_s = r->time_s;
		TRY(tk_import_add_result(r->sink, &row, r->sink->err));
	}
	return 0;
}

static int read_result(struct reader *r, const char *name, json_t *value)
{
	static const char *const used[] = {"result", "params", "stats", "stats_ci_99_a",
	        "stats_ci_99_b", "stats_q_25", "stats_q_75", "stats_repeat", NULL};
	AUTO_TEXT path = tk_sprintf("results.%s", name);
	json_auto_t *o = json_is_object(value) ? json_incref(value) : json_object();
	const json_t *column;
	size_t i;

	if (json_is_array(value) && !json_is_array(r->columns))
		return tk_import_fail(r->sink, path, "a list, but the file has no result_columns");
	if (json_is_array(value))
		json_array_foreach (r->columns, i, column)
			json_object_set(o, json_string_value(column), json_array_get(value, i));
	else if (json_is_number(value) || json_is_null(value) || is_nan(value))
		json_object_set(o, "result", value);
	else if (!json_is_object(value))
		return tk_import_fail_expected(
		        r->sink, path, "a number, a list or an object", value);
	json_auto_t *rest = copy_rest(o, used);

	return read_values(r, name, o, rest);
}

/* ---- the file -------------------------------------------------------------------------------- */

static int get_text(struct tk_import_sink *s, const json_t *o, const char *key, const char **text)
{
	const json_t *value = json_object_get(o, key);

	*text = json_string_value(value);
	return *text || !value || json_is_null(value)
	               ? 0
	               : tk_import_fail_expected(s, key, "a string", value);
}

static int read_document(struct reader *r, json_t *document, struct tk_error *err)
{
	static const char *const used[] = {
	        "commit_hash", "date", "result_columns", "params", "results", NULL};
	const json_t *params = json_object_get(document, "params"),
	             *date = json_object_get(document, "date");
	json_t *results = json_object_get(document, "results"), *value;
	json_auto_t *attributes = copy_rest(document, used);
	AUTO_TEXT machine = params ? json_dumps(params, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
	struct tk_import_row row = TK_IMPORT_ROW(.machine_attributes = machine);
	const char *name;

	TRY(get_text(r->sink, params, "machine", &row.machine));
	TRY(get_text(r->sink, params, "cpu", &row.device));
	TRY(get_text(r->sink, params, "arch", &row.arch));
	TRY(get_text(r->sink, document, "commit_hash", &r->revision));
	if (!r->revision || !*r->revision)
		return tk_import_fail(r->sink, "commit_hash", "is missing");
	if (!(number(date) >= 0 && number(date) < 1e14))
		return tk_import_fail_expected(r->sink, "date", "milliseconds since 1970", date);
	r->time_s = (int64_t)(number(date) / 1000);
	TRY(get_text(r->sink, document, "env_name", &r->environment));
	AUTO_TEXT text = json_dumps(attributes, JSON_COMPACT);

	row.attributes = text;
	TRY(tk_import_set_file(r->sink, &row, err));
	if (results && !json_is_object(results))
		return tk_import_fail_expected(r->sink, "results", "results by name", results);
	json_object_foreach (results, name, value)
		TRY(read_result(r, name, value));
	return 0;
}

int tk_import_read_asv(struct tk_import_sink *s, struct tk_error *err)
{
	AUTO(tk_buf) text = {0};
	json_auto_t *document = NULL;

	TRY(tk_import_read_json(s, &text, err));
	TRY(tk_import_parse(s, &text, &document));
	load_benchmarks(s);
	struct reader r = {.sink = s, .columns = json_object_get(document, "result_columns")};
	int status = read_document(&r, document, err);

	tk_buf_free(&r.name);
	return status;
}
