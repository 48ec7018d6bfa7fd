/* Adds the points of a night to the hot file of a shard. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "site_gen/data/shard.h"
#include "site_gen/data/shard_member.h"
#include "site_gen/pages/page.h"

#define HOT_BYTES_MAX ((size_t)64 << 20)

/* Takes the next new point of each member, as far as they are of one night; returns their number.
  */
static size_t take_next_night(struct tk_shard_member *members, size_t count,
        const struct tk_point **points, size_t *places)
{
	const struct tk_point *first = NULL;
	size_t n = 0;
	for (size_t i = 0; i < count; i++) {
		const struct tk_point *p =
		        members[i].new_points_done < members[i].new_point_count
		                ? &members[i].new_points[members[i].new_points_done]
		                : NULL;
		if (p && (!first || p->as_of_s < first->as_of_s))
			first = p;
	}
	for (size_t i = 0; first && i < count; i++) {
		const struct tk_point *p =
		        members[i].new_points_done < members[i].new_point_count
		                ? &members[i].new_points[members[i].new_points_done]
		                : NULL;
		if (!p || p->night_id != first->night_id || p->as_of_s != first->as_of_s)
			continue;
		members[i].new_points_done++;
		points[n] = p;
		places[n++] = i;
	}
	return n;
}

static int add_changes(struct tk_site *site, struct tk_shard_member *member, struct tk_error *err)
{
	const struct tk_site_series *s = member->series;
	if (member->has_new_appearance)
		tk_shard_add_about(&site->page, &site->model, s);
	if (!tk_shard_member_has_change(s) ||
	        !(member->has_new_appearance || member->new_point_count))
		return 0;
	/* of the night before as well: the panel shows both distributions */
	return tk_shard_add_samples(&site->page, &site->model, s, s->newest, s->newest_count, err);
}

static int append_points(struct tk_site *site, struct tk_shard_member *members, size_t count,
        size_t shard, struct tk_error *err)
{
	const struct tk_point **points = tk_calloc(count + 1, sizeof *points);
	size_t *places = tk_calloc(count + 1, sizeof *places);
	int status = points && places ? 0 : tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t n; !status && (n = take_next_night(members, count, points, places));)
		tk_shard_add_hot_night(&site->page, &site->model, shard, points, places, n);
	free(points);
	free(places);
	for (size_t i = 0; !status && i < count; i++)
		status = add_changes(site, &members[i], err);
	return status ? status : tk_shard_put_hot_file(site, shard, err);
}

/* Appends new points to the hot file and writes the pages of changed series. *done is false if the
 * file is not the one of the last build. */
int tk_shard_append(struct tk_site *site, struct tk_shard_member *members, size_t count,
        size_t shard, bool *done, struct tk_error *err)
{
	bool any = false;
	char path[TK_DATA_PATH_SIZE];
	int status = 0;
	for (size_t i = 0; i < count; i++)
		any = any || members[i].new_point_count || members[i].has_new_appearance;
	*done = true;
	if (!any)
		return 0;
	tk_chart_data_hot_path(path, shard);
	tk_buf_clear(&site->page);
	if (tk_output_read_old(site->out, path, HOT_BYTES_MAX, &site->page, NULL) ||
	        site->page.len != site->state.shards[shard].hot_bytes) {
		*done = false;
		return 0;
	}
	status = append_points(site, members, count, shard, err);
	for (size_t i = 0; !status && i < count; i++) {
		struct tk_shard_member *member = &members[i];
		for (size_t k = 0; k < member->new_point_count; k++)
			tk_trace_add_point(&member->state->trace, &member->new_points[k]);
		tk_shard_member_store_state(site, member);
		if (!member->has_new_appearance)
			continue;
		status = tk_store_list_points(site->model.store, member->series->row->id, INT64_MIN,
		        TK_SITE_WINDOW_POINTS, &member->window, err);
		if (!status)
			status = tk_shard_member_write_page(site, member, err);
		tk_rows_free(&member->window);
	}
	return status;
}
