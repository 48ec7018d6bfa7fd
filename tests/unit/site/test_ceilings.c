/* The ceilings of a device: which are the newest, which limits a problem, and what a time reaches
 * of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_model.h"

#include "site_gen/model/ceilings.h"
#include "store/store.h"
#include <math.h>
#include <string.h>

static const struct tk_ceiling_row measured_f16 = {1, 1, "f16", TK_CEILING_MEASURED, "gflop_per_s",
                                           600},
                                   sheet_f16 = {1, 1, "f16", TK_CEILING_DATASHEET, "gflop_per_s",
                                           1000},
                                   sheet_f32 = {1, 1, "f32", TK_CEILING_DATASHEET, "gflop_per_s",
                                           60},
                                   copy = {1, 1, "copy", TK_CEILING_MEASURED, "gb_per_s", 3},
                                   sheet_copy = {1, 1, "copy", TK_CEILING_DATASHEET, "gb_per_s", 4},
                                   l2 = {1, 1, "l2 read", TK_CEILING_MEASURED, "gb_per_s", 50},
                                   launch = {1, 1, "launch", TK_CEILING_MEASURED, "ns", 2000};

static struct tk_ceiling_set set_of(const struct tk_ceiling_row *const *rows, size_t count)
{
	struct tk_ceiling_set out = {.count = count};

	memcpy(out.rows, rows, count * sizeof *rows);
	return out;
}

#define SET(...) \
	set_of((const struct tk_ceiling_row *const[]){__VA_ARGS__}, \
	        sizeof((const void *[]){__VA_ARGS__}) / sizeof(void *))

static void the_lower_of_rate_and_bandwidth_limits(void **state)
{
	struct tk_ceiling_set c = SET(&measured_f16, &copy);

	(void)state;
	assert_float_equal(tk_ceiling_set_attainable(&c, "f16", 100), 300, 1e-9);
	assert_string_equal(tk_ceiling_set_limiting(&c, "f16", 100), "memory");
	assert_float_equal(tk_ceiling_set_attainable(&c, "f16", 1000), 600, 1e-9);
	assert_string_equal(tk_ceiling_set_limiting(&c, "f16", 1000), "f16");
	assert_float_equal(tk_ceiling_set_attainable(&c, "f16", 200), 600, 1e-9);
	assert_string_equal(tk_ceiling_set_limiting(&c, "f16", 200), "memory");
}

static void what_was_measured_goes_before_the_datasheet(void **state)
{
	struct tk_ceiling_set both = SET(&sheet_f16, &measured_f16, &sheet_copy, &copy),
	                      sheet = SET(&sheet_f16, &sheet_copy);

	(void)state;
	assert_float_equal(tk_ceiling_set_attainable(&both, "f16", 1e6), 600, 1e-9);
	assert_float_equal(tk_ceiling_set_attainable(&both, "f16", 1), 3, 1e-9);
	assert_float_equal(tk_ceiling_set_attainable(&sheet, "f16", 1e6), 1000, 1e-9);
	assert_float_equal(tk_ceiling_set_attainable(&sheet, "f16", 1), 4, 1e-9);
	assert_float_equal(tk_ceiling_set_peak(&both, "f16"), 1000, 1e-9);
	assert_true(isnan(tk_ceiling_set_peak(&both, "f32")));
}

static void a_type_without_a_rate_gets_the_fastest(void **state)
{
	struct tk_ceiling_set c = SET(&sheet_f32, &sheet_f16);

	(void)state;
	assert_float_equal(tk_ceiling_set_attainable(&c, "e4m3", 10), 1000, 1e-9);
	assert_string_equal(tk_ceiling_set_limiting(&c, "e4m3", 10), "fastest type");
	assert_float_equal(tk_ceiling_set_attainable(&c, "f32", 10), 60, 1e-9);
	assert_string_equal(tk_ceiling_set_limiting(&c, "f32", 10), "f32");
}

static void without_ceilings_nothing_limits(void **state)
{
	struct tk_ceiling_set none = {0}, bandwidth = SET(&copy);

	(void)state;
	assert_true(isnan(tk_ceiling_set_attainable(&none, "f16", 10)));
	assert_string_equal(tk_ceiling_set_limiting(&none, "f16", 10), "none");
	assert_float_equal(tk_ceiling_set_attainable(&bandwidth, "f16", 10), 30, 1e-9);
	assert_string_equal(tk_ceiling_set_limiting(&bandwidth, "f16", 10), "memory");
}

static void caches_are_drawn_but_do_not_limit(void **state)
{
	static const struct {
		const char *name, *unit;
		bool is_cache;
	} cases[] = {{"l2 read", "gb_per_s", true}, {"L1", "gb_per_s", true},
	        {"llc_copy", "gb_per_s", true}, {"shared-read", "gb_per_s", true},
	        {"lds", "gb_per_s", true}, {"l3", "gb_per_s", true}, {"copy", "gb_per_s", false},
	        {"l2", "gflop_per_s", false}, {"l21", "gb_per_s", false}, {"l", "gb_per_s", false},
	        {"", "gb_per_s", false}};
	struct tk_ceiling_set c = SET(&l2, &copy, &measured_f16);

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_ceiling_row row = {.name = cases[i].name, .unit = cases[i].unit};
		assert_int_equal(tk_ceiling_is_cache(&row), cases[i].is_cache);
	}
	assert_float_equal(tk_ceiling_set_attainable(&c, "f16", 10), 30, 1e-9);
}

static void times_are_dropped_for_a_roofline(void **state)
{
	struct tk_ceiling_set c = SET(&launch, &copy, &launch, &measured_f16);

	(void)state;
	tk_ceiling_set_drop_times(&c);
	assert_int_equal(c.count, 2);
	assert_ptr_equal(c.rows[0], &copy);
	assert_ptr_equal(c.rows[1], &measured_f16);
}

static struct tk_site_series time_of(struct tk_problem_row *p, double flops, double bytes)
{
	*p = (struct tk_problem_row){.dtype = "f16", .flops = flops, .bytes = bytes};
	return (struct tk_site_series){.problem = p, .metric = TK_METRIC_TIME, .unit = TK_UNIT_NS};
}

static void efficiency_is_the_share_of_the_ceiling(void **state)
{
	struct tk_ceiling_set c = SET(&measured_f16, &sheet_f16, &copy, &sheet_copy);
	struct tk_problem_row p;
	struct tk_site_series s = time_of(&p, 6e6, 6e3); /* 1000 FLOP per byte: compute */

	(void)state;
	assert_float_equal(tk_ceiling_set_efficiency(&c, &s, 20e3), 0.5, 1e-9);
	assert_float_equal(
	        tk_ceiling_set_efficiency_by_source(&c, TK_CEILING_MEASURED, &s, 20e3), 0.5, 1e-9);
	assert_float_equal(
	        tk_ceiling_set_efficiency_by_source(&c, TK_CEILING_DATASHEET, &s, 20e3), 0.3, 1e-9);
	s = time_of(&p, 6e6, 6e5); /* 10 FLOP per byte: memory */
	assert_float_equal(tk_ceiling_set_efficiency(&c, &s, 400e3), 0.5, 1e-9);
	assert_float_equal(tk_ceiling_set_efficiency_by_source(&c, TK_CEILING_DATASHEET, &s, 400e3),
	        15.0 / 40, 1e-9);
}

