/* What a night was to measure, and how many nights there were where some were split. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/night.h"

static void coverage_is_read_from_the_summary(void **state)
{
	static const struct {
		const char *summary;
		bool has_all_upstreams;
		uint32_t part;
	} cases[] = {
	        {"", true, 0},
	        {"{}", true, 0},
	        {"{\"request\":{\"devices\":[\"cuda:0\"]}}", true, 0},
	        {"{\"request\":{\"part\":\"2/4\"}}", true, 2},
	        {"{\"request\":{\"part\":\"1000/1000\"}}", true, 1000},
	        {"{\"request\":{\"part\":\"1001/2000\"}}", true, 0},
	        {"{\"request\":{\"part\":2}}", true, 0},
	        {"{\"request\":{\"part\":\"1/2\",\"upstream\":\"lib\"}}", false, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tk_night_coverage c = tk_night_read_coverage(cases[i].summary);

		assert_int_equal(c.has_all_upstreams, cases[i].has_all_upstreams);
		assert_int_equal(c.part, cases[i].part);
	}
}

static void add(struct tk_night_tally *t, const char *summary)
{
	tk_night_tally_add(t, tk_night_read_coverage(summary));
}

static void parts_of_a_split_night_count_as_one(void **state)
{
	struct tk_night_tally t = {0};

	(void)state;
	assert_int_equal(tk_night_tally_total(&t), 0);
	add(&t, "{}");
	add(&t, "{\"request\":{\"upstream\":\"lib\"}}");
	assert_int_equal(tk_night_tally_total(&t), 1);
	for (int night = 0; night < 3; night++) {
		add(&t, "{\"request\":{\"part\":\"1/3\"}}");
		if (night != 1) /* its node was down */
			add(&t, "{\"request\":{\"part\":\"2/3\"}}");
		add(&t, "{\"request\":{\"part\":\"3/3\"}}");
	}
	assert_int_equal(tk_night_tally_total(&t), 4);
	assert_int_equal(t.whole, 1);
	assert_int_equal(t.of_part[2], 2);
	assert_true(t.most_frequent_part == 1 || t.most_frequent_part == 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(coverage_is_read_from_the_summary),
	        cmocka_unit_test(parts_of_a_split_night_count_as_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
