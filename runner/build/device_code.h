/* GPU kernels inside a shared object: their machine code and their metadata. Two containers are
 * read: that of nvcc (cubin.c) and that of clang for AMD (hsaco.c). */
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
	int64_t registers;    /* of a thread; AMD: vector registers with accumulators */
	int64_t scalars;      /* AMD: scalar registers of a wave; -1: none */
	int64_t stack_bytes;  /* device memory of a thread: spills, and arrays with a computed
	                       * index */
	int64_t shared_bytes; /* static, of a block */
	int64_t threads;      /* maximum of a block in the source; -1: none */
};

/* Other bytes that decide the result: constants, initialised variables, called functions, and whole
 * PTX images. */
struct tk_device_data {
	const unsigned char *bytes;
	size_t size;
};

struct tk_device_code {
	struct tk_device_kernel *kernels; /* by processor and name */
	size_t kernel_count;
	struct tk_device_data *data;
	size_t data_count;
	size_t unreadable_count; /* damaged images and unknown formats */
	size_t unpacked_bytes;   /* of all packed images */
	struct tk_device_images *images;
};

/* Reads all images of a section. The name (".nv_fatbin", ".hip_fatbin...") decides the container.
 * Images that are damaged, unknown or beyond TK_DEVICE_CODE_UNPACKED_MAX count as unreadable; the
 * only failure is TK_ENOMEM. */
#define TK_DEVICE_CODE_UNPACKED_MAX ((size_t)1 << 30)
int tk_device_code_read(const char *name, const unsigned char *section, size_t size,
        struct tk_device_code *out, struct tk_error *err);
/* As tk_device_code_read, of one code object (ELF) for a processor, "sm_90a" or "gfx942". `bytes`
 * must live as long as *out. */
int tk_device_code_read_object(const char *processor, const unsigned char *bytes, size_t size,
        struct tk_device_code *out, struct tk_error *err);
void tk_device_code_free(struct tk_device_code *c);
/* Occupancy in percent, rounded down: how many of the warps (AMD: waves) of a multiprocessor fit at
 * a time, by the block's threads, registers and static shared memory. Dynamic shared memory lowers
 * it. -1: unknown. */
int64_t tk_device_kernel_occupancy(const struct tk_device_kernel *k);

/* ---- for the readers of the containers; they return TK_OK or TK_ENOMEM ---- */

struct Elf;
int tk_cubin_read_section(struct tk_device_code *c, const unsigned char *section, size_t size);
int tk_hsaco_read_section(struct tk_device_code *c, const unsigned char *section, size_t size);
int tk_cubin_read_object(
        struct tk_device_code *c, const unsigned char *bytes, size_t size, unsigned arch);
/* `processor` must live as long as the code. */
int tk_hsaco_read_object(
        struct tk_device_code *c, const unsigned char *bytes, size_t size, const char *processor);

/* A new kernel with its code only; NULL: out of memory. */
struct tk_device_kernel *tk_device_code_add_kernel(struct tk_device_code *c, const char *name,
        size_t name_len, const unsigned char *code, size_t size);
int tk_device_code_add_data(struct tk_device_code *c, const void *bytes, size_t size);
/* Appends the unpacked `bytes` to *out, which is to be freed in any case. False: damaged or too
 * large. */
bool tk_device_code_unpack(
        struct tk_device_code *c, const void *bytes, size_t size, struct tk_buf *out);
/* Takes ownership of memory that images lie in. */
int tk_device_code_adopt_buffer(struct tk_device_code *c, struct tk_buf *unpacked);
/* Opens an image as ELF that lives as long as the code; otherwise *elf is NULL and the image counts
 * as unreadable. `unpacked`: takes ownership of its memory; NULL: `bytes` are used in place. */
int tk_device_code_add_image(struct tk_device_code *c, const unsigned char *bytes, size_t size,
        struct tk_buf *unpacked, struct Elf **elf);

#endif
