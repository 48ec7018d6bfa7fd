/* One value of tracker.yml: its text, by its kind, into its field; and the sentence where it is not
 * what was expected.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/suggest.h"
#include "base/units.h"
#include "config/config_keys.h"
#include "config/yaml_tree.h"
#include "core/problem.h"

#define TEXT_MAX 4096
#define NAME_MAX_LEN 80

struct reading {
	const struct tk_yaml *y;
	int node;
	const char *what, *root, *text;
	const struct tk_config_key *key;
	struct tk_error *err;
};

static int expected(const struct reading *r, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));

static int expected(const struct reading *r, const char *fmt, ...)
{
	char want[256], shown[80];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(want, sizeof want, fmt, ap);
	va_end(ap);
	return tk_yaml_fail(r->y, r->node, r->err, "%s is `%s`, expected %s", r->what,
	        tk_yaml_format_excerpt(r->text, shown), want);
}

static int keep(const struct reading *r, char *value, char **out)
{
	if (!value)
		return tk_fail(r->err, TK_ENOMEM, "out of memory");
	free(*out);
	*out = value;
	return TK_OK;
}

static bool printable(const char *text)
{
	size_t n = 0;

	for (; text[n]; n++)
		if (iscntrl((unsigned char)text[n]))
			return false;
	return n > 0 && n <= TEXT_MAX;
}

static bool is_name(const char *text)
{
	size_t n =
	        strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");

	return n > 0 && n <= NAME_MAX_LEN && !text[n] && strcmp(text, ".") != 0 &&
	       strcmp(text, "..") != 0;
}

char *tk_config_resolve_path(const char *root, const char *text)
{
	const char *home = getenv("HOME");
	char *joined, *absolute;

	if (strncmp(text, "~/", 2) == 0 && home && *home)
		joined = tk_path_join(home, text + 2);
	else
		joined = tk_path_join(root, text);
	absolute = joined ? tk_path_make_absolute(joined) : NULL;
	free(joined);
	return absolute;
}

/* A path only where it looks like one: "host:repo" and "https://..." are git's. */
static int read_repository(const struct reading *r, char **out)
{
	/* what git reads as a URL, or as host:path, has a colon */
	bool path =
	        strchr("/.", r->text[0]) || strncmp(r->text, "~/", 2) == 0 || !strchr(r->text, ':');

	if (!printable(r->text) || r->text[0] == '-' || strpbrk(r->text, " \t"))
		return expected(r, "a URL or a path that git clones from, without blanks");
	return keep(r, path ? tk_config_resolve_path(r->root, r->text) : strdup(r->text), out);
}

static int read_web(const struct reading *r, char **out)
{
	if (!printable(r->text) || strpbrk(r->text, " \t\"<>\\^`") ||
	        (strncmp(r->text, "https://", 8) != 0 && strncmp(r->text, "http://", 7) != 0))
		return expected(r, "a URL that begins with https:// or http://");
	return keep(r, strdup(r->text), out);
}

static int read_problem(const struct reading *r, char **out)
{
	struct tk_problem_spec p;
	struct tk_error why = {0};

	if (tk_problem_parse(&p, r->text, &why))
		return tk_yaml_fail(
		        r->y, r->node, r->err, "%s is not a problem: %s", r->what, why.message);
	return keep(r, strdup(p.text), out);
}

static int read_kind(const struct reading *r, enum tk_upstream_kind *out)
{
	static const char *const words[] = {"self", "git", "system", "builtin", NULL};

	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], r->text) == 0) {
			*out = (enum tk_upstream_kind)i;
			return TK_OK;
		}
	return expected(r, "self, git, system or builtin");
}

static int read_quantity(
        const struct reading *r, enum tk_quantity kind, double min, double max, double *out)
{
	struct tk_error why = {0};

	if (tk_units_parse(kind, r->text, min, max, out, &why))
		return tk_yaml_fail(r->y, r->node, r->err, "%s: %s", r->what, why.message);
	return TK_OK;
}

/* per_unit: units of the field in one second. */
static int read_duration(const struct reading *r, double per_unit, double *out)
{
	double s;
	int status = read_quantity(
	        r, TK_QUANTITY_DURATION, r->key->min / per_unit, r->key->max / per_unit, &s);

	if (!status)
		*out = s * per_unit;
	return status;
}

static int read_time(const struct reading *r, double *out)
{
	double s;
	int status = read_quantity(r, TK_QUANTITY_TIME, r->key->min / 1e9, r->key->max / 1e9, &s);

	if (!status)
		*out = s * 1e9;
	return status;
}

static int read_days(const struct reading *r, uint32_t *out)
{
	double s;
	int status = read_quantity(
	        r, TK_QUANTITY_DURATION, r->key->min * TK_DAY, r->key->max * TK_DAY, &s);

	if (!status)
		*out = (uint32_t)(s / TK_DAY);
	return status;
}

static int read_size(const struct reading *r, uint64_t *out)
{
	double v;
	int status = read_quantity(r, TK_QUANTITY_SIZE, r->key->min, r->key->max, &v);

	if (!status)
		*out = (uint64_t)v;
	return status;
}

static int read_count(const struct reading *r, uint32_t *out)
{
	double v;
	int status = read_quantity(r, TK_QUANTITY_COUNT, r->key->min, r->key->max, &v);

	if (!status)
		*out = (uint32_t)v;
	return status;
}

static int read_text(const struct reading *r, char **out)
{
	return printable(r->text) ? keep(r, strdup(r->text), out)
	                          : expected(r, "printable text of at most %d bytes", TEXT_MAX);
}

static int read_name(const struct reading *r, char **out)
{
	return is_name(r->text)
	               ? keep(r, strdup(r->text), out)
	               : expected(r, "at most %d of letters, digits, dot, dash and underscore",
	                         NAME_MAX_LEN);
}

static int read_location(const struct reading *r, char **out)
{
	return printable(r->text) ? keep(r, tk_config_resolve_path(r->root, r->text), out)
	                          : expected(r, "a path");
}

int tk_config_read_value(const struct tk_yaml *y, int node, const char *what,
        const struct tk_config_key *key, const char *root, const char *text, void *base,
        struct tk_error *err)
{
	struct reading r = {y, node, what, root, text, key, err};
	void *at = (char *)base + key->offset;

	switch (key->kind) {
	case TK_VALUE_TEXT:
		return read_text(&r, at);
	case TK_VALUE_NAME:
		return read_name(&r, at);
	case TK_VALUE_LOCATION:
		return read_location(&r, at);
	case TK_VALUE_REPOSITORY:
		return read_repository(&r, at);
	case TK_VALUE_WEB:
		return read_web(&r, at);
	case TK_VALUE_PROBLEM:
		return read_problem(&r, at);
	case TK_VALUE_KIND:
		return read_kind(&r, at);
	case TK_VALUE_DURATION:
		return read_duration(&r, 1, at);
	case TK_VALUE_DURATION_NS:
		return read_time(&r, at);
	case TK_VALUE_DAYS:
		return read_days(&r, at);
	case TK_VALUE_SIZE:
		return read_size(&r, at);
	case TK_VALUE_FRACTION:
		return read_quantity(&r, TK_QUANTITY_FRACTION, key->min, key->max, at);
	case TK_VALUE_COUNT:
		return read_count(&r, at);
	case TK_VALUE_BOOL:
		return tk_units_parse_bool(text, at, NULL) ? expected(&r, "yes or no") : TK_OK;
	}
	return tk_fail(err, TK_EINTERNAL, "key %s has no kind", key->name);
}
