/* What a worker leaves of launches that recorded regions inside their kernels: this head, then for
 * each kernel its description, then for each launch and each kernel its rings, blocks times groups,
 * and their records, as tracker_abi.h has them. In the byte order of the machine; never kept. */
#ifndef TK_CORE_TRACE_FILE_H
#define TK_CORE_TRACE_FILE_H
#include "tracker_abi.h"

#define TK_TRACE_FILE_MAGIC "tktrace1"
#define TK_TRACE_FILE_MAX ((size_t)1 << 30) /* bytes */
#define TK_TRACE_KERNELS_MAX 16
#define TK_TRACE_GROUPS_MAX 32
#define TK_TRACE_REGIONS_MAX 64
#define TK_TRACE_LAUNCHES_MAX 64
#define TK_TRACE_BLOCKS_MAX 65536
#define TK_TRACE_SLOTS_MAX (1u << 20)
#define TK_TRACE_NAME_SIZE 48

struct tk_trace_file_head {
	char magic[8];
	uint32_t kernels, launches;
};

struct tk_trace_file_kernel {
	char name[TK_TRACE_NAME_SIZE];
	uint32_t groups, regions, blocks, slots;
	uint32_t launched; /* blocks; the first `blocks` of them are recorded; 0: more */
	uint32_t reserved;
	char group[TK_TRACE_GROUPS_MAX][TK_TRACE_NAME_SIZE];
	char region[TK_TRACE_REGIONS_MAX][TK_TRACE_NAME_SIZE];
	uint32_t kind[TK_TRACE_REGIONS_MAX]; /* enum tk_trace_kind */
};

/* Of one ring with its records. */
static inline size_t tk_trace_ring_bytes(uint32_t slots)
{
	return sizeof(struct tk_trace_ring) + (size_t)slots * sizeof(struct tk_trace_record);
}

#endif
