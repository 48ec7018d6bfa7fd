/* CSV of GEMM benchmark suites: columns of the problem (M, N, K, types, layouts, kernel), then what
 * was measured: time, GFLOPS, GB/s. Every column that is not a measurement names the series, so
 * that two rows are never merged. The columns of the CUTLASS profiler and of the BLAS benches are
 * known. */
#include "base/csv.h"
#include "base/memory.h"
#include "base/try.h"
#include "store/import/import.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* `end` matches every heading with this ending ("rocblas-Gflops"). */
static const struct {
	const char *heading;
	bool end;
	const char *metric, *unit;
} columns[] = {{"us", false, "time", "us"}, {"usec", false, "time", "us"},
        {"time (usec)", false, "time", "us"}, {"time_us", false, "time", "us"},
        {"latency_us", false, "time", "us"}, {"latency_ms", false, "time", "ms"},
        {"time_ms", false, "time", "ms"}, {"ms", false, "time", "ms"},
        {"time (ms)", false, "time", "ms"}, {"runtime", false, "time", "ms"},
        {"latency", false, "time", "ms"}, {"time_ns", false, "time", "ns"},
        {"time_s", false, "time", "s"}, {"gb/s", true, "bandwidth", "GB/s"},
        {"gbps", true, "bandwidth", "GB/s"}, {"tflops", true, "flops", "TFLOPS"},
        {"tflop/s", true, "flops", "TFLOPS"}, {"gflops", true, "flops", "GFLOPS"},
        {"gflop/s", true, "flops", "GFLOPS"}, {"compilation_time", false, "compile_time", "s"}};

enum role { NAMES, MEASURES, FAILED_IF_NOT_OK, DEVICE, LEFT_OUT };

struct column {
	enum role role;
	size_t measure;
	char *heading;
};

struct reader {
	const struct tk_import_file *file;
	struct tk_import_sink *sink;
	struct column *columns;
	size_t count;
	struct tk_buf name;
};

static size_t measure_of(const char *heading)
{
	size_t i = 0;

	for (; i < sizeof(columns) / sizeof(columns[0]); i++) {
		size_t a = strlen(heading), b = strlen(columns[i].heading);

		if (columns[i].end ? a >= b && !strcasecmp(heading + a - b, columns[i].heading)
		                   : !strcasecmp(heading, columns[i].heading))
			break;
	}
	return i;
}

bool tk_import_is_gemm_csv(const struct tk_import_file *f)
{
	const char *end = f->head + strcspn(f->head, "\r\n"), *p = f->head;
	bool measures = false, problem = false;

	if (strchr("{[<\"", f->head[strspn(f->head, " \t\r\n")]) || end == f->head + f->head_len)
		return false;
	while (p < end) {
		size_t len = strcspn(p, ",;\t\r\n");
		char word[64];

		snprintf(word, sizeof(word), "%.*s", (int)(len < 60 ? len : 60), p);
		measures |= measure_of(word) < sizeof(columns) / sizeof(columns[0]);
		problem |= !strcasecmp(word, "m") || !strcasecmp(word, "n") ||
		           !strcasecmp(word, "k") || !strcasecmp(word, "problem_size") ||
		           !strcasecmp(word, "kernel");
		p += len + 1;
	}
	return measures && problem;
}

static enum role role_of(const char *heading, size_t *measure)
{
	*measure = measure_of(heading);
	if (*measure < sizeof(columns) / sizeof(columns[0]))
		return MEASURES;
	if (!strcasecmp(heading, "status") || !strcasecmp(heading, "disposition"))
		return FAILED_IF_NOT_OK;
	if (!strcasecmp(heading, "gpu_model") || !strcasecmp(heading, "device") ||
	        !strcasecmp(heading, "gpu"))
		return DEVICE;
	/* Numbers of rows, and what follows from the others. */
	if (!strcasecmp(heading, "problem") || !strcasecmp(heading, "bytes") ||
	        !strcasecmp(heading, "flops") || !strcasecmp(heading, "flops/byte") || !*heading)
		return LEFT_OUT;
	return NAMES;
}

static void read_headings(struct reader *r, const struct tk_csv *csv)
{
	r->columns = tk_calloc(csv->count, sizeof(*r->columns));
	for (size_t i = 0; i < csv->count; i++, r->count++) {
		r->columns[i].role = role_of(csv->fields[i], &r->columns[i].measure);
		r->columns[i].heading = tk_strdup(csv->fields[i]);
	}
}

/* What a status says. */
static bool is_failure(const char *cell)
{
	return !strcasestr(cell, "success") && !strcasestr(cell, "pass") &&
	       !strcasestr(cell, "not_verified") && !strcasestr(cell, "not_run") &&
	       strcasecmp(cell, "ok");
}

static int put_row(struct reader *r, const struct tk_csv *csv, struct tk_error *err)
{
	tk_buf_clear(&r->name);
	for (size_t i = 0; i < r->count; i++) {
		const struct column *c = &r->columns[i];
		const char *cell = csv->fields[i];
		const struct tk_import_row place = {.device = cell};

		if (c->role == FAILED_IF_NOT_OK && is_failure(cell)) {
			tk_import_count_missing(r->sink, tk_buf_cstr(&r->name));
			return 0;
		}
		if (c->role == DEVICE)
			TRY(tk_import_place(r->sink, &place, err));
		else if (c->role == NAMES && *cell)
			tk_buf_add_printf(
			        &r->name, "%s%s=%s", r->name.len ? " " : "", c->heading, cell);
	}
	for (size_t i = 0; i < r->count; i++) {
		const char *cell = csv->fields[i];
		char *end;

		if (r->columns[i].role != MEASURES || !*cell)
			continue;
		struct tk_import_row p = TK_IMPORT_ROW(.name = r->name.len ? r->name.data : "gemm",
		        .unit = columns[r->columns[i].measure].unit,
		        .metric = columns[r->columns[i].measure].metric);

		p.value = strtod(cell, &end);
		if (end == cell || *end)
			return tk_fail(err, TK_EDATA, "%s:%zu: %s: \"%.40s\" is not a number",
			        r->file->path, csv->line, r->columns[i].heading, cell);
		TRY(tk_import_point(r->sink, 0, &p, err));
	}
	return 0;
}

static int read_rows(struct reader *r, struct tk_csv *csv, struct tk_error *err)
{
	const struct tk_import_row c = TK_IMPORT_ROW(.rev = r->sink->request->rev);
	const struct tk_import_row place = {0};
	bool more = false;

	TRY(tk_import_place(r->sink, &place, err));
	TRY(tk_csv_read_row(csv, &more, err));
	read_headings(r, csv);
	for (;;) {
		TRY(tk_csv_read_row(csv, &more, err));
		if (!more)
			return tk_import_add_run(r->sink, &c, NULL, NULL, err);
		if (csv->count != r->count)
			return tk_fail(err, TK_EDATA, "%s:%zu: %zu columns, the heading has %zu",
			        r->file->path, csv->line, csv->count, r->count);
		TRY(put_row(r, csv, err));
	}
}

int tk_import_read_gemm_csv(
        struct tk_import_file *f, struct tk_import_sink *sink, struct tk_error *err)
{
	struct tk_csv csv;
	struct reader r = {.file = f, .sink = sink};

	tk_csv_attach(&csv, f->in, f->path, TK_CSV_LENIENT);
	int status = read_rows(&r, &csv, err);

	for (size_t i = 0; i < r.count; i++)
		free(r.columns[i].heading);
	free(r.columns);
	tk_buf_free(&r.name);
	tk_csv_close(&csv);
	return status;
}
