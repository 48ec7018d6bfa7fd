/* A device layer around the real one, to try what happens when a GPU falls off the bus: once the
 * file LOST_FLAG holds the UUID of a device, that device cannot be opened. LOST_LAYER is the path
 * of the real layer. Both are compiled in, because a worker gets a clean environment.
 *
 *   cc -shared -fPIC -DLOST_FLAG='"/tmp/lost"'
 *     -DLOST_LAYER='"/tmp/lost-backends/real_device_cuda.so"' -Ikernels/abi
 *     -o /tmp/lost-backends/tk_device_cuda.so tests/gpu/lost_device.c */
#include "tracker_abi.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const struct tk_device_ops *real;

static int is_lost(const char *uuid)
{
	char line[128] = "";
	FILE *f = fopen(LOST_FLAG, "r");
	if (f && !fgets(line, sizeof line, f))
		line[0] = 0;
	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = 0;
	return *line && strcmp(line, uuid) == 0;
}

static int open_unless_lost(uint32_t index, struct tk_device **out, struct tk_abi_error *err)
{
	struct tk_device *device = NULL;
	struct tk_device_info info = {.size = sizeof info};
	int status = real->open(index, &device, err);
	if (status == TK_ABI_OK && (status = real->info(device, &info, err)) != TK_ABI_OK)
		real->close(device);
	if (status != TK_ABI_OK)
		return status;
	if (is_lost(info.uuid)) {
		real->close(device);
		snprintf(err->message, sizeof err->message, "%s fell off the bus", info.uuid);
		return TK_ABI_DEVICE;
	}
	*out = device;
	return TK_ABI_OK;
}

TK_EXPORT const struct tk_device_ops *tk_device_entry(void)
{
	static struct tk_device_ops ops;
	const struct tk_device_ops *(*entry)(void) = NULL;
	void *module = dlopen(LOST_LAYER, RTLD_NOW | RTLD_LOCAL),
	     *symbol = module ? dlsym(module, "tk_device_entry") : NULL;
	memcpy(&entry, &symbol, sizeof entry);
	if (!entry)
		return NULL;
	real = entry();
	ops = *real;
	ops.open = open_unless_lost;
	return &ops;
}
