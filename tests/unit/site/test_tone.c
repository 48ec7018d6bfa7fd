/* Words of the store as tones of the pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/status.h"
#include "site_gen/pages/tone.h"
#include "store/store.h"
#include <math.h>

static void gives_verdicts_tones(void **state)
{
	assert_int_equal(tk_verdict_tone(TK_VERDICT_REGRESSED), TK_TONE_BAD);
	assert_int_equal(tk_verdict_tone(TK_VERDICT_IMPROVED), TK_TONE_GOOD);
	assert_int_equal(tk_verdict_tone(TK_VERDICT_UNSURE), TK_TONE_NOTE);
	assert_int_equal(tk_verdict_tone(TK_VERDICT_SAME), TK_TONE_QUIET);
	assert_int_equal(tk_triage_tone(TK_TRIAGE_NEW), TK_TONE_BAD);
	assert_int_equal(tk_triage_tone(TK_TRIAGE_ACKED), TK_TONE_NOTE);
	assert_int_equal(tk_triage_tone(TK_TRIAGE_IGNORED), TK_TONE_QUIET);
	assert_string_equal(tk_tone_name(TK_TONE_BAD), "bad");
}

static void groups_alike_verdicts(void **state)
{
	struct tk_verdict_row a = {.status = TK_VERDICT_MISSING,
	        .reason = "build failed",
	        .before_value = NAN,
	        .after_value = NAN};
	struct tk_verdict_row b = a;
	assert_true(tk_verdicts_are_alike(&a, &b));
	b.reason = "skipped"; /* missing series are alike whatever the reason */
	assert_true(tk_verdicts_are_alike(&a, &b));
	a.status = b.status = TK_VERDICT_UNSURE;
	assert_false(tk_verdicts_are_alike(&a, &b));
	b.reason = a.reason;
	assert_true(tk_verdicts_are_alike(&a, &b));
	b.before_value = b.after_value = 1;
	assert_false(tk_verdicts_are_alike(&a, &b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(gives_verdicts_tones), cmocka_unit_test(groups_alike_verdicts)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
