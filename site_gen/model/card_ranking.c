/* Ranks the backends of comparable devices together, and the devices themselves. */
#include "site_gen/model/card_ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "site_gen/model/model.h"
#include "site_gen/render/format_point.h"

static double time_of(const struct tk_site_series *s)
{
	return tk_series_last_point(s)->value;
}

static bool is_same_backend(const struct tk_site_series *a, const struct tk_site_series *b)
{
	return a->upstream == b->upstream && !strcmp(a->row->backend, b->row->backend) &&
	       !strcmp(a->row->config, b->row->config);
}

static size_t find_member(const struct tk_card_ranking *r, const struct tk_site_series *s)
{
	for (size_t i = 0; i < r->member_count; i++)
		if (r->members[i].device == s->device)
			return i;
	return TK_CARD_GROUP_MAX;
}

/* Neighbours have the same environment, mostly. */
static bool agrees_with_device(const struct tk_model *m, struct tk_card_ranking *r, size_t member,
        const struct tk_point *point)
{
	if (r->checked[member].environment_id != point->environment_id) {
		r->checked[member].environment_id = point->environment_id;
		r->checked[member].agrees =
		        tk_card_environment_agrees(m, &r->members[member], point->environment_id);
	}
	return r->checked[member].agrees;
}

/* The revision that most devices have; of several the newest one. NULL: none is known. */
static const struct tk_revision_row *choose_revision(
        const struct tk_revision_row *const *revisions, size_t count)
{
	const struct tk_revision_row *best = NULL;
	size_t best_shares = 0;
	for (size_t i = 0; i < count; i++) {
		size_t shares = 0;
		for (size_t k = 0; revisions[i] && k < count; k++)
			shares += revisions[k] == revisions[i];
		bool is_newer = best && shares == best_shares && shares &&
		                revisions[i]->position > best->position;
		if (shares > best_shares || is_newer) {
			best = revisions[i];
			best_shares = shares;
		}
	}
	return best;
}

/* Marks what is compared: of one revision, in an environment that agrees with its device's. */
static void find_counted(
        const struct tk_model *m, struct tk_card_ranking *r, struct tk_card_row *row)
{
	const struct tk_revision_row *revisions[TK_CARD_GROUP_MAX] = {0}, *chosen;
	double lo = INFINITY, hi = 0;
	size_t counted = 0;
	for (size_t i = 0; i < r->member_count; i++) {
		const struct tk_point *last = row->at[i] ? tk_series_last_point(row->at[i]) : NULL;
		if (last && agrees_with_device(m, r, i, last))
			revisions[i] = tk_model_find_build_revision(m, last->build_id);
	}
	chosen = choose_revision(revisions, r->member_count);
	for (size_t i = 0; i < r->member_count; i++) {
		row->is_counted[i] = chosen && revisions[i] == chosen;
		if (!row->is_counted[i])
			continue;
		if (!row->is_ranked || time_of(row->at[i]) < lo)
			row->best = row->at[i];
		row->is_ranked = true;
		lo = fmin(lo, time_of(row->at[i]));
		hi = fmax(hi, time_of(row->at[i]));
		counted++;
	}
	row->spread = counted > 1 ? hi / lo - 1 : NAN;
}

static void add_to_pairs(struct tk_card_ranking *r, const struct tk_card_row *row)
{
	for (size_t i = 0; i < r->member_count; i++)
		for (size_t k = 0; k < r->member_count; k++) {
			struct tk_card_pair *pair = &r->pairs[i][k];
			if (i == k || !row->is_counted[i] || !row->is_counted[k])
				continue;
			double ratio = time_of(row->at[i]) / time_of(row->at[k]);
			pair->lo = pair->count ? fmin(pair->lo, ratio) : ratio;
			pair->hi = pair->count ? fmax(pair->hi, ratio) : ratio;
			pair->log_sum += log(ratio);
			pair->count++;
		}
}

