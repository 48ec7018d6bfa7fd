/* The options of `tracker ab` that `tracker tune` has too: what is measured, where and for how
 * long. */
#ifndef TK_AB_OPTIONS_H
#define TK_AB_OPTIONS_H
#include <argp.h>

#include "cli/options.h"
#include "nightly/compare/ab_compare.h"

enum {
	TK_AB_OPT_BUDGET = 256,
	TK_AB_OPT_DEVICES,
	TK_AB_OPT_MODE,
	TK_AB_OPT_SUITE,
	TK_AB_OPT_THRESHOLD,
	TK_AB_OPT_NEXT /* of a command's own */
};

/* Rows of struct argp_option that both commands have. */
#define TK_AB_ROW_DEVICES \
	{ \
		"devices", TK_AB_OPT_DEVICES, "LIST", 0, \
		        "Measure on these devices: all, kinds (cuda), one of a kind (cuda:1) or " \
		        "UUIDs " \
		        "(default: the first one of each kind)", \
		        2 \
	}
#define TK_AB_ROW_MODE \
	{ \
		"mode", TK_AB_OPT_MODE, "MODE", 0, \
		        TK_OPTION_SINGLE_MODE_HELP " (default: the first one that is configured)", \
		        2 \
	}

/* A request that asks for the defaults. */
struct tk_ab_request tk_ab_options_defaults(void);
/* ARGP_ERR_UNKNOWN: it is none of these. */
error_t tk_ab_options_parse(int key, char *arg, struct tk_ab_request *q,
        struct tk_device_names *devices, struct argp_state *state);

#endif
