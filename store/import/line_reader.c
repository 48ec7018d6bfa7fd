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
	if (l->line.len && l->line.data[l->line.len - 1] == '\r')
		l->line.data[--l->line.len] = '\0';
	if (l->line.len && strlen(l->line.data) != l->line.len)
		return tk_fail(err, TK_EDATA, "%s:%zu: has a zero byte", l->file->path, l->number);
	l->skip = l->line.len == 0;
	return 0;
}

int tk_import_read_line(struct tk_import_lines *l, bool *more, struct tk_error *err)
{
	char block[65536];

	tk_buf_clear(&l->line);
	l->line.max = TK_IMPORT_LINE_MAX;
	l->number++;
	while (l->line.len < TK_IMPORT_LINE_MAX && fgets(block, sizeof(block), l->file->in)) {
		/* A NUL hides the rest of a block; it is detected because the block then does not
		 * end in a newline. */
		size_t n = strlen(block);

		tk_buf_add(&l->line, block, n);
		if (n && block[n - 1] == '\n') {
			if (l->line.len)
				l->line.data[--l->line.len] = '\0';
			*more = true;
			return end_line(l, err);
		}
		if (n < sizeof(block) - 1 && !feof(l->file->in))
			return tk_fail(
			        err, TK_EDATA, "%s:%zu: has a zero byte", l->file->path, l->number);
	}
	if (ferror(l->file->in))
		return tk_fail_errno(err, "%s", l->file->path);
	if (l->line.len >= TK_IMPORT_LINE_MAX)
		return tk_fail(err, TK_EDATA, "%s:%zu: is longer than %zu MiB", l->file->path,
		        l->number, TK_IMPORT_LINE_MAX >> 20);
	*more = l->line.len > 0;
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
