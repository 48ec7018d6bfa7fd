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
#include "config/config_keys.h"
#include "config/units.h"
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

static int in_range(const struct reading *r, double v, const char *low, const char *high)
{
	return v < r->key->min || v > r->key->max ? expected(r, "%s to %s", low, high) : TK_OK;
}

static const char *duration_text(double s, char *out, size_t size)
{
	static const struct {
		const char *unit;
		double s;
	} units[] = {
	        {"d", 86400},
	        {"h", 3600},
	        {"m", 60},
	        {"s", 1},
	        {"ms", 1e-3},
	        {"us", 1e-6},
	};

	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (s >= units[i].s) {
			snprintf(out, size, "%.4g%s", s / units[i].s, units[i].unit);
			return out;
		}
	snprintf(out, size, "%.4gns", s * 1e9);
	return out;
}

/* per_unit: how many of the field's unit one second has. */
static int read_duration(const struct reading *r, double per_unit, double *out)
{
	char low[32], high[32];
	double s;

	if (tk_units_parse_duration(r->text, &s))
		return expected(r, "a duration such as 30s, 15m or 2h");
	duration_text(r->key->min / per_unit, low, sizeof low);
	duration_text(r->key->max / per_unit, high, sizeof high);
	if (in_range(r, s * per_unit, low, high))
		return TK_ECONFIG;
	*out = s * per_unit;
	return TK_OK;
}

static int read_days(const struct reading *r, uint32_t *out)
{
	char high[32];
	double s;

	snprintf(high, sizeof high, "%gd", r->key->max);
	if (tk_units_parse_duration(r->text, &s))
		return expected(r, "a duration such as 14d or 8w");
	if (in_range(r, s / TK_DAY, "1d", high))
		return TK_ECONFIG;
	*out = (uint32_t)(s / TK_DAY);
	return TK_OK;
}

static int read_size(const struct reading *r, uint64_t *out)
{
	char low[32];
	uint64_t v;

	snprintf(low, sizeof low, "%gMiB", r->key->min / TK_MIB);
	if (tk_units_parse_size(r->text, &v))
		return expected(r, "a size such as 512MiB or 4GiB");
	if (in_range(r, (double)v, low, "1024TiB"))
		return TK_ECONFIG;
	*out = v;
	return TK_OK;
}

static int read_fraction(const struct reading *r, double *out)
{
	char low[32], high[32];
	double v;

	snprintf(low, sizeof low, "%g%%", r->key->min * 100);
	snprintf(high, sizeof high, "%g%%", r->key->max * 100);
	if (tk_units_parse_fraction(r->text, &v))
		return expected(r, "a percentage such as 2%% or 0.02");
	if (in_range(r, v, low, high))
		return TK_ECONFIG;
	*out = v;
	return TK_OK;
}

static int read_count(const struct reading *r, uint32_t *out)
{
	char low[32], high[32];
	uint32_t v;

	snprintf(low, sizeof low, "%.0f", r->key->min);
	snprintf(high, sizeof high, "%.0f", r->key->max);
	if (tk_units_parse_count(r->text, &v))
		return expected(r, "a whole number");
	if (in_range(r, v, low, high))
		return TK_ECONFIG;
	*out = v;
	return TK_OK;
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
		return read_duration(&r, 1e9, at);
	case TK_VALUE_DAYS:
		return read_days(&r, at);
	case TK_VALUE_SIZE:
		return read_size(&r, at);
	case TK_VALUE_FRACTION:
		return read_fraction(&r, at);
	case TK_VALUE_COUNT:
		return read_count(&r, at);
	case TK_VALUE_BOOL:
		return tk_units_parse_bool(text, at) ? expected(&r, "yes or no") : TK_OK;
	}
	return tk_fail(err, TK_EINTERNAL, "key %s has no kind", key->name);
}
