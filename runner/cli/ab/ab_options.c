/* See ab_options.h. */
#include "cli/ab/ab_options.h"

#include <math.h>

#define DEFAULT_BUDGET_S 300

struct tk_ab_request tk_ab_options_defaults(void)
{
	return (struct tk_ab_request){
	        .mode = TK_MODE_COUNT, .min_effect = NAN, .budget_s = DEFAULT_BUDGET_S};
}

error_t tk_ab_options_parse(int key, char *arg, struct tk_ab_request *q,
        struct tk_device_names *devices, struct argp_state *state)
{
	switch (key) {
	case TK_AB_OPT_BUDGET:
		q->budget_s = tk_option_parse_quantity(
		        TK_QUANTITY_DURATION, arg, "budget", 0, 1e6, state);
		return 0;
	case TK_AB_OPT_DEVICES:
		tk_option_parse_devices(arg, devices, state);
		return 0;
	case TK_AB_OPT_MODE:
		q->mode = tk_option_parse_mode(arg, state);
		if (q->mode == TK_MODE_SEQUENCE)
			argp_error(state, "--mode=sequence: A/B runs do not measure within a "
			                  "sequence");
		return 0;
	case TK_AB_OPT_SUITE:
		q->suite = arg;
		return 0;
	case TK_AB_OPT_THRESHOLD:
		q->min_effect = tk_option_parse_quantity(
		        TK_QUANTITY_FRACTION, arg, "threshold", 0, 10, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}
