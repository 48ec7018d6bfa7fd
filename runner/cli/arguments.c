/* See options.h. */
#include <ctype.h>

#include "base/base.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "store/store.h"

static int fail_status(const char *word, struct tk_error *err)
{
	const char *known[TK_VERDICT_STATUS_COUNT + 1] = {0};
	char hint[TK_SUGGEST_HINT_SIZE];

	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
		known[i] = tk_verdict_status_name((enum tk_verdict_status)i);
	return tk_fail(err, TK_EUSAGE, "unknown status \"%s\"%s", word,
	        tk_suggest_hint(word, known,
	                "; expected regressed, newly-failed, missing, improved, ... "
	                "(docs/reference/diff.md)",
	                hint));
}

int tk_option_parse_statuses(const char *text, void *to, struct tk_error *err)
{
	struct tk_status_set *set = to;
	enum tk_verdict_status s;
	char word[64];

	if (!*text) /* an unset variable of a script, which would never fail */
		return tk_fail(err, TK_EUSAGE, "expected a list of statuses, or none");
	*set = (struct tk_status_set){.is_given = true};
	if (strcmp(text, "none") == 0)
		return TK_OK;
	for (; *text; text += strcspn(text, ","), text += *text == ',') {
		snprintf(word, sizeof word, "%.*s", (int)strcspn(text, ","), text);
		if (tk_verdict_status_parse(word, &s))
			return fail_status(word, err);
		set->has[s] = true;
	}
	return TK_OK;
}

void tk_status_set_default(struct tk_status_set *set, char *const *words)
{
	enum tk_verdict_status s;

	for (; !set->is_given && words && *words; words++)
		if (!tk_verdict_status_parse(*words, &s)) /* "none" is not a status */
			set->has[s] = true;
}

int tk_option_parse_url(const char *text, void *to, struct tk_error *err)
{
	static const char *const starts[] = {"https://", "http://", "file://"};

	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (strncmp(text, starts[i], strlen(starts[i])) == 0) {
			*(const char **)to = text;
			return TK_OK;
		}
	return tk_fail(err, TK_EUSAGE,
	        "expected an address that begins with https://, http:// or file://");
}

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

int tk_when_count_from_end(struct tk_store *s, const char *text, const char *machine,
        int64_t *now_s, struct tk_error *err)
{
	int64_t newest_s, at_s, later_s;
	char day[TK_TIME_ISO_SIZE];

	if (tk_when_parse(text, *now_s, true, &at_s, NULL) ||
	        tk_when_parse(text, *now_s + 7 * DAY_S, true, &later_s, NULL) || at_s == later_s)
		return TK_OK;
	TRY(tk_store_select_int(s,
	        "SELECT CASE kind WHEN 'import' THEN as_of_s END FROM"
	        " (SELECT kind, as_of_s FROM night_v WHERE kind <> 'run'"
	        "  AND machine = ifnull(?1, machine) ORDER BY as_of_s DESC LIMIT 1)",
	        TK_ARGS(machine), *now_s, &newest_s, err));
	if (newest_s >= at_s)
		return TK_OK;
	tk_print_line(stderr, "tracker: the history ends on %s; %s counts from there",
	        tk_time_format_day(newest_s, day), text);
	*now_s = newest_s;
	return TK_OK;
}

#define ALERT_DIGITS_MIN 4
#define NAMED_MAX 4

/* ?1: the text; ?2: whether it is a pattern; ?3: the problem that it is, '' where it is none, NULL
 * where titles do not count. */
static const char find_sql[] =
        "WITH like AS (SELECT id, slug, CASE WHEN slug = ?1 THEN 3"
        "  WHEN ?2 AND slug GLOB ?1 THEN 2 WHEN ?2 THEN 0"
        "  WHEN substr(slug, 1, length(?1)) = ?1 THEN 2"
        "  WHEN ?3 <> '' AND problem = ?3 THEN 1 WHEN ?3 <> '' THEN 0"
        "  WHEN instr(lower(slug), lower(?1)) THEN 1"
        "  WHEN ?3 IS NOT NULL AND instr(lower(title), lower(?1)) THEN 1 ELSE 0 END AS likeness"
        "  FROM series_v)"
        " SELECT id, slug, likeness FROM like WHERE likeness > 0"
        "  AND likeness = (SELECT max(likeness) FROM like) ORDER BY slug";

