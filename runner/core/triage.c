#include "core/triage.h"

#include <stddef.h>

TK_VOCABULARY(triage_state, "triage state", TK_TRIAGE_STATES);

#define ACTION_WORD(id, name, state, changes_state, meaning) [id] = {name, meaning},
TK_VOCABULARY_DEFINE(triage_action, "action on an alert", TK_TRIAGE_ACTIONS, ACTION_WORD);
TK_VOCABULARY_FUNCTIONS(triage_action);

static const struct {
	enum tk_triage_state state;
	bool changes_state;
} effects[] = {
#define ACTION_EFFECT(id, name, state, changes_state, meaning) [id] = {state, changes_state},
        TK_TRIAGE_ACTIONS(ACTION_EFFECT)};

bool tk_triage_action_state(enum tk_triage_action action, enum tk_triage_state *state)
{
	if ((size_t)action >= sizeof effects / sizeof *effects || !effects[action].changes_state)
		return false;
	*state = effects[action].state;
	return true;
}
