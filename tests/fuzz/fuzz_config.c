/* Any bytes as tracker.yml: a configuration, or a sentence that says where it is wrong. */
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tk_config *c = NULL;
	struct tk_error err = {0};
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	setenv("TRACKER_DATADIR", TK_SOURCE_ROOT, 1);
	if (tk_config_load_text("/nonexistent", "f.yml", text, size, &c, &err)) {
		if (strncmp(err.message, "f.yml:", 6) != 0 || err.status != TK_ECONFIG)
			abort();
	} else if (!c->machine || !c->upstream_count || !c->suites[0] || !c->devices[0] ||
	           strlen(c->hash) != 64)
		abort();
	tk_config_free(c);
	free(text);
	return 0;
}
