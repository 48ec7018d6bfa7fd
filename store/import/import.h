/* What the files of store/import/ share: the table of formats, the readers, and the sink that foreign points go into.
 *
 * A format is one file: it looks at the head of a file to say whether it is one of its own (sniff), and hands what it reads to the sink, or, for the
 * tracker's own records, puts rows itself. Errors name the file and the line or the JSON path. */
#ifndef TK_STORE_IMPORT_H
#define TK_STORE_IMPORT_H
#include <jansson.h>
#include <stdio.h>
#include "base/buf.h"
#include "store/internal.h"

/* ---- formats ------------------------------------------------------------------------------------------------ */

struct tk_import_sink;

struct tk_import_file {
	const char *path;
	FILE *in;             /* at its start, can be rewound */
	const char *head;     /* its first bytes, with a NUL behind them */
	size_t head_len;
};

struct tk_import_options {
	const char *machine, *upstream, *better;   /* NULL: as the file says; better: "lower", "higher" */
};

/* name, what it is */
#define TK_IMPORT_FORMATS(X) \
	X(tracker, "what `tracker export --format=ndjson` writes")

struct tk_import_format {
	const char *name, *what;
	bool (*sniff)(const struct tk_import_file *f);
	int (*read)(const struct tk_import_file *f, struct tk_import_sink *sink, struct tk_error *err);
	int64_t (*time)(const struct tk_import_file *f);   /* what the files of a set are sorted by; may be NULL */
};
#define TK_IMPORT_DECLARE(name, what) extern const struct tk_import_format tk_import_##name;
TK_IMPORT_FORMATS(TK_IMPORT_DECLARE)
#undef TK_IMPORT_DECLARE

/* ---- sink ---------------------------------------------------------------------------------------------------- */

struct tk_import_sink {
	struct tk_store *store;                    /* within a transaction */
	const struct tk_import_options *options;
	const char *format;
	struct tk_import_counts counts;
};

/* ---- lines --------------------------------------------------------------------------------------------------- */

#define TK_IMPORT_LINE_MAX ((size_t)64 << 20)

struct tk_import_lines {
	const struct tk_import_file *file;
	struct tk_buf line;    /* the current one, without its end */
	size_t number;
	bool skip;             /* the current one is empty */
};

/* The next line; *more false at the end. Refuses what is longer than TK_IMPORT_LINE_MAX or has a NUL in it. */
int tk_import_line(struct tk_import_lines *l, bool *more, struct tk_error *err);

#endif
