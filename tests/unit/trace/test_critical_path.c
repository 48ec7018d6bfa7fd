/* What the last moment of a block waited for, back to its begin. */
#include "made_launch.h"

#include "base/rng.h"

static struct made made;

static struct tk_trace_critical_path find(const struct made *m)
{
	struct tk_trace_critical_path out;
	struct tk_error err = {0};

	if (tk_trace_find_critical_path(&m->kernel, &m->launch, &out, &err))
		fail_msg("%s", err.message);
	return out;
}

/* Regions in the order of their enum, then the rest; they add up to the duration. */
static void expect_path(const struct tk_trace_path *p, const double expected[MADE_REGIONS + 1])
{
	double sum = p->other_ns;

	for (int i = 0; i < MADE_REGIONS; i++) {
		if (fabs(p->region_ns[i] - expected[i]) > 1e-6)
			fail_msg("%s: %g ns instead of %g", made.kernel.region[i], p->region_ns[i],
			        expected[i]);
		sum += p->region_ns[i];
	}
	NEAR(p->other_ns, expected[MADE_REGIONS]);
	NEAR(sum, p->duration_ns);
}

#define EXPECT_BLOCK(...) \
	do { \
		const struct tk_trace_critical_path c_ = find(&made); \
		expect_path(&c_.block, (const double[MADE_REGIONS + 1]){__VA_ARGS__}); \
	} while (0)

static int set_up(void **state)
{
	made_begin(&made);
	return 0;
}

/* ---- one group ---- */

static void a_group_alone_is_its_own_path(void **state)
{
	made_group(&made, 0, 0, 0, 0, 200);
	made_span(&made, SOFTMAX, 0, 100);
	made_span(&made, WRITE, 150, 200);
	EXPECT_BLOCK([SOFTMAX] = 100, [WRITE] = 50, [MADE_REGIONS] = 50);
}

static void a_group_in_no_region_is_the_rest(void **state)
{
	made_group(&made, 0, 0, 0, 0, 80);
	EXPECT_BLOCK([MADE_REGIONS] = 80);
	assert_true(find(&made).block.records < 1e-9);
}

static void a_launch_without_groups_has_no_path(void **state)
{
	const struct tk_trace_critical_path c = find(&made);

	NEAR(c.block.duration_ns, 0);
	NEAR(c.block.other_ns, 0);
	NEAR(c.tiles, 0);
}

/* The group waits for a product of its own: the wait is what is left after its end. */
static void a_wait_is_for_its_own_product(void **state)
{
	made_group(&made, 0, 0, 0, 0, 300);
	made_span(&made, SOFTMAX, 0, 100);
	made_async(&made, MULTIPLY, 100, 250);
	made_span(&made, WAIT, 100, 260);
	made_span(&made, WRITE, 260, 300);
	EXPECT_BLOCK([WRITE] = 40, [WAIT] = 10, [MULTIPLY] = 150, [SOFTMAX] = 100);
}

/* Of two products the one that ended last. */
static void a_wait_is_for_the_last_product(void **state)
{
	made_group(&made, 0, 0, 0, 0, 260);
	made_async(&made, MULTIPLY, 0, 200);
	made_async(&made, MULTIPLY, 50, 240);
	made_span(&made, LOAD, 0, 50);
	made_span(&made, WAIT, 50, 260);
	EXPECT_BLOCK([WAIT] = 20, [MULTIPLY] = 190, [LOAD] = 50);
}

/* A product that goes on beside work, and ends before it, hides nothing. */
static void work_is_followed_through_products(void **state)
{
	made_group(&made, 0, 0, 0, 0, 310);
	made_async(&made, MULTIPLY, 10, 300);
	made_span(&made, SOFTMAX, 50, 310);
	EXPECT_BLOCK([SOFTMAX] = 260, [MADE_REGIONS] = 50);
}

static void a_wait_that_nothing_ends_is_its_own(void **state)
{
	made_group(&made, 0, 0, 0, 0, 200);
	made_span(&made, SOFTMAX, 0, 80);
	made_span(&made, WAIT, 80, 200);
	EXPECT_BLOCK([WAIT] = 120, [SOFTMAX] = 80);
}

/* ---- groups that wait for each other ---- */

static void a_wait_is_for_the_work_of_another_group(void **state)
{
	made_group(&made, 0, 0, 0, 0, 100);
	made_span(&made, LOAD, 0, 100);
	made_group(&made, 0, 0, 1, 0, 300);
	made_span(&made, WAIT, 0, 120);
	made_span(&made, SOFTMAX, 120, 300);
	EXPECT_BLOCK([SOFTMAX] = 180, [WAIT] = 20, [LOAD] = 100);
}

