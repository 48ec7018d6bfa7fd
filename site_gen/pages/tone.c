/* States and verdicts as tones of the pages. */
#include "site_gen/pages/tone.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/status.h"
#include "site_gen/model/model.h"
#include "site_gen/render/value.h"

const char *tk_tone_name(enum tk_tone tone)
{
	static const char *const names[] = {"quiet", "note", "good", "bad"};
	return names[tone];
}

void tk_tone_set(struct tk_value *o, const char *key, enum tk_tone tone)
{
	tk_value_set(o, key, tk_tone_name(tone));
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

enum tk_tone tk_series_tone(const struct tk_site_series *s)
{
	enum tk_verdict_status status = tk_series_status(s);
	return status == TK_VERDICT_MISSING && tk_series_is_skipped(s) ? TK_TONE_NOTE
	                                                               : tk_verdict_tone(status);
}

enum tk_tone tk_series_change_tone(const struct tk_site_series *s)
{
	return s->verdict && s->verdict->status == TK_VERDICT_ACKED
	               ? tk_verdict_tone(s->verdict->status_before_ack)
	               : tk_series_tone(s);
}

enum tk_tone tk_outcome_tone(enum tk_outcome outcome)
{
	switch (outcome) {
	case TK_OUTCOME_OK:
		return TK_TONE_GOOD;
	case TK_OUTCOME_THROTTLED:
	case TK_OUTCOME_UNSTABLE:
	case TK_OUTCOME_SKIPPED:
		return TK_TONE_NOTE;
	case TK_OUTCOME_UNSUPPORTED:
	case TK_OUTCOME_COUNT:
		return TK_TONE_QUIET;
	default:
		return TK_TONE_BAD;
	}
}

static const enum tk_tone night_tones[] = {[TK_NIGHT_RUNNING] = TK_TONE_NOTE,
        [TK_NIGHT_COMPLETE] = TK_TONE_GOOD,
        [TK_NIGHT_INCOMPLETE] = TK_TONE_NOTE,
        [TK_NIGHT_FAILED] = TK_TONE_BAD,
        [TK_NIGHT_STOPPED] = TK_TONE_BAD};
static const enum tk_tone stage_tones[] = {[TK_STAGE_RUNNING] = TK_TONE_NOTE,
        [TK_STAGE_DONE] = TK_TONE_GOOD,
        [TK_STAGE_FAILED] = TK_TONE_BAD,
        [TK_STAGE_SKIPPED] = TK_TONE_NOTE};
static const enum tk_tone resolution_tones[] = {[TK_RESOLUTION_NEW] = TK_TONE_NOTE,
        [TK_RESOLUTION_UNCHANGED] = TK_TONE_QUIET,
        [TK_RESOLUTION_UNREACHABLE] = TK_TONE_BAD,
        [TK_RESOLUTION_FAILED] = TK_TONE_BAD};
static const enum tk_tone build_tones[] = {[TK_BUILD_OK] = TK_TONE_GOOD,
        [TK_BUILD_FAILED] = TK_TONE_BAD,
        [TK_BUILD_TIMEOUT] = TK_TONE_BAD};

static const enum tk_tone triage_tones[] = {[TK_TRIAGE_NEW] = TK_TONE_BAD,
        [TK_TRIAGE_ACKED] = TK_TONE_NOTE,
        [TK_TRIAGE_EXPECTED] = TK_TONE_QUIET,
        [TK_TRIAGE_IGNORED] = TK_TONE_QUIET,
        [TK_TRIAGE_RECOVERED] = TK_TONE_QUIET};

/* ---- by name --------------------------------------------------------------------------------- */

static const struct list {
	const char *name;
	const struct tk_vocabulary *words;
	const enum tk_tone *tones; /* by value; NULL: of a verdict or an outcome */
} lists[] = {
        {"build", &tk_build_status_words, build_tones},
        {"night", &tk_night_status_words, night_tones},
        {"outcome", &tk_outcome_words, NULL},
        {"resolution", &tk_resolution_status_words, resolution_tones},
        {"stage", &tk_stage_status_words, stage_tones},
        {"stage-name", &tk_stage_words, NULL},
        {"triage", &tk_triage_state_words, triage_tones},
        {"verdict", &tk_verdict_status_words, NULL},
};

static const struct list *find_list(const char *name)
{
	size_t i = 0;
	while (i + 1 < sizeof lists / sizeof *lists && strcmp(lists[i].name, name))
		i++;
	return &lists[i];
}

int tk_tone_find_place(const char *list, const char *word)
{
	const struct tk_vocabulary *words = find_list(list)->words;
	int value;
	return tk_vocabulary_parse(words, word, &value) ? -1 : value;
}

enum tk_tone tk_tone_find(const char *list, const char *word)
{
	const struct list *l = find_list(list);
	int value = tk_tone_find_place(list, word);
	if (value < 0)
		return TK_TONE_QUIET;
	return l->tones                        ? l->tones[value]
	       : l->words == &tk_outcome_words ? tk_outcome_tone((enum tk_outcome)value)
	                                       : tk_verdict_tone((enum tk_verdict_status)value);
}
