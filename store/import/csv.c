/* The CSV of change-point tools. Long: a row is one point, `series_id,day,commit,value[,...]`.
 * Wide: a row is one time, and every column of numbers besides the time and the commit is a series.
 * Read twice: first the runs with their attributes, then the points. */
#include "base/csv.h"
#include "base/memory.h"
#include "base/try.h"
#include "store/import/import.h"
#include <errno.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Day 0 of a file that counts its days: 2000-01-01. */
#define DAY_ZERO 946684800
#define DAY 86400
#define TIME_MAX 253402300799 /* the end of the year 9999 */

enum role { SERIES, VALUE, TIME, COMMIT, UNIT, BETTER, EXTRA, WIDE, UNDECIDED };

static const struct {
	const char *heading;
	enum role role;
} known[] = {{"series_id", SERIES}, {"series", SERIES}, {"test", SERIES}, {"metric", SERIES},
        {"benchmark", SERIES}, {"name", SERIES}, {"value", VALUE}, {"measurement", VALUE},
        {"day", TIME}, {"date", TIME}, {"time", TIME}, {"timestamp", TIME}, {"datetime", TIME},
        {"commit", COMMIT}, {"revision", COMMIT}, {"rev", COMMIT}, {"sha", COMMIT},
        {"hash", COMMIT}, {"unit", UNIT}, {"better", BETTER}};

struct column {
	enum role role;
	char *heading;
};

struct node {
	int64_t time_s;
	json_t *attributes;
	size_t run;
	char rev[];
};

struct reader {
	const struct tk_import_file *file;
	struct tk_import_sink *sink;
	struct column *columns;
	size_t count;
	bool wide;
	void *tree; /* of struct node */
	struct node **nodes;
	size_t node_count, node_cap;
	bool second; /* the second reading */
};

static bool find_role(const char *heading, size_t len, enum role *role)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].heading) == len &&
		        !strncasecmp(known[i].heading, heading, len)) {
			*role = known[i].role;
			return true;
		}
	return false;
}

bool tk_import_is_csv(const struct tk_import_file *f)
{
	const char *p = f->head;
	size_t cells = 0;
	bool time = false;

	if (*p == '{' || *p == '[')
		return false;
	for (bool more = true; more; cells++) {
		bool quote = *p == '"';
		size_t len = strcspn(p += quote, quote ? "\"\r\n" : ",;\t\r\n");
		enum role role;

		time |= find_role(p, len, &role) && (role == TIME || role == COMMIT);
		p += len;
		p += quote && *p == '"';
		more = *p == ',' || *p == ';' || *p == '\t';
		p += more;
	}
	return time && cells > 1;
}

static int bad(const struct reader *r, size_t line, const char *field, const char *cell,
        const char *what, struct tk_error *err)
{
	return tk_fail(err, TK_EDATA, "%s:%zu: %s: \"%.40s\" is not %s", r->file->path, line, field,
	        cell, what);
}

/* ---- headings -------------------------------------------------------------------------------- */

static int read_headings(struct reader *r, const struct tk_csv *csv, struct tk_error *err)
{
	bool has[UNDECIDED + 1] = {0};

	r->columns = tk_calloc(csv->count, sizeof(*r->columns));
	for (size_t i = 0; i < csv->count; i++, r->count++) {
		enum role role = UNDECIDED;

		find_role(csv->fields[i], strlen(csv->fields[i]), &role);
		if (role != UNDECIDED && has[role])
			role = UNDECIDED;
		has[role] = true;
		r->columns[i] = (struct column){role, tk_strdup(csv->fields[i])};
	}
	if (!has[TIME] && !has[COMMIT])
		return tk_fail(err, TK_EDATA,
		        "%s:%zu: there is no column of times (day, date, time, timestamp) or "
		        "commits",
		        r->file->path, csv->line);
	r->wide = !has[VALUE];
	for (size_t i = 0; i < r->count; i++) {
		enum role *role = &r->columns[i].role;

		if (!r->wide && *role == UNDECIDED)
			*role = EXTRA;
		else if (r->wide && (*role == SERIES || *role == UNIT || *role == BETTER))
			*role = UNDECIDED;
	}
	return 0;
}

static bool is_number(const char *cell)
{
	char *end;

	strtod(cell, &end);
	return end != cell && !*end;
}

/* The first non-empty cell of a column decides what the column of a wide file is. */
static void decide(struct reader *r, const struct tk_csv *csv)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->columns[i].role == UNDECIDED && *csv->fields[i])
			r->columns[i].role = is_number(csv->fields[i]) ? WIDE : EXTRA;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static bool parse_time(const char *cell, int64_t *out)
{
	char *end;
	double x = strtod(cell, &end);

	if (end == cell || *end)
		return tk_import_parse_time(cell, out) && *out > -TIME_MAX && *out < TIME_MAX;
	if (!(fabs(x) < 1e17))
		return false;
	/* Days are few, seconds since 1970 more, then milliseconds, microseconds. */
	if (fabs(x) < 1e6)
		x = DAY_ZERO + x * DAY;
	else if (fabs(x) > 1e14)
		x /= 1e6;
	else if (fabs(x) > 1e11)
		x /= 1e3;
	*out = (int64_t)floor(x);
	return true;
}

static int node_order(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	if (x->time_s != y->time_s)
		return x->time_s < y->time_s ? -1 : 1;
	return strcmp(x->rev, y->rev);
}

/* The node of a time and a commit, a new one if there is none. */
static struct node *find_node(struct reader *r, int64_t time_s, const char *rev)
{
	struct node *n = tk_calloc(1, sizeof(*n) + strlen(rev) + 1), **found;

