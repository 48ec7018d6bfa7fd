/* Kernels of NVIDIA GPUs in a shared object: read from images that are made here, so that no
 * compiler of NVIDIA's is needed; damaged ones are left out and never read beyond their end. */
#include "base/archive.h"
#include "build/device_code.h"
#include "section.h"
#include <elf.h>

enum { TEXT = 1, INFO, SHARED, SYMBOLS, STRINGS, NAMES, CONSTANT, OWN_INFO, SECTIONS };

static const char names[] = "\0.text.gemm\0.nv.info\0.nv.shared.gemm\0.symtab\0.strtab\0."
                            "shstrtab\0.nv.constant3\0.nv.info.gemm";
static const char strings[] = "\0gemm";
static const uint32_t own_info[] = {0x00011703, 0x000c0504, 32, 4, 2};
static const uint32_t info[] = {
        0x00082f04, 1, 168, 0x00081104, 1, 24, 0x00000203, 0x00081104, 9, 1};

struct image {
	Elf64_Ehdr header;
	Elf64_Shdr section[SECTIONS];
	unsigned char code[64], constants[8];
	Elf64_Sym symbols[2];
	char names[sizeof(names)], strings[sizeof(strings)];
	uint32_t info[sizeof(info) / sizeof(*info)], own_info[sizeof(own_info) / sizeof(*own_info)];
};

static void section(struct image *m, int index, const char *name, uint32_t type, const void *at,
        size_t size, uint32_t link)
{
	size_t offset = 0;
	while (strcmp(names + offset, name))
		offset += strlen(names + offset) + 1;
	m->section[index] = (Elf64_Shdr){.sh_name = (uint32_t)offset,
	        .sh_type = type,
	        .sh_offset = at ? (size_t)((const char *)at - (const char *)m) : 0,
	        .sh_size = size,
	        .sh_link = link,
	        .sh_addralign = 1,
	        .sh_entsize = type == SHT_SYMTAB ? sizeof(Elf64_Sym) : 0};
}

static void make_image(struct image *m, unsigned char code)
{
	*m = (struct image){.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
	                                       EV_CURRENT, 0x41, 8},
	                            .e_type = ET_EXEC,
	                            .e_machine = 190,
	                            .e_version = 1,
	                            .e_shoff = offsetof(struct image, section),
	                            .e_ehsize = sizeof(Elf64_Ehdr),
	                            .e_shentsize = sizeof(Elf64_Shdr),
	                            .e_shnum = SECTIONS,
	                            .e_shstrndx = NAMES},
	        .symbols = {{0}, {.st_name = 1}}};
	memset(m->code, code, sizeof(m->code));
	memcpy(m->names, names, sizeof(names));
	memcpy(m->strings, strings, sizeof(strings));
	memcpy(m->info, info, sizeof(info));
	memcpy(m->own_info, own_info, sizeof(own_info));
	section(m, TEXT, ".text.gemm", SHT_PROGBITS, m->code, sizeof(m->code), 0);
	section(m, INFO, ".nv.info", 0x70000000, m->info, sizeof(m->info), SYMBOLS);
	section(m, SHARED, ".nv.shared.gemm", SHT_NOBITS, NULL, 8448, 0);
	section(m, SYMBOLS, ".symtab", SHT_SYMTAB, m->symbols, sizeof(m->symbols), STRINGS);
	section(m, STRINGS, ".strtab", SHT_STRTAB, m->strings, sizeof(m->strings), 0);
	section(m, NAMES, ".shstrtab", SHT_STRTAB, m->names, sizeof(m->names), 0);
	section(m, OWN_INFO, ".nv.info.gemm", 0x70000000, m->own_info, sizeof(m->own_info),
	        SYMBOLS);
	section(m, CONSTANT, ".nv.constant3", SHT_PROGBITS, m->constants, sizeof(m->constants), 0);
}

/* One group with one image; packed with zstd or not. */
static void make_section(struct tk_buf *out, unsigned char code, uint32_t arch, bool packed)
{
	struct image m;
	struct tk_buf body = TK_BUF_INIT;
	make_image(&m, code);
	if (packed)
		assert_int_equal(tk_zstd_compress(&m, sizeof(m), &body, NULL), TK_OK);
	else
		tk_buf_add(&body, &m, sizeof(m));
	const uint32_t packed_bytes = packed ? (uint32_t)body.len : 0;
	while (body.len % 8)
		tk_buf_add(&body, "", 1);
	const uint64_t head[8] = {0x0000004001010002, body.len, packed_bytes,
	        (uint64_t)arch << 32 | 0x10008, 0, 0, 0, sizeof(m)};
	const uint64_t group[2] = {0x00100001ba55ed50, sizeof(head) + body.len};
	tk_buf_add(out, group, sizeof(group));
	tk_buf_add(out, head, sizeof(head));
	tk_buf_add(out, body.data, body.len);
	tk_buf_free(&body);
}

