/* Imports files: finds the format of each, and imports all of them or none. */
#include "store/import/import.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HEAD_SIZE 65536
#define PIPE_MAX_BYTES (1 << 30)

#define FORMAT(id, name, what) {name, what, &tk_import_##id},
static const struct {
	const char *name, *what;
	const struct tk_import_format *format;
} formats[] = {TK_IMPORT_FORMATS(FORMAT)};
#undef FORMAT
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

int64_t tk_import_get_file_time(const struct tk_import_file *f, const struct tk_import_sink *sink)
{
	struct stat st;

	if (sink->options->at_s)
		return sink->options->at_s;
	return fstat(fileno(f->in), &st) == 0 ? (int64_t)st.st_mtim.tv_sec : 0;
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

static int find_format(
        const struct tk_import_file *f, const char *name, size_t *out, struct tk_error *err)
{
	struct tk_buf known = TK_BUF_INIT;

	*out = name ? format_named(name) : 0;
	while (!name && *out < FORMAT_COUNT && !formats[*out].format->sniff(f))
		++*out;
	if (*out < FORMAT_COUNT)
		return 0;
	for (size_t i = 0; i < FORMAT_COUNT; i++)
		tk_buf_add_printf(&known, "%s%s", i ? ", " : "", formats[i].name);
	tk_fail(err, TK_EDATA, "%s: its format cannot be guessed; name it: %s", f->path,
	        tk_buf_cstr(&known));
	tk_buf_free(&known);
	return TK_EDATA;
}

/* The file had no results. If it has the format, it is a run that measured nothing: it is skipped
 * and reported. Anything else is probably not the file that the user meant. */
static int empty_file(struct tk_import_sink *sink, const struct tk_import_file *f, size_t format,
        struct tk_error *err)
{
	char *first = sink->counts.first_empty;
	size_t like = 0;

	if (formats[format].format->sniff(f)) {
		if (!sink->counts.empty++)
			snprintf(first, sizeof(sink->counts.first_empty), "%s", f->path);
		return 0;
	}
	while (like < FORMAT_COUNT && !formats[like].format->sniff(f))
		like++;
	return tk_fail(err, TK_EDATA, "%s: no results of the format %s in it%s%s", f->path,
	        formats[format].name, like < FORMAT_COUNT ? "; it looks like " : "",
	        like < FORMAT_COUNT ? formats[like].name : "");
}

/* A file without results leaves nothing behind: neither a night nor the machine that it names. */
static int read_results(
        struct tk_import_sink *sink, struct tk_import_file *f, size_t format, struct tk_error *err)
{
	const struct tk_import_counts before = sink->counts;
	const int64_t results = sink->results;

	sink->format = formats[format].name;
	sink->path = f->path;
	sink->aside = false;
	TRY(tk_db_exec(sink->store, "SAVEPOINT import_file", err));
	TRY(formats[format].format->read(f, sink, err));
	if (sink->results == results) {
		TRY(tk_db_exec(sink->store, "ROLLBACK TO import_file", err));
		tk_db_forget_uids(sink->store);
		sink->counts = before;
		if (!sink->aside)
			TRY(empty_file(sink, f, format, err));
	}
	sink->counts.files++;
	return tk_db_exec(sink->store, "RELEASE import_file", err);
}

static int import_open_file(struct tk_import_sink *sink, const char *format,
        struct tk_import_file *f, char *head, struct tk_error *err)
{
	size_t found;

	TRY(read_head(f, head, err));
	TRY(find_format(f, format, &found, err));
	return read_results(sink, f, found, err);
}

static int import_file(struct tk_import_sink *sink, const char *format, const char *path,
        char *head, struct tk_error *err)
{
	struct tk_import_file f = {.path = path};

	TRY(open_file(path, &f.in, err));
	int status = import_open_file(sink, format, &f, head, err);

	json_decref(f.document);
	fclose(f.in);
	return status;
}

/* ---- which files ----------------------------------------------------------------------------- */

struct one_file {
	char *path;
	int64_t time_s;
	size_t order;
};

struct file_set {
	struct one_file *files;
	size_t count, cap;
	const char *folder;
};

static void add_file(struct file_set *set, char *path)
{
	if (set->count == set->cap) {
		set->cap = set->cap ? set->cap * 2 : 64;
		set->files = tk_reallocarray(set->files, set->cap, sizeof(*set->files));
	}
	set->files[set->count] = (struct one_file){path, 0, set->count};
	set->count++;
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

/* Older files first, if their format has a time: points are stored in this order. */
static int by_time(const void *a, const void *b)
{
	const struct one_file *x = a, *y = b;

	if (x->time_s != y->time_s)
		return x->time_s < y->time_s ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void look_at_time(struct one_file *file, const char *format)
{
	char head[4096];
	struct tk_import_file f = {.path = file->path, .in = fopen(file->path, "re"), .head = head};
	struct stat st;

	if (!f.in)
		return;
	if (fstat(fileno(f.in), &st) == 0 && S_ISREG(st.st_mode)) {
		f.head_len = fread(head, 1, sizeof(head) - 1, f.in);
		head[f.head_len] = '\0';
		for (size_t i = 0; i < FORMAT_COUNT; i++)
			if (formats[i].format->time &&
			        (!format || !strcmp(format, formats[i].name))) {
				file->time_s = formats[i].format->time(&f);
				break;
			}
	}
	fclose(f.in);
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
	for (size_t i = 0; i < set->count && set->count > 1; i++)
		look_at_time(&set->files[i], request->format);
	if (!set->count)
		return tk_fail(
		        err, TK_EDATA, "%s: there is no file to import in it", request->paths[0]);
	qsort(set->files, set->count, sizeof(*set->files), by_time);
	return 0;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int import_all(struct tk_import_sink *sink, const struct tk_import_request *request,
        struct file_set *set, struct tk_error *err)
{
	AUTO_TEXT head = tk_malloc(HEAD_SIZE + 1);

	tk_import_sink_open(sink);
	TRY(gather(request, set, err));
	for (size_t i = 0; i < set->count; i++)
		TRY(import_file(sink, request->format, set->files[i].path, head, err));
	TRY(tk_import_flush(sink, err));
	return sink->results ? 0
	                     : tk_fail(err, TK_EDATA, "%s: no results%s%s in it",
	                               set->count == 1 ? set->files[0].path : request->paths[0],
	                               set->count == 1 ? " of the format " : "",
	                               set->count == 1 ? sink->format : "");
}

int tk_store_import(struct tk_store *s, const struct tk_import_request *request,
        struct tk_import_counts *counts, struct tk_error *err)
{
	const struct tk_import_options options = {
	        request->machine, request->upstream, request->better, request->rev, request->at_s};
	struct tk_import_sink sink = {.store = s, .options = &options};
	struct file_set set = {0};

	if (request->format && format_named(request->format) == FORMAT_COUNT)
		return tk_fail(err, TK_EUSAGE, "unknown format \"%s\"", request->format);
	TRY(tk_store_begin(s, err));
	int status = import_all(&sink, request, &set, err);

	tk_import_sink_close(&sink);
	for (size_t i = 0; i < set.count; i++)
		free(set.files[i].path);
	free(set.files);
	if (!status && request->dry_run)
		tk_store_rollback(s);
	else
		status = tk_db_end_transaction(s, status, err);
	if (!status && counts)
		*counts = sink.counts;
	return status;
}
