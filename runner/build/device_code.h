/* The machine code of GPU kernels inside a shared object, for its hash: NVIDIA's .nv_fatbin and
 * AMD's .hip_fatbin. What the kernels are made of (registers, instructions) is read by
 * kernels/gpu/kernel_facts.py. */
#ifndef TK_BUILD_DEVICE_CODE_H
#define TK_BUILD_DEVICE_CODE_H
#include <stddef.h>

struct tk_device_kernel {
	char *name;         /* mangled */
	char processor[16]; /* "sm_90", "gfx942" */
	unsigned arch;      /* its number: 90, 0x942 */
	const unsigned char *code;
	size_t size;
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
	struct tk_device_image *images;
	size_t image_count;
};

/* Reads all images of a section. The name (".nv_fatbin", ".hip_fatbin...") decides the container.
 * Images that are damaged, unknown or beyond TK_DEVICE_CODE_UNPACKED_MAX count as unreadable. The
 * caller frees *out; `section` must live as long. */
#define TK_DEVICE_CODE_UNPACKED_MAX ((size_t)1 << 30)
void tk_device_code_read(
        const char *name, const unsigned char *section, size_t size, struct tk_device_code *out);
/* As tk_device_code_read, of one code object (ELF) for a processor, "sm_90a" or "gfx942". */
void tk_device_code_read_object(
        const char *processor, const unsigned char *bytes, size_t size, struct tk_device_code *out);
void tk_device_code_free(struct tk_device_code *c);

#endif