static void a_chain_is_followed_through_all_groups(void **state)
{
	made_group(&made, 0, 0, 0, 0, 100);
	made_span(&made, LOAD, 0, 100);
	made_group(&made, 0, 0, 1, 0, 200);
	made_span(&made, WAIT, 0, 110);
	made_span(&made, SOFTMAX, 110, 200);
	made_group(&made, 0, 0, 2, 0, 260);
	made_span(&made, WAIT, 0, 230);
	made_span(&made, WRITE, 230, 260);
	EXPECT_BLOCK([WRITE] = 30, [WAIT] = 30 + 10, [SOFTMAX] = 90, [LOAD] = 100);
}

static void of_two_causes_the_last_one_counts(void **state)
{
	for (int softmax_is_last = 0; softmax_is_last < 2; softmax_is_last++) {
		const double ends = softmax_is_last ? 105 : 60;
		made_begin(&made);
		made_group(&made, 0, 0, 0, 0, 100);
		made_span(&made, LOAD, 0, 100);
		made_group(&made, 0, 0, 1, 0, ends);
		made_span(&made, SOFTMAX, 0, ends);
		made_group(&made, 0, 0, 2, 0, 150);
		made_span(&made, WAIT, 0, 110);
		made_span(&made, WRITE, 110, 150);
		if (softmax_is_last)
			EXPECT_BLOCK([WRITE] = 40, [WAIT] = 5, [SOFTMAX] = 105);
		else
			EXPECT_BLOCK([WRITE] = 40, [WAIT] = 10, [LOAD] = 100);
	}
}

/* What had ended before the wait began was not waited for. */
static void earlier_work_is_no_cause(void **state)
{
	made_group(&made, 0, 0, 0, 0, 50);
	made_span(&made, LOAD, 0, 50);
	made_group(&made, 0, 0, 1, 0, 150);
	made_span(&made, SOFTMAX, 0, 80);
	made_span(&made, WAIT, 80, 130);
	made_span(&made, WRITE, 130, 150);
	EXPECT_BLOCK([WRITE] = 20, [WAIT] = 50, [SOFTMAX] = 80);
}

static void the_wait_of_another_group_is_no_cause(void **state)
{
	made_group(&made, 0, 0, 0, 0, 100);
	made_span(&made, WAIT, 0, 100);
	made_group(&made, 0, 0, 1, 0, 200);
	made_span(&made, WAIT, 0, 120);
	made_span(&made, SOFTMAX, 120, 200);
	EXPECT_BLOCK([SOFTMAX] = 80, [WAIT] = 120);
}

/* Another group cannot await it: a product ends for the group that began it. */
static void the_product_of_another_group_is_no_cause(void **state)
{
	made_group(&made, 0, 0, 0, 0, 100);
	made_async(&made, MULTIPLY, 0, 100);
	made_group(&made, 0, 0, 1, 0, 200);
	made_span(&made, WAIT, 0, 120);
	made_span(&made, SOFTMAX, 120, 200);
	EXPECT_BLOCK([SOFTMAX] = 80, [WAIT] = 120);
}

/* From the begin of the first group to the end of the last one. */
static void a_late_group_waits_in_no_region(void **state)
{
	made_group(&made, 0, 0, 0, 0, 30);
	made_span(&made, SOFTMAX, 0, 30);
	made_group(&made, 0, 0, 1, 40, 100);
	made_span(&made, WRITE, 40, 100);
	EXPECT_BLOCK([WRITE] = 60, [MADE_REGIONS] = 40);
}

/* ---- blocks ---- */

/* One after the other on a multiprocessor, or beside each other: neither waits for the other. */
static void blocks_are_apart(void **state)
{
	made_group(&made, 0, 0, 0, 0, 100);
	made_span(&made, LOAD, 0, 100);
	made_group(&made, 0, 1, 0, 0, 300);
	made_span(&made, WAIT, 0, 120);
	made_span(&made, SOFTMAX, 120, 300);
	EXPECT_BLOCK([LOAD] = 50, [WAIT] = 60, [SOFTMAX] = 90); /* means of both */
	NEAR(find(&made).block.duration_ns, 200);
}

/* Groups of one block may stand apart in the launch. */
static void the_groups_of_a_block_are_found(void **state)
{
	made_group(&made, 0, 7, 0, 0, 100);
	made_span(&made, LOAD, 0, 100);
	made_group(&made, 0, 3, 0, 0, 10);
	made_group(&made, 0, 7, 1, 0, 150);
	made_span(&made, WAIT, 0, 110);
	made_span(&made, WRITE, 110, 150);
	EXPECT_BLOCK([WRITE] = 20, [WAIT] = 5, [LOAD] = 50, [MADE_REGIONS] = 5);
}

/* ---- records ---- */

