/* airspeed velocity: one JSON file a commit and environment,
 * results/MACHINE/COMMIT-ENVIRONMENT.json.
 *
 * Version 2 (asv 0.5 and later): each result is a list whose columns `result_columns` names;
 * parameters are the product of `params`. Version 1: a number, or an object with `result`, `params`
 * and `stats`. Units are in benchmarks.json two folders up, else what the name says (time_,
 * mem_...). */
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include "store/import/import.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PARAMS_MAX 32

struct reader {
	const struct tk_import_file *file;
	struct tk_import_sink *sink;
	json_t *header, *attributes, *benchmarks;
	const char *env;
	struct tk_buf name;
};

/* The columns of one result, whatever the version. */
struct result {
	const char *name, *unit;
	const json_t *values, *params, *stats;
	const json_t *lo, *hi, *q25, *q75, *repeat;
};

static bool sniff(const struct tk_import_file *f)
{
	if (strstr(f->head, "\"commit_hash\"") &&
	        (strstr(f->head, "\"results\"") || strstr(f->head, "\"env_name\"")))
		return true;
	/* Other files in a folder of results that is imported as a whole. */
	const char *slash = strrchr(f->path, '/'), *base = slash ? slash + 1 : f->path;

	return !strcmp(base, "machine.json") || !strcmp(base, "benchmarks.json") ||
	       !strcmp(base, "asv.conf.json");
}

static int64_t file_time(const struct tk_import_file *f)
{
	const char *date = strstr(f->head, "\"date\":");

	return date && strstr(f->head, "\"commit_hash\"") ? strtoll(date + 7, NULL, 10) / 1000 : 0;
}

/* ---- units ----------------------------------------------------------------------------------- */

static const char *unit_of(const struct reader *r, const char *name)
{
	static const struct {
		const char *start, *unit;
	} known[] = {{"time", "seconds"}, {"timeraw", "seconds"}, {"mem", "bytes"},
	        {"peakmem", "bytes"}};
	const char *unit =
	        json_string_value(json_object_get(json_object_get(r->benchmarks, name), "unit"));
	const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;

	for (size_t i = 0; !unit && i < sizeof(known) / sizeof(known[0]); i++) {
		size_t n = strlen(known[i].start);

		if (!strncasecmp(last, known[i].start, n) &&
		        (last[n] == '_' || (last[n] >= 'A' && last[n] <= 'Z')))
			unit = known[i].unit;
	}
	return unit ? unit : "";
}

/* results/MACHINE/x.json -> results/benchmarks.json; none is no error. */
static json_t *load_benchmarks(const char *path)
{
	AUTO_TEXT absolute = tk_path_make_absolute(path);
	char *slash;

	for (int up = 0; absolute && up < 2; up++)
		if ((slash = strrchr(absolute, '/')))
			*slash = '\0';
	AUTO_TEXT name = tk_sprintf("%s/benchmarks.json", absolute ? absolute : "");

	return json_load_file(name, 0, NULL);
}

/* ---- results --------------------------------------------------------------------------------- */

static double at(const json_t *array, size_t i)
{
	const json_t *x = json_is_array(array) ? json_array_get(array, i) : array;

	return json_is_number(x) ? json_number_value(x) : NAN;
}

/* "name(a, b)" for the i-th combination of the parameters; the last one changes fastest. */
static int name_of(struct reader *r, const struct tk_import_path *path, const struct result *res,
        size_t i, struct tk_error *err)
{
	size_t count = json_array_size(res->params), picks[PARAMS_MAX];

	tk_buf_clear(&r->name);
	tk_buf_add_str(&r->name, res->name);
	if (count > PARAMS_MAX)
		return tk_import_fail(
		        r->file, path, err, ".params: more than %d parameters", PARAMS_MAX);
	for (size_t p = count; p-- > 0;) {
		size_t n = json_array_size(json_array_get(res->params, p));

		if (!n)
			return tk_import_fail_expected(r->file, path, err, "a list of values",
			        json_array_get(res->params, p), ".params[%zu]", p);
		picks[p] = i % n;
		i /= n;
	}
	for (size_t p = 0; p < count; p++) {
		const json_t *value = json_array_get(json_array_get(res->params, p), picks[p]);

		if (!json_is_string(value))
			return tk_import_fail_expected(
			        r->file, path, err, "strings", value, ".params[%zu]", p);
		tk_buf_add_printf(&r->name, "%s%s", p ? ", " : "(", json_string_value(value));
	}
	if (count)
		tk_buf_add_char(&r->name, ')');
	return 0;
}

