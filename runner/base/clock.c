/* Time in the three forms that the program needs: monotonic, calendar, text. */
#include "base/base.h"

#include <ctype.h>
#include <errno.h>
#include <time.h>

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
	return format_time(t_s, "%Y-%m-%dT%H:%M:%SZ", out);
}

const char *tk_time_format_day(int64_t t_s, char out[TK_TIME_ISO_SIZE])
{
	return format_time(t_s, "%Y-%m-%d", out);
}

/* Passes by a text of the given shape, d being a digit; false: it has another one. */
static bool take(const char **p, const char *shape)
{
	const char *at = *p;

	for (; *shape; shape++, at++)
		if (*shape == 'd' ? !isdigit((unsigned char)*at) : *at != *shape)
			return false;
	*p = at;
	return true;
}

static int two_digits(const char *p)
{
	return 10 * (p[0] - '0') + p[1] - '0';
}

/* "Z", "+hh:mm", "-hhmm" or nothing (UTC); false for anything else. */
static bool take_zone(const char **p, int *offset_s)
{
	const char *sign = *p, *minute;

	if (*sign == 'Z' || *sign == 'z')
		return ++*p, true;
	if (*sign != '+' && *sign != '-')
		return true;
	++*p;
	if (!take(p, "dd:dd") && !take(p, "dddd"))
		return false;
	minute = *p - 2;
	*offset_s = (*sign == '-' ? -60 : 60) * (60 * two_digits(sign + 1) + two_digits(minute));
	return two_digits(sign + 1) <= 23 && two_digits(minute) <= 59;
}

static bool take_clock(const char **p, struct tm *tm, int *offset_s)
{
	const char *start = ++*p;

	if (!take(p, "dd:dd"))
		return false;
	tm->tm_hour = two_digits(start);
	tm->tm_min = two_digits(start + 3);
	if (take(p, ":dd")) {
		tm->tm_sec = two_digits(*p - 2);
		if (take(p, "."))
			*p += strspn(*p, "0123456789");
	}
	return tm->tm_hour <= 23 && tm->tm_min <= 59 && tm->tm_sec <= 59 && take_zone(p, offset_s);
}

static bool parse_calendar(const char *p, int64_t *t_s)
{
	const char *start = p;
	struct tm tm = {0};
	int offset_s = 0, day;

	if (!take(&p, "dddd-dd-dd") || start[0] == '0' || (start[0] == '1' && start[1] < '9'))
		return false;
	tm.tm_year = 100 * two_digits(start) + two_digits(start + 2) - 1900;
	tm.tm_mon = two_digits(start + 5) - 1;
	day = tm.tm_mday = two_digits(start + 8);
	if ((*p == 'T' || *p == 't' || *p == ' ') && !take_clock(&p, &tm, &offset_s))
		return false;
	if (*p || day < 1 || tm.tm_mon < 0 || tm.tm_mon > 11)
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
