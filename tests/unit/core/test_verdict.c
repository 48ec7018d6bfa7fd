/* A verdict as data: facts, their texts, and what happens where there is no room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "core/verdict.h"

static void starts_undecided(void **state)
{
	struct tk_verdict v;

	tk_verdict_init(&v);
	assert_int_equal(v.status, TK_VERDICT_SAME);
	assert_true(isnan(v.before.value) && isnan(v.change.lo) && isnan(v.q));
	assert_null(tk_verdict_find_fact(&v, TK_FACT_SPIKE));
}

static void keeps_facts_in_order(void **state)
{
	struct tk_verdict v;

	tk_verdict_init(&v);
	tk_verdict_add_fact(&v, (struct tk_fact){.kind = TK_FACT_OUTCOME}, "crashed: signal 6");
	tk_verdict_add_fact(&v, (struct tk_fact){.kind = TK_FACT_SPIKE, .number = {-1}}, NULL);
	tk_verdict_add_fact(&v, (struct tk_fact){.kind = TK_FACT_ENVIRONMENT}, "driver 550 -> 555");
	assert_int_equal(v.fact_count, 3);
	assert_string_equal(tk_fact_text(&v, &v.facts[0]), "crashed: signal 6");
	assert_string_equal(tk_fact_text(&v, &v.facts[1]), "");
	assert_string_equal(tk_fact_text(&v, tk_verdict_find_fact(&v, TK_FACT_ENVIRONMENT)),
	        "driver 550 -> 555");
	tk_verdict_clear_facts(&v);
	assert_null(tk_verdict_find_fact(&v, TK_FACT_OUTCOME));
}

static void drops_what_has_no_room(void **state)
{
	struct tk_verdict v;
	char text[TK_VERDICT_TEXT_SIZE];

	tk_verdict_init(&v);
	for (size_t i = 0; i < TK_VERDICT_FACTS_MAX + 3; i++)
		tk_verdict_add_fact(&v, (struct tk_fact){.kind = TK_FACT_SAME_CODE}, NULL);
	assert_int_equal(v.fact_count, TK_VERDICT_FACTS_MAX);

	tk_verdict_clear_facts(&v);
	for (size_t i = 0; i + 2 < sizeof text; i += 2)
		memcpy(text + i, "\xc3\xa9", 3); /* é: a cut must not leave half of one */
	tk_verdict_add_fact(&v, (struct tk_fact){.kind = TK_FACT_ENVIRONMENT}, "x");
	tk_verdict_add_fact(&v, (struct tk_fact){.kind = TK_FACT_ENVIRONMENT}, text);
	assert_int_equal(strlen(tk_fact_text(&v, &v.facts[1])) % 2, 0);
	assert_true(strlen(tk_fact_text(&v, &v.facts[1])) > sizeof text - 10);
	tk_verdict_add_fact(&v, (struct tk_fact){.kind = TK_FACT_ENVIRONMENT}, "no room");
	assert_string_equal(tk_fact_text(&v, &v.facts[2]), "");
}

static void texts_are_printable(void **state)
{
	struct tk_verdict v;

	tk_verdict_init(&v);
	tk_verdict_add_fact(
	        &v, (struct tk_fact){.kind = TK_FACT_OUTCOME}, "crashed: \x1b[31m\nred \xff");
	assert_string_equal(tk_fact_text(&v, &v.facts[0]), "crashed:  [31m red  ");
}

static void names_are_unique_and_parsed(void **state)
{
	enum tk_rule_id rule;
	enum tk_fact_kind kind;

	for (int i = 0; i < TK_RULE_COUNT; i++) {
		assert_int_equal(
		        tk_rule_id_parse(tk_rule_id_name((enum tk_rule_id)i), &rule), TK_OK);
		assert_int_equal(rule, i);
	}
	for (int i = 0; i < TK_FACT_COUNT; i++) {
		assert_int_equal(
		        tk_fact_kind_parse(tk_fact_kind_name((enum tk_fact_kind)i), &kind), TK_OK);
		assert_int_equal(kind, i);
	}
	assert_int_equal(tk_rule_id_parse("no such rule", &rule), TK_EDATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(starts_undecided),
	        cmocka_unit_test(keeps_facts_in_order),
	        cmocka_unit_test(drops_what_has_no_room),
	        cmocka_unit_test(texts_are_printable),
	        cmocka_unit_test(names_are_unique_and_parsed),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