static void set_stats(struct tk_import_point *p, const struct result *res, size_t i)
{
	const json_t *s = json_is_array(res->stats) ? json_array_get(res->stats, i) : res->stats;
	const json_t *ci = json_object_get(s, "ci_99");

	p->lo = s ? (ci ? at(ci, 0) : at(json_object_get(s, "ci_99_a"), 0)) : at(res->lo, i);
	p->hi = s ? (ci ? at(ci, 1) : at(json_object_get(s, "ci_99_b"), 0)) : at(res->hi, i);
	p->q25 = s ? at(json_object_get(s, "q_25"), 0) : at(res->q25, i);
	p->q75 = s ? at(json_object_get(s, "q_75"), 0) : at(res->q75, i);
	p->min = at(json_object_get(s, "min"), 0);
	double repeat = s ? at(json_object_get(s, "repeat"), 0) : at(res->repeat, i);

	p->n = repeat > 0 && repeat < 1e9 ? (int64_t)repeat : 1;
}

static int put_values(struct reader *r, const struct tk_import_path *path, const struct result *res,
        struct tk_error *err)
{
	size_t count = json_is_array(res->values) ? json_array_size(res->values) : 1;

	for (size_t i = 0; i < count; i++) {
		const json_t *value =
		        json_is_array(res->values) ? json_array_get(res->values, i) : res->values;

		if (!value || json_is_null(value)) {
			tk_import_count_missing(r->sink, res->name);
			continue;
		}
		if (!json_is_number(value))
			return tk_import_fail_expected(
			        r->file, path, err, "a number", value, ".result[%zu]", i);
		TRY(name_of(r, path, res, i, err));
		struct tk_import_point p =
		        TK_IMPORT_POINT(tk_buf_cstr(&r->name), res->unit, json_number_value(value));

		p.config = r->env;
		set_stats(&p, res, i);
		TRY(tk_import_point(r->sink, 0, &p, err));
	}
	return 0;
}

/* A list of columns. Unused columns are kept. */
static int put_columns(struct reader *r, const struct tk_import_path *path, const json_t *row,
        struct result *res, struct tk_error *err)
{
	const json_t *columns = json_object_get(r->header, "result_columns");
	json_t *rest = NULL;

	if (!json_is_array(columns))
		return tk_import_fail(
		        r->file, path, err, ": a list, but the file has no result_columns");
	for (size_t i = 0; i < json_array_size(row) && i < json_array_size(columns); i++) {
		const char *column = json_string_value(json_array_get(columns, i));
		json_t *cell = json_array_get(row, i);
		const struct {
			const char *name;
			const json_t **to;
		} used[] = {{"result", &res->values}, {"params", &res->params},
		        {"stats_ci_99_a", &res->lo}, {"stats_ci_99_b", &res->hi},
		        {"stats_q_25", &res->q25}, {"stats_q_75", &res->q75},
		        {"stats_repeat", &res->repeat}};
		size_t u = 0;

		if (!column || json_is_null(cell))
			continue;
		while (u < sizeof(used) / sizeof(used[0]) && strcmp(used[u].name, column))
			u++;
		if (u < sizeof(used) / sizeof(used[0])) {
			*used[u].to = cell;
		} else {
			if (!rest)
				rest = json_object();
			json_object_set(rest, column, cell);
		}
	}
	tk_import_set_attribute(r->attributes, "results", res->name, rest);
	return put_values(r, path, res, err);
}

static int put_object(struct reader *r, const struct tk_import_path *path, const json_t *object,
        struct result *res, struct tk_error *err)
{
	static const char *const known[] = {"result", "params", "stats", NULL};
	json_t *rest = NULL;

