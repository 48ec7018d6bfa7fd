#include "core/mode.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "core/series.h"

#define SEQUENCE_PREFIX "sequence:"
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
#define HASH_DIGITS 8

#define MODE_WORD(id, name, rotates, ...) [id] = {name, __VA_ARGS__},
TK_VOCABULARY_DEFINE(mode, "mode", TK_MODES, MODE_WORD);
TK_VOCABULARY_NAME(mode);

static const bool rotates_inputs[] = {
#define MODE_ROTATES(id, name, rotates, ...) [id] = rotates,
        TK_MODES(MODE_ROTATES)};

int tk_mode_parse(const char *name, enum tk_mode *out)
{
	char sequence[TK_MODE_WORD_SIZE];
	int value, status = TK_OK;

	if (name && tk_mode_get_sequence(name, sequence))
		value = TK_MODE_SEQUENCE;
	else
		status = tk_vocabulary_parse(&tk_mode_words, name, &value);
	if (!status)
		*out = (enum tk_mode)value;
	return status;
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
	return (unsigned)value < TK_MODE_COUNT && rotates_inputs[value];
}

enum tk_mode tk_mode_default(const char *device_kind)
{
	enum tk_device_kind kind = tk_device_kind_from_name(device_kind);

	return kind == TK_DEVICE_CUDA || kind == TK_DEVICE_HIP ? TK_MODE_PACED : TK_MODE_COLD;
}
