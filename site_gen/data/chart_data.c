/* Writing the data files and the pages of the series: shard by shard, each wholly or by a line for the night. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "site_gen/data/chart_data.h"
#include "site_gen/pages/page.h"
#include "site_gen/data/shard.h"

#define SERIES_IN_GROUP 8 /* a page loads its group: about 20 kB */
#define GROUPS_IN_SHARD 2
#define LOADED_DAYS 180 /* that a page loads at once: a year that ends before is loaded where it is asked for */
#define YEARS 64
#define SAMPLED_NIGHTS 8        /* newest ones whose samples are shown */
#define SAMPLED_SERIES_MAX 1000 /* where there are more series, only of those that moved */
#define HOT_BYTES_MAX ((size_t)64 << 20)
#define COLD_AFTER_S ((int64_t)30 * 86400) /* the cut is the start of that month: 30 to 61 nights are recent */
#define DAY_S 86400

/* ---- groups and shards ---- */

int tk_chart_data_plan(const struct tk_model *m, struct tk_chart_data *out, struct tk_error *err)
{
	size_t count = (m->series_count + SERIES_IN_GROUP - 1) / SERIES_IN_GROUP;
	count = count ? count : 1;
	size_t shards = (count + GROUPS_IN_SHARD - 1) / GROUPS_IN_SHARD, of_shard = m->series_count / shards + 1,
	       by_series = (TK_SITE_REFRESH_SERIES + of_shard - 1) / of_shard,
	       by_builds = (shards + TK_SITE_REFRESH_BUILDS - 1) / TK_SITE_REFRESH_BUILDS,
	       refreshed = by_series > by_builds ? by_series : by_builds;
	*out = (struct tk_chart_data){.group_count = count,
	        .shard_count = shards,
	        .refreshed = refreshed < shards ? refreshed : shards,
	        .group_of = calloc(m->series_count + 1, sizeof *out->group_of)};
	if (!out->group_of)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	/* in the order in which they came: one that is new changes no group but the last */
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

static size_t shard_of(size_t group)
{
	return group / GROUPS_IN_SHARD;
}

size_t tk_chart_data_group(const struct tk_site *site, const struct tk_site_series *s)
{
	return site->data.group_of[s - site->model.series];
}

static void year_path(char path[64], size_t group, int bit)
{
	snprintf(path, 64, "data/%03zx.%d.js", group, TK_CHART_DATA_FIRST_YEAR + bit);
}

static void recent_path(char path[64], size_t group)
{
	snprintf(path, 64, "data/%03zx.recent.js", group);
}

static void hot_path(char path[64], size_t shard)
{
	snprintf(path, 64, "data/%03zx.hot.js", shard);
}

/* ---- which files ---- */

static int bit_of(int64_t t_s)
{
	struct tm tm;
	time_t t = (time_t)t_s;
	int year = gmtime_r(&t, &tm) ? tm.tm_year + 1900 : TK_CHART_DATA_FIRST_YEAR;
	int bit = year - TK_CHART_DATA_FIRST_YEAR;
	return bit < 0 ? 0 : bit >= YEARS ? YEARS - 1 : bit;
}

static int64_t start_of(int bit)
{
	struct tm tm = {.tm_year = TK_CHART_DATA_FIRST_YEAR + bit - 1900, .tm_mday = 1};
	return bit > 0 ? timegm(&tm) : INT64_MIN;
}

static int64_t cut_of(int64_t newest_s)
{
	struct tm tm;
	time_t t = (time_t)(newest_s - COLD_AFTER_S);
	if (!newest_s || !gmtime_r(&t, &tm))
		return 0;
	struct tm month = {.tm_year = tm.tm_year, .tm_mon = tm.tm_mon, .tm_mday = 1};
	return timegm(&month);
}

void tk_chart_data_list_page_files(
        struct tk_site *site, struct tk_value *list, struct tk_buf *older, const struct tk_site_series *s)
{
	size_t group = tk_chart_data_group(site, s);
	const struct tk_point *last = tk_series_last_point(s); /* what ended long ago is drawn to its end */
	int64_t newest_s = last && last->as_of_s < site->model.newest_s ? last->as_of_s : site->model.newest_s;
	int64_t from_s = newest_s - (int64_t)LOADED_DAYS * DAY_S;
	char path[64];
	for (int bit = 0; bit < YEARS; bit++) {
		if (!(site->state.years[group] >> bit & 1))
			continue;
		year_path(path, group, bit);
		if (bit + 1 == YEARS || start_of(bit + 1) > from_s)
			tk_value_append_text(site->arena, list, path);
		else
			tk_buf_add_printf(older, "%s%s", older->len ? " " : "", path);
	}
	recent_path(path, group);
	tk_value_append_text(site->arena, list, path);
	hot_path(path, shard_of(group));
	tk_value_append_text(site->arena, list, path);
}

void tk_chart_data_add_all_files(const struct tk_site *site, struct tk_buf *out, const struct tk_site_series *s)
{
	size_t group = tk_chart_data_group(site, s);
	char path[64];
	for (int bit = 0; bit < YEARS; bit++)
		if (site->state.years[group] >> bit & 1) {
			year_path(path, group, bit);
			tk_buf_add_printf(out, "%s ", path);
		}
	recent_path(path, group);
	tk_buf_add_printf(out, "%s ", path);
	hot_path(path, shard_of(group));
	tk_buf_add_str(out, path);
}

void tk_chart_data_add_files_json(struct tk_buf *out, const struct tk_site *site, size_t group)
{
	char path[64];
	tk_buf_add_char(out, '[');
	for (int bit = 0; bit < YEARS; bit++)
		if (site->state.years[group] >> bit & 1) {
			year_path(path, group, bit);
			tk_buf_add_printf(out, "[%d,\"%s\"],", TK_CHART_DATA_FIRST_YEAR + bit, path);
		}
	recent_path(path, group);
	tk_buf_add_printf(out, "[0,\"%s\"],", path);
	hot_path(path, shard_of(group));
	tk_buf_add_printf(out, "[0,\"%s\"]]", path);
}

/* ---- what is new ---- */

/* A series of the shard in hand. `fresh`: its points that no data file has yet. */
struct member {
	struct tk_site_series *series;
	struct tk_series_state *state;
	size_t group;
	const struct tk_point *fresh;
	size_t fresh_count, fresh_done;
	bool looks_other, is_lost; /* lost: what is new cannot be told from what was there */
	struct tk_rows late;       /* where more than the newest point is fresh */
	struct tk_rows window, read;
	const struct tk_point *past, *recent;
	size_t past_count, recent_count, past_done;
};

static bool has_moved(const struct tk_site_series *s)
{
	return s->verdict && strcmp(tk_verdict_tone(s->verdict->status), "quiet") != 0;
}

/* What its page says beside numbers of nights. The reason of a verdict that is none has the noise of the night in it. */
static uint64_t look_of(const struct tk_site_series *s)
{
	uint64_t h = tk_fnv1a_add(TK_FNV1A_INIT, s->verdict ? s->verdict->status : "");
	h = tk_fnv1a_add(h, has_moved(s) ? s->verdict->reason : "");
	h = tk_fnv1a_add(h, s->failure ? s->failure->outcome : "");
	h = tk_fnv1a_add(h, s->failure ? s->failure->message : "");
	h = tk_fnv1a_add(h, s->newest_count ? "measured" : "");
	for (size_t i = 0; i < s->change_count; i++) {
		const struct tk_change_point_row *c = s->changes[i];
		char step[64];
		/* its size to a hundredth: the level after it takes every night in */
		double size = c->before_value > 0 && c->after_value > 0 ? log(c->after_value / c->before_value) : 0;
		snprintf(step, sizeof step, "%lld %.0f", (long long)c->as_of_s, size * 100);
		h = tk_fnv1a_add(tk_fnv1a_add(h, step), c->cause);
	}
	return h;
}

/* More than one point is new: reads from the last one on that is known. */
static int read_late(struct tk_site *site, struct member *x, struct tk_error *err)
{
	const struct tk_series_state *state = x->state;
	int status = tk_store_list_points(site->model.store, x->series->row->id, state->last_s, 0, &x->late, err);
	const struct tk_point *points = x->late.rows;
	for (size_t i = 0; !status && i < x->late.count; i++)
		if (points[i].run_id == state->last_run_id) {
			x->fresh = points + i + 1;
			x->fresh_count = x->late.count - i - 1;
			return 0;
		}
	x->is_lost = true;
	return status;
}

static int find_fresh(struct tk_site *site, struct member *x, struct tk_error *err)
{
	const struct tk_site_series *s = x->series;
	const struct tk_point *last = tk_series_last_point(s);
	int64_t known = x->state->last_run_id;
	x->looks_other = x->state->look != look_of(s);
	x->is_lost = site->reuse.past && site->reuse.past[s - site->model.series];
	if ((last ? last->run_id : 0) == known || x->is_lost)
		return 0;
	if (!last) { /* what was there is gone */
		x->is_lost = true;
		return 0;
	}
	if ((s->newest_count == 2 ? s->newest[0].run_id : 0) != known)
		return read_late(site, x, err);
	x->fresh = last;
	x->fresh_count = 1;
	return 0;
}

static void keep_state(struct tk_site *site, struct member *x)
{
	const struct tk_point *last = tk_series_last_point(x->series);
	x->state->last_run_id = last ? last->run_id : 0;
	x->state->last_s = last ? last->as_of_s : 0;
	x->state->look = look_of(x->series);
	site->state.is_changed = site->state.is_changed || x->fresh_count || x->looks_other || x->is_lost;
}

/* ---- a whole shard ---- */

/* Points before `cut_s` from the start of a year on, the recent ones, and the window that the page shows. */
static int read_member(struct tk_site *site, struct member *x, int64_t from_s, int64_t cut_s, struct tk_error *err)
{
	struct tk_store *store = site->model.store;
	int64_t id = x->series->row->id;
	int status = tk_store_list_points(store, id, INT64_MIN, TK_SITE_WINDOW_POINTS, &x->window, err);
	const struct tk_point *points = x->window.rows;
	size_t count = x->window.count;
	bool is_all = count < TK_SITE_WINDOW_POINTS, reaches = is_all || points[0].as_of_s < cut_s;
	if (!status && !reaches) /* more recent points than the window holds */
		status = tk_store_list_points(store, id, from_s < cut_s ? from_s : cut_s, 0, &x->read, err);
	else if (!status && !is_all && from_s < cut_s)
		status = tk_store_list_points_between(store, id, from_s, cut_s, &x->read, err);
	if (status)
		return status;
	if (!reaches) {
		points = x->read.rows;
		count = x->read.count;
	}
	size_t hot = count;
	while (hot && points[hot - 1].as_of_s >= cut_s)
		hot--;
	x->recent = points + hot;
	x->recent_count = count - hot;
	bool own = reaches && !is_all && from_s < cut_s;
	x->past = own ? x->read.rows : points;
	x->past_count = own ? x->read.count : hot;
	x->past_done = 0;
	while (x->past_done < x->past_count && x->past[x->past_done].as_of_s < from_s)
		x->past_done++;
	return 0;
}

/* The years of its points before `cut_s`: pages name the files of other groups too, which may be written after them. */
static int find_years(struct tk_site *site, const struct member *x, int64_t cut_s, struct tk_error *err)
{
	uint64_t *years = &site->state.years[x->group];
	int status = 0;
	for (int bit = 0; !status && bit < YEARS; bit++) {
		int64_t at_s = cut_s;
		if (*years >> bit & 1)
			continue;
		status = tk_store_get_first_time(site->model.store, x->series->row->id, start_of(bit), cut_s, &at_s, err);
		if (status || at_s >= cut_s)
			break;
		bit = bit_of(at_s);
		*years |= UINT64_C(1) << bit;
	}
	return status;
}

static int write_year(
        struct tk_site *site, struct member *members, size_t count, size_t group, int bit, struct tk_error *err)
{
	bool any = false;
	char path[64];
	int64_t end_s = bit + 1 < YEARS ? start_of(bit + 1) : INT64_MAX;
	tk_buf_clear(&site->page);
	for (size_t i = 0; i < count; i++) {
		struct member *x = &members[i];
		size_t first = x->past_done;
		while (x->past_done < x->past_count && x->past[x->past_done].as_of_s < end_s)
			x->past_done++;
		if (x->past_done == first)
			continue;
		tk_shard_add_points(&site->page, &site->model, x->series, x->past + first, x->past_done - first, false);
		any = true;
	}
	if (!any)
		return 0;
	year_path(path, group, bit);
	return tk_output_put(site->out, path, &site->page, err);
}

static bool is_sampled(const struct tk_site *site, const struct tk_site_series *s)
{
	return has_moved(s) || site->model.series_count <= SAMPLED_SERIES_MAX;
}

static int write_recent(struct tk_site *site, struct member *members, size_t count, size_t group, struct tk_error *err)
{
	char path[64];
	int status = 0;
	tk_buf_clear(&site->page);
	for (size_t i = 0; !status && i < count; i++) {
		const struct member *x = &members[i];
		tk_shard_add_about(&site->page, &site->model, x->series);
		if (x->recent_count)
			tk_shard_add_points(&site->page, &site->model, x->series, x->recent, x->recent_count, true);
		size_t sampled = x->recent_count < SAMPLED_NIGHTS ? x->recent_count : SAMPLED_NIGHTS;
		if (sampled && is_sampled(site, x->series))
			status = tk_shard_add_samples(&site->page, &site->model, x->series,
			        x->recent + x->recent_count - sampled, sampled, err);
	}
	recent_path(path, group);
	return status ? status : tk_output_put(site->out, path, &site->page, err);
}

/* Its page shows the window. */
static int write_page(struct tk_site *site, struct member *x, struct tk_error *err)
{
	x->series->points = x->window;
	int status = tk_page_write_series(site, x->series, err);
	x->series->points = (struct tk_rows){0};
	return status;
}

static int refresh_group(
        struct tk_site *site, struct member *members, size_t count, int64_t from_s, int64_t cut_s, struct tk_error *err)
{
	size_t group = members[0].group;
	int status = 0;
	for (size_t i = 0; !status && i < count; i++) {
		status = read_member(site, &members[i], from_s, cut_s, err);
		if (status)
			break;
		keep_state(site, &members[i]);
		members[i].state->trace.count = 0;
		for (size_t k = 0; k < members[i].window.count; k++)
			tk_trace_add_point(&members[i].state->trace, TK_ROWS_AT(&members[i].window, struct tk_point, k));
	}
	for (int bit = bit_of(from_s == INT64_MIN ? 0 : from_s); !status && from_s < cut_s && bit < YEARS; bit++)
		status = write_year(site, members, count, group, bit, err);
	if (!status)
		status = write_recent(site, members, count, group, err);
	for (size_t i = 0; !status && i < count; i++)
		status = write_page(site, &members[i], err);
	for (size_t i = 0; i < count; i++) {
		tk_rows_free(&members[i].window);
		tk_rows_free(&members[i].read);
	}
	return status;
}

static int put_hot(struct tk_site *site, size_t shard, struct tk_error *err)
{
	char path[64];
	hot_path(path, shard);
	site->state.is_changed = site->state.is_changed || site->state.shards[shard].hot_bytes != site->page.len;
	site->state.shards[shard].hot_bytes = site->page.len;
	return tk_output_put(site->out, path, &site->page, err);
}

/* The files of years are written from the one on that the cut has moved in; all of them where the past is another. */
static int refresh(
        struct tk_site *site, struct member *members, size_t count, size_t shard, bool past, struct tk_error *err)
{
	struct tk_shard_state *state = &site->state.shards[shard];
	int64_t cut_s = cut_of(site->model.newest_s);
	int64_t from_s = past || !state->build  ? INT64_MIN
	                 : state->cut_s < cut_s ? start_of(bit_of(state->cut_s))
	                                        : cut_s;
	int status = 0;
	for (size_t first = 0, end; !status && first < count; first = end) {
		for (end = first; end < count && members[end].group == members[first].group; end++)
			;
		status = refresh_group(site, members + first, end - first, from_s, cut_s, err);
	}
	if (status)
		return status;
	tk_buf_clear(&site->page);
	tk_shard_begin_hot(&site->page, shard);
	for (size_t i = 0; i < count; i++)
		tk_shard_add_hot_id(&site->page, members[i].series, i);
	tk_shard_end_hot(&site->page);
	state->cut_s = cut_s;
	state->build = site->state.build;
	return put_hot(site, shard, err);
}

/* ---- a line for the night ---- */

/* The next fresh point of each member that is of one night; the number of them. */
static size_t next_night(struct member *members, size_t count, const struct tk_point **points, size_t *of)
{
	const struct tk_point *first = NULL;
	size_t n = 0;
	for (size_t i = 0; i < count; i++) {
		const struct tk_point *p = members[i].fresh_done < members[i].fresh_count
		                                   ? &members[i].fresh[members[i].fresh_done]
		                                   : NULL;
		if (p && (!first || p->as_of_s < first->as_of_s))
			first = p;
	}
	for (size_t i = 0; first && i < count; i++) {
		const struct tk_point *p = members[i].fresh_done < members[i].fresh_count
		                                   ? &members[i].fresh[members[i].fresh_done]
		                                   : NULL;
		if (!p || p->night_id != first->night_id || p->as_of_s != first->as_of_s)
			continue;
		members[i].fresh_done++;
		points[n] = p;
		of[n++] = i;
	}
	return n;
}

static int add_moved(struct tk_site *site, struct member *x, struct tk_error *err)
{
	const struct tk_site_series *s = x->series;
	if (x->looks_other)
		tk_shard_add_about(&site->page, &site->model, s);
	if (!has_moved(s) || !(x->looks_other || x->fresh_count))
		return 0;
	/* the night before as well: the two are shown over each other */
	return tk_shard_add_samples(&site->page, &site->model, s, s->newest, s->newest_count, err);
}

static int append(struct tk_site *site, struct member *members, size_t count, size_t shard, struct tk_error *err)
{
	const struct tk_point **points = calloc(count + 1, sizeof *points);
	size_t *of = calloc(count + 1, sizeof *of);
	int status = points && of ? 0 : tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t n; !status && (n = next_night(members, count, points, of));)
		tk_shard_add_hot_night(&site->page, &site->model, shard, points, of, n);
	free(points);
	free(of);
	for (size_t i = 0; !status && i < count; i++)
		status = add_moved(site, &members[i], err);
	return status ? status : put_hot(site, shard, err);
}

