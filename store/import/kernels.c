/* Lists of GPU kernel results, one object each: kernel, backend, arch, gpu_model,
 * compute_capability, problem_size{...}, latency_ms, tflops, compilation_time. The top is a list,
 * or an object with the list in `results`; JSON lines are read as well. */
#include "base/memory.h"
#include "store/import/import.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	const struct tk_import_file *file;
	struct tk_import_sink *sink;
	json_t *attributes;
	struct tk_buf name;
	struct tk_buf rev_text;
	int64_t time_s;
	bool placed;
};

static const struct {
	const char *key, *metric, *unit;
} columns[] = {{"latency_ms", "time", "ms"}, {"latency_us", "time", "us"},
        {"latency_ns", "time", "ns"}, {"latency", "time", "s"}, {"time_ms", "time", "ms"},
        {"time_us", "time", "us"}, {"tflops", "flops", "TFLOPS"}, {"gflops", "flops", "GFLOPS"},
        {"bandwidth_gbps", "bandwidth", "GB/s"}, {"gb_per_s", "bandwidth", "GB/s"},
        {"compilation_time", "compile_time", "s"}, {"compile_time_s", "compile_time", "s"}};
#define COLUMN_COUNT (sizeof(columns) / sizeof(columns[0]))

static bool sniff(const struct tk_import_file *f)
{
	return strstr(f->head, "\"kernel\"") &&
	       (strstr(f->head, "\"latency") || strstr(f->head, "\"tflops\"") ||
	               strstr(f->head, "\"problem_size\""));
}

static void add_sizes(struct tk_buf *name, const json_t *size)
{
	char *text;

	if (json_is_object(size)) {
		const char **keys = tk_calloc(json_object_size(size) + 1, sizeof(*keys));
		const char *key;
		json_t *value;
		size_t n = 0;

		/* By name, so that the order in the file does not matter. */
		json_object_foreach ((json_t *)size, key, value)
			if (keys) {
				size_t i = n++;

				for (; i && strcmp(keys[i - 1], key) > 0; i--)
					keys[i] = keys[i - 1];
				keys[i] = key;
			}
		for (size_t i = 0; i < n; i++) {
			value = json_object_get(size, keys[i]);
			text = json_is_string(value)
			               ? tk_strdup(json_string_value(value))
			               : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
			tk_buf_add_printf(name, " %s=%s", keys[i], text ? text : "");
			free(text);
		}
		free(keys);
	} else if (size && !json_is_null(size)) {
		text = json_is_string(size) ? tk_strdup(json_string_value(size))
		                            : json_dumps(size, JSON_ENCODE_ANY | JSON_COMPACT);
		tk_buf_add_printf(name, " %s", text ? text : "");
		free(text);
	}
}

static int set_place(struct reader *r, const struct tk_import_path *path, const json_t *row,
        struct tk_error *err)
{
	const json_t *capability = json_object_get(row, "compute_capability");
	struct tk_import_place place = {0};
	char arch[64] = "";
	int status = tk_import_get_text(r->file, path, row, "gpu_model", &place.device, err);

	if (!status)
		status = tk_import_get_text(r->file, path, row, "arch", &place.arch, err);
	if (!status)
		status = tk_import_get_text(r->file, path, row, "machine", &place.machine, err);
	if (status)
		return status;
	if (!place.arch && json_is_string(capability))
		snprintf(arch, sizeof(arch), "cc %s", json_string_value(capability));
	else if (!place.arch && json_is_number(capability))
		snprintf(arch, sizeof(arch), "cc %.1f", json_number_value(capability));
	place.arch = place.arch ? place.arch : arch;
	place.upstream = json_string_value(json_object_get(row, "suite"));
	r->placed = true;
	return tk_import_place(r->sink, &place, err);
}

/* The first row with a time and a revision determines those of the file. */
static void set_commit(struct reader *r, const json_t *row)
{
	static const char *const times[] = {"timestamp", "date", "time"}, *const revs[] = {"commit",
	                                                                          "commit_hash",
	                                                                          "git_commit",
	                                                                          "revision",
	                                                                          "version"};
	const char *text;

	for (size_t i = 0; i < 3 && !r->time_s; i++)
		if ((text = json_string_value(json_object_get(row, times[i]))))
			tk_import_parse_time(text, &r->time_s);
	for (size_t i = 0; i < 5 && !r->rev_text.len; i++)
		if ((text = json_string_value(json_object_get(row, revs[i]))))
			tk_buf_add_str(&r->rev_text, text);
}

