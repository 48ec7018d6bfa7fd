/* rocprofv3, AMD's profiler of ROCm: how it is called, and what it writes. No AMD device has run it
 * below this program yet.
 *
 * Options and files: https://rocm.docs.amd.com/projects/rocprofiler-sdk/en/latest/how-to/
 * using-rocprofv3.html. Counters: https://rocm.docs.amd.com/en/latest/conceptual/gpu-arch/
 * mi300-mi200-performance-counters.html, and those that are derived from others:
 * share/rocprofiler-sdk/counter_defs.yaml of an installation. */
#include "profile/profile.h"

#include "base/csv.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

/* The job of --pmc fails where a set of counters does not fit into one pass, or where the device
 * lacks one of them: each pass is a run of its own, and one that fails costs its counters only.
 * FETCH_SIZE and WRITE_SIZE need five of the four counters of a channel of the L2 cache. */
enum counter {
	FETCH_SIZE,
	WRITE_SIZE,
	L2_REQUESTS,
	L2_HITS,
	L2_MISSES,
	L1_ACCESSES,
	MFMA,
	OCCUPANCY,
	INSTRUCTIONS,
	WAIT,
	WAIT_ISSUE,
	COUNTERS
};
static const char *const counter_names[COUNTERS] = {"FETCH_SIZE", "WRITE_SIZE", "TCC_REQ_sum",
        "TCC_HIT_sum", "TCC_MISS_sum", "TCP_TOTAL_CACHE_ACCESSES_sum", "MfmaUtil",
        "OccupancyPercent", "SQ_INSTS", "SQ_WAIT_ANY", "SQ_WAIT_INST_ANY"};
static const struct {
	enum counter first;
	int count;
} passes[] = {{0, 0}, {FETCH_SIZE, 1}, {WRITE_SIZE, 1}, {L2_REQUESTS, 3}, {L1_ACCESSES, 1},
        {MFMA, 1}, {OCCUPANCY, 1}, {INSTRUCTIONS, 3}};
#define PASSES (sizeof passes / sizeof *passes)

/* Without --output-file a process that the program starts has files of its own. The markers' trace
 * loads the library that --selected-regions listens to. */
static void make_command(struct tk_profiler_command *out, const char *path, const char *folder,
        size_t pass, bool flush_caches)
{
	const char *const words[] = {path, "--selected-regions", "--marker-trace",
	        "--output-format", "csv", "--output-directory", out->output};
	size_t n = sizeof words / sizeof *words;
	static_assert(sizeof words + (COUNTERS + 3) * sizeof *words <= sizeof out->words,
	        "TK_PROFILER_WORDS_MAX is too small");
	snprintf(out->output, sizeof out->output, "%s/pass_%zu", folder, pass);
	memcpy(out->words, words, sizeof words);
	out->words[n++] = passes[pass].count ? "--pmc" : "--kernel-trace";
	for (int i = 0; i < passes[pass].count; i++)
		out->words[n++] = counter_names[(int)passes[pass].first + i];
	out->words[n++] = "--";
	out->words[n] = NULL;
}

/* The counters of a pass, separated by ", "; "": the first pass, which has none. */
static void format_counters(size_t pass, char *text, size_t size)
{
	struct tk_buf names = TK_BUF_INIT;
	for (int i = 0; i < passes[pass].count; i++)
		tk_buf_add_printf(
		        &names, "%s%s", i ? ", " : "", counter_names[(int)passes[pass].first + i]);
	snprintf(text, size, "%s", names.len ? tk_buf_cstr(&names) : "");
	tk_buf_free(&names);
}

/* ---- rows ---- */

/* Of a kernel's trace, or a counter of a kernel. */
struct row {
	uint64_t order; /* of the launches */
	char name[512];
	int counter;
	double value; /* of the counter; of a trace its duration */
	double registers, shared_bytes;
};

struct rows {
	struct row *at;
	size_t count;
};

struct columns {
	size_t name, order, counter, value, begin, end, registers, accumulators, shared;
};

