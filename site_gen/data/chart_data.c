/* Groups, shards and the names of their files. */
#include "site_gen/data/chart_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/format.h"
#include "base/memory.h"
#include "site_gen/data/shard_member.h"
#include "site_gen/pages/page.h"

#define SERIES_IN_GROUP 8 /* a page loads its group: about 20 kB */
#define GROUPS_IN_SHARD 2
#define LOADED_DAYS 180 /* loaded with a page; earlier years are loaded on demand */
#define COLD_AFTER_S \
	((int64_t)30 * \
	        86400) /* the cut is the start of the month this long ago: 30 to 61 nights are recent */
#define DAY_S 86400

int tk_chart_data_plan(const struct tk_model *m, struct tk_chart_data *out, struct tk_error *err)
{
	size_t count = (m->series_count + SERIES_IN_GROUP - 1) / SERIES_IN_GROUP;
	count = count ? count : 1;
	size_t shards = (count + GROUPS_IN_SHARD - 1) / GROUPS_IN_SHARD,
	       of_shard = m->series_count / shards + 1,
	       by_series = (TK_SITE_REFRESH_SERIES + of_shard - 1) / of_shard,
	       by_builds = (shards + TK_SITE_REFRESH_BUILDS - 1) / TK_SITE_REFRESH_BUILDS,
	       refreshed = by_series > by_builds ? by_series : by_builds;
	*out = (struct tk_chart_data){.group_count = count,
	        .shard_count = shards,
	        .refreshed = refreshed < shards ? refreshed : shards,
	        .group_of = tk_calloc(m->series_count + 1, sizeof *out->group_of)};
	if (!out->group_of)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	/* By id: a new series changes the last group only. */
	for (size_t i = 0; i < m->series_count; i++) {
		const struct tk_site_series *s = m->series_by_id.entries[i].row;
		out->group_of[s - m->series] = i / SERIES_IN_GROUP;
	}
	return 0;
}

void tk_chart_data_free(struct tk_chart_data *d)
{
	free(d->group_of);
	*d = (struct tk_chart_data){0};
}

bool tk_chart_data_is_incremental(const struct tk_chart_data *d)
{
	return d->refreshed < d->shard_count;
}

int64_t tk_chart_data_refresh_builds(const struct tk_chart_data *d)
{
	return (int64_t)((d->shard_count + d->refreshed - 1) / d->refreshed);
}

size_t tk_chart_data_shard(size_t group)
{
	return group / GROUPS_IN_SHARD;
}

size_t tk_chart_data_group(const struct tk_site *site, const struct tk_site_series *s)
{
	return site->data.group_of[s - site->model.series];
}

/* "data/03f.KIND.js", with three or more hexadecimal digits. A page names dozens of such files:
 * printf would take as long as the rest of it. */
static void set_path(char path[TK_DATA_PATH_SIZE], size_t number, const char *kind)
{
	size_t digits = 3;
	while (digits < 2 * sizeof number && number >> 4 * digits)
		digits++;
	char *at = stpcpy(path, "data/");
	for (size_t i = digits; i-- > 0;)
		*at++ = "0123456789abcdef"[number >> 4 * i & 15];
	*at++ = '.';
	stpcpy(stpcpy(at, kind), ".js");
}

void tk_chart_data_year_path(char path[TK_DATA_PATH_SIZE], size_t group, int bit)
{
	char year[TK_FORMAT_INT + 1];
	year[tk_format_int(year, TK_CHART_DATA_FIRST_YEAR + bit)] = 0;
	set_path(path, group, year);
}

void tk_chart_data_recent_path(char path[TK_DATA_PATH_SIZE], size_t group)
{
	set_path(path, group, "recent");
}

void tk_chart_data_hot_path(char path[TK_DATA_PATH_SIZE], size_t shard)
{
	set_path(path, shard, "hot");
}

