/* The words of mode.h, so that the list exists once. */
#include "core/mode.h"

#include <string.h>

#include "base/error.h"

/* clang-format off */
static const struct { const char *word; bool rotates; } modes[] = {
#define ROW(id, word, rotates, meaning) [id] = { word, rotates },
	TK_MODES(ROW)
#undef ROW
};
/* clang-format on */

static bool known(enum tk_mode m)
{
	return (unsigned)m < TK_MODE_COUNT;
}

const char *tk_mode_name(enum tk_mode m)
{
	return known(m) ? modes[m].word : "unknown";
}

bool tk_mode_rotates_inputs(enum tk_mode m)
{
	return known(m) && modes[m].rotates;
}

int tk_mode_parse(const char *word, enum tk_mode *out)
{
	for (unsigned i = 0; word && i < TK_MODE_COUNT; i++)
		if (strcmp(word, modes[i].word) == 0) {
			*out = (enum tk_mode)i;
			return TK_OK;
		}
	return TK_EDATA;
}

enum tk_mode tk_mode_default(const char *device_kind)
{
	bool gpu = device_kind &&
	           (strcmp(device_kind, "cuda") == 0 || strcmp(device_kind, "hip") == 0);

	return gpu ? TK_MODE_PACED : TK_MODE_COLD;
}
