/* What the files of store/import/ share: the table of formats, the readers, and the sink that
 * foreign points go into.
 *
 * A format is one file: it recognises its files by their head (sniff) and passes the points to the
 * sink, or, for the tracker's own records, puts rows itself. Errors name the file and the line or
 * the JSON path. */
#ifndef TK_STORE_IMPORT_H
#define TK_STORE_IMPORT_H
#include "base/buf.h"
#include "store/db/internal.h"
#include <jansson.h>
#include <stdio.h>

/* ---- formats --------------------------------------------------------------------------------- */

struct tk_import_sink;

/* Editors of Windows put it before a file in UTF-8. */
#define TK_IMPORT_BYTE_ORDER_MARK "\xef\xbb\xbf"

struct tk_import_file {
	const char *path;
	FILE *in;         /* at its start, can be rewound */
	const char *head; /* its first bytes without the mark, NUL-terminated */
	size_t head_len;
	json_t *document; /* of tk_import_load(); NULL: not loaded */
};

struct tk_import_options {
	const char *machine, *upstream, *better,
	        *rev; /* NULL: as the file says; better: "lower", "higher" */
	int64_t at_s; /* 0: as the file says, else when it was written */
};

/* identifier, name, what it is; in the order in which they are tried on a file */
#define TK_IMPORT_FORMATS(X) \
	X(tracker, "tracker", "what `tracker export --format=ndjson` writes") \
	X(asv, "asv", "airspeed velocity: results/MACHINE/*.json, or the folder") \
	X(github_action, "github-action", "github-action-benchmark: data.js") \
	X(google_benchmark, "google-benchmark", "Google Benchmark: --benchmark_format=json") \
	X(nvbench, "nvbench", "NVBench: --json") \
	X(pytest_benchmark, "pytest-benchmark", "pytest-benchmark: --benchmark-json") \
	X(hyperfine, "hyperfine", "hyperfine: --export-json") \
	X(kernels, "kernels", "GPU kernel results (JSON): kernel, latency_ms, ...") \
	X(gemm_csv, "gemm-csv", "GEMM suites: problem columns, then time, GFLOPS, GB/s") \
	X(csv, "csv", "series_id,day,commit,value, or time and a column each")

struct tk_import_format {
	bool (*sniff)(const struct tk_import_file *f);
	int (*read)(struct tk_import_file *f, struct tk_import_sink *sink, struct tk_error *err);
	int64_t (*time)(const struct tk_import_file
	                *f); /* what the files of a set are sorted by; may be NULL */
};
#define TK_IMPORT_DECLARE(id, name, what) extern const struct tk_import_format tk_import_##id;
TK_IMPORT_FORMATS(TK_IMPORT_DECLARE)
#undef TK_IMPORT_DECLARE

/* ---- sink ------------------------------------------------------------------------------------ */

struct tk_import_state;

struct tk_import_sink {
	struct tk_store *store; /* within a transaction */
	const struct tk_import_options *options;
	const char *format, *path; /* of the file that is read */
	int64_t results;           /* read so far, with a value or without */
	bool aside;                /* set by a format: the file belongs to results, but has none */
	struct tk_import_counts counts;
	struct tk_import_state *state; /* sink.c */
};

void tk_import_sink_open(struct tk_import_sink *s);
void tk_import_sink_close(struct tk_import_sink *s); /* after a failed open as well */
int tk_import_flush(
        struct tk_import_sink *s, struct tk_error *err); /* writes the points whose run is known */

/* Sets the machine and the upstream of the following points. NULL or "": unknown. The options
 * --machine and --upstream take precedence. */
struct tk_import_place {
	const char *machine, *machine_attributes, *device, *arch, *environment, *upstream, *url;
};
int tk_import_place(
        struct tk_import_sink *s, const struct tk_import_place *p, struct tk_error *err);

/* One number. Members that are not known are NULL, NAN or 0. The unit decides on the metric's name,
 * the unit here and the direction, where they are not given. A value that is not finite is counted
 * and left out. run 0: of the run that tk_import_add_run() makes next. */
struct tk_import_point {
	const char *name, *metric, *unit, *better, *backend, *config, *dtype, *family;
	double value, lo, hi, min, q25, q75, p95, flops, bytes;
	int64_t n;
};
#define TK_IMPORT_POINT(name_, unit_, value_) \
	{ \
		.name = (name_), .unit = (unit_), .value = (value_), .lo = NAN, .hi = NAN, \
		.min = NAN, .q25 = NAN, .q75 = NAN, .p95 = NAN \
	}
