/* Imports files: finds the format of each, and imports all of them or none. */
#include "store/import/import.h"
#include "base/base.h"
#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

#define HEAD_SIZE 65536
#define PIPE_MAX_BYTES (1 << 30)

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

	const char *name;

	for (size_t i = 0; (name = tk_import_get_format_name(i, NULL)); i++)
		tk_buf_add_printf(&known, "%s%s", i ? ", " : "", name);
	return tk_fail(err, TK_EDATA, "%s: its format cannot be guessed; name it: %s", path,
	        tk_buf_cstr(&known));
}

/* The file had no results. If it has the format, it is a run that measured nothing: it is skipped
 * and reported. Anything else is probably not the file that the user meant. */
static int empty_file(struct tk_import_sink *sink, struct tk_error *err)
{
	const struct tk_import_format *like = tk_import_format_guess(sink->file);

	if (like == sink->format) {
		if (!sink->counts.empty++)
			snprintf(sink->counts.first_empty, sizeof(sink->counts.first_empty), "%s",
			        sink->file->path);
		return 0;
	}
	return tk_fail(err, TK_EDATA, "%s: no results of the format %s in it%s%s", sink->file->path,
	        sink->format->name, like ? "; it looks like " : "", like ? like->name : "");
}

/* A file without results leaves nothing behind: neither a night nor the machine that it names. */
static int read_results(struct tk_import_sink *sink, struct tk_error *err)
{
	const struct tk_import_counts before = sink->counts;
	const int64_t results = sink->results;

	TRY(tk_db_exec(sink->store, "SAVEPOINT import_file", err));
	TRY(sink->format->read ? sink->format->read(sink, err)
	                       : tk_import_read_document(sink, err));
	TRY(tk_import_end_file(sink, err));
	if (sink->results == results) {
		TRY(tk_db_exec(sink->store, "ROLLBACK TO import_file", err));
		sink->counts = before;
		TRY(empty_file(sink, err));
	}
	sink->counts.files++;
	return tk_db_exec(sink->store, "RELEASE import_file", err);
}

static int import_open_file(
        struct tk_import_sink *sink, struct tk_import_file *f, char *head, struct tk_error *err)
{
	const struct tk_import_format *named = sink->named;

	TRY(read_head(f, head, err));
	const struct tk_import_format *guess =
	        named && !tk_import_format_skips(named, f->path) ? NULL : tk_import_format_guess(f);

	sink->format = named ? named : guess;
	if (!sink->format && !named)
		sink->format = tk_import_format_beside(f->path);
	if (sink->format && tk_import_format_skips(sink->format, f->path) &&
	        (!guess || guess == sink->format)) {
		sink->counts.files++;
		return 0;
	}
	return sink->format ? read_results(sink, err) : fail_unknown(f->path, err);
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
	static const char *const ends[] = {
	        ".json", ".ndjson", ".jsonl", ".js", ".csv", ".tsv", ".log", ".txt", ".xml"};
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

void tk_import_add_error(struct tk_import_sink *s, const char *message)
{
	tk_buf_add_printf(&s->counts.errors, "%s\n", message);
	s->error_count++;
}

static int fail_files(struct tk_import_sink *s, size_t files, struct tk_error *err)
{
	const struct tk_buf *errors = &s->counts.errors;

	if (s->error_count == 1)
		return tk_fail(err, TK_EDATA, "%.*s", (int)errors->len - 1, errors->data);
	if (!s->counts.broken)
		return tk_fail(err, TK_EDATA, "nothing was imported");
	return tk_fail(err, TK_EDATA,
	        "%" PRId64
	        " of %zu files are wrong; nothing was imported (--keep-going leaves them "
	        "out)",
	        s->counts.broken, files);
}

/* Reads all of them even where one is wrong, to say all that is wrong at once. */
static int import_files(
        struct tk_import_sink *sink, struct file_set *set, char *head, struct tk_error *err)
{
	for (size_t i = 0; i < set->count; i++) {
		int status = import_file(sink, set->paths[i], head, err);

		if (!status)
			continue;
		if (status != TK_EDATA && status != TK_ENOTFOUND)
			return status;
		tk_import_add_error(sink, err->message);
		sink->counts.broken++;
		free(set->paths[i]);
		set->paths[i] = NULL;
	}
	if (!sink->counts.broken || !sink->request->keep_going)
		tk_import_report_unknown(sink);
	return sink->error_count ? fail_files(sink, set->count, err) : 0;
}

static int import_all(struct tk_import_sink *sink, struct file_set *set, struct tk_error *err)
{
	const struct tk_import_request *request = sink->request;
	AUTO_TEXT head = tk_malloc(HEAD_SIZE + 1);

	TRY(tk_store_list(sink->store, TK_TABLE_renaming, NULL, TK_NO_ARGS, &sink->renamings, err));
	TRY(import_files(sink, set, head, err));
	TRY(tk_import_flush(sink, err));
	TRY(tk_import_write_failures(sink, err));
	TRY(tk_store_apply_renamings(sink->store, err));
	return sink->results ? 0
	                     : tk_fail(err, TK_EDATA, "%s: no results%s%s in it",
	                               set->count == 1 ? set->paths[0] : request->paths[0],
	                               set->count == 1 ? " of the format " : "",
	                               set->count == 1 ? sink->format->name : "");
}

/* A word is a format of ours, anything else the file of a user's one. */
static int choose_format(struct tk_import_sink *sink, struct tk_import_format *own, char **own_name,
        struct tk_buf *text, struct tk_error *err)
{
	const char *name = sink->request->format, *slash = name ? strrchr(name, '/') : NULL;

