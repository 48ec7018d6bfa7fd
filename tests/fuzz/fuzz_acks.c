/* Any bytes as acks.yml: what was accepted, each with a filter and a reason, or a sentence that
 * says where it is wrong.
 */
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const keys[] = {"backend", "machine", "series", NULL};
	struct tk_acks *acks = NULL;
	struct tk_error err = {0};
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (tk_acks_load_text("f.yml", text, size, keys, &acks, &err)) {
		if (strncmp(err.message, "f.yml:", 6) != 0 || err.status != TK_ECONFIG || acks)
			abort();
	}
	for (size_t i = 0; acks && i < acks->count; i++)
		if (!acks->at[i].filters[0] || !*acks->at[i].note ||
		        acks->at[i].action > TK_ACTION_IGNORE || !acks->at[i].by)
			abort();
	tk_acks_free(acks);
	free(text);
	return 0;
}
