/* Kernels for AMD GPUs: the section .hip_fatbin holds bundles one after the other, one for each
 * file that hipcc compiled, packed or not (Clang documentation, "Clang Offload Bundler"); in a
 * bundle is an ELF for each processor, whose notes hold the compiler's description of the kernels,
 * as MessagePack (LLVM documentation, "User Guide for AMDGPU Backend", code object V4 and later).
 * Every value is checked before it is used. */
#include "base/error.h"
#include "build/device_code.h"
#include "build/msgpack.h"
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUNDLE_MAGIC "__CLANG_OFFLOAD_BUNDLE__"
#define PACKED_MAGIC "CCOB"
enum {
	MAGIC_BYTES = sizeof(BUNDLE_MAGIC) - 1,
	ENTRIES_MAX = 256,
	PACKED_ZSTD = 1,
	NOTE_METADATA = 32
};

struct entry_header {
	uint64_t offset, bytes,
	        name_bytes; /* the image, from the bundle's beginning; the name follows */
};

/* The image that is being read. */
struct object {
	Elf *elf;
	const char *processor;
	unsigned arch;
};

/* ---- machine code ---- */

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

/* The code of the function `name`; code objects export the symbols of their kernels. */
static const unsigned char *find_code(Elf *elf, const char *name, size_t length, size_t *size)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;
		GElf_Sym sym;
		if (!gelf_getshdr(scn, &sh) ||
		        (sh.sh_type != SHT_DYNSYM && sh.sh_type != SHT_SYMTAB))
			continue;
		Elf_Data *data = elf_getdata(scn, NULL);
		for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
			const char *text = elf_strptr(elf, sh.sh_link, sym.st_name);
			if (GELF_ST_TYPE(sym.st_info) != STT_FUNC || !text ||
			        strlen(text) != length || memcmp(text, name, length))
				continue;
			*size = (size_t)sym.st_size;
			return bytes_at(elf, sym.st_shndx, sym.st_value, sym.st_size);
		}
	}
	return NULL;
}

/* Constants, and all functions: some kernels call functions that are not kernels. */
static int add_data(struct tk_device_code *c, Elf *elf)
{
	int status = TK_OK;
	for (Elf_Scn *scn = NULL; !status && (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;
		const Elf_Data *data = elf_rawdata(scn, NULL);
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_PROGBITS &&
		        sh.sh_flags & SHF_ALLOC && data && data->d_buf)
			status = tk_device_code_add_data(c, data->d_buf, data->d_size);
	}
	return status;
}

/* ---- metadata ---- */

struct said {
	struct tk_msgpack_item name;
	int64_t vectors, scalars, stack, shared, threads;
};

static bool read_kernel(struct tk_msgpack *m, struct said *out)
{
	struct tk_msgpack_item map, key, value;
	*out = (struct said){
	        .vectors = -1, .scalars = -1, .stack = -1, .shared = -1, .threads = -1};
	const struct {
		const char *key;
		int64_t *to;
	} numbers[] = {{".vgpr_count", &out->vectors}, {".sgpr_count", &out->scalars},
	        {".private_segment_fixed_size", &out->stack},
	        {".group_segment_fixed_size", &out->shared},
	        {".max_flat_workgroup_size", &out->threads}};
	if (!tk_msgpack_next(m, &map) || map.type != TK_MSGPACK_MAP)
		return false;
	for (size_t i = 0; i < map.count; i++) {
		struct tk_msgpack before;
		if (!tk_msgpack_next(m, &key))
			return false;
		before = *m;
		if (!tk_msgpack_skip(m) || !tk_msgpack_next(&before, &value))
			return false;
		for (size_t k = 0; k < sizeof(numbers) / sizeof(*numbers); k++)
			if (tk_msgpack_text_equals(&key, numbers[k].key) &&
			        value.type == TK_MSGPACK_INT && value.number >= 0 &&
			        value.number <= UINT32_MAX)
				*numbers[k].to = value.number;
		if (tk_msgpack_text_equals(&key, ".name") && value.type == TK_MSGPACK_TEXT)
			out->name = value;
	}
	return out->name.count > 0;
}

static int add_kernel(struct tk_device_code *c, const struct object *o, const struct said *said)
{
	size_t size;
	const unsigned char *code = find_code(o->elf, said->name.text, said->name.count, &size);
	if (!code) {
		c->unreadable_count++;
		return TK_OK;
	}
	struct tk_device_kernel *k =
	        tk_device_code_add_kernel(c, said->name.text, said->name.count, code, size);
	if (!k)
		return TK_ENOMEM;
	snprintf(k->processor, sizeof(k->processor), "%s", o->processor);
	k->arch = o->arch;
	k->registers = said->vectors;
	k->scalars = said->scalars;
	k->stack_bytes = said->stack;
	k->shared_bytes = said->shared;
	k->threads = said->threads;
	return TK_OK;
}

/* *found: the metadata is complete. */
static int read_kernels(
        struct tk_device_code *c, const struct object *o, struct tk_msgpack m, bool *found)
{
	struct tk_msgpack_item map, key, list;
	*found = false;
	if (!tk_msgpack_next(&m, &map) || map.type != TK_MSGPACK_MAP)
		return TK_OK;
	for (size_t i = 0; i < map.count; i++) {
		if (!tk_msgpack_next(&m, &key))
			return TK_OK;
		if (!tk_msgpack_text_equals(&key, "amdhsa.kernels")) {
			if (!tk_msgpack_skip(&m))
				return TK_OK;
			continue;
		}
		if (!tk_msgpack_next(&m, &list) || list.type != TK_MSGPACK_ARRAY)
			return TK_OK;
		for (size_t k = 0; k < list.count; k++) {
			struct said said;
			if (!read_kernel(&m, &said))
				return TK_OK;
			if (add_kernel(c, o, &said))
				return TK_ENOMEM;
		}
	}
	*found = true;
	return TK_OK;
}

