/* States and verdicts as tones of the pages. What is not listed is quiet. */
#include "site_gen/pages/tone.h"

#include "core/vocabulary.h"
#include "site_gen/model/model.h"
#include "site_gen/render/value.h"

#define BAD TK_TONE_BAD
#define GOOD TK_TONE_GOOD
#define NOTE TK_TONE_NOTE

static const enum tk_tone verdict_tones[TK_VERDICT_STATUS_COUNT + 1] = {
        [TK_VERDICT_REGRESSED... TK_VERDICT_MISSING] = BAD,
        [TK_VERDICT_CHANGED] = NOTE,
        [TK_VERDICT_IMPROVED... TK_VERDICT_FIXED] = GOOD,
        [TK_VERDICT_ACKED... TK_VERDICT_FAILING] = NOTE};
static const enum tk_tone outcome_tones[TK_OUTCOME_COUNT] = {[TK_OUTCOME_OK] = GOOD,
        [TK_OUTCOME_THROTTLED... TK_OUTCOME_UNSTABLE] = NOTE,
        [TK_OUTCOME_WRONG... TK_OUTCOME_IMPLAUSIBLE] = BAD,
        [TK_OUTCOME_OUT_OF_MEMORY... TK_OUTCOME_NO_DEVICE] = BAD,
        [TK_OUTCOME_SKIPPED] = NOTE};
static const enum tk_tone night_tones[] = {[TK_NIGHT_RUNNING] = NOTE,
        [TK_NIGHT_COMPLETE] = GOOD,
        [TK_NIGHT_INCOMPLETE] = NOTE,
        [TK_NIGHT_FAILED] = BAD,
        [TK_NIGHT_STOPPED] = BAD};
static const enum tk_tone stage_tones[] = {[TK_STAGE_RUNNING] = NOTE,
        [TK_STAGE_DONE] = GOOD,
        [TK_STAGE_FAILED] = BAD,
        [TK_STAGE_SKIPPED] = NOTE};
static const enum tk_tone resolution_tones[] = {[TK_RESOLUTION_NEW] = NOTE,
        [TK_RESOLUTION_UNREACHABLE] = BAD,
        [TK_RESOLUTION_FAILED] = BAD};
static const enum tk_tone build_tones[] = {
        [TK_BUILD_OK] = GOOD, [TK_BUILD_PARTIAL... TK_BUILD_TIMEOUT] = BAD};
static const enum tk_tone triage_tones[TK_TRIAGE_RECOVERED + 1] = {
        [TK_TRIAGE_NEW] = BAD, [TK_TRIAGE_ACKED] = NOTE};
static const enum tk_tone tune_tones[TK_TUNE_VERDICT_COUNT] = {[TK_TUNE_VERDICT_FASTER] = GOOD,
        [TK_TUNE_VERDICT_FIXED] = GOOD,
        [TK_TUNE_VERDICT_INCONCLUSIVE] = NOTE,
        [TK_TUNE_VERDICT_SLOWER] = NOTE,
        [TK_TUNE_VERDICT_FAILING] = BAD};

const struct tk_tone_list tk_tone_lists[] = {
        {"build", &tk_build_status_words, build_tones},
        {"mode", &tk_mode_words, NULL},
        {"night", &tk_night_status_words, night_tones},
        {"outcome", &tk_outcome_words, outcome_tones},
        {"resolution", &tk_resolution_status_words, resolution_tones},
        {"stage", &tk_stage_status_words, stage_tones},
        {"stage-name", &tk_stage_words, NULL},
        {"triage", &tk_triage_state_words, triage_tones},
        {"tune", &tk_tune_verdict_words, tune_tones},
        {"verdict", &tk_verdict_status_words, verdict_tones},
        {NULL},
};

static const struct tk_tone_list *find_list(const char *name)
{
	const struct tk_tone_list *list = tk_tone_lists;
	while (strcmp(list->name, name))
		list++;
	return list;
}

int tk_tone_find_place(const char *list, const char *word)
{
	int value;
	return tk_vocabulary_parse(find_list(list)->words, word, &value) ? -1 : value;
}

enum tk_tone tk_tone_find(const char *list, const char *word)
{
	const enum tk_tone *tones = find_list(list)->tones;
	int value = tk_tone_find_place(list, word);
	return value < 0 || !tones ? TK_TONE_QUIET : tones[value];
}

const char *tk_tone_name(enum tk_tone tone)
{
	static const char *const names[] = {"quiet", "note", "good", "bad"};
	return names[tone];
}

void tk_tone_set(struct tk_value *o, const char *key, enum tk_tone tone)
{
	tk_value_set(o, key, tk_tone_name(tone));
}

enum tk_tone tk_outcome_tone(enum tk_outcome outcome)
{
	return outcome_tones[outcome];
}

enum tk_tone tk_series_tone(const struct tk_site_series *s)
{
	enum tk_verdict_status status = tk_series_status(s);
	return status == TK_VERDICT_MISSING && tk_series_is_skipped(s) ? TK_TONE_NOTE
	                                                               : verdict_tones[status];
}

enum tk_tone tk_series_change_tone(const struct tk_site_series *s)
{
	return s->verdict && s->verdict->status == TK_VERDICT_ACKED
	               ? verdict_tones[s->verdict->status_before_ack]
	               : tk_series_tone(s);
}
