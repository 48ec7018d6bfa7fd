#include "cli/when.h"

#include <ctype.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"

#define DAY_S INT64_C(86400)

static bool is_number(const char *s)
{
	return *s && strspn(s, "0123456789") == strlen(s);
}

/* A number alone is not a duration: it may be the number of a night. */
static bool parse_age(const char *text, int64_t *age_s)
{
	return isdigit((unsigned char)*text) && !is_number(text) &&
	       !tk_units_parse_seconds(text, age_s, NULL);
}

/* "today" and "yesterday": how many days ago; -1: another word. */
static int days_ago(const char *text)
{
	if (strcmp(text, "today") == 0)
		return 0;
	return strcmp(text, "yesterday") == 0 ? 1 : -1;
}

int tk_when_parse(
        const char *text, int64_t now_s, bool end_of_day, int64_t *out, struct tk_error *err)
{
	int64_t age_s, end_s = end_of_day ? DAY_S - 1 : 0;
	int days = days_ago(text);

	if (parse_age(text, &age_s))
		*out = now_s - age_s;
	else if (strcmp(text, "last week") == 0)
		*out = now_s - 7 * DAY_S;
	else if (days >= 0)
		*out = now_s - now_s % DAY_S - days * DAY_S + end_s;
	else if (tk_time_parse(text, out, NULL))
		return tk_fail(err, TK_EUSAGE,
		        "\"%.100s\" is not a duration (7d), date (2026-11-21), today, yesterday or "
		        "last week",
		        text);
	else if (strlen(text) == strlen("2026-11-21") && *text != '@')
		*out += end_s;
	return TK_OK;
}
