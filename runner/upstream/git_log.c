/* Parsing the output of `git log -z`, which is not trusted. */
#include "upstream/git_log.h"
#include "base/base.h"
#include "upstream/repo.h"
#include <errno.h>

#define FIELDS 6

static int parse_time(const char *text, int64_t *out, struct tk_error *err)
{
	char *end;
	errno = 0;
	const long long v = strtoll(text, &end, 10);
	if (errno || end == text || *end)
		return tk_fail(err, TK_EDATA, "git log: \"%.40s\" is not a time", text);
	*out = v;
	return TK_OK;
}

static int parse_hash(const char *text, size_t len, char *out, size_t size, struct tk_error *err)
{
	if (len < 40 || len >= size || strspn(text, "0123456789abcdef") < len)
		return tk_fail(err, TK_EDATA, "git log: \"%.*s\" is not a commit",
		        (int)(len < 80 ? len : 80), text);
	memcpy(out, text, len);
	out[len] = '\0';
	return TK_OK;
}

static int parse_record(
        const char *const fields[FIELDS], struct tk_revision *r, struct tk_error *err)
{
	memset(r, 0, sizeof(*r));
	TRY(parse_hash(fields[0], strlen(fields[0]), r->id, sizeof(r->id), err));
	const size_t parent_len = strcspn(fields[1], " ");
	if (parent_len)
		TRY(parse_hash(fields[1], parent_len, r->parent, sizeof(r->parent), err));
	TRY(parse_time(fields[2], &r->author_time_s, err));
	TRY(parse_time(fields[3], &r->commit_time_s, err));
	tk_text_copy_line(r->author, sizeof(r->author), fields[4]);
	tk_text_copy_line(r->subject, sizeof(r->subject), fields[5]);
	return TK_OK;
}

static size_t count_records(const char *data, size_t len)
{
	size_t ends = 0;
	for (size_t i = 0; i < len; i++)
		ends += data[i] == '\0';
	return ends / FIELDS;
}

int tk_git_log_parse(
        const char *data, size_t len, struct tk_revision **out, size_t *count, struct tk_error *err)
{
	const size_t n = count_records(data, len);
	*out = NULL;
	*count = 0;
	if (!len)
		return TK_OK;
	if (!n || data[len - 1] != '\0')
		return tk_fail(err, TK_EDATA, "git log: truncated output");
	struct tk_revision *list = tk_calloc(n, sizeof(*list));
	const char *p = data;
	for (size_t i = 0; i < n; i++) {
		const char *fields[FIELDS];
		for (size_t f = 0; f < FIELDS; f++, p += strlen(p) + 1)
			fields[f] = p;
		if (parse_record(fields, &list[i], err)) {
			free(list);
			return TK_EDATA;
		}
	}
	if (p != data + len) {
		free(list);
		return tk_fail(
		        err, TK_EDATA, "git log: the output has a part of a record at its end");
	}
	*out = list;
	*count = n;
	return TK_OK;
}