/* Adds what is new to the hot file, and writes the pages of series that something has become of. *done is false where
 * the file is not the one that we left. */
static int go_on(
        struct tk_site *site, struct member *members, size_t count, size_t shard, bool *done, struct tk_error *err)
{
	bool any = false;
	char path[64];
	int status = 0;
	for (size_t i = 0; i < count; i++)
		any = any || members[i].fresh_count || members[i].looks_other;
	*done = true;
	if (!any)
		return 0;
	hot_path(path, shard);
	tk_buf_clear(&site->page);
	if (tk_output_read_old(site->out, path, HOT_BYTES_MAX, &site->page, NULL) ||
	        site->page.len != site->state.shards[shard].hot_bytes) {
		*done = false;
		return 0;
	}
	status = append(site, members, count, shard, err);
	for (size_t i = 0; !status && i < count; i++) {
		struct member *x = &members[i];
		for (size_t k = 0; k < x->fresh_count; k++)
			tk_trace_add_point(&x->state->trace, &x->fresh[k]);
		keep_state(site, x);
		if (!x->looks_other)
			continue;
		status = tk_store_list_points(
		        site->model.store, x->series->row->id, INT64_MIN, TK_SITE_WINDOW_POINTS, &x->window, err);
		if (!status)
			status = write_page(site, x, err);
		tk_rows_free(&x->window);
	}
	return status;
}

