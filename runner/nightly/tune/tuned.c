/* See tuned.h. */
#include "nightly/tune/tuned.h"
#include "base/try.h"

/* ?1: the series, ?2: the options */
#define MATCHES \
	" FROM tuning t JOIN series_v s ON s.device_id=t.device_id" \
	" AND s.problem_id=t.problem_id AND s.backend=t.backend" \
	" WHERE s.id=?1 AND t.options=?2 AND (t.upstream=s.upstream" \
	" OR (t.upstream='' AND s.upstream_kind IN ('system', 'builtin')))"

int tk_tuned_find(struct tk_store *s, const struct tk_series_row *series, const char *options,
        bool is_decided, struct tk_tuning_row *out, bool *found, struct tk_error *err)
{
	int64_t id;
	TRY(tk_store_select_int(s,
	        "SELECT t.id" MATCHES " AND (t.verdict<>'inconclusive' OR NOT ?3)"
	        " ORDER BY t.mode=s.mode DESC, t.started_s DESC, t.id DESC LIMIT 1",
	        TK_ARGS(series->id, options, (int64_t)is_decided), 0, &id, err));
	*found = id;
	return id ? tk_store_get(s, TK_TABLE_tuning, id, out, err) : 0;
}

int tk_tuned_count_inconclusive(struct tk_store *s, const struct tk_series_row *series,
        const char *options, int64_t *out, struct tk_error *err)
{
	return tk_store_select_int(s,
	        "WITH r AS (SELECT t.started_s, t.verdict" MATCHES " AND t.mode=s.mode)"
	        " SELECT count(*) FROM r WHERE started_s > ifnull((SELECT max(started_s) FROM r"
	        " WHERE verdict<>'inconclusive'), -1)",
	        TK_ARGS(series->id, options), 0, out, err);
}
