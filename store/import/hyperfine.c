/* hyperfine: {"results": [{"command", "times": [...], ...}]}. It names neither machine nor time nor
 * commit: options do, or the file's date. */
#include "base/try.h"
#include "store/import/import.h"
#include <math.h>
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
	AUTO(tk_buf) values = {0};
	const json_t *one;
	size_t i;

	if (times && !json_is_null(times) && !json_is_array(times))
		return tk_import_fail_expected(r->file, path, err, "a list", times, ".times");
	json_array_foreach ((json_t *)times, i, one) {
		const double value = json_number_value(one);

		if (!json_is_number(one))
			return tk_import_fail_expected(
			        r->file, path, err, "a number", one, ".times[%zu]", i);
		tk_buf_add(&values, &value, sizeof(value));
	}
	tk_import_summarize(p, (double *)(void *)values.data, values.len / sizeof(double));
	return 0;
}

static int visit(void *arg, const struct tk_import_path *path, json_t *value, struct tk_error *err)
{
	static const char *const known[] = {"command", "times", "median", "min", NULL};
	struct reader *r = arg;
	struct tk_import_point p = TK_IMPORT_POINT(NULL, "s", NAN);
	double mean;
	json_t *rest = NULL;

	TRY(tk_import_get_text(r->file, path, value, "command", &p.name, err));
	if (!p.name || !*p.name)
		return tk_import_fail(r->file, path, err, ".command: is missing");
	TRY(tk_import_get_number(r->file, path, value, "median", &p.value, err));
	TRY(tk_import_get_number(r->file, path, value, "mean", &mean, err));
	TRY(tk_import_get_number(r->file, path, value, "min", &p.min, err));
	if (!isfinite(p.value))
		p.value = mean;
	TRY(read_times(r, path, json_object_get(value, "times"), &p, err));
	tk_import_copy_unknown(&rest, value, known);
	tk_import_set_attribute(r->attributes, "results", p.name, rest);
	return tk_import_point(r->sink, 0, &p, err);
}

static int read_file(struct tk_import_file *f, struct tk_import_sink *sink, struct tk_error *err)
{
	const struct tk_import_commit c = {
	        .rev = sink->options->rev, .time_s = tk_import_get_file_time(f, sink)};
	const struct tk_import_place place = {0};

	TRY(tk_import_load(f, err));
	TRY(tk_import_place(sink, &place, err));
	json_auto_t *attributes = json_object();
	struct reader r = {.file = f, .sink = sink, .attributes = attributes};

	TRY(tk_import_each("results", json_object_get(f->document, "results"), visit, &r, err));
	return tk_import_add_run(sink, &c, attributes, NULL, err);
}

const struct tk_import_format tk_import_hyperfine = {sniff, read_file, NULL};
