/* Containers of GPU code. Every value is checked before it is used: builds are not trusted.
 *
 * NVIDIA: .nv_fatbin holds images one after the other, machine code (ELF) for a processor each and
 * PTX, some of them packed. NVIDIA does not document it; the layout is what cuobjdump and readelf
 * show of nvcc 12 and 13.
 * AMD: .hip_fatbin holds bundles one after the other, one for each file that hipcc compiled, packed
 * or not (Clang documentation, "Clang Offload Bundler"); in a bundle is an ELF for each processor
 * (LLVM documentation, "User Guide for AMDGPU Backend", code object V4 and later). */
#include "build/build_internal.h"
#include <gelf.h>

struct tk_device_image {
	Elf *elf;
	struct tk_buf unpacked;
};

static void add_kernel(struct tk_device_code *c, const char *name, size_t name_len,
        const char *processor, const unsigned char *code, size_t size)
{
	c->kernels = tk_reallocarray(c->kernels, c->kernel_count + 1, sizeof *c->kernels);
	struct tk_device_kernel *k = &c->kernels[c->kernel_count++];
	const bool is_amd = !strncmp(processor, "gfx", 3);
	AUTO_TEXT mangled = tk_strndup(name, name_len);
	*k = (struct tk_device_kernel){.name = tk_stable_name(mangled),
	        .arch = (unsigned)strtoul(processor + 3, NULL, is_amd ? 16 : 10),
	        .code = code,
	        .size = size};
	if (is_amd)
		snprintf(k->processor, sizeof k->processor, "%s", processor);
	else
		snprintf(k->processor, sizeof k->processor, "sm_%u", k->arch);
}

static void add_data(struct tk_device_code *c, const void *bytes, size_t size)
{
	c->data = tk_reallocarray(c->data, c->data_count + 1, sizeof *c->data);
	c->data[c->data_count++] = (struct tk_device_data){bytes, size};
}

/* Frees both with the code; either may be empty. */
static void keep(struct tk_device_code *c, Elf *elf, struct tk_buf unpacked)
{
	c->images = tk_reallocarray(c->images, c->image_count + 1, sizeof *c->images);
	c->images[c->image_count++] = (struct tk_device_image){elf, unpacked};
}

/* False: damaged or too large. */
static bool unpack(struct tk_device_code *c, const void *bytes, size_t size,
        const unsigned char **out, size_t *out_size)
{
	const size_t left = TK_DEVICE_CODE_UNPACKED_MAX - c->unpacked_bytes;
	struct tk_buf b = TK_BUF_INIT;
	if (!left || tk_zstd_decompress(bytes, size, left, &b, NULL)) {
		tk_buf_free(&b);
		return false;
	}
	c->unpacked_bytes += b.len;
	*out = (const unsigned char *)b.data;
	*out_size = b.len;
	keep(c, NULL, b);
	return true;
}

/* An ELF of bytes that live as long as the code; NULL: it is none, and counts as unreadable. */
static Elf *open_elf(struct tk_device_code *c, const unsigned char *bytes, size_t size)
{
	Elf *elf = elf_memory((char *)(uintptr_t)bytes, size);
	keep(c, elf, (struct tk_buf)TK_BUF_INIT);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		return elf;
	c->unreadable_count++;
	return NULL;
}

/* The raw bytes of a PROGBITS section; false for another. */
static bool get_content(Elf_Scn *scn, GElf_Shdr *sh, const Elf_Data **data)
{
	*data = elf_rawdata(scn, NULL);
	return gelf_getshdr(scn, sh) && sh->sh_type == SHT_PROGBITS && *data && (*data)->d_buf;
}

/* The bytes of [address, address + size) in a section; NULL: not there. */
static const unsigned char *bytes_at(Elf *elf, size_t section, uint64_t address, uint64_t size)
{
	GElf_Shdr sh;
	Elf_Scn *scn = elf_getscn(elf, section);
	const Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	if (!data || !data->d_buf || !gelf_getshdr(scn, &sh) || address < sh.sh_addr)
		return NULL;
	const uint64_t at = address - sh.sh_addr;
	return at <= data->d_size && size <= data->d_size - at
	               ? (const unsigned char *)data->d_buf + at
	               : NULL;
}

/* ---- NVIDIA ---- */

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

/* What nvcc calls the texts of a program, such as the file of an assertion. */
static const char *const texts[] = {"$str", "__unnamed_"};

