/* Bytes as device code of a build that somebody else made. The first one says as what: a section of
 * NVIDIA's container or of AMD's as it is, an AMD bundle that is packed, or what a compiler says of
 * the kernels (MessagePack) in the note of a well-formed code object, so that most inputs get as
 * far as that. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "build/device_code.h"
#include "build/msgpack.h"
#include "fuzz.h"

enum { CODE = 1, NOTE, SYMBOLS, STRINGS, SECTIONS };

static const char strings[] = "\0k\0kernel\0_Z12control_gemmPKfS0_Pfiii";
static const uint32_t names[] = {1, 3, 10};
enum { NAMES = sizeof(names) / sizeof(*names) };

/* Everything that was found is touched: it has to lie within what was read. */
static void look_at(const char *section, const unsigned char *bytes, size_t size)
{
	struct tk_device_code c;
	volatile unsigned sum = 0;

	if (tk_device_code_read(section, bytes, size, &c, NULL))
		abort();
	for (size_t i = 0; i < c.kernel_count; i++) {
		sum += (unsigned)tk_device_kernel_occupancy(&c.kernels[i]) +
		       (unsigned)strlen(c.kernels[i].processor);
		for (size_t b = 0; b < c.kernels[i].size; b++)
			sum += c.kernels[i].code[b];
	}
	for (size_t i = 0; i < c.data_count; i++)
		for (size_t b = 0; b < c.data[i].size; b++)
			sum += c.data[i].bytes[b];
	tk_device_code_free(&c);
}

static void look_at_packed(const unsigned char *bytes, size_t size)
{
	struct tk_buf b = TK_BUF_INIT;
	unsigned char head[32] = {'C', 'C', 'O', 'B', 3, 0, 1, 0};

	tk_buf_add(&b, head, sizeof(head));
	if (tk_zstd_compress(bytes, size, &b, NULL))
		abort();
	const uint64_t all = b.len;
	memcpy(b.data + 8, &all, sizeof(all));
	look_at(".hip_fatbin", (const unsigned char *)b.data, b.len);
	tk_buf_free(&b);
}

struct object {
	Elf64_Ehdr header;
	Elf64_Shdr section[SECTIONS];
	unsigned char code[64];
	Elf64_Sym symbols[1 + NAMES];
	char strings[sizeof(strings)];
	Elf64_Nhdr note;
	char owner[8];
};

static void look_at_message(const unsigned char *bytes, size_t size)
{
	static const char triple[] = "hipv4-amdgcn-amd-amdhsa--gfx942";
	struct object o = {.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
	                                      EV_CURRENT, 0x40, 3},
	                           .e_type = ET_DYN,
	                           .e_machine = 224,
	                           .e_version = 1,
	                           .e_shoff = offsetof(struct object, section),
	                           .e_ehsize = sizeof(Elf64_Ehdr),
	                           .e_shentsize = sizeof(Elf64_Shdr),
	                           .e_shnum = SECTIONS},
	        .note = {7, (Elf64_Word)size, 32},
	        .owner = "AMDGPU"};
	const struct {
		uint32_t type, link, entry;
		uint64_t flags, at, size;
	} sections[SECTIONS] = {[CODE] = {SHT_PROGBITS, 0, 0, SHF_ALLOC,
	                                offsetof(struct object, code), sizeof(o.code)},
	        [NOTE] = {SHT_NOTE, 0, 0, 0, offsetof(struct object, note),
	                sizeof(o.note) + sizeof(o.owner) + size},
	        [SYMBOLS] = {SHT_DYNSYM, STRINGS, sizeof(Elf64_Sym), 0,
	                offsetof(struct object, symbols), sizeof(o.symbols)},
	        [STRINGS] = {
	                SHT_STRTAB, 0, 0, 0, offsetof(struct object, strings), sizeof(strings)}};
	struct tk_buf b = TK_BUF_INIT;
	const uint64_t head[] = {1, 128, sizeof(o) + size, sizeof(triple) - 1};

	for (int i = 1; i < SECTIONS; i++)
		o.section[i] = (Elf64_Shdr){.sh_type = sections[i].type,
		        .sh_link = sections[i].link,
		        .sh_entsize = sections[i].entry,
		        .sh_flags = sections[i].flags,
		        .sh_offset = sections[i].at,
		        .sh_size = sections[i].size,
		        .sh_addralign = 4};
	for (int i = 0; i < NAMES; i++)
		o.symbols[1 + i] = (Elf64_Sym){names[i], ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0,
		        CODE, 16 * (uint64_t)i, 16};
	memcpy(o.strings, strings, sizeof(strings));
	tk_buf_add_str(&b, "__CLANG_OFFLOAD_BUNDLE__");
	tk_buf_add(&b, head, sizeof(head));
	tk_buf_add_str(&b, triple);
	while (b.len < head[1])
		tk_buf_add_char(&b, '\0');
	tk_buf_add(&b, &o, sizeof(o));
	tk_buf_add(&b, bytes, size);
	look_at(".hip_fatbin", (const unsigned char *)b.data, b.len);
	tk_buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	struct tk_msgpack m = {data + 1, data + size};

	switch (data[0] % 4) {
	case 0:
		look_at(".nv_fatbin", data + 1, size - 1);
		break;
	case 1:
		look_at(".hip_fatbin", data + 1, size - 1);
		break;
	case 2:
		look_at_packed(data + 1, size - 1);
		break;
	default:
		look_at_message(data + 1, size - 1);
		if (tk_msgpack_skip(&m) && m.at > m.end)
			abort();
	}
	return 0;
}
