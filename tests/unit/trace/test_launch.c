/* From the rings of a file to the groups and spans of a launch: which rings and records are true,
 * where they stand in time, and what goes on beside a group. */
#include "ring_file.h"

static struct file file;
static struct tk_trace trace;
static struct tk_trace_launch launch;

static int set_up(void **state)
{
	file = new_file();
	return 0;
}

static int tear_down(void **state)
{
	tk_trace_launch_free(&launch);
	tk_trace_free(&trace);
	return 0;
}

/* A ring of 1,000 ns from a moment on; its clock begins with 5000 there. */
static void begin_ring(int ring, uint32_t multiprocessor, uint64_t begin_ns)
{
	file.rings[ring] = (struct tk_trace_ring){.block = (uint32_t)ring,
	        .multiprocessor = multiprocessor,
	        .begin_clock = 5000,
	        .end_clock = 6000,
	        .begin_ns = begin_ns,
	        .end_ns = begin_ns + 1000};
}

static int read_launch(const void *data, size_t bytes, uint32_t kernel, uint32_t number)
{
	tear_down(NULL);
	assert_int_equal(read_file(data, bytes, &trace), TK_OK);
	return tk_trace_launch_read(&trace, kernel, number, &launch, NULL);
}

static void must_read(void)
{
	assert_int_equal(read_launch(&file, sizeof file, 0, 0), TK_OK);
}

/* "region begin-end;" for each span, "~" before those beside the group. */
static void expect_spans(const char *expected)
{
	char text[2000] = "";

	for (size_t i = 0; i < launch.span_count; i++) {
		const struct tk_trace_span *s = &launch.spans[i];
		sprintf(text + strlen(text), "%s%s %g-%g;", s->is_async ? "~" : "",
		        file.kernel.region[s->region], s->begin_ns, s->end_ns);
	}
	assert_string_equal(text, expected);
}

/* ---- which rings ---- */

static void rings_that_did_not_run_are_left_out(void **state)
{
	begin_ring(1, 3, 1000);
	must_read();
	assert_int_equal(launch.group_count, 1);
	assert_int_equal(launch.groups[0].block, 1);
	assert_int_equal(launch.groups[0].multiprocessor, 3);
	assert_int_equal(launch.multiprocessors, 1);
	assert_near(launch.groups[0].begin_ns, 0); /* the first begin of the launch */
	assert_near(launch.groups[0].end_ns, 1000);
	assert_near(launch.duration_ns, 1000);
	expect_spans("");
}

/* A block that was still running, or a head that cannot be true. */
static void rings_without_an_end_are_left_out(void **state)
{
	begin_ring(0, 0, 1000);
	begin_ring(1, 0, 2000);
	file.rings[1].end_ns = 0;
	must_read();
	assert_int_equal(launch.group_count, 1);
	file.rings[1].end_ns = 1999;
	must_read();
	assert_int_equal(launch.group_count, 1);
	begin_ring(1, 0, 2000);
	file.rings[1].group = GROUPS;
	must_read();
	assert_int_equal(launch.group_count, 1);
	file.rings[1].group = GROUPS - 1;
	must_read();
	assert_int_equal(launch.group_count, 2);
}

static void a_launch_without_rings_has_recorded_nothing(void **state)
{
	struct tk_error err = {0};

	assert_int_equal(read_file(&file, sizeof file, &trace), TK_OK);
	assert_int_equal(tk_trace_launch_read(&trace, 0, 0, &launch, &err), TK_EDATA);
	assert_non_null(strstr(err.message, "gemm has recorded nothing"));
	assert_null(launch.groups);
}

/* Without a moment between begin and end there is no clock. */
static void rings_without_time_have_no_clock(void **state)
{
	begin_ring(0, 0, 1000);
	file.rings[0].end_ns = 1000;
	assert_int_equal(read_launch(&file, sizeof file, 0, 0), TK_EDATA);
	file.rings[0].end_ns = 2000;
	file.rings[0].end_clock = file.rings[0].begin_clock;
	assert_int_equal(read_launch(&file, sizeof file, 0, 0), TK_EDATA);
}

/* ---- where they stand ---- */

static void groups_stand_by_multiprocessor_and_begin(void **state)
{
	static const struct {
		uint32_t multiprocessor[2];
		uint64_t begin_ns[2];
		uint32_t first_block;
	} cases[] = {{{2, 1}, {1000, 5000}, 1}, {{1, 2}, {5000, 1000}, 0},
	        {{1, 1}, {3000, 1000}, 1}, {{1, 1}, {1000, 3000}, 0}, {{1, 1}, {1000, 1000}, 0}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin_ring(0, cases[i].multiprocessor[0], cases[i].begin_ns[0]);
		begin_ring(1, cases[i].multiprocessor[1], cases[i].begin_ns[1]);
		must_read();
		assert_int_equal(launch.groups[0].block, cases[i].first_block);
		assert_int_equal(launch.multiprocessors, i < 2 ? 2 : 1);
	}
}

