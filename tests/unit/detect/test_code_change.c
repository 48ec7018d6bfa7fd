/* A verdict says how the machine code of its kernel changed. */
#include "verdict_checks.h"

/* `changed`: how many kernels of the new build differ. */
static void expect_code_change(size_t changed, const char *expected)
{
	struct world w;
	struct tk_rng rng;
	struct tk_diff_report r;

	tk_rng_seed(&rng, 9);
	world_open(&w, NULL);
	for (int day = 0; day < 26; day++) {
		const bool is_new = day >= 24;

		world_build(&w, is_new ? "bbb" : "aaa", is_new, "b", is_new ? "h2" : "h1", "");
		world_gpu_kernel(&w, "b", "sm_90 one", is_new ? "n1" : "o1", is_new ? 255 : 168,
		        is_new ? 48 : 0, is_new ? "total=812 LDL=12" : "total=800");
		world_gpu_kernel(
		        &w, "b", "sm_90 two", is_new && changed > 1 ? "n2" : "o2", 32, 0, "");
		world_night(&w, day, "nightly");
		world_point(&w, "b", "p", quiet(&rng, is_new ? 1.2e6 : 1e6));
		others(&w, &rng, 1);
	}
	r = world_diff(&w, 24);
	expect(&r, "p", TK_VERDICT_REGRESSED);
	const struct tk_verdict *v = &world_row(&r, "b", "p")->verdict;
	const struct tk_fact *fact = tk_verdict_find_fact(v, TK_FACT_CODE_CHANGE);
	assert_string_equal(fact ? tk_fact_text(v, fact) : "", expected);
	tk_diff_report_free(&r);
	world_close(&w);
}

static void the_machine_code_of_a_change_is_compared(void **state)
{
	expect_code_change(1, "registers 168 -> 255, spills 0 -> 48 bytes, "
	                      "instructions 800 -> 812, LDL 0 -> 12");
	expect_code_change(2, ""); /* which of them ran is not known */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_machine_code_of_a_change_is_compared)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
