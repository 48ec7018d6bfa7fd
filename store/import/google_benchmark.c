/* Google Benchmark: {"context": {...}, "benchmarks": [...]}. Repetitions of one benchmark become
 * one point: their median. Where a file has aggregates only, the reported median (else the mean) is
 * taken. */
#include "base/try.h"
#include "store/import/import.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPETITIONS_MAX 100000

/* What a benchmark reports in each repetition. */
static const struct {
	const char *key, *metric, *unit; /* unit NULL: time_unit */
} columns[] = {{"real_time", "time", NULL}, {"cpu_time", "cpu_time", NULL},
        {"bytes_per_second", "bandwidth", "bytes_per_second"},
        {"items_per_second", "items", "items/s"}};
#define COLUMN_COUNT (sizeof(columns) / sizeof(columns[0]))

struct reader {
	const struct tk_import_file *file;
	struct tk_import_sink *sink;
	json_t *header, *attributes;
	struct tk_buf name, unit,
	        values[COLUMN_COUNT]; /* of the benchmark whose repetitions follow */
	double aggregate[COLUMN_COUNT];
	bool has_median;
};

static bool sniff(const struct tk_import_file *f)
{
	return strstr(f->head, "\"benchmarks\"") && strstr(f->head, "\"context\"") &&
	       !strstr(f->head, "\"commit_info\"");
}

/* The benchmark that was read last is complete. */
static int finish(struct reader *r, struct tk_error *err)
{
	for (size_t c = 0; c < COLUMN_COUNT && r->name.len; c++) {
		size_t n = r->values[c].len / sizeof(double);
		struct tk_import_point p = TK_IMPORT_POINT(tk_buf_cstr(&r->name),
		        columns[c].unit ? columns[c].unit : tk_buf_cstr(&r->unit),
		        n ? NAN : r->aggregate[c]);

		p.metric = columns[c].metric;
		tk_import_summarize(&p, (double *)(void *)r->values[c].data, n);
		if (isfinite(p.value))
			TRY(tk_import_point(r->sink, 0, &p, err));
	}
	for (size_t c = 0; c < COLUMN_COUNT; c++) {
		tk_buf_clear(&r->values[c]);
		r->aggregate[c] = NAN;
	}
	r->has_median = false;
	tk_buf_clear(&r->name);
	return 0;
}

static int add_columns(struct reader *r, const struct tk_import_path *path, const json_t *row,
        const char *aggregate, struct tk_error *err)
{
	bool median = aggregate && !strcmp(aggregate, "median");

	if (aggregate && strcmp(aggregate, "mean") && !median)
		return 0;
	for (size_t c = 0; c < COLUMN_COUNT; c++) {
		double x;
		TRY(tk_import_get_number(r->file, path, row, columns[c].key, &x, err));
		if (!isfinite(x))
			continue;
		if (!aggregate)
			tk_buf_add(&r->values[c], &x, sizeof(x));
		else if (median || !r->has_median)
			r->aggregate[c] = x;
		if (r->values[c].len > REPETITIONS_MAX * sizeof(double))
			return tk_import_fail(
			        r->file, path, err, ": more than %d repetitions", REPETITIONS_MAX);
	}
	r->has_median |= median;
	return 0;
}

static int visit(void *arg, const struct tk_import_path *path, json_t *row, struct tk_error *err)
{
	static const char *const known[] = {"name", "run_name", "run_type", "real_time", "cpu_time",
	        "time_unit", "bytes_per_second", "items_per_second", "iterations",
	        "repetition_index", "family_index", "per_family_instance_index", "aggregate_name",
	        "aggregate_unit", NULL};
	struct reader *r = arg;
	const char *name, *run_name, *aggregate, *unit;
	json_t *rest = NULL;

	TRY(tk_import_get_text(r->file, path, row, "name", &name, err));
	TRY(tk_import_get_text(r->file, path, row, "run_name", &run_name, err));
	TRY(tk_import_get_text(r->file, path, row, "aggregate_name", &aggregate, err));
	TRY(tk_import_get_text(r->file, path, row, "time_unit", &unit, err));
	name = run_name ? run_name : name;
	if (!name || !*name)
		return tk_import_fail(r->file, path, err, ".name: is missing");
	if (json_is_true(json_object_get(row, "error_occurred")) ||
	        json_is_true(json_object_get(row, "skipped"))) {
		tk_import_count_missing(r->sink, name);
		tk_import_set_attribute(r->attributes, "failed", name, json_incref(row));
		return 0;
	}
	if (strcmp(tk_buf_cstr(&r->name), name)) {
		TRY(finish(r, err));
		tk_buf_add_str(&r->name, name);
		tk_buf_clear(&r->unit);
		tk_buf_add_str(&r->unit, unit ? unit : "ns");
	}
	if (!aggregate) {
		tk_import_copy_unknown(&rest, row, known);
		tk_import_set_attribute(r->attributes, "benchmarks", name, rest);
	}
	return add_columns(r, path, row, aggregate, err);
}

/* A file without a commit is identified by its date. */
static int put_run(struct reader *r, struct tk_error *err)
{
	static const char *const names[] = {
	        "commit", "git_commit", "git_sha", "git_hash", "revision", "build_id"};
	const json_t *context = json_object_get(r->header, "context");
	const char *date = json_string_value(json_object_get(context, "date"));
	struct tk_import_commit c = {.rev = r->sink->options->rev};

	for (size_t i = 0; !c.rev && i < sizeof(names) / sizeof(names[0]); i++)
		c.rev = json_string_value(json_object_get(context, names[i]));
	if (r->sink->options->at_s || !date || !tk_import_parse_time(date, &c.time_s))
		c.time_s = tk_import_get_file_time(r->file, r->sink);
	json_object_update(r->attributes, r->header);
	return tk_import_add_run(r->sink, &c, r->attributes, NULL, err);
}

static int read_all(struct reader *r, struct tk_error *err)
{
	const json_t *context = json_object_get(r->header, "context");
	const char *executable = json_string_value(json_object_get(context, "executable"));
	const char *slash = executable ? strrchr(executable, '/') : NULL;
	const struct tk_import_place place = {
	        .machine = json_string_value(json_object_get(context, "host_name")),
	        .upstream = slash ? slash + 1 : executable};

	TRY(tk_import_place(r->sink, &place, err));
	TRY(tk_import_each(
	        "benchmarks", json_object_get(r->file->document, "benchmarks"), visit, r, err));
	TRY(finish(r, err));
	return put_run(r, err);
}

static int read_file(struct tk_import_file *f, struct tk_import_sink *sink, struct tk_error *err)
{
	struct reader r = {.file = f, .sink = sink};

	TRY(tk_import_load(f, err));
	r.header = tk_import_get_header(f, "benchmarks");
	r.attributes = json_object();
	for (size_t c = 0; c < COLUMN_COUNT; c++)
		r.aggregate[c] = NAN;
	int status = read_all(&r, err);

	json_decref(r.header);
	json_decref(r.attributes);
	tk_buf_free(&r.name);
	tk_buf_free(&r.unit);
	for (size_t c = 0; c < COLUMN_COUNT; c++)
		tk_buf_free(&r.values[c]);
	return status;
}

const struct tk_import_format tk_import_google_benchmark = {sniff, read_file, NULL};
