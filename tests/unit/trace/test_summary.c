/* What a multiprocessor does at each moment, and what is exposed of a region. */
#include "made_launch.h"

static struct made made;

static int set_up(void **state)
{
	made_begin(&made);
	return 0;
}

static struct tk_trace_summary summarize(void)
{
	struct tk_trace_summary s;
	struct tk_error err = {0};

	if (tk_trace_summarize(&made.kernel, &made.launch, &s, &err))
		fail_msg("%s", err.message);
	return s;
}

static double sum_activities(const struct tk_trace_summary *s)
{
	double sum = 0;

	for (int a = 0; a < TK_TRACE_ACTIVITIES; a++)
		sum += s->activity_ns[a];
	return sum;
}

/* ---- what is done ---- */

static void each_kind_has_its_activity(void **state)
{
	static const struct {
		uint32_t kind;
		enum tk_trace_activity activity;
		const char *name;
	} kinds[] = {{TK_TRACE_TENSOR, TK_TRACE_DOES_TENSOR, "matrix products"},
	        {TK_TRACE_COMPUTE, TK_TRACE_DOES_COMPUTE, "compute"},
	        {TK_TRACE_STORE, TK_TRACE_DOES_STORE, "store"},
	        {TK_TRACE_LOAD, TK_TRACE_DOES_LOAD, "load"},
	        {TK_TRACE_WAIT, TK_TRACE_DOES_WAIT, "wait"}, {0, TK_TRACE_DOES_WAIT, "wait"},
	        {99, TK_TRACE_DOES_WAIT, "wait"}};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		assert_int_equal(tk_trace_kind_activity(kinds[i].kind), kinds[i].activity);
		assert_string_equal(tk_trace_activity_names[tk_trace_kind_activity(kinds[i].kind)],
		        kinds[i].name);
	}
}

/* Two groups at once, in each pair of regions: the first of products, compute, store, load and wait
 * counts, and hides the other one. Of equal activities each has its half. */
static void the_first_activity_hides_the_others(void **state)
{
	static const enum made_region by_rank[] = {MULTIPLY, SOFTMAX, WRITE, LOAD, WAIT};

	for (int a = 0; a < MADE_REGIONS; a++)
		for (int b = 0; b < MADE_REGIONS; b++) {
			made_begin(&made);
			made_group(&made, 0, 0, 0, 0, 100);
			made_span(&made, by_rank[a], 0, 100);
			made_group(&made, 0, 0, 1, 0, 100);
			made_span(&made, by_rank[b], 0, 100);
			const struct tk_trace_summary s = summarize();
			const int first = a < b ? a : b, second = a < b ? b : a;
			NEAR(s.activity_ns[first], 100);
			NEAR(sum_activities(&s), 100);
			NEAR(s.regions[by_rank[first]].exposed_ns, 100);
			NEAR(s.regions[by_rank[second]].exposed_ns, a == b ? 100 : 0);
			NEAR(s.regions[by_rank[a]].time_ns, a == b ? 200 : 100);
		}
}

/* Two regions of one kind share the time in which both are open. */
static void regions_of_one_kind_share_the_time(void **state)
{
	made.kernel.kind[WRITE] = TK_TRACE_COMPUTE;
	made_group(&made, 0, 0, 0, 0, 100);
	made_span(&made, SOFTMAX, 0, 100);
	made_group(&made, 0, 0, 1, 0, 100);
	made_span(&made, WRITE, 40, 100);
	made_group(&made, 0, 0, 2, 0, 100);
	made_span(&made, WRITE, 40, 100);
	const struct tk_trace_summary s = summarize();
	NEAR(s.regions[SOFTMAX].exposed_ns, 40 + 20);
	NEAR(s.regions[WRITE].exposed_ns, 40);
	NEAR(s.activity_ns[TK_TRACE_DOES_COMPUTE], 100);
}

/* What goes on beside a group counts as long as it lasts. */
static void a_product_beside_a_group_is_done(void **state)
{
	made_group(&made, 0, 0, 0, 0, 100);
	made_async(&made, MULTIPLY, 10, 60);
	made_span(&made, SOFTMAX, 10, 80);
	const struct tk_trace_summary s = summarize();
	NEAR(s.activity_ns[TK_TRACE_DOES_TENSOR], 50);
	NEAR(s.activity_ns[TK_TRACE_DOES_COMPUTE], 20);
	NEAR(s.activity_ns[TK_TRACE_DOES_OTHER], 30);
	NEAR(s.regions[SOFTMAX].exposed_ns, 20);
	NEAR(s.regions[SOFTMAX].time_ns, 70);
}