int tk_series_find(struct tk_store *s, const char *text, const char *problem, json_t **out,
        enum tk_likeness *likeness, struct tk_error *err)
{
	TRY(tk_records_select(
	        s, find_sql, TK_ARGS(text, strpbrk(text, "*?[") != NULL, problem), out, err));
	*likeness = (enum tk_likeness)json_integer_value(
	        json_object_get(json_array_get(*out, 0), "likeness"));
	return TK_OK;
}

static int fail_many(const json_t *found, const char *text, struct tk_error *err)
{
	AUTO(tk_buf) names = TK_BUF_INIT;
	size_t count = json_array_size(found);

	for (size_t i = 0; i < count && i < NAMED_MAX; i++)
		tk_buf_add_printf(&names, "%s%s", i ? ", " : "",
		        tk_record_text(json_array_get(found, i), "slug"));
	return tk_fail(err, TK_EUSAGE, "\"%s\" is ambiguous: it matches %zu series: %s%s", text,
	        count, tk_buf_cstr(&names), count > NAMED_MAX ? ", ..." : "");
}

static void take(const json_t *row, struct tk_series_ref *out)
{
	out->series_id = json_integer_value(json_object_get(row, "id"));
	snprintf(out->slug, sizeof out->slug, "%s", tk_record_text(row, "slug"));
	snprintf(out->good, sizeof out->good, "%s", tk_record_text(row, "good_rev"));
	snprintf(out->bad, sizeof out->bad, "%s", tk_record_text(row, "bad_rev"));
}

/* The alert, or of a group the one with the largest change. *found false: no alert has that id. */
static int find_alert(struct tk_store *s, const char *text, struct tk_series_ref *out, bool *found,
        struct tk_error *err)
{
	static const char sql[] =
	        "SELECT uid, group_uid, series_id AS id, series AS slug, good_rev, bad_rev, title,"
	        "  substr(group_uid, 1, length(?1)) = ?1 AS \"is_group:bool\" FROM alert_v"
	        " WHERE substr(group_uid, 1, length(?1)) = ?1 OR substr(uid, 1, length(?1)) = ?1"
	        " ORDER BY 8 DESC, group_uid, abs(change) DESC, uid";
	json_auto_t *rows = NULL;
	const json_t *first, *row;
	size_t i;

	TRY(tk_records_select(s, sql, TK_ARGS(text), &rows, err));
	first = json_array_get(rows, 0);
	*found = first != NULL;
	json_array_foreach (rows, i, row)
		if (i && (!json_is_true(json_object_get(first, "is_group")) ||
		                 strcmp(tk_record_text(row, "group_uid"),
		                         tk_record_text(first, "group_uid")) != 0))
			return tk_fail(err, TK_EUSAGE,
			        "\"%.80s\" is ambiguous: several alerts start with it", text);
	if (first && !*tk_record_text(first, "slug"))
		return tk_fail(err, TK_EUSAGE, "alert %s does not belong to one series: %s", text,
		        tk_record_text(first, "title"));
	if (first)
		take(first, out);
	return TK_OK;
}

int tk_series_ref_resolve(
        struct tk_store *s, const char *text, struct tk_series_ref *out, struct tk_error *err)
{
	/* The range of revisions is that of the newest alert of the series. */
	static const char sql[] =
	        "SELECT s.id, s.slug, a.good_rev, a.bad_rev FROM series s LEFT JOIN alert_v a"
	        " ON a.series_id = s.id WHERE s.id = ?1 ORDER BY a.opened_s DESC LIMIT 1";
	json_auto_t *found = NULL, *row = NULL;
	enum tk_likeness likeness;
	bool is_alert = false;

	*out = (struct tk_series_ref){0};
	if (strlen(text) >= ALERT_DIGITS_MIN)
		TRY(find_alert(s, text, out, &is_alert, err));
	if (is_alert)
		return TK_OK;
	TRY(tk_series_find(s, text, NULL, &found, &likeness, err));
	if (!json_array_size(found))
		return tk_fail(err, TK_EUSAGE,
		        "no series or alert matches \"%s\"; `tracker show '*'` lists the series",
		        text);
	if (json_array_size(found) > 1)
		return fail_many(found, text, err);
	TRY(tk_records_select_one(s, sql,
	        TK_ARGS((int64_t)tk_record_number(json_array_get(found, 0), "id")), &row, err));
	take(row, out);
	return TK_OK;
}
