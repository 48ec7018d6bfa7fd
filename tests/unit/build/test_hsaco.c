/* Kernels of AMD GPUs in a shared object, read from what hipcc made of
 * kernels/gpu/control_kernel.cu; damaged ones are left out and never read beyond their end.
 * control_hip.fatbin is the section .hip_fatbin of its object file, made by clang 21.1.8 with the
 * HIP headers 6.4.43484:
 *
 *   clang++-21 -x hip --offload-arch=gfx90a --offload-arch=gfx942 --offload-compress -O3
 * -std=gnu++17 -fPIC -fvisibility=hidden -D__HIP_PLATFORM_AMD__=1 -DTK_GPU_HIP=1 -Ikernels/gpu -c
 * kernels/gpu/control_kernel.cu llvm-objcopy-21 -O binary --only-section=.hip_fatbin
 * control_kernel.o control_hip.fatbin
 *
 * The resources that are expected are those that `llvm-readelf --notes` shows, the occupancies
 * those of clang's -Rpass-analysis=kernel-resource-usage (in eighths, waves of a SIMD unit). */
#include "base/archive.h"
#include "build/device_code.h"
#include "section.h"

enum { HEAD = 24, BUNDLE_HEAD = 32 };
#define NAME "_Z12control_gemmPKfS0_Pfiii"

static void read_fixture(struct tk_buf *out)
{
	assert_int_equal(tk_file_read(TK_SOURCE_ROOT "/tests/unit/build/control_hip.fatbin",
	                         1 << 20, out, NULL),
	        TK_OK);
}

/* An unpacked bundle. */
static void read_unpacked(struct tk_buf *out)
{
	struct tk_buf packed = TK_BUF_INIT;
	read_fixture(&packed);
	assert_memory_equal(packed.data, "CCOB", 4);
	const size_t head = packed.data[4] == 2 ? HEAD : BUNDLE_HEAD;
	assert_int_equal(
	        tk_zstd_decompress(packed.data + head, packed.len - head, 1 << 20, out, NULL),
	        TK_OK);
	tk_buf_free(&packed);
}

static void check_kernel(const struct tk_device_kernel *k, const char *processor, size_t size,
        int registers, int scalars)
{
	assert_string_equal(k->name, NAME);
	assert_string_equal(k->processor, processor);
	assert_int_equal(k->arch, strtoul(processor + 3, NULL, 16));
	assert_int_equal(k->size, size);
	assert_int_equal(k->registers, registers);
	assert_int_equal(k->scalars, scalars);
	assert_int_equal(k->stack_bytes, 0);
	assert_int_equal(k->shared_bytes, 8192);
	assert_int_equal(k->threads, 256);
	assert_memory_equal(k->code + k->size - 4, "\x00\x00\x81\xbf", 4); /* s_endpgm */
}

static void resources_are_read(void **state)
{
	for (int packed = 0; packed < 2; packed++) {
		struct tk_buf b = TK_BUF_INIT;
		struct tk_device_code c;
		if (packed)
			read_fixture(&b);
		else
			read_unpacked(&b);
		assert_int_equal(tk_device_code_read(
		                         ".hip_fatbin", (unsigned char *)b.data, b.len, &c, NULL),
		        TK_OK);
		assert_int_equal(c.kernel_count, 2);
		assert_int_equal(c.unreadable_count, 0);
		check_kernel(&c.kernels[0], "gfx90a", 3040, 70, 28);
		check_kernel(&c.kernels[1], "gfx942", 2880, 68, 32);
		assert_int_equal(c.data_count, 4); /* constants and code of both */
		tk_device_code_free(&c);
		tk_buf_free(&b);
	}
}

