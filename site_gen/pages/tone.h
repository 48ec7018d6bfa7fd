/* Tones: how urgent a word is on a page. Each is a class of the style sheets. */
#ifndef TK_SITE_TONE_H
#define TK_SITE_TONE_H
#include <stdbool.h>

#include "core/status.h"

struct tk_verdict_row;

enum tk_tone { TK_TONE_QUIET, TK_TONE_NOTE, TK_TONE_GOOD, TK_TONE_BAD };
const char *tk_tone_name(enum tk_tone tone);

/* TK_VERDICT_STATUS_COUNT: there is no verdict. */
enum tk_tone tk_verdict_tone(enum tk_verdict_status status);
/* Of nights, stages, resolutions, builds, outcomes and alerts. */
enum tk_tone tk_state_tone(const char *word);

/* So many series with one verdict or outcome for one reason are shown as one line. */
#define TK_VERDICT_GROUP_MIN 4
/* Of one status, without values, and for one reason. Missing series are alike whatever the reason. */
bool tk_verdicts_are_alike(const struct tk_verdict_row *a, const struct tk_verdict_row *b);

#endif
