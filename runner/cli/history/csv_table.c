/* Reads a CSV file in blocks and cuts it into rows in place. */
#include "cli/history/csv_table.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

#define STRETCH ((size_t)1 << 18)
#define ROW_MAX ((size_t)1 << 20) /* bytes; a longer row has an unclosed quote */

static int wrong_row(const struct tk_csv_table *t, const char *what, struct tk_error *err)
{
	return tk_fail(err, TK_EDATA, "%s:%zu: %s", t->path, t->line, what);
}

/* Moves the unread text to the front and reads another block. */
static int read_on(struct tk_csv_table *t, struct tk_error *err)
{
	size_t left = t->text.len - t->at;
	char stretch[1 << 14];
	ssize_t got = 1;

	if (t->at)
		memmove(t->text.data, t->text.data + t->at, left);
	t->text.len = left;
	t->at = 0;
	while (t->text.len - left < STRETCH && got > 0) {
		got = read(t->file, stretch, sizeof stretch);
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got > 0 && memchr(stretch, '\0', (size_t)got))
			return tk_fail(err, TK_EDATA, "%s: not a text file", t->path);
		else if (got > 0)
			tk_buf_add(&t->text, stretch, (size_t)got);
	}
	t->ended = got == 0;
	return got < 0 ? tk_fail_errno(err, "%s", t->path) : tk_buf_status(&t->text, err);
}

/* The end of the row at `at`: its newline or the end of the file. NULL: not read yet. */
static char *end_of_row(struct tk_csv_table *t)
{
	char *from = t->text.data + t->at, *limit = t->text.data + t->text.len, *end;
	bool quoted = false;

	if (t->at == t->text.len)
		return NULL;
	end = memchr(from, '\n', (size_t)(limit - from));
	t->lines = 1;
	if (!memchr(from, '"', (size_t)((end ? end : limit) - from)))
		return end ? end : t->ended ? limit : NULL;
	for (end = from; end < limit && (quoted || *end != '\n'); end++) {
		quoted ^= *end == '"';
		t->lines += *end == '\n';
	}
	return end < limit || t->ended ? end : NULL;
}

/* Cuts a quoted field. Returns the text after it; NULL: the quote is not closed. */
static char *cut_quoted(struct tk_csv_table *t, char *from, const char *end)
{
	char *to = from++;

	t->fields[t->columns] = to;
	for (; from < end && (*from != '"' || from[1] == '"'); *to++ = *from++)
		from += *from == '"';
	if (from >= end)
		return NULL;
	t->length[t->columns] = (size_t)(to - t->fields[t->columns]);
	t->columns++;
	from++;
	*to = '\0';
	return from;
}

static bool cut_row(struct tk_csv_table *t, char *from, char *end)
{
	if (end > from && end[-1] == '\r')
		end--;
	*end = '\0';
	t->columns = 0;
	while (from && t->columns < TK_CSV_COLUMNS_MAX) {
		char *comma;

		if (*from == '"') {
			from = cut_quoted(t, from, end);
			if (!from || (from < end && *from != ','))
				return false;
			comma = from < end ? from : NULL;
		} else {
			comma = memchr(from, ',', (size_t)(end - from));
			t->fields[t->columns] = from;
			t->length[t->columns++] = (size_t)((comma ? comma : end) - from);
		}
		if (comma)
			*comma++ = '\0';
		from = comma;
	}
	if (t->columns == 1 && !t->length[0])
		t->columns = 0;
	return !from;
}

/* *more: false at the end of the file. An empty row has 0 columns. */
static int next_row(struct tk_csv_table *t, bool *more, struct tk_error *err)
{
	char *end;
	size_t from;
	int status;

	t->line += t->lines;
	t->lines = 0;
	while (!(end = end_of_row(t))) {
		if (t->ended) {
			*more = false;
			return TK_OK;
		}
		if (t->text.len - t->at > ROW_MAX)
			return wrong_row(
			        t, "a quote is not closed, or a row of more than 1 MiB", err);
		status = read_on(t, err);
		if (status)
			return status;
	}
	*more = true;
	from = t->at;
	t->at = (size_t)(end - t->text.data) + (end < t->text.data + t->text.len);
	return cut_row(t, t->text.data + from, end)
	               ? TK_OK
	               : wrong_row(t, "a quote is not closed, or there are too many fields", err);
}

int tk_csv_table_open(struct tk_csv_table *t, const char *path, const char *const *names,
        size_t *columns, struct tk_error *err)
{
	bool more;
	int status;

	*t = (struct tk_csv_table){
	        .path = path, .lines = 1, .file = open(path, O_RDONLY | O_CLOEXEC)};
	if (t->file < 0)
		return tk_fail_errno(err, "%s", path);
	status = next_row(t, &more, err);
	if (status)
		return status;
	if (!more || !t->columns)
		return tk_fail(err, TK_EDATA, "%s: no header line", path);
	for (size_t n = 0; names[n]; n++) {
		for (columns[n] = 0;
		        columns[n] < t->columns && strcmp(t->fields[columns[n]], names[n]) != 0;
		        columns[n]++)
			;
		if (columns[n] == t->columns)
			return tk_fail(
			        err, TK_EDATA, "%s:1: there is no column %s", path, names[n]);
	}
	return TK_OK;
}

int tk_csv_table_next_row(
        struct tk_csv_table *t, size_t last_column, bool *more, struct tk_error *err)
{
	int status;

	do
		status = next_row(t, more, err);
	while (!status && *more && !t->columns);
	return !status && *more && t->columns <= last_column ? wrong_row(t, "too few fields", err)
	                                                     : status;
}

void tk_csv_table_close(struct tk_csv_table *t)
{
	if (t->path && t->file >= 0)
		close(t->file);
	tk_buf_free(&t->text);
}
