/* See print_rules.h. */
#include "cli/tune/print_rules.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/lookup.h"
#include "cli/markup.h"
#include "store/tuning_groups.h"

#define TEXT_SIZE 400

/* ---- JSON ---- */

static json_t *steps_array(const struct tk_tune_rule *rule)
{
	json_t *steps = json_array();

	for (size_t i = 0; i < rule->count; i++) {
		const struct tk_tune_step *s = &rule->steps[i];

		json_array_append_new(
		        steps, json_pack("{s:o, s:I, s:I}", "use", tk_json_text(s->choice), "from",
		                       (json_int_t)s->from, "to", (json_int_t)s->to));
	}
	return steps;
}

static json_t *rule_object(const struct tk_lookup *l, const struct tk_tuning_row *of,
        bool by_backend, const struct tk_tune_rule *rule)
{
	char text[TEXT_SIZE];

	return json_pack("{s:s, s:o, s:o, s:s, s:s, s:o, s:s, s:o, s:o, s:o}", "chooses",
	        by_backend ? "backend" : "config", "backend",
	        by_backend ? json_null() : tk_json_text(of->backend), "upstream",
	        by_backend ? json_null() : tk_json_text(of->upstream), "device",
	        tk_lookup_device(l, of->device_id)->slug, "mode", of->mode, "options",
	        by_backend ? json_null() : tk_json_text(of->options), "size", rule->key, "sweep",
	        tk_json_text(rule->sweep), "rule",
	        tk_json_text(tk_tune_rule_format(rule, text, sizeof text)), "steps",
	        steps_array(rule));
}

/* ---- text ---- */

static void print_text(const struct tk_lookup *l, const struct tk_tuning_row *of, bool by_backend,
        const struct tk_tune_rule *rule)
{
	char text[TEXT_SIZE];

	printf("%s on %s, %s, ", by_backend ? "fastest tuned backend" : of->backend,
	        tk_lookup_device(l, of->device_id)->slug, of->mode);
	tk_text_write_sanitized(stdout, rule->sweep, "");
	printf(": ");
	tk_text_write_sanitized(stdout, tk_tune_rule_format(rule, text, sizeof text), "");
	putchar('\n');
}

/* ---- all groups ---- */

/* list: NULL for text. */
static void put_rules(const struct tk_lookup *l, const struct tk_tuning_row *of, bool by_backend,
        const struct tk_tune_rules *rules, json_t *list)
{
	for (size_t i = 0; i < rules->count; i++)
		if (list)
			json_array_append_new(list, rule_object(l, of, by_backend, &rules->at[i]));
		else
			print_text(l, of, by_backend, &rules->at[i]);
}

bool tk_tune_is_chosen(const struct tk_tuning_row *row, const char *of)
{
	return !of || !strcmp(row->backend, of) || !strcmp(row->upstream, of);
}

static int put_group(const struct tk_lookup *l, const struct tk_tuning_groups *groups, size_t index,
        const char *of, json_t *list, struct tk_error *err)
{
	const struct tk_tuning_group *group = &groups->at[index];
	struct tk_tune_rules rules = {0};
	int status = TK_OK;

	if (tk_tune_is_chosen(group->rows[0], of)) {
		status = tk_tuning_group_find_rules(group, &l->problems.by_id, &rules, err);
		put_rules(l, group->rows[0], false, &rules, list);
		tk_tune_rules_free(&rules);
	}
	if (status || of || !tk_tuning_groups_is_first_at_place(groups, index))
		return status;
	status =
	        tk_tuning_groups_find_backend_rules(groups, group, &l->problems.by_id, &rules, err);
	put_rules(l, group->rows[0], true, &rules, list);
	tk_tune_rules_free(&rules);
	return status;
}

static int put_all(const struct tk_lookup *l, const struct tk_rows *tunings, const char *of,
        json_t *list, struct tk_error *err)
{
	struct tk_tuning_groups groups = {0};
	int status = tk_tuning_groups_make(tunings, &groups, err);

	for (size_t i = 0; !status && i < groups.count; i++)
		status = put_group(l, &groups, i, of, list, err);
	tk_tuning_groups_free(&groups);
	return status;
}

int tk_tune_rules_json(const struct tk_lookup *l, const struct tk_rows *tunings, const char *of,
        json_t **out, struct tk_error *err)
{
	*out = json_array();
	return put_all(l, tunings, of, *out, err);
}

int tk_tune_print_rules(const struct tk_lookup *l, const struct tk_rows *tunings, const char *of,
        struct tk_error *err)
{
	return put_all(l, tunings, of, NULL, err);
}