int tk_import_point(struct tk_import_sink *s, size_t run, const struct tk_import_point *p,
        struct tk_error *err);
/* Counts a result of that name without a value: it failed, was skipped or is empty. */
void tk_import_count_missing(struct tk_import_sink *s, const char *name);

/* A night with one run at the time of a commit; none if there was no result since the run before,
 * unless `run` requests it. `attributes` (borrowed; NULL: none): values without a column. *run may
 * be NULL. */
struct tk_import_commit {
	const char *rev, *author, *subject;
	int64_t time_s;
};
int tk_import_add_run(struct tk_import_sink *s, const struct tk_import_commit *c,
        const json_t *attributes, size_t *run, struct tk_error *err);

/* ---- units ----------------------------------------------------------------------------------- */

/* The metric that a unit implies, the tracker's unit, and the factor to it. An unknown unit is
 * unchanged. */
struct tk_import_unit {
	const char *metric, *unit, *better;
	double factor;
};
struct tk_import_unit tk_import_unit(const char *unit);

/* ---- JSON ------------------------------------------------------------------------------------ */

struct tk_import_path {
	const char *key;  /* the last component; NULL: an element of a list */
	const char *text; /* "benchmarks[3]"; "": the top */
	size_t line;      /* 0: not known */
};

/* Reads the file as one value, into f->document. */
int tk_import_load(struct tk_import_file *f, struct tk_error *err);
/* Calls `visit` for each element of a list or member of an object that is called `list`. */
int tk_import_each(const char *list, const json_t *values,
        int (*visit)(void *, const struct tk_import_path *, json_t *, struct tk_error *), void *arg,
        struct tk_error *err);
/* The members of the document's top object, but not `results`: a new object. */
json_t *tk_import_get_header(const struct tk_import_file *f, const char *results);
/* "FILE:LINE: PATH" and what the format says: ".kernel: is missing". TK_EDATA. */
int tk_import_fail(const struct tk_import_file *f, const struct tk_import_path *path,
        struct tk_error *err, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* The same with the field that the format names (".value", or ""), the expected and the actual
 * value: ".value: expected a number, found "fast"". */
int tk_import_fail_expected(const struct tk_import_file *f, const struct tk_import_path *path,
        struct tk_error *err, const char *what, const json_t *value, const char *fmt, ...)
        __attribute__((format(printf, 6, 7)));
/* A value for people, one line, cut: `"fast"`, `12`, `a list`, `nothing` for NULL. Returns out. */
#define TK_IMPORT_DESCRIPTION_SIZE 48
const char *tk_import_describe_value(const json_t *value, char *out);

/* The time of a file that does not say one: --at, else when it was written. */
int64_t tk_import_get_file_time(const struct tk_import_file *f, const struct tk_import_sink *sink);
/* ISO 8601 as programs write it: a blank for the T, fractions of a second, +hhmm. False if it is
 * not a time. */
bool tk_import_parse_time(const char *text, int64_t *t_s);

/* ---- members of objects: what is missing or null is NAN or NULL, another type is an error ---- */

int tk_import_get_number(const struct tk_import_file *f, const struct tk_import_path *path,
        const json_t *object, const char *key, double *out, struct tk_error *err);
int tk_import_get_text(const struct tk_import_file *f, const struct tk_import_path *path,
        const json_t *object, const char *key, const char **out, struct tk_error *err);
/* Copies the members of `from` that are not in `known` (ends with NULL) and not null into `to`; a
 * new object where something was copied and `to` was NULL. */
void tk_import_copy_unknown(json_t **to, const json_t *from, const char *const *known);
/* attributes[list][name] = value, where value (stolen) is not NULL. */
void tk_import_set_attribute(json_t *attributes, const char *list, const char *name, json_t *value);
/* Sorted in place: median, quantiles, minimum and count of repetitions. */
void tk_import_summarize(struct tk_import_point *p, double *values, size_t count);

/* ---- lines ----------------------------------------------------------------------------------- */

#define TK_IMPORT_LINE_MAX ((size_t)64 << 20)

struct tk_import_lines {
	const struct tk_import_file *file;
	struct tk_buf line; /* the current one, without its end */
	size_t number;
};

/* The value of the next line, NULL where that is empty; *more false at the end. Rejects a line that
 * is longer than TK_IMPORT_LINE_MAX or contains a NUL. */
int tk_import_read_line(
        struct tk_import_lines *l, json_t **value, bool *more, struct tk_error *err);

#endif
