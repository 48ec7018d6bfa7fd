/* See action_options.h. */
#include "cli/action_options.h"

#include "base/error.h"
#include "cli/options.h"

error_t tk_action_options_parse(int key, char *arg, const char *actions, struct argp_state *state)
{
	struct tk_action_options *o = state->input;

	switch (key) {
	case 'f':
		o->json = tk_option_parse_json(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (o->action)
			return ARGP_ERR_UNKNOWN; /* the rest comes as ARGP_KEY_ARGS */
		o->action = arg;
		return 0;
	case ARGP_KEY_ARGS:
		o->names = state->argv + state->next;
		o->name_count = state->argc - state->next;
		return 0;
	case ARGP_KEY_END:
		if (!o->action)
			argp_error(state, "missing action; expected %s", actions);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int tk_action_options_refuse_names(const struct tk_action_options *o, struct tk_error *err)
{
	return o->name_count ? tk_fail(err, TK_EUSAGE, "%s: unexpected argument \"%s\"", o->action,
	                               o->names[0])
	                     : TK_OK;
}