/* The initialised variables of a section but texts, which hold paths. */
static void read_variables(struct tk_device_code *c, Elf *elf, Elf_Scn *table, size_t section)
{
	GElf_Shdr sh;
	GElf_Sym sym;
	Elf_Data *data = elf_getdata(table, NULL);
	for (int i = 0; gelf_getshdr(table, &sh) && gelf_getsym(data, i, &sym); i++) {
		const char *name = elf_strptr(elf, sh.sh_link, sym.st_name);
		const bool is_text =
		        name && (tk_has_prefix(name, texts[0]) || tk_has_prefix(name, texts[1]));
		const unsigned char *bytes =
		        sym.st_shndx != section || is_text
		                ? NULL
		                : bytes_at(elf, section, sym.st_value, sym.st_size);
		if (bytes)
			add_data(c, bytes, sym.st_size);
	}
}

/* Code, constants and initialised variables. */
static void read_cubin(
        struct tk_device_code *c, const unsigned char *bytes, size_t size, const char *processor)
{
	size_t strings;
	GElf_Shdr sh;
	Elf *elf = open_elf(c, bytes, size);
	if (!elf || elf_getshdrstrndx(elf, &strings))
		return;
	Elf_Scn *symbols = elf_nextscn(elf, NULL);
	while (symbols && (!gelf_getshdr(symbols, &sh) || sh.sh_type != SHT_SYMTAB))
		symbols = elf_nextscn(elf, symbols);
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		const Elf_Data *data;
		const char *name;
		if (!get_content(scn, &sh, &data) || !(name = elf_strptr(elf, strings, sh.sh_name)))
			continue;
		if (!strncmp(name, ".text.", 6))
			add_kernel(c, name + 6, strlen(name + 6), processor, data->d_buf,
			        data->d_size);
		else if (symbols && tk_has_prefix(name, ".nv.global.init"))
			read_variables(c, elf, symbols, elf_ndxscn(scn));
		else if (tk_has_prefix(name, ".nv.constant") ||
		         tk_has_prefix(name, ".nv.global.init"))
			add_data(c, data->d_buf, data->d_size);
	}
}

/* Line by line, without files, comments, places in files and texts. */
static void read_ptx(struct tk_device_code *c, const unsigned char *bytes, size_t size)
{
	static const char *const left_out[] = {"//", ".file", ".loc", ".global .align 1 .b8 $str[",
	        ".global .align 1 .b8 $str$", ".global .align 1 .b8 __unnamed_"};
	const size_t count = sizeof left_out / sizeof *left_out;
	struct tk_buf kept = TK_BUF_INIT, stable = TK_BUF_INIT;
	const char *line = (const char *)bytes, *end = line + size;
	for (size_t len; line < end; line += len) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		len = (size_t)((stop ? stop + 1 : end) - line);
		size_t at = 0, i = 0;
		while (at < len && (line[at] == ' ' || line[at] == '\t'))
			at++;
		while (i < count && (len - at < strlen(left_out[i]) ||
		                            memcmp(line + at, left_out[i], strlen(left_out[i]))))
			i++;
		if (i == count)
			tk_buf_add(&kept, line, len);
	}
	tk_stable_text(tk_buf_cstr(&kept), kept.len, &stable);
	tk_buf_free(&kept);
	add_data(c, tk_buf_cstr(&stable), stable.len);
	keep(c, NULL, stable);
}

static void read_cuda_image(
        struct tk_device_code *c, const struct image_header *h, const unsigned char *bytes)
{
	size_t size = h->bytes;
	char processor[16];
	snprintf(processor, sizeof processor, "sm_%u", h->arch);
	const bool is_packed = h->packed_bytes,
	           is_open = h->packed_bytes <= size &&
	                     (!is_packed || unpack(c, bytes, h->packed_bytes, &bytes, &size));
	if (h->kind == IMAGE_PTX && is_open)
		read_ptx(c, bytes, size);
	else if (h->kind == IMAGE_PTX)
		add_data(c, bytes, size);
	else if (h->kind != IMAGE_ELF || !is_open)
		c->unreadable_count++;
	else
		read_cubin(c, bytes, size, processor);
}

static void read_cuda_group(struct tk_device_code *c, const unsigned char *p, size_t size)
{
	for (size_t at = 0; at + sizeof(struct image_header) <= size;) {
		struct image_header h;
		memcpy(&h, p + at, sizeof h);
		if (h.header_bytes < sizeof h || h.header_bytes > size - at ||
		        h.bytes > size - at - h.header_bytes)
			return;
		read_cuda_image(c, &h, p + at + h.header_bytes);
		at += h.header_bytes + h.bytes;
	}
}