int tk_chart_data_year_bit(int64_t t_s)
{
	struct tm tm;
	time_t t = (time_t)t_s;
	int year = gmtime_r(&t, &tm) ? tm.tm_year + 1900 : TK_CHART_DATA_FIRST_YEAR;
	int bit = year - TK_CHART_DATA_FIRST_YEAR;
	return bit < 0 ? 0 : bit >= TK_CHART_DATA_YEARS ? TK_CHART_DATA_YEARS - 1 : bit;
}

int64_t tk_chart_data_year_start(int bit)
{
	struct tm tm = {.tm_year = TK_CHART_DATA_FIRST_YEAR + bit - 1900, .tm_mday = 1};
	return bit > 0 ? timegm(&tm) : INT64_MIN;
}

int64_t tk_chart_data_cut(int64_t newest_s)
{
	struct tm tm;
	time_t t = (time_t)(newest_s - COLD_AFTER_S);
	if (!newest_s || !gmtime_r(&t, &tm))
		return 0;
	struct tm month = {.tm_year = tm.tm_year, .tm_mon = tm.tm_mon, .tm_mday = 1};
	return timegm(&month);
}

void tk_chart_data_list_page_files(struct tk_site *site, struct tk_value *list,
        struct tk_buf *older, const struct tk_site_series *s)
{
	size_t group = tk_chart_data_group(site, s);
	const struct tk_point *last =
	        tk_series_last_point(s); /* a series that ended is drawn to its end */
	int64_t newest_s =
	        last && last->as_of_s < site->model.newest_s ? last->as_of_s : site->model.newest_s;
	int64_t from_s = newest_s - (int64_t)LOADED_DAYS * DAY_S;
	char path[TK_DATA_PATH_SIZE];
	for (int bit = 0; bit < TK_CHART_DATA_YEARS; bit++) {
		if (!(site->state.years[group] >> bit & 1))
			continue;
		tk_chart_data_year_path(path, group, bit);
		if (bit + 1 == TK_CHART_DATA_YEARS || tk_chart_data_year_start(bit + 1) > from_s)
			tk_value_append_text(site->arena, list, path);
		else
			tk_buf_add_printf(older, "%s%s", older->len ? " " : "", path);
	}
	tk_chart_data_recent_path(path, group);
	tk_value_append_text(site->arena, list, path);
	tk_chart_data_hot_path(path, tk_chart_data_shard(group));
	tk_value_append_text(site->arena, list, path);
}

void tk_chart_data_add_all_files(
        const struct tk_site *site, struct tk_buf *out, const struct tk_site_series *s)
{
	size_t group = tk_chart_data_group(site, s);
	char path[TK_DATA_PATH_SIZE];
	for (int bit = 0; bit < TK_CHART_DATA_YEARS; bit++)
		if (site->state.years[group] >> bit & 1) {
			tk_chart_data_year_path(path, group, bit);
			tk_buf_add_str(out, path);
			tk_buf_add_char(out, ' ');
		}
	tk_chart_data_recent_path(path, group);
	tk_buf_add_str(out, path);
	tk_buf_add_char(out, ' ');
	tk_chart_data_hot_path(path, tk_chart_data_shard(group));
	tk_buf_add_str(out, path);
}

void tk_chart_data_add_files_json(struct tk_buf *out, const struct tk_site *site, size_t group)
{
	char path[TK_DATA_PATH_SIZE];
	tk_buf_add_char(out, '[');
	for (int bit = 0; bit < TK_CHART_DATA_YEARS; bit++)
		if (site->state.years[group] >> bit & 1) {
			tk_chart_data_year_path(path, group, bit);
			tk_buf_add_printf(
			        out, "[%d,\"%s\"],", TK_CHART_DATA_FIRST_YEAR + bit, path);
		}
	tk_chart_data_recent_path(path, group);
	tk_buf_add_printf(out, "[0,\"%s\"],", path);
	tk_chart_data_hot_path(path, tk_chart_data_shard(group));
	tk_buf_add_printf(out, "[0,\"%s\"]]", path);
}
