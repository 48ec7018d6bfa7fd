/* What the readers of both containers share. */
#include "build/device_code.h"
#include "base/archive.h"
#include "base/error.h"
#include "base/memory.h"
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

struct tk_device_images {
	struct image {
		Elf *elf;
		struct tk_buf unpacked; /* empty if the section is used in place */
	} * list;
	size_t count;
};

/* Grows an array by one element; NULL: out of memory. */
static void *grow(void *list, size_t *count, size_t size)
{
	void **at = list;
	char *more = tk_realloc(*at, (*count + 1) * size);
	*at = more;
	memset(more + *count * size, 0, size);
	return more + (*count)++ * size;
}

struct tk_device_kernel *tk_device_code_add_kernel(struct tk_device_code *c, const char *name,
        size_t name_len, const unsigned char *code, size_t size)
{
	struct tk_device_kernel *k = grow(&c->kernels, &c->kernel_count, sizeof(*k));
	if (!k)
		return NULL;
	*k = (struct tk_device_kernel){.name = tk_strndup(name, name_len),
	        .code = code,
	        .size = size,
	        .registers = -1,
	        .scalars = -1,
	        .stack_bytes = -1,
	        .shared_bytes = -1,
	        .threads = -1};
	return k->name ? k : NULL;
}

int tk_device_code_add_data(struct tk_device_code *c, const void *bytes, size_t size)
{
	struct tk_device_data *d = grow(&c->data, &c->data_count, sizeof(*d));
	if (!d)
		return TK_ENOMEM;
	*d = (struct tk_device_data){bytes, size};
	return TK_OK;
}

static struct image *add_image(struct tk_device_code *c, struct tk_buf *unpacked)
{
	struct image *image = grow(&c->images->list, &c->images->count, sizeof(*image));
	if (image && unpacked)
		image->unpacked = *unpacked;
	else if (unpacked)
		tk_buf_free(unpacked);
	return image;
}

bool tk_device_code_unpack(
        struct tk_device_code *c, const void *bytes, size_t size, struct tk_buf *out)
{
	const size_t before = out->len, left = TK_DEVICE_CODE_UNPACKED_MAX - c->unpacked_bytes;
	if (!left || tk_zstd_decompress(bytes, size, left, out, NULL))
		return false;
	c->unpacked_bytes += out->len - before;
	return true;
}

int tk_device_code_adopt_buffer(struct tk_device_code *c, struct tk_buf *unpacked)
{
	return add_image(c, unpacked) ? TK_OK : TK_ENOMEM;
}

int tk_device_code_add_image(struct tk_device_code *c, const unsigned char *bytes, size_t size,
        struct tk_buf *unpacked, struct Elf **elf)
{
	struct image *image = add_image(c, unpacked);
	if (!image)
		return TK_ENOMEM;
	image->elf = unpacked ? elf_memory(image->unpacked.data, image->unpacked.len)
	                      : elf_memory((char *)(uintptr_t)bytes, size);
	*elf = image->elf && elf_kind(image->elf) == ELF_K_ELF ? image->elf : NULL;
	if (!*elf)
		c->unreadable_count++;
	return TK_OK;
}

static int by_arch_and_name(const void *a, const void *b)
{
	const struct tk_device_kernel *x = a, *y = b;
	return x->arch != y->arch ? (x->arch > y->arch) - (x->arch < y->arch)
	                          : strcmp(x->name, y->name);
}

static int start(struct tk_device_code *out)
{
	*out = (struct tk_device_code){.images = tk_calloc(1, sizeof(struct tk_device_images))};
	return out->images && elf_version(EV_CURRENT) != EV_NONE ? TK_OK : TK_ENOMEM;
}

static int finish(struct tk_device_code *out, int status, struct tk_error *err)
{
	if (status) {
		tk_device_code_free(out);
		return tk_fail(err, status, "out of memory");
	}
	if (out->kernel_count)
		qsort(out->kernels, out->kernel_count, sizeof(*out->kernels), by_arch_and_name);
	return TK_OK;
}

int tk_device_code_read(const char *name, const unsigned char *section, size_t size,
        struct tk_device_code *out, struct tk_error *err)
{
	int status = start(out);
	if (!status)
		status = strncmp(name, ".hip_fatbin", 11)
		                 ? tk_cubin_read_section(out, section, size)
		                 : tk_hsaco_read_section(out, section, size);
	return finish(out, status, err);
}

int tk_device_code_read_object(const char *processor, const unsigned char *bytes, size_t size,
        struct tk_device_code *out, struct tk_error *err)
{
	int status = start(out);
	if (!status)
		status = strncmp(processor, "sm_", 3)
		                 ? tk_hsaco_read_object(out, bytes, size, processor)
		                 : tk_cubin_read_object(out, bytes, size,
		                           (unsigned)strtoul(processor + 3, NULL, 10));
	return finish(out, status, err);
}

void tk_device_code_free(struct tk_device_code *c)
{
	for (size_t i = 0; i < c->kernel_count; i++)
		free(c->kernels[i].name);
	for (size_t i = 0; c->images && i < c->images->count; i++) {
		elf_end(c->images->list[i].elf);
		tk_buf_free(&c->images->list[i].unpacked);
	}
	if (c->images)
		free(c->images->list);
	free(c->images);
	free(c->kernels);
	free(c->data);
	*c = (struct tk_device_code){0};
}
