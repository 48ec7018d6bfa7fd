/* See tuned.h. */
#include "nightly/tune/tuned.h"
#include "base/try.h"
#include "store/tuning_state.h"
#include <string.h>

int tk_tuned_load(struct tk_store *s, struct tk_tuned_results *out, struct tk_error *err)
{
	*out = (struct tk_tuned_results){0};
	TRY(tk_store_list(s, TK_TABLE_tuning, NULL, TK_NO_ARGS, &out->tunings, err));
	return tk_id_table_load(&out->upstreams, s, TK_TABLE_upstream, err);
}

void tk_tuned_free(struct tk_tuned_results *r)
{
	tk_rows_free(&r->tunings);
	tk_id_table_free(&r->upstreams);
}

static bool is_of(const struct tk_tuning_row *t, const struct tk_series_row *series,
        const struct tk_upstream_row *upstream, const char *options)
{
	return strcmp(t->options, options) == 0 && tk_tuning_matches(t, series, upstream);
}

static const struct tk_tuning_row *find(const struct tk_tuned_results *r,
        const struct tk_series_row *series, const char *options, bool is_decided)
{
	const struct tk_upstream_row *upstream =
	        tk_id_table_find(&r->upstreams, series->upstream_id);
	const struct tk_tuning_row *found = NULL;
	for (size_t i = 0; upstream && i < r->tunings.count; i++) {
		const struct tk_tuning_row *t = TK_ROWS_AT(&r->tunings, struct tk_tuning_row, i);
		if ((is_decided && t->verdict == TK_TUNE_VERDICT_INCONCLUSIVE) ||
		        !is_of(t, series, upstream, options))
			continue;
		if (strcmp(t->mode, series->mode) == 0)
			return t;
		found = found ? found : t;
	}
	return found;
}

/* Newer ones that did not decide leave an older result in use. */
const struct tk_tuning_row *tk_tuned_find(
        const struct tk_tuned_results *r, const struct tk_series_row *series, const char *options)
{
	const struct tk_tuning_row *found = find(r, series, options, true);
	return found && *found->config ? found : NULL;
}

const struct tk_tuning_row *tk_tuned_find_newest(
        const struct tk_tuned_results *r, const struct tk_series_row *series, const char *options)
{
	return find(r, series, options, false);
}

size_t tk_tuned_count_inconclusive(
        const struct tk_tuned_results *r, const struct tk_series_row *series, const char *options)
{
	const struct tk_upstream_row *upstream =
	        tk_id_table_find(&r->upstreams, series->upstream_id);
	size_t count = 0;
	for (size_t i = 0; upstream && i < r->tunings.count; i++) {
		const struct tk_tuning_row *t = TK_ROWS_AT(&r->tunings, struct tk_tuning_row, i);
		if (strcmp(t->mode, series->mode) != 0 || !is_of(t, series, upstream, options))
			continue;
		if (t->verdict != TK_TUNE_VERDICT_INCONCLUSIVE)
			break;
		count++;
	}
	return count;
}
