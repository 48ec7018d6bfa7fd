/* Words of the store as tones of the pages. */
#include "site_gen/pages/tone.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/status.h"
#include "store/store.h"

const char *tk_tone_name(enum tk_tone tone)
{
	static const char *const names[] = {"quiet", "note", "good", "bad"};
	return names[tone];
}

bool tk_verdicts_are_alike(const struct tk_verdict_row *a, const struct tk_verdict_row *b)
{
	bool absent = a->status == TK_VERDICT_MISSING || a->status == TK_VERDICT_STALE;
	return !(isfinite(a->before_value) && isfinite(a->after_value)) &&
	       !(isfinite(b->before_value) && isfinite(b->after_value)) && a->status == b->status &&
	       (absent || !strcmp(a->reason, b->reason));
}

enum tk_tone tk_verdict_tone(enum tk_verdict_status status)
{
	switch (status) {
	case TK_VERDICT_REGRESSED:
	case TK_VERDICT_NEWLY_FAILED:
	case TK_VERDICT_MISSING:
		return TK_TONE_BAD;
	case TK_VERDICT_IMPROVED:
	case TK_VERDICT_RECOVERED:
	case TK_VERDICT_FIXED:
		return TK_TONE_GOOD;
	case TK_VERDICT_UNSUPPORTED:
	case TK_VERDICT_NEW:
	case TK_VERDICT_SAME:
	case TK_VERDICT_STATUS_COUNT:
		return TK_TONE_QUIET;
	default:
		return TK_TONE_NOTE;
	}
}

enum tk_tone tk_state_tone(const char *word)
{
	static const struct {
		const char *word;
		enum tk_tone tone;
	} tones[] = {
	        {"complete", TK_TONE_GOOD},
	        {"ok", TK_TONE_GOOD},
	        {"done", TK_TONE_GOOD},
	        {"closed", TK_TONE_GOOD},
	        {"new", TK_TONE_GOOD},
	        {"failed", TK_TONE_BAD},
	        {"timeout", TK_TONE_BAD},
	        {"wrong", TK_TONE_BAD},
	        {"crashed", TK_TONE_BAD},
	        {"unreachable", TK_TONE_BAD},
	        {"open", TK_TONE_BAD},
	        {"build_failed", TK_TONE_BAD},
	        {"protocol", TK_TONE_BAD},
	        {"out_of_memory", TK_TONE_BAD},
	        {"no_device", TK_TONE_BAD},
	        {"stale", TK_TONE_BAD},
	        {"incomplete", TK_TONE_NOTE},
	        {"running", TK_TONE_NOTE},
	        {"stopped", TK_TONE_BAD},
	        {"throttled", TK_TONE_NOTE},
	        {"unstable", TK_TONE_NOTE},
	        {"skipped", TK_TONE_NOTE},
	};
	for (size_t i = 0; i < sizeof tones / sizeof *tones; i++)
		if (!strcmp(tones[i].word, word))
			return tones[i].tone;
	return TK_TONE_QUIET;
}
