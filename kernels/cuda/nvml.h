/* NVML, loaded at run time: clocks, power, temperature, throttle reasons. A machine without it loses telemetry, nothing
 * else. The functions and constants are those of NVIDIA's NVML API reference (docs.nvidia.com/deploy/nvml-api). */
#ifndef TK_CUDA_NVML_H
#define TK_CUDA_NVML_H
#include "tracker_abi.h"
#include <stddef.h>

struct nvml;

/* The device with this PCI bus id ("0000:1B:00.0"). NULL where there is no NVML or it does not know the device. */
struct nvml *nvml_open(const char *pci_bus_id);
void nvml_close(struct nvml *n);

/* Writes what it can read; the rest stays as it is. */
void nvml_telemetry(struct nvml *n, struct tk_telemetry *out);

/* Members of a JSON object, without the braces: power cap, locked clocks, ECC, MIG, persistence, VBIOS, other
 * processes. What moves by itself (temperature, load) is telemetry and not here. Returns the length written. */
size_t nvml_attributes(struct nvml *n, char *out, size_t size);
/* Driver version, e.g. "580.159.03"; "" where unknown. */
const char *nvml_driver(struct nvml *n);

#endif
