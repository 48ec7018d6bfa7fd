/* A text file line by line, with a limit: one line of a hostile file is not the whole memory. */
#include "base/json.h"
#include "store/import/import.h"
#include <string.h>

static int end_line(struct tk_import_lines *l, struct tk_error *err)
{
	int status = tk_buf_status(&l->line, NULL);

	if (status == TK_EDATA)
		return tk_fail(err, TK_EDATA, "%s:%zu: is longer than %zu MiB", l->file->path,
		        l->number, TK_IMPORT_LINE_MAX >> 20);
	if (status)
		return tk_fail(err, status, "out of memory");
	if (l->number == 1 && l->line.len >= 3 &&
	        !memcmp(l->line.data, TK_IMPORT_BYTE_ORDER_MARK, 3))
		memmove(l->line.data, l->line.data + 3, (l->line.len -= 3) + 1);
	if (l->line.len && l->line.data[l->line.len - 1] == '\r')
		l->line.data[--l->line.len] = '\0';
	if (l->line.len && strlen(l->line.data) != l->line.len)
		return tk_fail(err, TK_EDATA, "%s:%zu: has a zero byte", l->file->path, l->number);
	l->skip = l->line.len == 0;
	return 0;
}

int tk_import_read_line(struct tk_import_lines *l, bool *more, struct tk_error *err)
{
	FILE *in = l->file->in;
	int c = EOF;

	tk_buf_clear(&l->line);
	l->line.max = TK_IMPORT_LINE_MAX;
	l->number++;
	while (!l->line.status && (c = getc_unlocked(in)) != EOF && c != '\n')
		tk_buf_add_char(&l->line, (char)c);
	if (ferror(in))
		return tk_fail_errno(err, "%s", l->file->path);
	*more = c != EOF || l->line.len;
	return *more ? end_line(l, err) : 0;
}

int tk_import_fail_line(
        const struct tk_import_lines *l, const json_error_t *why, struct tk_error *err)
{
	if (tk_json_is_out_of_memory(why))
		return tk_fail(err, TK_ENOMEM, "out of memory");
	return tk_fail(
	        err, TK_EDATA, "%s:%zu:%d: %s", l->file->path, l->number, why->column, why->text);
}
