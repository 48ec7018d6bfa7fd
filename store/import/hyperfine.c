/* hyperfine: {"results": [{"command", "times": [...], ...}]}. It names neither machine nor time nor
 * commit: options do, or the file's date. */
#include "base/memory.h"
#include "store/import/import.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	const struct tk_import_file *file;
	struct tk_import_sink *sink;
	json_t *attributes;
};

static bool sniff(const struct tk_import_file *f)
{
	return strstr(f->head, "\"results\"") && strstr(f->head, "\"command\"") &&
	       strstr(f->head, "\"mean\"");
}

static int read_times(const struct reader *r, const struct tk_import_path *path,
        const json_t *times, struct tk_import_point *p, struct tk_error *err)
{
	if (times && !json_is_null(times) && !json_is_array(times))
		return tk_import_fail_expected(r->file, path, err, "a list", times, ".times");

	double *values = tk_calloc(json_array_size(times) + 1, sizeof(*values));
	const json_t *one;
	int status = values ? 0 : tk_fail(err, TK_ENOMEM, "out of memory");
	size_t i;

	json_array_foreach ((json_t *)times, i, one)
		if (!status) {
			if (!json_is_number(one))
				status = tk_import_fail_expected(
				        r->file, path, err, "a number", one, ".times[%zu]", i);
			else
				values[i] = json_number_value(one);
		}
	if (!status)
		tk_import_summarize(p, values, json_array_size(times));
	free(values);
	return status;
}

static int visit(void *arg, const struct tk_import_path *path, json_t *value, struct tk_error *err)
{
	static const char *const known[] = {"command", "times", "median", "min", NULL};
	struct reader *r = arg;
	struct tk_import_point p = TK_IMPORT_POINT(NULL, "s", NAN);
	double mean;
	json_t *rest = NULL;
	int status = tk_import_get_text(r->file, path, value, "command", &p.name, err);

	if (!status && !(p.name && *p.name))
		status = tk_import_fail(r->file, path, err, ".command: is missing");
	if (!status)
		status = tk_import_get_number(r->file, path, value, "median", &p.value, err);
	if (!status)
		status = tk_import_get_number(r->file, path, value, "mean", &mean, err);
	if (!status)
		status = tk_import_get_number(r->file, path, value, "min", &p.min, err);
	if (status)
		return status;
	if (!isfinite(p.value))
		p.value = mean;
	status = read_times(r, path, json_object_get(value, "times"), &p, err);
	tk_import_copy_unknown(&rest, value, known);
	tk_import_set_attribute(r->attributes, "results", p.name, rest);
	return status ? status : tk_import_point(r->sink, 0, &p, err);
}

static int read_file(
        const struct tk_import_file *f, struct tk_import_sink *sink, struct tk_error *err)
{
	static const char *const patterns[] = {"results/*", NULL};
	struct reader r = {.file = f, .sink = sink, .attributes = json_object()};
	struct tk_import_commit c = {
	        .rev = sink->options->rev, .time_s = tk_import_get_file_time(f, sink)};
	struct tk_import_place place = {0};
	int status = tk_import_place(sink, &place, err);

	if (!status)
		status = tk_import_read_json(f, patterns, visit, &r, err);
	if (!status)
		status = tk_import_add_run(sink, &c, r.attributes, NULL, err);
	json_decref(r.attributes);
	return status;
}

const struct tk_import_format tk_import_hyperfine = {sniff, read_file, NULL};
