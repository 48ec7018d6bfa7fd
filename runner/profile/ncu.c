/* Nsight Compute (`ncu`), NVIDIA's profiler of kernels: how it is called, and what it writes.
 * https://docs.nvidia.com/nsight-compute/NsightComputeCli */
#include "profile/profile.h"

#include "base/csv.h"

#include <assert.h>
#include <math.h>
#include <unistd.h>

#define LOG "ncu.csv"
#define LOG_MAX_BYTES ((size_t)64 << 20)

#define TIME "gpu__time_duration.sum"
#define DRAM_READ "dram__bytes_read.sum"
#define DRAM_WRITE "dram__bytes_write.sum"
#define L2 "lts__t_bytes.sum"
#define L1 "l1tex__t_bytes.sum"
#define L2_HITS "lts__t_sector_hit_rate.pct"
#define TENSOR "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"
#define OCCUPANCY "sm__warps_active.avg.pct_of_peak_sustained_active"
#define OCCUPANCY_LIMIT "sm__maximum_warps_per_active_cycle_pct"
#define REGISTERS "launch__registers_per_thread"
#define SHARED "launch__shared_mem_per_block"
#define STALL_PREFIX "smsp__average_warps_issue_stalled_"
#define STALL_SUFFIX "_per_issue_active.ratio"

static void make_command(struct tk_profiler_command *out, const char *path, const char *folder,
        size_t pass, bool flush_caches)
{
	snprintf(out->output, sizeof out->output, "%s/" LOG, folder);
	/* The stalls differ from chip to chip: their section names them. */
	const char *const words[] = {path, "--profile-from-start", "off", "--target-processes",
	        "application-only", "--clock-control", "none", "--cache-control",
	        flush_caches ? "all" : "none", "--section", "WarpStateStats", "--metrics",
	        TIME "," DRAM_READ "," DRAM_WRITE "," L2 "," L1 "," L2_HITS "," TENSOR "," OCCUPANCY
	             "," OCCUPANCY_LIMIT "," REGISTERS "," SHARED,
	        "--csv", "--page", "raw", "--print-units", "base", "--force-overwrite",
	        "--log-file", out->output, NULL};
	static_assert(sizeof words <= sizeof out->words, "TK_PROFILER_WORDS_MAX is too small");
	memcpy(out->words, words, sizeof words);
}

/* Messages between the rows begin with "==". Keeps the last error; the rows stay. */
static void split_messages(char *text, char *error, size_t size)
{
	static const char mark[] = "==ERROR== ";
	char *to = text;
	for (char *line = text, *next; *line; line = next) {
		next = strchr(line, '\n');
		next = next ? next + 1 : line + strlen(line);
		if (strncmp(line, mark, sizeof mark - 1) == 0)
			snprintf(error, size, "%.*s", (int)strcspn(line + sizeof mark - 1, "\r\n"),
			        line + sizeof mark - 1);
		if (strncmp(line, "==", 2) == 0)
			continue;
		memmove(to, line, (size_t)(next - line));
		to += next - line;
	}
	*to = '\0';
}

/* Numbers have separators between the thousands. NAN: empty or not a number. */
static double parse_number(const char *text)
{
	char digits[64], *end;
	size_t n = 0;
	for (; *text && n + 1 < sizeof digits; text++)
		if (*text != ',')
			digits[n++] = *text;
	digits[n] = '\0';
	double value = strtod(digits, &end);
	return n && !*text && !*end && isfinite(value) ? value : NAN;
}

/* The columns of the rows; the number of columns where there is none. */
struct columns {
	size_t name, time, dram_read, dram_write, l2, l1, l2_hits, tensor, occupancy,
	        occupancy_limit, registers, shared;
	struct {
		size_t column;
		char reason[48];
	} stalls[TK_PROFILE_STALLS_MAX];
	size_t stall_count;
};

/* "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio": "long scoreboard".
 * "selected" is the instruction that was issued, and no stall. */
static bool find_reason(const char *heading, char *reason, size_t size)
{
	size_t prefix = strlen(STALL_PREFIX), length = strlen(heading);
	size_t suffix = strlen(STALL_SUFFIX);
	if (length <= prefix + suffix || strncmp(heading, STALL_PREFIX, prefix) != 0 ||
	        strcmp(heading + length - suffix, STALL_SUFFIX) != 0)
		return false;
	snprintf(reason, size, "%.*s", (int)(length - prefix - suffix), heading + prefix);
	for (char *c = reason; *c; c++)
		if (*c == '_')
			*c = ' ';
	return strcmp(reason, "selected") != 0;
}

