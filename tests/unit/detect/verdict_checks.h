/* What the tests of verdicts share: checks of a row, and quiet series beside those of a test. */
#ifndef TK_TEST_VERDICT_CHECKS_H
#define TK_TEST_VERDICT_CHECKS_H
#include "base/rng.h"
#include "world.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static inline void expect(
        const struct tk_diff_report *r, const char *problem, enum tk_verdict_status want)
{
	const struct tk_diff_row *row = world_row(r, "b", problem);

	if (row->verdict.status != want)
		fail_msg("%s: %s (%s; %+.4f, threshold %.4f, p %.3g, q %.3g), expected %s", problem,
		        tk_verdict_status_name(row->verdict.status), world_reason(row),
		        row->verdict.change.value, row->verdict.threshold, row->verdict.p,
		        row->verdict.q, tk_verdict_status_name(want));
}

static inline void expect_reason(
        const struct tk_diff_report *r, const char *problem, const char *part)
{
	const struct tk_diff_row *row = world_row(r, "b", problem);

	if (!strstr(world_reason(row), part))
		fail_msg("%s: the reason is \"%s\", expected \"%s\"", problem, world_reason(row),
		        part);
}

/* A quiet value: 0.3 % noise. */
static inline double quiet(struct tk_rng *r, double level)
{
	return level * (1 + 0.003 * tk_rng_normal(r));
}

/* Twelve quiet series of unchanged code beside those of a test, so that the noise and the machine
 * are known. */
static inline void others(struct world *w, struct tk_rng *r, double shift)
{
	for (int i = 0; i < 12; i++) {
		char name[16] = "other-a";

		name[6] = (char)('a' + i);
		world_point(w, "o", name, quiet(r, 1e5 * (1 + i) * shift));
	}
}

#endif