static int read_notes(struct tk_device_code *c, const struct object *o)
{
	bool found = false;
	for (Elf_Scn *scn = NULL; !found && (scn = elf_nextscn(o->elf, scn));) {
		GElf_Shdr sh;
		GElf_Nhdr note;
		size_t at = 0, name, text;
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_NOTE)
			continue;
		Elf_Data *data = elf_getdata(scn, NULL);
		while (!found && data && (at = gelf_getnote(data, at, &note, &name, &text))) {
			const unsigned char *bytes = data->d_buf;
			if (note.n_type != NOTE_METADATA || note.n_namesz != sizeof("AMDGPU") ||
			        memcmp(bytes + name, "AMDGPU", sizeof("AMDGPU")))
				continue;
			const struct tk_msgpack m = {bytes + text, bytes + text + note.n_descsz};
			if (read_kernels(c, o, m, &found))
				return TK_ENOMEM;
		}
	}
	c->unreadable_count += !found;
	return TK_OK;
}

/* ---- bundles ---- */

/* "gfx942" of "hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"; false: an image for another
 * target, such as the host. */
static bool processor_of(const char *name, size_t length, char out[16])
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

int tk_hsaco_read_object(
        struct tk_device_code *c, const unsigned char *bytes, size_t size, const char *processor)
{
	struct object o = {
	        .processor = processor, .arch = (unsigned)strtoul(processor + 3, NULL, 16)};
	int status = tk_device_code_add_image(c, bytes, size, NULL, &o.elf);
	if (!status && o.elf)
		status = read_notes(c, &o);
	if (!status && o.elf)
		status = add_data(c, o.elf);
	return status;
}

/* *used: where the last image ends. */
static int read_bundle(struct tk_device_code *c, const unsigned char *p, size_t size, size_t *used)
{
	uint64_t count;
	int status = TK_OK;
	size_t at = MAGIC_BYTES + sizeof(count);
	*used = MAGIC_BYTES;
	if (size < at) {
		c->unreadable_count++;
		return TK_OK;
	}
	memcpy(&count, p + MAGIC_BYTES, sizeof(count));
	c->unreadable_count += count > ENTRIES_MAX;
	for (uint64_t i = 0; !status && i < count && count <= ENTRIES_MAX; i++) {
		struct entry_header h;
		char processor[16];
		if (size - at < sizeof(h)) {
			c->unreadable_count++;
			return TK_OK;
		}
		memcpy(&h, p + at, sizeof(h));
		at += sizeof(h);
		if (h.name_bytes > size - at || h.offset > size || h.bytes > size - h.offset) {
			c->unreadable_count++;
			return TK_OK;
		}
		if (h.bytes && processor_of((const char *)p + at, h.name_bytes, processor))
			status = tk_hsaco_read_object(c, p + h.offset, h.bytes, processor);
		at += h.name_bytes;
		if (h.offset + h.bytes > *used)
			*used = h.offset + h.bytes;
	}
	return status;
}

/* Sizes have 32 bits in version 2 and 64 bits in version 3; version 1 has no size. */
static int read_packed(struct tk_device_code *c, const unsigned char *p, size_t size, size_t *used)
{
	uint16_t head[2];
	uint32_t narrow = 0;
	uint64_t all = 0;
	size_t ignored;
	struct tk_buf unpacked = TK_BUF_INIT;
	*used = sizeof(PACKED_MAGIC) - 1;
	if (size < 32)
		return TK_OK;
	memcpy(head, p + 4, sizeof(head));
	memcpy(&narrow, p + 8, sizeof(narrow));
	memcpy(&all, p + 8, sizeof(all));
	const size_t before = head[0] == 2 ? 24 : 32;
	all = head[0] == 2 ? narrow : all;
	if (head[0] < 2 || head[0] > 3 || head[1] != PACKED_ZSTD || all < before || all > size ||
	        !tk_device_code_unpack(c, p + before, all - before, &unpacked)) {
		tk_buf_free(&unpacked);
		c->unreadable_count++;
		return TK_OK;
	}
	*used = all;
	const unsigned char *bytes = (const unsigned char *)unpacked.data;
	const size_t n = unpacked.len;
	const int status = tk_device_code_adopt_buffer(c, &unpacked);
	if (status || n < MAGIC_BYTES || memcmp(bytes, BUNDLE_MAGIC, MAGIC_BYTES)) {
		c->unreadable_count++;
		return status;
	}
	return read_bundle(c, bytes, n, &ignored);
}

int tk_hsaco_read_section(struct tk_device_code *c, const unsigned char *section, size_t size)
{
	int status = TK_OK;
	for (size_t at = 0, used = 0; !status && at + MAGIC_BYTES <= size;
	        at = (at + used + 7) / 8 * 8) {
		used = 8; /* padding between bundles */
		if (!memcmp(section + at, BUNDLE_MAGIC, MAGIC_BYTES))
			status = read_bundle(c, section + at, size - at, &used);
		else if (!memcmp(section + at, PACKED_MAGIC, sizeof(PACKED_MAGIC) - 1))
			status = read_packed(c, section + at, size - at, &used);
	}
	return status;
}
