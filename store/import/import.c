/* Imports files: finds the format of each, and imports all of them or none. */
#include "store/import/import.h"
#include "base/base.h"
#include <errno.h>
#include <fnmatch.h>
#include <sys/stat.h>

#define HEAD_SIZE 65536
#define PIPE_MAX_BYTES (1 << 30)

/* A document is of a format if its head has all words of one of the alternatives ("|"), and none
 * of those behind a "!"; CSV, if each of these lists has a pattern for one of its headings. Formats
 * are tried in this order. */
static const struct {
	const char *name, *what, *words, *headings[2];
	const unsigned char *sql; /* what reads it; NULL: `read` */
	int (*read)(struct tk_import_sink *sink, struct tk_error *err);
} formats[] = {{"tracker", "what `tracker export --format=ndjson` writes",
                       "{\"format\": \"device\":", .read = tk_import_read_tracker},
        {"asv", "airspeed velocity: results/MACHINE/*.json, or the folder",
                "\"commit_hash\" \"results\"|\"commit_hash\" \"env_name\"",
                .read = tk_import_read_asv},
        {"github-action", "github-action-benchmark: data.js",
                "\"entries\" BENCHMARK_DATA|\"entries\" \"benches\"", .sql = tk_github_action_sql},
        {"google-benchmark", "Google Benchmark: --benchmark_format=json",
                "\"benchmarks\" \"context\" !\"commit_info\"", .sql = tk_google_benchmark_sql},
        {"nvbench", "NVBench: --json", "\"nvbench\"|\"benchmarks\" \"sm_version\"",
                .sql = tk_nvbench_sql},
        {"pytest-benchmark", "pytest-benchmark: --benchmark-json",
                "\"machine_info\" \"commit_info\"|\"machine_info\" \"benchmarks\"",
                .sql = tk_pytest_benchmark_sql},
        {"hyperfine", "hyperfine: --export-json", "\"results\" \"command\" \"mean\"",
                .sql = tk_hyperfine_sql},
        {"kernels", "GPU kernel results (JSON): kernel, latency_ms, ...",
                "\"kernel\" \"latency|\"kernel\" \"tflops\"|\"kernel\" \"problem_size\"",
                .sql = tk_kernels_sql},
        {"gemm-csv", "GEMM suites: problem columns, then time, GFLOPS, GB/s",
                .headings = {"m|n|k|problem_size|kernel",
                        "us|usec|time (us*|time_*|latency*|ms|time (ms)|runtime|*gb/s|*gbps|"
                        "*tflops|*tflop/s|*gflops|*gflop/s|compilation_time"},
                .sql = tk_gemm_csv_sql},
        {"csv", "series_id,day,commit,value, or time and a column each",
                .headings = {"day|date|time|timestamp|datetime|commit|revision|rev|sha|hash", "*"},
                .sql = tk_csv_sql}};
#define FORMAT_COUNT (sizeof(formats) / sizeof(formats[0]))

const char *tk_import_get_format_name(size_t i, const char **what)
{
	if (i >= FORMAT_COUNT)
		return NULL;
	if (what)
		*what = formats[i].what;
	return formats[i].name;
}

static size_t format_named(const char *name)
{
	size_t i = 0;

	while (i < FORMAT_COUNT && strcmp(formats[i].name, name))
		i++;
	return i;
}

static bool has_words(const struct tk_import_file *f, const char *words)
{
	bool has = true;

	for (const char *end; *words; words = end + (*end == ' ')) {
		const bool is_wanted = *words != '!';

		words += !is_wanted;
		end = words + strcspn(words, " |");
		has &= !memmem(f->head, f->head_len, words, (size_t)(end - words)) != is_wanted;
		if (*end != '|')
			continue;
		if (has)
			return true;
		has = true;
		end++;
	}
	return has;
}

static bool matches(const char *heading, const char *patterns)
{
	for (const char *end; *patterns; patterns = end + (*end == '|')) {
		end = strchrnul(patterns, '|');
		AUTO_TEXT pattern = tk_strndup(patterns, (size_t)(end - patterns));

		if (!fnmatch(pattern, heading, FNM_CASEFOLD))
			return true;
	}
	return false;
}

/* How many of the headings in the first line match one of the patterns; count: of all. */
static size_t count_headings(const char *line, const char *patterns, size_t *count)
{
	size_t found = 0;

	*count = 0;
	for (size_t len; *line && *line != '\r' && *line != '\n'; ++*count) {
		const bool is_quoted = *line == '"';

		line += is_quoted;
		len = strcspn(line, is_quoted ? "\"\r\n" : ",;\t\r\n");
		AUTO_TEXT heading = tk_strndup(line, len);

		found += matches(heading, patterns);
		line += len + (is_quoted && line[len] == '"');
		line += *line == ',' || *line == ';' || *line == '\t';
	}
	return found;
}