static void read_cuda_section(struct tk_device_code *c, const unsigned char *section, size_t size)
{
	for (size_t at = 0; at + sizeof(struct group_header) <= size;) {
		struct group_header h;
		memcpy(&h, section + at, sizeof h);
		if (h.magic != FATBIN_MAGIC || h.header_bytes < sizeof h || h.bytes > size - at ||
		        h.header_bytes > size - at - h.bytes) {
			at += 8; /* padding between groups */
			continue;
		}
		read_cuda_group(c, section + at + h.header_bytes, h.bytes);
		at += h.header_bytes + h.bytes;
	}
}

/* ---- AMD ---- */

#define BUNDLE_MAGIC "__CLANG_OFFLOAD_BUNDLE__"
#define PACKED_MAGIC "CCOB"
enum { MAGIC_BYTES = sizeof(BUNDLE_MAGIC) - 1, ENTRIES_MAX = 256, PACKED_ZSTD = 1 };

struct entry_header {
	uint64_t offset, bytes,
	        name_bytes; /* the image, from the bundle's beginning; the name follows */
};

/* The symbol `name` of a table; false: there is none. */
static bool find_symbol(
        Elf *elf, Elf_Data *data, size_t strings, const char *name, size_t length, GElf_Sym *out)
{
	for (int i = 0; gelf_getsym(data, i, out); i++) {
		const char *text = elf_strptr(elf, strings, out->st_name);
		if (text && strlen(text) == length && !memcmp(text, name, length))
			return true;
	}
	return false;
}

/* A kernel NAME has a descriptor, the exported symbol NAME.kd, beside its function. */
static void read_hsaco_symbols(
        struct tk_device_code *c, Elf *elf, Elf_Data *data, size_t strings, const char *processor)
{
	GElf_Sym sym, function;
	for (int i = 0; gelf_getsym(data, i, &sym); i++) {
		const char *name = elf_strptr(elf, strings, sym.st_name);
		const size_t length = name ? strlen(name) : 0;
		if (length < 4 || strcmp(name + length - 3, ".kd"))
			continue;
		const unsigned char *code =
		        find_symbol(elf, data, strings, name, length - 3, &function)
		                ? bytes_at(elf, function.st_shndx, function.st_value,
		                          function.st_size)
		                : NULL;
		if (code)
			add_kernel(c, name, length - 3, processor, code, function.st_size);
		else
			c->unreadable_count++;
	}
}

/* Kernels, constants, and all functions: some kernels call functions that are not kernels. */
static void read_hsaco(
        struct tk_device_code *c, const unsigned char *bytes, size_t size, const char *processor)
{
	const size_t before = c->kernel_count;
	Elf *elf = open_elf(c, bytes, size);
	for (Elf_Scn *scn = NULL; elf && (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;
		const Elf_Data *content;
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_DYNSYM && elf_getdata(scn, NULL))
			read_hsaco_symbols(c, elf, elf_getdata(scn, NULL), sh.sh_link, processor);
		else if (get_content(scn, &sh, &content) && sh.sh_flags & SHF_ALLOC)
			add_data(c, content->d_buf, content->d_size);
	}
	c->unreadable_count += elf && c->kernel_count == before;
}

/* "gfx942" of "hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"; false: an image for another
 * target, such as the host. */
static bool parse_processor(const char *name, size_t length, char out[16])
{
	const char *at = memmem(name, length, "-gfx", 4);
	size_t n = 0;
	if (!at)
		return false;
	for (at++; at + n < name + length && at[n] != ':' && n < 15; n++)
		out[n] = at[n];
	out[n] = '\0';
	return true;
}

/* Returns where the last image ends. */
static size_t read_bundle(struct tk_device_code *c, const unsigned char *p, size_t size)
{
	uint64_t count = 0;
	size_t at = MAGIC_BYTES + sizeof count, used = MAGIC_BYTES;
	if (size >= at)
		memcpy(&count, p + MAGIC_BYTES, sizeof count);
	bool is_whole = size >= at && count <= ENTRIES_MAX;
	for (uint64_t i = 0; is_whole && i < count; i++) {
		struct entry_header h;
		char processor[16];
		is_whole = size - at >= sizeof h;
		if (!is_whole)
			break;
		memcpy(&h, p + at, sizeof h);
		at += sizeof h;
		is_whole =
		        h.name_bytes <= size - at && h.offset <= size && h.bytes <= size - h.offset;
		if (!is_whole)
			break;
		if (h.bytes && parse_processor((const char *)p + at, h.name_bytes, processor))
			read_hsaco(c, p + h.offset, h.bytes, processor);
		at += h.name_bytes;
		if (h.offset + h.bytes > used)
			used = h.offset + h.bytes;
	}
	c->unreadable_count += !is_whole;
	return used;
}

