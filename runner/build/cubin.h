/* Kernels for NVIDIA GPUs inside a shared object: what the compiler says of them, and their machine code. The section
 * .nv_fatbin holds images one after the other, machine code (ELF) for a processor each and PTX, some of them packed. */
#ifndef TK_BUILD_CUBIN_H
#define TK_BUILD_CUBIN_H
#include <stddef.h>
#include <stdint.h>

struct tk_error;

struct tk_cubin_kernel {
	char *name;    /* mangled */
	unsigned arch; /* 90: sm_90 */
	const unsigned char *code;
	size_t size;
	int64_t registers;    /* of a thread */
	int64_t stack_bytes;  /* of a thread in device memory: what was spilled, and arrays with a computed index */
	int64_t shared_bytes; /* of a block, without what a launch adds */
	int64_t threads;      /* of a block at most, as the source says; -1: it does not */
};

/* Constants and initialised variables of an image; all of a PTX image, packed or not. */
struct tk_cubin_data {
	const unsigned char *bytes;
	size_t size;
};

struct tk_cubins {
	struct tk_cubin_kernel *kernels; /* by architecture and name */
	size_t kernel_count;
	struct tk_cubin_data *data;
	size_t data_count, unread; /* unread: images that are neither PTX nor ELF nor packed as we know it */
	struct tk_cubin_images *images;
};

/* Reads all images of a section. What is damaged or unknown counts as unread; only memory can fail. */
int tk_cubins_read(const unsigned char *section, size_t size, struct tk_cubins *out, struct tk_error *err);
void tk_cubins_free(struct tk_cubins *c);
/* Of the warps that a multiprocessor has room for, how many can be there at a time: percent, rounded down, by the
 * threads of a block, its registers and its static shared memory. What a launch adds makes it less. -1: unknown. */
int64_t tk_cubin_occupancy(const struct tk_cubin_kernel *k);

#endif
