/* What the kernel driver (amdkfd) reports about a GPU in sysfs and HIP does not: the size of the
 * last-level cache including the Infinity Cache, the NUMA node, the serial number. */
#ifndef TK_HIP_KFD_H
#define TK_HIP_KFD_H
#include <stdint.h>

#define KFD_NODES "/sys/class/kfd/kfd/topology/nodes"

struct kfd_node {
	uint64_t cache_bytes; /* of the level that is largest in all: 256 MiB on MI300X */
	uint64_t third_bytes; /* of the third level: the Infinity Cache; 0 where there is none */
	unsigned long long unique_id; /* 0 where there is none */
	int numa_node;                /* -1 where unknown */
};

/* The node in folder `nodes` with this PCI domain and location (bus << 8 | device << 3 | function).
 * Members that are not found keep their values. */
void kfd_find(const char *nodes, unsigned domain, unsigned location, struct kfd_node *out);

#endif