static void efficiency_needs_a_time_and_its_work(void **state)
{
	struct tk_ceiling_set c = SET(&measured_f16, &copy), no_rate = SET(&copy);
	struct tk_problem_row p;
	struct tk_site_series s = time_of(&p, 6e6, 6e3);

	(void)state;
	assert_true(isnan(tk_ceiling_set_efficiency(&c, &s, 0)));
	assert_true(
	        isnan(tk_ceiling_set_efficiency_by_source(&no_rate, TK_CEILING_MEASURED, &s, 1e3)));
	s.unit = TK_UNIT_JOULE;
	assert_true(isnan(tk_ceiling_set_efficiency(&c, &s, 1e3)));
	assert_true(isnan(tk_ceiling_set_efficiency_by_source(&c, TK_CEILING_MEASURED, &s, 1e3)));
	s.unit = TK_UNIT_NS;
	s.metric = TK_METRIC_LAUNCH;
	assert_true(isnan(tk_ceiling_set_efficiency(&c, &s, 1e3)));
	s = time_of(&p, 0, 6e3);
	assert_true(isnan(tk_ceiling_set_efficiency(&c, &s, 1e3)));
	s = time_of(&p, 6e6, 0);
	assert_true(isnan(tk_ceiling_set_efficiency(&c, &s, 1e3)));
	/* without bytes the share of the peak rate is known all the same */
	assert_float_equal(
	        tk_ceiling_set_efficiency_by_source(&c, TK_CEILING_MEASURED, &s, 20e3), 0.5, 1e-9);
}