	n->time_s = time_s;
	strcpy(n->rev, rev);
	found = tk_check_memory(tsearch(n, &r->tree, node_order));
	if (*found != n) {
		free(n);
		return *found;
	}
	if (r->node_count == r->node_cap) {
		r->node_cap = r->node_cap ? r->node_cap * 2 : 256;
		r->nodes = tk_reallocarray(r->nodes, r->node_cap, sizeof(*r->nodes));
	}
	return r->nodes[r->node_count++] = n;
}

static int node_of(
        struct reader *r, const struct tk_csv *csv, struct node **out, struct tk_error *err)
{
	const char *rev = NULL;
	int64_t time_s = 0;

	for (size_t i = 0; i < r->count; i++) {
		if (r->columns[i].role != TIME)
			continue;
		if (!parse_time(csv->fields[i], &time_s))
			return bad(r, csv->line, r->columns[i].heading, csv->fields[i],
			        "a time or a number of days", err);
		rev = csv->fields[i];
	}
	for (size_t i = 0; i < r->count; i++)
		if (r->columns[i].role == COMMIT && *csv->fields[i])
			rev = csv->fields[i];
	*out = find_node(r, time_s, rev ? rev : "");
	return 0;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const char *cell_of(const struct reader *r, const struct tk_csv *csv, enum role role)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->columns[i].role == role)
			return csv->fields[i];
	return "";
}

/* The other columns of a row: attributes of the run in a wide file, of the point of a series in a
 * long one. */
static void keep_extra(struct reader *r, const struct tk_csv *csv, struct node *n)
{
	const char *series = cell_of(r, csv, SERIES);
	json_t *rest = NULL;

	for (size_t i = 0; i < r->count; i++)
		if (r->columns[i].role == EXTRA && *csv->fields[i]) {
			if (!rest)
				rest = json_object();
			json_object_set_new(
			        rest, r->columns[i].heading, json_string(csv->fields[i]));
		}
	if (!rest)
		return;
	if (!n->attributes)
		n->attributes = json_object();
	if (r->wide)
		json_object_update(n->attributes, rest);
	else
		tk_import_set_attribute(n->attributes, "series", series, json_incref(rest));
	json_decref(rest);
}

static int put_number(struct reader *r, const struct tk_csv *csv, size_t i, const char *name,
        const struct node *n, struct tk_error *err)
{
	const char *cell = csv->fields[i], *better = cell_of(r, csv, BETTER);
	struct tk_import_row p = TK_IMPORT_ROW(.name = name, .unit = cell_of(r, csv, UNIT));

	if (!*cell) {
		tk_import_count_missing(r->sink, name);
		return 0;
	}
	if (!is_number(cell))
		return bad(r, csv->line, r->columns[i].heading, cell, "a number", err);
	if (*better && strcmp(better, "lower") && strcmp(better, "higher"))
		return bad(r, csv->line, "better", better, "\"lower\" or \"higher\"", err);
	p.value = strtod(cell, NULL);
	p.better = *better ? better : NULL;
	return tk_import_point(r->sink, n->run, &p, err);
}

static int read_row(struct reader *r, const struct tk_csv *csv, struct tk_error *err)
{
	const char *name;
	struct node *n;

	if (csv->count != r->count)
		return tk_fail(err, TK_EDATA, "%s:%zu: %zu columns, the heading has %zu",
		        r->file->path, csv->line, csv->count, r->count);
	if (!r->second)
		decide(r, csv);
	TRY(node_of(r, csv, &n, err));
	if (!r->second) {
		keep_extra(r, csv, n);
		return 0;
	}
	name = cell_of(r, csv, SERIES);
	for (size_t i = 0; i < r->count; i++)
		if (r->columns[i].role == WIDE)
			TRY(put_number(r, csv, i, r->columns[i].heading, n, err));
		else if (r->columns[i].role == VALUE)
			TRY(put_number(r, csv, i, *name ? name : "value", n, err));
	return 0;
}

static int read_rows(struct reader *r, struct tk_error *err)
{
	struct tk_csv csv;
	bool more = false;
	int status;

	rewind(r->file->in);
	tk_csv_attach(&csv, r->file->in, r->file->path, TK_CSV_LENIENT);
	status = tk_csv_read_row(&csv, &more, err);
	if (!status && !r->second)
		status = read_headings(r, &csv, err);
	while (!status && !(status = tk_csv_read_row(&csv, &more, err)) && more)
		status = read_row(r, &csv, err);
	tk_csv_close(&csv);
	return status;
}

static int read_all(struct reader *r, struct tk_error *err)
{
	const struct tk_import_row place = {0};

	TRY(tk_import_place(r->sink, &place, err));
	TRY(read_rows(r, err));
	for (size_t i = 0; i < r->node_count; i++) {
		struct node *n = r->nodes[i];
		const struct tk_import_row c = {.rev = n->rev, .time_s = n->time_s};

		TRY(tk_import_add_run(r->sink, &c, n->attributes, &n->run, err));
	}
	r->second = true;
	return read_rows(r, err);
}

static void keep_node_memory(void *node)
{
	/* Freed through `nodes`. */
	(void)node;
}

int tk_import_read_csv(struct tk_import_file *f, struct tk_import_sink *sink, struct tk_error *err)
{
	struct reader r = {.file = f, .sink = sink};
	int status = read_all(&r, err);

	tdestroy(r.tree, keep_node_memory);
	for (size_t i = 0; i < r.node_count; i++) {
		json_decref(r.nodes[i]->attributes);
		free(r.nodes[i]);
	}
	for (size_t i = 0; i < r.count; i++)
		free(r.columns[i].heading);
	free(r.nodes);
	free(r.columns);
	return status;
}
