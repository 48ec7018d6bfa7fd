/* Time in the three forms that the program needs: monotonic, calendar, text. */
#include "base/clock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"

int64_t tk_clock_monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t tk_clock_now_s(void)
{
	const char *pinned = getenv("TRACKER_NOW");
	int64_t t;
	char *end;

	if (pinned && *pinned) {
		errno = 0;
		t = strtoll(pinned, &end, 10);
		if (!*end && !errno)
			return t;
		if (!tk_time_parse(pinned, &t, NULL))
			return t;
	}
	return (int64_t)time(NULL);
}

void tk_clock_sleep_ns(int64_t ns)
{
	struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	if (ns > 0)
		while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
			;
}

#define DAY_S 86400
#define YEAR_10000_S INT64_C(253402300800)

static void set_two_digits(char *out, int v)
{
	out[0] = (char)('0' + v / 10);
	out[1] = (char)('0' + v % 10);
}

/* "2026-11-21" of a day from 1970 to 9999, counted from 1970: the proleptic Gregorian calendar with
 * years that begin in March, so that the leap day is their last. */
static void set_day(char out[10], int64_t day)
{
	int days = (int)day + 719468, era = days / 146097, of_era = days % 146097;
	int year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int of_year = of_era - (365 * year + year / 4 - year / 100);
	int month = (5 * of_year + 2) / 153, of_month = of_year - (153 * month + 2) / 5;
	year += era * 400 + (month >= 10);
	set_two_digits(out, year / 100);
	set_two_digits(out + 2, year % 100);
	out[4] = out[7] = '-';
	set_two_digits(out + 5, month < 10 ? month + 3 : month - 9);
	set_two_digits(out + 8, of_month + 1);
}

static const char *format_time(int64_t t_s, const char *fmt, char out[TK_TIME_ISO_SIZE])
{
	time_t t = (time_t)t_s;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(out, TK_TIME_ISO_SIZE, fmt, &tm))
		snprintf(out, TK_TIME_ISO_SIZE, "@%lld", (long long)t_s);
	return out;
}

const char *tk_time_format_iso(int64_t t_s, char out[TK_TIME_ISO_SIZE])
{
	/* pages show thousands of them, and strftime() is slow */
	if (t_s < 0 || t_s >= YEAR_10000_S)
		return format_time(t_s, "%Y-%m-%dT%H:%M:%SZ", out);
	int second = (int)(t_s % DAY_S);
	set_day(out, t_s / DAY_S);
	out[10] = 'T';
	set_two_digits(out + 11, second / 3600);
	out[13] = out[16] = ':';
	set_two_digits(out + 14, second / 60 % 60);
	set_two_digits(out + 17, second % 60);
	out[19] = 'Z';
	out[20] = 0;
	return out;
}

const char *tk_time_format_day(int64_t t_s, char out[TK_TIME_ISO_SIZE])
{
	if (t_s < 0 || t_s >= YEAR_10000_S)
		return format_time(t_s, "%Y-%m-%d", out);
	set_day(out, t_s / DAY_S);
	out[10] = 0;
	return out;
}

/* Reads exactly `digits` digits at *p and advances it past them; -1 if there are fewer. */
static int take_number(const char **p, int digits)
{
	int v = 0;

	for (int i = 0; i < digits; i++, (*p)++) {
		if (**p < '0' || **p > '9')
			return -1;
		v = v * 10 + (**p - '0');
	}
	return v;
}

/* "Z", "+hh:mm", "-hhmm" or nothing (UTC); false for anything else. */
static bool take_zone(const char **p, int *offset_s)
{
	int sign, h, m;

	*offset_s = 0;
	if (**p == 'Z' || **p == 'z')
		return ++*p, true;
	if (**p != '+' && **p != '-')
		return true;
	sign = *(*p)++ == '-' ? -1 : 1;
	h = take_number(p, 2);
	if (**p == ':')
		++*p;
	m = take_number(p, 2);
	if (h < 0 || h > 23 || m < 0 || m > 59)
		return false;
	*offset_s = sign * (h * 3600 + m * 60);
	return true;
}

static bool take_clock(const char **p, struct tm *tm, int *offset_s)
{
	++*p;
	tm->tm_hour = take_number(p, 2);
	if (tm->tm_hour < 0 || *(*p)++ != ':')
		return false;
	tm->tm_min = take_number(p, 2);
	if (**p == ':') {
		++*p;
		tm->tm_sec = take_number(p, 2);
		if (**p == '.')
			for (++*p; **p >= '0' && **p <= '9';)
				++*p;
	}
	return tm->tm_hour <= 23 && tm->tm_min >= 0 && tm->tm_min <= 59 && tm->tm_sec >= 0 &&
	       tm->tm_sec <= 59 && take_zone(p, offset_s);
}

static bool parse_calendar(const char *p, int64_t *t_s)
{
	struct tm tm = {0};
	int offset_s = 0, day;

	tm.tm_year = take_number(&p, 4) - 1900;
	if (tm.tm_year < 0 || *p++ != '-')
		return false;
	tm.tm_mon = take_number(&p, 2) - 1;
	if (tm.tm_mon < 0 || tm.tm_mon > 11 || *p++ != '-')
		return false;
	day = tm.tm_mday = take_number(&p, 2);
	if ((*p == 'T' || *p == 't' || *p == ' ') && !take_clock(&p, &tm, &offset_s))
		return false;
	if (*p || day < 1)
		return false;
	*t_s = (int64_t)timegm(&tm) - offset_s;
	return tm.tm_mday == day; /* timegm normalises 31 February to March */
}

int tk_time_parse(const char *text, int64_t *t_s, struct tk_error *err)
{
	int64_t t;
	char *end;

	errno = 0;
	if (text[0] == '@' && ((text[1] >= '0' && text[1] <= '9') || text[1] == '-')) {
		t = strtoll(text + 1, &end, 10);
		if (*end || errno)
			return tk_fail(err, TK_EDATA,
			        "\"%.60s\" is not a time in seconds like @1700000000", text);
	} else if (!parse_calendar(text, &t)) {
		return tk_fail(err, TK_EDATA,
		        "\"%.60s\" is not a time: expected 2026-11-21, 2026-11-21T09:42, "
		        "2026-11-21T09:42:00Z or "
		        "@seconds",
		        text);
	}
	*t_s = t;
	return TK_OK;
}
