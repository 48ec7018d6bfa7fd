/* Results of `tracker tune`: see tuning.h. */
#include "core/vocabulary.h"
#include "store/tuning.h"
#include <math.h>

/* ---- groups ---- */

static int compare_ids(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_groups(const struct tk_tuning_row *a, const struct tk_tuning_row *b)
{
	int order = compare_ids(a->device_id, b->device_id);
	order = order ? order : strcmp(a->backend, b->backend);
	order = order ? order : strcmp(a->upstream, b->upstream);
	order = order ? order : strcmp(a->mode, b->mode);
	return order ? order : strcmp(a->options, b->options);
}

static bool is_decided(const struct tk_tuning_row *t)
{
	return t->verdict != TK_TUNE_VERDICT_INCONCLUSIVE;
}

/* The best one of a problem first. */
static int compare_rows(const void *a, const void *b)
{
	const struct tk_tuning_row *x = *(const struct tk_tuning_row *const *)a,
	                           *y = *(const struct tk_tuning_row *const *)b;
	int order = compare_groups(x, y);
	order = order ? order : compare_ids(x->problem_id, y->problem_id);
	order = order ? order : is_decided(y) - is_decided(x);
	order = order ? order : compare_ids(y->started_s, x->started_s);
	return order ? order : strcmp(x->uid, y->uid);
}

void tk_tuning_groups_make(const struct tk_rows *tunings, struct tk_tuning_groups *out)
{
	size_t count = tunings->count;
	*out = (struct tk_tuning_groups){.at = tk_calloc(count + 1, sizeof *out->at),
	        .memory = tk_calloc(count + 1, sizeof *out->memory)};
	for (size_t i = 0; i < count; i++)
		out->memory[i] = TK_ROWS_AT(tunings, struct tk_tuning_row, i);
	tk_sort(out->memory, count, sizeof *out->memory, compare_rows);
	size_t used = 0;
	for (size_t i = 0; i < count; i++) {
		const struct tk_tuning_row *row = out->memory[i],
		                           *last = used ? out->memory[used - 1] : NULL;
		bool is_new = !last || compare_groups(last, row) != 0;
		if (!is_new && last->problem_id == row->problem_id)
			continue;
		if (is_new)
			out->at[out->count++].rows = &out->memory[used];
		out->memory[used++] = row;
		out->at[out->count - 1].count++;
	}
}

void tk_tuning_groups_free(struct tk_tuning_groups *groups)
{
	free(groups->at);
	free(groups->memory);
	*groups = (struct tk_tuning_groups){0};
}

/* The median of a configuration in the race; NAN: it has none. */
static double read_time_ns(const struct tk_tuning_row *row, const char *config)
{
	json_t *list = json_loads(row->candidates, 0, NULL), *candidate;
	double ns = NAN;
	size_t i;
	json_array_foreach (list, i, candidate) {
		const char *name = json_string_value(json_object_get(candidate, "config"));
		const json_t *median = json_object_get(candidate, "median_ns");
		if (name && !strcmp(name, config) && json_is_number(median))
			ns = json_number_value(median);
	}
	json_decref(list);
	return ns > 0 ? ns : NAN;
}

/* ---- rules ---- */

static const char *read_problem(
        const struct tk_row_index *problems, const struct tk_tuning_row *row)
{
	const struct tk_problem_row *problem = tk_row_index_find(problems, row->problem_id);
	return problem ? problem->text : "";
}

static bool is_beside(const struct tk_tuning_group *a, const struct tk_tuning_group *b)
{
	return a->rows[0]->device_id == b->rows[0]->device_id &&
	       !strcmp(a->rows[0]->mode, b->rows[0]->mode);
}

bool tk_tuning_groups_is_first_at_place(const struct tk_tuning_groups *groups, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (is_beside(&groups->at[i], &groups->at[index]))
			return false;
	return true;
}

static const struct tk_tuning_row *find_problem(
        const struct tk_tuning_group *group, int64_t problem_id)
{
	for (size_t i = 0; i < group->count; i++)
		if (group->rows[i]->problem_id == problem_id)
			return group->rows[i];
	return NULL;
}

/* NULL: fewer than two backends were tuned for the problem. */
static const struct tk_tuning_row *find_fastest(const struct tk_tuning_groups *groups,
        const struct tk_tuning_group *beside, int64_t problem_id)
{
	const struct tk_tuning_row *fastest = NULL;
	double least = INFINITY;
	size_t contenders = 0;
	for (size_t i = 0; i < groups->count; i++) {
		const struct tk_tuning_row *row = is_beside(&groups->at[i], beside)
		                                          ? find_problem(&groups->at[i], problem_id)
		                                          : NULL;
		double ns = row ? read_time_ns(row, row->config) : NAN;
		contenders += ns > 0;
		if (ns < least) {
			least = ns;
			fastest = row;
		}
	}
	return contenders > 1 ? fastest : NULL;
}

/* What a row says about the rules; false: nothing. groups NULL: about configurations, else about
 * the backends of the place. */
static bool make_fact(const struct tk_tuning_groups *groups, const struct tk_tuning_group *group,
        const struct tk_tuning_row *row, const struct tk_row_index *problems,
        struct tk_tune_fact *out)
{
	if (groups)
		row = find_fastest(groups, group, row->problem_id);
	if (!row || (!groups && !(is_decided(row) && *row->config)))
		return false;
	*out = (struct tk_tune_fact){
	        read_problem(problems, row), groups ? row->backend : row->config};
	return true;
}

int tk_tuning_find_rules(const struct tk_tuning_groups *groups, const struct tk_tuning_group *group,
        const struct tk_row_index *problems, struct tk_tune_rules *out, struct tk_error *err)
{
	struct tk_tune_fact *facts = tk_malloc((group->count + 1) * sizeof *facts);
	size_t count = 0;
	*out = (struct tk_tune_rules){0};
	for (size_t i = 0; i < group->count; i++)
		count += make_fact(groups, group, group->rows[i], problems, &facts[count]);
	tk_tune_rules_find(facts, count, out);
	free(facts);
	return TK_OK;
}

/* ---- whether a result still holds ------------------------------------------------------------ */

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
