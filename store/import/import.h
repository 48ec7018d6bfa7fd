/* What the files of store/import/ share: the readers of formats, their rows, and the sink that
 * these go into.
 *
 * A format is one file of SQL in formats/ (documents.c says what it may use); only the tracker's
 * own records are read by a function. Errors name the file and the line or the path. */
#ifndef TK_STORE_IMPORT_H
#define TK_STORE_IMPORT_H
#include "base/base.h"
#include "core/vocabulary.h"
#include "store/db/internal.h"

/* ---- formats --------------------------------------------------------------------------------- */

/* Editors of Windows put it before a file in UTF-8. */
#define TK_IMPORT_BYTE_ORDER_MARK "\xef\xbb\xbf"

struct tk_import_file {
	const char *path;
	FILE *in;         /* at its start, can be rewound */
	const char *head; /* its first bytes without the mark, NUL-terminated */
	size_t head_len;
};

struct tk_import_sink;

int tk_import_read_tracker(struct tk_import_sink *sink, struct tk_error *err);
int tk_import_read_asv(struct tk_import_sink *sink, struct tk_error *err);
/* The statements of formats/NAME.sql. */
extern const unsigned char tk_csv_sql[], tk_gemm_csv_sql[], tk_github_action_sql[],
        tk_google_benchmark_sql[], tk_hyperfine_sql[], tk_kernels_sql[], tk_nvbench_sql[],
        tk_pytest_benchmark_sql[];
/* A JSON document, JSON lines as a list, or CSV, by these statements. */
int tk_import_read_document(
        struct tk_import_sink *sink, const unsigned char *sql, bool is_csv, struct tk_error *err);
/* The text of a JSON document, or of JSON lines as a list; not checked. */
int tk_import_read_json(struct tk_import_sink *s, struct tk_buf *out, struct tk_error *err);
int tk_import_parse(struct tk_import_sink *s, const struct tk_buf *text, json_t **out);
/* "FILE: PATH: what", or "FILE:LINE: PATH: what" of JSON lines; path: as SQLite writes it, or
 * without "$." and quotes. */
int tk_import_fail(struct tk_import_sink *s, const char *path, const char *what);
int tk_import_fail_expected(
        struct tk_import_sink *s, const char *path, const char *expected, const json_t *value);
int tk_import_register_functions(struct tk_import_sink *sink, struct tk_error *err);

/* ---- sink ------------------------------------------------------------------------------------ */

/* What a row of a format says; NULL, NAN, 0: nothing. Texts are borrowed. */
struct tk_import_row {
	/* Where the following results are of. --machine and --upstream take precedence. */
	const char *machine, *machine_attributes, *device, *arch, *upstream, *url;
	/* A result. The unit decides on the metric, the unit here and the direction, where they are
	 * not given. Results of one series in one run are repetitions. */
	const char *name, *metric, *unit, *better, *backend, *config, *dtype, *family;
	double value, lo, hi, min, q25, q75, p95;
	int64_t n;
	/* What is known of it without a column: JSON, kept as attributes[list][key] of the run, or
	 * (list NULL) as attributes of it. */
	const char *list, *key, *rest;
	/* The run of the results before it; attributes: JSON. */
	const char *rev, *author, *subject, *attributes;
	int64_t time_s; /* INT64_MIN: that of the file */
};
#define TK_IMPORT_ROW(...) \
	{ \
		.time_s = INT64_MIN, .value = NAN, .lo = NAN, .hi = NAN, .min = NAN, .q25 = NAN, \
		.q75 = NAN, .p95 = NAN, ##__VA_ARGS__ \
	}

struct tk_import_state;

struct tk_import_sink {
	struct tk_store *store; /* within a transaction */
	const struct tk_import_request *request;
	const char *format; /* of the file that is read */
	const struct tk_import_file *file;
	int64_t results; /* read so far, with a value or without */
	struct tk_import_counts counts;
	struct tk_import_state *state; /* sink.c */
	int failed;                    /* status of the function that ended a query */
	struct tk_error *err;
	char *benchmarks_path; /* asv.c */
	json_t *benchmarks;
	bool is_lines; /* of the document: an element is a line */
};

void tk_import_sink_open(struct tk_import_sink *s);
void tk_import_sink_close(struct tk_import_sink *s); /* after a failed open as well */
int tk_import_flush(
        struct tk_import_sink *s, struct tk_error *err); /* writes the points whose run is known */

int tk_import_place(
        struct tk_import_sink *s, const struct tk_import_row *row, struct tk_error *err);
/* A result of the run that tk_import_add_run() makes next; one whose value is not finite is counted
 * and left out. */
int tk_import_point(
        struct tk_import_sink *s, const struct tk_import_row *row, struct tk_error *err);
/* A night with one run at the time of a commit; none if there was no result since the run before.
 * attributes: instead of those of the row. */
int tk_import_add_run(struct tk_import_sink *s, const struct tk_import_row *row,
        const json_t *attributes, struct tk_error *err);

/* ---- values ---------------------------------------------------------------------------------- */

/* units.c: a foreign unit. */
struct tk_import_term {
	int dimension;
	double factor; /* to the word without its prefix; times: seconds */
};
struct tk_import_unit {
	const char *metric;    /* that it implies */
	const char *unit;      /* the tracker's own where it has one, else as it was written */
	double factor;         /* to that */
	enum tk_better better; /* UNKNOWN: it does not say */
	bool has_per;
	struct tk_import_term what, per;
};
struct tk_import_unit tk_import_unit(const char *text); /* "MiB/s", "ns/op", "widgets" */
/* The unit that ends the heading of a column, "gemm_ms", "rate (ops/s)"; NULL: none. */
const char *tk_import_unit_in(const char *heading);

/* A value for people, one line, cut: `"fast"`, `12`, `a list`, `nothing` for NULL. Returns out. */
#define TK_IMPORT_DESCRIPTION_SIZE 48
const char *tk_import_describe_value(const json_t *value, char *out);
/* The time of a file that does not say one: --at, else when it was written. */
int64_t tk_import_get_file_time(const struct tk_import_sink *sink);

#endif
