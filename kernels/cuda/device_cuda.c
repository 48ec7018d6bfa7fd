/* NVIDIA's part of the device layer (kernels/gpu/device): names and versions. The runtime is linked
 * statically. */
#include "device.h"
#include <stdio.h>

const char vendor_kind[] = "cuda";

/* %globaltimer counts nanoseconds. */
double vendor_tick_ns(int index)
{
	return 1;
}

unsigned vendor_stamp_slots(const gpu_properties *p)
{
	return (unsigned)p->multiProcessorCount;
}

static void format_uuid(const cudaUUID_t *uuid, char out[80])
{
	const unsigned char *b = (const unsigned char *)uuid->bytes;
	snprintf(out, 80,
	        "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
	        b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
	        b[14], b[15]);
}

void vendor_describe(const gpu_properties *p, const char *bus, struct tk_device_info *out)
{
	snprintf(out->arch, sizeof out->arch, "sm_%d%d", p->major, p->minor);
	format_uuid(&p->uuid, out->uuid);
	out->cache_bytes = (uint64_t)p->l2CacheSize;
	/* The first level shares its memory with the shared memory, and its own size is unknown: a
	 * quarter of that fits. The second one may be in two halves, of which each keeps what its
	 * multiprocessors read: a quarter fits into either. */
	out->resident_bytes[0] = p->sharedMemPerMultiprocessor / 4 / VENDOR_PIECE * VENDOR_PIECE *
	                         (uint64_t)p->multiProcessorCount;
	out->resident_bytes[1] = (uint64_t)p->l2CacheSize / 4 / VENDOR_PIECE * VENDOR_PIECE;
	out->numa_node = p->hostNumaId >= 0 ? (uint32_t)p->hostNumaId : 0;
}

size_t vendor_versions(int driver, int runtime, const gpu_properties *p, char *out, size_t size)
{
	return (size_t)snprintf(out, size,
	        "\"cuda_driver\":\"%d.%d\",\"cuda_runtime\":\"%d.%d\",\"shared_memory_bytes\":%zu",
	        driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10,
	        p->sharedMemPerBlockOptin);
}

/* Of cuda_profiler_api.h, which not every installation of the toolkit has. */
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);

gpu_error vendor_profile(uint32_t on)
{
	return on ? cudaProfilerStart() : cudaProfilerStop();
}
