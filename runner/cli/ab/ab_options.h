/* The options of `tracker ab` that `tracker tune` has too: what is measured, where and for how
 * long. */
#ifndef TK_AB_OPTIONS_H
#define TK_AB_OPTIONS_H
#include "base/base.h"
#include "cli/arguments.h"
#include "nightly/compare/ab_compare.h"
#include <math.h>

#define TK_AB_OPTIONS_NONE \
	{ \
		.mode = TK_MODE_COUNT, .min_effect = NAN, .budget_s = 300 \
	}
#define TK_AB_OPT_DEVICES(at) \
	TK_OPT_ITEMS("devices", 0, "LIST", at, \
	        "Measure on these devices: all, kinds (cuda), one of a kind (cuda:1) or UUIDs " \
	        "(default: the first one of each kind)")
#define TK_AB_OPT_MODE(at) \
	TK_OPT_MODE(at, TK_OPTION_SINGLE_MODE_HELP " (default: the first one that is configured)")

static inline int tk_ab_options_check(const struct tk_ab_request *q, struct tk_error *err)
{
	return q->mode == TK_MODE_SEQUENCE
	               ? tk_fail(err, TK_EUSAGE,
	                         "--mode=sequence: A/B runs do not measure within a sequence")
	               : TK_OK;
}

#endif
