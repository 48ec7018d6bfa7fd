/* The suggestion behind "did you mean": optimal string alignment distance over a short list of
 * names. */
#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

#define NAME_MAX_LENGTH 63

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

/* Three rows are enough: a transposition looks two rows back. Names longer than the rows are never
 * near. */
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
	size_t rows[3][NAME_MAX_LENGTH + 1];

	for (size_t j = 0; j <= m; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *now = rows[i % 3], *last = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= m; j++) {
			now[j] = min3(
			        last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			        before[j - 2] + 1 < now[j])
				now[j] = before[j - 2] + 1;
		}
	}
	return rows[n % 3][m];
}

const char *tk_suggest_name(const char *name, const char *const *names)
{
	const char *best = NULL;
	size_t length = strlen(name), best_distance = (size_t)-1;

	if (length > NAME_MAX_LENGTH)
		return NULL;
	for (; *names; names++) {
		size_t m = strlen(*names), d;

		if (m > NAME_MAX_LENGTH)
			continue;
		d = distance(name, length, *names, m);
		if ((d <= 2 || d <= length / 3) && d < length && d < best_distance) {
			best = *names;
			best_distance = d;
		}
	}
	return best;
}

const char *tk_suggest_hint(const char *name, const char *const *names, const char *otherwise,
        char out[TK_SUGGEST_HINT_SIZE])
{
	const char *near = tk_suggest_name(name, names);
	int len = 0;

	if (near)
		snprintf(out, TK_SUGGEST_HINT_SIZE, "; did you mean \"%s\"?", near);
	else if (otherwise)
		snprintf(out, TK_SUGGEST_HINT_SIZE, "%s", otherwise);
	else
		out[0] = '\0';
	for (size_t i = 0; !near && !otherwise && names[i] && len < TK_SUGGEST_HINT_SIZE; i++)
		len += snprintf(out + len, TK_SUGGEST_HINT_SIZE - (size_t)len, "%s%s",
		        i ? ", " : "; expected one of ", names[i]);
	return out;
}

const char *tk_suggest_list(const char *const *names, char out[TK_SUGGEST_HINT_SIZE])
{
	int len = 0;

	out[0] = '\0';
	for (size_t i = 0; names[i] && len < TK_SUGGEST_HINT_SIZE; i++)
		len += snprintf(out + len, TK_SUGGEST_HINT_SIZE - (size_t)len, "%s%s",
		        i == 0         ? ""
		        : names[i + 1] ? ", "
		                       : " or ",
		        names[i]);
	return out;
}
