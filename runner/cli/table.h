/* Tables on the terminal, by libsmartcols: columns by name, control characters replaced, and signs
 * that a terminal with one byte per character cannot show (markup.h). No table
 * is wider than the terminal: where the flags of its columns are not enough, texts are cut, at most
 * to the width of their headings, and the widest columns dropped. Nothing is cut in a pipe or a
 * file. An empty table prints nothing. */
#ifndef TK_TABLE_H
#define TK_TABLE_H
#include "base/base.h"
#include "store/query/record.h"
#include "store/select.h"
#include <jansson.h>
#include <stdio.h>

struct tk_globals;
struct tk_store;
struct tk_table;

enum {
	TK_COLUMN_LEFT = 0,
	TK_COLUMN_RIGHT = 1, /* numbers */
	TK_COLUMN_CUT = 2,   /* may be cut on a narrow terminal */
	/* May be wrapped between words on a narrow terminal; below 30 characters only where no
	 * column is left to drop. */
	TK_COLUMN_WRAP = 4,
	TK_COLUMN_OPTIONAL = 8, /* hidden if no row has a value */
	TK_COLUMN_VARIED = 32,  /* hidden if all rows have the same value */
	TK_COLUMN_SHORTEN = 16, /* may be cut to 16 characters before other columns are dropped */
};
/* Dropped on a narrow terminal, the lowest order first. */
#define TK_COLUMN_DROP(order) ((order) << 8)

/* How a member of a record is shown. */
#define TK_SHOWS(X) \
	X(PLAIN, plain) /* a text, a count, a number */ \
	X(DAY, day)     /* of a time: 2026-11-21 */ \
	X(MINUTE, minute) \
	X(SHORT, short)       /* of a hash: 12 digits */ \
	X(UID, uid)           /* 8 digits */ \
	X(COUNT, count)       /* nothing where it is 0 */ \
	X(WHOLE, whole)       /* without a fraction */ \
	X(PLURAL, plural)     /* "s" where it is not 1 */ \
	X(DURATION, duration) /* whole seconds */ \
	X(NS, ns) \
	X(DELTA_NS, delta) /* +24.4 µs */ \
	X(BYTES, bytes) \
	X(RATE, rate)       /* of GFLOP/s */ \
	X(PERCENT, percent) /* a share: 62 % */ \
	X(TENTHS, tenths)   /* 99.7 % */ \
	X(SIGNED, signed)   /* +9.5 % */ \
	X(CHANGE, change)   /* +3.1 %, 3.5x */ \
	X(ON_OFF, onoff) \
	X(ESTIMATE, estimate) /* a change with its interval */ \
	X(HALF_WIDTH, half)   /* of the interval of a value: +-0.4 % */
#define TK_SHOW_WORD(word, name) TK_SHOW_##word,
enum tk_show { TK_SHOWS(TK_SHOW_WORD) };

/* Writes a record by a template. "{series}" is a member, "{opened:day}" as one of TK_SHOWS,
 * "{value@unit}" with the unit that another member names, "{os|unknown}" with a text where there is
 * none. A part "[, by {author}]" is left out where one of its members is missing: null, "" or
 * false. "{?open}" and "{!open}" write nothing, and are missing if the member is, or is not. */
void tk_record_write(FILE *out, const char *template, const json_t *row);
/* The text of a template, or of the member that it names; NULL: missing. The caller frees it. */
char *tk_record_format(const char *template, enum tk_show show, const json_t *row);

/* Colours of words. A list ends with word == NULL; what is not in it is "halfbright". */
struct tk_word_color {
	const char *word, *color;
};
const char *tk_word_color_find(const struct tk_word_color *colors, const char *word);

struct tk_column {
	const char *name; /* the heading; ends with name == NULL */
	unsigned flags;
	/* Of tables of records: the member ("change.value") or a template (tk_record_write), and
	 * the colour of the cell. */
	const char *path;
	enum tk_show show;
	/* Returns "red", "bold", "halfbright" ... (terminal-colors.d), or NULL: none. */
	const char *(*color)(const json_t *row);
};

/* `columns` must outlive the table. */
struct tk_table *tk_table_new(const struct tk_globals *g, const struct tk_column *columns);
void tk_table_add_row(struct tk_table *t); /* starts a row, which the following calls fill */
void tk_table_set_cell(struct tk_table *t, const char *column, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
/* A row with the cells of all columns that have a path. */
void tk_table_add_record(struct tk_table *t, const json_t *row);
/* As tk_format_value(), or a share with the unit "%"; nothing where it is NAN. */
void tk_table_set_value(struct tk_table *t, const char *column, double value, const char *unit);
int tk_table_print(struct tk_table *t, FILE *out, struct tk_error *err);
/* Prints and frees. */
int tk_table_finish(struct tk_table *t, FILE *out, struct tk_error *err);
/* After printing: the column had values but was dropped. */
bool tk_table_is_dropped(const struct tk_table *t, const char *column);
void tk_table_free(struct tk_table *t);
TK_AUTO_PTR(tk_table)

/* ---- lists of the history -------------------------------------------------------------------- */

/* A command that lists is a query, whose rows are JSON objects, and the columns of a table that
 * show their members. */

/* Prints rows as JSON, or as a table. Frees `rows`. */
int tk_records_print(const struct tk_globals *g, const struct tk_column *columns, json_t *rows,
        bool as_json, struct tk_error *err);

/* The end of a list that has both: prints one of them and frees them. */
int tk_records_finish(struct tk_table *t, json_t *rows, bool as_json, struct tk_error *err);

/* Fails with TK_EUSAGE: `what` "NAME", and the nearest text that the member of a row has, or
 * `otherwise` (suggest.h). */
int tk_records_fail_unknown(const json_t *rows, const char *member, const char *name,
        const char *what, const char *otherwise, struct tk_error *err);

/* The first row of a query, which the caller frees; NULL: none. */
int tk_records_select_one(struct tk_store *s, const char *sql, const struct tk_arg *args,
        json_t **out, struct tk_error *err);

/* Sets a member of an object to the rows of a query. */
int tk_records_select_member(struct tk_store *s, const char *sql, const struct tk_arg *args,
        json_t *object, const char *member, struct tk_error *err);

/* The number of a night by its number, the start of its uid, or "last" for the newest. TK_EUSAGE:
 * none or several. */
int tk_records_find_night(
        struct tk_store *s, const char *text, int64_t *night_id, struct tk_error *err);

/* ---- rates ----------------------------------------------------------------------------------- */

struct tk_rate {
	double gflop_per_s; /* NAN: not a time, or of a problem without operations */
	double peak_share;  /* of the peak by the vendor's data sheet; NAN: not known */
};

/* peak_gflop_per_s 0: not known. */
struct tk_rate tk_rate_compute(double flops, double peak_gflop_per_s, double median_ns);
/* problem: as it is stored. device_name NULL: not known. Parses the problem for the peak. */
struct tk_rate tk_rate_from_problem(
        const char *problem, double flops, const char *device_name, double value, const char *unit);
/* The function of SQL peak_gflop_per_s(PROBLEM, DEVICE_NAME), for arithmetic: NULL where it is not
 * known. */
int tk_rate_define_function(struct tk_store *s, struct tk_error *err);

#endif