/* The common clock ticks coarsely: on one multiprocessor its own clock says how far apart two
 * blocks are. */
static void blocks_of_a_multiprocessor_stand_by_its_clock(void **state)
{
	begin_ring(0, 4, 1000);
	begin_ring(1, 4, 3000);
	file.rings[1].begin_clock = 5000 + 1234;
	file.rings[1].end_clock = 5000 + 2234;
	must_read();
	assert_near(launch.groups[1].begin_ns, 1234);
	assert_near(launch.groups[1].end_ns, 2234);
	assert_near(launch.duration_ns, 2234);
	file.rings[1].multiprocessor = 5; /* another clock: the common one is all that is known */
	must_read();
	assert_near(launch.groups[1].begin_ns, 2000);
	assert_near(launch.groups[1].end_ns, 3000);
}

static void the_clock_is_the_mean_of_all_rings(void **state)
{
	begin_ring(0, 0, 1000);
	begin_ring(1, 1, 1000);
	file.rings[0].end_clock = 5000 + 1500;
	file.rings[1].end_clock = 5000 + 500;
	must_read();
	assert_near(launch.clock_mhz, 1000);
	file.rings[1].end_clock = 5000 + 1500;
	must_read();
	assert_near(launch.clock_mhz, 1500);
}

static void a_clock_may_wrap_around(void **state)
{
	begin_ring(0, 0, 1000);
	file.rings[0].begin_clock = 0xffffff00u;
	file.rings[0].end_clock = 0xffffff00u + 1000;
	put(&file, 0, 0xffffff00u + 100, WAIT, TK_TRACE_DOES, 0, 0);
	put(&file, 0, 0xffffff00u + 600, SOFTMAX, TK_TRACE_DOES, 0, 0);
	must_read();
	assert_near(launch.clock_mhz, 1000);
	expect_spans("wait 100-600;softmax 600-1000;");
}

/* ---- spans ---- */

static void a_group_is_in_one_region_at_a_time(void **state)
{
	begin_ring(0, 0, 1000);
	put(&file, 0, 5100, WAIT, TK_TRACE_DOES, 0, 0);
	put(&file, 0, 5200, WAIT, TK_TRACE_DOES, 0, 0);
	put(&file, 0, 5300, TK_TRACE_NOTHING, TK_TRACE_DOES, 0, 0);
	put(&file, 0, 5400, SOFTMAX, TK_TRACE_DOES, 0, 0);
	must_read();
	expect_spans("wait 100-200;wait 200-300;softmax 400-1000;");
	assert_int_equal(launch.groups[0].recorded, 4);
	assert_false(launch.groups[0].has_lost);
}

/* Regions that the kernel does not have are none. */
static void unknown_regions_are_none(void **state)
{
	begin_ring(0, 0, 1000);
	put(&file, 0, 5100, REGIONS, TK_TRACE_DOES, 0, 0);
	put(&file, 0, 5200, 200, TK_TRACE_BEGIN_ASYNC, REGIONS, 1);
	put(&file, 0, 5300, TK_TRACE_NOTHING, TK_TRACE_END_ASYNC, REGIONS, 1);
	put(&file, 0, 5400, WAIT, TK_TRACE_DOES, 0, 0);
	must_read();
	expect_spans("wait 400-1000;");
}

/* A record after the end of its group cannot be true. */
static void a_span_does_not_outlast_its_group(void **state)
{
	begin_ring(0, 0, 1000);
	put(&file, 0, 5100, WAIT, TK_TRACE_DOES, 0, 0);
	put(&file, 0, 6500, SOFTMAX, TK_TRACE_DOES, 0, 0);
	put(&file, 0, 6600, WAIT, TK_TRACE_DOES, 0, 0);
	must_read();
	expect_spans("");
	assert_near(launch.duration_ns, 1000);
}

/* ---- beside a group ---- */