/* The record that begins each part of the path; none for a wait that nothing ended. */
static void records_on_the_path_are_counted(void **state)
{
	struct tk_trace_critical_path c;

	made_group(&made, 0, 0, 0, 0, 300);
	made_span(&made, SOFTMAX, 0, 100);
	made_async(&made, MULTIPLY, 100, 250);
	made_span(&made, WAIT, 100, 260);
	made_span(&made, WRITE, 260, 300);
	c = find(&made);
	NEAR(c.block.records, 3);
	NEAR(c.block.region_records[WRITE], 1);
	NEAR(c.block.region_records[MULTIPLY], 1);
	NEAR(c.block.region_records[SOFTMAX], 1);
	NEAR(c.block.region_records[WAIT], 0);
	made_begin(&made);
	made_group(&made, 0, 0, 0, 0, 200);
	made_span(&made, SOFTMAX, 0, 80);
	made_span(&made, WAIT, 80, 200);
	c = find(&made);
	NEAR(c.block.records, 1);
	NEAR(c.block.region_records[SOFTMAX], 1);
}

/* A record that is made while a product goes on makes nothing longer. */
static void a_record_beside_a_product_costs_nothing(void **state)
{
	made_group(&made, 0, 0, 0, 0, 310);
	made_async(&made, MULTIPLY, 10, 300);
	made_span(&made, SOFTMAX, 50, 310);
	NEAR(find(&made).block.records, 0);
	made_begin(&made);
	made_group(&made, 0, 0, 0, 0, 310);
	made_async(&made, MULTIPLY, 50, 300); /* begun by the record itself */
	made_span(&made, SOFTMAX, 50, 310);
	NEAR(find(&made).block.records, 1);
}

/* ---- tiles ---- */

static void made_tiles(void)
{
	made_group(&made, 0, 0, 0, 0, 150);
	made_span(&made, LOAD, 0, 100);
	made_span(&made, LOAD, 100, 150);
	made_tile(&made, 0, 100);
	made_tile(&made, 100, 150);
	made_group(&made, 0, 0, 1, 0, 250);
	made_span(&made, SOFTMAX, 10, 120);
	made_span(&made, SOFTMAX, 120, 250);
	made_tile(&made, 10, 120);
	made_tile(&made, 120, 250);
}

/* All groups take part in a tile: from the first begin to the last end. */
static void tiles_have_their_own_path(void **state)
{
	made_tiles();
	const struct tk_trace_critical_path c = find(&made);
	NEAR(c.tiles, 2);
	NEAR(c.shortest_tile_ns, 120);
	NEAR(c.longest_tile_ns, 150);
	NEAR(c.tile.duration_ns, 135);
	/* 110 in the first tile; 130 in the second one, which began in 20 of the first one's */
	NEAR(c.tile.region_ns[SOFTMAX], 130);
	NEAR(c.tile.other_ns, 5); /* the load began 10 before the first softmax */
	double sum = c.tile.other_ns;
	for (int i = 0; i < MADE_REGIONS; i++)
		sum += c.tile.region_ns[i];
	NEAR(sum, 135);
}

static void tiles_of_all_blocks_count(void **state)
{
	made_tiles();
	made_group(&made, 1, 1, 0, 0, 40);
	made_span(&made, WRITE, 0, 40);
	made_tile(&made, 0, 40);
	const struct tk_trace_critical_path c = find(&made);
	NEAR(c.tiles, 3);
	NEAR(c.shortest_tile_ns, 40);
	NEAR(c.longest_tile_ns, 150);
	NEAR(c.tile.duration_ns, (120 + 150 + 40) / 3.0);
	NEAR(c.tile.region_ns[WRITE], 40 / 3.0);
}

/* A group that marks fewer tiles than the others takes part in those. */
static void tiles_may_lack_a_group(void **state)
{
	made_tiles();
	made_tile(&made, 250, 250);
	made_group(&made, 0, 0, 2, 0, 50);
	made_span(&made, WRITE, 0, 50);
	made_tile(&made, 0, 50);
	const struct tk_trace_critical_path c = find(&made);
	NEAR(c.tiles, 3);
	NEAR(c.shortest_tile_ns, 0);
	NEAR(c.longest_tile_ns, 150);
}

static void without_marks_there_are_no_tiles(void **state)
{
	made_group(&made, 0, 0, 0, 0, 100);
	made_span(&made, SOFTMAX, 0, 100);
	const struct tk_trace_critical_path c = find(&made);
	NEAR(c.tiles, 0);
	NEAR(c.tile.duration_ns, 0);
	NEAR(c.longest_tile_ns, 0);
}

/* ---- any launch ---- */

static uint64_t random_state;

static double random_ns(double most)
{
	random_state = tk_splitmix64(random_state);
	return floor((double)(random_state >> 11) * 0x1p-53 * most);
}

