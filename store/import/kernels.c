/* Lists of GPU kernel results, one object each: kernel, backend, arch, gpu_model,
 * compute_capability, problem_size{...}, latency_ms, tflops, compilation_time. The top is a list,
 * or an object with the list in `results`; JSON lines are read as well. */
#include "base/memory.h"
#include "base/try.h"
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

static void add_size(struct tk_buf *name, const char *key, const json_t *value)
{
	AUTO_TEXT text =
	        json_is_string(value)
	                ? tk_strdup(json_string_value(value))
	                : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);

	tk_buf_add_printf(name, " %s%s%s", key, *key ? "=" : "", text ? text : "");
}

static int key_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* By name, so that the order in the file does not matter. */
static void add_sizes(struct tk_buf *name, const json_t *size)
{
	size_t count = 0;
	const char **keys, *key;
	json_t *value;

	if (!json_is_object(size)) {
		if (size && !json_is_null(size))
			add_size(name, "", size);
		return;
	}
	keys = tk_calloc(json_object_size(size) + 1, sizeof(*keys));
	json_object_foreach ((json_t *)size, key, value)
		keys[count++] = key;
	qsort(keys, count, sizeof(*keys), key_order);
	for (size_t i = 0; i < count; i++)
		add_size(name, keys[i], json_object_get(size, keys[i]));
	free(keys);
}

static int set_place(struct reader *r, const struct tk_import_path *path, const json_t *row,
        struct tk_error *err)
{
	const json_t *capability = json_object_get(row, "compute_capability");
	struct tk_import_place place = {0};
	char arch[64] = "";

	TRY(tk_import_get_text(r->file, path, row, "gpu_model", &place.device, err));
	TRY(tk_import_get_text(r->file, path, row, "arch", &place.arch, err));
	TRY(tk_import_get_text(r->file, path, row, "machine", &place.machine, err));
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
	for (size_t c = 0; c < COLUMN_COUNT; c++) {
		struct tk_import_point p =
		        TK_IMPORT_POINT(tk_buf_cstr(&r->name), columns[c].unit, NAN);

		TRY(tk_import_get_number(r->file, path, row, columns[c].key, &p.value, err));
		p.metric = columns[c].metric;
		p.backend = backend;
		p.dtype = json_string_value(
		        json_object_get(json_object_get(row, "problem_size"), "dtype"));
		if (isfinite(p.value))
			TRY(tk_import_point(r->sink, 0, &p, err));
	}
	return 0;
}

static int visit(void *arg, const struct tk_import_path *path, json_t *row, struct tk_error *err)
{
	static const char *const known[] = {
	        "kernel", "backend", "problem_size", "arch", "gpu_model", "machine", NULL};
	struct reader *r = arg;
	const char *kernel, *backend;
	json_t *rest = NULL;

	if (!json_is_object(row))
		return path->key ? 0
		                 : tk_import_fail_expected(
		                           r->file, path, err, "an object", row, "%s", "");
	TRY(tk_import_get_text(r->file, path, row, "kernel", &kernel, err));
	TRY(tk_import_get_text(r->file, path, row, "backend", &backend, err));
	if (!kernel || !*kernel)
		return tk_import_fail(r->file, path, err, ".kernel: is missing");
	TRY(set_place(r, path, row, err));
	tk_buf_clear(&r->name);
	tk_buf_add_str(&r->name, kernel);
	add_sizes(&r->name, json_object_get(row, "problem_size"));
	set_commit(r, row);
	tk_import_copy_unknown(&rest, row, known);
	for (size_t c = 0; c < COLUMN_COUNT; c++)
		json_object_del(rest, columns[c].key);
	AUTO_TEXT name = tk_sprintf(
	        "%s%s%s", tk_buf_cstr(&r->name), backend ? "\x1f" : "", backend ? backend : "");

	tk_import_set_attribute(
	        r->attributes, "kernels", name, json_object_size(rest) ? json_incref(rest) : NULL);
	json_decref(rest);
	return put_columns(r, path, row, backend, err);
}

static int read_lines(struct reader *r, struct tk_error *err)
{
	struct tk_import_lines lines = {.file = r->file};
	bool more = false;
	json_t *row = NULL;
	int status;

	while (!(status = tk_import_read_line(&lines, &row, &more, err)) && more) {
		const struct tk_import_path path = {.line = lines.number, .text = ""};

		if (row)
			status = visit(r, &path, row, err);
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

static int read_rows(struct reader *r, struct tk_import_file *f, struct tk_error *err)
{
	if (is_lines(f))
		return read_lines(r, err);
	TRY(tk_import_load(f, err));
	if (json_is_array(f->document))
		return tk_import_each("", f->document, visit, r, err);
	return tk_import_each("results", json_object_get(f->document, "results"), visit, r, err);
}

static int read_file(struct tk_import_file *f, struct tk_import_sink *sink, struct tk_error *err)
{
	json_auto_t *attributes = json_object();
	struct reader r = {.file = f, .sink = sink, .attributes = attributes};
	int status = read_rows(&r, f, err);
	const struct tk_import_commit c = {.rev = sink->options->rev ? sink->options->rev
	                                          : r.rev_text.len   ? tk_buf_cstr(&r.rev_text)
	                                                             : NULL,
	        .time_s = sink->options->at_s || !r.time_s ? tk_import_get_file_time(f, sink)
	                                                   : r.time_s};

	if (!status && !r.placed)
		status = tk_fail(err, TK_EDATA, "%s: there is no kernel in it", f->path);
	if (!status)
		status = tk_import_add_run(sink, &c, attributes, NULL, err);
	tk_buf_free(&r.name);
	tk_buf_free(&r.rev_text);
	return status;
}

const struct tk_import_format tk_import_kernels = {sniff, read_file, NULL};
