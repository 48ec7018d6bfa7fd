/* What people do with an alert, and the state that follows from it. */
#ifndef TK_CORE_TRIAGE_H
#define TK_CORE_TRIAGE_H
#include <stdbool.h>

#include "core/vocabulary.h"

/* The triage state of an alert, most urgent first. RECOVERED is derived: the alert is
 * closed and neither EXPECTED nor IGNORED. */
#define TK_TRIAGE_STATES(X) \
	X(TK_TRIAGE_NEW, "new", "nobody has looked at it yet") \
	X(TK_TRIAGE_ACKED, "acked", "somebody works on it") \
	X(TK_TRIAGE_EXPECTED, "expected", "a wanted change: the new level is the right one") \
	X(TK_TRIAGE_IGNORED, "ignored", "a false alarm, or of no interest") \
	X(TK_TRIAGE_RECOVERED, "recovered", "it ended by itself")
enum tk_triage_state { TK_TRIAGE_STATES(TK_VOCABULARY_ENUM) };
extern const struct tk_vocabulary tk_triage_state_words;
const char *tk_triage_state_name(enum tk_triage_state value);
int tk_triage_state_parse(const char *name, enum tk_triage_state *out);

/* id, word, the state that it leads to, whether it changes the state at all, meaning */
#define TK_TRIAGE_ACTIONS(X) \
	X(TK_ACTION_ACK, "ack", TK_TRIAGE_ACKED, true, "seen: somebody works on it") \
	X(TK_ACTION_EXPECT, "expect", TK_TRIAGE_EXPECTED, true, \
	        "wanted, or the price of something wanted: the new level is the right one") \
	X(TK_ACTION_IGNORE, "ignore", TK_TRIAGE_IGNORED, true, "a false alarm, or of no interest") \
	X(TK_ACTION_LINK, "link", TK_TRIAGE_NEW, false, "an issue or a change that belongs to it") \
	X(TK_ACTION_NOTE, "note", TK_TRIAGE_NEW, false, "a remark") \
	X(TK_ACTION_REOPEN, "reopen", TK_TRIAGE_NEW, true, "as if nobody had said anything")
enum tk_triage_action {
#define TK_TRIAGE_ACTION_ENUM(id, name, state, changes_state, meaning) id,
	TK_TRIAGE_ACTIONS(TK_TRIAGE_ACTION_ENUM)
#undef TK_TRIAGE_ACTION_ENUM
};
extern const struct tk_vocabulary tk_triage_action_words;
const char *tk_triage_action_name(enum tk_triage_action value);
int tk_triage_action_parse(const char *name, enum tk_triage_action *out);
/* True where the action changes the state; *state is what it becomes. False, and *state unchanged,
 * for a value outside the list: a newer tracker may have written it. */
bool tk_triage_action_state(enum tk_triage_action action, enum tk_triage_state *state);

#endif
