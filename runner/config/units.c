/* Reading numbers with units; a point is a point in every locale. */
#include "config/units.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"

struct unit {
	const char *word;
	double factor;
};

/* clang-format off */
static const struct unit durations[] = {
	{ "", 1 }, { "ns", 1e-9 }, { "us", 1e-6 }, { "ms", 1e-3 }, { "s", 1 }, { "m", 60 }, { "min", 60 }, { "h", 3600 }, { "d", 86400 },
	{ "w", 604800 }, { NULL },
};
/* clang-format on */

/* clang-format off */
static const struct unit sizes[] = {
	{ "", 1 }, { "B", 1 }, { "KiB", 0x1p10 }, { "MiB", 0x1p20 }, { "GiB", 0x1p30 }, { "TiB", 0x1p40 },
	{ "kB", 1e3 }, { "MB", 1e6 }, { "GB", 1e9 }, { "TB", 1e12 }, { NULL },
};
/* clang-format on */

static const struct unit fractions[] = {{"", 1}, {"%", 0.01}, {NULL}};

/* digits[.digits], at most 15 digits so that a double holds it exactly; *end: what follows. */
static bool read_decimal(const char *text, double *value, const char **end)
{
	double v = 0, scale = 1;
	int digits = 0;

	for (; isdigit((unsigned char)*text) && digits < 15; text++, digits++)
		v = v * 10 + (*text - '0');
	if (digits && *text == '.' && isdigit((unsigned char)text[1]))
		for (text++; isdigit((unsigned char)*text) && digits < 15; text++, digits++) {
			v = v * 10 + (*text - '0');
			scale *= 10;
		}
	*value = v / scale;
	*end = text;
	return digits > 0 && !isdigit((unsigned char)*text);
}

static int read_with_unit(const char *text, const struct unit *units, double *out)
{
	const char *unit;
	double v;

	if (!read_decimal(text, &v, &unit))
		return TK_EDATA;
	while (*unit == ' ')
		unit++;
	for (; units->word; units++)
		if (strcmp(units->word, unit) == 0) {
			/* 2 % is 2 / 100, which is the nearest double to 0.02; 2 * 0.01 need not be
			 */
			*out = units->factor < 1 ? v / round(1 / units->factor) : v * units->factor;
			return TK_OK;
		}
	return TK_EDATA;
}

int tk_units_parse_duration(const char *text, double *seconds)
{
	return read_with_unit(text, durations, seconds);
}

int tk_units_parse_size(const char *text, uint64_t *bytes)
{
	double v;

	if (read_with_unit(text, sizes, &v) || v >= 0x1p62 || v != floor(v))
		return TK_EDATA;
	*bytes = (uint64_t)v;
	return TK_OK;
}

int tk_units_parse_fraction(const char *text, double *fraction)
{
	return read_with_unit(text, fractions, fraction);
}

int tk_units_parse_count(const char *text, uint32_t *count)
{
	const char *end;
	double v;

	if (!read_decimal(text, &v, &end) || *end || v != floor(v) || v > UINT32_MAX)
		return TK_EDATA;
	*count = (uint32_t)v;
	return TK_OK;
}

int tk_units_parse_bool(const char *text, bool *value)
{
	static const struct {
		const char *word;
		bool value;
	} words[] = {
	        {"yes", true},
	        {"no", false},
	        {"true", true},
	        {"false", false},
	        {"on", true},
	        {"off", false},
	};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcmp(words[i].word, text) == 0) {
			*value = words[i].value;
			return TK_OK;
		}
	return TK_EDATA;
}
