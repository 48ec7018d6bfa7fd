/* What a vendor adds to the device layer of device.c: words for its devices, and its sensors.
 * kernels/cuda/device_cuda.c with NVML and kernels/hip/device_hip.c with ROCm SMI each have these
 * functions; one of the two is in a module. */
#ifndef TK_DEVICE_VENDOR_H
#define TK_DEVICE_VENDOR_H
#include "gpu_host.h"
#include "tracker_abi.h"
#include <stddef.h>

/* A working set is cut to pieces of that many bytes. */
#define VENDOR_PIECE 8192

extern const char vendor_kind[]; /* "cuda", "hip" */

/* Nanoseconds of one tick of the timer that a stamp reads, and the number of places that
 * stamp_kernel's unit_index() may return. */
double vendor_tick_ns(int index);
unsigned vendor_stamp_slots(const gpu_properties *p);

/* Fills arch, uuid, cache_bytes, resident_bytes, numa_node. */
void vendor_describe(const gpu_properties *p, const char *bus, struct tk_device_info *out);
/* Members of a JSON object without its braces: versions of driver and runtime. Returns the length
 * written. */
size_t vendor_versions(int driver, int runtime, const gpu_properties *p, char *out, size_t size);

/* The sensors of one device, through a library that is loaded at run time. NULL where there is
 * none: telemetry is then missing and nothing else changes; all of these functions take NULL. */
struct sensors;
struct sensors *sensors_open(const char *pci_bus_id);
void sensors_close(struct sensors *s);
/* Writes what it can read; the rest stays as it is. */
void sensors_telemetry(struct sensors *s, struct tk_telemetry *out);
/* Members of a JSON object, without the braces: power cap, locked clocks, ECC, partitions,
 * firmware, other processes. What moves by itself (temperature, load) is telemetry and not here.
 * Returns the length written. */
size_t sensors_attributes(struct sensors *s, char *out, size_t size);
/* Version of the driver, e.g. "580.159.03"; "" where unknown. */
const char *sensors_driver(struct sensors *s);

/* Vendor strings go into JSON: what is not plain becomes an underscore. */
static inline const char *sensors_plain(char *text)
{
	for (char *c = text; *c; c++)
		if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\')
			*c = '_';
	return text;
}

#endif
