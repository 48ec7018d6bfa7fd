#include "cli/history/csv_value.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"

/* Digits of a number that is exact in double precision, also times or over a power of ten up to
 * EXACT_POWER. */
#define EXACT_DIGITS 15
#define EXACT_POWER 22

#define DAY_S INT64_C(86400)

int tk_csv_read_day(
        const struct tk_csv *t, const char *text, int64_t *day, bool *is_date, struct tk_error *err)
{
	const char *digit = text;
	double fraction;
	char *end;

	*is_date = false;
	for (*day = 0; *digit >= '0' && *digit <= '9' && digit - text < EXACT_DIGITS; digit++)
		*day = 10 * *day + (*digit - '0');
	if (digit != text && !*digit)
		return TK_OK;
	errno = 0;
	*day = strtoll(text, &end, 10);
	if (*text && !*end && !errno)
		return TK_OK;
	if (!tk_time_parse(text, day, NULL)) {
		*is_date = true;
		*day = *day / DAY_S - (*day % DAY_S < 0);
		return TK_OK;
	}
	fraction = strtod(text, &end);
	if (*text && !*end && fabs(fraction) < 1e15) {
		*day = (int64_t)floor(fraction);
		return TK_OK;
	}
	return tk_fail(err, TK_EDATA,
	        "%s:%zu: day: \"%.40s\" is not a number of days or a date (2026-11-21)", t->path,
	        t->line, text);
}

/* strtod for plain decimal numbers, ten times as fast. *end: as by strtod; `text` if it is another
 * kind of number. */
static double parse_plain_number(const char *text, const char **end)
{
	static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
	        1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	const char *s = text;
	int64_t digits = 0;
	int count = 0, power = 0, sign = 1;
	bool dot = false;

	*end = text;
	for (; (*s >= '0' && *s <= '9') || (*s == '.' && !dot); s++) {
		if (*s == '.') {
			dot = true;
			continue;
		}
		digits = 10 * digits + (*s - '0');
		power -= dot;
		if (++count > EXACT_DIGITS)
			return 0;
	}
	if (count && (*s == 'e' || *s == 'E')) {
		int exponent = 0;

		s++;
		sign = *s == '-' ? -1 : 1;
		s += *s == '-' || *s == '+';
		if (*s < '0' || *s > '9')
			return 0;
		for (; *s >= '0' && *s <= '9' && exponent < 1000; s++)
			exponent = 10 * exponent + (*s - '0');
		power += sign * exponent;
	}
	if (!count || *s || abs(power) > EXACT_POWER)
		return 0;
	*end = s;
	return power < 0 ? (double)digits / powers[-power] : (double)digits * powers[power];
}

int tk_csv_read_value(const struct tk_csv *t, const char *text, double *value, struct tk_error *err)
{
	const char *end;
	char *rest;

	*value = parse_plain_number(text, &end);
	if (end != text)
		return TK_OK;
	*value = strtod(text, &rest);
	return *text && !*rest ? TK_OK
	                       : tk_fail(err, TK_EDATA, "%s:%zu: value: \"%.40s\" is not a number",
	                                 t->path, t->line, text);
}
