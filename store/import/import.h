/* What the files of store/import/ share: the readers of formats, their rows, and the sink that
 * these go into.
 *
 * A format is one file of SQL in formats/; only asv and the tracker's own records are read by a
 * function. Errors name the file and the line or the path. */
#ifndef TK_STORE_IMPORT_H
#define TK_STORE_IMPORT_H
#include "base/base.h"
#include "core/vocabulary.h"
#include "store/db/internal.h"
#include "store/renaming.h"

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

/* A format is one file of SQL (docs/reference/import-formats.md); `read`: two are functions. */
struct tk_import_format {
	const char *name, *sql;
	int (*read)(struct tk_import_sink *sink, struct tk_error *err);
	const char *path; /* of a user's format; NULL: built in */
};
/* Of formats/; one without a name ends them. */
extern const struct tk_import_format tk_import_formats[];

enum tk_import_reads {
	TK_IMPORT_JSON,
	TK_IMPORT_CSV,
	TK_IMPORT_LOG,
	TK_IMPORT_TEXT,
	TK_IMPORT_UNKNOWN
};
/* The nth value of "-- key: value" of its first lines; NULL: none. Free it. */
char *tk_import_format_get(const struct tk_import_format *format, const char *key, size_t nth);
enum tk_import_reads tk_import_format_reads(
        const struct tk_import_format *format, const struct tk_import_file *file);
/* Whether the file is one beside the results; the format that has such files, NULL: none. */
bool tk_import_format_skips(const struct tk_import_format *format, const char *path);
const struct tk_import_format *tk_import_format_beside(const char *path);
/* How many lists of its headings are met by these; 0: not all. */
size_t tk_import_format_match(
        const struct tk_import_format *format, const char *const *headings, size_t count);
/* The first line of a table; of a log anywhere, else the first line. NULL: none. */
const char *tk_import_find_heading(
        const struct tk_import_format *format, const char *text, bool is_log, size_t *matched);
const char *tk_import_heading_name(const char *heading);
bool tk_import_heading_matches(const char *heading, const char *patterns);

/* columns.c: what the columns of a table are, by the format and --identity. */
struct tk_import_columns;
struct tk_import_columns *tk_import_columns_new(
        struct tk_import_sink *s, char *const *headings, size_t count);
void tk_import_columns_free(struct tk_import_columns *c);
/* "transA=T beta=1": the columns of the identity that have not their usual value. */
void tk_import_columns_add_name(
        const struct tk_import_columns *c, char *const *cells, struct tk_buf *out);
bool tk_import_columns_is_attribute(const struct tk_import_columns *c, size_t at);
/* NULL: none. */
const struct tk_import_format *tk_import_format_guess(const struct tk_import_file *file);
const struct tk_import_format *tk_import_format_find(const char *name);

/* Reads the file as its format says (documents.c), and what its statements select (query.c). */
int tk_import_read_document(struct tk_import_sink *sink, struct tk_error *err);
/* Puts the file into the tables csv and lines of sink->documents, or its JSON into `document`. */
int tk_import_load(struct tk_import_sink *sink, struct tk_buf *document, struct tk_error *err);
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

/* What a row of a format says; NULL, NAN, 0: nothing. Texts are borrowed. The columns of a result
 * have these names (time_s: time), docs/reference/import-formats.md describes them. */