static void find_columns(const struct tk_csv *csv, struct columns *c)
{
	*c = (struct columns){.name = tk_csv_find_field(csv, "Kernel Name"),
	        .time = tk_csv_find_field(csv, TIME),
	        .dram_read = tk_csv_find_field(csv, DRAM_READ),
	        .dram_write = tk_csv_find_field(csv, DRAM_WRITE),
	        .l2 = tk_csv_find_field(csv, L2),
	        .l1 = tk_csv_find_field(csv, L1),
	        .l2_hits = tk_csv_find_field(csv, L2_HITS),
	        .tensor = tk_csv_find_field(csv, TENSOR),
	        .occupancy = tk_csv_find_field(csv, OCCUPANCY),
	        .occupancy_limit = tk_csv_find_field(csv, OCCUPANCY_LIMIT),
	        .registers = tk_csv_find_field(csv, REGISTERS),
	        .shared = tk_csv_find_field(csv, SHARED)};
	for (size_t i = 0; i < csv->count && c->stall_count < TK_PROFILE_STALLS_MAX; i++)
		if (find_reason(csv->fields[i], c->stalls[c->stall_count].reason,
		            sizeof c->stalls[0].reason))
			c->stalls[c->stall_count++].column = i;
}

static double get_number(const struct tk_csv *csv, size_t column)
{
	return column < csv->count ? parse_number(csv->fields[column]) : NAN;
}

static void read_kernel(
        const struct tk_csv *csv, const struct columns *c, struct tk_profile_kernel *k)
{
	*k = (struct tk_profile_kernel){.time_ns = get_number(csv, c->time),
	        .bytes[TK_PROFILE_DRAM] =
	                get_number(csv, c->dram_read) + get_number(csv, c->dram_write),
	        .bytes[TK_PROFILE_L2] = get_number(csv, c->l2),
	        .bytes[TK_PROFILE_L1] = get_number(csv, c->l1),
	        .tensor_share = get_number(csv, c->tensor) / 100,
	        .occupancy = get_number(csv, c->occupancy) / 100,
	        .occupancy_limit = get_number(csv, c->occupancy_limit) / 100,
	        .l2_hit_share = get_number(csv, c->l2_hits) / 100,
	        .registers = get_number(csv, c->registers),
	        .shared_bytes = get_number(csv, c->shared)};
	snprintf(k->name, sizeof k->name, "%s", csv->fields[c->name]);
	for (size_t i = 0; i < c->stall_count; i++) {
		struct tk_profile_stall *stall = &k->stalls[k->stall_count];
		stall->cycles = get_number(csv, c->stalls[i].column);
		snprintf(stall->reason, sizeof stall->reason, "%s", c->stalls[i].reason);
		k->stall_count += stall->cycles > 0;
	}
	tk_profile_sort_stalls(k);
}

/* A heading, a row of units, and a row for each kernel. */
static int read_rows(FILE *in, const char *path, struct tk_profile *out, struct tk_error *err)
{
	static const char *const required[] = {"ID", "Kernel Name", TIME, NULL};
	size_t found[3];
	struct columns c;
	struct tk_csv csv;
	bool more = true;
	tk_csv_attach(&csv, in, path);
	int status = tk_csv_read_header(&csv, required, found, err);
	if (!status) {
		find_columns(&csv, &c);
		status = tk_csv_read_row(&csv, &more, err);
	}
	while (!status && more && !(status = tk_csv_read_row(&csv, &more, err)) && more) {
		out->kernels = tk_reallocarray(out->kernels, out->count + 1, sizeof *out->kernels);
		read_kernel(&csv, &c, &out->kernels[out->count++]);
	}
	tk_csv_close(&csv);
	return status;
}

static int fail_empty(const char *error, struct tk_error *err)
{
	if (strstr(error, "ERR_NVGPUCTRPERM"))
		return tk_fail(err, TK_EIO,
		        "this user may not read the device's counters: an administrator can allow "
		        "it (https://developer.nvidia.com/ERR_NVGPUCTRPERM)");
	return tk_fail(err, TK_EDATA, "ncu recorded no kernel%s%s", *error ? ": " : "", error);
}

static int read_log(
        const char *folder, const char *arch, struct tk_profile *out, struct tk_error *err)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	AUTO_TEXT path = tk_path_join(folder, LOG);
	char error[512] = "";
	*out = (struct tk_profile){0};
	TRY(tk_file_read(path, LOG_MAX_BYTES, &text, err));
	if (text.len)
		split_messages(text.data, error, sizeof error);
	const size_t length = strlen(tk_buf_cstr(&text));
	FILE *in = length ? fmemopen(text.data, length, "r") : NULL;
	int status = in ? read_rows(in, path, out, err) : TK_OK;
	if (in)
		fclose(in);
	if (!status && out->count == 0)
		status = fail_empty(error, err);
	if (status)
		tk_profile_free(out);
	return status;
}

const struct tk_profiler tk_profiler_ncu = {.name = "ncu",
        .product = "Nsight Compute",
        .toolkit = "the CUDA Toolkit",
        .installed = "/usr/local/cuda/bin/ncu",
        .passes = 1,
        .flushes_caches = true,
        .make_command = make_command,
        .read = read_log};