static int put_columns(struct reader *r, const struct tk_import_path *path, const json_t *row,
        const char *backend, struct tk_error *err)
{
	int status = 0;

	for (size_t c = 0; c < COLUMN_COUNT && !status; c++) {
		struct tk_import_point p =
		        TK_IMPORT_POINT(tk_buf_cstr(&r->name), columns[c].unit, NAN);

		status = tk_import_get_number(r->file, path, row, columns[c].key, &p.value, err);
		p.metric = columns[c].metric;
		p.backend = backend;
		p.dtype = json_string_value(
		        json_object_get(json_object_get(row, "problem_size"), "dtype"));
		if (!status && isfinite(p.value))
			status = tk_import_point(r->sink, 0, &p, err);
	}
	return status;
}

static int visit(void *arg, const struct tk_import_path *path, json_t *row, struct tk_error *err)
{
	static const char *const known[] = {
	        "kernel", "backend", "problem_size", "arch", "gpu_model", "machine", NULL};
	struct reader *r = arg;
	const char *kernel, *backend;
	json_t *rest = NULL;
	size_t len;
	int status;

	if (!json_is_object(row))
		return path->key[0] ? 0
		                    : tk_import_fail_expected(
		                              r->file, path, err, "an object", row, "%s", "");
	status = tk_import_get_text(r->file, path, row, "kernel", &kernel, err);
	if (!status)
		status = tk_import_get_text(r->file, path, row, "backend", &backend, err);
	if (!status && !(kernel && *kernel))
		status = tk_import_fail(r->file, path, err, ".kernel: is missing");
	if (!status)
		status = set_place(r, path, row, err);
	if (status)
		return status;
	tk_buf_clear(&r->name);
	tk_buf_add_str(&r->name, kernel);
	add_sizes(&r->name, json_object_get(row, "problem_size"));
	set_commit(r, row);
	tk_import_copy_unknown(&rest, row, known);
	for (size_t c = 0; c < COLUMN_COUNT; c++)
		json_object_del(rest, columns[c].key);
	len = r->name.len;
	if (backend)
		tk_buf_add_printf(&r->name, "\x1f%s", backend);
	status = tk_buf_status(&r->name, err);
	if (!status) {
		tk_import_set_attribute(r->attributes, "kernels", tk_buf_cstr(&r->name),
		        json_object_size(rest) ? json_incref(rest) : NULL);
		r->name.data[len] = '\0'; /* points have the backend beside the name */
	}
	json_decref(rest);
	return status ? status : put_columns(r, path, row, backend, err);
}

static int read_lines(struct reader *r, struct tk_error *err)
{
	struct tk_import_lines lines = {.file = r->file};
	bool more = false;
	int status;

	while (!(status = tk_import_read_line(&lines, &more, err)) && more) {
		struct tk_import_path path = {.line = lines.number, .text = ""};
		json_error_t why;
		json_t *row;

		if (lines.skip)
			continue;
		row = json_loadb(lines.line.data, lines.line.len, 0, &why);
		status = row ? visit(r, &path, row, err) : tk_import_fail_line(&lines, &why, err);
		json_decref(row);
		if (status)
			break;
	}
	tk_buf_free(&lines.line);
	return status;
}

/* Whether each line has an object of its own: the first line is a whole one. */
static bool is_lines(const struct tk_import_file *f)
{
	const char *end = strchr(f->head, '\n');
	json_t *first = f->head[0] == '{' && end
	                        ? json_loadb(f->head, (size_t)(end - f->head), 0, NULL)
	                        : NULL;
	bool is = json_is_object(first) && json_object_get(first, "kernel");

	json_decref(first);
	return is;
}

static int read_file(
        const struct tk_import_file *f, struct tk_import_sink *sink, struct tk_error *err)
{
	static const char *const list[] = {"*", NULL}, *const member[] = {"results/*", NULL};
	struct reader r = {.file = f, .sink = sink, .attributes = json_object()};
	struct tk_import_commit c = {0};
	int status;

	if (is_lines(f))
		status = read_lines(&r, err);
	else
		status = tk_import_read_json(f,
		        f->head[strspn(f->head, " \t\r\n")] == '[' ? list : member, visit, &r, err);
	if (!status && !r.placed)
		status = tk_fail(err, TK_EDATA, "%s: there is no kernel in it", f->path);
	c.rev = sink->options->rev ? sink->options->rev
	        : r.rev_text.len   ? tk_buf_cstr(&r.rev_text)
	                           : NULL;
	c.time_s = sink->options->at_s || !r.time_s ? tk_import_get_file_time(f, sink) : r.time_s;
	if (!status)
		status = tk_import_add_run(sink, &c, r.attributes, NULL, err);
	json_decref(r.attributes);
	tk_buf_free(&r.name);
	tk_buf_free(&r.rev_text);
	return status;
}

const struct tk_import_format tk_import_kernels = {sniff, read_file, NULL};
