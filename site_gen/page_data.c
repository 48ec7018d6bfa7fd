/* Writing the data files: what the old site has of the past is kept unread where nothing was added to it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "site_gen/data.h"
#include "site_gen/page.h"
#include "site_gen/shard.h"

#define SERIES_IN_GROUP 16 /* on average: 20 to 40 kB for a page that shows one of them */
#define GROUPS_MAX 4096
#define YEARS 64
#define SAMPLED_NIGHTS 8        /* newest ones whose samples are shown */
#define SAMPLED_SERIES_MAX 1000 /* where there are more series, only of those that moved */

/* ---- groups --------------------------------------------------------------------------------------------------------
 */

int tk_data_plan(const struct tk_model *m, struct tk_data *out, struct tk_error *err)
{
	size_t count = 1;
	while (count < GROUPS_MAX && count * SERIES_IN_GROUP < m->series_count)
		count *= 2;
	*out = (struct tk_data){.group_count = count,
	        .group_of = calloc(m->series_count + 1, sizeof *out->group_of),
	        .years = calloc(count, sizeof *out->years)};
	if (!out->group_of || !out->years)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; i < m->series_count; i++) {
		char digits[9] = {0};
		strncpy(digits, m->series[i].problem->uid, 8); /* a hash in hex */
		out->group_of[i] = strtoul(digits, NULL, 16) % count;
	}
	return 0;
}

void tk_data_free(struct tk_data *d)
{
	free(d->group_of);
	free(d->years);
	*d = (struct tk_data){0};
}

size_t tk_data_group(const struct tk_site *site, const struct tk_site_series *s)
{
	return site->data.group_of[s - site->model.series];
}

static void year_path(char path[64], size_t group, int bit)
{
	snprintf(path, 64, "data/%03zx.%d.js", group, TK_DATA_FIRST_YEAR + bit);
}

static void recent_path(char path[64], size_t group)
{
	snprintf(path, 64, "data/%03zx.recent.js", group);
}

static int bit_of(int64_t t_s)
{
	struct tm tm;
	time_t t = (time_t)t_s;
	int year = gmtime_r(&t, &tm) ? tm.tm_year + 1900 : TK_DATA_FIRST_YEAR;
	int bit = year - TK_DATA_FIRST_YEAR;
	return bit < 0 ? 0 : bit >= YEARS ? YEARS - 1 : bit;
}

void tk_data_set_files(
        struct tk_site *site, struct tk_value *list, struct tk_buf *older, const struct tk_site_series *s)
{
	size_t group = tk_data_group(site, s);
	int newest = bit_of(site->reuse.cut_s);
	char path[64];
	for (int bit = 0; bit < YEARS; bit++) {
		if (!(site->data.years[group] >> bit & 1))
			continue;
		year_path(path, group, bit);
		if (bit >= newest - 1)
			tk_add_text(site->arena, list, path);
		else
			tk_buf_printf(older, "%s%s", older->len ? " " : "", path);
	}
	recent_path(path, group);
	tk_add_text(site->arena, list, path);
}

void tk_data_files_json(struct tk_buf *out, const struct tk_data *d, size_t group)
{
	char path[64];
	tk_buf_char(out, '[');
	for (int bit = 0; bit < YEARS; bit++)
		if (d->years[group] >> bit & 1) {
			year_path(path, group, bit);
			tk_buf_printf(out, "[%d,\"%s\"],", TK_DATA_FIRST_YEAR + bit, path);
		}
	recent_path(path, group);
	tk_buf_printf(out, "[0,\"%s\"]]", path);
}

/* ---- points --------------------------------------------------------------------------------------------------------
 */

/* The series of one group with their points: past ones by themselves where the window does not reach them. */
struct member {
	struct tk_site_series *series;
	struct tk_rows read;
	const struct tk_point *past, *recent;
	size_t past_count, recent_count, done; /* past[done..) are not written yet */
};

static int64_t end_of(int bit)
{
	struct tm tm = {.tm_year = TK_DATA_FIRST_YEAR + bit + 1 - 1900, .tm_mday = 1};
	return timegm(&tm);
}

static bool window_is_enough(const struct tk_site *site, const struct tk_site_series *s)
{
	const struct tk_point *first = s->points.rows;
	return s->window_is_all || (s->points.count && first->as_of_s < site->reuse.cut_s);
}

/* The files of past years of the old site, where all of the group may be kept. */
static bool keep_past(struct tk_site *site, const struct member *members, size_t count, size_t group, int first_bit)
{
	char path[64];
	for (size_t i = 0; i < count; i++)
		if (!tk_reuse_series(&site->reuse, members[i].series->row->id) ||
		        !window_is_enough(site, members[i].series))
			return false;
	for (int bit = first_bit; bit <= bit_of(site->reuse.cut_s); bit++) {
		year_path(path, group, bit);
		if (tk_output_keep(site->out, path))
			site->data.years[group] |= UINT64_C(1) << bit;
	}
	return true;
}

