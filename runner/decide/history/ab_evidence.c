/* The stored A/B runs that are about a case: of the code before its step and of its newest code. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "decide/history/case_set.h"
#include "decide/rules/ab_result.h"

#define ROW(c, i) TK_ROWS_AT(&(c)->ab_pairs, struct tk_ab_pair_row, i)

static size_t first_of_series(const struct tk_case_set *c, int64_t series_id)
{
	size_t lo = 0, hi = c->ab_pairs.count;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (ROW(c, mid)->series_id < series_id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* All pairs of these two codes, whichever builds they are of. */
static int find_pairs(struct tk_case_set *c, const struct tk_series_case *k, int64_t good,
        int64_t bad, struct tk_ab_pair_row *found, size_t *count, struct tk_error *err)
{
	*count = 0;
	for (size_t i = first_of_series(c, k->series->id);
	        i < c->ab_pairs.count && ROW(c, i)->series_id == k->series->id; i++) {
		bool same_good, same_bad;
		int status = tk_catalog_is_same_code(&c->catalog, ROW(c, i)->base_build_id, good,
		        k->series->backend, &same_good, err);

		if (!status)
			status = tk_catalog_is_same_code(&c->catalog, ROW(c, i)->head_build_id, bad,
			        k->series->backend, &same_bad, err);
		if (status)
			return status;
		if (same_good && same_bad)
			found[(*count)++] = *ROW(c, i);
	}
	return TK_OK;
}

int tk_series_case_evaluate_ab(struct tk_case_set *c, const struct tk_series_case *k,
        const struct tk_level_change *e, struct tk_ab_result *out, struct tk_error *err)
{
	size_t first = first_of_series(c, k->series->id), all = 0, count = 0;
	struct tk_ab_pair_row *found;
	int status = TK_OK;

	*out = (struct tk_ab_result){.decision = TK_AB_NONE};
	while (first + all < c->ab_pairs.count && ROW(c, first + all)->series_id == k->series->id)
		all++;
	if (!all)
		return TK_OK;
	found = tk_malloc(all * sizeof *found);
	for (size_t i = e->split; !status && !count && i-- > e->base;)
		if (i + 1 == e->split || k->points[i].build_id != k->points[i + 1].build_id)
			status = find_pairs(c, k, k->points[i].build_id,
			        k->points[k->count - 1].build_id, found, &count, err);
	if (!status)
		*out = tk_ab_result_evaluate(found, count, &c->options);
	free(found);
	return status;
}