static void the_newest_of_each_name_and_source_is_kept(void **state)
{
	struct made_model made;
	struct tk_ceiling_row newest[] = {{2, 1, "copy", TK_CEILING_MEASURED, "gb_per_s", 5},
	        {2, 2, "copy", TK_CEILING_MEASURED, "gb_per_s", 99},
	        {2, 1, "f16", TK_CEILING_MEASURED, "gflop_per_s", 0}},
	                      older[] = {{1, 1, "copy", TK_CEILING_MEASURED, "gb_per_s", 6},
	                              {1, 1, "copy", TK_CEILING_DATASHEET, "gb_per_s", 7},
	                              {1, 1, "f16", TK_CEILING_MEASURED, "gflop_per_s", 8}};
	struct tk_rows lists[] = {{.rows = newest, .count = 3}, {.rows = older, .count = 3}};
	struct tk_ceiling_set c;

	(void)state;
	made_init(&made);
	const struct tk_site_device *device = made_add_device(&made, "gpu", "a", "sm_90");
	made.model.ceiling_lists = lists;
	made.model.ceiling_list_count = 2;
	tk_ceiling_set_load(&made.model, device, &c);
	assert_int_equal(c.count, 3);
	assert_ptr_equal(c.rows[0], &newest[0]);
	assert_ptr_equal(c.rows[1], &older[1]);
	assert_ptr_equal(c.rows[2], &older[2]); /* the newest one is no value */
}

static void a_set_does_not_overflow(void **state)
{
	struct made_model made;
	struct tk_ceiling_row rows[TK_CEILING_SET_MAX + 4];
	char names[TK_CEILING_SET_MAX + 4][2];
	struct tk_rows list = {.rows = rows, .count = TK_CEILING_SET_MAX + 4};
	struct tk_ceiling_set c;

	(void)state;
	for (int i = 0; i < TK_CEILING_SET_MAX + 4; i++) {
		names[i][0] = (char)('A' + i);
		names[i][1] = 0;
		rows[i] =
		        (struct tk_ceiling_row){1, 1, names[i], TK_CEILING_MEASURED, "gb_per_s", 1};
	}
	made_init(&made);
	made.model.ceiling_lists = &list;
	made.model.ceiling_list_count = 1;
	tk_ceiling_set_load(&made.model, made_add_device(&made, "gpu", "a", "sm_90"), &c);
	assert_int_equal(c.count, TK_CEILING_SET_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_lower_of_rate_and_bandwidth_limits),
	        cmocka_unit_test(what_was_measured_goes_before_the_datasheet),
	        cmocka_unit_test(a_type_without_a_rate_gets_the_fastest),
	        cmocka_unit_test(without_ceilings_nothing_limits),
	        cmocka_unit_test(caches_are_drawn_but_do_not_limit),
	        cmocka_unit_test(times_are_dropped_for_a_roofline),
	        cmocka_unit_test(efficiency_is_the_share_of_the_ceiling),
	        cmocka_unit_test(efficiency_needs_a_time_and_its_work),
	        cmocka_unit_test(the_newest_of_each_name_and_source_is_kept),
	        cmocka_unit_test(a_set_does_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