/* A module has one bundle per file, each on its own page. */
static void all_bundles_are_read(void **state)
{
	struct tk_buf one = TK_BUF_INIT, all = TK_BUF_INIT;
	struct tk_device_code c;
	read_unpacked(&one);
	for (int i = 0; i < 3; i++) {
		tk_buf_add(&all, one.data, one.len);
		while (all.len % 4096)
			tk_buf_add(&all, "", 1);
	}
	assert_int_equal(
	        tk_device_code_read(".hip_fatbin", (unsigned char *)all.data, all.len, &c, NULL),
	        TK_OK);
	assert_int_equal(c.kernel_count, 6);
	assert_int_equal(c.unreadable_count, 0);
	tk_device_code_free(&c);
	/* one more that says to have more entries than any has: known not to be read */
	tk_buf_add(&all, one.data, 24);
	tk_buf_add(&all, "\x2c\x01\0\0\0\0\0\0", 8);
	assert_int_equal(
	        tk_device_code_read(".hip_fatbin", (unsigned char *)all.data, all.len, &c, NULL),
	        TK_OK);
	assert_int_equal(c.kernel_count, 6);
	assert_int_equal(c.unreadable_count, 1);
	tk_device_code_free(&c);
	tk_buf_free(&one);
	tk_buf_free(&all);
}

/* Metadata that clang wrote for kernels of this tree, and the occupancy by its formulas. */
static void occupancy_is_the_compilers(void **state)
{
	static const struct {
		unsigned arch;
		int64_t registers, scalars, shared_bytes, threads, percent;
	} cases[] = {
	        {0x942, 68, 32, 8192, 256, 87}, /* control_gemm: 7 waves by registers */
	        {0x90a, 16, 32, 0, 256, 100},
	        {0x90a, 176, 100, 0, 256, 25},
	        {0x942, 308, 50, 33792, 256, 12}, /* gemm_pipelined */
	        {0x90a, 124, 40, 0, 256, 50},
	        {0x942, 17, 20, 0, 128, 100},
	        {0x942, 32, 102, 0, 256, 87},       /* scalar registers */
	        {0x942, 32, 32, 20000, 64, 9},      /* shared memory: three blocks of a wave */
	        {0x942, 32, 32, 0, 64, 100},        /* 32 blocks of one wave */
	        {0x942, 32, 32, 0, 65, 100},        /* 16 of two */
	        {0x942, 129, 32, 0, 1024, 0},       /* does not fit */
	        {0x950, 32, 32, 64 << 10, 256, 25}, /* 160 KiB */
	        {0x1100, 32, 32, 0, 256, -1},
	        {0x942, 32, 32, 0, -1, -1},
	        {0x942, -1, 32, 0, 256, -1},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct tk_device_kernel k = {.processor = "gfx",
		        .arch = cases[i].arch,
		        .registers = cases[i].registers,
		        .scalars = cases[i].scalars,
		        .shared_bytes = cases[i].shared_bytes,
		        .threads = cases[i].threads};
		assert_int_equal(tk_device_kernel_occupancy(&k), cases[i].percent);
	}
}

/* Many lengths and inverted bytes, packed and not: at worst something is not read. */
static void damage_is_survived(void **state)
{
	for (int packed = 0; packed < 2; packed++) {
		struct tk_buf b = TK_BUF_INIT;
		if (packed)
			read_fixture(&b);
		else
			read_unpacked(&b);
		const size_t step = packed ? 1 : 11;
		for (size_t n = 0; n <= b.len;
		        n += n + step > b.len && n < b.len ? b.len - n : step) {
			struct tk_device_code c;
			unsigned char *copy = malloc(n + 1);
			memcpy(copy, b.data, n);
			assert_int_equal(
			        tk_device_code_read(".hip_fatbin", copy, n, &c, NULL), TK_OK);
			tk_device_code_free(&c);
			for (size_t i = 0; n == b.len && i < n; i += i < 512 ? 1 : step) {
				copy[i] ^= 0xff;
				assert_int_equal(
				        tk_device_code_read(".hip_fatbin", copy, n, &c, NULL),
				        TK_OK);
				tk_device_code_free(&c);
				copy[i] ^= 0xff;
			}
			free(copy);
		}
		tk_buf_free(&b);
	}
}

