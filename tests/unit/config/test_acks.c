/* acks.yml: what an entry means, and the place and phrase of every mistake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "config/acks.h"

static const char *const keys[] = {"backend", "machine", "series", NULL};

static void an_entry(void **state)
{
	static const char text[] = "- series: 'node-1.*'\n"
	                           "  machine: [a, b*]\n"
	                           "  rev: 3f2a\n"
	                           "  action: expect\n"
	                           "  by: jane\n"
	                           "  note: 'more accurate, #123'\n"
	                           "  until: 2027-01-31\n"
	                           "- { backend: openblas, note: known }\n";
	struct tk_acks *acks = NULL;
	struct tk_error err = {0};

	assert_int_equal(tk_acks_load_text("acks.yml", text, strlen(text), keys, &acks, &err), 0);
	assert_int_equal(acks->count, 2);
	assert_string_equal(acks->at[0].filters[0], "machine:a");
	assert_string_equal(acks->at[0].filters[1], "machine:b*");
	assert_string_equal(acks->at[0].filters[2], "series:node-1.*");
	assert_null(acks->at[0].filters[3]);
	assert_string_equal(acks->at[0].rev, "3f2a");
	assert_int_equal(acks->at[0].action, TK_ACTION_EXPECT);
	assert_string_equal(acks->at[0].by, "jane");
	assert_string_equal(acks->at[0].note, "more accurate, #123");
	assert_int_equal(acks->at[0].until_s, 1801353600);
	assert_int_equal(acks->at[1].action, TK_ACTION_ACK);
	assert_string_equal(acks->at[1].by, "acks.yml");
	assert_null(acks->at[1].rev);
	assert_int_equal(acks->at[1].until_s, 0);
	tk_acks_free(acks);
	assert_int_equal(tk_acks_load_text("acks.yml", "# none yet\n", 11, keys, &acks, &err), 0);
	assert_int_equal(acks->count, 0);
	tk_acks_free(acks);
}

/* `tracker alert expect GROUP --yaml` writes a line for each series of it. */
static void hundreds_of_series(void **state)
{
	enum { SERIES = 300 };
	char text[SERIES * 32], *end = text;
	struct tk_acks *acks = NULL;
	struct tk_error err = {0};

	end += sprintf(end, "- series:\n");
	for (int i = 0; i < SERIES; i++)
		end += sprintf(end, "    - node.s%d\n", i);
	end += sprintf(end, "  machine: [a, b]\n  note: n\n");
	assert_int_equal(
	        tk_acks_load_text("acks.yml", text, (size_t)(end - text), keys, &acks, &err), 0);
	assert_string_equal(acks->at[0].filters[SERIES + 1], "series:node.s299");
	assert_null(acks->at[0].filters[SERIES + 2]);
	tk_acks_free(acks);
}

static void mistakes(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
	        {"series: x\n", "acks.yml:1:1: the file is a mapping"},
	        {"- x\n", "acks.yml:1:3: an entry is a single value"},
	        {"- note: n\n", "acks.yml:1:3: this entry selects every series"},
	        {"- series: x\n", "acks.yml:1:3: this entry has no note"},
	        {"- series: x\n  note: n\n  until: soon\n", "acks.yml:3:10: until: \"soon\""},
	        {"- series: x\n  note: n\n  action: expct\n",
	                "unknown action \"expct\"; did you mean \"expect\"?"},
	        {"- series: x\n  note: n\n  action: q\n",
	                "acks.yml:3:11: unknown action \"q\"; expected one of ack, expect, "
	                "ignore"},
	        {"- series:\n  note: n\n", "acks.yml:1:10: series is empty"},
	        {"- series: { a: b }\n  note: n\n", "acks.yml:1:11: series is a mapping"},
	        {"- series: x\n  note: [n]\n", "acks.yml:2:9: note is a list"},
	        {"- serie: x\n  note: n\n", "acks.yml:1:3: unknown key \"serie\" in an entry; did "
	                                    "you mean \"series\"?"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_acks *acks = NULL;
		struct tk_error err = {0};

		assert_int_equal(tk_acks_load_text("acks.yml", cases[i].text, strlen(cases[i].text),
		                         keys, &acks, &err),
		        TK_ECONFIG);
		if (!strstr(err.message, cases[i].message))
			fail_msg("no \"%s\" in: %s", cases[i].message, err.message);
		assert_null(acks);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(an_entry),
	        cmocka_unit_test(hundreds_of_series), cmocka_unit_test(mistakes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
