/* What the modules for AMD GPUs work out without one: the kernel driver's description of a GPU, and
 * 8-bit floats of one kind read as the other. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "../../../kernels/hip/kfd.h"
#include "../../../kernels/hip/narrow.h"

/* ---- the kernel driver ----------------------------------------------------------------------- */

static char nodes[] = "/tmp/tracker-kfd-XXXXXX";

static void put(const char *path, const char *text)
{
	char full[512];
	snprintf(full, sizeof full, "%s/%s", nodes, path);
	for (char *slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(full, 0700);
		*slash = '/';
	}
	FILE *f = fopen(full, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* Two processors and two GPUs, as amdkfd of Linux 6.8 shows an MI300X and an MI210; sizes in KiB,
 * bus 0x0c and 0x2f. */
static int two_gpus(void **state)
{
	assert_non_null(mkdtemp(nodes));
	put("0/properties", "cpu_cores_count 96\nsimd_count 0\nlocation_id 0\ndomain 0\n");
	put("1/properties", "cpu_cores_count 96\nsimd_count 0\nlocation_id 0\ndomain 0\n");
	put("2/properties", "cpu_cores_count 0\nsimd_count 1216\nlocation_id 3072\ndomain "
	                    "0\nunique_id 10810319187632156127\n");
	put("2/io_links/0/properties", "type 2\nnode_from 2\nnode_to 1\n");
	put("2/caches/0/properties", "processor_id_low 2147487744\nlevel 1\nsize 32\n");
	put("2/caches/1/properties", "processor_id_low 2147487744\nlevel 2\nsize 32768\n");
	put("2/caches/2/properties", "processor_id_low 2147487744\nlevel 3\nsize 262144\n");
	put("3/properties",
	        "cpu_cores_count 0\nsimd_count 416\nlocation_id 12032\ndomain 0\nunique_id 7\n");
	put("3/caches/0/properties", "level 1\nsize 999999\n");
	put("3/caches/1/properties", "level 2\nsize 4096\n");
	put("3/caches/2/properties", "level 2\nsize 4096\n");
	return 0;
}

static int remove_nodes(void **state)
{
	char command[64];
	snprintf(command, sizeof command, "rm -rf -- %s", nodes);
	return system(command);
}

static void test_infinity_cache_is_the_last_level(void **state)
{
	struct kfd_node n = {.numa_node = -1};
	kfd_find(nodes, 0, 0x0c << 8, &n);
	assert_int_equal(n.cache_bytes, 256 << 20);
	assert_int_equal(n.third_bytes, 256 << 20);
	assert_int_equal(n.numa_node, 1);
	assert_true(n.unique_id == 10810319187632156127ULL);
}

static void test_pieces_of_a_level_add_up_and_the_first_level_does_not_count(void **state)
{
	struct kfd_node n = {.numa_node = -1};
	kfd_find(nodes, 0, 0x2f << 8, &n);
	assert_int_equal(n.cache_bytes, 8 << 20);
	assert_int_equal(n.third_bytes, 0);
	assert_int_equal(n.numa_node, -1);
}

static void test_missing_files_change_nothing(void **state)
{
	struct kfd_node n = {.cache_bytes = 5, .unique_id = 6, .numa_node = -1};
	kfd_find(nodes, 1, 0x0c << 8, &n); /* another domain */
	kfd_find(nodes, 0, 0, &n);         /* a processor's location */
	kfd_find("/nowhere", 0, 0x0c << 8, &n);
	assert_int_equal(n.cache_bytes, 5);
	assert_int_equal(n.unique_id, 6);
	assert_int_equal(n.numa_node, -1);
}

/* ---- 8-bit floats ---------------------------------------------------------------------------- */

/* A float of `mantissa` bits below an exponent of 7 - mantissa bits; subnormals where the exponent
 * is 0. */
static double decode(unsigned bits, int mantissa, int bias)
{
	int exponent = (int)(bits & 0x7f) >> mantissa;
	double rest = (double)(bits & ((1u << mantissa) - 1)) / (1 << mantissa);
	double size = exponent ? ldexp(1 + rest, exponent - bias) : ldexp(rest, 1 - bias);
	return bits & 0x80 ? -size : size;
}

/* OCP 8-bit floating point specification 1.0: e4m3 has bias 7 and no number at 0x7f; e5m2 has bias
 * 15 and none from 0x7c on. FNUZ (arXiv 2206.02915): bias 8 and 16, and no number but at 0x80. */
static void check_kind(int mantissa, int bias, unsigned numbers)
{
	for (unsigned bits = 0; bits < 256; bits++) {
		uint32_t four = narrow_clear_minus_zero(bits * 0x01010101u), one = four & 0xff;
		assert_int_equal(four, one * 0x01010101u);
		if ((bits & 0x7f) >= numbers)
			continue;
		assert_int_not_equal(one, 0x80);
		assert_true(NARROW_FNUZ_SCALE * decode(one, mantissa, bias + 1) ==
		            decode(bits, mantissa, bias));
	}
}

static void test_fnuz_times_two_is_ocp(void **state)
{
	check_kind(3, 7, 0x7f);
	check_kind(2, 15, 0x7c);
}

static void test_a_byte_leaves_its_neighbours_alone(void **state)
{
	assert_int_equal(narrow_clear_minus_zero(0x80ff8001u), 0x00ff0001u);
	assert_int_equal(narrow_clear_minus_zero(0x81808080u), 0x81000000u);
	assert_int_equal(narrow_clear_minus_zero(0x00800180u), 0x00000100u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_infinity_cache_is_the_last_level),
	        cmocka_unit_test(test_pieces_of_a_level_add_up_and_the_first_level_does_not_count),
	        cmocka_unit_test(test_missing_files_change_nothing),
	        cmocka_unit_test(test_fnuz_times_two_is_ocp),
	        cmocka_unit_test(test_a_byte_leaves_its_neighbours_alone),
	};
	return cmocka_run_group_tests_name("amd", tests, two_gpus, remove_nodes);
}