static double parse_number(const struct tk_csv *csv, size_t column)
{
	char *end;
	if (column >= csv->count || !*csv->fields[column])
		return NAN;
	double value = strtod(csv->fields[column], &end);
	return !*end && isfinite(value) ? value : NAN;
}

static int parse_integer(
        const struct tk_csv *csv, size_t column, uint64_t *out, struct tk_error *err)
{
	const char *text = csv->fields[column];
	char *end;
	errno = 0;
	*out = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno)
		return tk_fail(err, TK_EDATA, "%s:%zu:%zu: \"%s\" is not a number", csv->path,
		        csv->line, column + 1, text);
	return TK_OK;
}

static int find_counter(const char *name)
{
	int i = 0;
	while (i < COUNTERS && strcmp(counter_names[i], name) != 0)
		i++;
	return i;
}

/* A timestamp in nanoseconds has more digits than a double. */
static int read_duration(
        const struct tk_csv *csv, const struct columns *c, double *out, struct tk_error *err)
{
	uint64_t begin = 0, end = 0;
	TRY(parse_integer(csv, c->begin, &begin, err));
	TRY(parse_integer(csv, c->end, &end, err));
	if (end < begin)
		return tk_fail(err, TK_EDATA, "%s:%zu:%zu: a kernel ends before it begins",
		        csv->path, csv->line, c->end + 1);
	*out = (double)(end - begin);
	return TK_OK;
}

static int add_row(struct rows *rows, const struct tk_csv *csv, const struct columns *c,
        bool is_trace, struct tk_error *err)
{
	rows->at = tk_reallocarray(rows->at, rows->count + 1, sizeof *rows->at);
	struct row *r = &rows->at[rows->count];
	*r = (struct row){.counter = is_trace ? 0 : find_counter(csv->fields[c->counter])};
	snprintf(r->name, sizeof r->name, "%s", csv->fields[c->name]);
	int status = parse_integer(csv, c->order, &r->order, err);
	if (!status && is_trace)
		status = read_duration(csv, c, &r->value, err);
	if (!is_trace) {
		r->value = parse_number(csv, c->value);
		r->registers = parse_number(csv, c->registers) + parse_number(csv, c->accumulators);
		r->shared_bytes = parse_number(csv, c->shared);
	}
	rows->count += !status && r->counter < COUNTERS;
	return status;
}

/* Older versions number no launches in a trace: their begin orders them. */
static int read_header(struct tk_csv *csv, struct columns *c, bool is_trace, struct tk_error *err)
{
	static const char *const traced[] = {
	        "Kernel_Name", "Start_Timestamp", "Start_Timestamp", "End_Timestamp", NULL};
	static const char *const counted[] = {
	        "Kernel_Name", "Dispatch_Id", "Counter_Name", "Counter_Value", NULL};
	size_t at[4];
	TRY(tk_csv_read_header(csv, is_trace ? traced : counted, at, err));
	*c = (struct columns){.name = at[0],
	        .order = at[1],
	        .counter = at[2],
	        .value = at[3],
	        .begin = at[2],
	        .end = at[3],
	        .registers = tk_csv_find_field(csv, "VGPR_Count"),
	        .accumulators = tk_csv_find_field(csv, "Accum_VGPR_Count"),
	        .shared = tk_csv_find_field(csv, "LDS_Block_Size")};
	return TK_OK;
}

static int read_file(const char *path, bool is_trace, struct rows *rows, struct tk_error *err)
{
	struct columns c;
	struct tk_csv csv;
	bool more = true;
	int status = tk_csv_open(&csv, path, err);
	if (!status)
		status = read_header(&csv, &c, is_trace, err);
	while (!status && !(status = tk_csv_read_row(&csv, &more, err)) && more)
		status = add_row(rows, &csv, &c, is_trace, err);
	tk_csv_close(&csv);
	return status;
}

/* ---- files of a pass ---- */

struct search {
	const char *folder, *suffix;
	bool is_trace;
	struct rows *rows;
};

