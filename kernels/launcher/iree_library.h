/* The interface of the shared libraries that IREE's compiler makes for CPUs ("executable library",
 * versions 0.5 and 0.6), as far as it is used here. */
#ifndef LAUNCHER_IREE_LIBRARY_H
#define LAUNCHER_IREE_LIBRARY_H
#include <stddef.h>
#include <stdint.h>

#define IREE_LIBRARY_VERSION_OLD 5u /* up to IREE 3.7 */
#define IREE_LIBRARY_VERSION 6u

struct iree_environment {
	const uint32_t *constants;
	void *import_thunk;
	void *const *imports; /* optional functions, all absent */
	void *const *import_contexts;
	uint64_t processor[8]; /* 0: unknown */
};

struct iree_dispatch {
	uint32_t size_x, size_y; /* of a workgroup */
	uint16_t size_z, constant_count;
	uint32_t count_x, count_y; /* of workgroups */
	uint16_t count_z;
	uint8_t max_concurrency, binding_count;
	const uint32_t *constants;
	void *const *bindings;
	const size_t *binding_bytes;
};

struct iree_workgroup {
	uint32_t x, y;
	uint16_t z, reserved;
	uint32_t processor;
	void *local_memory;
	uint32_t local_memory_bytes;
};

/* 0: success */
typedef int iree_function(const struct iree_environment *, const struct iree_dispatch *,
        const struct iree_workgroup *);

struct iree_header {
	uint32_t version;
	const char *name;
	uint32_t features, sanitizer;
};

struct iree_imports {
	uint32_t count;
	const char *const *names; /* optional ones begin with '?' */
};

struct iree_counts {
	uint16_t local_memory_pages;
	uint8_t constant_count, binding_count;
};

struct iree_attributes_old {
	struct iree_counts counts;
	uint32_t padding;
	uint64_t reserved[8];
};

struct iree_attributes {
	uint64_t flags;
	struct iree_counts counts;
	uint32_t size[2];
	uint16_t size_z, parameter_count;
	uint64_t reserved[5];
};
_Static_assert(sizeof(struct iree_attributes) == 64 && sizeof(struct iree_attributes_old) == 72,
        "tables of them are read");

struct iree_library {
	const struct iree_header *header;
	struct iree_imports imports;
	struct {
		uint32_t count;
		iree_function *const *functions;
		const struct iree_attributes *attributes; /* may be NULL */
		const void *parameters, *occupancy;
		const char *const *names; /* may be NULL */
		const void *tags, *parameter_names, *sources, *stages;
	} exports;
	struct {
		uint32_t count;
	} constants;
};

struct iree_library_old {
	const struct iree_header *header;
	struct iree_imports imports;
	struct {
		uint32_t count;
		iree_function *const *functions;
		const struct iree_attributes_old *attributes; /* may be NULL */
		const char *const *names;                     /* may be NULL */
		const void *tags, *sources, *stages;
	} exports;
	struct {
		uint32_t count;
	} constants;
};

/* The one symbol of a code object. NULL: it has another version than the one that is wanted. The
 * header tells which struct follows. */
typedef const struct iree_header *const *iree_library_query(
        uint32_t version, const struct iree_environment *);
#define IREE_LIBRARY_QUERY "iree_hal_executable_library_query"

#endif
