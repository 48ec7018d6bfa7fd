/* From files to rows: which format each is, and all of them or none. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "import.h"

#define HEAD_SIZE 65536

#define FORMAT(name, what) &tk_import_##name,
static const struct tk_import_format *const formats[] = {TK_IMPORT_FORMATS(FORMAT)};
#undef FORMAT
#define FORMAT_COUNT (sizeof(formats) / sizeof(formats[0]))

const char *tk_import_format_name(size_t i, const char **what)
{
	if (i >= FORMAT_COUNT)
		return NULL;
	if (what)
		*what = formats[i]->what;
	return formats[i]->name;
}

static const struct tk_import_format *format_named(const char *name)
{
	for (size_t i = 0; i < FORMAT_COUNT; i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

/* What cannot be rewound (a pipe) is copied to a file without a name first. */
static int open_file(const char *path, FILE **out, struct tk_error *err)
{
	FILE *in = fopen(path, "re"), *copy;
	char block[65536];
	struct stat st;
	size_t n;

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
	while (copy && (n = fread(block, 1, sizeof(block), in)) > 0)
		if (fwrite(block, 1, n, copy) != n)
			break;
	if (!copy || ferror(in) || fflush(copy) || ferror(copy)) {
		tk_fail_errno(err, "%s: cannot be copied", path);
		fclose(in);
		if (copy)
			fclose(copy);
		return err ? err->status : TK_EIO;
	}
	fclose(in);
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
	return f->head_len ? 0 : tk_fail(err, TK_EDATA, "%s: is empty", f->path);
}

static int find_format(const struct tk_import_file *f, const char *name, const struct tk_import_format **out, struct tk_error *err)
{
	struct tk_buf known = TK_BUF_INIT;

	if (name) {
		*out = format_named(name);
		return *out ? 0 : tk_fail(err, TK_EUSAGE, "`%s` is no format", name);
	}
	for (size_t i = 0; i < FORMAT_COUNT; i++)
		if (formats[i]->sniff(f)) {
			*out = formats[i];
			return 0;
		}
	for (size_t i = 0; i < FORMAT_COUNT; i++)
		tk_buf_printf(&known, "%s%s", i ? ", " : "", formats[i]->name);
	tk_fail(err, TK_EDATA, "%s: its format cannot be guessed; name it: %s", f->path, tk_buf_cstr(&known));
	tk_buf_free(&known);
	return TK_EDATA;
}

static int import_file(struct tk_import_sink *sink, const char *format, const char *path, char *head, struct tk_error *err)
{
	struct tk_import_file f = {.path = path};
	const struct tk_import_format *found = NULL;
	int status = open_file(path, &f.in, err);

	if (status)
		return status;
	status = read_head(&f, head, err);
	if (!status)
		status = find_format(&f, format, &found, err);
	if (!status) {
		sink->format = found->name;
		status = found->read(&f, sink, err);
	}
	if (!status)
		sink->counts.files++;
	fclose(f.in);
	return status;
}

static int import_all(struct tk_import_sink *sink, const char *format, const char *const *paths, size_t count, struct tk_error *err)
{
	char *head = malloc(HEAD_SIZE + 1);
	int status = head ? 0 : tk_fail(err, TK_ENOMEM, "out of memory");

	for (size_t i = 0; i < count && !status; i++)
		status = import_file(sink, format, paths[i], head, err);
	free(head);
	return status;
}

int tk_store_import(struct tk_store *s, const struct tk_import_request *request, struct tk_import_counts *counts, struct tk_error *err)
{
	const struct tk_import_options options = {request->machine, request->upstream, request->better};
	struct tk_import_sink sink = {.store = s, .options = &options};
	int status;

	if (request->format && !format_named(request->format))
		return tk_fail(err, TK_EUSAGE, "`%s` is no format", request->format);
	status = tk_store_begin(s, err);
	if (status)
		return status;
	status = import_all(&sink, request->format, request->paths, request->path_count, err);
	if (!status && request->dry_run)
		tk_store_rollback(s);
	else
		status = tk_db_end(s, status, err);
	if (!status && counts)
		*counts = sink.counts;
	return status;
}