static int visit(void *arg, const char *relative, const struct stat *st, struct tk_error *err)
{
	const struct search *s = arg;
	size_t length = strlen(relative), suffix = strlen(s->suffix);
	if (!S_ISREG(st->st_mode) || length < suffix ||
	        strcmp(relative + length - suffix, s->suffix) != 0)
		return TK_OK;
	AUTO_TEXT path = tk_path_join(s->folder, relative);
	return read_file(path, s->is_trace, s->rows, err);
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return (x->counter > y->counter) - (x->counter < y->counter);
}

/* By launch. "./HOST/PID_kernel_trace.csv", without the host where a version leaves that out. */
static int read_pass(const char *folder, size_t pass, struct rows *rows, struct tk_error *err)
{
	char path[PATH_MAX];
	bool is_trace = passes[pass].count == 0;
	struct search s = {.folder = path,
	        .suffix = is_trace ? "kernel_trace.csv" : "counter_collection.csv",
	        .is_trace = is_trace,
	        .rows = rows};
	snprintf(path, sizeof path, "%s/pass_%zu", folder, pass);
	TRY(tk_dir_exists(path) ? tk_dir_walk(path, visit, &s, err) : TK_OK);
	tk_sort(rows->at, rows->count, sizeof *rows->at, compare_rows);
	return TK_OK;
}

/* ---- kernels ---- */

static int add_kernels(const struct rows *rows, struct tk_profile *out, struct tk_error *err)
{
	if (!rows->count)
		return tk_fail(err, TK_EDATA,
		        "rocprofv3 recorded no kernel; it needs --selected-regions (ROCm 7) and "
		        "its library librocprofiler-sdk-roctx.so");
	out->kernels = tk_calloc(rows->count, sizeof *out->kernels);
	out->count = rows->count;
	for (size_t i = 0; i < rows->count; i++) {
		struct tk_profile_kernel *k = &out->kernels[i];
		*k = (struct tk_profile_kernel){.time_ns = rows->at[i].value,
		        .bytes = {NAN, NAN, NAN},
		        .tensor_share = NAN,
		        .occupancy = NAN,
		        .occupancy_limit = NAN,
		        .l2_hit_share = NAN,
		        .registers = NAN,
		        .shared_bytes = NAN};
		snprintf(k->name, sizeof k->name, "%s", rows->at[i].name);
	}
	return TK_OK;
}

static int fail_different(size_t pass, const char *what, struct tk_error *err)
{
	char counters[256];
	format_counters(pass, counters, sizeof counters);
	return tk_fail(err, TK_EDATA,
	        "rocprofv3 recorded %s in the pass of %s than in its trace; the kernel must launch "
	        "the same in each run",
	        what, counters);
}

/* values[kernel][counter] of the rows of a pass, which are in the order of their launches. */
static int place_values(const struct rows *rows, size_t pass, struct tk_profile *out,
        double (*values)[COUNTERS], struct tk_error *err)
{
	size_t kernel = 0;
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *r = &rows->at[i];
		if (i && r->order != r[-1].order)
			kernel++;
		else if (i && r->counter == r[-1].counter)
			return tk_fail(err, TK_EDATA,
			        "rocprofv3 recorded %s twice for launch %llu, expected its sum",
			        counter_names[r->counter], (unsigned long long)r->order);
		if (kernel >= out->count)
			return fail_different(pass, "more kernels", err);
		if (strcmp(r->name, out->kernels[kernel].name) != 0)
			return fail_different(pass, "other kernels", err);
		values[kernel][r->counter] = r->value;
		out->kernels[kernel].registers = r->registers;
		out->kernels[kernel].shared_bytes = r->shared_bytes;
	}
	return kernel + 1 < out->count ? fail_different(pass, "fewer kernels", err) : TK_OK;
}

static void add_stall(struct tk_profile_kernel *k, const char *reason, double cycles)
{
	struct tk_profile_stall *stall = &k->stalls[k->stall_count];
	if (!(cycles > 0) || !isfinite(cycles))
		return;
	stall->cycles = cycles;
	snprintf(stall->reason, sizeof stall->reason, "%s", reason);
	k->stall_count++;
}