/* Sizes have 32 bits in version 2 and 64 bits in version 3; version 1 has no size. Returns where
 * the bundle ends. */
static size_t read_packed(struct tk_device_code *c, const unsigned char *p, size_t size)
{
	uint16_t head[2];
	uint32_t narrow = 0;
	uint64_t all = 0;
	const unsigned char *unpacked;
	size_t unpacked_size;
	if (size < 32)
		return MAGIC_BYTES;
	memcpy(head, p + 4, sizeof head);
	memcpy(&narrow, p + 8, sizeof narrow);
	memcpy(&all, p + 8, sizeof all);
	const size_t before = head[0] == 2 ? 24 : 32;
	all = head[0] == 2 ? narrow : all;
	if (head[0] < 2 || head[0] > 3 || head[1] != PACKED_ZSTD || all < before || all > size ||
	        !unpack(c, p + before, all - before, &unpacked, &unpacked_size)) {
		c->unreadable_count++;
		return sizeof(PACKED_MAGIC) - 1;
	}
	if (unpacked_size < MAGIC_BYTES || memcmp(unpacked, BUNDLE_MAGIC, MAGIC_BYTES))
		c->unreadable_count++;
	else
		read_bundle(c, unpacked, unpacked_size);
	return all;
}

static void read_hip_section(struct tk_device_code *c, const unsigned char *section, size_t size)
{
	for (size_t at = 0, used = 0; at + MAGIC_BYTES <= size; at = (at + used + 7) / 8 * 8) {
		used = 8; /* padding between bundles */
		if (!memcmp(section + at, BUNDLE_MAGIC, MAGIC_BYTES))
			used = read_bundle(c, section + at, size - at);
		else if (!memcmp(section + at, PACKED_MAGIC, sizeof(PACKED_MAGIC) - 1))
			used = read_packed(c, section + at, size - at);
	}
}

/* ---- both ---- */

static int by_arch_and_name(const void *a, const void *b)
{
	const struct tk_device_kernel *x = a, *y = b;
	if (x->arch != y->arch)
		return (x->arch > y->arch) - (x->arch < y->arch);
	const int order = strcmp(x->name, y->name);
	return order                ? order
	       : x->size != y->size ? (x->size > y->size) - (x->size < y->size)
	                            : memcmp(x->code, y->code, x->size);
}

void tk_device_code_read(
        const char *what, const unsigned char *bytes, size_t size, struct tk_device_code *out)
{
	*out = (struct tk_device_code){0};
	elf_version(EV_CURRENT);
	if (!strncmp(what, ".nv_fatbin", 10))
		read_cuda_section(out, bytes, size);
	else if (!strncmp(what, ".hip_fatbin", 11))
		read_hip_section(out, bytes, size);
	else if (!strncmp(what, "sm_", 3))
		read_cubin(out, bytes, size, what);
	else
		read_hsaco(out, bytes, size, what);
	tk_sort(out->kernels, out->kernel_count, sizeof *out->kernels, by_arch_and_name);
}

static int by_content(const void *a, const void *b)
{
	const struct tk_device_data *x = a, *y = b;
	return x->size != y->size ? (x->size > y->size) - (x->size < y->size)
	                          : memcmp(x->bytes, y->bytes, x->size);
}

void tk_device_code_hash(struct tk_device_code *c, struct tk_hash *h)
{
	tk_sort(c->data, c->data_count, sizeof *c->data, by_content);
	for (size_t i = 0; i < c->data_count; i++)
		tk_hash_add(h, c->data[i].bytes, c->data[i].size);
	for (size_t i = 0; i < c->kernel_count; i++)
		tk_hash_add(h, c->kernels[i].code, c->kernels[i].size);
}

void tk_device_code_free(struct tk_device_code *c)
{
	for (size_t i = 0; i < c->kernel_count; i++)
		free(c->kernels[i].name);
	for (size_t i = 0; i < c->image_count; i++) {
		elf_end(c->images[i].elf);
		tk_buf_free(&c->images[i].unpacked);
	}
	free(c->images);
	free(c->kernels);
	free(c->data);
	*c = (struct tk_device_code){0};
}
