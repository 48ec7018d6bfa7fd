#include "core/mode.h"

#include "core/series.h"

#define MODE_WORD(id, name, rotates, ...) [id] = {name, __VA_ARGS__},
TK_VOCABULARY_DEFINE(mode, "mode", TK_MODES, MODE_WORD);
TK_VOCABULARY_FUNCTIONS(mode);

static const bool rotates_inputs[] = {
#define MODE_ROTATES(id, name, rotates, ...) [id] = rotates,
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
