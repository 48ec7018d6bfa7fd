/* See tuning_state.h. */
#include "store/tuning_state.h"
#include "base/error.h"
#include "base/try.h"
#include "core/upstream_kind.h"
#include <string.h>

static bool is_built(const struct tk_upstream_row *u)
{
	enum tk_upstream_kind kind;
	return tk_upstream_kind_parse(u->kind, &kind) || tk_upstream_kind_is_built(kind);
}

bool tk_tuning_matches(const struct tk_tuning_row *t, const struct tk_series_row *series,
        const struct tk_upstream_row *upstream)
{
	return t->device_id == series->device_id && t->problem_id == series->problem_id &&
	       strcmp(t->backend, series->backend) == 0 &&
	       (*t->upstream ? strcmp(t->upstream, upstream->name) == 0 : !is_built(upstream));
}

/* What a point of the problem was measured with, newest first. */
#define POINTS \
	"SELECT m.as_of_s, b.artifact_key, r.rev," \
	" ifnull(iif(json_valid(e.attributes), e.attributes ->> '$.driver', ''), '') AS driver," \
	" ifnull(iif(json_valid(mine.attributes), mine.attributes ->> '$.driver', ''), '')" \
	"  AS tuned_driver" \
	" FROM tuning t JOIN series s ON s.device_id=t.device_id AND s.problem_id=t.problem_id" \
	"  AND s.backend=t.backend AND s.metric='time'" \
	" JOIN upstream u ON u.id=s.upstream_id AND iif(t.upstream<>'', u.name=t.upstream," \
	"  u.kind IN ('system', 'builtin'))" \
	" JOIN measurement m ON m.series_id=s.id JOIN build b ON b.id=m.build_id" \
	" JOIN revision r ON r.id=b.revision_id LEFT JOIN environment e ON e.id=m.environment_id" \
	" JOIN environment mine ON mine.id=t.environment_id WHERE t.id=?1 AND m.as_of_s<=?2" \
	" ORDER BY m.as_of_s DESC LIMIT 1"

struct measured {
	const char *artifact_key, *rev, *driver, *tuned_driver;
};

static int read_point(struct tk_store *s, const struct tk_tuning_row *t, int64_t until_s,
        struct tk_rows *out, struct tk_error *err)
{
	static const struct tk_db_column columns[] = {TK_MEMBER(struct measured, artifact_key),
	        TK_MEMBER(struct measured, rev), TK_MEMBER(struct measured, driver),
	        TK_MEMBER(struct measured, tuned_driver)};
	static const struct tk_row_type type = TK_ROW_TYPE(struct measured, columns);

	return tk_store_select(s, POINTS, TK_ARGS(t->id, until_s), &type, out, err);
}

/* A result of a backend without an upstream has the hash of its file instead of a revision. Where
 * that only loads an installed library, the revision of the night before the tuning tells which. */
static bool is_same_revision(
        const struct tk_tuning_row *t, const struct measured *newest, const struct measured *before)
{
	if (*t->upstream)
		return strcmp(newest->rev, t->revision) == 0;
	return strcmp(newest->artifact_key, t->artifact_key) == 0 &&
	       (!before || strcmp(newest->rev, before->rev) == 0);
}

int tk_tuning_state(struct tk_store *s, const struct tk_tuning_row *tuning, enum tk_tune_state *out,
        struct tk_error *err)
{
	AUTO(tk_rows) newest_rows = {0};
	AUTO(tk_rows) before_rows = {0};

	TRY(read_point(s, tuning, INT64_MAX, &newest_rows, err));
	TRY(read_point(s, tuning, tuning->started_s, &before_rows, err));
	const struct measured *newest = newest_rows.rows;

	if (!newest)
		*out = TK_TUNE_STATE_UNKNOWN;
	else if (!is_same_revision(tuning, newest, before_rows.rows))
		*out = TK_TUNE_STATE_NEW_REVISION;
	else if (*newest->driver && *newest->tuned_driver &&
	         strcmp(newest->driver, newest->tuned_driver) != 0)
		*out = TK_TUNE_STATE_NEW_DRIVER;
	else
		*out = TK_TUNE_STATE_CURRENT;
	return TK_OK;
}
