#include "cli/range_options.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"

error_t tk_range_options_parse(int key, char *arg, struct argp_state *state)
{
	struct tk_range_options *o = state->input;
	struct tk_error why = {0};

	switch (key) {
	case TK_OPT_GOOD:
		o->good = arg;
		return 0;
	case TK_OPT_BAD:
		o->bad = arg;
		return 0;
	case TK_OPT_REV:
		o->rev = arg;
		return 0;
	case TK_OPT_BUDGET:
		if (tk_units_parse_seconds(arg, &o->budget_s, &why))
			argp_error(state, "--budget: %s", why.message);
		return 0;
	case ARGP_KEY_ARG:
		if (o->series)
			argp_error(state, "expected one series or alert");
		o->series = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->series)
			argp_error(state, "missing SERIES or ALERT");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}