static void products_are_told_apart_by_their_tokens(void **state)
{
	begin_ring(0, 0, 1000);
	put(&file, 0, 5100, WAIT, TK_TRACE_BEGIN_ASYNC, MULTIPLY, 1);
	put(&file, 0, 5200, WAIT, TK_TRACE_BEGIN_ASYNC, MULTIPLY, 2);
	put(&file, 0, 5300, WAIT, TK_TRACE_END_ASYNC, MULTIPLY, 2);
	put(&file, 0, 5400, TK_TRACE_NOTHING, TK_TRACE_END_ASYNC, MULTIPLY, 1);
	must_read();
	expect_spans("wait 100-200;wait 200-300;~multiply 200-300;wait 300-400;~multiply 100-400;");
}

/* An end whose begin was lost, and a product that nobody awaited, are none. */
static void products_without_a_begin_or_an_end_are_dropped(void **state)
{
	begin_ring(0, 0, 1000);
	put(&file, 0, 5100, TK_TRACE_NOTHING, TK_TRACE_END_ASYNC, MULTIPLY, 1);
	put(&file, 0, 5200, TK_TRACE_NOTHING, TK_TRACE_BEGIN_ASYNC, MULTIPLY, 2);
	put(&file, 0, 5300, TK_TRACE_NOTHING, TK_TRACE_END_ASYNC, MULTIPLY, 3);
	put(&file, 0, 5400, TK_TRACE_NOTHING, TK_TRACE_END_ASYNC, SOFTMAX, 2);
	must_read();
	expect_spans("");
}

/* A token may be used again, in order. */
static void equal_tokens_end_in_order(void **state)
{
	begin_ring(0, 0, 1000);
	for (uint32_t i = 0; i < 3; i++) {
		put(&file, 0, 5100 + 200 * i, TK_TRACE_NOTHING, TK_TRACE_BEGIN_ASYNC, MULTIPLY, 1);
		put(&file, 0, 5200 + 200 * i, TK_TRACE_NOTHING, TK_TRACE_END_ASYNC, MULTIPLY, 1);
	}
	must_read();
	expect_spans("~multiply 100-200;~multiply 300-400;~multiply 500-600;");
}

/* Eight of a region at a time are followed; a ninth one is not, and disturbs none of them. */
static void so_many_products_are_followed_at_a_time(void **state)
{
	char expected[400] = "";
	struct file *f = &file;

	begin_ring(0, 0, 1000);
	for (int i = 0; i < 9; i++) {
		f->records[0][i] = (struct tk_trace_record){.clock = 5010u + (uint32_t)i,
		        .does = TK_TRACE_NOTHING,
		        .event = TK_TRACE_BEGIN_ASYNC,
		        .async = MULTIPLY,
		        .token = (uint8_t)(i + 1)};
		if (i >= 3 && i < 8)
			sprintf(expected + strlen(expected), "~multiply %d-%d;", 10 + i, 100 + i);
	}
	for (int i = 3; i < 9; i++)
		f->records[0][6 + i] = (struct tk_trace_record){.clock = 5100u + (uint32_t)i,
		        .does = TK_TRACE_NOTHING,
		        .event = TK_TRACE_END_ASYNC,
		        .async = MULTIPLY,
		        .token = (uint8_t)(i + 1)};
	f->rings[0].next = 15;
	must_read();
	expect_spans(expected);
}

/* ---- what a record costs ---- */

static void calibrate_ring(int ring, int records, uint32_t gap)
{
	for (int i = 0; i < records; i++)
		put(&file, ring, 5000 + gap * (uint32_t)i, TK_TRACE_CALIBRATION, TK_TRACE_DOES, 0,
		        0);
}

/* Of the rings the median, whatever one of them says; without any it is 0. */
static void the_cost_of_a_record_is_the_median_of_the_rings(void **state)
{
	static const struct {
		int records[2];
		uint32_t gap[2];
		double record_ns;
	} cases[] = {{{4, 0}, {8, 0}, 8}, {{4, 4}, {8, 12}, 10}, {{1, 4}, {8, 12}, 12},
	        {{0, 0}, {0, 0}, 0}, {{4, 4}, {5000, 8}, 8}, {{2, 2}, {4095, 4095}, 4095},
	        {{2, 2}, {4096, 4096}, 0}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		file = new_file();
		for (int ring = 0; ring < 2; ring++) {
			begin_ring(ring, (uint32_t)ring, 1000);
			calibrate_ring(ring, cases[i].records[ring], cases[i].gap[ring]);
		}
		must_read();
		assert_near(launch.record_ns, cases[i].record_ns);
	}
}

/* Eight gaps at most: a kernel may make more such records. */
static void only_the_first_gaps_count(void **state)
{
	begin_ring(0, 0, 1000);
	calibrate_ring(0, 9, 10);
	for (uint32_t i = 0; i < 4; i++)
		put(&file, 0, 5200 + 100 * i, TK_TRACE_CALIBRATION, TK_TRACE_DOES, 0, 0);
	must_read();
	assert_near(launch.record_ns, 10);
}

