/* Writes the data files and the pages of series, shard by shard. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "site_gen/data/chart_data.h"
#include "site_gen/data/shard_member.h"
#include "site_gen/pages/page.h"

/* The series of the model by group. */
struct place {
	size_t group, index;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

struct shard_age {
	int64_t build;
	size_t shard;
};

static int compare_ages(const void *a, const void *b)
{
	const struct shard_age *x = a, *y = b;
	if (x->build != y->build)
		return x->build < y->build ? -1 : 1;
	return x->shard < y->shard ? -1 : x->shard > y->shard;
}

/* Marks the shards that were written longest ago. */
static int choose_shards(const struct tk_site *site, bool *due, struct tk_error *err)
{
	size_t count = site->data.shard_count;
	struct shard_age *ages = tk_calloc(count + 1, sizeof *ages);
	for (size_t i = 0; i < count; i++)
		ages[i] = (struct shard_age){site->state.shards[i].build, i};
	qsort(ages, count, sizeof *ages, compare_ages);
	for (size_t i = 0; i < site->data.refreshed; i++)
		due[ages[i].shard] = true;
	free(ages);
	return 0;
}

static bool needs_rebuild(
        const struct tk_site *site, const struct tk_shard_member *members, size_t count)
{
	bool older = !site->reuse.usable;
	for (size_t i = 0; i < count; i++)
		older = older || members[i].needs_rebuild;
	return older;
}

/* Finds the years of a shard that will be rewritten. */
static int plan_shard(struct tk_site *site, struct tk_shard_member *members, size_t count, bool due,
        struct tk_error *err)
{
	bool older = needs_rebuild(site, members, count);
	int64_t cut_s = tk_chart_data_cut(site->model.newest_s);
	int status = 0;
	for (size_t i = 0; older && i < count; i++)
		site->state.years[members[i].group] = 0;
	for (size_t i = 0; !status && (older || due) && i < count; i++)
		status = tk_shard_member_find_years(site, &members[i], cut_s, err);
	return status;
}

static int write_shard(struct tk_site *site, struct tk_shard_member *members, size_t count,
        bool due, struct tk_error *err)
{
	size_t shard = tk_chart_data_shard(members[0].group);
	bool older = needs_rebuild(site, members, count), done = false;
	int status = 0;
	if (!older && !due) {
		status = tk_shard_append(site, members, count, shard, &done, err);
		older = !done;
		if (!status && older)
			status = plan_shard(site, members, count, true, err);
	}
	return status || done ? status : tk_shard_rewrite(site, members, count, shard, older, err);
}

static int find_members(
        struct tk_site *site, struct tk_shard_member *members, bool *has_news, struct tk_error *err)
{
	struct tk_model *m = &site->model;
	struct place *places = tk_calloc(m->series_count + 1, sizeof *places);
	int status = places ? 0 : tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; !status && i < m->series_count; i++)
		places[i] = (struct place){site->data.group_of[i], i};
	if (!status && m->series_count)
		qsort(places, m->series_count, sizeof *places, compare_places);
	for (size_t i = 0; !status && i < m->series_count; i++) {
		struct tk_shard_member *member = &members[i];
		*member = (struct tk_shard_member){.series = &m->series[places[i].index],
		        .state = &site->state.series[places[i].index],
		        .group = places[i].group};
		if (site->reuse.usable)
			status = tk_shard_member_find_new_points(site, member, err);
		*has_news = *has_news || member->new_point_count || member->needs_rebuild;
	}
	free(places);
	return status;
}

/* The new points of all series; the first build adds them while it writes the shards. */
static int add_to_totals(
        struct tk_site *site, const struct tk_shard_member *members, struct tk_error *err)
{
	struct tk_totals *t = &site->totals;
	int status = 0;
	for (size_t i = 0; !status && i < site->model.series_count; i++) {
		const struct tk_shard_member *member = &members[i];
		size_t series = (size_t)(member->series - site->model.series);
		const struct tk_trace *trace = member->series->trace;
		float previous = trace->count ? trace->at[trace->count - 1].value : NAN;
		if (!member->needs_rebuild)
			status = tk_totals_add_points(t, series, &previous, member->new_points,
			        member->new_point_count, err);
		else if (t->total_of[series] != TK_TOTAL_NONE)
			t->at[t->total_of[series]].is_stale = true;
	}
	return status ? status : tk_totals_read_stale(&site->model, t, err);
}

static int for_each_shard(struct tk_site *site, struct tk_shard_member *members, const bool *due,
        int (*f)(struct tk_site *, struct tk_shard_member *, size_t, bool, struct tk_error *),
        struct tk_error *err)
{
	size_t count = site->model.series_count;
	int status = 0;
	for (size_t first = 0, end; !status && first < count; first = end) {
		size_t shard = tk_chart_data_shard(members[first].group);
		for (end = first; end < count && tk_chart_data_shard(members[end].group) == shard;
		        end++)
			;
		status = f(site, members + first, end - first, due[shard], err);
	}
	return status;
}

int tk_chart_data_write(struct tk_site *site, struct tk_error *err)
{
	size_t count = site->model.series_count;
	struct tk_shard_member *members = tk_calloc(count + 1, sizeof *members);
	bool *due = tk_calloc(site->data.shard_count + 1, sizeof *due),
	     has_news = !site->reuse.usable;
	int status = members && due ? find_members(site, members, &has_news, err)
	                            : tk_fail(err, TK_ENOMEM, "out of memory");
	if (!status && site->reuse.usable)
		status = add_to_totals(site, members, err);
	site->state.build += has_news;
	site->state.is_changed = site->state.is_changed || has_news;
	/* Where every build rewrites all shards, it does so without new points too: alerts and
	 * notes may have changed. */
	if (!status && (has_news || !tk_chart_data_is_incremental(&site->data)))
		status = choose_shards(site, due, err);
	if (!status)
		status = for_each_shard(site, members, due, plan_shard, err);
	if (!status)
		status = for_each_shard(site, members, due, write_shard, err);
	for (size_t i = 0; members && i < count; i++)
		tk_rows_free(&members[i].several);
	free(members);
	free(due);
	return status;
}
