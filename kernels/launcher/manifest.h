/* The manifest of a compiled kernel: which problem it solves, and how its code object is launched.
 * docs/reference/kernel-packages.md describes the format. Manifests may come from another machine:
 * every value is checked. */
#ifndef LAUNCHER_MANIFEST_H
#define LAUNCHER_MANIFEST_H
#include "tracker_abi.h"
#include <stdbool.h>

#define LAUNCHER_MANIFEST_FORMAT 1
#define LAUNCHER_MANIFEST_BYTES_MAX ((size_t)1 << 20)
#define LAUNCHER_LAUNCHES_MAX 16
#define LAUNCHER_ARGS_MAX 64
#define LAUNCHER_SCRATCHES_MAX 16
#define LAUNCHER_SCRATCH_BYTES_MAX ((uint64_t)1 << 36)
#define LAUNCHER_PARAMETER_NAME_SIZE 32
#define LAUNCHER_TENSOR_MAP_BYTES 128 /* a CUtensorMap, passed by value */

/* What TMA needs to know of a tensor; index 0 is the fastest. */
struct launcher_tensor_map {
	uint32_t dtype; /* enum tk_dtype, of 1, 2 or 4 bytes */
	uint32_t rank;  /* 1 to 5 */
	uint64_t dims[5];
	uint64_t strides_bytes[5]; /* strides_bytes[0] is the size of an element */
	uint32_t box[5];
	uint32_t swizzle_bytes;      /* 0, 32, 64, 128 */
	uint32_t l2_promotion_bytes; /* 0, 64, 128, 256 */
	bool nan_fill;               /* outside of the tensor; otherwise zeros */
};

enum launcher_arg_kind {
	LAUNCHER_ARG_TENSOR,
	LAUNCHER_ARG_VALUE,
	LAUNCHER_ARG_SCRATCH,
	LAUNCHER_ARG_TENSOR_MAP
};

struct launcher_arg {
	enum launcher_arg_kind kind;
	uint32_t bytes;         /* of the kernel's parameter */
	uint32_t tensor;        /* enum tk_tensor_id: tensors and tensor maps */
	unsigned char value[8]; /* values */
	uint32_t scratch;       /* scratch: index in `scratches` of the manifest */
	uint64_t scratch_bytes; /* scratch: how much of it is used */
	struct launcher_tensor_map map;
};

/* Device memory beside the tensors; arguments with one name share it. */
struct launcher_scratch {
	char name[64];
	uint64_t bytes; /* 0: a null pointer */
};

struct launcher_launch {
	char entry[256];
	uint32_t grid[3], block[3], cluster[3];
	uint32_t shared_bytes; /* dynamic, of a block */
	bool cooperative;
	bool prefer_shared; /* over the L1 cache, where both share a memory */
	struct launcher_arg *args;
	uint32_t arg_count;
};

/* What configurations of a problem differ in. */
struct launcher_parameter {
	char name[LAUNCHER_PARAMETER_NAME_SIZE]; /* "block_m" */
	int64_t value;
};

struct launcher_manifest {
	char producer[128]; /* "triton 3.6.0" */
	char target[32];    /* "sm_90a", "gfx942" */
	char problem[512];  /* in canonical form */
	char config[128];   /* name of the configuration */
	struct launcher_parameter parameters[TK_SPACE_PARAMETERS_MAX];
	uint32_t parameter_count; /* 0: the configuration has only a name */
	char point[128];          /* "block_m=128,num_warps=8", set by the package; "": none */
	char error[448];          /* why the compiler has no code for this problem; "": it has */
	char code_file[128], sha256[65];
	bool deterministic;
	struct launcher_launch *launches;
	uint32_t launch_count;
	struct launcher_scratch scratches[LAUNCHER_SCRATCHES_MAX];
	uint32_t scratch_count;
};

/* TK_ABI_INVALID: not a manifest of this format. */
int launcher_manifest_parse(
        const char *text, size_t len, struct launcher_manifest **out, struct tk_abi_error *err);
void launcher_manifest_free(struct launcher_manifest *m);

/* A file beside the manifest: no path, not hidden. */
bool launcher_file_name_is_valid(const char *name);

#endif
