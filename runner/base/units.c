#include "base/base.h"

#include <ctype.h>
#include <math.h>

struct suffix {
	const char *text;
	double factor;
	bool written; /* else only read */
};

/* From small to large. */
/* clang-format off */
static const struct suffix counts[] = { { "", 1, true }, { NULL } };
static const struct suffix durations[] = {
	{ "ns", 1e-9, true }, { "us", 1e-6, true }, { "µs", 1e-6, false }, { "ms", 1e-3, true },
	{ "s", 1, true }, { "", 1, false }, { "m", 60, true }, { "min", 60, false },
	{ "h", 3600, true },
	{ "d", 86400, true }, { "w", 604800, false }, { "y", 31536000, false }, { NULL },
};
static const struct suffix times[] = {
	{ "ns", 1e-9, true }, { "us", 1e-6, true }, { "µs", 1e-6, false }, { "ms", 1e-3, true },
	{ "s", 1, true }, { NULL },
};
static const struct suffix fractions[] = { { "%", 0.01, true }, { "", 1, false }, { NULL } };
static const struct suffix sizes[] = {
	{ "B", 1, true }, { "", 1, false }, { "kB", 1e3, false }, { "KiB", 0x1p10, true },
	{ "MB", 1e6, false }, { "MiB", 0x1p20, true }, { "GB", 1e9, false },
	{ "GiB", 0x1p30, true },
	{ "TB", 1e12, false }, { "TiB", 0x1p40, true }, { NULL },
};

static const struct {
	const struct suffix *suffixes;
	const char *name, *expected;
	bool whole;
} kinds[] = {
	[TK_QUANTITY_COUNT] = { counts, "a whole number", "digits only, such as 12", true },
	[TK_QUANTITY_DURATION] = { durations, "a duration",
		"a number with ns, us, ms, s, m, h, d, w or y, such as 30s or 2h", false },
	[TK_QUANTITY_FRACTION] = { fractions, "a percentage", "2% or 0.02, for instance", false },
	[TK_QUANTITY_TIME] = { times, "a time", "a number with ns, us, ms or s, such as 500ns",
		false },
	[TK_QUANTITY_SIZE] = { sizes, "a size",
		"a number with KiB, MiB, GiB or TiB, such as 512MiB or 4GiB", true },
};
/* clang-format on */

/* digits[.digits], at most 2^53 without the point, so that a double holds the digits exactly. *end:
 * what follows. */
static bool read_decimal(const char *text, double *value, const char **end)
{
	uint64_t v = 0;
	double scale = 1;
	int digits = 0;

	for (; isdigit((unsigned char)*text) && digits < 16; text++, digits++)
		v = v * 10 + (uint64_t)(*text - '0');
	if (digits && *text == '.' && isdigit((unsigned char)text[1]))
		for (text++; isdigit((unsigned char)*text) && digits < 16; text++, digits++) {
			v = v * 10 + (uint64_t)(*text - '0');
			scale *= 10;
		}
	*value = (double)v / scale;
	*end = text;
	return digits > 0 && !isdigit((unsigned char)*text) && v <= (UINT64_C(1) << 53);
}

/* *suffix: the row of the unit that was given. */
static bool read_value(
        enum tk_quantity kind, const char *text, double *value, const struct suffix **suffix)
{
	const char *end;
	double v;

	if (!read_decimal(text, &v, &end))
		return false;
	while (*end == ' ' && end[1])
		end++;
	if (kind == TK_QUANTITY_TIME && v == 0 && !*end)
		end = "s";
	for (const struct suffix *s = kinds[kind].suffixes; s->text; s++) {
		if (strcmp(s->text, end) != 0)
			continue;
		/* 2 / 100 is the nearest double to 0.02; 2 * 0.01 need not be. */
		*value = s->factor < 1 ? v / round(1 / s->factor) : v * s->factor;
		*suffix = s;
		return !kinds[kind].whole || (*value <= 0x1p53 && *value == floor(*value));
	}
	return false;
}

