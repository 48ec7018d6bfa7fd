/* See vocabulary.h. */
#include "core/vocabulary.h"
#include "tracker_abi.h"

#include <stdio.h>
#include <string.h>

#define SEQUENCE_PREFIX "sequence:"
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
#define HASH_DIGITS 8

#define WORD(id, ...) [id] = {__VA_ARGS__},
#define DEFINE(stem, subject, LIST, COUNT) \
	static const struct tk_word stem##_table[] = {LIST(WORD)}; \
	const struct tk_vocabulary tk_##stem##_words = { \
	        subject, stem##_table, (int)(sizeof stem##_table / sizeof *stem##_table)};
TK_VOCABULARIES(DEFINE)

/* NULL outside the list. */
static const struct tk_word *find_word(const struct tk_vocabulary *v, int value)
{
	return value >= 0 && value < v->count ? &v->words[value] : NULL;
}

const char *tk_vocabulary_name(const struct tk_vocabulary *v, int value)
{
	return find_word(v, value) ? v->words[value].name : "unknown";
}

const char *tk_vocabulary_meaning(const struct tk_vocabulary *v, int value)
{
	return find_word(v, value) ? v->words[value].meaning : "";
}

int tk_vocabulary_find(const struct tk_vocabulary *v, const char *name, int otherwise)
{
	for (int i = 0; name && i < v->count; i++)
		if ((*v->words[i].name == *name && strcmp(v->words[i].name, name) == 0) ||
		        (v->words[i].former_name && strcmp(v->words[i].former_name, name) == 0))
			return i;
	return otherwise;
}

int tk_vocabulary_parse(const struct tk_vocabulary *v, const char *name, int *value)
{
	int found = tk_vocabulary_find(v, name, -1);

	if (found < 0)
		return TK_EDATA;
	*value = found;
	return TK_OK;
}

static int trait(const struct tk_vocabulary *v, unsigned value, int otherwise)
{
	return find_word(v, (int)value) ? v->words[value].trait : otherwise;
}

/* ---- series and what is measured ------------------------------------------------------------- */

enum tk_unit tk_unit_from_name(const char *name)
{
	return (enum tk_unit)tk_vocabulary_find(&tk_unit_words, name, TK_UNIT_OTHER);
}

enum tk_metric tk_metric_from_name(const char *name)
{
	return (enum tk_metric)tk_vocabulary_find(&tk_metric_words, name, TK_METRIC_OTHER);
}

enum tk_device_kind tk_device_kind_from_name(const char *name)
{
	return (enum tk_device_kind)tk_vocabulary_find(
	        &tk_device_kind_words, name, TK_DEVICE_OTHER);
}

uint32_t tk_device_kind_bit(const char *name)
{
	return UINT32_C(1) << tk_device_kind_from_name(name);
}

enum tk_unit tk_metric_unit(enum tk_metric value)
{
	return (enum tk_unit)trait(&tk_metric_words, value, TK_UNIT_OTHER);
}

bool tk_outcome_has_timing(enum tk_outcome value)
{
	return trait(&tk_outcome_words, value, false);
}

enum tk_outcome tk_outcome_from_abi(int status)
{
	return status == TK_ABI_UNSUPPORTED ? TK_OUTCOME_UNSUPPORTED
	       : status == TK_ABI_NO_MEMORY ? TK_OUTCOME_OUT_OF_MEMORY
	       : status == TK_ABI_NOT_BUILT ? TK_OUTCOME_BUILD_FAILED
	                                    : TK_OUTCOME_FAILED;
}

bool tk_build_status_is_usable(enum tk_build_status value)
{
	return trait(&tk_build_status_words, value, false);
}

bool tk_outcome_is_night_unreliable(size_t unstable, size_t timed)
{
	return timed > 0 && 2 * unstable >= timed;
}

/* ---- verdicts, alerts, upstreams ------------------------------------------------------------- */

const char *tk_verdict_status_mark(enum tk_verdict_status value)
{
	return find_word(&tk_verdict_status_words, (int)value)
	               ? tk_verdict_status_words.words[value].mark
	               : "";
}

const char *tk_verdict_status_phrase(enum tk_verdict_status value)
{
	return value == TK_VERDICT_NEW ? "new (no baseline yet)" : tk_verdict_status_name(value);
}

bool tk_triage_action_state(enum tk_triage_action action, enum tk_triage_state *state)
{
	int becomes = trait(&tk_triage_action_words, action, -1);

	if (becomes >= 0)
		*state = (enum tk_triage_state)becomes;
	return becomes >= 0;
}

bool tk_upstream_kind_has_commits(enum tk_upstream_kind kind)
{
	return kind == TK_UPSTREAM_SELF || kind == TK_UPSTREAM_GIT;
}

bool tk_upstream_kind_is_built(enum tk_upstream_kind kind)
{
	return tk_upstream_kind_has_commits(kind) || kind == TK_UPSTREAM_PACKAGE;
}

/* ---- modes ----------------------------------------------------------------------------------- */

int tk_mode_parse(const char *name, enum tk_mode *out)
{
	char sequence[TK_MODE_WORD_SIZE];
	int value = name && tk_mode_get_sequence(name, sequence)
	                    ? TK_MODE_SEQUENCE
	                    : tk_vocabulary_find(&tk_mode_words, name, -1);

	if (value < 0)
		return TK_EDATA;
	*out = (enum tk_mode)value;
	return TK_OK;
}

int tk_mode_format_sequence(
        const char *name, const char *hash, char out[TK_MODE_WORD_SIZE], struct tk_error *err)
{
	size_t room = TK_MODE_WORD_SIZE - sizeof SEQUENCE_PREFIX - HASH_DIGITS - 1;

	if (!*name || strlen(name) > room || name[strspn(name, NAME_CHARACTERS)])
		return tk_fail(err, TK_EDATA,
		        "invalid name of a sequence \"%.64s\", expected at most %zu letters, "
		        "digits, \"-\", \"_\" and \".\"",
		        name, room);
	snprintf(out, TK_MODE_WORD_SIZE, SEQUENCE_PREFIX "%s@%.*s", name, HASH_DIGITS, hash);
	return TK_OK;
}

bool tk_mode_get_sequence(const char *word, char name[TK_MODE_WORD_SIZE])
{
	const char *start = word + strlen(SEQUENCE_PREFIX);

	if (strncmp(word, SEQUENCE_PREFIX, strlen(SEQUENCE_PREFIX)) != 0)
		return false;
	size_t len = strspn(start, NAME_CHARACTERS);
	const char *hash = start[len] == '@' ? start + len + 1 : start + len;
	if (!len || len >= TK_MODE_WORD_SIZE || hash[strspn(hash, "0123456789abcdef")])
		return false;
	snprintf(name, TK_MODE_WORD_SIZE, "%.*s", (int)len, start);
	return true;
}

bool tk_mode_rotates_inputs(enum tk_mode value)
{
	return trait(&tk_mode_words, value, false);
}

enum tk_mode tk_mode_default(const char *device_kind)
{
	enum tk_device_kind kind = tk_device_kind_from_name(device_kind);

	return kind == TK_DEVICE_CUDA || kind == TK_DEVICE_HIP ? TK_MODE_PACED : TK_MODE_COLD;
}
