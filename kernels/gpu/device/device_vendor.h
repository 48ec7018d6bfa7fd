/* What each vendor adds to the device layer of device.c: descriptions of its devices, and its
 * sensors. Implemented by kernels/cuda/device_cuda.c with NVML and kernels/hip/device_hip.c with
 * ROCm SMI; a module has one of the two. */
#ifndef TK_DEVICE_VENDOR_H
#define TK_DEVICE_VENDOR_H
#include "gpu_host.h"
#include "tracker_abi.h"
#include <stddef.h>

/* Working sets are multiples of this many bytes. */
#define VENDOR_PIECE 8192

extern const char vendor_kind[]; /* "cuda", "hip" */

/* Nanoseconds of one tick of the stamps' timer, and the upper bound of stamp_kernel's
 * unit_index(). */
double vendor_tick_ns(int index);
unsigned vendor_stamp_slots(const gpu_properties *p);

/* Fills arch, uuid, cache_bytes, resident_bytes, numa_node. */
void vendor_describe(const gpu_properties *p, const char *bus, struct tk_device_info *out);
/* Writes members of a JSON object without its braces: versions of driver and runtime. Returns the
 * length. */
size_t vendor_versions(int driver, int runtime, const gpu_properties *p, char *out, size_t size);

/* Tells a profiler that this process runs under to record from now on (1), or to stop (0). Without
 * a profiler nothing happens. */
gpu_error vendor_profile(uint32_t on);

/* The sensors of one device, through a library loaded at run time. NULL: there is none, and
 * telemetry is missing. All of these functions accept NULL. */
struct sensors;
struct sensors *sensors_open(const char *pci_bus_id);
void sensors_close(struct sensors *s);
/* Writes what it can read and leaves the other members. */
void sensors_telemetry(struct sensors *s, struct tk_telemetry *out);
/* Writes members of a JSON object, without the braces: power cap, locked clocks, ECC, partitions,
 * firmware, other processes. Values that change by themselves (temperature, load) are telemetry.
 * Returns the length. */
size_t sensors_attributes(struct sensors *s, char *out, size_t size);
/* Version of the driver, e.g. "580.159.03"; "" where unknown. */
const char *sensors_driver(struct sensors *s);

/* Replaces what JSON would have to escape by underscores. */
static inline const char *sensors_plain(char *text)
{
	for (char *c = text; *c; c++)
		if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\')
			*c = '_';
	return text;
}

#endif