/* ---- all shards ---- */

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

struct turn {
	int64_t build;
	size_t shard;
};

static int turn_order(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;
	if (x->build != y->build)
		return x->build < y->build ? -1 : 1;
	return x->shard < y->shard ? -1 : x->shard > y->shard;
}

/* Those whose turn it is: the ones that were written longest ago. */
static int choose(const struct tk_site *site, bool *due, struct tk_error *err)
{
	size_t count = site->data.shard_count;
	struct turn *turns = calloc(count + 1, sizeof *turns);
	if (!turns)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++)
		turns[i] = (struct turn){site->state.shards[i].build, i};
	qsort(turns, count, sizeof *turns, turn_order);
	for (size_t i = 0; i < site->data.refreshed; i++)
		due[turns[i].shard] = true;
	free(turns);
	return 0;
}

static bool is_past_other(const struct tk_site *site, const struct member *members, size_t count)
{
	bool past = !site->reuse.usable;
	for (size_t i = 0; i < count; i++)
		past = past || members[i].is_lost;
	return past;
}

/* Of the shards that are written anew: before any page is, as pages name files of other shards. */
static int plan_shard(struct tk_site *site, struct member *members, size_t count, bool due, struct tk_error *err)
{
	bool past = is_past_other(site, members, count);
	int64_t cut_s = cut_of(site->model.newest_s);
	int status = 0;
	for (size_t i = 0; past && i < count; i++)
		site->state.years[members[i].group] = 0;
	for (size_t i = 0; !status && (past || due) && i < count; i++)
		status = find_years(site, &members[i], cut_s, err);
	return status;
}