static void resources_are_read(void **state)
{
	for (int packed = 0; packed < 2; packed++) {
		struct tk_buf b = TK_BUF_INIT;
		struct tk_device_code c;
		make_section(&b, 7, 90, packed);
		make_section(&b, 8, 80, packed);
		assert_int_equal(
		        tk_device_code_read(".nv_fatbin", (unsigned char *)b.data, b.len, &c, NULL),
		        TK_OK);
		assert_int_equal(c.kernel_count, 2);
		assert_int_equal(c.unreadable_count, 0);
		assert_int_equal(c.data_count, 2);
		assert_int_equal(c.kernels[0].arch, 80);
		assert_int_equal(c.kernels[1].arch, 90);
		assert_string_equal(c.kernels[1].name, "gemm");
		assert_int_equal(c.kernels[1].registers, 168);
		assert_int_equal(c.kernels[1].stack_bytes, 24);
		assert_int_equal(c.kernels[1].shared_bytes, 8448);
		assert_int_equal(c.kernels[1].threads, 256);
		assert_int_equal(c.kernels[1].size, 64);
		assert_int_equal(c.kernels[1].code[63], 7);
		tk_device_code_free(&c);
		tk_buf_free(&b);
	}
}

/* Computed by hand from the tables of the CUDA C++ Programming Guide. */
static void occupancy_follows_from_resources(void **state)
{
	static const struct {
		unsigned arch;
		int64_t registers, shared_bytes, threads, percent;
	} cases[] = {
	        {90, 168, 0, 384, 18}, /* registers: one block of 12 warps, of 64 */
	        {90, 32, 0, 1024, 100},
	        {90, 32, 0, 64, 100},        /* 32 blocks of 2 warps */
	        {90, 32, 0, 32, 50},         /* no more than 32 blocks */
	        {90, 16, 48 << 10, 128, 25}, /* shared memory: four blocks of 4 warps */
	        {89, 16, 0, 1024, 66},       /* 48 warps: one block of 32 */
	        {80, 255, 0, 256, 12},
	        {75, 32, 0, 256, -1},
	        {90, 32, 0, -1, -1},
	        {90, -1, 0, 256, -1},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct tk_device_kernel k = {.arch = cases[i].arch,
		        .registers = cases[i].registers,
		        .shared_bytes = cases[i].shared_bytes,
		        .threads = cases[i].threads};
		assert_int_equal(tk_device_kernel_occupancy(&k), cases[i].percent);
	}
}

/* Every length, and every byte inverted: at worst something is not read. */
static void damage_is_survived(void **state)
{
	struct tk_buf b = TK_BUF_INIT;
	make_section(&b, 7, 90, false);
	for (size_t n = 0; n <= b.len; n++) {
		struct tk_device_code c;
		unsigned char *copy = malloc(n + 1);
		memcpy(copy, b.data, n);
		assert_int_equal(tk_device_code_read(".nv_fatbin", copy, n, &c, NULL), TK_OK);
		tk_device_code_free(&c);
		if (n == b.len)
			for (size_t i = 0; i < n; i++) {
				copy[i] ^= 0xff;
				assert_int_equal(
				        tk_device_code_read(".nv_fatbin", copy, n, &c, NULL),
				        TK_OK);
				tk_device_code_free(&c);
				copy[i] ^= 0xff;
			}
		free(copy);
	}
	tk_buf_free(&b);
}

static void hash_object(const struct scratch *s, unsigned char code, const char *file,
        char hex[TK_HASH_HEX_SIZE], struct tk_kernel_symbol **k, size_t *n)
{
	struct tk_buf b = TK_BUF_INIT;
	make_section(&b, code, 90, false);
	hash_section(s, ".nv_fatbin", &b, file, hex, k, n);
	tk_buf_free(&b);
}

static void kernels_come_with_their_resources(void **state)
{
	const struct scratch *s = *state;
	struct tk_kernel_symbol *a = NULL, *b = NULL;
	size_t n = 0;
	char one[TK_HASH_HEX_SIZE], same[TK_HASH_HEX_SIZE], other[TK_HASH_HEX_SIZE];
	hash_object(s, 7, "one", one, &a, &n);
	assert_int_equal(n, 2);
	assert_string_equal(a[0].name, "sm_90 gemm");
	assert_int_equal(a[0].registers, 168);
	assert_int_equal(a[0].spill_bytes, 24);
	assert_int_equal(a[0].shared_bytes, 8448);
	assert_int_equal(a[0].threads, 256);
	assert_int_equal(a[0].occupancy_percent, 12);
	assert_string_equal(a[1].name, "tk_backend_entry");
	assert_int_equal(a[1].registers, -1);
	hash_object(s, 7, "same", same, NULL, NULL);
	hash_object(s, 8, "other", other, &b, &n);
	assert_string_equal(one, same);
	assert_string_not_equal(one, other);
	assert_string_not_equal(a[0].code_hash, b[0].code_hash);
	assert_string_equal(a[1].code_hash, b[1].code_hash);
	free(a);
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(resources_are_read),
	        cmocka_unit_test(occupancy_follows_from_resources),
	        cmocka_unit_test(damage_is_survived),
	        cmocka_unit_test_setup_teardown(
	                kernels_come_with_their_resources, scratch_open, scratch_close),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