static int not_a(const char *text, const char *what, const char *expected, struct tk_error *err)
{
	char shown[TK_TEXT_EXCERPT_SIZE];

	return tk_fail(err, TK_EDATA, "\"%s\" is not %s; expected %s",
	        tk_text_format_excerpt(text, shown), what, expected);
}

static int out_of_range(enum tk_quantity kind, const char *text, bool bare, double min, double max,
        struct tk_error *err)
{
	char low[TK_UNITS_TEXT_SIZE], high[TK_UNITS_TEXT_SIZE];
	const char *hint = "";

	if (bare && kind == TK_QUANTITY_DURATION)
		hint = " (a number without a unit is in seconds)";
	tk_units_format(kind, min, low);
	tk_units_format(kind, max, high);
	if (isinf(max))
		return tk_fail(err, TK_EDATA, "\"%.60s\" is out of range; expected at least %s%s",
		        text, low, hint);
	return tk_fail(err, TK_EDATA, "\"%.60s\" is out of range; expected %s to %s%s", text, low,
	        high, hint);
}

int tk_units_parse(enum tk_quantity kind, const char *text, double min, double max, double *value,
        struct tk_error *err)
{
	const struct suffix *suffix;
	double v;

	if (!read_value(kind, text, &v, &suffix))
		return not_a(text, kinds[kind].name, kinds[kind].expected, err);
	const bool bare = !*suffix->text;

	/* 5 could be meant as 5 % or as a factor of 5. */
	if (kind == TK_QUANTITY_FRACTION && bare && v >= 1)
		return tk_fail(err, TK_EDATA,
		        "\"%.60s\" is ambiguous; expected %.60s%% or a fraction below 1", text,
		        text);
	if (v < min || v > max)
		return out_of_range(kind, text, bare, min, max, err);
	*value = v;
	return TK_OK;
}

int tk_units_parse_seconds(const char *text, int64_t *seconds, struct tk_error *err)
{
	double s = 0;
	TRY(tk_units_parse(TK_QUANTITY_DURATION, text, 0, 1e11, &s, err));
	*seconds = (int64_t)ceil(s - 1e-9);
	return TK_OK;
}

int tk_units_parse_bool(const char *text, bool *value, struct tk_error *err)
{
	static const char *const words[] = {"no", "yes", "false", "true", "off", "on"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i], text) == 0) {
			*value = i % 2;
			return TK_OK;
		}
	return not_a(text, "a switch", "yes or no", err);
}

/* Six significant digits, all of a larger number; without an exponent (from 1e16 on: with one) or
 * zeros at the end. */
static void write_decimal(double value, char out[TK_UNITS_TEXT_SIZE])
{
	if (!(value < 1e16)) {
		snprintf(out, TK_UNITS_TEXT_SIZE, "%.6g", value);
		return;
	}
	const int whole = value > 1e-9 ? (int)floor(log10(value)) + 1 : -9,
	          places = whole >= 6 ? 0 : 6 - whole;
	int len = snprintf(out, TK_UNITS_TEXT_SIZE, "%.*f", places, value);

	while (places && out[len - 1] == '0')
		out[--len] = '\0';
	if (out[len - 1] == '.')
		out[len - 1] = '\0';
}

/* Whether the text stands for this value, where it has to be a whole number: 1234567 bytes are not
 * 1.17738 MiB. */
static bool is_exact(enum tk_quantity kind, const char *text, double value)
{
	const struct suffix *suffix;
	double back;

	return !kinds[kind].whole || (read_value(kind, text, &back, &suffix) && back == value);
}

const char *tk_units_format(enum tk_quantity kind, double value, char out[TK_UNITS_TEXT_SIZE])
{
	const struct suffix *first = kinds[kind].suffixes;

	if (value == 0 && kind != TK_QUANTITY_FRACTION)
		return strcpy(out, "0");
	for (const struct suffix *s = first; s->text; s++) {
		char larger[TK_UNITS_TEXT_SIZE];

		if (!s->written || (s != first && value < s->factor))
			continue;
		write_decimal(value / s->factor, larger);
		strcat(larger, s->text);
		if (s == first || is_exact(kind, larger, value))
			strcpy(out, larger);
	}
	return out;
}
