/* The launcher of compiled kernel packages: folders of manifests (NAME.json) and the code objects
 * that they name. docs/reference/kernel-packages.md describes the format. Packages may come from
 * another machine: every value is checked. */
#ifndef LAUNCHER_H
#define LAUNCHER_H
#include "gpu_backend.h"
#include <stdbool.h>

/* ---- a manifest: which problem a kernel solves, and how its code object is launched ---- */

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

/* ---- a package ---- */

#define LAUNCHER_MANIFESTS_MAX 4096
#define LAUNCHER_CODE_BYTES_MAX ((size_t)256 << 20)

struct launcher_package {
	char *dir;
	/* In the order of their file names. Those of one problem have the same parameters in the
	 * same order, with other values. */
	struct launcher_manifest **manifests;
	uint32_t count;
};

/* Reads all manifests. TK_ABI_INVALID: there is none, or one cannot be used. */
int launcher_package_open(const char *dir, struct launcher_package **out, struct tk_abi_error *err);
void launcher_package_close(struct launcher_package *p);

/* The code object of a manifest, if its hash is right; the caller frees *code. */
int launcher_package_read_code(const struct launcher_package *p, const struct launcher_manifest *m,
        void **code, size_t *bytes, struct tk_abi_error *err);

/* ---- the arguments of a launch in the form that all drivers take: one pointer to each ---- */

struct launcher_arguments {
	void **params;          /* one for each argument */
	size_t *bytes;          /* of the memory that an argument points to; 0: a value */
	unsigned char *storage; /* aligned to 64 */
};

/* `scratch` has the pointers to the manifest's scratch memory. Tensors must be
 * at least as large as their tensor maps. Free also after an error. */
int launcher_arguments_pack(struct launcher_arguments *a, const struct launcher_launch *launch,
        const struct tk_tensor *tensors, uint32_t count, void *const *scratch,
        struct tk_abi_error *err);
void launcher_arguments_free(struct launcher_arguments *a);

/* ---- the driver: what the launcher needs to run a code object ----
 *
 * driver_cuda.c, driver_hip.c and driver_cpu.c define the table; tests bring one without a device.
 * Handles are the driver's own. */

enum launcher_param { LAUNCHER_PARAM_UNKNOWN, LAUNCHER_PARAM_SIZE, LAUNCHER_PARAM_NONE };

struct launcher_driver {
	const char *device_kind;  /* "cuda" */
	const char *backend_name; /* "launcher_cuda" */
	/* Called once for each context, before anything else. */
	int (*start)(const struct tk_open_args *args, struct tk_abi_error *err);
	void (*stop)(void); /* optional; once for each start() that succeeded */
	/* Whether code for `target` runs on a device whose architecture is `arch`. */
	bool (*runs_on)(const char *target, const char *arch);
	/* `code` was read from a file whose hash is right. */
	int (*load)(const void *code, size_t bytes, void **module, struct tk_abi_error *err);
	void (*unload)(void *module);
	int (*find)(void *module, const char *entry, void **function, struct tk_abi_error *err);
	/* SIZE: *bytes is that of parameter `index`; NONE: there are only `index` parameters;
	 * UNKNOWN: this driver does not tell. */
	enum launcher_param (*param)(void *function, uint32_t index, size_t *bytes);
	/* Checks block and shared memory against the function and allows them. */
	int (*prepare)(
	        void *function, const struct launcher_launch *launch, struct tk_abi_error *err);
	/* *out has LAUNCHER_TENSOR_MAP_BYTES, aligned to 64. */
	int (*encode_map)(const struct launcher_tensor_map *map, void *data, void *out,
	        struct tk_abi_error *err);
	int (*launch)(void *function, const struct launcher_launch *launch,
	        const struct launcher_arguments *arguments, void *stream, struct tk_abi_error *err);
};

extern const struct launcher_driver launcher_driver;

#endif
