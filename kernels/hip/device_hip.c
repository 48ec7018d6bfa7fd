/* AMD's part of the device layer (kernels/gpu/device): names, versions, and the caches that HIP
 * does not report. No AMD device has run this yet: docs/explanation/kernels-hip.md lists what to
 * check when one does. */
#include "device.h"
#include "kfd.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

const char vendor_kind[] = "hip";

double vendor_tick_ns(int index)
{
	int khz = 0;
	if (hipDeviceGetAttribute(&khz, hipDeviceAttributeWallClockRate, index) != hipSuccess ||
	        khz <= 0)
		return 10; /* 100 MHz on every CDNA so far */
	return 1e6 / khz;
}

/* Numbers of compute units have gaps: 8 dies of 4 engines of 16 units on gfx942, 8 engines of 16
 * units before. */
unsigned vendor_stamp_slots(const gpu_properties *p)
{
	return 512;
}

void vendor_describe(const gpu_properties *p, const char *bus, struct tk_device_info *out)
{
	unsigned domain = 0, number = 0, slot = 0;
	struct kfd_node node = {.numa_node = -1};
	sscanf(bus, "%x:%x:%x", &domain, &number, &slot);
	kfd_find(KFD_NODES, domain, number << 8 | slot << 3, &node);
	/* "gfx942:sramecc+:xnack-" */
	snprintf(out->arch, sizeof out->arch, "%.*s", (int)strcspn(p->gcnArchName, ":"),
	        p->gcnArchName);
	if (node.unique_id)
		snprintf(out->uuid, sizeof out->uuid, "GPU-%016llx", node.unique_id);
	out->cache_bytes = node.cache_bytes ? node.cache_bytes : (uint64_t)p->l2CacheSize;
	/* HIP reports the second level of one die, and every die reads all of the data: use a
	 * quarter of it. Nothing reports the first level. */
	out->resident_bytes[1] = (uint64_t)p->l2CacheSize / 4 / VENDOR_PIECE * VENDOR_PIECE;
	out->resident_bytes[2] = node.third_bytes / 4 / VENDOR_PIECE * VENDOR_PIECE;
	out->numa_node = node.numa_node >= 0 ? (uint32_t)node.numa_node : 0;
}

/* HIP counts 60443484 for 6.4.43484. */
size_t vendor_versions(int driver, int runtime, const gpu_properties *p, char *out, size_t size)
{
	const char *features = p->gcnArchName + strcspn(p->gcnArchName, ":");
	return (size_t)snprintf(out, size,
	        "\"hip_driver\":\"%d.%d.%d\",\"hip_runtime\":\"%d.%d.%d\",\"arch_features\":\"%s\","
	        "\"shared_memory_"
	        "bytes\":%zu",
	        driver / 10000000, driver / 100000 % 100, driver % 100000, runtime / 10000000,
	        runtime / 100000 % 100, runtime % 100000, *features ? features + 1 : "",
	        p->sharedMemPerBlock);
}

/* rocprofv3 preloads ROCTx, and with --selected-regions it records between these two calls of all
 * threads (0). https://rocm.docs.amd.com/projects/rocprofiler-sdk/en/latest/how-to/
 * using-rocprofiler-sdk-roctx.html */
gpu_error vendor_profile(uint32_t on)
{
	const char *name = on ? "roctxProfilerResume" : "roctxProfilerPause";
	int (*call)(uint64_t) = (int (*)(uint64_t))dlsym(RTLD_DEFAULT, name);
	if (call)
		call(0);
	return GPU_SUCCESS;
}