	res->values = json_object_get(object, "result");
	res->params = json_object_get(object, "params");
	res->stats = json_object_get(object, "stats");
	tk_import_copy_unknown(&rest, object, known);
	tk_import_set_attribute(r->attributes, "results", res->name, rest);
	return put_values(r, path, res, err);
}

static int visit_result(
        void *arg, const struct tk_import_path *path, json_t *value, struct tk_error *err)
{
	struct reader *r = arg;
	struct result res = {.name = path->key ? path->key : ""};

	if (!path->key)
		return tk_import_fail(
		        r->file, path, err, ": expected results by name, found a list");
	res.unit = unit_of(r, res.name);
	if (json_is_array(value))
		return put_columns(r, path, value, &res, err);
	if (json_is_object(value))
		return put_object(r, path, value, &res, err);
	if (json_is_null(value)) {
		tk_import_count_missing(r->sink, res.name);
		return 0;
	}
	if (!json_is_number(value))
		return tk_import_fail_expected(
		        r->file, path, err, "a number, a list or an object", value, "%s", "");
	res.values = value;
	return put_values(r, path, &res, err);
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool is_date(const json_t *value)
{
	return json_is_number(value) && json_number_value(value) >= 0 &&
	       json_number_value(value) < 1e14;
}

static int set_place(struct reader *r, const struct tk_import_path *path, struct tk_error *err)
{
	const json_t *params = json_object_get(r->header, "params");
	AUTO_TEXT text = json_dumps(params ? params : r->header, JSON_COMPACT | JSON_SORT_KEYS);
	struct tk_import_place place = {.machine_attributes = params ? text : "{}"};

	TRY(tk_import_get_text(r->file, path, params, "machine", &place.machine, err));
	TRY(tk_import_get_text(r->file, path, params, "cpu", &place.device, err));
	TRY(tk_import_get_text(r->file, path, params, "arch", &place.arch, err));
	return tk_import_place(r->sink, &place, err);
}

static int read_results(struct reader *r, struct tk_error *err)
{
	static const char *const known[] = {
	        "commit_hash", "date", "result_columns", "params", "results", NULL};
	const struct tk_import_path top = {.text = ""};
	struct tk_import_commit c = {0};
	const json_t *date = json_object_get(r->header, "date");

	TRY(tk_import_get_text(r->file, &top, r->header, "commit_hash", &c.rev, err));
	TRY(tk_import_get_text(r->file, &top, r->header, "env_name", &r->env, err));
	if (!c.rev || !*c.rev)
		return tk_import_fail(r->file, &top, err, ".commit_hash: is missing");
	if (!date)
		return tk_import_fail(r->file, &top, err, ".date: is missing");
	if (!is_date(date))
		return tk_import_fail_expected(
		        r->file, &top, err, "milliseconds since 1970", date, ".date");
	TRY(set_place(r, &top, err));
	tk_import_copy_unknown(&r->attributes, r->header, known);
	TRY(tk_import_each(
	        "results", json_object_get(r->file->document, "results"), visit_result, r, err));
	c.time_s = (int64_t)(json_number_value(date) / 1000);
	return tk_import_add_run(r->sink, &c, r->attributes, NULL, err);
}

static int read_file(struct tk_import_file *f, struct tk_import_sink *sink, struct tk_error *err)
{
	struct reader r = {.file = f, .sink = sink};
	int status = 0;

	TRY(tk_import_load(f, err));
	/* machine.json and benchmarks.json say nothing that was measured. */
	sink->aside = !json_object_get(f->document, "commit_hash") && sniff(f) &&
	              !json_object_get(f->document, "results");
	if (sink->aside)
		return 0;
	r.header = tk_import_get_header(f, "results");
	r.attributes = json_object();
	r.benchmarks = load_benchmarks(f->path);
	status = read_results(&r, err);
	json_decref(r.header);
	json_decref(r.attributes);
	json_decref(r.benchmarks);
	tk_buf_free(&r.name);
	return status;
}

const struct tk_import_format tk_import_asv = {sniff, read_file, file_time};