static bool is_of_format(const struct tk_import_file *f, size_t format)
{
	const char *const *headings = formats[format].headings;
	size_t count;

	if (formats[format].words)
		return has_words(f, formats[format].words);
	return !strchr("{[<", f->head[strspn(f->head, " \t\r\n")]) &&
	       count_headings(f->head, headings[0], &count) &&
	       count_headings(f->head, headings[1], &count) && count > 1;
}

/* FORMAT_COUNT: it is of none. */
static size_t guess_format(const struct tk_import_file *f)
{
	size_t i = 0;

	while (i < FORMAT_COUNT && !is_of_format(f, i))
		i++;
	return i;
}

int64_t tk_import_get_file_time(const struct tk_import_sink *sink)
{
	struct stat st;

	if (sink->request->at_s)
		return sink->request->at_s;
	return fstat(fileno(sink->file->in), &st) == 0 ? (int64_t)st.st_mtim.tv_sec : 0;
}

/* An endless input must not fill the disk. */
static int copy_to_end(FILE *in, FILE *copy, const char *path, struct tk_error *err)
{
	char block[65536];
	uint64_t size = 0;

	for (size_t n; (n = fread(block, 1, sizeof(block), in)) > 0; size += n) {
		if (size + n > PIPE_MAX_BYTES)
			return tk_fail(err, TK_EDATA,
			        "%s: has more than %d MiB, the most that is read from a pipe or a "
			        "device; import a file",
			        path, PIPE_MAX_BYTES >> 20);
		if (fwrite(block, 1, n, copy) != n)
			break;
	}
	return ferror(in) || fflush(copy) || ferror(copy)
	               ? tk_fail_errno(err, "%s: cannot be copied", path)
	               : 0;
}

/* Input that cannot be rewound (a pipe) is first copied to an unnamed file. */
static int open_file(const char *path, FILE **out, struct tk_error *err)
{
	FILE *in = fopen(path, "re"), *copy;
	struct stat st;

	if (!in)
		return tk_fail_errno(err, "%s", path);
	if (fstat(fileno(in), &st) == 0 && S_ISREG(st.st_mode)) {
		*out = in;
		return 0;
	}
	if (S_ISDIR(st.st_mode)) {
		fclose(in);
		return tk_fail(err, TK_EUSAGE, "%s: is a folder", path);
	}
	copy = tmpfile();
	int status = copy ? copy_to_end(in, copy, path, err)
	                  : tk_fail_errno(err, "%s: cannot be copied", path);

	fclose(in);
	if (status) {
		if (copy)
			fclose(copy);
		return status;
	}
	rewind(copy);
	*out = copy;
	return 0;
}

static int read_head(struct tk_import_file *f, char *head, struct tk_error *err)
{
	f->head_len = fread(head, 1, HEAD_SIZE, f->in);
	if (ferror(f->in))
		return tk_fail_errno(err, "%s", f->path);
	head[f->head_len] = '\0';
	f->head = head;
	rewind(f->in);
	if (!strncmp(head, TK_IMPORT_BYTE_ORDER_MARK, 3)) {
		f->head += 3;
		f->head_len -= 3;
	}
	return f->head_len ? 0 : tk_fail(err, TK_EDATA, "%s: is empty", f->path);
}

static int fail_unknown(const char *path, struct tk_error *err)
{
	AUTO(tk_buf) known = {0};

	for (size_t i = 0; i < FORMAT_COUNT; i++)
		tk_buf_add_printf(&known, "%s%s", i ? ", " : "", formats[i].name);
	return tk_fail(err, TK_EDATA, "%s: its format cannot be guessed; name it: %s", path,
	        tk_buf_cstr(&known));
}

/* Beside the results of asv there are files without any. */
static bool is_beside_results(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	return !strcmp(base, "machine.json") || !strcmp(base, "benchmarks.json") ||
	       !strcmp(base, "asv.conf.json");
}

/* The file had no results. If it has the format, it is a run that measured nothing: it is skipped
 * and reported. Anything else is probably not the file that the user meant. */
static int empty_file(struct tk_import_sink *sink, size_t format, struct tk_error *err)
{
	size_t like = guess_format(sink->file);

	if (like == format) {
		if (!sink->counts.empty++)
			snprintf(sink->counts.first_empty, sizeof(sink->counts.first_empty), "%s",
			        sink->file->path);
		return 0;
	}
	return tk_fail(err, TK_EDATA, "%s: no results of the format %s in it%s%s", sink->file->path,
	        formats[format].name, like < FORMAT_COUNT ? "; it looks like " : "",
	        like < FORMAT_COUNT ? formats[like].name : "");
}