/* Bytes of a line, of which each access counts as a whole, as ROCm Compute Profiler counts:
 * https://rocm.docs.amd.com/projects/rocprofiler-compute/en/latest/conceptual/
 * system-speed-of-light.html. NAN: unknown. */
static double line_bytes(const char *arch, enum tk_profile_memory memory)
{
	if (strcmp(arch, "gfx90a") == 0)
		return memory == TK_PROFILE_L2 ? 128 : 64;
	if (strcmp(arch, "gfx942") == 0 || strcmp(arch, "gfx950") == 0)
		return 128;
	return NAN;
}

/* FETCH_SIZE and WRITE_SIZE are in KiB; what waves wait is counted in units of four cycles.
 * SQ_WAIT_ANY: for memory or a barrier; SQ_WAIT_INST_ANY: for their turn to issue. */
static void set_figures(const double v[COUNTERS], const char *arch, struct tk_profile_kernel *k)
{
	k->bytes[TK_PROFILE_DRAM] = (v[FETCH_SIZE] + v[WRITE_SIZE]) * 1024;
	k->bytes[TK_PROFILE_L2] = v[L2_REQUESTS] * line_bytes(arch, TK_PROFILE_L2);
	k->bytes[TK_PROFILE_L1] = v[L1_ACCESSES] * line_bytes(arch, TK_PROFILE_L1);
	k->l2_hit_share = v[L2_HITS] / (v[L2_HITS] + v[L2_MISSES]);
	k->tensor_share = v[MFMA] / 100;
	k->occupancy = v[OCCUPANCY] / 100;
	add_stall(k, "memory or barrier", 4 * v[WAIT] / v[INSTRUCTIONS]);
	add_stall(k, "issue", 4 * v[WAIT_ISSUE] / v[INSTRUCTIONS]);
	tk_profile_sort_stalls(k);
}

static void note_missing(struct tk_profile *out, size_t pass)
{
	size_t length = strlen(out->missing);
	if (length)
		length +=
		        (size_t)snprintf(out->missing + length, sizeof out->missing - length, ", ");
	format_counters(pass, out->missing + length, sizeof out->missing - length);
}

static int read_counters(const char *folder, struct tk_profile *out, double (*values)[COUNTERS],
        struct tk_error *err)
{
	int status = TK_OK;
	size_t recorded = 0;
	for (size_t pass = 1; !status && pass < PASSES; pass++) {
		struct rows rows = {0};
		status = read_pass(folder, pass, &rows, err);
		if (!status && rows.count)
			status = place_values(&rows, pass, out, values, err);
		else if (!status)
			note_missing(out, pass);
		recorded += rows.count > 0;
		free(rows.at);
	}
	if (!status && !recorded)
		status = tk_fail(err, TK_EDATA,
		        "rocprofv3 recorded the kernels, but none of their counters: %s",
		        out->missing);
	return status;
}

static int read_folder(
        const char *folder, const char *arch, struct tk_profile *out, struct tk_error *err)
{
	struct rows rows = {0};
	*out = (struct tk_profile){0};
	int status = read_pass(folder, 0, &rows, err);
	if (!status)
		status = add_kernels(&rows, out, err);
	free(rows.at);
	double(*values)[COUNTERS] = tk_calloc(out->count + 1, sizeof *values);
	for (size_t i = 0; i < out->count * COUNTERS; i++)
		values[i / COUNTERS][i % COUNTERS] = NAN;
	if (!status)
		status = read_counters(folder, out, values, err);
	for (size_t i = 0; !status && i < out->count; i++)
		set_figures(values[i], arch, &out->kernels[i]);
	free(values);
	if (status)
		tk_profile_free(out);
	return status;
}

const struct tk_profiler tk_profiler_rocprofv3 = {.name = "rocprofv3",
        .product = "ROCprofiler-SDK",
        .toolkit = "ROCm",
        .installed = "/opt/rocm/bin/rocprofv3",
        .passes = PASSES,
        .make_command = make_command,
        .read = read_folder};
