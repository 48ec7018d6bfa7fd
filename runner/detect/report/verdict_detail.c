/* Verdicts as JSON: see verdict_detail.h. */
#include "detect/report/verdict_detail.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "detect/detect.h"
#include "detect/rules/ab_result.h"

static json_t *fact_object(const struct tk_verdict *v, const struct tk_fact *fact)
{
	const char *text = tk_fact_text(v, fact);
	json_t *o = json_pack("{s:s, s:[o, o, o, o]}", "kind", tk_fact_kind_name(fact->kind),
	        "numbers", tk_json_number(fact->number[0]), tk_json_number(fact->number[1]),
	        tk_json_number(fact->number[2]), tk_json_number(fact->number[3]));

	if (o && fact->time_s)
		json_object_set_new(o, "time_s", json_integer(fact->time_s));
	if (o && *text)
		json_object_set_new(o, "text", json_string(text));
	return o;
}

json_t *tk_verdict_facts_to_json(const struct tk_verdict *v)
{
	json_t *facts = json_array();

	for (size_t i = 0; facts && i < v->fact_count; i++)
		if (json_array_append_new(facts, fact_object(v, &v->facts[i]))) {
			json_decref(facts);
			return NULL;
		}
	return facts;
}

static json_t *ab_object(const struct tk_ab_result *ab)
{
	return json_pack("{s:s, s:I, s:o, s:o, s:o, s:s}", "word",
	        tk_ab_decision_name(ab->decision), "count", (json_int_t)ab->count, "change",
	        tk_json_number(ab->change), "lo", tk_json_number(ab->lo), "hi",
	        tk_json_number(ab->hi), "statistic", tk_ab_result_statistic_name(ab));
}

char *tk_verdict_detail_write(const struct tk_diff_row *row)
{
	const struct tk_verdict *v = &row->verdict;
	char *text;
	json_t *o = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:b, s:s, s:s, s:o}", "good_rev",
	        row->good_rev, "bad_rev", row->bad_rev, "commits_between",
	        (json_int_t)row->commits_between, "last_good_run", (json_int_t)v->last_good_run_id,
	        "first_bad_run", (json_int_t)v->first_bad_run_id, "n_before",
	        (json_int_t)row->samples_before, "n_after", (json_int_t)row->samples_after,
	        "same_code", row->same_code, "cause", tk_cause_name(v->cause), "rule",
	        tk_rule_id_name(v->decided_by), "facts", tk_verdict_facts_to_json(v));

	if (o && row->ab.count)
		json_object_set_new(o, "pairs", ab_object(&row->ab));
	text = o ? json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	json_decref(o);
	return text;
}

static void read_fact(const json_t *o, struct tk_verdict *v)
{
	const char *kind = json_string_value(json_object_get(o, "kind"));
	const json_t *numbers = json_object_get(o, "numbers");
	struct tk_fact fact = {.time_s = json_integer_value(json_object_get(o, "time_s"))};

	if (!kind || tk_fact_kind_parse(kind, &fact.kind))
		return;
	for (size_t i = 0; i < TK_FACT_NUMBERS_MAX; i++) {
		const json_t *x = json_array_get(numbers, i);

		fact.number[i] = json_is_number(x) ? json_number_value(x) : NAN;
	}
	tk_verdict_add_fact(v, fact, json_string_value(json_object_get(o, "text")));
}

/* Older versions stored prose alone. */
static void read_prose(const char *reason, struct tk_verdict *v)
{
	if (strncmp(reason, "better since ", 13) == 0)
		v->decided_by = TK_RULE_ALREADY_REPORTED;
	tk_verdict_add_fact(v, (struct tk_fact){.kind = TK_FACT_RECORDED}, reason);
}

void tk_verdict_detail_read(const char *detail, const char *reason, struct tk_verdict *v)
{
	json_t *o = detail ? json_loads(detail, 0, NULL) : NULL;
	const json_t *facts = json_object_get(o, "facts"), *fact;
	const char *rule = json_string_value(json_object_get(o, "rule"));
	size_t i;

	if (rule)
		tk_rule_id_parse(rule, &v->decided_by);
	tk_verdict_clear_facts(v);
	json_array_foreach (facts, i, fact)
		read_fact(fact, v);
	if (!json_is_array(facts) && reason && *reason)
		read_prose(reason, v);
	json_decref(o);
}
