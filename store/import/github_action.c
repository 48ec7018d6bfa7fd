/* github-action-benchmark: data.js, "window.BENCHMARK_DATA = {...}": suites, each a list of commits
 * with their benches.
 */
#include "base/memory.h"
#include "base/try.h"
#include "store/import/import.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	const struct tk_import_file *file;
	struct tk_import_sink *sink;
	const char *suite;
};

static bool sniff(const struct tk_import_file *f)
{
	return strstr(f->head, "\"entries\"") &&
	       (strstr(f->head, "BENCHMARK_DATA") || strstr(f->head, "\"benches\""));
}

/* The meaning of the tool's numbers, if their unit does not define it. */
static const char *better_of(const char *tool)
{
	if (tool && !strcmp(tool, "customBiggerIsBetter"))
		return "higher";
	return tool && !strcmp(tool, "customSmallerIsBetter") ? "lower" : NULL;
}

static int put_bench(struct reader *r, const struct tk_import_path *path, size_t i,
        const json_t *bench, const char *better, json_t *attributes, struct tk_error *err)
{
	static const char *const known[] = {"name", "value", "unit", NULL};
	const char *name = json_string_value(json_object_get(bench, "name"));
	const json_t *value = json_object_get(bench, "value"),
	             *unit = json_object_get(bench, "unit");
	json_t *rest = NULL;

	if (!name || !*name)
		return tk_import_fail_expected(r->file, path, err, "a name",
		        json_object_get(bench, "name"), ".benches[%zu].name", i);
	if (value && !json_is_null(value) && !json_is_number(value))
		return tk_import_fail_expected(
		        r->file, path, err, "a number", value, ".benches[%zu].value", i);
	if (unit && !json_is_null(unit) && !json_is_string(unit))
		return tk_import_fail_expected(
		        r->file, path, err, "a string", unit, ".benches[%zu].unit", i);
	struct tk_import_point p = TK_IMPORT_POINT(name, json_string_value(unit),
	        json_is_number(value) ? json_number_value(value) : NAN);

	p.backend = r->suite;
	p.better = better;
	tk_import_copy_unknown(&rest, bench, known);
	tk_import_set_attribute(attributes, "benches", name, rest);
	return tk_import_point(r->sink, 0, &p, err);
}

/* The commit's own time, else when it was measured. */
static int time_of(const struct reader *r, const struct tk_import_path *path, const json_t *entry,
        int64_t *out, struct tk_error *err)
{
	const json_t *stamp = json_object_get(json_object_get(entry, "commit"), "timestamp");
	const char *text = json_string_value(stamp);
	const json_t *date = json_object_get(entry, "date");

	if (text && tk_import_parse_time(text, out))
		return 0;
	if (!json_is_number(date) ||
	        !(json_number_value(date) >= 0 && json_number_value(date) < 1e14))
		return stamp && !json_is_null(stamp)
		               ? tk_import_fail_expected(
		                         r->file, path, err, "a time", stamp, ".commit.timestamp")
		               : tk_import_fail_expected(r->file, path, err,
		                         "milliseconds since 1970", date, ".date");
	*out = (int64_t)(json_number_value(date) / 1000);
	return 0;
}

static int put_entry(struct reader *r, const struct tk_import_path *path, const json_t *entry,
        json_t *attributes, struct tk_error *err)
{
	static const char *const known[] = {"benches", NULL};
	const json_t *commit = json_object_get(entry, "commit"),
	             *benches = json_object_get(entry, "benches"), *bench;
	const char *message = json_string_value(json_object_get(commit, "message"));
	struct tk_import_commit c = {.rev = json_string_value(json_object_get(commit, "id")),
	        .author = json_string_value(
	                json_object_get(json_object_get(commit, "author"), "name"))};
	size_t i;

	if (!c.rev || !*c.rev)
		return tk_import_fail(r->file, path, err, ".commit.id: is missing");
	if (!json_is_array(benches))
		return tk_import_fail_expected(r->file, path, err, "a list", benches, ".benches");

	AUTO_TEXT subject = message ? tk_strndup(message, strcspn(message, "\r\n")) : tk_strdup("");

	c.subject = subject;
	TRY(time_of(r, path, entry, &c.time_s, err));
	tk_import_copy_unknown(&attributes, entry, known);
	json_array_foreach ((json_t *)benches, i, bench)
		TRY(put_bench(r, path, i, bench,
		        better_of(json_string_value(json_object_get(entry, "tool"))), attributes,
		        err));
	return tk_import_add_run(r->sink, &c, attributes, NULL, err);
}

static int visit_entry(
        void *arg, const struct tk_import_path *path, json_t *entry, struct tk_error *err)
{
	json_auto_t *attributes = json_object();

	return put_entry(arg, path, entry, attributes, err);
}

static int visit_suite(
        void *arg, const struct tk_import_path *path, json_t *suite, struct tk_error *err)
{
	struct reader *r = arg;

	if (!path->key || !json_is_array(suite))
		return tk_import_fail_expected(
		        r->file, path, err, "a list of commits", suite, "%s", "");
	r->suite = path->key;
	return tk_import_each(path->text, suite, visit_entry, r, err);
}

static int read_file(struct tk_import_file *f, struct tk_import_sink *sink, struct tk_error *err)
{
	struct reader r = {.file = f, .sink = sink};
	struct tk_import_place place = {0};

	TRY(tk_import_load(f, err));
	place.url = json_string_value(json_object_get(f->document, "repoUrl"));
	const char *slash = place.url ? strrchr(place.url, '/') : NULL;

	place.upstream = slash ? slash + 1 : place.url;
	TRY(tk_import_place(sink, &place, err));
	return tk_import_each(
	        "entries", json_object_get(f->document, "entries"), visit_suite, &r, err);
}

const struct tk_import_format tk_import_github_action = {sniff, read_file, NULL};
