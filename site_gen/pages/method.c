/* method.html: how numbers are measured, and what verdicts and outcomes mean. */
#include "base/error.h"
#include "core/outcome.h"
#include "core/status.h"
#include "site_gen/pages/page.h"

static void add_word(
        struct tk_value *list, const char *word, enum tk_tone tone, const char *meaning)
{
	struct tk_value *o = tk_value_append(list);
	tk_value_set(o, "word", word);
	tk_tone_set(o, "tone", tone);
	tk_value_set(o, "meaning", meaning);
}

int tk_page_write_method(struct tk_site *site, struct tk_error *err)
{
	struct tk_value *page = tk_page_begin(site, "method.html", "Method", TK_SECTION_METHOD);
	struct tk_value *verdicts = tk_value_add_list(page, "verdicts");
#define VERDICT(id, word, mark, meaning) add_word(verdicts, word, tk_verdict_tone(id), meaning);
	TK_VERDICT_STATUSES(VERDICT)
#undef VERDICT
	struct tk_value *outcomes = tk_value_add_list(page, "outcomes");
	for (int i = 0; i < TK_OUTCOME_COUNT; i++)
		add_word(outcomes, tk_outcome_name((enum tk_outcome)i),
		        tk_outcome_tone((enum tk_outcome)i),
		        tk_outcome_meaning((enum tk_outcome)i));
	return tk_page_finish(site, "method", "method.html", err);
}
