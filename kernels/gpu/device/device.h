/* What the files of a device layer share: kernels of its own as C functions, traffic beside a
 * kernel, and what each vendor adds to device.c. */
#ifndef TK_GPU_DEVICE_H
#define TK_GPU_DEVICE_H
#include "device_compare.h"
#include "gpu_host.h"
#include "tracker_abi.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- kernels: clock stamps, bounded waiting ---- */

/* One multiprocessor's clocks: its cycles, and ticks of a timer that all of them share. `sequence`
 * identifies the record that wrote the stamp. */
struct device_stamp {
	unsigned long long cycles, ticks;
	unsigned long long sequence;
};

/* Every multiprocessor (there are `units`) writes its clocks to slots[its index], if that is below
 * `count`. */
gpu_error device_stamp_enqueue(struct device_stamp *slots, unsigned count, unsigned units,
        unsigned long long sequence, gpu_stream stream);
/* Blocks the stream for this many ticks. Ends in any case. */
gpu_error device_block_enqueue(double ticks, gpu_stream stream);
/* flip_signs of the contract. */
gpu_error device_flip_enqueue(void *memory, size_t count, size_t element_bytes,
        unsigned long long seed, gpu_stream stream);

/* ---- traffic that keeps the memory system busy beside the kernel that is measured ---- */

struct device_memory_load;

/* Copies within the device: on NVIDIA by its copy engines, which take bandwidth but no
 * multiprocessor; on AMD the runtime may choose a kernel, which takes compute units too. Made with
 * the first use. tick_ns: of the device's timer. */
gpu_error device_memory_load_new(double tick_ns, struct device_memory_load **out);
void device_memory_load_free(struct device_memory_load *s);
/* Enqueues about `ns` of traffic, for `share` of that time. */
gpu_error device_memory_load_run(struct device_memory_load *s, double ns, double share);
gpu_error device_memory_load_wait(struct device_memory_load *s);

/* ---- a vendor's part: descriptions of its devices, and its sensors ----
 *
 * Implemented by kernels/cuda/device_cuda.c with NVML and kernels/hip/device_hip.c with ROCm SMI; a
 * module has one of the two. */

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

#ifdef __cplusplus
}
#endif
#endif