/* A file without results leaves nothing behind: neither a night nor the machine that it names. */
static int read_results(struct tk_import_sink *sink, size_t format, struct tk_error *err)
{
	const struct tk_import_counts before = sink->counts;
	const int64_t results = sink->results;

	sink->format = formats[format].name;
	TRY(tk_db_exec(sink->store, "SAVEPOINT import_file", err));
	TRY(formats[format].sql ? tk_import_read_document(
	                                  sink, formats[format].sql, !formats[format].words, err)
	                        : formats[format].read(sink, err));
	if (sink->results == results) {
		TRY(tk_db_exec(sink->store, "ROLLBACK TO import_file", err));
		sink->counts = before;
		TRY(empty_file(sink, format, err));
	}
	sink->counts.files++;
	return tk_db_exec(sink->store, "RELEASE import_file", err);
}

static int import_open_file(
        struct tk_import_sink *sink, struct tk_import_file *f, char *head, struct tk_error *err)
{
	const char *name = sink->request->format;

	TRY(read_head(f, head, err));
	size_t guess = guess_format(f), format = name ? format_named(name) : guess;

	if (is_beside_results(f->path) && guess == FORMAT_COUNT &&
	        (!name || !strcmp(name, "asv"))) {
		sink->format = "asv";
		sink->counts.files++;
		return 0;
	}
	return format < FORMAT_COUNT ? read_results(sink, format, err) : fail_unknown(f->path, err);
}

static int import_file(
        struct tk_import_sink *sink, const char *path, char *head, struct tk_error *err)
{
	struct tk_import_file f = {.path = path};

	TRY(open_file(path, &f.in, err));
	sink->file = &f;
	int status = import_open_file(sink, &f, head, err);

	fclose(f.in);
	return status;
}

/* ---- which files ----------------------------------------------------------------------------- */

struct file_set {
	char **paths;
	size_t count, cap;
	const char *folder;
};

static void add_file(struct file_set *set, char *path)
{
	if (set->count == set->cap) {
		set->cap = set->cap ? set->cap * 2 : 64;
		set->paths = tk_reallocarray(set->paths, set->cap, sizeof(*set->paths));
	}
	set->paths[set->count++] = path;
}

/* What may be a history in a folder. */
static int visit(void *arg, const char *relative, const struct stat *st, struct tk_error *err)
{
	static const char *const ends[] = {".json", ".ndjson", ".js", ".csv"};
	struct file_set *set = arg;
	size_t len = strlen(relative);

	if (!S_ISREG(st->st_mode))
		return 0;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (len > strlen(ends[i]) && !strcmp(relative + len - strlen(ends[i]), ends[i]))
			add_file(set, tk_path_join(set->folder, relative));
	return 0;
}

static int gather(
        const struct tk_import_request *request, struct file_set *set, struct tk_error *err)
{
	for (size_t i = 0; i < request->path_count; i++) {
		set->folder = request->paths[i];
		if (tk_dir_exists(request->paths[i]))
			TRY(tk_dir_walk(request->paths[i], visit, set, err));
		else
			add_file(set, tk_strdup(request->paths[i]));
	}
	return set->count ? 0
	                  : tk_fail(err, TK_EDATA, "%s: there is no file to import in it",
	                            request->paths[0]);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int import_all(struct tk_import_sink *sink, struct file_set *set, struct tk_error *err)
{
	const struct tk_import_request *request = sink->request;
	AUTO_TEXT head = tk_malloc(HEAD_SIZE + 1);

	tk_import_sink_open(sink);
	TRY(tk_import_register_functions(sink, err));
	TRY(gather(request, set, err));
	for (size_t i = 0; i < set->count; i++)
		TRY(import_file(sink, set->paths[i], head, err));
	TRY(tk_import_flush(sink, err));
	return sink->results ? 0
	                     : tk_fail(err, TK_EDATA, "%s: no results%s%s in it",
	                               set->count == 1 ? set->paths[0] : request->paths[0],
	                               set->count == 1 ? " of the format " : "",
	                               set->count == 1 ? sink->format : "");
}

int tk_store_import(struct tk_store *s, const struct tk_import_request *request,
        struct tk_import_counts *counts, struct tk_error *err)
{
	struct tk_import_sink sink = {.store = s, .request = request, .err = err};
	struct file_set set = {0};

	if (request->format && format_named(request->format) == FORMAT_COUNT)
		return tk_fail(err, TK_EUSAGE, "unknown format \"%s\"", request->format);
	TRY(tk_store_begin(s, err));
	int status = import_all(&sink, &set, err);

	tk_import_sink_close(&sink);
	for (size_t i = 0; i < set.count; i++)
		free(set.paths[i]);
	free(set.paths);
	if (!status && request->dry_run)
		tk_store_rollback(s);
	else
		status = tk_store_end(s, status, err);
	if (!status && counts)
		*counts = sink.counts;
	return status;
}