static int read_members(struct tk_site *site, struct member *members, size_t count, bool past, struct tk_error *err)
{
	int64_t cut_s = site->reuse.cut_s;
	int status = 0;
	for (size_t i = 0; !status && i < count; i++) {
		struct member *x = &members[i];
		const struct tk_site_series *s = x->series;
		const struct tk_point *points = s->points.rows;
		bool enough = window_is_enough(site, s);
		if (!enough) /* more recent points than the window holds */
			status = tk_store_points(site->model.store, s->row->id, INT64_MIN, 0, &x->read, err);
		else if (past && !s->window_is_all)
			status = tk_store_past(site->model.store, s->row->id, cut_s, &x->read, err);
		points = enough ? points : x->read.rows;
		size_t all = enough ? s->points.count : x->read.count, hot = all;
		while (hot && points[hot - 1].as_of_s >= cut_s)
			hot--;
		x->recent = points + hot;
		x->recent_count = all - hot;
		bool own = enough && past && !s->window_is_all;
		x->past = own ? x->read.rows : points;
		x->past_count = own ? x->read.count : hot;
	}
	return status;
}

static int write_year(
        struct tk_site *site, struct member *members, size_t count, size_t group, int bit, struct tk_error *err)
{
	bool any = false;
	char path[64];
	int64_t end_s = end_of(bit);
	tk_buf_clear(&site->page);
	for (size_t i = 0; i < count; i++) {
		struct member *x = &members[i];
		size_t first = x->done;
		while (x->done < x->past_count && (x->past[x->done].as_of_s < end_s || bit == YEARS - 1))
			x->done++;
		if (x->done == first)
			continue;
		tk_shard_points(&site->page, &site->model, x->series, x->past + first, x->done - first, false);
		any = true;
	}
	if (!any)
		return 0;
	site->data.years[group] |= UINT64_C(1) << bit;
	year_path(path, group, bit);
	return tk_output_put(site->out, path, &site->page, err);
}

static bool is_sampled(const struct tk_site *site, const struct tk_site_series *s)
{
	bool moved = s->verdict && strcmp(tk_tone_of_verdict(s->verdict->status), "quiet");
	return moved || site->model.series_count <= SAMPLED_SERIES_MAX;
}

static int write_recent(struct tk_site *site, struct member *members, size_t count, size_t group, struct tk_error *err)
{
	char path[64];
	int status = 0;
	tk_buf_clear(&site->page);
	for (size_t i = 0; !status && i < count; i++) {
		const struct member *x = &members[i];
		tk_shard_about(&site->page, &site->model, x->series);
		if (x->recent_count)
			tk_shard_points(&site->page, &site->model, x->series, x->recent, x->recent_count, true);
		size_t sampled = x->recent_count < SAMPLED_NIGHTS ? x->recent_count : SAMPLED_NIGHTS;
		if (sampled && is_sampled(site, x->series))
			status = tk_shard_samples(&site->page, &site->model, x->series,
			        x->recent + x->recent_count - sampled, sampled, err);
	}
	recent_path(path, group);
	return status ? status : tk_output_put(site->out, path, &site->page, err);
}

static int write_group(
        struct tk_site *site, struct member *members, size_t count, size_t group, int first_bit, struct tk_error *err)
{
	bool kept = keep_past(site, members, count, group, first_bit);
	int status = read_members(site, members, count, !kept, err);
	for (int bit = 0; !status && !kept && bit < YEARS; bit++)
		status = write_year(site, members, count, group, bit, err);
	if (!status)
		status = write_recent(site, members, count, group, err);
	for (size_t i = 0; i < count; i++)
		tk_rows_free(&members[i].read);
	return status;
}

/* Which series are in which group: an order of the model's series by group. */
struct place {
	size_t group, index;
};

static int place_order(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

int tk_data_write(struct tk_site *site, struct tk_error *err)
{
	struct tk_model *m = &site->model;
	struct place *places = calloc(m->series_count + 1, sizeof *places);
	struct member *members = calloc(m->series_count + 1, sizeof *members);
	int status = places && members ? 0 : tk_fail(err, TK_ENOMEM, "out of memory"), first_bit = YEARS;
	for (size_t i = 0; !status && i < m->series_count; i++)
		places[i] = (struct place){site->data.group_of[i], i};
	for (size_t i = 0; i < m->night_count; i++)
		first_bit =
		        bit_of(m->nights[i].row->as_of_s) < first_bit ? bit_of(m->nights[i].row->as_of_s) : first_bit;
	if (!status && m->series_count)
		qsort(places, m->series_count, sizeof *places, place_order);
	for (size_t first = 0, end; !status && first < m->series_count; first = end) {
		for (end = first; end < m->series_count && places[end].group == places[first].group; end++)
			members[end - first] = (struct member){.series = &m->series[places[end].index]};
		status = write_group(site, members, end - first, places[first].group, first_bit, err);
	}
	free(places);
	free(members);
	return status;
}