struct tk_import_row {
	/* Where and when: what a result does not say is that of its file. --machine and --upstream
	 * take precedence, --rev and --at over what the file says. */
	const char *machine, *machine_attributes, *device, *arch, *upstream, *url, *revision,
	        *author, *subject;
	int64_t time_s, order; /* INT64_MIN: not known */
	/* Of a file: kept with each of its runs. Of a result: kept by its name. JSON. */
	const char *attributes, *run_attributes; /* run_attributes: of a result, of its run */
	json_t *rest;                            /* attributes of a result, too */
	/* A result. The unit decides on the metric, the unit here and the direction, where they are
	 * not given. Results of one series in one run that are from one column (`place` without
	 * its numbers) are repetitions. */
	const char *series, *metric, *unit, *better, *statistic, *outcome, *message, *backend,
	        *config, *dtype, *family, *place;
	const char *version; /* of the benchmark: results of another one are not compared */
	double value, lo, hi, min, q25, q75, p95;
	int64_t n;
};
#define TK_IMPORT_ROW(...) \
	{ \
		.time_s = INT64_MIN, .order = INT64_MIN, .value = NAN, .lo = NAN, .hi = NAN, \
		.min = NAN, .q25 = NAN, .q75 = NAN, .p95 = NAN, ##__VA_ARGS__ \
	}

struct tk_import_state;

struct tk_import_sink {
	struct tk_store *store; /* within a transaction */
	const struct tk_import_request *request;
	const struct tk_import_format *named, *format; /* for all files, of this one */
	const struct tk_import_file *file;
	int64_t results; /* read so far, with a value or without */
	struct tk_import_counts counts;
	size_t error_count;            /* lines of counts.errors that are of this pass */
	struct tk_import_state *state; /* sink.c */
	sqlite3 *documents;            /* what is read, apart from the history */
	int failed;                    /* status of the function that ended a query */
	struct tk_error *err;
	char *benchmarks_path; /* asv.c */
	json_t *benchmarks;
	struct tk_rows renamings; /* of series, in the order of time */
	json_t *unknown;          /* columns that are no part of a name, as its keys */
	bool is_lines;            /* of the document: an element is a line */
};

/* An error of a file; reading goes on to find the others. */
void tk_import_add_error(struct tk_import_sink *s, const char *message);

void tk_import_sink_open(struct tk_import_sink *s);
void tk_import_sink_close(struct tk_import_sink *s); /* after a failed open as well */
/* Writes the points of the files that have ended. */
int tk_import_flush(struct tk_import_sink *s, struct tk_error *err);
/* Then: the failures of series that have points. */
int tk_import_write_failures(struct tk_import_sink *s, struct tk_error *err);
/* TK_EUSAGE: an option --better is malformed. */
int tk_import_check_better(const struct tk_import_request *request, struct tk_error *err);
/* Adds an error for each unit whose direction nobody knows. */
void tk_import_report_unknown(struct tk_import_sink *s);

/* What the results that follow in this file do not say themselves. Copied. */
int tk_import_set_file(
        struct tk_import_sink *s, const struct tk_import_row *row, struct tk_error *err);
/* Columns that are no part of a name are reported once: a list of texts. */
void tk_import_note_unknown(struct tk_import_sink *s, const json_t *names);
/* A result; one whose value is not finite is counted and left out. */
int tk_import_add_result(
        struct tk_import_sink *s, const struct tk_import_row *row, struct tk_error *err);
/* Writes the runs of the file: one a machine, device, revision and time. */
int tk_import_end_file(struct tk_import_sink *s, struct tk_error *err);

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
/* What a value in `from` is multiplied with to be in `to`; false: they are not of one dimension. */
bool tk_import_unit_ratio(const char *from, const char *to, double *ratio);
/* The unit that ends the heading of a column, "gemm_ms", "rate (ops/s)"; NULL: none. */
const char *tk_import_unit_in(const char *heading);

/* A value for people, one line, cut: `"fast"`, `12`, `a list`, `nothing` for NULL. Returns out. */
#define TK_IMPORT_DESCRIPTION_SIZE 48
const char *tk_import_describe_value(const json_t *value, char *out);
/* "2022-06-18 10:52:55.123456+0200", what tk_time_parse() reads, and the like. */
bool tk_import_parse_time(const char *text, int64_t *t_s);
/* The time of a file that does not say one: --at, else when it was written. */
int64_t tk_import_get_file_time(const struct tk_import_sink *sink);

#endif
