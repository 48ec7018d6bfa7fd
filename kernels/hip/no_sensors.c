/* The sensors of device.h for a build without ROCm SMI's header: none. */
#include "device.h"

struct sensors *sensors_open(const char *pci_bus_id)
{
	return NULL;
}

void sensors_close(struct sensors *s)
{
}

void sensors_telemetry(struct sensors *s, struct tk_telemetry *out)
{
}

size_t sensors_attributes(struct sensors *s, char *out, size_t size)
{
	out[0] = 0;
	return 0;
}

const char *sensors_driver(struct sensors *s)
{
	return "";
}
