/* What C knows of the results of `tracker tune`, as tables for the queries of pages. */
#include "core/vocabulary.h"
#include "site_gen/pages/page.h"
#include "store/tuning.h"

#define RULE_SIZE 400

static int store_result(struct tk_store *s, const struct tk_tuning_row *row, size_t place,
        size_t group_number, struct tk_error *err)
{
	static const char *const words[TK_TUNE_STATE_COUNT] = {
	        [TK_TUNE_STATE_UNKNOWN] = "not measured by a night",
	        [TK_TUNE_STATE_CURRENT] = "fresh",
	        [TK_TUNE_STATE_NEW_REVISION] = "stale: new revision",
	        [TK_TUNE_STATE_NEW_DRIVER] = "stale: new driver"};
	enum tk_tune_state state;
	TRY(tk_tuning_state(s, row, &state, err));
	return tk_page_insert(
	        s, "page_tuning_group", TK_ARGS(row->id, place, group_number, words[state]), err);
}

static int store_rules(struct tk_store *s, const struct tk_tune_rules *rules, size_t group_number,
        bool is_of_backends, struct tk_error *err)
{
	char text[RULE_SIZE];
	for (size_t i = 0; i < rules->count; i++)
		TRY(tk_page_insert(s, "page_tuning_rule",
		        TK_ARGS((const char *)NULL, group_number, is_of_backends,
		                (const char *)rules->at[i].sweep,
		                tk_tune_rule_format(&rules->at[i], text, sizeof text)),
		        err));
	return 0;
}

static int store_group(const struct tk_model *m, const struct tk_tuning_groups *groups, size_t g,
        size_t *place, struct tk_error *err)
{
	const struct tk_tuning_group *group = &groups->at[g];
	AUTO(tk_tune_rules) rules = {0}, of_backends = {0};
	for (size_t i = 0; i < group->count; i++)
		TRY(store_result(m->store, group->rows[i], (*place)++, g, err));
	TRY(tk_tuning_find_rules(NULL, group, &m->problems_by_id, &rules, err));
	TRY(store_rules(m->store, &rules, g, false, err));
	if (!tk_tuning_groups_is_first_at_place(groups, g))
		return 0;
	TRY(tk_tuning_find_rules(groups, group, &m->problems_by_id, &of_backends, err));
	return store_rules(m->store, &of_backends, g, true, err);
}

int tk_page_store_tunings(const struct tk_model *m, struct tk_error *err)
{
	AUTO(tk_rows) rows = {0};
	struct tk_tuning_groups groups = {0};
	size_t place = 0;
	TRY(tk_page_make_table(m->store, "place, group_number, state", "page_tuning_group", err));
	TRY(tk_page_make_table(
	        m->store, "group_number, is_of_backends, sweep, rule", "page_tuning_rule", err));
	TRY(tk_store_list(m->store, TK_TABLE_tuning, NULL, TK_NO_ARGS, &rows, err));
	tk_tuning_groups_make(&rows, &groups);
	int status = 0;
	for (size_t g = 0; !status && g < groups.count; g++)
		status = store_group(m, &groups, g, &place, err);
	tk_tuning_groups_free(&groups);
	return status;
}