	sink->named = name ? tk_import_format_find(name) : NULL;
	if (!name || sink->named)
		return 0;
	if (!tk_import_is_own_format(name))
		return tk_fail(err, TK_EUSAGE, "unknown format \"%s\"", name);
	TRY(tk_file_read(name, 1 << 20, text, err));
	slash = slash ? slash + 1 : name;
	*own_name = tk_strndup(slash, strlen(slash) - strlen(".sql"));
	own->name = *own_name;
	own->sql = tk_buf_cstr(text);
	sink->named = own;
	return 0;
}

void tk_import_counts_free(struct tk_import_counts *c)
{
	json_decref(c->unknown);
	tk_buf_free(&c->errors);
	*c = (struct tk_import_counts){0};
}

/* All files of the set or none. Those that are wrong are NULL in it then. */
static int import_set(struct tk_import_sink *sink, struct file_set *set, struct tk_error *err)
{
	TRY(tk_store_begin(sink->store, err));
	tk_import_sink_open(sink);
	int status = import_all(sink, set, err);

	sink->counts.unknown = json_incref(sink->unknown);
	tk_import_sink_close(sink);
	if (!status && sink->request->dry_run)
		tk_store_rollback(sink->store);
	else
		status = tk_store_end(sink->store, status, err);
	return status;
}

/* Again without the files that are wrong. */
static int import_rest(struct tk_import_sink *sink, struct file_set *set, struct tk_error *err)
{
	struct tk_import_sink rest = {.store = sink->store,
	        .request = sink->request,
	        .named = sink->named,
	        .err = err,
	        .counts.errors = sink->counts.errors};
	const int64_t broken = sink->counts.broken;
	size_t kept = 0;

	for (size_t i = 0; i < set->count; i++)
		if (set->paths[i])
			set->paths[kept++] = set->paths[i];
	set->count = kept;
	if (!kept)
		return TK_EDATA;
	json_decref(sink->counts.unknown);
	const int status = import_set(&rest, set, err);

	sink->counts = rest.counts;
	sink->counts.broken = broken;
	return status;
}

int tk_store_import(struct tk_store *s, const struct tk_import_request *request,
        struct tk_import_counts *counts, struct tk_error *err)
{
	struct tk_import_sink sink = {.store = s, .request = request, .err = err};
	struct file_set set = {0};
	struct tk_import_format own = {.path = request->format};
	AUTO(tk_buf) text = {0};
	AUTO_TEXT own_name = NULL;

	TRY(tk_import_check_better(request, err));
	TRY(choose_format(&sink, &own, &own_name, &text, err));
	int status = gather(request, &set, err);

	if (!status)
		status = import_set(&sink, &set, err);
	if (status == TK_EDATA && request->keep_going && sink.counts.broken)
		status = import_rest(&sink, &set, err);
	else if (status && sink.error_count == 1)
		tk_buf_clear(&sink.counts.errors);
	for (size_t i = 0; i < set.count; i++)
		free(set.paths[i]);
	free(set.paths);
	*counts = sink.counts;
	return status;
}
