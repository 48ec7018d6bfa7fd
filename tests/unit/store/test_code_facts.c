/* Which kernels a run may have used, and what is said of two that differ. */
#include "base/error.h"
#include "row_fixture.h"
#include "store/query/code_facts.h"

static struct tk_kernel_row kernel(const char *name, int64_t registers, const char *instructions)
{
	return (struct tk_kernel_row){.backend = "b",
	        .name = name,
	        .code_hash = "",
	        .registers = registers,
	        .spill_bytes = -1,
	        .shared_bytes = -1,
	        .threads = -1,
	        .occupancy_percent = -1,
	        .instructions = instructions};
}

static void expect_change(
        const struct tk_kernel_row *a, const struct tk_kernel_row *b, const char *expected)
{
	char out[TK_CODE_CHANGE_SIZE];

	assert_string_equal(tk_kernel_row_format_change(a, b, out), expected);
}

static void changes_are_listed(void **state)
{
	struct tk_kernel_row a = kernel("k", 168, "total=100 LDL=2 HGMMA=8 BAR=1"),
	                     b = kernel("k", 255, "total=90 HGMMA=8 LDG=4 BAR=3");

	expect_change(&a, &a, "");
	expect_change(&a, &b,
	        "registers 168 -> 255, LDL 2 -> 0, instructions 100 -> 90, LDG 0 -> 4, BAR 1 -> 3");
	a.spill_bytes = 0;
	b.spill_bytes = 48;
	a.instructions = "";
	expect_change(&a, &b, "registers 168 -> 255, spills 0 -> 48 bytes");
	b.registers = -1; /* unknown is no change */
	expect_change(&a, &b, "spills 0 -> 48 bytes");
}

static void a_change_is_never_cut(void **state)
{
	char many[1200] = "", *end = many;
	char out[TK_CODE_CHANGE_SIZE];

	for (int i = 0; i < 80; i++)
		end += sprintf(end, "%sOP%d=%d", i ? " " : "", i, i + 1);
	const struct tk_kernel_row a = kernel("k", 1, "OP0=9"), b = kernel("k", 1, many);
	tk_kernel_row_format_change(&a, &b, out);
	assert_memory_equal(out, "OP0 9 -> 1, OP1 0 -> 2", 22);
	const char *last = strrchr(out, ',');
	int op, count;
	assert_int_equal(sscanf(last, ", OP%d 0 -> %d", &op, &count), 2);
	assert_int_equal(count, op + 1);
}

static void kernels_of_a_problem_are_found(void **state)
{
	const struct tk_kernel_row list[] = {kernel("", -1, ""), kernel("host_function", -1, ""),
	        kernel("sm_90 _Z4gemmv", 1, ""), kernel("sm_90 gemm gemm:m=1 a", 2, ""),
	        kernel("sm_90 gemm gemm:m=1 a#2", 3, ""), kernel("sm_90 gemm gemm:m=1 ab", 4, ""),
	        kernel("sm_90 gemm gemm:m=12 a", 5, ""), kernel("gfx942 gemm gemm:m=1 a", 6, "")};
	const struct tk_rows rows = {.rows = (void *)list, .count = sizeof list / sizeof *list};
	static const int64_t expected[] = {1, 2, 3, 6};
	struct tk_kernel_use use = {"b", "gemm:m=1", "a"};
	const struct tk_kernel_row *k;
	size_t n = 0, i = 0;

	while ((k = tk_kernel_rows_next(&rows, &use, &i)))
		assert_int_equal(k->registers, expected[n++]);
	assert_int_equal(n, 4);
	use.backend = "other";
	i = 0;
	assert_null(tk_kernel_rows_next(&rows, &use, &i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(changes_are_listed),
	        cmocka_unit_test(a_change_is_never_cut),
	        cmocka_unit_test(kernels_of_a_problem_are_found)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