static void without_a_group_a_multiprocessor_is_idle(void **state)
{
	made_group(&made, 0, 0, 0, 20, 50);
	made_group(&made, 0, 1, 0, 70, 80);
	made_group(&made, 1, 2, 0, 0, 100);
	const struct tk_trace_summary s = summarize();
	assert_int_equal(s.multiprocessors, 2);
	assert_int_equal(s.groups, 3);
	NEAR(s.activity_ns[TK_TRACE_IS_IDLE], (20 + 20 + 20) / 2.0);
	NEAR(s.activity_ns[TK_TRACE_DOES_OTHER], (30 + 10 + 100) / 2.0);
	NEAR(s.tail_ns, 20 / 2.0); /* the first one waits for the second */
	NEAR(s.duration_ns, 100);
}

/* One block right after the other: no moment between them. */
static void blocks_in_a_row_leave_no_gap(void **state)
{
	made_group(&made, 0, 0, 0, 0, 50);
	made_span(&made, SOFTMAX, 0, 50);
	made_group(&made, 0, 1, 0, 50, 100);
	made_span(&made, SOFTMAX, 50, 100);
	const struct tk_trace_summary s = summarize();
	NEAR(s.activity_ns[TK_TRACE_DOES_COMPUTE], 100);
	NEAR(s.activity_ns[TK_TRACE_IS_IDLE], 0);
	NEAR(s.activity_ns[TK_TRACE_DOES_OTHER], 0);
	NEAR(s.regions[SOFTMAX].exposed_ns, 100);
}

/* ---- times of regions ---- */

/* Of the groups that enter a region, not of all; each counts once. */
static void a_share_is_of_the_groups_that_enter(void **state)
{
	made_group(&made, 0, 0, 0, 0, 100);
	made_span(&made, LOAD, 0, 10);
	made_span(&made, LOAD, 20, 40);
	made_group(&made, 0, 0, 1, 0, 200);
	made_span(&made, SOFTMAX, 0, 50);
	made_group(&made, 0, 0, 2, 0, 100);
	made_span(&made, SOFTMAX, 0, 10);
	const struct tk_trace_summary s = summarize();
	NEAR(s.regions[LOAD].share, 30 / 100.0);
	NEAR(s.regions[LOAD].calls, 2);
	NEAR(s.regions[LOAD].time_ns, 30);
	NEAR(s.regions[SOFTMAX].share, 60 / 300.0);
	NEAR(s.regions[SOFTMAX].calls, 2);
	NEAR(s.regions[WRITE].share, 0);
	NEAR(s.regions[WRITE].calls, 0);
}

static void figures_are_means_over_multiprocessors(void **state)
{
	for (uint32_t i = 0; i < 4; i++) {
		made_group(&made, i, i, 0, 0, 100);
		made_span(&made, SOFTMAX, 0, 10.0 * (i + 1));
		made.groups[i].recorded = 5 + i;
	}
	made.launch.groups_with_loss = 3;
	const struct tk_trace_summary s = summarize();
	NEAR(s.regions[SOFTMAX].time_ns, 25);
	NEAR(s.regions[SOFTMAX].exposed_ns, 25);
	NEAR(s.regions[SOFTMAX].calls, 1);
	NEAR(s.recorded, 5 + 6 + 7 + 8); /* of the launch */
	NEAR(s.groups_with_loss, 3);
	NEAR(s.critical.block.duration_ns, 100);
}

/* ---- without what records cost ---- */

/* The path of a block has so many records; a launch of two blocks in a row has twice as many. */
static void records_make_a_launch_longer(void **state)
{
	struct tk_trace_summary s;

	for (uint32_t block = 0; block < 2; block++) {
		made_group(&made, 0, block, 0, 100 * block, 100 * block + 100);
		made_span(&made, SOFTMAX, 100 * block, 100 * block + 60);
		made_span(&made, WRITE, 100 * block + 60, 100 * block + 100);
	}
	made.launch.record_ns = 5;
	s = summarize();
	NEAR(s.critical.block.records, 2);
	NEAR(tk_trace_summary_path_records(&s), 4);
	NEAR(s.corrected_ns, 200 - 4 * 5);
	tk_trace_summary_correct(&s, 1000);
	NEAR(s.corrected_ns, 0); /* not less than nothing */
	tk_trace_summary_correct(&s, -5);
	NEAR(s.corrected_ns, 220);
	tk_trace_summary_correct(&s, NAN);
	assert_true(isnan(s.corrected_ns));
	s.critical.block.duration_ns = 0;
	NEAR(tk_trace_summary_path_records(&s), 0);
}