static void made_random_group(uint32_t block, uint32_t group)
{
	const double begin = random_ns(50), end = begin + 20 + random_ns(500);
	double at = begin;

	made_group(&made, 0, block, group, begin, end);
	while (at < end) {
		const double until = fmin(end, at + 1 + random_ns(60));
		const int region = (int)random_ns(MADE_REGIONS + 1);
		if (region < MADE_REGIONS)
			made_span(&made, (enum made_region)region, at, until);
		if (random_ns(3) < 1)
			made_async(&made, MULTIPLY, at, fmin(end, at + random_ns(200)));
		at = until;
	}
}

static void made_random_launch(uint64_t seed)
{
	made_begin(&made);
	random_state = seed;
	for (uint32_t block = 0; block < 3; block++)
		for (uint32_t group = 0; group < 3; group++)
			made_random_group(block, group);
}

static void shift_and_stretch(struct made *m, double by, double factor)
{
	for (size_t i = 0; i < m->launch.group_count; i++) {
		m->groups[i].begin_ns = m->groups[i].begin_ns * factor + by;
		m->groups[i].end_ns = m->groups[i].end_ns * factor + by;
	}
	for (size_t i = 0; i < m->launch.span_count; i++) {
		m->spans[i].begin_ns = m->spans[i].begin_ns * factor + by;
		m->spans[i].end_ns = m->spans[i].end_ns * factor + by;
	}
}

/* Whatever a launch did: nothing is negative, all adds up to the mean duration of a block, and a
 * later and slower launch has the same path, stretched. */
static void the_path_of_any_launch_adds_up(void **state)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		made_random_launch(seed);
		const struct tk_trace_path p = find(&made).block;
		double sum = p.other_ns, records = 0, durations = 0;
		for (int i = 0; i < MADE_REGIONS; i++) {
			assert_true(p.region_ns[i] >= 0 && p.region_records[i] >= 0);
			sum += p.region_ns[i];
			records += p.region_records[i];
		}
		for (size_t block = 0; block < 3; block++) {
			double first = INFINITY, last = 0;
			for (size_t i = 3 * block; i < 3 * block + 3; i++) {
				first = fmin(first, made.groups[i].begin_ns);
				last = fmax(last, made.groups[i].end_ns);
			}
			durations += (last - first) / 3;
		}
		assert_true(p.other_ns >= 0);
		NEAR(p.duration_ns, durations);
		NEAR(sum, durations);
		NEAR(records, p.records);
		shift_and_stretch(&made, 1000, 4);
		const struct tk_trace_path q = find(&made).block;
		NEAR(q.duration_ns, 4 * p.duration_ns);
		for (int i = 0; i < MADE_REGIONS; i++)
			NEAR(q.region_ns[i], 4 * p.region_ns[i]);
		NEAR(q.records, p.records);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup(a_group_alone_is_its_own_path, set_up),
	        cmocka_unit_test_setup(a_group_in_no_region_is_the_rest, set_up),
	        cmocka_unit_test_setup(a_launch_without_groups_has_no_path, set_up),
	        cmocka_unit_test_setup(a_wait_is_for_its_own_product, set_up),
	        cmocka_unit_test_setup(a_wait_is_for_the_last_product, set_up),
	        cmocka_unit_test_setup(work_is_followed_through_products, set_up),
	        cmocka_unit_test_setup(a_wait_that_nothing_ends_is_its_own, set_up),
	        cmocka_unit_test_setup(a_wait_is_for_the_work_of_another_group, set_up),
	        cmocka_unit_test_setup(a_chain_is_followed_through_all_groups, set_up),
	        cmocka_unit_test_setup(of_two_causes_the_last_one_counts, set_up),
	        cmocka_unit_test_setup(earlier_work_is_no_cause, set_up),
	        cmocka_unit_test_setup(the_wait_of_another_group_is_no_cause, set_up),
	        cmocka_unit_test_setup(the_product_of_another_group_is_no_cause, set_up),
	        cmocka_unit_test_setup(a_late_group_waits_in_no_region, set_up),
	        cmocka_unit_test_setup(blocks_are_apart, set_up),
	        cmocka_unit_test_setup(the_groups_of_a_block_are_found, set_up),
	        cmocka_unit_test_setup(records_on_the_path_are_counted, set_up),
	        cmocka_unit_test_setup(a_record_beside_a_product_costs_nothing, set_up),
	        cmocka_unit_test_setup(tiles_have_their_own_path, set_up),
	        cmocka_unit_test_setup(tiles_of_all_blocks_count, set_up),
	        cmocka_unit_test_setup(tiles_may_lack_a_group, set_up),
	        cmocka_unit_test_setup(without_marks_there_are_no_tiles, set_up),
	        cmocka_unit_test_setup(the_path_of_any_launch_adds_up, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