/* The name of the section decides the format; images of the other format are not read. */
static void a_section_holds_one_kind(void **state)
{
	struct tk_buf b = TK_BUF_INIT;
	struct tk_device_code c;
	read_fixture(&b);
	assert_int_equal(
	        tk_device_code_read(".nv_fatbin", (unsigned char *)b.data, b.len, &c, NULL), TK_OK);
	assert_int_equal(c.kernel_count, 0);
	assert_int_equal(c.unreadable_count, 0);
	tk_device_code_free(&c);
	assert_int_equal(
	        tk_device_code_read(".hip_fatbin.4c0a", (unsigned char *)b.data, b.len, &c, NULL),
	        TK_OK);
	assert_int_equal(c.kernel_count, 2);
	tk_device_code_free(&c);
	tk_buf_free(&b);
}

/* Many small images can unpack to more than the memory. */
static void what_unpacks_to_too_much_is_not_read(void **state)
{
	struct tk_device_code c = {.unpacked_bytes = TK_DEVICE_CODE_UNPACKED_MAX - 100};
	struct tk_buf packed = TK_BUF_INIT, out = TK_BUF_INIT;
	char bytes[101] = "";
	assert_int_equal(tk_zstd_compress(bytes, 60, &packed, NULL), TK_OK);
	assert_true(tk_device_code_unpack(&c, packed.data, packed.len, &out));
	assert_int_equal(out.len, 60);
	assert_false(tk_device_code_unpack(&c, packed.data, packed.len, &out));
	tk_buf_free(&packed);
	tk_buf_free(&out);
}

static void kernels_come_with_their_resources(void **state)
{
	const struct scratch *s = *state;
	struct tk_buf packed = TK_BUF_INIT, plain = TK_BUF_INIT;
	struct tk_kernel_symbol *a = NULL, *b = NULL;
	size_t n = 0;
	char one[TK_HASH_HEX_SIZE], same[TK_HASH_HEX_SIZE], other[TK_HASH_HEX_SIZE];
	read_fixture(&packed);
	read_unpacked(&plain);
	hash_section(s, ".hip_fatbin", &packed, "packed", one, &a, &n);
	assert_int_equal(n, 3);
	assert_string_equal(a[0].name, "gfx90a " NAME);
	assert_string_equal(a[1].name, "gfx942 " NAME);
	assert_int_equal(a[1].registers, 68);
	assert_int_equal(a[1].spill_bytes, 0);
	assert_int_equal(a[1].shared_bytes, 8192);
	assert_int_equal(a[1].threads, 256);
	assert_int_equal(a[1].occupancy_percent, 87);
	assert_string_equal(a[2].name, "tk_backend_entry");
	hash_section(s, ".hip_fatbin", &plain, "plain", same, NULL, NULL);
	assert_string_equal(one, same);

	/* another instruction in the last kernel, which lies behind its name */
	char *code = memmem(plain.data, plain.len, "\x00\x00\x81\xbf", 4), *next = code;
	while ((next = memmem(code + 4, plain.len - (size_t)(code + 4 - plain.data),
	                "\x00\x00\x81\xbf", 4)))
		code = next;
	code[-1] ^= 1;
	hash_section(s, ".hip_fatbin", &plain, "other", other, &b, &n);
	assert_string_not_equal(one, other);
	assert_string_equal(a[0].code_hash, b[0].code_hash);
	assert_string_not_equal(a[1].code_hash, b[1].code_hash);
	assert_string_equal(a[2].code_hash, b[2].code_hash);
	free(a);
	free(b);
	tk_buf_free(&packed);
	tk_buf_free(&plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(resources_are_read),
	        cmocka_unit_test(all_bundles_are_read),
	        cmocka_unit_test(occupancy_is_the_compilers),
	        cmocka_unit_test(damage_is_survived),
	        cmocka_unit_test(a_section_holds_one_kind),
	        cmocka_unit_test(what_unpacks_to_too_much_is_not_read),
	        cmocka_unit_test_setup_teardown(
	                kernels_come_with_their_resources, scratch_open, scratch_close),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
