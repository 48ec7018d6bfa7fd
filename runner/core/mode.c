#include "core/mode.h"

#include <string.h>

#include "core/series.h"

#define MODE_WORD(id, name, rotates, meaning) [id] = {name, meaning},
TK_VOCABULARY_DEFINE(mode, "mode", TK_MODES, MODE_WORD);

const char *tk_mode_name(enum tk_mode value)
{
	return tk_vocabulary_name(&tk_mode_words, (int)value);
}

int tk_mode_parse(const char *name, enum tk_mode *out)
{
	int value, status;

	/* The name in documents; the history has the older one. */
	if (name && strcmp(name, "contended") == 0)
		name = tk_mode_name(TK_MODE_CONTENDED);
	status = tk_vocabulary_parse(&tk_mode_words, name, &value);
	if (!status)
		*out = (enum tk_mode)value;
	return status;
}

static const bool rotates_inputs[] = {
#define MODE_ROTATES(id, name, rotates, meaning) [id] = rotates,
        TK_MODES(MODE_ROTATES)};

bool tk_mode_rotates_inputs(enum tk_mode value)
{
	return (unsigned)value < TK_MODE_COUNT && rotates_inputs[value];
}

enum tk_mode tk_mode_default(const char *device_kind)
{
	enum tk_device_kind kind = tk_device_kind_from_name(device_kind);

	return kind == TK_DEVICE_CUDA || kind == TK_DEVICE_HIP ? TK_MODE_PACED : TK_MODE_COLD;
}
