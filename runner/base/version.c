/* See base.h. The order is that of PEP 440, "Summary of permitted suffixes and relative
 * ordering": 1.0.dev1 < 1.0a1.dev1 < 1.0a1 < 1.0rc1 < 1.0 < 1.0+local < 1.0.post1. */
#include "base/base.h"
#include <ctype.h>
#include <strings.h>

static bool read_number(const char **p, int64_t *out)
{
	int64_t n = 0;
	const char *start = *p;
	for (; isdigit((unsigned char)**p); (*p)++) {
		if (*p - start >= 18)
			return false;
		n = 10 * n + (**p - '0');
	}
	*out = n;
	return *p > start;
}

/* One of `words` (NULL-terminated) after an optional separator, and the number after it, 0 if there
 * is none. Leaves *p where it is if no word follows. Returns the index of the word, -1: none. */
static int read_suffix(const char **p, const char *const *words, int64_t *number)
{
	const char *at = *p + (**p && strchr("-_.", **p) != NULL);
	for (int i = 0; words[i]; i++) {
		const size_t len = strlen(words[i]);
		if (strncasecmp(at, words[i], len))
			continue;
		at += len;
		if (*at && strchr("-_.", *at) && isdigit((unsigned char)at[1]))
			at++;
		if (isdigit((unsigned char)*at) && !read_number(&at, number))
			return -1;
		*p = at;
		return i;
	}
	return -1;
}

static void read_pre(const char **p, struct tk_version *v)
{
	static const char *const words[] = {
	        "alpha", "a", "beta", "b", "preview", "pre", "rc", "c", NULL};
	static const enum tk_version_pre kinds[] = {TK_VERSION_ALPHA, TK_VERSION_ALPHA,
	        TK_VERSION_BETA, TK_VERSION_BETA, TK_VERSION_CANDIDATE, TK_VERSION_CANDIDATE,
	        TK_VERSION_CANDIDATE, TK_VERSION_CANDIDATE};
	const int word = read_suffix(p, words, &v->pre_number);
	v->pre = word < 0 ? TK_VERSION_FINAL : kinds[word];
}

static void read_post(const char **p, struct tk_version *v)
{
	static const char *const words[] = {"post", "rev", "r", NULL};
	int64_t number = 0;
	const char *at = *p + 1;
	if (**p == '-' && read_number(&at, &number)) /* "1.0-1" */
		*p = at;
	else if (read_suffix(p, words, &number) < 0)
		return;
	v->post = number;
}

static bool read_local(const char *p, struct tk_version *v)
{
	size_t n = 0;
	if (*p != '+')
		return *p == '\0';
	for (p++; *p; p++) {
		if ((!isalnum((unsigned char)*p) && !strchr("-_.", *p)) ||
		        n + 1 >= sizeof(v->local))
			return false;
		v->local[n++] = strchr("-_", *p) ? '.' : (char)tolower((unsigned char)*p);
	}
	return n > 0;
}

bool tk_version_parse(const char *text, struct tk_version *out)
{
	static const char *const dev[] = {"dev", NULL};
	struct tk_version v = {.post = -1, .dev = -1};
	const char *p = text + (*text == 'v' || *text == 'V');
	int64_t number = 0;
	size_t parts = 0;
	if (!read_number(&p, &number))
		return false;
	if (*p == '!') {
		v.epoch = number;
		p++;
		if (!read_number(&p, &number))
			return false;
	}
	v.release[parts++] = number;
	while (*p == '.' && isdigit((unsigned char)p[1])) {
		p++;
		if (parts == TK_VERSION_PARTS_MAX || !read_number(&p, &v.release[parts++]))
			return false;
	}
	read_pre(&p, &v);
	read_post(&p, &v);
	number = 0;
	if (read_suffix(&p, dev, &number) >= 0)
		v.dev = number;
	if (!read_local(p, &v))
		return false;
	*out = v;
	return true;
}

/* ---- order ---- */

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* 1.0.dev1 comes before 1.0a1: without a pre-release and a post-release, "dev" is the earliest. */
static int64_t pre_rank(const struct tk_version *v)
{
	return v->pre == TK_VERSION_FINAL && v->post < 0 && v->dev >= 0 ? -1 : (int64_t)v->pre;
}

/* Parts of a local version: numbers are greater than words. */
static int compare_local(const char *a, const char *b)
{
	while (*a && *b) {
		const size_t n = strcspn(a, "."), m = strcspn(b, ".");
		const bool x = strspn(a, "0123456789") == n, y = strspn(b, "0123456789") == m;
		int order = x != y ? (x ? 1 : -1) : x && n != m ? (n > m ? 1 : -1) : 0;
		if (!order)
			order = strncmp(a, b, n < m ? n : m);
		if (!order)
			order = compare((int64_t)n, (int64_t)m);
		if (order)
			return order;
		a += n + (a[n] == '.');
		b += m + (b[m] == '.');
	}
	return (*a != '\0') - (*b != '\0');
}

int tk_version_compare(const struct tk_version *a, const struct tk_version *b)
{
	int order = compare(a->epoch, b->epoch);
	for (size_t i = 0; !order && i < TK_VERSION_PARTS_MAX; i++)
		order = compare(a->release[i], b->release[i]);
	if (!order)
		order = compare(pre_rank(a), pre_rank(b));
	if (!order)
		order = compare(a->pre_number, b->pre_number);
	if (!order)
		order = compare(a->post, b->post);
	if (!order)
		order = compare(a->dev < 0 ? INT64_MAX : a->dev, b->dev < 0 ? INT64_MAX : b->dev);
	return order ? order : compare_local(a->local, b->local);
}

bool tk_version_is_pre(const struct tk_version *v)
{
	return v->pre != TK_VERSION_FINAL || v->dev >= 0;
}
