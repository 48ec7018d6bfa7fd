/* Shared by adapters that compile for given devices: which of them a backend runs on. */
#ifndef ADAPTER_TARGETS_H
#define ADAPTER_TARGETS_H
#include <stdlib.h>
#include <string.h>

#ifndef DEVICE_KIND
#define DEVICE_KIND "cuda"
#endif

/* "sm_90a" runs on exactly 9.0, "sm_80" on all of 8.x from 8.0 on; "gfx90a,gfx942" on these two. */
static inline int runs_on(const char *targets, const char *device)
{
	const size_t length = strcspn(device, ":");
	if (!strncmp(targets, "sm_", 3)) {
		const size_t digits = strspn(targets + 3, "0123456789");
		const int built = atoi(targets + 3);
		const int found = strncmp(device, "sm_", 3) ? -1 : atoi(device + 3);
		return targets[3 + digits] ? found == built
		                           : found / 10 == built / 10 && found >= built;
	}
	for (const char *t = targets; length && *t; t += strcspn(t, ",") + (strchr(t, ',') != NULL))
		if (strcspn(t, ",") == length && !strncmp(t, device, length))
			return 1;
	return 0;
}

#endif