/* A region's own time is without the record that ended it; never less than nothing. */
static void a_region_does_not_pay_for_records(void **state)
{
	begin_ring(0, 0, 1000);
	calibrate_ring(0, 4, 20);
	put(&file, 0, 5100, WAIT, TK_TRACE_DOES, 0, 0);
	put(&file, 0, 5110, SOFTMAX, TK_TRACE_DOES, 0, 0);
	put(&file, 0, 5300, TK_TRACE_NOTHING, TK_TRACE_DOES, 0, 0);
	must_read();
	expect_spans("wait 100-110;softmax 110-300;");
	assert_near(launch.spans[0].own_ns, 0);
	assert_near(launch.spans[1].own_ns, 170);
}

/* ---- several kernels and launches ---- */

struct part {
	struct tk_trace_ring rings[RINGS];
	struct tk_trace_record records[RINGS][SLOTS];
};

static struct {
	struct tk_trace_file_head head;
	struct tk_trace_file_kernel kernels[2];
	struct part parts[2][2]; /* launches, kernels */
} many;

static void each_launch_of_each_kernel_is_found(void **state)
{
	memset(&many, 0, sizeof many);
	many.head = file.head;
	many.head.kernels = many.head.launches = 2;
	for (int kernel = 0; kernel < 2; kernel++)
		many.kernels[kernel] = file.kernel;
	for (int number = 0; number < 2; number++)
		for (int kernel = 0; kernel < 2; kernel++) {
			file = new_file();
			begin_ring(0, 0, 1000);
			put(&file, 0, 5000u + (uint32_t)(100 * (1 + 2 * number + kernel)), WAIT,
			        TK_TRACE_DOES, 0, 0);
			memcpy(many.parts[number][kernel].rings, file.rings, sizeof file.rings);
			memcpy(many.parts[number][kernel].records, file.records,
			        sizeof file.records);
		}
	for (uint32_t number = 0; number < 2; number++)
		for (uint32_t kernel = 0; kernel < 2; kernel++) {
			assert_int_equal(read_launch(&many, sizeof many, kernel, number), TK_OK);
			assert_int_equal(launch.span_count, 1);
			assert_near(launch.spans[0].begin_ns, 100.0 * (1 + 2 * number + kernel));
		}
}

/* The summary of a kernel is the mean over its launches. */
static void the_launches_of_a_kernel_have_a_mean(void **state)
{
	struct tk_trace_summary s;

	each_launch_of_each_kernel_is_found(state);
	assert_int_equal(tk_trace_summarize_all(&trace, 1, &s, NULL), TK_OK);
	assert_near(s.regions[WAIT].time_ns, (800 + 600) / 2.0);
	assert_near(s.duration_ns, 1000);
	assert_int_equal(s.multiprocessors, 1);
	many.parts[1][1].rings[0].begin_ns = 0; /* the second launch recorded nothing */
	tear_down(NULL);
	assert_int_equal(read_file(&many, sizeof many, &trace), TK_OK);
	assert_int_equal(tk_trace_summarize_all(&trace, 1, &s, NULL), TK_EDATA);
	assert_int_equal(tk_trace_summarize_all(&trace, 0, &s, NULL), TK_OK);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(rings_that_did_not_run_are_left_out),
	        TEST(rings_without_an_end_are_left_out),
	        TEST(a_launch_without_rings_has_recorded_nothing),
	        TEST(rings_without_time_have_no_clock),
	        TEST(groups_stand_by_multiprocessor_and_begin),
	        TEST(blocks_of_a_multiprocessor_stand_by_its_clock),
	        TEST(the_clock_is_the_mean_of_all_rings),
	        TEST(a_clock_may_wrap_around),
	        TEST(a_group_is_in_one_region_at_a_time),
	        TEST(unknown_regions_are_none),
	        TEST(a_span_does_not_outlast_its_group),
	        TEST(products_are_told_apart_by_their_tokens),
	        TEST(products_without_a_begin_or_an_end_are_dropped),
	        TEST(equal_tokens_end_in_order),
	        TEST(so_many_products_are_followed_at_a_time),
	        TEST(the_cost_of_a_record_is_the_median_of_the_rings),
	        TEST(only_the_first_gaps_count),
	        TEST(a_region_does_not_pay_for_records),
	        TEST(each_launch_of_each_kernel_is_found),
	        TEST(the_launches_of_a_kernel_have_a_mean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
