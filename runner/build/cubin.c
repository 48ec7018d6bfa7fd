/* Kernels for NVIDIA GPUs: the section .nv_fatbin holds images one after the other, machine code
 * (ELF) for a processor each and PTX, some of them packed. NVIDIA documents neither container; the
 * layout below is what cuobjdump and readelf show of nvcc 12 and 13, and every value is checked
 * before it is used. */
#include "base/error.h"
#include "build/device_code.h"
#include <gelf.h>
#include <stdio.h>
#include <string.h>

#define FATBIN_MAGIC 0xba55ed50u

/* The header of a compilation, and the header of each image in it. */
struct group_header {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t bytes; /* after this header */
};
struct image_header {
	uint16_t kind, version; /* kind 1: PTX, 2: ELF */
	uint32_t header_bytes;
	uint64_t bytes; /* after this header */
	uint32_t packed_bytes, unknown, toolkit, arch;
	uint32_t more[6];
	uint64_t unpacked_bytes;
};
enum { IMAGE_PTX = 1, IMAGE_ELF = 2 };

/* Records of .nv.info and .nv.info.KERNEL: format, attribute, bytes that follow; here only those of
 * a symbol and a value, and, of a kernel, the maximum or required three dimensions of its block. */
enum {
	INFO_BYTES = 0x04,
	INFO_REGISTERS = 0x2f,
	INFO_FRAME = 0x11,
	INFO_THREADS_MOST = 0x05,
	INFO_THREADS = 0x10
};

static struct tk_device_kernel *find(struct tk_device_code *c, size_t from, const char *name)
{
	for (size_t i = from; name && i < c->kernel_count; i++)
		if (!strcmp(c->kernels[i].name, name))
			return &c->kernels[i];
	return NULL;
}

static int add_kernel(
        struct tk_device_code *c, const char *name, unsigned arch, const Elf_Data *code)
{
	struct tk_device_kernel *k =
	        tk_device_code_add_kernel(c, name, strlen(name), code->d_buf, code->d_size);
	if (!k)
		return TK_ENOMEM;
	snprintf(k->processor, sizeof(k->processor), "sm_%u", arch);
	k->arch = arch;
	k->shared_bytes = 0;
	return TK_OK;
}

/* The rest of `name` after `prefix`; NULL if it does not begin with it. */
static const char *behind(const char *name, const char *prefix)
{
	const size_t n = strlen(prefix);
	return name && !strncmp(name, prefix, n) ? name + n : NULL;
}

static const char *section_name(Elf *elf, const GElf_Shdr *sh)
{
	size_t strings;
	return elf_getshdrstrndx(elf, &strings) ? NULL : elf_strptr(elf, strings, sh->sh_name);
}

/* Code and constants first, then their attributes. */
static int read_code(struct tk_device_code *c, Elf *elf, unsigned arch)
{
	int status = TK_OK;
	for (Elf_Scn *scn = NULL; !status && (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;
		const Elf_Data *data = elf_rawdata(scn, NULL);
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_PROGBITS || !data || !data->d_buf)
			continue;
		const char *name = section_name(elf, &sh), *kernel = behind(name, ".text.");
		if (kernel)
			status = add_kernel(c, kernel, arch, data);
		else if (behind(name, ".nv.constant") || behind(name, ".nv.global.init"))
			status = tk_device_code_add_data(c, data->d_buf, data->d_size);
	}
	return status;
}

static const char *symbol_name(Elf *elf, uint32_t index)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;
		GElf_Sym sym;
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_SYMTAB)
			continue;
		Elf_Data *data = elf_getdata(scn, NULL);
		return data && index <= INT32_MAX && gelf_getsym(data, (int)index, &sym)
		               ? elf_strptr(elf, sh.sh_link, sym.st_name)
		               : NULL;
	}
	return NULL;
}

static void read_threads(struct tk_device_kernel *k, const unsigned char *value)
{
	uint32_t side[3];
	memcpy(side, value, sizeof(side));
	if (side[0] <= 1024 && side[1] <= 1024 && side[2] <= 1024)
		k->threads = (int64_t)side[0] * side[1] * side[2];
}