static int write_shard(struct tk_site *site, struct member *members, size_t count, bool due, struct tk_error *err)
{
	size_t shard = shard_of(members[0].group);
	bool past = is_past_other(site, members, count), done = false;
	int status = 0;
	if (!past && !due) {
		status = go_on(site, members, count, shard, &done, err);
		past = !done;
		if (!status && past)
			status = plan_shard(site, members, count, true, err);
	}
	return status || done ? status : refresh(site, members, count, shard, past, err);
}

static int find_members(struct tk_site *site, struct member *members, bool *news, struct tk_error *err)
{
	struct tk_model *m = &site->model;
	struct place *places = calloc(m->series_count + 1, sizeof *places);
	int status = places ? 0 : tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; !status && i < m->series_count; i++)
		places[i] = (struct place){site->data.group_of[i], i};
	if (!status && m->series_count)
		qsort(places, m->series_count, sizeof *places, place_order);
	for (size_t i = 0; !status && i < m->series_count; i++) {
		struct member *x = &members[i];
		*x = (struct member){.series = &m->series[places[i].index],
		        .state = &site->state.series[places[i].index],
		        .group = places[i].group};
		if (site->reuse.usable)
			status = find_fresh(site, x, err);
		*news = *news || x->fresh_count || x->is_lost;
	}
	free(places);
	return status;
}

