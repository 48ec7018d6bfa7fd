/* Kernels for GPUs inside a shared object: what the compiler says of them, and their machine code.
 * Two containers are known: that of nvcc (cubin.c) and that of clang for AMD (hsaco.c). */
#ifndef TK_BUILD_DEVICE_CODE_H
#define TK_BUILD_DEVICE_CODE_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_error;

struct tk_device_kernel {
	char *name;         /* mangled */
	char processor[16]; /* "sm_90", "gfx942" */
	unsigned arch;      /* its number: 90, 0x942 */
	const unsigned char *code;
	size_t size;
	int64_t registers;    /* of a thread; AMD: vector registers, accumulators included */
	int64_t scalars;      /* AMD: scalar registers of a wave; -1: there are none */
	int64_t stack_bytes;  /* of a thread in device memory: what was spilled, and arrays with a
	                         computed index */
	int64_t shared_bytes; /* of a block, without what a launch adds */
	int64_t threads;      /* of a block at most, as the source says; -1: it does not */
};

/* What decides the result beside the kernels' code: constants and initialised variables of an
 * image, functions that are called, all of a PTX image, packed or not. */
struct tk_device_data {
	const unsigned char *bytes;
	size_t size;
};

struct tk_device_code {
	struct tk_device_kernel *kernels; /* by processor and name */
	size_t kernel_count;
	struct tk_device_data *data;
	size_t data_count, unread; /* unread: images that are in no form that is known here */
	size_t unpacked_bytes;     /* of what was packed */
	struct tk_device_images *images;
};

/* Reads all images of a section; by its name (".nv_fatbin", ".hip_fatbin...") the container that it
 * holds is known, so that bytes of the one are never taken for the other. What is damaged or
 * unknown counts as unread, and so does what packed images hold beyond TK_DEVICE_CODE_UNPACKED_MAX
 * together; only memory can fail. */
#define TK_DEVICE_CODE_UNPACKED_MAX ((size_t)1 << 30)
int tk_device_code_read(const char *name, const unsigned char *section, size_t size,
        struct tk_device_code *out, struct tk_error *err);
void tk_device_code_free(struct tk_device_code *c);
/* Of the warps (AMD: waves) that a multiprocessor has room for, how many can be there at a time:
 * percent, rounded down, by the threads of a block, its registers and its static shared memory.
 * What a launch adds makes it less. -1: unknown.
 */
int64_t tk_device_kernel_occupancy(const struct tk_device_kernel *k);

/* ---- for the readers of the containers: TK_OK or TK_ENOMEM
 * ---------------------------------------------------- */

struct Elf;
int tk_cubin_read_section(struct tk_device_code *c, const unsigned char *section, size_t size);
int tk_hsaco_read_section(struct tk_device_code *c, const unsigned char *section, size_t size);
int64_t tk_cubin_occupancy(const struct tk_device_kernel *k);
int64_t tk_hsaco_occupancy(const struct tk_device_kernel *k);

/* A new kernel, of which nothing but the code is known; NULL: no memory. */
struct tk_device_kernel *tk_device_code_add_kernel(struct tk_device_code *c, const char *name,
        size_t name_len, const unsigned char *code, size_t size);
int tk_device_code_add_data(struct tk_device_code *c, const void *bytes, size_t size);
/* Appends what is packed in `bytes` to *out; false where it is damaged or too large, *out is to be
 * freed then as well.
 */
bool tk_device_code_unpack(
        struct tk_device_code *c, const void *bytes, size_t size, struct tk_buf *out);
/* Takes memory that images lie in, to be freed with the code. */
int tk_device_code_adopt_buffer(struct tk_device_code *c, struct tk_buf *unpacked);
/* Opens an image as ELF; it lives as long as the code. *elf is NULL, and the image counts as
 * unread, where it is none. `unpacked`: takes what is in it; NULL: `bytes` are used in place. */
int tk_device_code_add_image(struct tk_device_code *c, const unsigned char *bytes, size_t size,
        struct tk_buf *unpacked, struct Elf **elf);

#endif