/* `own`: the section is that of one kernel. */
static void read_info(struct tk_device_code *c, size_t from, Elf *elf, const Elf_Data *data,
        struct tk_device_kernel *own)
{
	const unsigned char *p = data->d_buf;
	for (size_t at = 0; at + 4 <= data->d_size;) {
		uint16_t bytes;
		uint32_t pair[2];
		memcpy(&bytes, p + at + 2, sizeof(bytes));
		const unsigned format = p[at], attribute = p[at + 1];
		at += 4;
		if (format != INFO_BYTES)
			continue; /* the other formats hold their value in these two bytes */
		if (bytes > data->d_size - at)
			return;
		if (bytes == sizeof(pair) &&
		        (attribute == INFO_REGISTERS || attribute == INFO_FRAME)) {
			memcpy(pair, p + at, sizeof(pair));
			struct tk_device_kernel *k = find(c, from, symbol_name(elf, pair[0]));
			if (k)
				*(attribute == INFO_REGISTERS ? &k->registers : &k->stack_bytes) =
				        pair[1];
		} else if (own && bytes == 3 * sizeof(uint32_t) &&
		           (attribute == INFO_THREADS_MOST || attribute == INFO_THREADS))
			read_threads(own, p + at);
		at += bytes;
	}
}

static void read_resources(struct tk_device_code *c, size_t from, Elf *elf)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;
		if (!gelf_getshdr(scn, &sh))
			continue;
		const char *name = section_name(elf, &sh), *kernel = behind(name, ".nv.shared.");
		struct tk_device_kernel *k = find(c, from, kernel),
		                        *own = find(c, from, behind(name, ".nv.info."));
		const Elf_Data *data = elf_rawdata(scn, NULL);
		if (k)
			k->shared_bytes = (int64_t)sh.sh_size;
		else if (name && !strcmp(name, ".nv.info") && data && data->d_buf)
			read_info(c, from, elf, data, NULL);
		else if (own && data && data->d_buf)
			read_info(c, from, elf, data, own);
	}
}

static int read_image(struct tk_device_code *c, const unsigned char *bytes, size_t size,
        struct tk_buf *unpacked, unsigned arch)
{
	Elf *elf;
	const size_t from = c->kernel_count;
	int status = tk_device_code_add_image(c, bytes, size, unpacked, &elf);
	if (status || !elf)
		return status;
	status = read_code(c, elf, arch);
	if (!status)
		read_resources(c, from, elf);
	return status;
}

int tk_cubin_read_object(
        struct tk_device_code *c, const unsigned char *bytes, size_t size, unsigned arch)
{
	return read_image(c, bytes, size, NULL, arch);
}

static int open_image(
        struct tk_device_code *c, const struct image_header *h, const unsigned char *bytes)
{
	if (h->kind == IMAGE_PTX)
		return tk_device_code_add_data(c, bytes, h->bytes);
	if (h->kind != IMAGE_ELF) {
		c->unreadable_count++;
		return TK_OK;
	}
	if (!h->packed_bytes)
		return read_image(c, bytes, h->bytes, NULL, h->arch);
	struct tk_buf unpacked = TK_BUF_INIT;
	if (h->packed_bytes > h->bytes ||
	        !tk_device_code_unpack(c, bytes, h->packed_bytes, &unpacked)) {
		tk_buf_free(&unpacked);
		c->unreadable_count++;
		return TK_OK;
	}
	return read_image(c, NULL, 0, &unpacked, h->arch);
}

static int read_group(struct tk_device_code *c, const unsigned char *p, size_t size)
{
	int status = TK_OK;
	for (size_t at = 0; !status && at + sizeof(struct image_header) <= size;) {
		struct image_header h;
		memcpy(&h, p + at, sizeof(h));
		if (h.header_bytes < sizeof(h) || h.header_bytes > size - at ||
		        h.bytes > size - at - h.header_bytes)
			return TK_OK;
		status = open_image(c, &h, p + at + h.header_bytes);
		at += h.header_bytes + h.bytes;
	}
	return status;
}

int tk_cubin_read_section(struct tk_device_code *c, const unsigned char *section, size_t size)
{
	int status = TK_OK;
	for (size_t at = 0; !status && at + sizeof(struct group_header) <= size;) {
		struct group_header h;
		memcpy(&h, section + at, sizeof(h));
		if (h.magic != FATBIN_MAGIC || h.header_bytes < sizeof(h) || h.bytes > size - at ||
		        h.header_bytes > size - at - h.bytes) {
			at += 8; /* padding between groups */
			continue;
		}
		status = read_group(c, section + at + h.header_bytes, h.bytes);
		at += h.header_bytes + h.bytes;
	}
	return status;
}