static int each_shard(struct tk_site *site, struct member *members, const bool *due,
        int (*f)(struct tk_site *, struct member *, size_t, bool, struct tk_error *), struct tk_error *err)
{
	size_t count = site->model.series_count;
	int status = 0;
	for (size_t first = 0, end; !status && first < count; first = end) {
		size_t shard = shard_of(members[first].group);
		for (end = first; end < count && shard_of(members[end].group) == shard; end++)
			;
		status = f(site, members + first, end - first, due[shard], err);
	}
	return status;
}

int tk_chart_data_write(struct tk_site *site, struct tk_error *err)
{
	size_t count = site->model.series_count;
	struct member *members = calloc(count + 1, sizeof *members);
	bool *due = calloc(site->data.shard_count + 1, sizeof *due), news = !site->reuse.usable;
	int status =
	        members && due ? find_members(site, members, &news, err) : tk_fail(err, TK_ENOMEM, "out of memory");
	site->state.build += news;
	site->state.is_changed = site->state.is_changed || news;
	/* where all of them are due in every build, they are so without news too: alerts and notes have none */
	if (!status && (news || !tk_chart_data_is_incremental(&site->data)))
		status = choose(site, due, err);
	if (!status)
		status = each_shard(site, members, due, plan_shard, err);
	if (!status)
		status = each_shard(site, members, due, write_shard, err);
	for (size_t i = 0; members && i < count; i++)
		tk_rows_free(&members[i].late);
	free(members);
	free(due);
	return status;
}