static int compare_best(const void *a, const void *b)
{
	const struct tk_card_row *x = a, *y = b;
	double d = time_of(x->best) - time_of(y->best);
	if (x->is_ranked != y->is_ranked)
		return x->is_ranked ? -1 : 1;
	return d < 0 ? -1 : d > 0;
}

/* Backends that tie with the fastest share its rank. Those without a compared timing are last and
 * have none. */
static void rank_rows(struct tk_card_row *rows, size_t count, double tie)
{
	qsort(rows, count, sizeof *rows, compare_best);
	size_t first_count = 0;
	for (size_t i = 0; i < count && rows[i].is_ranked; i++) {
		bool ties = tk_point_compare(tk_series_last_point(rows[0].best),
		                    tk_series_last_point(rows[i].best), tie) == TK_POINTS_TIE;
		rows[i].rank = ties ? 1 : i + 1;
		first_count += ties;
	}
	for (size_t i = 0; i < count; i++)
		rows[i].is_tied = rows[i].is_ranked && rows[i].rank == 1 && first_count > 1;
}

/* The rows of one problem, the series [first, end). There is room for one row a series. */
static void add_problem(
        const struct tk_model *m, struct tk_card_ranking *r, size_t first, size_t end, double tie)
{
	struct tk_card_row *rows = r->rows + r->row_count;
	size_t count = 0;
	for (size_t i = first; i < end; i++) {
		const struct tk_site_series *s = &m->series[i];
		size_t member = find_member(r, s), k = 0;
		if (member == TK_CARD_GROUP_MAX || !tk_series_is_ranked(s) ||
		        !(tk_series_newest_value(s) > 0))
			continue;
		while (k < count && (!is_same_backend(rows[k].best, s) || rows[k].at[member]))
			k++;
		if (k == count)
			rows[count++] = (struct tk_card_row){.best = s};
		rows[k].at[member] = s;
		if (time_of(s) < time_of(rows[k].best))
			rows[k].best = s;
	}
	if (!count)
		return;
	for (size_t i = 0; i < count; i++) {
		find_counted(m, r, &rows[i]);
		add_to_pairs(r, &rows[i]);
	}
	rank_rows(rows, count, tie);
	r->row_count += count;
}

/* The mean of the logarithms of a member's times relative to each other member's. */
static double slowness(const struct tk_card_ranking *r, size_t member)
{
	double sum = 0;
	size_t count = 0;
	for (size_t k = 0; k < r->member_count; k++) {
		const struct tk_card_pair *pair = &r->pairs[member][k];
		if (!pair->count)
			continue;
		sum += pair->log_sum / (double)pair->count;
		count++;
	}
	return count ? sum / (double)count : INFINITY; /* those without a pair are last */
}

static void order_members(struct tk_card_ranking *r)
{
	for (size_t i = 0; i < r->member_count; i++) {
		size_t at = i;
		for (; at && slowness(r, r->order[at - 1]) > slowness(r, i); at--)
			r->order[at] = r->order[at - 1];
		r->order[at] = i;
	}
}

static int compare_spread(const void *a, const void *b)
{
	const struct tk_card_row *x = a, *y = b;
	bool has_x = isfinite(x->spread), has_y = isfinite(y->spread);
	if (has_x != has_y)
		return has_x ? -1 : 1;
	if (has_x && x->spread != y->spread)
		return x->spread > y->spread ? -1 : 1;
	return x->best < y->best ? -1 : x->best > y->best; /* the order of the model */
}

void tk_card_ranking_load(const struct tk_model *m, const struct tk_card *card, size_t group,
        double tie, struct tk_card_ranking *out)
{
	*out = (struct tk_card_ranking){
	        .rows = tk_malloc((m->series_count + 1) * sizeof *out->rows)};
	out->members = tk_card_group(card, group, &out->member_count);
	for (size_t i = 0, end; i < m->series_count; i = end) {
		for (end = i;
		        end < m->series_count && m->series[end].problem == m->series[i].problem;
		        end++)
			;
		add_problem(m, out, i, end, tie);
	}
	order_members(out);
	qsort(out->rows, out->row_count, sizeof *out->rows, compare_spread);
}