/* The regions and the rest add up to the path without its records, whatever those cost. */
static void a_corrected_path_adds_up(void **state)
{
	static const double costs[] = {0, 1, 5, 17, 30, 1000, -4};
	struct tk_trace_path p = {.region_ns = {30, 10, 60},
	        .other_ns = 20,
	        .duration_ns = 120,
	        .region_records = {1, 3, 0},
	        .records = 4};

	for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
		double corrected[TK_TRACE_REGIONS_MAX];
		const double other = tk_trace_path_correct(&p, 3, costs[i], corrected);
		NEAR(other + corrected[0] + corrected[1] + corrected[2],
		        fmax(0, 120 - 4 * costs[i]));
		assert_true(other >= 0 && corrected[0] >= 0 && corrected[1] >= 0);
		/* where no region costs more than it takes, each pays its own records */
		if (costs[i] >= 0 && 3 * costs[i] <= 10) {
			NEAR(corrected[0], 30 - costs[i]);
			NEAR(corrected[1], 10 - 3 * costs[i]);
			NEAR(corrected[2], 60);
			NEAR(other, 20);
		}
	}
	p = (struct tk_trace_path){0};
	double none[TK_TRACE_REGIONS_MAX];
	NEAR(tk_trace_path_correct(&p, 3, 5, none), 0);
	NEAR(none[2], 0);
}

/* ---- means of several runs ---- */

/* Every figure of the mean is the mean of that figure. */
static void a_mean_has_the_mean_of_every_figure(void **state)
{
	static struct tk_trace_summary two[2], mean;

	for (int i = 0; i < 2; i++) {
		const double x = i ? 3 : 1;
		struct tk_trace_summary *s = &two[i];
		*s = (struct tk_trace_summary){.region_count = 2,
		        .duration_ns = 10 * x,
		        .corrected_ns = 9 * x,
		        .tail_ns = 8 * x,
		        .clock_mhz = 7 * x,
		        .record_ns = 6 * x,
		        .recorded = 5 * x,
		        .groups_with_loss = 4 * x,
		        .groups = 12,
		        .multiprocessors = 6};
		s->regions[1] = (struct tk_trace_region_time){2 * x, 3 * x, 0.1 * x, 11 * x};
		for (int a = 0; a < TK_TRACE_ACTIVITIES; a++)
			s->activity_ns[a] = (a + 1) * x;
		s->critical.block = (struct tk_trace_path){.region_ns = {0, 21 * x},
		        .other_ns = 22 * x,
		        .duration_ns = 23 * x,
		        .region_records = {0, 24 * x},
		        .records = 25 * x};
		s->critical.tile = (struct tk_trace_path){
		        .region_ns = {0, 31 * x}, .other_ns = 32 * x, .duration_ns = 33 * x};
		s->critical.tiles = 41 * x;
		s->critical.shortest_tile_ns = 42 * x;
		s->critical.longest_tile_ns = 43 * x;
	}
	tk_trace_summary_mean(two, 2, &mean);
	NEAR(mean.duration_ns, 20);
	NEAR(mean.corrected_ns, 18);
	NEAR(mean.tail_ns, 16);
	NEAR(mean.clock_mhz, 14);
	NEAR(mean.record_ns, 12);
	NEAR(mean.recorded, 10);
	NEAR(mean.groups_with_loss, 8);
	assert_int_equal(mean.groups, 12);
	assert_int_equal(mean.multiprocessors, 6);
	assert_int_equal(mean.region_count, 2);
	NEAR(mean.regions[1].time_ns, 4);
	NEAR(mean.regions[1].exposed_ns, 6);
	NEAR(mean.regions[1].share, 0.2);
	NEAR(mean.regions[1].calls, 22);
	for (int a = 0; a < TK_TRACE_ACTIVITIES; a++)
		NEAR(mean.activity_ns[a], 2 * (a + 1));
	NEAR(mean.critical.block.region_ns[1], 42);
	NEAR(mean.critical.block.other_ns, 44);
	NEAR(mean.critical.block.duration_ns, 46);
	NEAR(mean.critical.block.region_records[1], 48);
	NEAR(mean.critical.block.records, 50);
	NEAR(mean.critical.tile.region_ns[1], 62);
	NEAR(mean.critical.tile.other_ns, 64);
	NEAR(mean.critical.tile.duration_ns, 66);
	NEAR(mean.critical.tiles, 82);
	NEAR(mean.critical.shortest_tile_ns, 84);
	NEAR(mean.critical.longest_tile_ns, 86);
	tk_trace_summary_mean(two, 1, &mean); /* of one alone: itself */
	NEAR(mean.duration_ns, 10);
	NEAR(mean.regions[1].share, 0.1);
	NEAR(mean.critical.longest_tile_ns, 43);
}

#define TEST(f) cmocka_unit_test_setup(f, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(each_kind_has_its_activity),
	        TEST(the_first_activity_hides_the_others),
	        TEST(regions_of_one_kind_share_the_time),
	        TEST(a_product_beside_a_group_is_done),
	        TEST(without_a_group_a_multiprocessor_is_idle),
	        TEST(blocks_in_a_row_leave_no_gap),
	        TEST(a_share_is_of_the_groups_that_enter),
	        TEST(figures_are_means_over_multiprocessors),
	        TEST(records_make_a_launch_longer),
	        TEST(a_corrected_path_adds_up),
	        TEST(a_mean_has_the_mean_of_every_figure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
