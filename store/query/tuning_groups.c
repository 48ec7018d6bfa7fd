/* See tuning_groups.h. */
#include "store/tuning_groups.h"
#include "base/base.h"
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

bool tk_tuning_is_same_group(const struct tk_tuning_row *a, const struct tk_tuning_row *b)
{
	return !compare_groups(a, b);
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
	qsort(out->memory, count, sizeof *out->memory, compare_rows);
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

static int find_rules(const struct tk_tuning_groups *groups, const struct tk_tuning_group *group,
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

int tk_tuning_group_find_rules(const struct tk_tuning_group *group,
        const struct tk_row_index *problems, struct tk_tune_rules *out, struct tk_error *err)
{
	return find_rules(NULL, group, problems, out, err);
}

int tk_tuning_groups_find_backend_rules(const struct tk_tuning_groups *groups,
        const struct tk_tuning_group *group, const struct tk_row_index *problems,
        struct tk_tune_rules *out, struct tk_error *err)
{
	return find_rules(groups, group, problems, out, err);
}
