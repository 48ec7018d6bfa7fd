/* Writes all files and pages of a shard. */
#include <math.h>

#include "base/error.h"
#include "site_gen/data/shard.h"
#include "site_gen/data/shard_member.h"
#include "site_gen/pages/page.h"

#define SAMPLED_NIGHTS 8        /* newest nights whose samples are stored */
#define SAMPLED_SERIES_MAX 1000 /* with more series, only those with a change */

/* Reads the points from `from_s` to `cut_s`, the recent ones, and the window that the page shows.
  */
static int read_member(struct tk_site *site, struct tk_shard_member *member, int64_t from_s,
        int64_t cut_s, struct tk_error *err)
{
	struct tk_store *store = site->model.store;
	int64_t id = member->series->row->id;
	int status = tk_store_list_points(
	        store, id, INT64_MIN, TK_SITE_WINDOW_POINTS, &member->window, err);
	const struct tk_point *points = member->window.rows;
	size_t count = member->window.count;
	bool is_all = count < TK_SITE_WINDOW_POINTS, reaches = is_all || points[0].as_of_s < cut_s;
	if (!status && !reaches) /* the window does not hold all recent points */
		status = tk_store_list_points(
		        store, id, from_s < cut_s ? from_s : cut_s, 0, &member->read, err);
	else if (!status && !is_all && from_s < cut_s)
		status = tk_store_list_points_between(store, id, from_s, cut_s, &member->read, err);
	if (status)
		return status;
	if (!reaches) {
		points = member->read.rows;
		count = member->read.count;
	}
	size_t hot = count;
	while (hot && points[hot - 1].as_of_s >= cut_s)
		hot--;
	member->recent = points + hot;
	member->recent_count = count - hot;
	bool own = reaches && !is_all && from_s < cut_s;
	member->older = own ? member->read.rows : points;
	member->older_count = own ? member->read.count : hot;
	member->older_done = 0;
	while (member->older_done < member->older_count &&
	        member->older[member->older_done].as_of_s < from_s)
		member->older_done++;
	return 0;
}

static int write_year(struct tk_site *site, struct tk_shard_member *members, size_t count,
        size_t group, int bit, struct tk_error *err)
{
	bool any = false;
	char path[TK_DATA_PATH_SIZE];
	int64_t end_s =
	        bit + 1 < TK_CHART_DATA_YEARS ? tk_chart_data_year_start(bit + 1) : INT64_MAX;
	tk_buf_clear(&site->page);
	for (size_t i = 0; i < count; i++) {
		struct tk_shard_member *member = &members[i];
		size_t first = member->older_done;
		while (member->older_done < member->older_count &&
		        member->older[member->older_done].as_of_s < end_s)
			member->older_done++;
		if (member->older_done == first)
			continue;
		tk_shard_add_points(&site->page, &site->model, member->series,
		        member->older + first, member->older_done - first, false);
		any = true;
	}
	if (!any)
		return 0;
	tk_chart_data_year_path(path, group, bit);
	return tk_output_put(site->out, path, &site->page, err);
}

static bool is_sampled(const struct tk_site *site, const struct tk_site_series *s)
{
	return tk_shard_member_has_change(s) || site->model.series_count <= SAMPLED_SERIES_MAX;
}

static int write_recent(struct tk_site *site, struct tk_shard_member *members, size_t count,
        size_t group, struct tk_error *err)
{
	char path[TK_DATA_PATH_SIZE];
	int status = 0;
	tk_buf_clear(&site->page);
	for (size_t i = 0; !status && i < count; i++) {
		const struct tk_shard_member *member = &members[i];
		tk_shard_add_about(&site->page, &site->model, member->series);
		if (member->recent_count)
			tk_shard_add_points(&site->page, &site->model, member->series,
			        member->recent, member->recent_count, true);
		size_t sampled = member->recent_count < SAMPLED_NIGHTS ? member->recent_count
		                                                       : SAMPLED_NIGHTS;
		if (sampled && is_sampled(site, member->series))
			status = tk_shard_add_samples(&site->page, &site->model, member->series,
			        member->recent + member->recent_count - sampled, sampled, err);
	}
	tk_chart_data_recent_path(path, group);
	return status ? status : tk_output_put(site->out, path, &site->page, err);
}

/* A site that is written anew has read all points. */
static int add_to_totals(
        struct tk_site *site, const struct tk_shard_member *member, struct tk_error *err)
{
	size_t series = (size_t)(member->series - site->model.series);
	float previous = NAN;
	if (site->reuse.usable)
		return 0;
	int status = tk_totals_add_points(
	        &site->totals, series, &previous, member->older, member->older_count, err);
	return status ? status
	              : tk_totals_add_points(&site->totals, series, &previous, member->recent,
	                        member->recent_count, err);
}

static int rewrite_group(struct tk_site *site, struct tk_shard_member *members, size_t count,
        int64_t from_s, int64_t cut_s, struct tk_error *err)
{
	size_t group = members[0].group;
	int status = 0;
	for (size_t i = 0; !status && i < count; i++) {
		status = read_member(site, &members[i], from_s, cut_s, err);
		if (!status)
			status = add_to_totals(site, &members[i], err);
		if (status)
			break;
		tk_shard_member_store_state(site, &members[i]);
		members[i].state->trace.count = 0;
		for (size_t k = 0; k < members[i].window.count; k++)
			tk_trace_add_point(&members[i].state->trace,
			        TK_ROWS_AT(&members[i].window, struct tk_point, k));
	}
	for (int bit = tk_chart_data_year_bit(from_s == INT64_MIN ? 0 : from_s);
	        !status && from_s < cut_s && bit < TK_CHART_DATA_YEARS; bit++)
		status = write_year(site, members, count, group, bit, err);
	if (!status)
		status = write_recent(site, members, count, group, err);
	for (size_t i = 0; !status && i < count; i++)
		status = tk_shard_member_write_page(site, &members[i], err);
	for (size_t i = 0; i < count; i++) {
		tk_rows_free(&members[i].window);
		tk_rows_free(&members[i].read);
	}
	return status;
}

int tk_shard_put_hot_file(struct tk_site *site, size_t shard, struct tk_error *err)
{
	char path[TK_DATA_PATH_SIZE];
	tk_chart_data_hot_path(path, shard);
	site->state.is_changed =
	        site->state.is_changed || site->state.shards[shard].hot_bytes != site->page.len;
	site->state.shards[shard].hot_bytes = site->page.len;
	return tk_output_put(site->out, path, &site->page, err);
}

/* Writes all files of a shard: files of years from the year of the last cut on, or all of them if
 * older points changed. */
int tk_shard_rewrite(struct tk_site *site, struct tk_shard_member *members, size_t count,
        size_t shard, bool older, struct tk_error *err)
{
	struct tk_shard_state *state = &site->state.shards[shard];
	int64_t cut_s = tk_chart_data_cut(site->model.newest_s);
	int64_t from_s = older || !state->build ? INT64_MIN
	                 : state->cut_s < cut_s
	                         ? tk_chart_data_year_start(tk_chart_data_year_bit(state->cut_s))
	                         : cut_s;
	int status = 0;
	for (size_t first = 0, end; !status && first < count; first = end) {
		for (end = first; end < count && members[end].group == members[first].group; end++)
			;
		status = rewrite_group(site, members + first, end - first, from_s, cut_s, err);
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
	return tk_shard_put_hot_file(site, shard, err);
}
