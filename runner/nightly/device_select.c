/* See device_select.h. */
#include "nightly/device_select.h"
#include "core/series.h"
#include <stdio.h>
#include <string.h>

bool tk_device_name_matches(const char *name, const char *kind, uint32_t index, const char *uuid)
{
	const enum tk_device_kind known = tk_device_kind_from_name(kind);
	char kind_and_number[48], number[16];

	snprintf(number, sizeof number, "%u", index);
	snprintf(kind_and_number, sizeof kind_and_number, "%s:%u", kind, index);
	if (strcmp(name, number) == 0)
		return known != TK_DEVICE_CPU && known != TK_DEVICE_NULL;
	if (strcmp(name, "all") == 0)
		return known != TK_DEVICE_NULL;
	return strcmp(name, kind) == 0 || strcmp(name, kind_and_number) == 0 ||
	       (*uuid && strcmp(name, uuid) == 0);
}

bool tk_device_is_selected(char *const *names, const char *kind, uint32_t index, const char *uuid)
{
	for (; *names; names++)
		if (tk_device_name_matches(*names, kind, index, uuid))
			return true;
	return false;
}
