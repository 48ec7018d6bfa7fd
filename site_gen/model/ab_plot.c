/* A/B runs: pairs of an old and a new build of one series, run right after each other. */
#include "site_gen/model/ab_plot.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/try.h"
#include "site_gen/model/model.h"
#include "stats/compare.h"

#define CONFIDENCE 0.95

static void summarize(const double *d, size_t n, struct tk_ab_result_compare_level *out)
{
	struct tk_paired_shift p;
	if (n && !tk_paired_estimate(d, n, CONFIDENCE, &p))
		*out = (struct tk_ab_result_compare_level){
		        expm1(p.shift), expm1(p.lo), expm1(p.hi)};
}

int tk_ab_plot_load(const struct tk_model *m, const struct tk_site_series *s, const char *good_rev,
        const char *bad_rev, struct tk_ab_plot *out, struct tk_error *err)
{
	AUTO(tk_rows) rows = {0};
	*out = (struct tk_ab_plot){.median = {NAN, NAN, NAN}, .fastest = {NAN, NAN, NAN}};
	const struct tk_revision_row *good = tk_model_find_revision(m, s->upstream->id, good_rev),
	                             *bad = tk_model_find_revision(m, s->upstream->id, bad_rev);
	if (good && bad)
		TRY(tk_store_list_ab_pairs_between(
		        m->store, s->row->id, good->id, bad->id, &rows, err));
	double *fastest = tk_malloc((rows.count + 1) * sizeof *fastest);
	out->differences = tk_malloc((rows.count + 1) * sizeof *out->differences);
	size_t mins = 0;
	for (size_t i = 0; i < rows.count; i++) {
		const struct tk_ab_pair_row *row = TK_ROWS_AT(&rows, struct tk_ab_pair_row, i);
		if (!(row->base_median > 0) || !(row->head_median > 0)) {
			out->failed++;
			continue;
		}
		out->differences[out->count++] = log(row->head_median / row->base_median);
		if (row->base_min > 0 && row->head_min > 0)
			fastest[mins++] = log(row->head_min / row->base_min);
	}
	summarize(out->differences, out->count, &out->median);
	summarize(fastest, mins, &out->fastest);
	free(fastest);
	return 0;
}

void tk_ab_plot_free(struct tk_ab_plot *p)
{
	free(p->differences);
	p->differences = NULL;
}
